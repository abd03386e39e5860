//! DuckDB, an analytical database, behind the seam.
//!
//! Its shared library is loaded at run time and called through its C interface. A target such as
//! `duckdb:x.duckdb?library=/path/libduckdb.so` is read by [`open`]; [`GRAMMAR`] has the table of all settings; [`info`] says
//! whether the library is there, and if not where to have it.
//!
//! Files: `options` (what was asked for), `library` (the C interface), `mark` (whose a file is), `database` (an open database
//! and its connections), `statement` and `row` (values in, rows out), `append` (rows in bulk), `queue` (writers one at a time),
//! `loader`, `session`, `snapshot`, `describe` and `engine` (the seam), `kind` (what a program is told of it), `error` (kinds of errors).

mod append;
mod database;
mod describe;
mod dialect;
mod engine;
mod error;
mod kind;
mod library;
mod loader;
mod mark;
mod options;
mod queue;
mod row;
mod session;
mod snapshot;
mod statement;

pub use engine::{DuckDbEngine, open};
pub use kind::KINDS;
pub use library::{Absent, Info, LIBRARY_VARIABLE, info};
pub use mark::side_file_kind;
pub use options::{GRAMMAR, Options, Writers};
