//! FastDB, Konstantin Knizhnik's main-memory database, behind the seam.
//!
//! No package registry carries it: its shared library, which a person has built, is loaded at run time and called through
//! its documented C interface (`cli.h`). A target such as `fastdb:x.fdb?index=hash&commit=precommit` is read by [`open`];
//! [`GRAMMAR`] has the table of all settings; [`info`] says whether the library is here, and if not where to get it.
//!
//! Files: `options` (what was asked for), `library` (the C interface), `leftovers` (what the library leaves behind, and how
//! it goes away), `mark` (whose a database is), `database` (an open database, and whose transaction a thread is in), `slot` and `statement` (memory that
//! the library reads and writes, and what it is bound to), `session` and `engine` (the seam),
//! `kind` (what a program is told of it), `error` (codes).

mod database;
mod engine;
mod error;
mod kind;
mod leftovers;
mod library;
mod mark;
mod options;
mod session;
mod slot;
mod statement;

pub use engine::{FastDbEngine, open};
pub use kind::KINDS;
pub use library::{Absent, Info, LIBRARY_VARIABLE, info};
pub use options::{Commit, GRAMMAR, Index, Options};
