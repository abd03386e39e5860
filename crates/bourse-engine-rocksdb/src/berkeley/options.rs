//! Settings of a Berkeley DB target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::options;
use bourse_engine::target::{Grammar, Scheme};
use std::path::PathBuf;

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BerkeleyOptions;

    /// `library`.
    library: Option<PathBuf> = None => ["library": path,
        "Berkeley DB's shared library, version 5.3 [without it: $BOURSE_BERKELEY_DB, then libdb-5.3 in the usual places]"];

    /// `sync`.
    sync: bool = true => ["sync": switch,
        "whether a commit waits until the log is on disk; off: until it is handed to the operating system (`DB_TXN_WRITE_NOSYNC`)"];

    /// `cache`, in bytes.
    cache_bytes: u64 = 64 << 20 => ["cache": bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
        "Berkeley DB's own cache of pages, also for the versions that snapshots need"];
}

/// Grammar of Berkeley DB targets.
pub static GRAMMAR: Grammar<BerkeleyOptions> = Grammar {
    engine: "Berkeley DB",
    schemes: &[Scheme::plain("berkeleydb")],
    forms: "berkeleydb:PATH, a folder",
    options: OPTIONS,
};
