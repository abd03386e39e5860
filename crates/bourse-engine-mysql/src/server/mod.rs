//! Private servers: which program, and what it is started with.

mod find;
mod product;
mod start;
mod system;

pub use find::{Installed, SERVER_VARIABLE, installed};
pub use start::{DATABASE, Launch, SOCKET, datadir_argument, fill_command, server_command};
pub(crate) use start::{restart, start, stop};

use crate::target::{Place, Target};
use std::path::PathBuf;

/// Ends and removes what a target's private server has left whose owner was killed, and returns the folders: none of a
/// server that others run.
pub fn sweep_target(target: &Target) -> Vec<PathBuf> {
    match &target.place {
        Place::Private { directory } => {
            bourse_private_server::sweep_below(&start::KIND, directory.as_deref(), target.options.ram)
        }
        Place::Running { .. } => Vec::new(),
    }
}
