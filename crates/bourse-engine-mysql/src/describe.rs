//! Description of the server that was run on, read back from it, and the durability that its settings promise.

use crate::connect::{KnownServer, version};
use crate::error::error;
use crate::link::Link;
use crate::options::Flavour;
use crate::products::PRODUCTS;
use crate::target::{MysqlTarget, ServerPlace};
use bourse_engine::{Description, Durability, MayLose, Result, Setting, lost_with_machine, memory_file_system};
use bourse_server::client::Product;
use mysql::prelude::Queryable as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Variables that a figure depends on; a server returns those that it has.
const VARIABLES: [&str; 37] = [
    "tx_isolation",
    "transaction_isolation",
    "innodb_snapshot_isolation",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_log_at_timeout",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_buffer_pool_size",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_page_size",
    "innodb_io_capacity",
    "innodb_adaptive_hash_index",
    "innodb_lock_wait_timeout",
    "innodb_stats_persistent",
    "innodb_autoinc_lock_mode",
    "rocksdb_block_cache_size",
    "rocksdb_flush_log_at_trx_commit",
    "lock_wait_timeout",
    "foreign_key_checks",
    "log_bin",
    "sync_binlog",
    "binlog_format",
    "performance_schema",
    "default_storage_engine",
    "character_set_server",
    "collation_server",
    "sql_mode",
    "max_connections",
    "max_prepared_stmt_count",
    "query_cache_type",
    "thread_handling",
    "local_infile",
    "wsrep_on",
    "have_ssl",
    "datadir",
    "hostname",
];

/// Variables that describe the build of the server.
const BUILD: [&str; 6] = [
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    "version_source_revision",
    "version_malloc_library",
    "version_ssl_library",
];

fn variables(connection: &mut Link) -> Result<BTreeMap<String, String>> {
    let rows: Vec<(String, String)> = connection.query("SHOW SESSION VARIABLES").map_err(|e| error(&e))?;
    Ok(rows.into_iter().collect())
}

/// Settings in force in a session, except the isolation level, which each transaction sets.
pub(crate) fn settings_of(connection: &mut Link) -> Result<Vec<Setting>> {
    let all = variables(connection)?;
    let names = VARIABLES.iter().filter(|name| !name.ends_with("_isolation"));
    Ok(names.filter_map(|name| Some(Setting::new(*name, all.get(*name)?))).collect())
}

/// Description of the database that a target was run on, with the facts that determine its durability class.
///
/// # Errors
/// The server's.
pub(crate) fn describe(target: &MysqlTarget, connection: &mut Link) -> Result<Description> {
    let all = variables(connection)?;
    let get = |name: &str| all.get(name).map_or("", String::as_str);
    let listed = |names: &[&str]| -> Vec<Setting> {
        let setting = |name: &&str| Some(Setting::new(*name, all.get(*name)?));
        names.iter().filter_map(setting).collect()
    };
    let version = version(connection);
    let product = Product::of(PRODUCTS, &version);
    let flavour = match product {
        Some(_) if matches!(target.flavour, Flavour::Tidb | Flavour::Vitess) => target.flavour,
        _ if version.contains("MariaDB") => Flavour::Mariadb,
        _ => Flavour::Mysql,
    };
    // The logs and the tables may have places of their own, relative to the data directory.
    let data = is_here(target, get("hostname")).then(|| Path::new(get("datadir")));
    let others = ["innodb_log_group_home_dir", "innodb_data_home_dir"].map(get);
    let places = data.map(|data| others.map(|other| data.join(other)).into_iter().chain([data.to_owned()]));
    let storage = get("default_storage_engine");
    let flush_log =
        if is_rocksdb(storage) { "rocksdb_flush_log_at_trx_commit" } else { "innodb_flush_log_at_trx_commit" };
    let facts = DurabilityFacts {
        memory_file_system: places.into_iter().flatten().find_map(|place| memory_file_system(&place)),
        storage,
        flush_log: get(flush_log),
        flush_method: get("innodb_flush_method"),
        doublewrite: get("innodb_doublewrite"),
        log_bin: get("log_bin"),
        sync_binlog: get("sync_binlog"),
        product: product.filter(|product| !product.facts.durability).map(|product| product.name),
    };
    let (durability, durability_reason) = durability(&facts);
    let build = listed(&BUILD).into_iter().map(|setting| format!("{}={}", setting.name, setting.value));
    let mut warnings = warnings(target, flavour, &facts, &all);
    let known = KnownServer::ask(connection, &target.options);
    if let (false, Some(variable), Some(product)) = (known.checks, known.facts.checks, product) {
        warnings.push(format!("{} ignores checks unless {variable} is ON: none are declared", product.name));
    }
    let engine = product.map_or_else(|| flavour.name().to_owned(), |product| product.name.to_lowercase());
    let placed = (durability, durability_reason, None);
    let mut description = Description::new(&engine, version, &target.text, placed, listed(&VARIABLES));
    description.may_lose = may_lose(durability, &facts);
    description.compile_options = build.collect();
    description.warnings = warnings;
    Ok(description)
}

/// Lowers the class to that of a database's tables in other storage engines than those whose settings the class follows from.
///
/// # Errors
/// The server's.
pub(crate) fn lower_by_tables(description: &mut Description, connection: &mut Link, database: &str) -> Result<()> {
    const OTHERS: &str = "SELECT table_name, engine FROM information_schema.tables
        WHERE table_schema = ? AND table_type = 'BASE TABLE' AND engine NOT IN ('InnoDB', 'ROCKSDB') ORDER BY 1";
    if description.durability == Durability::Unknown {
        return Ok(());
    }
    let tables: Vec<(String, String)> =
        connection.exec(OTHERS, (database,)).map_err(|e| error(&e).with_statement(OTHERS))?;
    for (table, storage) in tables {
        let (class, why) = match storage.eq_ignore_ascii_case("memory") {
            true => (Durability::Volatile, "in the server's memory alone"),
            false => (Durability::Process, "without the redo log, so that no commit waits for the disk"),
        };
        description.lower(class, format!("table `{table}` has ENGINE={storage}: it is {why}"));
    }
    Ok(())
}

/// Whether the name is that of MyRocks.
fn is_rocksdb(storage: &str) -> bool {
    storage.eq_ignore_ascii_case("rocksdb")
}

/// Whether the server's files are on this machine.
fn is_here(target: &MysqlTarget, hostname: &str) -> bool {
    match &target.place {
        ServerPlace::Private { .. } => true,
        ServerPlace::Running { .. } => {
            target.options.socket.is_some()
                || fs::read_to_string("/proc/sys/kernel/hostname").is_ok_and(|ours| ours.trim() == hostname)
        }
    }
}

/// Facts that determine the durability class.
#[derive(Debug, Clone, Copy)]
struct DurabilityFacts<'a> {
    /// Name of the file system, if it is volatile.
    memory_file_system: Option<&'static str>,
    storage: &'a str,
    flush_log: &'a str,
    flush_method: &'a str,
    doublewrite: &'a str,
    log_bin: &'a str,
    sync_binlog: &'a str,
    /// Name of the product, if these settings of MySQL have no meaning for it.
    product: Option<&'static str>,
}

/// Durability class of acknowledged commits, with the reason.
fn durability(facts: &DurabilityFacts<'_>) -> (Durability, String) {
    use Durability::{Consistent, Durable, Process, Unknown, Volatile};
    if let Some(name) = facts.memory_file_system {
        return (Volatile, format!("the data directory or the log is on {name}, which is memory"));
    }
    if let Some(product) = facts.product {
        return (
            Unknown,
            format!("{product}: its storage is not this server's, and no setting of it can be read here"),
        );
    }
    if facts.storage.eq_ignore_ascii_case("memory") {
        return (Volatile, "default_storage_engine=MEMORY: tables are in the server's memory alone".to_owned());
    }
    if facts.storage.eq_ignore_ascii_case("aria") {
        let why = "default_storage_engine=Aria: tables survive a crash of the server, but no commit waits for the disk";
        return (Process, why.to_owned());
    }
    let is_rocksdb = is_rocksdb(facts.storage);
    if !is_rocksdb && facts.flush_method.eq_ignore_ascii_case("nosync") {
        return (Process, "innodb_flush_method=nosync: the disk is never waited for".to_owned());
    }
    if !is_rocksdb && matches!(facts.doublewrite, "OFF" | "0") {
        return (Process, "innodb_doublewrite=OFF: a page torn by power loss cannot be mended".to_owned());
    }
    let engine = if is_rocksdb { "rocksdb" } else { "innodb" };
    let words = |why: &str| format!("{engine}_flush_log_at_trx_commit={}: {why}", facts.flush_log);
    match facts.flush_log {
        "1" | "3" if facts.log_bin == "ON" && facts.sync_binlog != "1" => (
            Consistent,
            format!("log_bin=ON, sync_binlog={}: a commit that is not in the binary log is undone", facts.sync_binlog),
        ),
        "1" | "3" => (Durable, words("the redo log is made durable at each commit")),
        "2" => (Consistent, words("the redo log is written at each commit and made durable once a second")),
        _ => (
            Consistent,
            words(
                "the redo log is written and made durable once a second; a crash of the server alone loses commits too",
            ),
        ),
    }
}

/// Commits that may be lost within the class.
fn may_lose(class: Durability, facts: &DurabilityFacts<'_>) -> Option<MayLose> {
    match (class, facts.flush_log) {
        (Durability::Process | Durability::Consistent, "0") => Some(MayLose::LastSecondInMemory),
        (Durability::Consistent, "1" | "3") => Some(MayLose::NotWrittenBack),
        (Durability::Consistent, _) => Some(MayLose::LastSecond),
        _ => None,
    }
}

fn warnings(
    target: &MysqlTarget,
    flavour: Flavour,
    facts: &DurabilityFacts<'_>,
    variables: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(name) = facts.memory_file_system {
        warnings.push(lost_with_machine("the data directory or the log", name));
    }
    if target.options.snapshot_isolation && !variables.contains_key("innodb_snapshot_isolation") {
        warnings.push(
            "the server has no innodb_snapshot_isolation: a repeatable-read transaction may overwrite a change made since its \
             snapshot"
                .to_owned(),
        );
    }
    if flavour != target.flavour {
        warnings.push(format!("the server is {}, the target says {}", flavour.name(), target.flavour.name()));
    }
    warnings
}

/// Bytes of a database's tables as the server counts them.
///
/// # Errors
/// The server's.
pub(crate) fn table_bytes(connection: &mut Link, database: &str) -> Result<u64> {
    let bytes: Option<Option<u64>> = connection
        .exec_first(
            "SELECT CAST(sum(data_length + index_length) AS UNSIGNED) FROM information_schema.tables WHERE table_schema = ?",
            (database,),
        )
        .map_err(|e| error(&e))?;
    Ok(bytes.flatten().unwrap_or(0))
}

/// Bytes in a data directory of a database's files with the undo logs, and of the redo log and the logs of replication.
pub(crate) fn sizes(data: &Path, database: &str) -> (u64, u64) {
    let (mut tables, mut log) = (0, 0);
    for (name, bytes) in files(data) {
        if ["ib_logfile", "binlog.", "relay-"].iter().any(|start| name.starts_with(start)) {
            log += bytes;
        } else if name.starts_with("ibdata") || name.starts_with("undo") {
            tables += bytes;
        }
    }
    tables += files(&data.join(database)).map(|(_, bytes)| bytes).sum::<u64>();
    log += files(&data.join("#innodb_redo")).map(|(_, bytes)| bytes).sum::<u64>();
    (tables, log)
}

fn files(folder: &Path) -> impl Iterator<Item = (String, u64)> {
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let found = entry.metadata().ok().filter(|found| found.is_file())?;
        Some((entry.file_name().to_string_lossy().into_owned(), found.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_settings() {
        use Durability::{Consistent, Durable, Process, Unknown, Volatile};
        let disk = DurabilityFacts {
            memory_file_system: None,
            storage: "InnoDB",
            flush_log: "1",
            flush_method: "O_DIRECT",
            doublewrite: "ON",
            log_bin: "OFF",
            sync_binlog: "0",
            product: None,
        };
        for (facts, expected) in [
            (disk, Durable),
            (DurabilityFacts { log_bin: "ON", ..disk }, Consistent),
            (DurabilityFacts { log_bin: "ON", sync_binlog: "1", ..disk }, Durable),
            (DurabilityFacts { storage: "MEMORY", ..disk }, Volatile),
            (DurabilityFacts { storage: "Aria", ..disk }, Process),
            (DurabilityFacts { storage: "ROCKSDB", doublewrite: "OFF", ..disk }, Durable),
            (DurabilityFacts { storage: "ROCKSDB", flush_log: "2", ..disk }, Consistent),
            (DurabilityFacts { flush_log: "2", ..disk }, Consistent),
            (DurabilityFacts { flush_log: "0", ..disk }, Consistent),
            (DurabilityFacts { doublewrite: "OFF", ..disk }, Process),
            (DurabilityFacts { flush_method: "nosync", ..disk }, Process),
            (DurabilityFacts { memory_file_system: Some("tmpfs"), ..disk }, Volatile),
            (DurabilityFacts { product: Some("TiDB"), ..disk }, Unknown),
        ] {
            assert_eq!(durability(&facts).0, expected, "{facts:?}");
        }
        let late = DurabilityFacts { flush_log: "0", ..disk };
        for (facts, expected) in [
            (disk, None),
            (DurabilityFacts { log_bin: "ON", ..disk }, Some(MayLose::NotWrittenBack)),
            (DurabilityFacts { flush_log: "2", ..disk }, Some(MayLose::LastSecond)),
            (late, Some(MayLose::LastSecondInMemory)),
            (DurabilityFacts { doublewrite: "OFF", ..disk }, None),
            (DurabilityFacts { doublewrite: "OFF", ..late }, Some(MayLose::LastSecondInMemory)),
            (DurabilityFacts { storage: "MEMORY", ..late }, None),
            (DurabilityFacts { product: Some("TiDB"), ..late }, None),
        ] {
            assert_eq!(may_lose(durability(&facts).0, &facts), expected, "{facts:?}");
        }
    }
}
