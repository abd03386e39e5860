//! Settings of a Firebird target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, OptionSpec, Scheme, parse_bytes, parse_path, show_bytes, show_path};
use bourse_engine::{option_spec, option_words};
use std::path::PathBuf;
use std::time::Duration;

/// Durability of page writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Each write of a page waits for the disk.
    Full,
    /// No write waits for the disk.
    Off,
}

option_words!(Sync { Full = "full", Off = "off" });

/// Page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// 4096 bytes.
    KiB4,
    /// 8192 bytes.
    KiB8,
    /// 16384 bytes.
    KiB16,
}

option_words!(PageSize { KiB4 = "4KiB", KiB8 = "8KiB", KiB16 = "16KiB" });

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

/// Implementation of serializable transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serializable {
    /// Snapshot, as for repeatable reads.
    Snapshot,
    /// Lock on each table that the transaction reads or changes.
    Tables,
}

option_words!(Serializable { Snapshot = "snapshot", Tables = "tables" });

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `library`.
    pub library: Option<PathBuf>,
    /// `sync`.
    pub sync: Sync,
    /// `page_size` of a database that is made.
    pub page_size: PageSize,
    /// `cache`, in bytes; Firebird's own default if none.
    pub cache_bytes: Option<u64>,
    /// `lock_timeout`, whole seconds; zero does not wait.
    pub lock_timeout: Duration,
    /// `serializable`.
    pub serializable: Serializable,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self = Self {
        library: None,
        sync: Sync::Full,
        page_size: PageSize::KiB8,
        cache_bytes: None,
        lock_timeout: Duration::from_secs(1),
        serializable: Serializable::Snapshot,
    };
}

/// Grammar of Firebird targets.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "Firebird",
    schemes: &[Scheme::plain("firebird")],
    forms: "firebird:PATH",
    options: &[
        OptionSpec {
            name: "library",
            values: "a path",
            meaning: "Firebird's client library [without it: $BOURSE_FIREBIRD, then libfbclient.so.2 in the system's library path and the usual folders]",
            set: |options, text| parse_path(text).map(|path| options.library = path),
            show: |options| show_path(options.library.as_ref()),
        },
        option_spec!("sync" => sync: word(Sync), "full, off",
            "full: each write of a page waits for the disk (forced writes); off: none does, and power loss can leave a database that is broken"),
        option_spec!("page_size" => page_size: word(PageSize), "4KiB, 8KiB, 16KiB",
            "size of a page of a database that is made; one that is there keeps its own"),
        OptionSpec {
            name: "cache",
            values: "bytes, as 64MiB, from 1MiB to 1TiB",
            meaning: "memory for pages, which all sessions share [without it: Firebird's own default, 2048 pages]",
            set: |options, text| parse_bytes(text, 1 << 20, 1 << 40).map(|bytes| options.cache_bytes = Some(bytes)),
            show: |options| options.cache_bytes.map_or_else(String::new, show_bytes),
        },
        option_spec!("lock_timeout" => lock_timeout: seconds(0, 3_600), "a time in whole seconds from 0s to 3600s",
            "how long a transaction waits for a row that another one has changed before it fails with a conflict, also where the two wait for each other; 0s: not at all"),
        option_spec!("serializable" => serializable: word(Serializable), "snapshot, tables",
            "what a transaction has that is to be serializable: snapshot: no more than one whose reads are to repeat; tables: locks on each table that it reads or changes"),
    ],
};
