//! Settings of a fjall target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use fjall::PersistMode;

option_words! {
    /// Durability of a commit.
    pub enum Persist {
        /// Synced to the disk, with the journal's metadata.
        SyncAll = "sync_all",
        /// Synced to the disk.
        SyncData = "sync_data",
        /// Passed to the operating system.
        Buffer = "buffer",
    }
}

impl Persist {
    /// Mode in fjall's type.
    pub(crate) fn mode(self) -> PersistMode {
        match self {
            Self::SyncAll => PersistMode::SyncAll,
            Self::SyncData => PersistMode::SyncData,
            Self::Buffer => PersistMode::Buffer,
        }
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct FjallOptions;

    /// `persist`.
    persist: Persist = Persist::SyncData => ["persist": word(Persist), "sync_all, sync_data, buffer",
        "what a commit waits for: the disk (fsync, fdatasync), or the operating system, which is fjall's own default"];

    /// `cache`, in bytes.
    cache_bytes: u64 = 32 << 20 => ["cache": bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
        "fjall's own cache of blocks, for the whole database"];

    /// `journal`, in bytes.
    journal_bytes: u64 = 512 << 20 => ["journal": bytes(64 << 20, 1 << 40), "bytes, as 512MiB, from 64MiB to 1TiB",
        "the most that its journals may take on disk before what they hold is written to tables"];

    /// `workers`; fjall's own default if `None`.
    workers: Option<usize> = None =>
        ["workers": number_or("auto", 1, 64), "auto, or a number from 1 to 64",
            "threads that write and merge tables; auto is one for each CPU, at most four"];
}

/// Grammar of fjall targets.
pub static GRAMMAR: Grammar<FjallOptions> =
    Grammar { engine: "fjall", schemes: &[Scheme::plain("fjall")], forms: "fjall:PATH, a folder", options: OPTIONS };
