//! Settings of a Firebird target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use std::path::PathBuf;
use std::time::Duration;

option_words! {
    /// Durability of page writes.
    pub enum FirebirdSync {
        /// Each write of a page waits for the disk.
        Full = "full",
        /// No write waits for the disk.
        Off = "off",
    }
}

option_words! {
    /// Page size.
    pub enum PageSize {
        /// 4096 bytes.
        KiB4 = "4KiB",
        /// 8192 bytes.
        KiB8 = "8KiB",
        /// 16384 bytes.
        KiB16 = "16KiB",
    }
}

impl PageSize {
    /// Page size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::KiB4 => 4_096,
            Self::KiB8 => 8_192,
            Self::KiB16 => 16_384,
        }
    }
}

option_words! {
    /// Implementation of serializable transactions.
    pub enum Serializable {
        /// Snapshot, as for repeatable reads.
        Snapshot = "snapshot",
        /// Lock on each table that the transaction reads or changes.
        Tables = "tables",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FirebirdOptions;

    /// `library`.
    library: Option<PathBuf> = None => ["library": path,
        "Firebird's client library [without it: $BOURSE_FIREBIRD, then libfbclient.so.2 in the system's library path and the usual folders]"];

    /// `sync`.
    sync: FirebirdSync = FirebirdSync::Full => ["sync": word(FirebirdSync), "full, off",
        "full: each write of a page waits for the disk (forced writes); off: none does, and power loss can leave a database that is broken"];

    /// `page_size` of a database that is made.
    page_size: PageSize = PageSize::KiB8 => ["page_size": word(PageSize), "4KiB, 8KiB, 16KiB",
        "size of a page of a database that is made; one that is there keeps its own"];

    /// `cache`, in bytes; Firebird's own default if none.
    cache_bytes: Option<u64> = None =>
        ["cache": optional_bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
        "memory for pages, which all sessions share [without it: Firebird's own default, 2048 pages]"];

    /// `lock_timeout`, whole seconds; zero does not wait.
    lock_timeout: Duration = Duration::from_secs(1) =>
        ["lock_timeout": seconds(0, 3_600), "a time in whole seconds from 0s to 3600s",
        "how long a transaction waits for a row that another one has changed before it fails with a conflict, also where the two wait for each other; 0s: not at all"];

    /// `serializable`.
    serializable: Serializable = Serializable::Snapshot => ["serializable": word(Serializable), "snapshot, tables",
        "what a transaction has that is to be serializable: snapshot: no more than one whose reads are to repeat; tables: locks on each table that it reads or changes"];
}

/// Grammar of Firebird targets.
pub static GRAMMAR: Grammar<FirebirdOptions> =
    Grammar { engine: "Firebird", schemes: &[Scheme::plain("firebird")], forms: "firebird:PATH", options: OPTIONS };
