//! Settings of a DuckDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use std::path::PathBuf;
use std::time::Duration;

option_words! {
    /// Concurrency of transactions that write.
    pub enum DuckDbWriters {
        /// One writer per session, concurrently.
        Concurrent = "concurrent",
        /// One writer at a time; the others wait for it.
        One = "one",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DuckDbOptions;

    /// `library`.
    library: Option<PathBuf> = None => ["library": path,
        "DuckDB's shared library [without it: $BOURSE_DUCKDB, then libduckdb in the system's library path and the usual folders]"];

    /// `writers`.
    writers: DuckDbWriters = DuckDbWriters::Concurrent => ["writers": word(DuckDbWriters), "concurrent, one",
        "concurrent: writing transactions run at the same time on snapshots, and conflicts are retried; one: they wait for one another, which makes them serializable"];

    /// `lock_timeout`, whole seconds.
    lock_timeout: Duration = Duration::from_secs(10) =>
        ["lock_timeout": seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "with writers=one, how long a writer waits for the others before it fails with a conflict"];

    /// `threads`; DuckDB's own default if none.
    threads: Option<u32> = None => ["threads": optional_number(1, 1_024), "1 to 1024",
        "threads of DuckDB that work on all sessions' statements [without it: the number of CPUs]"];

    /// `memory_limit`, in bytes; DuckDB's own default if none.
    memory_bytes: Option<u64> = None =>
        ["memory_limit": optional_bytes(16 << 20, 1 << 44), "bytes, as 4GiB, from 16MiB to 16TiB",
        "memory for pages and for statements at work [without it: 80 % of the machine's memory]"];

    /// `checkpoint_threshold`, in bytes; DuckDB's own default if none.
    checkpoint_bytes: Option<u64> = None =>
        ["checkpoint_threshold": optional_bytes(1 << 10, 1 << 40), "bytes, as 16MiB, from 1KiB to 1TiB",
        "size of the log at which a commit writes it into the database [without it: 16MiB]"];
}

/// Grammar of DuckDB targets.
pub static GRAMMAR: Grammar<DuckDbOptions> = Grammar {
    engine: "DuckDB",
    schemes: &[Scheme::plain("duckdb")],
    forms: "duckdb:PATH or duckdb::memory:",
    options: OPTIONS,
};
