//! Settings of a redb target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::option_words;
use bourse_engine::target::{Grammar, OptionSpec, Scheme, parse_bytes, parse_switch, show_bytes, show_switch};

/// What a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// The disk.
    Immediate,
    /// Nothing: it lasts with the next commit that waits.
    None,
}

option_words!(Durable { Immediate = "immediate", None = "none" });

/// Settings of a target; what was not said has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `durability`.
    pub durability: Durable,
    /// `two_phase`.
    pub two_phase: bool,
    /// `cache`, in bytes.
    pub cache_bytes: u64,
}

impl Options {
    /// What holds where nothing is said.
    pub const DEFAULT: Self = Self { durability: Durable::Immediate, two_phase: false, cache_bytes: 1 << 30 };
}

/// How redb targets are written.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "redb",
    schemes: &[Scheme::plain("redb")],
    forms: "redb:PATH or redb::memory:",
    options: &[
        OptionSpec {
            name: "durability",
            values: "immediate, none",
            meaning: "whether a commit waits for the disk; without, it lasts with the next one that does",
            set: |options, text| Durable::parse(text).map(|value| options.durability = value),
            show: |options| options.durability.word().to_owned(),
        },
        OptionSpec {
            name: "two_phase",
            values: "on, off",
            meaning: "whether a commit waits twice, first for the changes and then for the root, rather than for both under a checksum",
            set: |options, text| parse_switch(text).map(|value| options.two_phase = value),
            show: |options| show_switch(options.two_phase),
        },
        OptionSpec {
            name: "cache",
            values: "bytes, as 64MiB, from 1MiB to 1TiB",
            meaning: "redb's own cache of pages, for the whole database",
            set: |options, text| {
                options.cache_bytes = parse_bytes(text, 1 << 20, 1 << 40)?;
                Ok(())
            },
            show: |options| show_bytes(options.cache_bytes),
        },
    ],
    renamed: &[],
};
