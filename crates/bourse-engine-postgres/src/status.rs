//! Counters of the server, from its statistics, and resources of its processes, from the operating system.

use crate::wire::WireConnection;
use bourse_engine::{Counter, FileIo, IoCounts, Result, ServerProcess};
use bourse_server::private::processes::{ChildProcessUse, children, process_use};
use std::fs;
use std::path::Path;

/// Name of the counter in reports.
const SOURCE: &str = "the server (pg_stat_wal, pg_stat_bgwriter, pg_stat_database)";
const SOURCE_IO: &str = "the server (pg_stat_io, pg_stat_wal)";

/// Queries, each with the first version that has its views: syncs, writes and written bytes of the log; syncs, writes
/// and reads of data pages; bytes of temporary files.
const QUERIES: &[(i32, &str, &str)] = &[
    (
        180_000,
        SOURCE_IO,
        "SELECT (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'), (SELECT sum(writes) FROM pg_stat_io WHERE object = 'wal'),
                (SELECT wal_bytes FROM pg_stat_wal), (SELECT sum(fsyncs) FROM pg_stat_io WHERE object <> 'wal'),
                (SELECT sum(writes) + sum(extends) FROM pg_stat_io WHERE object <> 'wal'),
                (SELECT sum(reads) FROM pg_stat_io WHERE object <> 'wal'), (SELECT sum(temp_bytes) FROM pg_stat_database)",
    ),
    (
        160_000,
        SOURCE_IO,
        "SELECT wal_sync, wal_write, wal_bytes, (SELECT sum(fsyncs) FROM pg_stat_io),
                (SELECT sum(writes) + sum(extends) FROM pg_stat_io), (SELECT sum(reads) FROM pg_stat_io),
                (SELECT sum(temp_bytes) FROM pg_stat_database) FROM pg_stat_wal",
    ),
    (
        140_000,
        SOURCE,
        "SELECT wal_sync, wal_write, wal_bytes, buffers_backend_fsync,
                buffers_checkpoint + buffers_clean + buffers_backend, (SELECT sum(blks_read) FROM pg_stat_database),
                (SELECT sum(temp_bytes) FROM pg_stat_database) FROM pg_stat_wal CROSS JOIN pg_stat_bgwriter",
    ),
];

/// Columns that are reported under their own names, in every version.
const COUNTERS: [&str; 11] = [
    "xact_commit", "xact_rollback", "blks_read", "blks_hit", "tup_returned", "tup_fetched", "tup_inserted",
    "tup_updated", "tup_deleted", "conflicts", "deadlocks",
];

/// Counters of a database, under the server's own names (pg_stat_database).
pub(crate) fn counters(connection: &mut WireConnection, database: &str) -> Result<Vec<Counter>> {
    let sql = format!("SELECT {} FROM pg_stat_database WHERE datname = '{database}'", COUNTERS.join(", "));
    let row = connection.ask(&sql)?.into_iter().next().unwrap_or_default();
    let counter = |(name, value): (&&str, Option<String>)| {
        Some(Counter { name: (*name).to_owned(), value: value?.parse().ok()? })
    };
    Ok(COUNTERS.iter().zip(row).filter_map(counter).collect())
}

/// Time within which a process of the server adds its own counts, at most once a second while it works, to those that are read: an
/// interval of less has too few or too many of them.
const DELAY_NS: u64 = 2_000_000_000;

/// Size of a page in bytes, in default builds.
const PAGE_BYTES: u64 = 8_192;

/// File operations that the server has counted since it started; `None` for a version that does not count its log's.
pub(crate) fn io_counts(connection: &mut WireConnection) -> Result<Option<IoCounts>> {
    let version = connection.names("SHOW server_version_num")?;
    let version: i32 = version.first().and_then(|number| number.parse().ok()).unwrap_or(0);
    let Some((_, source, sql)) = QUERIES.iter().find(|(since, _, _)| version >= *since) else { return Ok(None) };
    let row = connection.ask(sql)?.into_iter().next().unwrap_or_default();
    Ok(Some(counts(source, &row)))
}

fn counts(source: &'static str, row: &[Option<String>]) -> IoCounts {
    let get = |at: usize| row.get(at).and_then(|value| value.as_ref()?.parse::<u64>().ok()).unwrap_or(0);
    let (writes, reads) = (get(4), get(5));
    IoCounts {
        source,
        delay_ns: DELAY_NS,
        log: FileIo { syncs: get(0), writes: get(1), written_bytes: get(2), ..FileIo::default() },
        database: FileIo {
            syncs: get(3),
            writes,
            written_bytes: writes * PAGE_BYTES,
            reads,
            read_bytes: reads * PAGE_BYTES,
            ..FileIo::default()
        },
        temporary: FileIo { written_bytes: get(6), ..FileIo::default() },
        ..IoCounts::default()
    }
}

/// Bytes of a database as the server counts them.
pub(crate) fn database_bytes(connection: &mut WireConnection, database: &str) -> Result<u64> {
    // A database that is not there has no size.
    let sql = format!("SELECT pg_database_size(oid) FROM pg_database WHERE datname = '{database}'");
    Ok(connection.names(&sql)?.first().and_then(|bytes| bytes.parse().ok()).unwrap_or(0))
}

/// Bytes of the write-ahead log's files in a data directory.
pub(crate) fn log_bytes(data: &Path) -> u64 {
    let entries = fs::read_dir(data.join("pg_wal")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok().filter(|found| found.is_file())).map(|found| found.len()).sum()
}

/// Resources of a server's processes since it started, and memory held now: those that run, and through the first of
/// them those that have ended.
///
/// A process that the first one waits for meanwhile would count twice or not at all; all are then read again.
pub(crate) fn server_use(first: u32) -> Option<ServerProcess> {
    const MAX_ATTEMPTS: u32 = 5;
    let mut one = process_use(first, true)?;
    for _ in 0..MAX_ATTEMPTS {
        let used = with_children(first, one);
        let now = process_use(first, true)?;
        // Its own time goes on; what it has of others grows by an end.
        if now.ended_ns == one.ended_ns {
            return Some(used);
        }
        one = now;
    }
    Some(with_children(first, one))
}

fn with_children(first: u32, one: ChildProcessUse) -> ServerProcess {
    let mut used = ServerProcess { resident_bytes: one.own_bytes, ..one.process };
    let mut shared_bytes = one.shared_bytes;
    for process in children(first) {
        let Some(of) = process_use(process, false) else { continue };
        used += ServerProcess { resident_bytes: of.own_bytes, ..of.process };
        shared_bytes = shared_bytes.max(of.shared_bytes);
    }
    // What processes share is there once.
    used.resident_bytes += shared_bytes;
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_counts_is_told_by_kind_of_file() {
        let row: Vec<_> = [5, 6, 7_000, 1, 10, 20, 30].iter().map(|number: &u64| Some(number.to_string())).collect();
        let io = counts(SOURCE, &row);
        assert_eq!((io.log.syncs, io.log.writes, io.log.written_bytes), (5, 6, 7_000));
        assert_eq!((io.database.syncs, io.database.written_bytes, io.database.read_bytes), (1, 81_920, 163_840));
        assert_eq!(io.temporary.written_bytes, 30);
        assert_eq!(counts(SOURCE, &[None]).log, FileIo::default());
    }
}
