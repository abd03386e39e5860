//! Settings of a fjall target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, OptionSpec, Scheme, parse_number};
use bourse_engine::{option_spec, option_words};
use fjall::PersistMode;

/// Durability of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persist {
    /// Synced to the disk, with the journal's metadata.
    SyncAll,
    /// Synced to the disk.
    SyncData,
    /// Passed to the operating system.
    Buffer,
}

option_words!(Persist { SyncAll = "sync_all", SyncData = "sync_data", Buffer = "buffer" });

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

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `persist`.
    pub persist: Persist,
    /// `cache`, in bytes.
    pub cache_bytes: u64,
    /// `journal`, in bytes.
    pub journal_bytes: u64,
    /// `workers`; fjall's own default if `None`.
    pub workers: Option<usize>,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self =
        Self { persist: Persist::SyncData, cache_bytes: 32 << 20, journal_bytes: 512 << 20, workers: None };
}

/// Grammar of fjall targets.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "fjall",
    schemes: &[Scheme::plain("fjall")],
    forms: "fjall:PATH, a folder",
    options: &[
        option_spec!(
            "persist" => persist: word(Persist), "sync_all, sync_data, buffer",
            "what a commit waits for: the disk (fsync, fdatasync), or the operating system, which is fjall's own default",
        ),
        option_spec!(
            "cache" => cache_bytes: bytes(1 << 20, 1 << 40), "bytes, as 64MiB, from 1MiB to 1TiB",
            "fjall's own cache of blocks, for the whole database",
        ),
        option_spec!(
            "journal" => journal_bytes: bytes(64 << 20, 1 << 40), "bytes, as 512MiB, from 64MiB to 1TiB",
            "the most that its journals may take on disk before what they hold is written to tables",
        ),
        OptionSpec {
            name: "workers",
            values: "auto, or a number from 1 to 64",
            meaning: "threads that write and merge tables; auto is one for each CPU, at most four",
            set: |options, text| {
                options.workers = if text == "auto" { None } else { Some(parse_number(text, 1, 64)?) };
                Ok(())
            },
            show: |options| options.workers.map_or_else(|| "auto".to_owned(), |number| number.to_string()),
        },
    ],
};
