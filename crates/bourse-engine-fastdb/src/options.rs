//! Settings of a FastDB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{ExpectedValue, Grammar, Scheme};
use bourse_engine::{IndexKind, option_words, options};
use std::path::PathBuf;

/// Kind of index of a key.
pub type FastDbIndex = IndexKind;

option_words! {
    /// Function that ends a transaction with changes.
    pub enum Commit {
        /// `cli_commit`: the file is made durable.
        Full = "full",
        /// `cli_precommit`: locks are released, nothing more.
        Precommit = "precommit",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FastDbOptions;

    /// `library`.
    library: Option<PathBuf> = None => ["library": path,
        "FastDB's shared library: libfastdb_r.so.2 or a diskless build [without it: $BOURSE_FASTDB, then the system's library path]"];

    /// `index`.
    index: FastDbIndex = FastDbIndex::Tree =>
        [OptionSpec {
            name: "index",
            values: "ttree, hash",
            meaning: "index on keys; a hash index cannot scan keys in order",
            set: |options, text| {
                options.index = match text {
                    "ttree" => FastDbIndex::Tree,
                    "hash" => FastDbIndex::Hash,
                    _ => return Err(ExpectedValue::Listed),
                };
                Ok(())
            },
            show: |options| if options.index == FastDbIndex::Hash { "hash" } else { "ttree" }.to_owned(),
        }];

    /// `commit`.
    commit: Commit = Commit::Full => ["commit": word(Commit), "full, precommit",
        "how a transaction ends: `cli_commit` syncs the file; `cli_precommit` only releases the locks, and a single transaction cannot be rolled back"];

    /// `unique`.
    unique: bool = true => ["unique": switch,
        "an insert first checks that its key does not exist, since FastDB's indexes allow duplicates; off: as FastDB's own programs do"];

    /// `size`, in bytes.
    size_bytes: u64 = 1 << 30 => ["size": bytes(96 << 20, 1 << 40), "bytes, as 512MiB, from 96MiB to 1TiB",
        "initial size of a new database. A database in a file grows; one of a diskless build does not. Memory and disk are used only when touched"];
}

/// Grammar of FastDB targets.
pub static GRAMMAR: Grammar<FastDbOptions> =
    Grammar { engine: "FastDB", schemes: &[Scheme::plain("fastdb")], forms: "fastdb:PATH", options: OPTIONS };
