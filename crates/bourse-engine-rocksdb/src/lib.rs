//! RocksDB behind the seam: log-structured merge trees of records by key, in a folder, with optimistic transactions.
//!
//! It takes a quarter of an hour to compile, so its shared library, which operating systems' packages contain, is loaded at run
//! time and called through its documented C interface (`rocksdb/c.h`). A target such as `rocksdb:x.rocksdb?sync=off` is read by
//! [`open`]; [`GRAMMAR`] has the table of all settings; [`info`] reports whether the library is available, and if not how to
//! get it.
//!
//! Files: `options` (settings of a target), `library` (the C interface), `database` (an open database and its tables),
//! `transaction` (a transaction, and its view of the data), `session` and `engine` (the seam), `kind` (the engine's
//! registration), `error` (kinds).

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
pub use library::{LIBRARY_VARIABLE, info};
pub use options::{Compression, GRAMMAR, RocksDbOptions};
