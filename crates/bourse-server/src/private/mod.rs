//! Private servers: database servers that an engine starts for itself, in a folder of their own, and removes with it.
//!
//! A [`ServerKind`] has the properties of one engine's servers: the prefix of their folders, the user they run as if this
//! process is root, and how to recognise a process that serves a data directory. An engine finds its program
//! (`everywhere`, `version_text`), makes a [`ServerFolder`], fills its data directory by a command of its own, starts a
//! [`PrivateServer`] there and waits until it answers. A cluster consists of several of them, each with a folder, and
//! with ports from [`free_ports`] where it needs them.
//!
//! A folder's owner has a lock on a file in it, which the system releases however the owner ends. A killed owner's server is
//! ended by a shell that waits for that. [`sweep`] removes what is left; the next owner at the same place calls it first.
//!
//! Files: `folder` and `account` (a server's place and user), `program` (finding it), `server` (its life), `slot` (an
//! engine's server, started on demand), `limit` (the time of its start),
//! `leftovers` (those of killed owners), `processes` (facts that the system
//! reports about a process), `ports`.

mod account;
mod folder;
mod leftovers;
mod limit;
mod ports;
pub mod processes;
mod program;
mod server;
mod slot;

pub use folder::{ServerFolder, parent};
pub use leftovers::{sweep, sweep_below};
pub use limit::StartLimit;
pub use ports::free_ports;
pub use program::{everywhere, output_text, version_text};
pub use server::PrivateServer;
pub use slot::ServerSlot;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Properties of one engine's private servers.
#[derive(Debug, Clone, Copy)]
pub struct ServerKind {
    /// Prefix of the names of their folders.
    pub prefix: &'static str,
    /// Folders that are made in a server's folder, in addition to `data`.
    pub folders: &'static [&'static str],
    /// Longest name of a socket in that folder.
    pub socket: &'static str,
    /// User they run as if this process is root; the server's package creates it.
    pub account: &'static str,
    /// Whether the process of that number serves that data directory.
    pub serves: fn(u32, &Path) -> bool,
    /// Removes what a killed server leaves outside its folder, given its data directory.
    pub after_kill: fn(&Path),
}

/// Additions to the start of a private server whose files are watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// Folder with its data, in place of a new one; an empty folder is filled.
    pub data: Option<PathBuf>,
    /// Variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Arguments after all others.
    pub arguments: Vec<String>,
    /// Arguments of the program that creates its data directory, if it is the server's own.
    pub install: Vec<String>,
}

impl Launch {
    /// Adds the arguments and variables to the server's command.
    pub fn apply(&self, command: &mut Command) {
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
    }
}
