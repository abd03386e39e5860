//! Private servers: database servers that an engine starts for itself, in a folder of their own, and removes with it.
//!
//! What one engine's servers have of their own is a [`Kind`]: the prefix of their folders, the user they run as where we are
//! root, how a process is known to serve a data directory. An engine finds its program (`everywhere`, `version_text`), makes a
//! [`ServerFolder`], fills its data directory by a command of its own, starts a [`PrivateServer`] there and waits until it
//! answers. A cluster is several of them, each with a folder, and with ports from [`free_ports`] where it needs them.
//!
//! A folder's owner holds a file in it locked, which the system undoes however the owner ends. [`sweep`] ends and removes what
//! a killed owner has left; whoever makes the next folder at the same place calls it first.
//!
//! Files: `folder` and `account` (where a server lives, and as whom), `program` (finding it), `server` (its life), `slot` (an
//! engine's server, once something needs it), `leftovers` (those of killed owners), `processes` (what the system tells of a
//! process), `ports`.

mod account;
mod folder;
mod leftovers;
mod ports;
pub mod processes;
mod program;
mod server;
mod slot;

pub use folder::{ServerFolder, parent};
pub use leftovers::{sweep, sweep_below};
pub use ports::free_ports;
pub use program::{everywhere, output_text, version_text};
pub use server::PrivateServer;
pub use slot::ServerSlot;

use std::path::Path;

/// What one engine's private servers have of their own.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// What the names of their folders begin with.
    pub prefix: &'static str,
    /// Folders that are made in a server's folder, beside `data`.
    pub folders: &'static [&'static str],
    /// The longest name of a socket in that folder.
    pub socket: &'static str,
    /// The user they run as where we are root; packages make it.
    pub account: &'static str,
    /// Whether the process of that number serves that data directory.
    pub serves: fn(u32, &Path) -> bool,
    /// Removes what a killed server leaves outside its folder, by its data directory.
    pub after_kill: fn(&Path),
}
