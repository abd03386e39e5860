//! Settings of an LMDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::option_words;
use bourse_engine::target::{Grammar, OptionSpec, Scheme, parse_bytes, parse_switch, show_bytes, show_switch};

/// What a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Changes and root.
    Full,
    /// Changes alone: `MDB_NOMETASYNC`.
    Meta,
    /// Nothing: `MDB_NOSYNC`.
    Off,
}

option_words!(Sync { Full = "full", Meta = "meta", Off = "off" });

/// Settings of a target; what was not said has its default.
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
    /// What holds where nothing is said.
    pub const DEFAULT: Self = Self { sync: Sync::Full, writes_map: false, map_bytes: 16 << 30 };
}

/// How LMDB targets are written.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "LMDB",
    schemes: &[Scheme::plain("lmdb")],
    forms: "lmdb:PATH",
    options: &[
        OptionSpec {
            name: "sync",
            values: "full, meta, off",
            meaning: "what a commit syncs: data and meta page, data only (`MDB_NOMETASYNC`), nothing (`MDB_NOSYNC`)",
            set: |options, text| Sync::parse(text).map(|value| options.sync = value),
            show: |options| options.sync.word().to_owned(),
        },
        OptionSpec {
            name: "writemap",
            values: "on, off",
            meaning: "write through the memory map (`MDB_WRITEMAP`) instead of writing pages at the commit",
            set: |options, text| parse_switch(text).map(|value| options.writes_map = value),
            show: |options| show_switch(options.writes_map),
        },
        OptionSpec {
            name: "map_size",
            values: "bytes, as 16GiB, from 1MiB to 16TiB",
            meaning: "largest size of the database; reserves addresses, not memory",
            set: |options, text| {
                options.map_bytes = parse_bytes(text, 1 << 20, 1 << 44)?;
                Ok(())
            },
            show: |options| show_bytes(options.map_bytes),
        },
    ],
    renamed: &[],
};
