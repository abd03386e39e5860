//! SQLite as an engine, over its C interface.
//!
//! A target such as `sqlite:x.db?journal=wal&sync=full` or `sqlite::memory:` is parsed by [`open`]; [`GRAMMAR`] has all
//! settings. The crate calls the library directly: a wrapper's checks would be inside the timed part.
//!
//! The source is built three times: over two builds of the library, the other one as `bourse-engine-sqlite-lean`, and
//! over any library that a target names, as `bourse-engine-sqlite-lib`.
//!
//! Files: `ffi` and `library` (the copy of the library that is called), `loaded`, `fitting`, `encrypted` and `berkeley`
//! (a library that a target names: loading, abilities, databases with a key, Berkeley DB), `options` and `target`
//! (settings), `source`, `connection` and `statement` (safe C interface), `session` and `loader` (the engine
//! interface), `format` (the files of a database), `reading` (read-only use), `shared_connection` (a connection that
//! outlives its session), `waits` and `queue` (lock waits), `counting` (disk operations), `memvfs` (files in memory),
//! `power` (states that a power loss leaves, opened), `vfs` (common parts of these three), `snapshot` (copies that rounds
//! are restored from), `replaced` (databases of other programs: copied, read, masked), `describe` (description of the database), `kind` (registration), `error` (codes).

#[cfg(loaded)]
mod berkeley;
#[cfg(all(loaded, target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod binding;
mod confined;
mod connection;
mod counting;
mod describe;
#[cfg(loaded)]
mod encrypted;
mod engine;
mod error;
mod ffi;
#[cfg(loaded)]
mod fitting;
mod format;
mod kind;
mod library;
#[cfg(loaded)]
mod loaded;
mod loader;
mod memvfs;
mod one_writer;
mod options;
#[cfg(not(any(lean, loaded)))]
pub mod power;
mod prepared;
mod queue;
mod reading;
#[cfg(not(any(lean, loaded)))]
mod replaced;
mod session;
mod shared_connection;
mod snapshot;
mod source;
mod statement;
mod target;
mod vfs;
mod waits;

pub use confined::option_of_pragma;
#[cfg(not(any(lean, loaded)))]
pub use counting::declare_device;
pub use describe::durability_on_disk;
#[cfg(loaded)]
pub use encrypted::KeySource;
pub use engine::{SqliteEngine, SqliteInfo, info, open};
pub use kind::KINDS;
pub use options::{
    GRAMMAR, Locking, MemoryKind, Sets, SqliteJournal, SqliteOptions, SqliteSync, SqliteTempStore, SqliteWriters,
    Threading,
};
#[cfg(not(any(lean, loaded)))]
pub use replaced::{
    StoredDatabase, StoredObject, StoredTable, StoredValue, copy_database, replace_values, stored_values, try_statement,
};
pub use target::{SqlitePlace, SqliteTarget};
