//! Settings of a Turso target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, OptionSpec, Scheme, parse_bytes, parse_time, show_bytes, show_time};
use bourse_engine::{option_spec, option_words};
use std::time::Duration;

/// Isolation of transactions, and contents of a commit: `PRAGMA journal_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// Pages in a write-ahead log; one writer at a time.
    Wal,
    /// Versions of rows in memory, and a log of changes; concurrent writers.
    Mvcc,
}

option_words!(Journal { Wal = "wal", Mvcc = "mvcc" });

/// Moments at which Turso waits for the disk: `PRAGMA synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Never.
    Off,
    /// Checkpoints only.
    Normal,
    /// Each commit.
    Full,
}

option_words!(Sync { Off = "off", Normal = "normal", Full = "full" });

/// Location of temporary tables: `PRAGMA temp_store`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TempStore {
    /// Turso's default: in files.
    Default,
    /// Files.
    File,
    /// Memory.
    Memory,
}

option_words!(TempStore { Default = "default", File = "file", Memory = "memory" });

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `journal`.
    pub journal: Journal,
    /// `sync`.
    pub sync: Sync,
    /// `cache`, in bytes.
    pub cache_bytes: u64,
    /// `busy_timeout`.
    pub busy_timeout: Duration,
    /// `foreign_keys`.
    pub foreign_keys: bool,
    /// `checks`.
    pub checks: bool,
    /// `temp_store`.
    pub temp_store: TempStore,
    /// `checkpoint_threshold`, in bytes; Turso's own default if none.
    pub checkpoint_bytes: Option<u64>,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self = Self {
        journal: Journal::Wal,
        sync: Sync::Full,
        cache_bytes: 64 << 20,
        busy_timeout: Duration::from_secs(10),
        foreign_keys: true,
        checks: true,
        temp_store: TempStore::Default,
        checkpoint_bytes: None,
    };
}

/// Grammar of Turso targets.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "Turso",
    schemes: &[Scheme::plain("turso")],
    forms: "turso:PATH or turso::memory:",
    options: &[
        option_spec!("journal" => journal: word(Journal), "wal, mvcc",
            "journal mode (`PRAGMA journal_mode`); wal: one writer at a time, who commits pages to a log; mvcc: writers at the same time (`BEGIN CONCURRENT`), conflicts are retried, and a log of rows"),
        option_spec!("sync" => sync: word(Sync), "off, normal, full",
            "when the disk is waited for (`PRAGMA synchronous`): never, at checkpoints, at each commit"),
        option_spec!("cache" => cache_bytes: bytes(64 << 10, 1 << 40), "bytes, as 64MiB, from 64KiB to 1TiB",
            "page cache of each session (`PRAGMA cache_size`)"),
        OptionSpec {
            name: "busy_timeout",
            values: "a time up to 1h, for example 10s or 500ms",
            meaning: "how long a session waits for another writer before it fails with a conflict; Turso sleeps 1 to 100 ms and asks again",
            set: |options, text| parse_time(text, Duration::from_secs(3_600)).map(|time| options.busy_timeout = time),
            show: |options| show_time(options.busy_timeout),
        },
        option_spec!("foreign_keys" => foreign_keys: switch, "enforce foreign keys"),
        option_spec!("checks" => checks: switch, "enforce check constraints"),
        option_spec!("temp_store" => temp_store: word(TempStore), "default, file, memory",
            "where temporary tables are kept (`PRAGMA temp_store`); default is file, in the folder for temporary files"),
        OptionSpec {
            name: "checkpoint_threshold",
            values: "bytes, as 4MiB, from 1KiB to 1TiB",
            meaning: "with journal=mvcc, size of the log at which a commit writes it into the database; everybody waits meanwhile [without it: Turso's own, 4.1 MB]",
            set: |options, text| {
                parse_bytes(text, 1 << 10, 1 << 40).map(|bytes| options.checkpoint_bytes = Some(bytes))
            },
            show: |options| options.checkpoint_bytes.map_or_else(String::new, show_bytes),
        },
    ],
};
