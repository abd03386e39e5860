//! RocksDB, LevelDB and Berkeley DB behind the seam: records by key in a folder. RocksDB has log-structured merge trees with optimistic
//! transactions; of the others see [`leveldb`] and [`berkeley`].
//!
//! RocksDB takes a quarter of an hour to compile, so its shared library, which operating systems' packages contain, is loaded at run
//! time and called through its documented C interface (`rocksdb/c.h`), and the others' likewise (`leveldb/c.h`, `db.h`). A target such as `rocksdb:x.rocksdb?sync=off` is read by
//! [`open`]; [`GRAMMAR`] has the table of all settings; [`info`] reports whether the library is available, and if not how to
//! get it.
//!
//! Files: `options` (settings of a target), `library` (the C interface), `database` (an open database and its tables),
//! `transaction` (a transaction, and its view of the data), `engine` (the seam), `kind` (the engine's registration), `error`
//! (kinds), `leveldb`, `berkeley`.

pub mod berkeley;
mod database;
mod engine;
mod error;
mod kind;
pub mod leveldb;
mod library;
mod options;
mod transaction;

pub use engine::{RocksDbEngine, open};
pub use kind::KINDS;
pub use library::{LIBRARY_VARIABLE, info};
pub use options::{Compression, GRAMMAR, RocksDbOptions};
