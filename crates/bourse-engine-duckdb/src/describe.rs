//! The description of the system under test, read back from DuckDB, and the guarantee of its settings.

use crate::database::{Connection, Place};
use crate::options::{GRAMMAR, Options, Writers};
use bourse_engine::target::Parsed;
use bourse_engine::{
    Description, Durability, EngineError, MemoryStore, RowExt as _, Setting, WriterWait, lost_with_machine,
    memory_file_system,
};

/// Settings that affect figures; a version reports those that it has.
const SETTINGS: &[&str] = &[
    "access_mode",
    "checkpoint_threshold",
    "debug_skip_checkpoint_on_commit",
    "default_block_size",
    "immediate_transaction_mode",
    "index_scan_max_count",
    "index_scan_percentage",
    "memory_limit",
    "pin_threads",
    "preserve_insertion_order",
    "storage_compatibility_version",
    "temp_directory",
    "threads",
    "wal_autocheckpoint_entries",
];

/// Note next to each figure.
const ANALYTICAL: &str = "DuckDB is an analytical engine: it plans and runs every statement for many rows, so that transactions of single rows are not what it is made for";

/// Settings in force on a connection.
pub(crate) fn settings_of(connection: &Connection) -> Result<Vec<Setting>, EngineError> {
    let names = SETTINGS.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT name, coalesce(value, '') FROM duckdb_settings() WHERE name IN ({names}) ORDER BY name");
    let mut settings = Vec::new();
    connection.query(&sql, &mut |row| {
        settings.push(Setting { name: row.get(0)?, value: row.get(1)? });
        Ok(())
    })?;
    Ok(settings)
}

pub(crate) fn describe(
    target: &Parsed<Options>,
    place: &Place,
    connection: &Connection,
) -> Result<Description, EngineError> {
    let mut settings: Vec<Setting> = GRAMMAR
        .options
        .iter()
        .filter(|option| matches!(option.name, "writers" | "lock_timeout"))
        .map(|option| Setting { name: option.name.to_owned(), value: (option.show)(&target.options) })
        .collect();
    settings.extend(settings_of(connection)?);
    connection.query("SELECT source_id FROM pragma_version()", &mut |row| {
        settings.push(Setting { name: "source_id".to_owned(), value: row.get(0)? });
        Ok(())
    })?;
    let library = connection.database().library();
    let mut add = |name: &str, value: String| settings.push(Setting { name: name.to_owned(), value });
    add("library", library.path.display().to_string());
    add("library_sha256", library.sha256().to_owned());
    let memory_file_system = match place {
        Place::File(path) => memory_file_system(path),
        Place::Memory => None,
    };
    let (durability, durability_reason) = durability(place, memory_file_system);
    let mut warnings = vec![ANALYTICAL.to_owned()];
    warnings.extend(memory_file_system.map(|name| lost_with_machine("the database", name)));
    Ok(Description {
        engine: "duckdb".to_owned(),
        version: library.api.version(),
        target: target.text.clone(),
        durability,
        may_lose: None,
        durability_reason,
        writer_wait: Some(match target.options.writers {
            Writers::Concurrent => WriterWait::EngineLocks,
            Writers::One => WriterWait::BourseQueue,
        }),
        memory_store: (*place == Place::Memory).then_some(MemoryStore::Engine),
        settings,
        compile_options: Vec::new(),
        warnings,
    })
}

/// Durability class of an acknowledged commit, with the reason.
fn durability(place: &Place, memory_file_system: Option<&'static str>) -> (Durability, String) {
    match (place, memory_file_system) {
        (Place::Memory, _) => (Durability::Volatile, "the database is in memory".to_owned()),
        (Place::File(_), Some(name)) => (Durability::Volatile, format!("the file is on {name}, which is memory")),
        (Place::File(_), None) => {
            (Durability::Durable, "each commit writes its changes to the log and syncs it".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_place() {
        let file = Place::File("x.db".into());
        for (place, file_system, expected) in [
            (&Place::Memory, None, Durability::Volatile),
            (&file, Some("tmpfs"), Durability::Volatile),
            (&file, None, Durability::Durable),
        ] {
            assert_eq!(durability(place, file_system).0, expected, "{place:?} {file_system:?}");
        }
    }
}
