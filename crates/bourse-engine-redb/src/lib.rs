//! redb behind the seam: B+trees of records by key, copied on write, in a file or in memory.
//!
//! A target such as `redb:x.redb?durability=none` or `redb::memory:` is read by [`open`]; [`GRAMMAR`] has the table of all
//! settings. Files: `options` (settings of a target), `engine` and `session` (the seam),
//! `transaction` (a transaction with the tables it has opened), `error` (kinds), `kind` (the engine's registration).

mod engine;
mod error;
mod kind;
mod options;
mod session;
mod transaction;

pub use engine::{RedbEngine, open, version};
pub use kind::KINDS;
pub use options::{Durable, GRAMMAR, RedbOptions};
