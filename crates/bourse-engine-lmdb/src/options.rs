//! Settings of an LMDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_spec, option_words};

/// Part of a commit that is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Changes and meta page.
    Full,
    /// Changes only: `MDB_NOMETASYNC`.
    Meta,
    /// Nothing: `MDB_NOSYNC`.
    Off,
}

option_words!(Sync { Full = "full", Meta = "meta", Off = "off" });

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `sync`.
    pub sync: Sync,
    /// `writemap`.
    pub writes_map: bool,
    /// `map_size`, in bytes.
    pub map_bytes: u64,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self = Self { sync: Sync::Full, writes_map: false, map_bytes: 16 << 30 };
}

/// Grammar of LMDB targets.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "LMDB",
    schemes: &[Scheme::plain("lmdb")],
    forms: "lmdb:PATH",
    options: &[
        option_spec!(
            "sync" => sync: word(Sync), "full, meta, off",
            "what a commit syncs: data and meta page, data only (`MDB_NOMETASYNC`), nothing (`MDB_NOSYNC`)",
        ),
        option_spec!(
            "writemap" => writes_map: switch,
            "write through the memory map (`MDB_WRITEMAP`) instead of writing pages at the commit",
        ),
        option_spec!(
            "map_size" => map_bytes: bytes(1 << 20, 1 << 44), "bytes, as 16GiB, from 1MiB to 16TiB",
            "largest size of the database; reserves addresses, not memory",
        ),
    ],
};
