//! DuckDB, an analytical database, behind the seam.
//!
//! Its shared library is loaded at run time and called through its C interface. A target such as
//! `duckdb:x.duckdb?library=/path/libduckdb.so` is read by [`open`]; [`GRAMMAR`] has the table of all settings; [`info`]
//! reports whether the library is available, and if not where to get it.
//!
//! Files: `options` (settings of a target), `library` (the C interface), `database` (an open
//! database and its connections), `statement` and `row` (values in, rows out), `append` (rows in bulk), `loader`, `session`, `snapshot`, `describe` and `engine` (the seam), `kind` (the engine's registration), `error`
//! (kinds of errors).

mod append;
mod database;
mod describe;
mod dialect;
mod engine;
mod error;
mod kind;
mod library;
mod loader;
mod options;
mod row;
mod session;
mod snapshot;
mod statement;

pub use engine::{DuckDbEngine, open};
pub use kind::KINDS;
pub use library::{DuckDbInfo, LIBRARY_VARIABLE, info};
pub use options::{DuckDbOptions, DuckDbWriters, GRAMMAR};
