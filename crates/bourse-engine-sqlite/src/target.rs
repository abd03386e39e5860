//! Targets: `sqlite:PATH?key=value&…` and `sqlite::memory:`, checked whole before anything is opened.

use crate::options::{Disk, Journal, Locking, MemoryKind, OPTIONS, OptionSpec, Options};
use std::path::PathBuf;

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File(PathBuf),
    /// In the memory of this process, shared by all its sessions.
    Memory,
}

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was given.
    pub text: String,
    /// Where.
    pub place: Place,
    /// Settings, with their defaults where nothing was said.
    pub options: Options,
}

/// What a value should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// One of the words.
    OneOf,
    /// A whole number.
    Number,
    /// A number of bytes.
    Bytes,
    /// A time with its unit.
    Time,
    /// The right kind of value, but too small or too large.
    OutOfRange,
}

/// Why a target is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not ours.
    #[error("`{target}` is not a SQLite target: wanted `sqlite:PATH` or `sqlite::memory:`")]
    Scheme {
        /// As given.
        target: String,
    },
    /// No path.
    #[error("`{target}` names no file: wanted `sqlite:PATH` or `sqlite::memory:`")]
    NoPath {
        /// As given.
        target: String,
    },
    /// `%` without two hexadecimal digits, or bytes that are no text.
    #[error(
        "`{text}` in `{target}` has a `%` that is not followed by the two digits of a character; a `%` itself is `%25`"
    )]
    Escape {
        /// The part in question.
        text: String,
        /// As given.
        target: String,
    },
    /// Not `key=value`.
    #[error("`{text}` in `{target}` is not of the form `key=value`")]
    NotAPair {
        /// The part in question.
        text: String,
        /// As given.
        target: String,
    },
    /// An unknown key.
    #[error("SQLite targets have no option `{name}`{}\nknown options:\n{}", near(name), known())]
    UnknownOption {
        /// The key.
        name: String,
    },
    /// A key given twice.
    #[error("option `{name}` is given twice in `{target}`")]
    Twice {
        /// The key.
        name: &'static str,
        /// As given.
        target: String,
    },
    /// A value that is none.
    #[error("`{value}` is no value of option `{name}`{}: wanted {values}", if *wanted == Wanted::OutOfRange { " (out of range)" } else { "" })]
    BadValue {
        /// The key.
        name: &'static str,
        /// The value as given.
        value: String,
        /// What was wrong.
        wanted: Wanted,
        /// The values the option takes.
        values: &'static str,
    },
    /// Settings that cannot go together.
    #[error("`{what}` cannot be had with {with}: {why}")]
    Impossible {
        /// The setting, as `journal=wal`.
        what: String,
        /// What it clashes with.
        with: &'static str,
        /// Why.
        why: &'static str,
    },
}

fn known() -> String {
    let lines: Vec<_> =
        OPTIONS.iter().map(|option| format!("  {} ({}): {}", option.name, option.values, option.meaning)).collect();
    lines.join("\n")
}

/// `; did you mean …` where a known option has most of the letters.
fn near(name: &str) -> String {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(name);
    let is_near = |option: &&OptionSpec| {
        let candidate = plain(option.name);
        wanted.len() >= 3 && (candidate.contains(&wanted) || wanted.contains(&candidate))
    };
    OPTIONS.iter().find(is_near).map_or_else(String::new, |option| format!("; did you mean `{}`?", option.name))
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what is known.
    ///
    /// ```
    /// use bourse_engine_sqlite::{Journal, Options, Place, Target};
    /// let target = Target::parse("sqlite:x.db?journal=delete&cache=16MiB").unwrap();
    /// assert_eq!(target.place, Place::File("x.db".into()));
    /// assert_eq!(target.options, Options { journal: Journal::Delete, cache_bytes: 16 << 20, ..Options::FILE });
    /// ```
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let target = || text.to_owned();
        let rest = text.strip_prefix("sqlite:").ok_or_else(|| TargetError::Scheme { target: target() })?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        // `sqlite:///absolute` and `sqlite://relative` are what other tools write.
        let path = path.strip_prefix("//").unwrap_or(path);
        let place = match path {
            "" => return Err(TargetError::NoPath { target: target() }),
            ":memory:" => Place::Memory,
            path => Place::File(decode(path, text)?.into()),
        };
        let mut options = if place == Place::Memory { Options::MEMORY } else { Options::FILE };
        let mut given: Vec<&'static OptionSpec> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| TargetError::NotAPair { text: pair.to_owned(), target: target() })?;
            let option = OPTIONS
                .iter()
                .find(|option| option.name == name)
                .ok_or_else(|| TargetError::UnknownOption { name: name.to_owned() })?;
            if given.iter().any(|other| other.name == name) {
                return Err(TargetError::Twice { name: option.name, target: target() });
            }
            let value = decode(value, text)?;
            (option.set)(&mut options, &value).map_err(|wanted| TargetError::BadValue {
                name: option.name,
                value,
                wanted,
                values: option.values,
            })?;
            given.push(option);
        }
        let is_given = |name: &str| given.iter().any(|option| option.name == name);
        if place == Place::Memory && !options.has_ram_files() && !is_given("journal") {
            options.journal = Journal::Memory;
        }
        check_together(&place, &options, &given)?;
        Ok(Self { text: target(), place, options })
    }

    /// What holds the database if it is in memory.
    pub fn memory_kind(&self) -> MemoryKind {
        if self.options.shared_cache { MemoryKind::SharedCache } else { self.options.memory }
    }
}

/// Refuses what SQLite would silently not do.
fn check_together(place: &Place, options: &Options, given: &[&'static OptionSpec]) -> Result<(), TargetError> {
    let written = |name: &str| given.iter().find(|option| option.name == name);
    let refuse = |option: &OptionSpec, with, why| {
        Err(TargetError::Impossible { what: format!("{}={}", option.name, option.shown(options)), with, why })
    };
    if *place == Place::Memory {
        if let Some(option) = given.iter().find(|option| option.file_only) {
            return refuse(option, "a database in memory", "it is about files");
        }
        let is_possible = options.has_ram_files() || matches!(options.journal, Journal::Memory | Journal::Off);
        if let (Some(option), false) = (written("journal"), is_possible) {
            return refuse(option, "a database in memory", "only memory=ram has files to keep a journal beside");
        }
    }
    if let (Some(option), true) = (written("autocheckpoint"), options.journal != Journal::Wal) {
        return refuse(option, "a journal that is no write-ahead log", "there is nothing to checkpoint");
    }
    let is_shared = options.shared_cache || (*place == Place::Memory && options.memory == MemoryKind::SharedCache);
    if let (Some(option), true, false) = (written("read_uncommitted"), options.read_uncommitted, is_shared) {
        return refuse(
            option,
            "a cache of each session's own",
            "only sessions of a shared cache see each other's changes",
        );
    }
    if let (Some(option), Disk::Forgetful, false) = (written("disk"), options.disk, cfg!(unix)) {
        return refuse(option, "this system", "the simulated disk is made for Unix alone");
    }
    if let (Some(option), true, Locking::Exclusive) = (written("shared_cache"), options.shared_cache, options.locking) {
        return refuse(option, "locking=exclusive", "a cache is shared by several sessions");
    }
    Ok(())
}

fn decode(text: &str, target: &str) -> Result<String, TargetError> {
    bourse_engine::target::unescape(text)
        .ok_or_else(|| TargetError::Escape { text: text.to_owned(), target: target.to_owned() })
}
