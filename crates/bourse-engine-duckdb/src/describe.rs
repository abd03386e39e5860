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
        settings.push(Setting { name: row.get(0)?, value: row.get(1)? });
        Ok(())
    })?;
    Ok(settings)
}

pub(crate) fn describe(
    target: &ParsedTarget<DuckDbOptions>,
    path: Option<&Path>,
    connection: &DuckDbConnection,
) -> Result<Description> {
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
    let on_disk = (Durability::Durable, "each commit writes its changes to the log and syncs it".to_owned());
    let (durability, durability_reason, warning) = durability_at(path, on_disk);
    Ok(Description {
        engine: "duckdb".to_owned(),
        version: library.api.version(),
        target: target.text.clone(),
        durability,
        may_lose: None,
        durability_reason,
        writer_wait: Some(match target.options.writers {
            DuckDbWriters::Concurrent => WriterWait::EngineLocks,
            DuckDbWriters::One => WriterWait::BourseQueue,
        }),
        memory_store: path.is_none().then_some(MemoryStore::Engine),
        settings,
        compile_options: Vec::new(),
        warnings: std::iter::once(ANALYTICAL.to_owned()).chain(warning).collect(),
    })
}
