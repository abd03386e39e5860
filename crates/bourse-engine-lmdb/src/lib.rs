//! LMDB behind the seam: B+trees of records by key in a memory map, over the library's C interface.
//!
//! A target such as `lmdb:x.mdb?sync=meta` is read by [`open`]; [`GRAMMAR`] has the table of all settings. The crate calls
//! the library directly: a session keeps its transactions, and renews the one it reads with, as LMDB is at its best.
//!
//! Files: `options` (what was asked for), `environment` and `transaction` (the C library, made safe), `mark` (whose a database is), `engine` and
//! `session` (the seam), `kind` (what a program is told of it), `error` (codes).

mod engine;
mod environment;
mod error;
mod kind;
mod mark;
mod options;
mod session;
mod transaction;

pub use engine::{LmdbEngine, open};
pub use environment::version;
pub use kind::KINDS;
pub use options::{GRAMMAR, Options, Sync};
