//! Settings of a Turso target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use std::time::Duration;

option_words! {
    /// Isolation of transactions, and contents of a commit: `PRAGMA journal_mode`.
    pub enum TursoJournal {
        /// Pages in a write-ahead log; one writer at a time.
        Wal = "wal",
        /// Versions of rows in memory, and a log of changes; concurrent writers.
        Mvcc = "mvcc",
    }
}

option_words! {
    /// Moments at which Turso waits for the disk: `PRAGMA synchronous`.
    pub enum TursoSync {
        /// Never.
        Off = "off",
        /// Checkpoints only.
        Normal = "normal",
        /// Each commit.
        Full = "full",
    }
}

option_words! {
    /// Location of temporary tables: `PRAGMA temp_store`.
    pub enum TursoTempStore {
        /// Turso's default: in files.
        Default = "default",
        /// Files.
        File = "file",
        /// Memory.
        Memory = "memory",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TursoOptions;

    /// `journal`.
    journal: TursoJournal = TursoJournal::Wal => ["journal": word(TursoJournal), "wal, mvcc",
        "journal mode (`PRAGMA journal_mode`); wal: one writer at a time, who commits pages to a log; mvcc: writers at the same time (`BEGIN CONCURRENT`), conflicts are retried, and a log of rows"];

    /// `sync`.
    sync: TursoSync = TursoSync::Full => ["sync": word(TursoSync), "off, normal, full",
        "when the disk is waited for (`PRAGMA synchronous`): never, at checkpoints, at each commit"];

    /// `cache`, in bytes.
    cache_bytes: u64 = 64 << 20 => ["cache": bytes(64 << 10, 1 << 40), "bytes, as 64MiB, from 64KiB to 1TiB",
        "page cache of each session (`PRAGMA cache_size`)"];

    /// `busy_timeout`.
    busy_timeout: Duration = Duration::from_secs(10) =>
        ["busy_timeout": time(Duration::from_secs(3_600)), "a time up to 1h, for example 10s or 500ms",
        "how long a session waits for another writer before it fails with a conflict; Turso sleeps 1 to 100 ms and asks again"];

    /// `foreign_keys`.
    foreign_keys: bool = true => ["foreign_keys": switch, "enforce foreign keys"];

    /// `checks`.
    checks: bool = true => ["checks": switch, "enforce check constraints"];

    /// `temp_store`.
    temp_store: TursoTempStore = TursoTempStore::Default => ["temp_store": word(TursoTempStore), "default, file, memory",
        "where temporary tables are kept (`PRAGMA temp_store`); default is file, in the folder for temporary files"];

    /// `checkpoint_threshold`, in bytes; Turso's own default if none.
    checkpoint_bytes: Option<u64> = None =>
        ["checkpoint_threshold": optional_bytes(1 << 10, 1 << 40), "bytes, as 4MiB, from 1KiB to 1TiB",
        "with journal=mvcc, size of the log at which a commit writes it into the database; everybody waits meanwhile [without it: Turso's own, 4.1 MB]"];
}

/// Grammar of Turso targets.
pub static GRAMMAR: Grammar<TursoOptions> = Grammar {
    engine: "Turso",
    schemes: &[Scheme::plain("turso")],
    forms: "turso:PATH or turso::memory:",
    options: OPTIONS,
};
