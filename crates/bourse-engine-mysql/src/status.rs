//! Counters of the server, from its status variables.

use crate::error::error;
use crate::link::Link;
use bourse_engine::{Counter, FileIo, IoCounts, LockStats, Result};
use mysql::prelude::Queryable as _;
use std::fs;
use std::path::Path;

/// Query of the variables that are interpreted; a server returns those that it has.
const ASKED: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN (
    'Innodb_row_lock_waits', 'Innodb_row_lock_time', 'Memory_used', 'Innodb_buffer_pool_bytes_data',
    'Innodb_data_fsyncs', 'Innodb_data_writes', 'Innodb_data_written', 'Innodb_data_reads', 'Innodb_data_read',
    'Innodb_os_log_fsyncs', 'Innodb_os_log_written', 'Innodb_log_writes',
    'Aria_transaction_log_syncs', 'Binlog_bytes_written')";

/// Query of the variables that are reported under their own names; a server returns those that it has, a node of a
/// cluster the `wsrep` or the `Gr` ones.
const COUNTERS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN (
    'Com_commit', 'Com_rollback', 'Handler_read_rnd_next', 'Created_tmp_disk_tables', 'Slow_queries',
    'Innodb_row_lock_waits', 'Innodb_row_lock_time', 'Innodb_deadlocks', 'Innodb_log_waits', 'Innodb_os_log_written',
    'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', 'Innodb_buffer_pool_pages_flushed',
    'Innodb_buffer_pool_wait_free', 'Innodb_data_fsyncs', 'Innodb_data_written',
    'wsrep_replicated', 'wsrep_replicated_bytes', 'wsrep_received', 'wsrep_received_bytes', 'wsrep_local_commits',
    'wsrep_local_cert_failures', 'wsrep_local_bf_aborts', 'wsrep_local_replays', 'wsrep_causal_reads',
    'wsrep_flow_control_sent', 'wsrep_flow_control_paused_ns',
    'Gr_data_messages_sent_count', 'Gr_data_messages_sent_bytes_sum', 'Gr_control_messages_sent_count',
    'Gr_all_consensus_proposals_count', 'Gr_all_consensus_time_sum', 'Gr_transactions_consistency_before_begin_count',
    'Gr_transactions_consistency_before_begin_time_sum')";

/// Counters of the server, under its own names.
///
/// # Errors
/// The server's.
pub(crate) fn counters(connection: &mut Link) -> Result<Vec<Counter>> {
    let rows: Vec<(String, String)> = connection.query(COUNTERS).map_err(|e| error(&e))?;
    Ok(rows.into_iter().filter_map(|(name, value)| Some(Counter { name, value: value.parse().ok()? })).collect())
}

/// Name of the counter in reports.
const SOURCE: &str = "the server (SHOW GLOBAL STATUS: Innodb_data_fsyncs, Innodb_data_written, Innodb_os_log_written)";

/// Interpreted counters of the server.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ServerStatus {
    /// Waits for row locks.
    pub locks: Option<LockStats>,
    /// Memory that the server counts, in bytes.
    pub memory_bytes: u64,
    /// File operations.
    pub io: IoCounts,
}

impl ServerStatus {
    /// Reads the counters from the server.
    ///
    /// # Errors
    /// The server's.
    pub(crate) fn read(connection: &mut Link) -> Result<Self> {
        let rows: Vec<(String, String)> = connection.query(ASKED).map_err(|e| error(&e))?;
        Ok(Self::of(&rows))
    }

    fn of(rows: &[(String, String)]) -> Self {
        let known = |name: &str| -> Option<u64> {
            rows.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.parse().ok())
        };
        let get = |name: &str| known(name).unwrap_or(0);
        Self {
            locks: known("Innodb_row_lock_waits")
                .zip(known("Innodb_row_lock_time"))
                .map(|(waits, wait_ms)| LockStats { waits, wait_ns: wait_ms * 1_000_000 }),
            // MySQL counts no sum; its largest part is the pages it holds.
            memory_bytes: get("Memory_used").max(get("Innodb_buffer_pool_bytes_data")),
            io: io(known),
        }
    }

    /// Difference of the counters from `before`; memory is the present one.
    #[must_use]
    pub(crate) fn since(self, before: &Self) -> Self {
        Self {
            locks: self.locks.map(|locks| locks.since(before.locks.unwrap_or_default())),
            memory_bytes: self.memory_bytes,
            io: self.io.since(before.io),
        }
    }
}

/// Counts of file operations. `Innodb_data_fsyncs` counts syncs of data and log files; MySQL, and MariaDB before 10.8,
/// count the log's separately too, and include its bytes in `Innodb_data_written`.
fn io(known: impl Fn(&str) -> Option<u64>) -> IoCounts {
    let get = |name: &str| known(name).unwrap_or(0);
    let syncs = get("Innodb_data_fsyncs");
    let (log_written, log_writes) = (get("Innodb_os_log_written"), get("Innodb_log_writes"));
    let (written, writes) = (get("Innodb_data_written"), get("Innodb_data_writes"));
    let mut io = IoCounts {
        source: SOURCE,
        database: FileIo {
            writes,
            written_bytes: written,
            reads: get("Innodb_data_reads"),
            read_bytes: get("Innodb_data_read"),
            ..FileIo::default()
        },
        log: FileIo {
            writes: log_writes,
            written_bytes: log_written + get("Binlog_bytes_written"),
            ..FileIo::default()
        },
        ..IoCounts::default()
    };
    match known("Innodb_os_log_fsyncs") {
        Some(log_syncs) => {
            io.log.syncs = log_syncs;
            io.database.syncs = syncs.saturating_sub(log_syncs);
            io.database.written_bytes = written.saturating_sub(log_written);
            io.database.writes = writes.saturating_sub(log_writes);
        }
        None => io.together.syncs = syncs,
    }
    // Tables of the server's own and large intermediate results.
    io.temporary.syncs = get("Aria_transaction_log_syncs");
    io
}

/// Process of the server, from its file in the data directory: the program that Bourse started may be a script above
/// it.
pub(crate) fn process_in_pid_file(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("server.pid")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, u64)]) -> IoCounts {
        let rows: Vec<_> = variables.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
        ServerStatus::of(&rows).io
    }

    #[test]
    fn syncs_of_the_log_are_told_apart_where_the_server_does() {
        let all = [("Innodb_data_fsyncs", 10), ("Innodb_data_written", 5_000), ("Innodb_os_log_written", 1_000)];
        let mariadb = told(&all);
        assert_eq!((mariadb.database.syncs, mariadb.log.syncs, mariadb.together.syncs), (0, 0, 10));
        assert_eq!((mariadb.database.written_bytes, mariadb.log.written_bytes), (5_000, 1_000));
        let mysql = told(&[&all[..], &[("Innodb_os_log_fsyncs", 7)]].concat());
        assert_eq!((mysql.database.syncs, mysql.log.syncs, mysql.together.syncs), (3, 7, 0));
        assert_eq!((mysql.database.written_bytes, mysql.log.written_bytes), (4_000, 1_000));
        assert_eq!(mysql.total().syncs, mariadb.total().syncs);
    }
}
