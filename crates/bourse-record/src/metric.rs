//! Metrics of one-second series, as data that tables, CSV and comparison read.

/// Direction in which a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither by itself.
    Neither,
}

/// One metric of a series.
#[derive(Debug)]
pub struct Metric {
    /// Name in run files: unit and qualifier last.
    pub name: &'static str,
    /// Title for a person.
    pub title: &'static str,
    /// Unit: `1/s`, `bytes`, `bytes/s`, `ns`, `s/s`, `1`.
    pub unit: &'static str,
    /// Direction in which it is better.
    pub better: Better,
}

/// Metrics by name: title, unit and the better direction.
macro_rules! metrics {
    ($($name:literal: $title:literal, $unit:literal, $better:ident;)+) => {
        [$(Metric { name: $name, title: $title, unit: $unit, better: Better::$better }),+]
    };
}

/// All metrics of a series; throughput and latency by operation are `NAME.operation`.
pub const METRICS: &[Metric] = &metrics![
    "throughput": "completed", "1/s", Higher;
    "response_ns_p50": "response time, median", "ns", Lower;
    "response_ns_p90": "response time, 90th percentile", "ns", Lower;
    "response_ns_p99": "response time, 99th percentile", "ns", Lower;
    "response_ns_max": "response time, worst", "ns", Lower;
    "failures": "failed", "1/s", Lower;
    "retries": "retries after lock conflicts", "1/s", Lower;
    "queue_length": "waiting between the workload's parts", "1", Lower;
    "backlog": "due and waiting for a user", "1", Lower;
    "cpu_user": "processor time, user", "s/s", Neither;
    "cpu_system": "processor time, system", "s/s", Neither;
    "cpu_others": "processor time of other processes and the kernel", "s/s", Lower;
    "cpu_stolen": "processor time taken by the host", "s/s", Lower;
    "memory_resident_bytes": "memory of our process", "bytes", Lower;
    "machine_memory_used_bytes": "memory used on the machine", "bytes", Neither;
    "machine_memory_free_bytes": "memory free on the machine", "bytes", Neither;
    "machine_swap_used_bytes": "swap used on the machine", "bytes", Lower;
    "engine_memory_bytes": "memory by the engine's own count", "bytes", Lower;
    "read_bytes": "read from storage", "bytes/s", Lower;
    "written_bytes": "written to storage", "bytes/s", Lower;
    "syncs": "syncs by the engine's own count", "1/s", Lower;
    "sync_time": "time in syncs of the storage", "s/s", Lower;
    "engine_written_bytes": "written by the engine's own count", "bytes/s", Lower;
    "data_written_bytes": "written to the database's own files, by the engine's own count", "bytes/s", Lower;
    "data_bytes": "database", "bytes", Lower;
    "log_bytes": "write-ahead log", "bytes", Lower;
    "journal_bytes": "rollback journal", "bytes", Lower;
    "server_cpu_user": "processor time of the server, user", "s/s", Neither;
    "server_cpu_system": "processor time of the server, system", "s/s", Neither;
    "server_memory_resident_bytes": "memory of the server's process", "bytes", Lower;
    "server_read_bytes": "read from storage by the server", "bytes/s", Lower;
    "server_written_bytes": "written to storage by the server", "bytes/s", Lower;
    "lock_wait": "time waiting for locks", "s/s", Lower;
    "lock_waits": "waits for locks", "1/s", Lower;
];

/// Finds the metric of a series' name, with or without `.operation`.
///
/// ```
/// assert_eq!(bourse_record::metric("throughput.Trade-Result").unwrap().unit, "1/s");
/// ```
pub fn metric(series: &str) -> Option<&'static Metric> {
    let name = series.split('.').next().unwrap_or(series);
    METRICS.iter().find(|metric| metric.name == name)
}
