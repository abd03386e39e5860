//! Settings of a redb target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};

option_words! {
    /// Durability of a commit.
    pub enum Durable {
        /// Synced to the disk.
        Immediate = "immediate",
        /// Not synced: durable with the next commit that is.
        None = "none",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RedbOptions;

    /// `durability`.
    durability: Durable = Durable::Immediate => ["durability": word(Durable), "immediate, none",
        "whether a commit waits for the disk; without, it lasts with the next one that does"];

    /// `two_phase`.
    two_phase: bool = false => ["two_phase": switch,
        "whether a commit waits twice, first for the changes and then for the root, rather than for both under a checksum"];

    /// `cache`, in bytes.
    cache_bytes: u64 = 1 << 30 => ["cache": bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
        "redb's own cache of pages, for the whole database"];
}

/// Grammar of redb targets.
pub static GRAMMAR: Grammar<RedbOptions> = Grammar {
    engine: "redb",
    schemes: &[Scheme::plain("redb")],
    forms: "redb:PATH or redb::memory:",
    options: OPTIONS,
};
