//! FastDB, Konstantin Knizhnik's main-memory database, behind the seam.
//!
//! No package registry carries it: its shared library, which a user must build, is loaded at run time and called through its
//! documented C interface (`cli.h`). A target such as `fastdb:x.fdb?index=hash&commit=precommit` is read by [`open`];
//! [`GRAMMAR`] has the table of all settings; [`info`] reports whether the library is available, and if not where to get it.
//!
//! Files: `options` (settings of a target), `library` (the C interface), `leftovers` (the files that the library leaves behind,
//! and their removal), `database` (an open database, and the transaction that a thread has
//! joined), `slot` and `statement` (memory that the library reads and writes, and its binding), `session` and `engine` (the
//! seam), `kind` (the engine's registration), `error` (codes).

mod database;
mod engine;
mod error;
mod kind;
mod leftovers;
mod library;
mod options;
mod session;
mod slot;
mod statement;

pub use engine::{FastDbEngine, open};
pub use kind::KINDS;
pub use library::{LIBRARY_VARIABLE, info};
pub use options::{Commit, FastDbIndex, FastDbOptions, GRAMMAR};
