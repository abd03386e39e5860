//! What the server counts, by its own statistics, and what its processes use, by the operating system.

use crate::wire::Connection;
use bourse_engine::{EngineError, FileIo, IoCounts, ServerProcess};
use std::fs;
use std::path::Path;

/// Who counted, as reports name it.
const SOURCE: &str = "the server (pg_stat_wal, pg_stat_bgwriter, pg_stat_database)";
const SOURCE_IO: &str = "the server (pg_stat_io, pg_stat_wal)";

/// Syncs, writes and written bytes of the log; syncs, writes and reads of data pages; bytes of temporary files. By the first
/// version that has the views.
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

/// Bytes of a page, as servers are built.
const PAGE_BYTES: u64 = 8_192;

/// What the server has counted since it began; `None` of a version that does not count its log.
pub(crate) fn io_counts(connection: &mut Connection) -> Result<Option<IoCounts>, EngineError> {
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

/// Bytes of a database as the server has them.
pub(crate) fn database_bytes(connection: &mut Connection, database: &str) -> Result<u64, EngineError> {
    // A database that is not there has no size.
    let sql = format!("SELECT pg_database_size(oid) FROM pg_database WHERE datname = '{database}'");
    Ok(connection.names(&sql)?.first().and_then(|bytes| bytes.parse().ok()).unwrap_or(0))
}

/// Bytes of the write-ahead log's files in a data directory.
pub(crate) fn log_bytes(data: &Path) -> u64 {
    let entries = fs::read_dir(data.join("pg_wal")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok().filter(|found| found.is_file())).map(|found| found.len()).sum()
}

/// What a server's processes have used since it began, and hold now: those that run, and through the first of them those that
/// have ended.
pub(crate) fn process_use(first: u32) -> Option<ServerProcess> {
    let mut used = one_process(first, true)?;
    for process in children(first) {
        // One that has just ended is counted next time.
        let Some(of) = one_process(process, false) else { continue };
        used.own.cpu_user_ns += of.own.cpu_user_ns;
        used.own.cpu_system_ns += of.own.cpu_system_ns;
        used.own.read_bytes += of.own.read_bytes;
        used.own.written_bytes += of.own.written_bytes;
        used.own.resident_bytes += of.own.resident_bytes;
        used.shared_bytes = used.shared_bytes.max(of.shared_bytes);
    }
    // What processes share is there once.
    used.own.resident_bytes += used.shared_bytes;
    Some(used.own)
}

fn children(process: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// What one process has used; its resident memory without what it shares with others.
#[derive(Debug, PartialEq)]
struct Use {
    own: ServerProcess,
    shared_bytes: u64,
}

fn one_process(id: u32, with_ended_children: bool) -> Option<Use> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).ok();
    parse_process(&read("stat")?, &read("io").unwrap_or_default(), &read("status")?, with_ended_children)
}

fn parse_process(stat: &str, io: &str, status: &str, with_ended_children: bool) -> Option<Use> {
    // The kernel shows processor time in hundredths of a second on every architecture.
    const TICK_NS: u64 = 10_000_000;
    // The program's name in parentheses may hold anything: count from behind it.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let time = |own: usize, childrens: usize| {
        let ended = if with_ended_children { ticks(childrens)? } else { 0 };
        Some((ticks(own)? + ended) * TICK_NS)
    };
    let number = |text: &str, name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
    };
    let kilobytes = |name: &str| number(status, name).unwrap_or(0) * 1_024;
    Some(Use {
        own: ServerProcess {
            cpu_user_ns: time(11, 13)?,
            cpu_system_ns: time(12, 14)?,
            resident_bytes: kilobytes("RssAnon:"),
            read_bytes: number(io, "read_bytes:").unwrap_or(0),
            written_bytes: number(io, "write_bytes:").unwrap_or(0),
        },
        shared_bytes: kilobytes("RssShmem:"),
    })
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

    #[test]
    fn what_the_kernel_writes_of_a_process_is_read() {
        let stat = "7 (a b) c) S 1 1 1 0 -1 4194304 96 0 0 0 1234 56 100 10 20 0 1 0 202316 3133440 381";
        let io = "rchar: 1\nread_bytes: 8192\nwrite_bytes: 4096\n";
        let status = "Name:\tx\nRssAnon:\t    16 kB\nRssShmem:\t 4 kB\n";
        let one = parse_process(stat, io, status, false).unwrap();
        assert_eq!((one.own.cpu_user_ns, one.own.cpu_system_ns), (12_340_000_000, 560_000_000));
        assert_eq!((one.own.resident_bytes, one.shared_bytes), (16_384, 4_096));
        assert_eq!((one.own.read_bytes, one.own.written_bytes), (8_192, 4_096));
        let with_children = parse_process(stat, io, status, true).unwrap();
        assert_eq!(with_children.own.cpu_user_ns, 13_340_000_000);
        assert_eq!(parse_process("", "", "", true), None);
    }
}
