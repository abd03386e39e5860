//! Settings of a DuckDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{
    Grammar, OptionSpec, Scheme, parse_bytes, parse_number, parse_path, show_bytes, show_path,
};
use bourse_engine::{option_spec, option_words};
use std::path::PathBuf;
use std::time::Duration;

/// Concurrency of transactions that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// One writer per session, concurrently.
    Concurrent,
    /// One writer at a time; the others wait for it.
    One,
}

option_words!(Writers { Concurrent = "concurrent", One = "one" });

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `library`.
    pub library: Option<PathBuf>,
    /// `writers`.
    pub writers: Writers,
    /// `lock_timeout`, whole seconds.
    pub lock_timeout: Duration,
    /// `threads`; DuckDB's own default if none.
    pub threads: Option<u32>,
    /// `memory_limit`, in bytes; DuckDB's own default if none.
    pub memory_bytes: Option<u64>,
    /// `checkpoint_threshold`, in bytes; DuckDB's own default if none.
    pub checkpoint_bytes: Option<u64>,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self = Self {
        library: None,
        writers: Writers::Concurrent,
        lock_timeout: Duration::from_secs(10),
        threads: None,
        memory_bytes: None,
        checkpoint_bytes: None,
    };
}

/// Grammar of DuckDB targets.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "DuckDB",
    schemes: &[Scheme::plain("duckdb")],
    forms: "duckdb:PATH or duckdb::memory:",
    options: &[
        OptionSpec {
            name: "library",
            values: "a path",
            meaning: "DuckDB's shared library [without it: $BOURSE_DUCKDB, then libduckdb in the system's library path and the usual folders]",
            set: |options, text| parse_path(text).map(|path| options.library = path),
            show: |options| show_path(options.library.as_ref()),
        },
        option_spec!("writers" => writers: word(Writers), "concurrent, one",
            "concurrent: writing transactions run at the same time on snapshots, and conflicts are retried; one: they wait for one another, which makes them serializable"),
        option_spec!("lock_timeout" => lock_timeout: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
            "with writers=one, how long a writer waits for the others before it fails with a conflict"),
        OptionSpec {
            name: "threads",
            values: "1 to 1024",
            meaning: "threads of DuckDB that work on all sessions' statements [without it: the number of CPUs]",
            set: |options, text| parse_number(text, 1, 1_024).map(|threads| options.threads = Some(threads)),
            show: |options| options.threads.map_or_else(String::new, |threads| threads.to_string()),
        },
        OptionSpec {
            name: "memory_limit",
            values: "bytes, as 4GiB, from 16MiB to 16TiB",
            meaning: "memory for pages and for statements at work [without it: 80 % of the machine's memory]",
            set: |options, text| parse_bytes(text, 16 << 20, 1 << 44).map(|bytes| options.memory_bytes = Some(bytes)),
            show: |options| options.memory_bytes.map_or_else(String::new, show_bytes),
        },
        OptionSpec {
            name: "checkpoint_threshold",
            values: "bytes, as 16MiB, from 1KiB to 1TiB",
            meaning: "size of the log at which a commit writes it into the database [without it: 16MiB]",
            set: |options, text| {
                parse_bytes(text, 1 << 10, 1 << 40).map(|bytes| options.checkpoint_bytes = Some(bytes))
            },
            show: |options| options.checkpoint_bytes.map_or_else(String::new, show_bytes),
        },
    ],
};
