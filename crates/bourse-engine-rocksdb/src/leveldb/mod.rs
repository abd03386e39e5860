//! LevelDB behind the seam. It has snapshots and batches of changes, but no transactions: a session that writes waits in a queue of
//! Bourse's for the others, keeps its changes, and hands them over as one batch. It has one space of keys: a record's key is its
//! table's name, a zero byte and its own.
//!
//! Files: `options` (settings of a target), `library` (the C interface), `database` (an open database), `view` (a session's view of it),
//! `kind` (the engine's registration).

mod database;
mod kind;
mod library;
mod options;
mod view;

pub use database::{LevelDbEngine, open};
pub use kind::KINDS;
pub use library::info;
pub use options::{GRAMMAR, LevelDbOptions};
