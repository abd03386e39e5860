//! Settings of an LMDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};

option_words! {
    /// Part of a commit that is synced.
    pub enum LmdbSync {
        /// Changes and meta page.
        Full = "full",
        /// Changes only: `MDB_NOMETASYNC`.
        Meta = "meta",
        /// Nothing: `MDB_NOSYNC`.
        Off = "off",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LmdbOptions;

    /// `sync`.
    sync: LmdbSync = LmdbSync::Full => ["sync": word(LmdbSync), "full, meta, off",
        "what a commit syncs: data and meta page, data only (`MDB_NOMETASYNC`), nothing (`MDB_NOSYNC`)"];

    /// `writemap`.
    writes_map: bool = false => ["writemap": switch,
        "write through the memory map (`MDB_WRITEMAP`) instead of writing pages at the commit"];

    /// `map_size`, in bytes.
    map_bytes: u64 = 16 << 30 => ["map_size": bytes(1 << 20, 1 << 44), "bytes, as 16GiB, from 1MiB to 16TiB",
        "largest size of the database; reserves addresses, not memory"];
}

/// Grammar of LMDB targets.
pub static GRAMMAR: Grammar<LmdbOptions> =
    Grammar { engine: "LMDB", schemes: &[Scheme::plain("lmdb")], forms: "lmdb:PATH", options: OPTIONS };
