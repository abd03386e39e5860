//! Description of the database that was run on, read back from SQLite, and the durability that its settings promise.

use crate::connection::SqliteConnection;
use crate::engine::threading;
use crate::library::SCHEME;
use crate::options::{Locking, MemoryKind, SqliteJournal, SqliteSync, SqliteWriters};
use crate::target::{SqlitePlace, SqliteTarget};
use bourse_engine::{
    Description, Durability, MayLose, MemoryStore, Result, Setting, WriterWait, lost_with_machine, memory_file_system,
};

/// Settings that a pragma of the same name returns.
pub(crate) const PRAGMAS: [&str; 11] = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "mmap_size",
    "wal_autocheckpoint",
    "foreign_keys",
    "ignore_check_constraints",
    "locking_mode",
    "temp_store",
    "encoding",
];

/// File systems of SQLite's own that write and sync files by the system's calls.
const SQLITES_FILE_SYSTEMS: [&str; 6] = ["unix", "unix-excl", "unix-dotfile", "unix-none", "win32", "win32-longpath"];

pub(crate) fn compile_options(connection: &SqliteConnection) -> Result<Vec<String>> {
    connection.lines_of("PRAGMA compile_options")
}

/// Settings in force on a connection.
pub(crate) fn settings_of(connection: &SqliteConnection) -> Result<Vec<Setting>> {
    let read = |name: &&str| {
        let value = connection.text_of(&format!("PRAGMA {name}"))?;
        let value = name_of_value(name, &value).map_or(value, str::to_owned);
        Ok(Setting::new(*name, value))
    };
    PRAGMAS.iter().map(read).collect()
}

pub(crate) fn describe(target: &SqliteTarget, connection: &SqliteConnection) -> Result<Description> {
    let mut settings = settings_of(connection)?;
    let mut add = |name: &str, value: String| settings.push(Setting::new(name, value));
    // These are ours or the connection's, and no pragma tells them.
    for name in [
        "defaults", "busy_timeout", "shared_cache", "read_uncommitted", "writers", "begin", "stable_plans",
        "statement_cache",
    ] {
        let option = crate::GRAMMAR.options.iter().find(|option| option.name == name).expect("named in the table");
        add(name, (option.show)(&target.options));
    }
    add("threading", threading(connection).word().to_owned());
    let library = connection.library();
    add("source_id", library.source_id().to_owned());
    for (name, value) in library.facts() {
        add(name, value);
    }
    #[cfg(not(lean))]
    if let Some(extension) = target.options.extension {
        add("extension", extension.to_owned());
    }
    if let Some(vfs) = target.options.vfs {
        add("vfs", vfs.to_owned());
    }
    #[cfg(loaded)]
    if let Some(key) = target.options.key {
        add("key", key.written());
    }
    let in_force =
        |name: &str| settings.iter().find(|setting| setting.name == name).map_or("", |setting| setting.value.as_str());
    let memory_file_system = match &target.place {
        SqlitePlace::File(path) => memory_file_system(path),
        SqlitePlace::Memory => None,
    };
    let facts = DurabilityFacts {
        is_in_memory: target.place == SqlitePlace::Memory,
        memory_file_system,
        journal: SqliteJournal::parse(in_force("journal_mode")).unwrap_or(target.options.journal),
        sync: SqliteSync::parse(in_force("synchronous")).unwrap_or(target.options.sync),
    };
    let (durability, reason) = durability(&facts);
    let may_lose = may_lose(facts.journal);
    #[cfg(loaded)]
    let (durability, reason, may_lose) =
        match library.is_berkeley_db() && !facts.is_in_memory && facts.memory_file_system.is_none() {
            true => crate::berkeley::durability(facts.sync),
            false => (durability, reason, may_lose),
        };
    let (durability, reason) = match target.options.vfs {
        Some(vfs) if facts.memory_file_system.is_none() && !SQLITES_FILE_SYSTEMS.contains(&vfs) => {
            (Durability::Unknown, format!("vfs={vfs}: whether this file system passes syncs on cannot be read"))
        }
        _ => (durability, reason),
    };
    let warnings = warnings(target, &facts, in_force("page_size"), in_force("mmap_size"));
    Ok(Description {
        engine: SCHEME.to_owned(),
        version: library.version().to_owned(),
        target: target.text.clone(),
        durability,
        may_lose: (durability == Durability::Consistent).then_some(may_lose),
        durability_reason: reason,
        writer_wait: Some(writer_wait(target.options.writers)),
        memory_store: memory_store(target),
        settings,
        compile_options: compile_options(connection)?,
        warnings,
    })
}

/// Mechanism by which sessions wait for the writer lock.
const fn writer_wait(writers: SqliteWriters) -> WriterWait {
    match writers {
        SqliteWriters::Queue => WriterWait::BourseQueue,
        SqliteWriters::Busy => WriterWait::BourseBusyHandler,
        SqliteWriters::Sqlite => WriterWait::EngineBusyTimeout,
        SqliteWriters::One => WriterWait::OneConnection,
    }
}

/// Storage of a database in memory.
fn memory_store(target: &SqliteTarget) -> Option<MemoryStore> {
    (target.place == SqlitePlace::Memory).then(|| match target.memory_kind() {
        MemoryKind::Ram => MemoryStore::Bourse,
        MemoryKind::MemDb | MemoryKind::SharedCache | MemoryKind::Private => MemoryStore::Engine,
    })
}

/// Word for a number that a pragma returns.
fn name_of_value(pragma: &str, value: &str) -> Option<&'static str> {
    let words: &[&'static str] = match pragma {
        "synchronous" => &["off", "normal", "full", "extra"],
        "foreign_keys" | "ignore_check_constraints" => &["off", "on"],
        "temp_store" => &["default", "file", "memory"],
        _ => return None,
    };
    words.get(value.parse::<usize>().ok()?).copied()
}

/// Facts that determine the durability class.
#[derive(Debug, Clone, Copy)]
struct DurabilityFacts {
    is_in_memory: bool,
    /// Name of the file system, if it is volatile.
    memory_file_system: Option<&'static str>,
    journal: SqliteJournal,
    sync: SqliteSync,
}

/// Durability class of acknowledged commits, with the reason.
fn durability(facts: &DurabilityFacts) -> (Durability, String) {
    use Durability::{Consistent, Durable, Process, Volatile};
    let because = |class, why: &str| (class, why.to_owned());
    if facts.is_in_memory {
        return because(Volatile, "the database is in memory");
    }
    if let Some(name) = facts.memory_file_system {
        return (Volatile, format!("the file is on {name}, which is memory"));
    }
    let words = format!("journal={}, sync={}", facts.journal.word(), facts.sync.word());
    let (class, why) = match (facts.journal, facts.sync) {
        (SqliteJournal::Memory | SqliteJournal::Off, _) => (Volatile, "a crash amid a commit leaves a corrupted file"),
        (_, SqliteSync::Off) => (Process, "the disk is never waited for"),
        (SqliteJournal::Wal, SqliteSync::Normal) => {
            (Consistent, "the log is made durable at checkpoints, not at commits")
        }
        (SqliteJournal::Wal, _) => (Durable, "the log is made durable at each commit"),
        (_, SqliteSync::Normal) => (
            Process,
            "the journal is synced once, contents and header together: if only a part arrives, rolling it back may harm the database",
        ),
        (SqliteJournal::Delete, SqliteSync::Full) => (
            Consistent,
            "the directory is not made durable after the journal is deleted: it may return and undo the last commit",
        ),
        (SqliteJournal::Delete, _) => (Durable, "database and directory are made durable at each commit"),
        (SqliteJournal::Truncate | SqliteJournal::Persist, _) => {
            (Durable, "database and journal are made durable at each commit")
        }
    };
    (class, format!("{words}: {why}"))
}

/// Commits that power loss may take in the class `consistent`.
const fn may_lose(journal: SqliteJournal) -> MayLose {
    match journal {
        SqliteJournal::Wal => MayLose::SinceCheckpoint,
        _ => MayLose::LastCommit,
    }
}

/// Durability class of acknowledged commits with these settings on a disk, with the reason.
pub fn durability_on_disk(journal: SqliteJournal, sync: SqliteSync) -> (Durability, String) {
    durability(&DurabilityFacts { is_in_memory: false, memory_file_system: None, journal, sync })
}

fn warnings(target: &SqliteTarget, facts: &DurabilityFacts, page_size: &str, mmap_size: &str) -> Vec<String> {
    let options = &target.options;
    let mut warnings = Vec::new();
    let mut warn = |text: String| warnings.push(text);
    if let Some(name) = facts.memory_file_system {
        warn(lost_with_machine("the database", name));
    }
    if facts.journal == SqliteJournal::Off {
        warn("journal=off: a transaction cannot be rolled back".to_owned());
    }
    if options.sets.has("page_size") && page_size != options.page_size.to_string() {
        warn(format!("pages have {page_size} bytes, not {}: fixed when the database was made", options.page_size));
    }
    if options.sets.has("mmap") && !facts.is_in_memory && mmap_size != options.mmap_bytes.to_string() {
        let granted = if mmap_size.is_empty() { "0" } else { mmap_size };
        if granted != options.mmap_bytes.to_string() {
            warn(format!("{granted} bytes are mapped at most, not {}", options.mmap_bytes));
        }
    }
    if options.shared_cache && facts.journal == SqliteJournal::Wal {
        warn(
            "shared_cache with journal=wal: sessions share one snapshot, so readers wait for the writer after all"
                .to_owned(),
        );
    }
    if options.read_uncommitted {
        warn("read_uncommitted=on: sessions read what others have not committed, and may never commit".to_owned());
    }
    if options.locking == Locking::Exclusive {
        warn("locking=exclusive: a second session cannot open the database".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_settings() {
        use Durability::{Consistent, Durable, Process, Volatile};
        let disk = |journal, sync| DurabilityFacts { is_in_memory: false, memory_file_system: None, journal, sync };
        for (facts, expected) in [
            (disk(SqliteJournal::Wal, SqliteSync::Full), Durable),
            (disk(SqliteJournal::Wal, SqliteSync::Extra), Durable),
            (disk(SqliteJournal::Wal, SqliteSync::Normal), Consistent),
            (disk(SqliteJournal::Wal, SqliteSync::Off), Process),
            (disk(SqliteJournal::Delete, SqliteSync::Extra), Durable),
            (disk(SqliteJournal::Delete, SqliteSync::Full), Consistent),
            (disk(SqliteJournal::Truncate, SqliteSync::Full), Durable),
            (disk(SqliteJournal::Persist, SqliteSync::Full), Durable),
            (disk(SqliteJournal::Persist, SqliteSync::Normal), Process),
            (disk(SqliteJournal::Memory, SqliteSync::Full), Volatile),
            (disk(SqliteJournal::Off, SqliteSync::Extra), Volatile),
            (DurabilityFacts { is_in_memory: true, ..disk(SqliteJournal::Memory, SqliteSync::Full) }, Volatile),
            (
                DurabilityFacts { memory_file_system: Some("tmpfs"), ..disk(SqliteJournal::Wal, SqliteSync::Full) },
                Volatile,
            ),
        ] {
            assert_eq!(durability(&facts).0, expected, "{facts:?}");
        }
    }
}
