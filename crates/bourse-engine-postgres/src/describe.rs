//! Description of the server that was run on, read back from it, and the durability that its settings promise.

use crate::target::PostgresTarget;
use crate::wire::WireConnection;
use bourse_engine::{
    Description, Durability, ErrorKind, MayLose, Result, Setting, listed, lost_with_machine, memory_file_system,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Settings that a figure depends on; a server returns those that it has.
const SETTINGS: &[&str] = &[
    "autovacuum",
    "bgwriter_delay",
    "block_size",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "deadlock_timeout",
    "default_transaction_isolation",
    "dynamic_shared_memory_type",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_method",
    "jit",
    "lc_collate",
    "lock_timeout",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers_per_gather",
    "max_pred_locks_per_page",
    "max_pred_locks_per_transaction",
    "max_wal_size",
    "plan_cache_mode",
    "random_page_cost",
    "server_encoding",
    "shared_buffers",
    "shared_preload_libraries",
    "synchronous_commit",
    "synchronous_standby_names",
    "track_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "wal_writer_delay",
    "work_mem",
    // Not every account may see where the data is.
    "data_directory",
];

/// Settings in force in a session, by name.
pub(crate) fn settings_of(connection: &mut WireConnection) -> Result<BTreeMap<String, String>> {
    let names = SETTINGS.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let rows = connection.ask(&format!(
        "SELECT name, current_setting(name), boot_val FROM pg_settings WHERE name IN ({names}) ORDER BY name"
    ))?;
    let setting = |mut row: Vec<Option<String>>| {
        row.truncate(2);
        let value = row.pop()??;
        Some((row.pop()??, value))
    };
    Ok(rows.into_iter().filter_map(setting).collect())
}

pub(crate) fn describe(target: &PostgresTarget, connection: &mut WireConnection) -> Result<Description> {
    let all = settings_of(connection)?;
    let get = |name: &str| all.get(name).map_or("", String::as_str);
    let version = connection.names("SHOW server_version")?.concat();
    let build = connection.names("SELECT version()")?;
    let is_here = target.options.socket.is_some() || target.place.is_of_this_machine();
    // The log may have a place of its own. A server in a container has paths of its own.
    let data = Some(Path::new(get("data_directory"))).filter(|data| is_here && data.is_absolute());
    let places = data.map(|data| [data.to_owned(), data.join("pg_wal")]);
    let facts = DurabilityFacts {
        memory_file_system: places.iter().flatten().find_map(|place| memory_file_system(place)),
        fsync: get("fsync"),
        full_page_writes: get("full_page_writes"),
        synchronous_commit: get("synchronous_commit"),
    };
    let (durability, durability_reason) = durability(&facts);
    let warning = facts.memory_file_system.map(|name| lost_with_machine("the data directory or the log", name));
    let settings = all.iter().map(|(name, value)| Setting::new(name, value)).collect();
    // Packages add their own name in parentheses.
    let version = version.split_whitespace().next().unwrap_or_default().to_owned();
    let placed = (durability, durability_reason, warning);
    let mut description = Description::new("postgres", version, &target.text, placed, settings);
    description.may_lose = may_lose(durability, &facts);
    description.compile_options = build;
    Ok(description)
}

/// Lowers the class to that of the tables that are not in the log, if the connection is to that database.
pub(crate) fn lower_by_tables(
    description: &mut Description,
    connection: &mut WireConnection,
    database: &str,
) -> Result<()> {
    if description.durability == Durability::Unknown {
        return Ok(());
    }
    let unlogged = connection.names(&format!(
        "SELECT relname FROM pg_class
          WHERE relkind IN ('r', 'p') AND relpersistence = 'u' AND current_database() = '{database}' ORDER BY 1"
    ))?;
    if !unlogged.is_empty() {
        let words = format!("not in the log, and emptied after a crash (UNLOGGED): {}", listed(&unlogged));
        description.lower(Durability::Volatile, words);
    }
    Ok(())
}

/// Damage that the server finds in the database's tables and indexes, in the server's words.
pub(crate) fn damages(connection: &mut WireConnection) -> Result<Vec<String>> {
    let checks = [
        // Each index's order, and that it has every row of its table.
        "SELECT 'SELECT bt_index_check(' || c.oid || ', true)', c.relname
           FROM pg_class c INNER JOIN pg_am a ON a.oid = c.relam
          WHERE c.relkind = 'i' AND a.amname = 'btree' AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname",
        "SELECT 'SELECT msg FROM verify_heapam(' || c.oid || ')', c.relname FROM pg_class c
          WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
            AND EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'verify_heapam') ORDER BY c.relname",
    ];
    let mut found = Vec::new();
    for checks in checks {
        for check in connection.ask(checks)? {
            let [Some(sql), Some(name)] = check.as_slice() else { continue };
            match connection.names(sql) {
                Ok(words) => found.extend(words.iter().filter(|it| !it.is_empty()).map(|it| format!("{name}: {it}"))),
                Err(e) if e.kind() == ErrorKind::ConnectionLost => return Err(e),
                Err(e) => found.push(format!("{name}: {}", e.message())),
            }
        }
    }
    Ok(found)
}

/// Facts that determine the durability class.
#[derive(Debug, Clone, Copy)]
struct DurabilityFacts<'a> {
    /// Name of the file system, if it is volatile.
    memory_file_system: Option<&'static str>,
    fsync: &'a str,
    full_page_writes: &'a str,
    synchronous_commit: &'a str,
}

/// Durability class of acknowledged commits, with the reason.
fn durability(facts: &DurabilityFacts<'_>) -> (Durability, String) {
    use Durability::{Consistent, Durable, Process, Volatile};
    if let Some(name) = facts.memory_file_system {
        return (Volatile, format!("the data directory or the log is on {name}, which is memory"));
    }
    if facts.fsync == "off" {
        return (Process, "fsync=off: the disk is never waited for".to_owned());
    }
    if facts.full_page_writes == "off" {
        return (Process, "full_page_writes=off: a page torn by power loss cannot be mended".to_owned());
    }
    match facts.synchronous_commit {
        "off" => (
            Consistent,
            "synchronous_commit=off: the log is synced within about half a second; a crash of the server alone loses commits too"
                .to_owned(),
        ),
        other => (Durable, format!("synchronous_commit={other}: the log is synced at each commit")),
    }
}

/// Commits that may be lost within the class.
fn may_lose(class: Durability, facts: &DurabilityFacts<'_>) -> Option<MayLose> {
    let is_in_memory =
        facts.synchronous_commit == "off" && matches!(class, Durability::Process | Durability::Consistent);
    is_in_memory.then_some(MayLose::LastSecondInMemory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_settings() {
        use Durability::{Consistent, Durable, Process, Volatile};
        let disk =
            DurabilityFacts { memory_file_system: None, fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
        for (facts, expected) in [
            (disk, Durable),
            (DurabilityFacts { synchronous_commit: "local", ..disk }, Durable),
            (DurabilityFacts { synchronous_commit: "off", ..disk }, Consistent),
            (DurabilityFacts { full_page_writes: "off", ..disk }, Process),
            (DurabilityFacts { fsync: "off", ..disk }, Process),
            (DurabilityFacts { memory_file_system: Some("tmpfs"), ..disk }, Volatile),
        ] {
            assert_eq!(durability(&facts).0, expected, "{facts:?}");
        }
        let late = DurabilityFacts { synchronous_commit: "off", ..disk };
        for (facts, expected) in [
            (disk, None),
            (late, Some(MayLose::LastSecondInMemory)),
            (DurabilityFacts { fsync: "off", ..disk }, None),
            (DurabilityFacts { fsync: "off", ..late }, Some(MayLose::LastSecondInMemory)),
            (DurabilityFacts { memory_file_system: Some("tmpfs"), ..late }, None),
        ] {
            assert_eq!(may_lose(durability(&facts).0, &facts), expected, "{facts:?}");
        }
    }
}
