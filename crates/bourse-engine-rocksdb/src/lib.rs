//! RocksDB behind the seam: log-structured merge trees of records by key, in a folder, with optimistic transactions.
//!
//! It takes a quarter of an hour to compile, so its shared library, which a system's packages have, is loaded at run time and
//! called through its documented C interface (`rocksdb/c.h`). A target such as `rocksdb:x.rocksdb?sync=off` is read by
//! [`open`]; [`GRAMMAR`] has the table of all settings; [`info`] says whether the library is here, and if not how to get it.
//!
//! Files: `options` (what was asked for), `library` (the C interface), `database` (an open database and its tables), `transaction`
//! (a transaction, and what it sees), `session` and `engine` (the seam), `kind` (what a program is told of it),
//! `error` (kinds).

mod database;
mod engine;
mod error;
mod kind;
mod library;
mod options;
mod session;
mod transaction;

pub use engine::{RocksDbEngine, open};
pub use kind::KINDS;
pub use library::{Absent, Info, LIBRARY_VARIABLE, info};
pub use options::{Compression, GRAMMAR, Options};
