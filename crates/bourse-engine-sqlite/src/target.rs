//! Targets: `sqlite:PATH?key=value&…` and `sqlite::memory:`, checked completely before anything is opened.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::library::{ENGINE, HAS_SHARED_CACHE, SCHEME};
use crate::options::{
    Begin, Defaults, FILE_ONLY, GRAMMAR, Locking, MemoryKind, Sets, SqliteJournal, SqliteOptions, SqliteWriters,
};
use bourse_engine::target::{ParsedTarget, TargetError};
use std::path::PathBuf;

/// Place of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlitePlace {
    /// A file.
    File(PathBuf),
    /// The memory of this process, shared by all its sessions.
    Memory,
}

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteTarget {
    /// Text of the target.
    pub text: String,
    /// Place of the database.
    pub place: SqlitePlace,
    /// The given options, and the defaults of all others.
    pub options: SqliteOptions,
}

impl SqliteTarget {
    /// Parses a target.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what is known.
    ///
    /// ```
    /// use bourse_engine_sqlite::{SqliteJournal, SqliteOptions, SqlitePlace, SqliteTarget};
    /// let target = SqliteTarget::parse("sqlite:x.db?journal=delete&cache=16MiB").unwrap();
    /// assert_eq!(target.place, SqlitePlace::File("x.db".into()));
    /// let cache = SqliteOptions { cache_bytes: 16 << 20, is_cache_given: true, ..SqliteOptions::FILE };
    /// assert_eq!(target.options, SqliteOptions { journal: SqliteJournal::Delete, ..cache });
    /// ```
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        Self::read(text).map(|(target, _)| target)
    }

    /// Parses a target, and returns which options were given.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub(crate) fn read(text: &str) -> Result<(Self, Vec<&'static str>), TargetError> {
        // What is not said depends on the place.
        let place = text.strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix(':')?.split('?').next());
        let is_memory = place == Some(MEMORY);
        let defaults = if is_memory { SqliteOptions::MEMORY } else { SqliteOptions::FILE };
        let mut parsed = GRAMMAR.parse(text, defaults).map_err(setting_of_other_engine)?;
        if parsed.options.defaults == Defaults::Sqlite {
            // Wherever it stands in the target: what is said beside it holds.
            let defaults = if is_memory { SqliteOptions::SQLITE_MEMORY } else { SqliteOptions::SQLITE_FILE };
            parsed = GRAMMAR.parse(text, defaults).map_err(setting_of_other_engine)?;
            parsed.options.sets = Sets::of(&parsed.given);
        }
        let place = if is_memory { SqlitePlace::Memory } else { SqlitePlace::File(PathBuf::from(&parsed.place)) };
        let mut target = Self { text: parsed.text.clone(), place, options: parsed.options };
        if is_memory && !target.options.has_ram_files() && !parsed.given.contains(&"journal") {
            target.options.journal = SqliteJournal::Memory;
        }
        check_together(&target, &parsed)?;
        Ok((target, parsed.given))
    }

    /// Storage of the database if it is in memory.
    pub fn memory_kind(&self) -> MemoryKind {
        if self.options.shared_cache { MemoryKind::SharedCache } else { self.options.memory }
    }
}

/// Place of a database in memory.
const MEMORY: &str = ":memory:";

/// Recognises a setting of another engine, for a helpful error.
fn setting_of_other_engine(error: TargetError) -> TargetError {
    match error {
        TargetError::UnknownOption { name, .. } if name == "index" => TargetError::Impossible {
            what: "index".to_owned(),
            with: ENGINE,
            why: "it finds rows by trees alone; did you mean an engine with hash indexes, as 'fastdb:PATH?index=hash'?",
        },
        #[cfg(not(loaded))]
        TargetError::UnknownOption { name, .. } if name == "library" => TargetError::Impossible {
            what: "library".to_owned(),
            with: ENGINE,
            why: "it is compiled in; did you mean 'sqlite+lib:PATH?library=FILE'?",
        },
        // The value may be the key itself.
        TargetError::BadValue { name: "key", .. } => TargetError::Password {
            instead: "'key=env:NAME' names an environment variable that holds the key, 'key=file:PATH' a file",
        },
        other => other,
    }
}

/// Refuses combinations that SQLite would silently ignore.
fn check_together(target: &SqliteTarget, parsed: &ParsedTarget<SqliteOptions>) -> Result<(), TargetError> {
    let options = &target.options;
    let is_given = |name: &str| parsed.given.contains(&name);
    let refuse = |name: &str, with, why| {
        Err(TargetError::Impossible { what: GRAMMAR.written(name, &parsed.options), with, why })
    };
    if target.place == SqlitePlace::Memory {
        if let Some(name) = parsed.given.iter().find(|name| FILE_ONLY.contains(name)) {
            return refuse(name, "a database in memory", "it is about files");
        }
        let is_possible =
            options.has_ram_files() || matches!(options.journal, SqliteJournal::Memory | SqliteJournal::Off);
        if is_given("journal") && !is_possible {
            return refuse("journal", "a database in memory", "only memory=ram has files to keep a journal beside");
        }
        if is_given("memory") && options.shared_cache && options.memory != MemoryKind::SharedCache {
            return refuse("memory", "shared_cache=on", "a shared cache is itself what holds a database in memory");
        }
    } else if is_given("memory") {
        return refuse("memory", "a database in a file", "it is about databases in memory");
    }
    if is_given("autocheckpoint") && options.journal != SqliteJournal::Wal {
        return refuse("autocheckpoint", "a journal that is no write-ahead log", "there is nothing to checkpoint");
    }
    let is_shared =
        options.shared_cache || (target.place == SqlitePlace::Memory && options.memory == MemoryKind::SharedCache);
    if is_shared && !HAS_SHARED_CACHE {
        let name = if options.shared_cache { "shared_cache" } else { "memory" };
        return refuse(name, ENGINE, "it is compiled without shared caches; `sqlite` targets have them");
    }
    if options.read_uncommitted && !is_shared {
        let why = "only sessions of a shared cache see each other's changes";
        return refuse("read_uncommitted", "a cache of each session's own", why);
    }
    if options.begin == Begin::Concurrent {
        let why = match () {
            () if !cfg!(loaded) => "it takes a library of SQLite's branch begin-concurrent, which sqlite+lib loads",
            () if options.journal != SqliteJournal::Wal => "it takes journal=wal",
            () if options.writers == SqliteWriters::One => "one connection makes all changes with writers=one",
            () => "",
        };
        if !why.is_empty() {
            return refuse("begin", "this target", why);
        }
    }
    if options.begin != Begin::Immediate && options.writers == SqliteWriters::Queue {
        let why = "queued writers never conflict, so it has no effect; use writers=sqlite, busy or one";
        return refuse("begin", "writers=queue", why);
    }
    if options.writers == SqliteWriters::One {
        let is_private = target.place == SqlitePlace::Memory && options.memory == MemoryKind::Private;
        let with = match () {
            () if is_private => "memory=private",
            () if options.locking == Locking::Exclusive => "locking=exclusive",
            () if is_shared => "a shared cache",
            () => "",
        };
        if !with.is_empty() {
            return refuse(
                "writers",
                with,
                "one connection writes beside others that read, each with a cache of its own",
            );
        }
    }
    if options.shared_cache && options.locking == Locking::Exclusive {
        return refuse("shared_cache", "locking=exclusive", "a cache is shared by several sessions");
    }
    Ok(())
}
