//! The description of the system under test, read back from Turso, and the guarantee of its settings.

use crate::database::{TursoConnection, TursoDatabase};
use crate::options::{GRAMMAR, TursoJournal, TursoOptions, TursoSync};
use bourse_engine::target::ParsedTarget;
use bourse_engine::{
    Description, Durability, EngineError, MayLose, MemoryStore, Result, Setting, WriterWait, durability_at,
};
use std::path::Path;
use std::sync::Arc;
use turso_core::MemoryIO;

/// Settings that Turso returns from a pragma of their name, those of MVCC last.
const PRAGMAS: [&str; 8] = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "foreign_keys",
    "ignore_check_constraints",
    "temp_store",
    "encoding",
];
const PRAGMAS_OF_MVCC: [&str; 3] = ["mvcc_checkpoint_threshold", "mvcc_gc_threshold", "mvcc_group_commit"];

/// Note next to each figure.
const BETA: &str = "Turso is a beta by its own word, and MVCC an experiment in it: figures are of this version alone";

/// Version of Turso that is compiled in. For a database that is not empty Turso reports SQLite's version number from the file's
/// header instead.
///
/// # Errors
/// The text of Turso's error.
pub fn version() -> Result<String, String> {
    queried_version().map_err(|error| error.to_string())
}

fn queried_version() -> Result<String> {
    let database = TursoDatabase::in_memory(Arc::new(MemoryIO::new()), TursoOptions::DEFAULT)?;
    TursoConnection::plain(&database)?.text("SELECT turso_version()")
}

/// Settings in force on a connection.
pub(crate) fn settings_of(connection: &TursoConnection) -> Result<Vec<Setting>> {
    let read = |name: &str| {
        let value = connection.text(&format!("PRAGMA {name}"))?;
        let value = name_of_value(name, &value).map_or(value, str::to_owned);
        Ok::<_, EngineError>(Setting::new(name, value))
    };
    let mut settings = PRAGMAS.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let is_mvcc = settings.first().is_some_and(|journal| TursoJournal::parse(&journal.value) == Ok(TursoJournal::Mvcc));
    if is_mvcc {
        settings.extend(PRAGMAS_OF_MVCC.into_iter().map(read).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(settings)
}

pub(crate) fn describe(
    target: &ParsedTarget<TursoOptions>,
    path: Option<&Path>,
    connection: &TursoConnection,
) -> Result<Description> {
    let options = &target.options;
    let mut settings = settings_of(connection)?;
    settings.extend(GRAMMAR.settings(options, |name| name == "busy_timeout"));
    settings.push(Setting::new("begin", begin(options.journal)));
    settings.push(Setting::new("dialect_of", format!("SQLite {}", connection.text("SELECT sqlite_version()")?)));
    let in_force =
        |name: &str| settings.iter().find(|setting| setting.name == name).map_or("", |setting| setting.value.as_str());
    let journal = TursoJournal::parse(in_force("journal_mode")).unwrap_or(options.journal);
    let sync = TursoSync::parse(in_force("synchronous")).unwrap_or(options.sync);
    let durability = durability_at(path, durability(journal, sync));
    let may_lose = (durability.0 == Durability::Consistent).then_some(MayLose::SinceCheckpoint);
    let mut description = Description::new("turso", queried_version()?, &target.text, durability, settings);
    description.may_lose = may_lose;
    description.writer_wait = Some(WriterWait::EngineBusyTimeout);
    description.memory_store = path.is_none().then_some(MemoryStore::Engine);
    description.warnings.insert(0, BETA.to_owned());
    Ok(description)
}

/// Kind of `BEGIN` of writing transactions, for the description.
const fn begin(journal: TursoJournal) -> &'static str {
    match journal {
        TursoJournal::Wal => "immediate",
        TursoJournal::Mvcc => "concurrent, immediate where it is to be serializable",
    }
}

/// Name of a numeric value that a pragma returns.
fn name_of_value(pragma: &str, value: &str) -> Option<&'static str> {
    let words: &[&'static str] = match pragma {
        "synchronous" => &["off", "normal", "full"],
        "foreign_keys" | "ignore_check_constraints" | "mvcc_group_commit" => &["off", "on"],
        "temp_store" => &["default", "file", "memory"],
        _ => return None,
    };
    words.get(value.parse::<usize>().ok()?).copied()
}

/// Durability class of an acknowledged commit on a disk in a journal mode, with the reason.
fn durability(journal: TursoJournal, sync: TursoSync) -> (Durability, String) {
    let (class, why) = match sync {
        TursoSync::Full => (Durability::Durable, "the log is made durable at each commit"),
        TursoSync::Normal => (Durability::Consistent, "the log is made durable at checkpoints, not at commits"),
        TursoSync::Off => (Durability::Process, "the disk is never waited for"),
    };
    (class, format!("journal={}, sync={}: {why}", journal.word(), sync.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_settings() {
        for (sync, expected) in [
            (TursoSync::Full, Durability::Durable),
            (TursoSync::Normal, Durability::Consistent),
            (TursoSync::Off, Durability::Process),
        ] {
            for journal in [TursoJournal::Wal, TursoJournal::Mvcc] {
                assert_eq!(durability(journal, sync).0, expected, "{sync:?}");
            }
        }
    }
}
