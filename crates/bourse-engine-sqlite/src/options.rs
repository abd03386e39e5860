//! Settings of a SQLite target, as typed values; [`GRAMMAR`] parses and documents them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

#[cfg(loaded)]
use crate::encrypted::KeySource;
use crate::library::{ENGINE, FORMS, SCHEME};
use bourse_engine::target::{ExpectedValue, Grammar, Scheme, parse_bytes, parse_number, show_bytes};
use bourse_engine::{locked, option_words, options};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

option_words! {
    /// Journal, which allows rollback and isolates readers: `PRAGMA journal_mode`.
    pub enum SqliteJournal {
        /// Rollback journal, deleted at commit.
        Delete = "delete",
        /// Rollback journal, truncated at commit.
        Truncate = "truncate",
        /// Rollback journal, its header overwritten at commit.
        Persist = "persist",
        /// Rollback journal in memory: a crash during a transaction corrupts a file.
        Memory = "memory",
        /// Write-ahead log: readers continue during writes.
        Wal = "wal",
        /// No journal: a transaction cannot be rolled back.
        Off = "off",
    }
}

option_words! {
    /// Syncs by which SQLite waits for the disk: `PRAGMA synchronous`.
    #[derive(PartialOrd, Ord)]
    pub enum SqliteSync {
        /// Never.
        Off = "off",
        /// Syncs at the most critical moments; with a write-ahead log at checkpoints only.
        Normal = "normal",
        /// Syncs at each commit.
        Full = "full",
        /// Syncs at each commit, and the directory too when a journal is deleted.
        Extra = "extra",
    }
}

option_words! {
    /// Release of locks after a transaction: `PRAGMA locking_mode`.
    pub enum Locking {
        /// Locks are released.
        Normal = "normal",
        /// Locks are held: a single session has the file to itself.
        Exclusive = "exclusive",
    }
}

option_words! {
    /// Storage of temporary tables and sorts: `PRAGMA temp_store`.
    pub enum SqliteTempStore {
        /// Default that is compiled in.
        Default = "default",
        /// Files.
        File = "file",
        /// Memory.
        Memory = "memory",
    }
}

option_words! {
    /// Mutex of a connection.
    pub enum Threading {
        /// No mutex: each session is used by one thread at a time.
        NoMutex = "nomutex",
        /// A mutex, taken at every call: SQLite's own default.
        FullMutex = "fullmutex",
    }
}

option_words! {
    /// Mechanism by which sessions of this process wait for the writer lock.
    pub enum SqliteWriters {
        /// Bourse's queue in front of SQLite, in which the next writer is woken.
        Queue = "queue",
        /// Bourse's busy handler: retries after tens of microseconds, 2 ms at most.
        Busy = "busy",
        /// SQLite's own wait: `sqlite3_busy_timeout` and its sleeps of 1 to 100 ms.
        Sqlite = "sqlite",
        /// Bourse's queue for the one connection that makes all changes: its page cache is never out of date.
        One = "one",
    }
}

option_words! {
    /// Statement that begins a transaction which will write.
    pub enum Begin {
        /// `BEGIN IMMEDIATE`: waits for the writer lock before it reads.
        Immediate = "immediate",
        /// `BEGIN`: reads first; its first change fails if another session has committed since (`SQLITE_BUSY_SNAPSHOT`).
        Deferred = "deferred",
        /// `BEGIN CONCURRENT` of SQLite's branch of that name: several sessions write, and a commit fails if another one has changed a page
        /// that was read (`SQLITE_BUSY_SNAPSHOT`).
        Concurrent = "concurrent",
    }
}

option_words! {
    /// Origin of the default settings.
    pub enum Defaults {
        /// Bourse's defaults.
        Bourse = "bourse",
        /// Defaults of an unconfigured SQLite connection.
        Sqlite = "sqlite",
    }
}

option_words! {
    /// Storage of a database in memory.
    pub enum MemoryKind {
        /// Bourse's file system in memory: pages are returned by address, readers continue during writes.
        Ram = "ram",
        /// SQLite's `memdb` file system: each session has a cache of its own over one shared image of at most 2 GiB.
        MemDb = "memdb",
        /// One cache shared by all sessions (`cache=shared`), with locks by table.
        SharedCache = "shared",
        /// SQLite's plain `:memory:`: the database belongs to one connection, so only one session is possible.
        Private = "private",
    }
}

/// Interns a text: leaks it once, and returns the same reference for the same text.
pub(crate) fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = locked(&TEXTS);
    if let Some(found) = texts.get(text) {
        return found;
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(text);
    text
}

impl MemoryKind {
    /// Largest image of `memdb`, in bytes: it is one allocation, and SQLite makes none that is larger.
    pub(crate) const IMAGE_LIMIT: i64 = 2_147_418_112;
}

/// Set of settings to be applied to a connection, by their indexes in [`GRAMMAR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sets(u32);

impl Sets {
    /// Every setting.
    pub const ALL: Self = Self(u32::MAX);
    /// No setting.
    pub const NONE: Self = Self(0);

    /// Settings with these names.
    pub fn of(names: &[&str]) -> Self {
        Self(names.iter().fold(0, |all, name| all | Self::bit(name)))
    }

    fn bit(name: &str) -> u32 {
        let place = GRAMMAR.options.iter().position(|option| option.name == name);
        place.and_then(|place| 1_u32.checked_shl(u32::try_from(place).ok()?)).unwrap_or(0)
    }

    /// Whether it contains that setting.
    pub(crate) fn has(self, name: &str) -> bool {
        self.0 & Self::bit(name) != 0
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct SqliteOptions;

    /// Option `journal`.
    journal: SqliteJournal = SqliteJournal::Wal => ["journal": word(SqliteJournal), "wal, delete, truncate, persist, memory, off",
        "journal mode (`PRAGMA journal_mode`); in memory: wal (with memory=ram only), memory or off"];

    /// Option `sync`.
    sync: SqliteSync = SqliteSync::Full => ["sync": word(SqliteSync), "off, normal, full, extra",
        "when SQLite syncs files to disk (`PRAGMA synchronous`)"];

    /// Option `memory`.
    memory: MemoryKind = MemoryKind::Ram => ["memory": word(MemoryKind), "ram, memdb, shared, private",
        "storage of an in-memory database. ram: Bourse's own file system in memory, with write-ahead log, up to 64 GiB. memdb: SQLite's `memdb`, without write-ahead log, up to 2 GiB. shared: one shared cache. private: plain `:memory:`, one session"];

    /// Option `page_size`, in bytes.
    page_size: u32 = 4_096 =>
        [OptionSpec {
            name: "page_size",
            values: "a power of two from 512 to 65536 bytes",
            meaning: "page size of a new database; an existing one keeps its own",
            set: |options, text| {
                let bytes = parse_bytes(text, 512, 65_536)?;
                if !bytes.is_power_of_two() {
                    return Err(ExpectedValue::InRange);
                }
                options.page_size = bytes as u32;
                Ok(())
            },
            show: |options| options.page_size.to_string(),
        }];

    /// Option `cache`, in bytes, for each session.
    cache_bytes: u64 = 64 << 20 =>
        [OptionSpec {
            name: "cache",
            values: "bytes from 64KiB to 1TiB, for example 64MiB",
            meaning: "page cache of each session; by default less with many sessions, so that all together stay within 2 GiB",
            set: |options, text| {
                options.cache_bytes = parse_bytes(text, 64 << 10, 1 << 40)?;
                options.is_cache_given = true;
                Ok(())
            },
            show: |options| show_bytes(options.cache_bytes),
        }];

    /// Whether `cache` was given; otherwise it is [divided](SqliteOptions::divided) among many sessions.
    is_cache_given: bool = false;

    /// Option `mmap`, in bytes; 0 maps nothing.
    mmap_bytes: u64 = 0 => ["mmap": bytes(0, 1 << 41), "bytes up to 2TiB, for example 1GiB; 0 for none",
        "part of the file that is read through a memory map (`PRAGMA mmap_size`), up to the limit that SQLite was compiled with"];

    /// Option `autocheckpoint`, in pages of the log; 0 never.
    autocheckpoint_pages: u32 = 1_000 =>
        [OptionSpec {
            name: "autocheckpoint",
            values: "pages, 0 to 1000000000",
            meaning: "length of the write-ahead log at which a commit runs a checkpoint (`PRAGMA wal_autocheckpoint`); 0: never",
            set: |options, text| {
                options.autocheckpoint_pages = parse_number::<u64>(text, 0, 1_000_000_000)? as u32;
                Ok(())
            },
            show: |options| options.autocheckpoint_pages.to_string(),
        }];

    /// Option `shared_cache`.
    shared_cache: bool = false => ["shared_cache": switch,
        "one page cache for all sessions, with table locks; discouraged by SQLite's authors"];

    /// Option `read_uncommitted`.
    read_uncommitted: bool = false => ["read_uncommitted": switch,
        "sessions of a shared cache read uncommitted data (`PRAGMA read_uncommitted`); never use it for results that count"];

    /// Option `locking`.
    locking: Locking = Locking::Normal => ["locking": word(Locking), "normal, exclusive",
        "locking mode (`PRAGMA locking_mode`); exclusive keeps the file locked after a transaction and allows one session"];

    /// Option `busy_timeout`.
    busy_timeout: Duration = Duration::from_secs(10) => ["busy_timeout": time(Duration::from_secs(3_600)),
        "a time up to 1h, for example 10s or 500ms",
        "how long a session waits for a lock before it fails with a conflict"];

    /// Option `foreign_keys`.
    foreign_keys: bool = true => ["foreign_keys": switch, "enforce declared foreign keys"];

    /// Option `checks`.
    checks: bool = true => ["checks": switch, "enforce CHECK constraints"];

    /// Option `temp_store`.
    temp_store: SqliteTempStore = SqliteTempStore::Default => ["temp_store": word(SqliteTempStore), "default, file, memory",
        "where temporary tables and sorts are kept (`PRAGMA temp_store`)"];

    /// Option `threading`.
    threading: Threading = Threading::NoMutex => ["threading": word(Threading), "nomutex, fullmutex",
        "threading mode of connections: fullmutex takes a mutex at every call, which is not needed here since a connection is used by one thread at a time"];

    /// Option `writers`.
    writers: SqliteWriters = SqliteWriters::Queue => ["writers": word(SqliteWriters), "queue, busy, sqlite, one",
        "how writers of this process wait for one another: in a queue of Bourse's in front of SQLite; by asking SQLite again after microseconds (Bourse's busy handler); by SQLite's own busy timeout, which sleeps 1 to 100 ms; or in that queue for the one connection that makes all changes, beside readers with a connection each"];

    /// Option `begin`.
    begin: Begin = Begin::Immediate => ["begin": word(Begin), "immediate, deferred, concurrent",
        "how a transaction that will write begins: immediate waits for the writer lock first; deferred reads first, and its first change fails with SQLITE_BUSY_SNAPSHOT if another has committed since, and is tried again from the start; concurrent, with a library of SQLite's branch begin-concurrent, lets several write, and the commit fails of one that has read a page which another has changed; deferred and concurrent not with writers=queue"];

    /// Option `stable_plans`.
    stable_plans: bool = true => ["stable_plans": switch,
        "whether plans are kept whatever values are bound (`SQLITE_DBCONFIG_ENABLE_QPSG`); off, SQLite's default, prepares a statement anew when a value changes that the statistics of ANALYZE say something about"];

    /// Option `defaults`.
    defaults: Defaults = Defaults::Bourse => ["defaults": word(Defaults), "bourse, sqlite",
        "whose settings hold where nothing is said: with sqlite nothing is set that the target does not name, so that those hold which the library was compiled with (by SQLite's own: journal=delete, a cache of 2,000 KiB, threading=fullmutex), and busy_timeout=0s, writers=sqlite, begin=deferred, stable_plans=off, memory=private"];

    /// Option `statement_cache`.
    statement_cache: bool = true => ["statement_cache": switch,
        "keep prepared statements; off: prepare each statement again every time"];

    /// Option `extension`.
    #[cfg(not(lean))]
    extension: Option<&'static str> = None => #[cfg(not(lean))]
        [OptionSpec {
            name: "extension",
            values: "the path of a loadable extension",
            meaning: "extension that each session loads before all else: its functions, virtual tables and file systems can be used",
            set: |options, text| {
                options.extension = (!text.is_empty()).then(|| interned(text));
                Ok(())
            },
            show: |options| options.extension.unwrap_or_default().to_owned(),
        }];

    /// Option `vfs`.
    vfs: Option<&'static str> = None =>
        [OptionSpec {
            name: "vfs",
            values: "the name of a file system that the library or the extension registers, for example unix-excl",
            meaning: "file system by which SQLite opens the files (the third argument of `sqlite3_open_v2`); by default the library's own",
            set: |options, text| {
                options.vfs = (!text.is_empty()).then(|| interned(text));
                Ok(())
            },
            show: |options| options.vfs.unwrap_or_default().to_owned(),
        }];

    /// Settings that are applied; the others are the library's own.
    sets: Sets = Sets::ALL;

    /// Option `library`.
    #[cfg(loaded)]
    library: Option<&'static str> = None => #[cfg(loaded)]
        [OptionSpec {
            name: "library",
            values: "the path of a library, or a name that the system's loader finds",
            meaning: "library with SQLite's C interface, loaded at run time: another version or build of SQLite, or SQLCipher, for example; by default the system's SQLite",
            set: |options, text| {
                options.library = Some(interned(text));
                Ok(())
            },
            show: |options| options.library.unwrap_or_default().to_owned(),
        }];

    /// Option `key`.
    #[cfg(loaded)]
    key: Option<KeySource> = None => #[cfg(loaded)]
        [OptionSpec {
            name: "key",
            values: "env:NAME or file:PATH",
            meaning: "where the key of an encrypted database is, with a library that has sqlite3_key, as SQLCipher: an environment variable or a file; the key itself stands in no target",
            set: |options, text| {
                options.key = Some(KeySource::parse(text).ok_or(ExpectedValue::Listed)?);
                Ok(())
            },
            show: |options| options.key.map(KeySource::written).unwrap_or_default(),
        }];
}

impl SqliteOptions {
    /// Defaults of a database in a file.
    pub const FILE: Self = Self::DEFAULT;

    /// SQLite's own defaults of a database in a file, from its documentation. None of them is applied: a library that
    /// was compiled with others has those.
    pub const SQLITE_FILE: Self = Self {
        sets: Sets::NONE,
        journal: SqliteJournal::Delete,
        memory: MemoryKind::Private,
        cache_bytes: 2_000 << 10,
        is_cache_given: true,
        busy_timeout: Duration::ZERO,
        foreign_keys: false,
        threading: Threading::FullMutex,
        writers: SqliteWriters::Sqlite,
        begin: Begin::Deferred,
        stable_plans: false,
        defaults: Defaults::Sqlite,
        ..Self::FILE
    };

    /// SQLite's own defaults of a database in memory.
    pub const SQLITE_MEMORY: Self = Self { sync: SqliteSync::Off, ..Self::SQLITE_FILE };

    /// Total size of all sessions' default caches, in bytes.
    pub const CACHES_BYTES: u64 = 2 << 30;

    /// Options for one of `sessions` sessions: unless the cache size was given, it is so small that all of them stay
    /// within [`Self::CACHES_BYTES`].
    #[must_use]
    pub fn divided(self, sessions: u64) -> Self {
        if self.is_cache_given || self.shared_cache {
            return self;
        }
        // The pragma takes whole KiB.
        let share_kib = Self::CACHES_BYTES.checked_div(sessions).unwrap_or(Self::CACHES_BYTES) / 1_024;
        Self { cache_bytes: self.cache_bytes.min(share_kib.max(1).saturating_mul(1_024)), ..self }
    }

    /// Whether a database in memory with these settings is in Bourse's file system.
    pub(crate) fn has_ram_files(&self) -> bool {
        self.memory == MemoryKind::Ram && !self.shared_cache
    }

    /// Defaults of a database in memory.
    pub const MEMORY: Self = Self { sync: SqliteSync::Off, ..Self::FILE };
}

/// Settings that apply to files, so that a database in memory cannot have them.
pub(crate) const FILE_ONLY: [&str; 6] = ["sync", "mmap", "autocheckpoint", "locking", "key", "vfs"];

/// Grammar of SQLite targets: every setting in the order of help and documents.
pub static GRAMMAR: Grammar<SqliteOptions> =
    Grammar { engine: ENGINE, schemes: &[Scheme::plain(SCHEME)], forms: FORMS, options: OPTIONS };
