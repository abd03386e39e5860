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

/// All metrics of a series; throughput and latency by operation are `NAME.operation`.
pub const METRICS: &[Metric] = &[
    Metric { name: "throughput", title: "completed", unit: "1/s", better: Better::Higher },
    Metric { name: "response_ns_p50", title: "response time, median", unit: "ns", better: Better::Lower },
    Metric { name: "response_ns_p90", title: "response time, 90th percentile", unit: "ns", better: Better::Lower },
    Metric { name: "response_ns_p99", title: "response time, 99th percentile", unit: "ns", better: Better::Lower },
    Metric { name: "response_ns_max", title: "response time, worst", unit: "ns", better: Better::Lower },
    Metric { name: "failures", title: "failed", unit: "1/s", better: Better::Lower },
    Metric { name: "retries", title: "retries after lock conflicts", unit: "1/s", better: Better::Lower },
    Metric { name: "queue_length", title: "waiting between the workload's parts", unit: "1", better: Better::Lower },
    Metric { name: "backlog", title: "due and waiting for a user", unit: "1", better: Better::Lower },
    Metric { name: "cpu_user", title: "processor time, user", unit: "s/s", better: Better::Neither },
    Metric { name: "cpu_system", title: "processor time, system", unit: "s/s", better: Better::Neither },
    Metric {
        name: "cpu_others",
        title: "processor time of other processes and the kernel",
        unit: "s/s",
        better: Better::Lower,
    },
    Metric { name: "cpu_stolen", title: "processor time taken by the host", unit: "s/s", better: Better::Lower },
    Metric { name: "memory_resident_bytes", title: "memory of our process", unit: "bytes", better: Better::Lower },
    Metric {
        name: "machine_memory_used_bytes",
        title: "memory used on the machine",
        unit: "bytes",
        better: Better::Neither,
    },
    Metric {
        name: "machine_memory_free_bytes",
        title: "memory free on the machine",
        unit: "bytes",
        better: Better::Neither,
    },
    Metric { name: "machine_swap_used_bytes", title: "swap used on the machine", unit: "bytes", better: Better::Lower },
    Metric {
        name: "engine_memory_bytes",
        title: "memory by the engine's own count",
        unit: "bytes",
        better: Better::Lower,
    },
    Metric { name: "read_bytes", title: "read from storage", unit: "bytes/s", better: Better::Lower },
    Metric { name: "written_bytes", title: "written to storage", unit: "bytes/s", better: Better::Lower },
    Metric { name: "syncs", title: "syncs by the engine's own count", unit: "1/s", better: Better::Lower },
    Metric { name: "sync_time", title: "time in syncs of the storage", unit: "s/s", better: Better::Lower },
    Metric {
        name: "engine_written_bytes",
        title: "written by the engine's own count",
        unit: "bytes/s",
        better: Better::Lower,
    },
    Metric {
        name: "data_written_bytes",
        title: "written to the database's own files, by the engine's own count",
        unit: "bytes/s",
        better: Better::Lower,
    },
    Metric { name: "data_bytes", title: "database", unit: "bytes", better: Better::Lower },
    Metric { name: "log_bytes", title: "write-ahead log", unit: "bytes", better: Better::Lower },
    Metric { name: "journal_bytes", title: "rollback journal", unit: "bytes", better: Better::Lower },
    Metric {
        name: "server_cpu_user",
        title: "processor time of the server, user",
        unit: "s/s",
        better: Better::Neither,
    },
    Metric {
        name: "server_cpu_system",
        title: "processor time of the server, system",
        unit: "s/s",
        better: Better::Neither,
    },
    Metric {
        name: "server_memory_resident_bytes",
        title: "memory of the server's process",
        unit: "bytes",
        better: Better::Lower,
    },
    Metric {
        name: "server_read_bytes",
        title: "read from storage by the server",
        unit: "bytes/s",
        better: Better::Lower,
    },
    Metric {
        name: "server_written_bytes",
        title: "written to storage by the server",
        unit: "bytes/s",
        better: Better::Lower,
    },
    Metric { name: "lock_wait", title: "time waiting for locks", unit: "s/s", better: Better::Lower },
    Metric { name: "lock_waits", title: "waits for locks", unit: "1/s", better: Better::Lower },
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
