//! Turso, SQLite's SQL rewritten in Rust, behind the seam. The crate is empty without its feature `turso`: Turso takes minutes
//! to compile, so commands on all crates leave it out.
//!
//! A target such as `turso:x.turso?journal=mvcc` is read by `open`; `GRAMMAR` has the table of all settings.
//!
//! Files: `options` (settings of a target), `files` (the file system below Turso, which counts),
//! `database` (an open database and its connections), `statement` (values in, rows out), `loader`, `session`, `snapshot`,
//! `describe` and `engine` (the seam), `kind` (the engine's registration), `error` (kinds of errors).
#![cfg(feature = "turso")]

mod database;
mod describe;
mod dialect;
mod engine;
mod error;
mod files;
mod kind;
mod loader;
mod options;
mod session;
mod snapshot;
mod statement;

pub use describe::version;
pub use engine::{TursoEngine, open};
pub use kind::KINDS;
pub use options::{GRAMMAR, TursoJournal, TursoOptions, TursoSync, TursoTempStore};
