//! Private servers: finding the program, and starting it.

mod find;
mod start;

pub use find::{Installed, installed};
pub use start::Launch;
pub(crate) use start::{DATABASE, restart, start, stop};

use crate::target::{Place, Target};
use std::path::PathBuf;

/// Stops a target's orphaned private servers, whose owner was killed, removes their folders and returns them. Servers
/// of living owners are left alone.
pub fn sweep_target(target: &Target) -> Vec<PathBuf> {
    match &target.place {
        Place::Private { directory } => {
            bourse_server::private::sweep_below(&start::KIND, directory.as_deref(), target.options.ram)
        }
        Place::Running { .. } => Vec::new(),
    }
}
