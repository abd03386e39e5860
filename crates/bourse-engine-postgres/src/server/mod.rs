//! Private servers: finding the program, starting it in a folder of its own, ending and removing it, and doing so for those
//! whose owner was killed.

mod find;
mod leftovers;
mod start;

pub use find::{Installed, installed};
pub use leftovers::sweep;
pub use start::sweep_target;
pub(crate) use start::{DATABASE, PrivateServer, parent};

/// What the name of a private server's folder begins with.
const FOLDER_PREFIX: &str = "bourse-postgres-";

/// The file in such a folder that its owner holds locked as long as it lives.
const OWNER_FILE: &str = "owner";

/// What that file says, so that a folder of somebody else is not taken for one of ours by its name.
const OWNER_MARK: &str = "made by bourse: a private server's folder, which is removed with it\n";
