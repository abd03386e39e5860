//! The description of the system under test, read back from DuckDB, and the guarantee of its settings.

use crate::database::DuckDbConnection;
use crate::options::{DuckDbOptions, DuckDbWriters, GRAMMAR};
use bourse_engine::target::ParsedTarget;
use bourse_engine::{Description, Durability, MemoryStore, Result, RowExt as _, Setting, WriterWait, durability_at};
use std::path::Path;

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
pub(crate) fn settings_of(connection: &DuckDbConnection) -> Result<Vec<Setting>> {
    let names = SETTINGS.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT name, coalesce(value, '') FROM duckdb_settings() WHERE name IN ({names}) ORDER BY name");
    let mut settings = Vec::new();
    connection.query(&sql, &mut |row| {
        settings.push(Setting::new(row.get::<String>(0)?, row.get::<String>(1)?));
        Ok(())
    })?;
    Ok(settings)
}

pub(crate) fn describe(
    target: &ParsedTarget<DuckDbOptions>,
    path: Option<&Path>,
    connection: &DuckDbConnection,
) -> Result<Description> {
    let mut settings = GRAMMAR.settings(&target.options, |name| matches!(name, "writers" | "lock_timeout"));
    settings.extend(settings_of(connection)?);
    connection.query("SELECT source_id FROM pragma_version()", &mut |row| {
        settings.push(Setting::new("source_id", row.get::<String>(0)?));
        Ok(())
    })?;
    let library = connection.database().library();
    settings.push(Setting::new("library", library.path.display().to_string()));
    settings.push(Setting::new("library_sha256", library.sha256()));
    let on_disk = (Durability::Durable, "each commit writes its changes to the log and syncs it".to_owned());
    let (version, durability) = (library.api.version(), durability_at(path, on_disk));
    let mut description = Description::new("duckdb", version, &target.text, durability, settings);
    description.memory_store = path.is_none().then_some(MemoryStore::Engine);
    description.warnings.insert(0, ANALYTICAL.to_owned());
    if target.options.writers == DuckDbWriters::One {
        description.writer_wait = Some(WriterWait::BourseQueue);
    }
    Ok(description)
}
