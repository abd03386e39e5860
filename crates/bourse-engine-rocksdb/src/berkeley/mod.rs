//! Berkeley DB behind the seam, by its own interface: B-trees of records by key in a folder, with its log, its page locks and snapshots
//! for transactions that only read.
//!
//! Files: `options` (settings of a target), `library` (the C interface), `database` (an open environment), `view` (a session's view of it),
//! `kind` (the engine's registration).

mod database;
mod kind;
mod library;
mod options;
mod view;

pub use database::{BerkeleyEngine, open};
pub use kind::KINDS;
pub use library::info;
pub use options::{BerkeleyOptions, GRAMMAR};
