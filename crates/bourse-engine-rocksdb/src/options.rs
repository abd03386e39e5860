//! Settings of a RocksDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use std::ffi::c_int;
use std::path::PathBuf;

option_words! {
    /// Compression of tables' blocks.
    pub enum Compression {
        /// Snappy.
        Snappy = "snappy",
        /// No compression.
        None = "none",
        /// LZ4.
        Lz4 = "lz4",
        /// Zstandard.
        Zstd = "zstd",
    }
}

impl Compression {
    /// RocksDB's number of the compression.
    pub(crate) const fn number(self) -> c_int {
        match self {
            Self::None => 0,
            Self::Snappy => 1,
            Self::Lz4 => 4,
            Self::Zstd => 7,
        }
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RocksDbOptions;

    /// `library`.
    library: Option<PathBuf> = None => ["library": path,
        "RocksDB's shared library [without it: $BOURSE_ROCKSDB, then librocksdb in the usual places]"];

    /// `sync`.
    sync: bool = true => ["sync": switch,
        "whether a commit waits until the write-ahead log is on disk; RocksDB's own default is off"];

    /// `wal`.
    wal: bool = true => ["wal": switch,
        "the write-ahead log; without it a commit is in memory until a table is written, and sync is off"];

    /// `cache`, in bytes.
    cache_bytes: u64 = 32 << 20 => ["cache": bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
        "RocksDB's own cache of blocks, for the whole database"];

    /// `write_buffer`, in bytes.
    write_buffer_bytes: u64 = 64 << 20 =>
        ["write_buffer": bytes(1 << 16, 1 << 34), "bytes, as 64MiB, from 64KiB to 16GiB",
        "what a table gathers in memory before it is written to disk"];

    /// `bloom`, in bits per key; `None` for no filter.
    bloom_bits: Option<u8> = None =>
        ["bloom": number_or("off", 1, 100), "off, or a number from 1 to 100",
            "bits for each key of a Bloom filter, which spares reads of keys that are not there"];

    /// `compression`.
    compression: Compression = Compression::Snappy => ["compression": word(Compression), "snappy, none, lz4, zstd",
        "how blocks of tables are compressed, if the library can"];

    /// `jobs`.
    jobs: u8 = 2 => ["jobs": number(1, 64), "a number from 1 to 64",
        "background jobs at a time, which write and merge tables"];
}

/// Grammar of RocksDB targets.
pub static GRAMMAR: Grammar<RocksDbOptions> = Grammar {
    engine: "RocksDB",
    schemes: &[Scheme::plain("rocksdb")],
    forms: "rocksdb:PATH, a folder",
    options: OPTIONS,
};
