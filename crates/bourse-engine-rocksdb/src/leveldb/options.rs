//! Settings of a LevelDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::options;
use bourse_engine::target::{Grammar, Scheme};
use std::path::PathBuf;

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LevelDbOptions;

    /// `library`.
    library: Option<PathBuf> = None => ["library": path,
        "LevelDB's shared library [without it: $BOURSE_LEVELDB, then libleveldb in the usual places]"];

    /// `sync`.
    sync: bool = true => ["sync": switch, "whether a commit waits until the log is on disk; LevelDB's own default is off"];

    /// `cache`, in bytes.
    cache_bytes: u64 = 32 << 20 => ["cache": bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
        "LevelDB's own cache of blocks"];

    /// `write_buffer`, in bytes.
    write_buffer_bytes: u64 = 4 << 20 =>
        ["write_buffer": bytes(1 << 16, 1 << 30), "bytes, as 64MiB, from 64KiB to 1GiB",
        "what is gathered in memory before it is written to a table"];

    /// `bloom`, in bits per key; `None` for no filter.
    bloom_bits: Option<u8> = None =>
        ["bloom": number_or("off", 1, 100), "off, or a number from 1 to 100",
            "bits for each key of a Bloom filter, which spares reads of keys that are not there"];

    /// `compression`.
    compression: bool = true => ["compression": switch, "whether blocks of tables are compressed by Snappy, if the library can"];
}

/// Grammar of LevelDB targets.
pub static GRAMMAR: Grammar<LevelDbOptions> = Grammar {
    engine: "LevelDB",
    schemes: &[Scheme::plain("leveldb")],
    forms: "leveldb:PATH, a folder",
    options: OPTIONS,
};
