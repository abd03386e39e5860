//! Turso, SQLite's SQL written anew in Rust, behind the seam. The crate is empty without its feature `turso`: Turso takes minutes to
//! compile, and what is done for all crates leaves it out.
//!
//! A target such as `turso:x.turso?journal=mvcc` is read by `open`; `GRAMMAR` has the table of all settings.
//!
//! Files: `options` (what was asked for), `mark` (whose a file is), `files` (the file system below Turso, which counts), `database`
//! (an open database and its connections), `statement` (values in, rows out), `loader`, `session`, `snapshot`, `describe` and
//! `engine` (the seam), `kind` (what a program is told of it), `error` (kinds of errors).
#![cfg(feature = "turso")]

mod database;
mod describe;
mod dialect;
mod engine;
mod error;
mod files;
mod kind;
mod loader;
mod mark;
mod options;
mod session;
mod snapshot;
mod statement;

pub use describe::version;
pub use engine::{TursoEngine, open};
pub use kind::KINDS;
pub use mark::side_file_kind;
pub use options::{GRAMMAR, Journal, Options, Sync, TempStore};
