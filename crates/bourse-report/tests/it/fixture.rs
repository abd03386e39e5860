//! Run files for tests: a TPC-E-derived run of known figures, and variants of it.

use bourse_record::{
    BlockedOn, BlockedTime, Build, Case, Check, CheckStatus, Conditions, Distribution, DriverQueue, Durability, Engine,
    FileActivity, FileKind, IsolationLevel, LatencySummary, Machine, Medium, NameValue, Operation, OperationIsolation,
    Outcome, OutcomeCount, PartOfTime, Phase, PhaseKind, Provenance, RawSyncs, ResponseMap, RoleTime, Round, RunFile,
    Scale, Series, SeriesColumn, Storage, TimeSpent, TimeSplit, Warning, Workload, WorkloadKind,
};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::sync::Mutex;

mod variants;

pub(crate) use variants::*;

/// Name, share of the mix in percent, limit in seconds, typical response in microseconds.
const TRANSACTIONS: [(&str, Option<f64>, Option<u64>, u64); 11] = [
    ("Trade-Result", Some(10.0), Some(2), 1_900),
    ("Broker-Volume", Some(4.9), Some(3), 420),
    ("Customer-Position", Some(13.0), Some(3), 310),
    ("Market-Feed", Some(1.0), Some(2), 2_600),
    ("Market-Watch", Some(18.0), Some(3), 650),
    ("Security-Detail", Some(14.0), Some(3), 240),
    ("Trade-Lookup", Some(8.0), Some(3), 1_200),
    ("Trade-Order", Some(10.1), Some(2), 1_500),
    ("Trade-Status", Some(19.0), Some(1), 190),
    ("Trade-Update", Some(2.0), Some(3), 3_400),
    ("Data-Maintenance", None, None, 900),
];

pub(crate) fn pair(name: &str, value: &str) -> NameValue {
    NameValue { name: name.to_owned(), value: value.to_owned() }
}

/// A distribution with a tail: 84 of 100 near the typical time, 15 at twice it, one at twelve times. Packed once for all tests.
pub(crate) fn distribution(count: u64, typical_us: u64) -> Distribution {
    static PACKED: Mutex<BTreeMap<(u64, u64), Distribution>> = Mutex::new(BTreeMap::new());
    let mut packed = PACKED.lock().expect("times are within the range");
    packed.entry((count, typical_us)).or_insert_with(|| packed_distribution(count, typical_us)).clone()
}

fn packed_distribution(count: u64, typical_us: u64) -> Distribution {
    let mut histogram = Histogram::new(3).expect("three figures");
    for nth in 0..count {
        let spread = 850 + (nth * 37) % 300;
        let factor = match nth % 100 {
            99 => 12,
            84..=98 => 2,
            _ => 1,
        };
        histogram.record(typical_us * spread * factor).expect("within the range");
    }
    Distribution::of(&histogram, 0)
}

/// A distribution without a sample.
pub(crate) fn empty_distribution() -> Distribution {
    Distribution::of(&Histogram::new(3).expect("three figures"), 0)
}

/// Meaning of a status code, as the workload declares it.
fn meaning(code: i32) -> Option<&'static str> {
    match code {
        1 => Some("rolled back on purpose, as 1 order in 101 must be"),
        -911 => Some("not 50 trades of the account were found"),
        1021 => Some("frame 2 found no trade in its window"),
        _ => None,
    }
}

pub(crate) fn outcome(outcome: Outcome, code: i32, count: u64) -> OutcomeCount {
    OutcomeCount { outcome, code, count, meaning: meaning(code).map(str::to_owned), example: None }
}

fn operation(name: &str, share: Option<f64>, limit_s: Option<u64>, typical_us: u64, decks: u64) -> Operation {
    let count = share.map_or(1, |share| (share * 10.0) as u64 * decks);
    let (outcomes, retries) = match name {
        "Trade-Order" => {
            (vec![outcome(Outcome::Completed, 0, count - decks), outcome(Outcome::RolledBack, 1, decks)], 12)
        }
        "Trade-Status" => {
            (vec![outcome(Outcome::Completed, 0, count / 2), outcome(Outcome::TooFewRows, -911, count - count / 2)], 0)
        }
        "Trade-Update" => (vec![outcome(Outcome::Completed, 0, count - 3), outcome(Outcome::Warned, 1021, 3)], 0),
        _ => (vec![outcome(Outcome::Completed, 0, count)], 0),
    };
    Operation {
        name: name.to_owned(),
        outcomes,
        retries,
        round_trips: 0,
        late: 0,
        samples: 0,
        untimed: 0,
        harness_overhead_ns: None,
        server: None,
        mix_target_percent: share,
        mix_expected_percent: None,
        mix_tolerance_points: share.map(|_| 0.05),
        limit_ns: limit_s.map(|limit| limit * 1_000_000_000),
        response: distribution(count, typical_us + 40),
        service: distribution(count, typical_us),
        failed: None,
        by_schedule: false,
        under_way: None,
        by_outcome: Vec::new(),
    }
}

/// Warm-up of 10 s, measurement of 30 s, drain of 2 s.
fn series() -> Series {
    let time_s: Vec<f64> = (1..=42).map(f64::from).collect();
    let mib = 1024.0 * 1024.0;
    let column = |metric: &str, of: &dyn Fn(f64) -> Option<f64>| SeriesColumn {
        metric: metric.to_owned(),
        values: time_s.iter().map(|time| of(*time)).collect(),
    };
    // A checkpoint every 7 s slows everything down for one.
    let stall = |time: f64| if (time as u32).is_multiple_of(7) { 0.55 } else { 1.0 };
    let ramp = |time: f64| (time / 6.0).min(1.0) * stall(time) * if time > 40.0 { 0.2 } else { 1.0 };
    let wave = |time: f64| 1.0 + 0.06 * (time * 1.7).sin();
    let columns = vec![
        column("throughput.Trade-Result", &|time| Some(100.0 * ramp(time) * wave(time))),
        column("throughput", &|time| Some(1000.0 * ramp(time) * wave(time + 1.0))),
        column("response_ns_p50", &|time| Some(600_000.0 * wave(time) / stall(time))),
        column("response_ns_p90", &|time| Some(2_400_000.0 * wave(time) / stall(time))),
        column("response_ns_p99", &|time| Some(9_000_000.0 * wave(time) / stall(time).powi(3))),
        column("response_ns_max", &|time| Some(40_000_000.0 * wave(time) / stall(time).powi(4))),
        column("retries", &|time| Some(if (time as u32).is_multiple_of(7) { 4.0 } else { 0.0 })),
        column("queue_length", &|time| (time as u32 != 20).then_some(3.0)),
        column("cpu_user", &|time| Some(0.85 * ramp(time))),
        column("cpu_system", &|time| Some(0.2 * ramp(time))),
        column("memory_resident_bytes", &|time| Some((180.0 + time) * mib)),
        column("machine_memory_used_bytes", &|time| Some((2900.0 + 2.0 * time) * mib)),
        column("machine_memory_free_bytes", &|time| Some((5100.0 - 2.0 * time) * mib)),
        column("machine_swap_used_bytes", &|_| Some(0.0)),
        column("engine_memory_bytes", &|time| Some((64.0 + time / 4.0) * mib)),
        column("read_bytes", &|_| Some(0.0)),
        column("written_bytes", &|time| Some(12.0 * mib / stall(time) * ramp(time))),
        column("data_written_bytes", &|time| Some(if (time as u32).is_multiple_of(7) { 30.0 * mib } else { 0.0 })),
        column("syncs", &|time| Some(1_000.0 * ramp(time))),
        column("sync_time", &|time| Some(0.21 * ramp(time))),
        column("data_bytes", &|time| Some((612.0 + 0.4 * time) * mib)),
        column("log_bytes", &|time| Some(((time as u32 % 7) as f64).mul_add(0.6, 0.4) * mib)),
        column("journal_bytes", &|_| Some(0.0)),
        column("lock_wait", &|time| Some(0.12 / stall(time))),
    ];
    Series { time_s, columns }
}

/// The rate of each second, which scatters by tenths.
fn throughput_series(seconds: &Series) -> Series {
    let time_s: Vec<f64> = (1..=420).map(|tenth| f64::from(tenth) / 10.0).collect();
    let column = |metric: &str| {
        let column = seconds.columns.iter().find(|column| column.metric == metric).expect("a rate each second");
        let of_second =
            |tenth: usize| column.values[tenth / 10].map(|rate| rate * (1.0 + 0.2 * (tenth as f64 * 2.3).sin()));
        SeriesColumn { metric: metric.to_owned(), values: (0..420).map(of_second).collect() }
    };
    Series { time_s, columns: vec![column("throughput"), column("throughput.Trade-Result")] }
}

fn check(name: &str, words: &str, source: &str, status: CheckStatus, evidence: &str) -> Check {
    let (name, words, source, evidence) = (name.to_owned(), words.to_owned(), source.to_owned(), evidence.to_owned());
    Check { name, condition: words, source, status, evidence, took_s: 0.25 }
}

fn file(kind: FileKind, [syncs, writes, written_bytes, reads, read_bytes]: [u64; 5]) -> FileActivity {
    let sync_ns = Some(syncs * 210_000);
    FileActivity { kind, syncs, sync_ns, writes, written_bytes, reads, read_bytes }
}

/// Responses of each second around 600 µs, slower at a checkpoint.
fn response_map() -> ResponseMap {
    let counts = |second: u32| -> Vec<u64> {
        let shift = if second.is_multiple_of(7) { 3 } else { 0 };
        let count = |row: u32| 4_000 / (1 + (row.abs_diff(6 + shift)).pow(3));
        (0..16).map(count).map(u64::from).collect()
    };
    ResponseMap { time_s: (1..=42).map(f64::from).collect(), first_row: 32, counts: (1..=42).map(counts).collect() }
}

/// Time of users of one kind: seconds on a CPU, waiting for one, blocked.
pub(crate) fn role(role: &str, threads: u64, cpu_s: f64, runnable_s: f64, blocked: &[(BlockedOn, f64)]) -> RoleTime {
    RoleTime {
        role: role.to_owned(),
        threads,
        operations: 15_000 * threads,
        wall_s: cpu_s + runnable_s + blocked.iter().map(|(_, seconds)| seconds).sum::<f64>(),
        cpu_s,
        pause_cpu_s: 0.0,
        runnable_s,
        blocked: blocked.iter().map(|&(on, seconds)| BlockedTime { on, seconds, waits: Some(400) }).collect(),
    }
}

/// Two customers who paused for a fifth of their time, and a market user without a pause.
fn time_split() -> TimeSplit {
    use BlockedOn::{Lock, Other, Queue, Sync};
    TimeSplit::Measured(vec![
        role("customers", 2, 24.0, 2.4, &[(Sync, 6.6), (Lock, 13.8), (Queue, 12.0), (Other, 1.2)]),
        role("market users", 1, 9.0, 0.6, &[(Sync, 12.9), (Lock, 6.6), (Queue, 0.3), (Other, 0.6)]),
    ])
}

pub(crate) fn round(decks: u64) -> Round {
    let operations: Vec<Operation> = TRANSACTIONS
        .iter()
        .map(|(name, share, limit, typical)| operation(name, *share, *limit, *typical, decks))
        .collect();
    let phase = |kind, from_s, to_s| Phase { kind, from_s, to_s };
    Round {
        offset_s: 0.0,
        phases: vec![
            phase(PhaseKind::WarmUp, 0.0, 10.0),
            phase(PhaseKind::Measurement, 10.0, 40.0),
            phase(PhaseKind::Drain, 40.0, 42.0),
        ],
        measured_s: 30.0,
        headline: (decks * 100) as f64 / 30.0,
        void: None,
        operations,
        arrivals: None,
        throughput_series: throughput_series(&series()),
        series: series(),
        fine_series: Series::default(),
        response_map: Some(response_map()),
        latency: None,
        history: None,
        stopping: None,
        cpu_user_s: 25.5,
        cpu_system_s: 6.0,
        read_bytes: 0,
        written_bytes: 377_487_360,
        major_faults: 0,
        io: vec![
            file(FileKind::Database, [300, 30_000, 122_880_000, 9_000, 36_864_000]),
            file(FileKind::Log, [29_700, 61_000, 250_000_000, 0, 0]),
        ],
        io_source: String::new(),
        server: None,
        counters: Vec::new(),
        engine_threads: Vec::new(),
        statements: Vec::new(),
        conflicts: Vec::new(),
        market_age_s: None,
        usage_late_s: None,
        cost_covers: None,
        interference: None,
        slowdown: None,
        time_split: Some(time_split()),
        shared: None,
        facts: vec![pair("trades loaded", "115,200"), pair("database", "reused, fingerprint matched")],
        checks: vec![
            check(
                "broker trades",
                "each broker's number of trades is the number of completed trades of his accounts",
                "Clause 7.3.1.1",
                CheckStatus::Passed,
                "10 brokers",
            ),
            check(
                "holding summary",
                "each holding summary is the sum of its holdings",
                "Clause 7.3.1.3",
                CheckStatus::Passed,
                "7,400 summaries",
            ),
        ],
        warnings: vec![],
    }
}

/// A successful run: 30 s on a durable SQLite file.
pub(crate) fn normal() -> RunFile {
    let arguments = ["bourse", "tpce", "run", "sqlite:bourse-data/tpce.db?journal=wal&sync=full", "--users", "2"];
    let provenance = Provenance {
        started_at: "2026-11-21T09:30:00+00:00".to_owned(),
        command: arguments.map(str::to_owned).to_vec(),
        seed: 20_261_121,
        build: Build {
            commit: None,
            version: "0.1.0".to_owned(),
            profile: "release".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
        },
        machine: Machine {
            system: "Linux 6.8.0".to_owned(),
            processor: "Example Processor 3.2 GHz".to_owned(),
            cores: 2,
            memory_bytes: 8 * 1024 * 1024 * 1024,
            load_average: Some(0.31),
            harness_ns: Some(180.0),
            details: vec![pair("file system of the target", "ext4"), pair("frequency governor", "performance")],
        },
        revision: None,
    };
    RunFile {
        cases: vec![case("sqlite durable", Durability::Durable, 30)],
        time_spent: Some(time_spent()),
        notice: WorkloadKind::Brokerage.notice().map(str::to_owned),
        ..RunFile::new("tpce", provenance)
    }
}

fn time_spent() -> TimeSpent {
    let parts = [
        ("loading", 7.25),
        ("checks before use", 1.5),
        ("calibration", 1.0),
        ("warm-up", 10.0),
        ("measurement interval", 30.0),
        ("drain", 2.0),
        ("checks after rounds", 4.125),
        ("other", 0.125),
    ];
    let part = |(name, seconds): (&str, f64)| PartOfTime { name: name.to_owned(), seconds };
    TimeSpent { total_s: 56.0, parts: parts.map(part).to_vec() }
}

pub(crate) fn case(label: &str, durability: Durability, decks: u64) -> Case {
    Case {
        label: label.to_owned(),
        engine: Engine {
            name: "sqlite".to_owned(),
            version: "3.54.1".to_owned(),
            target: "sqlite:bourse-data/tpce.db?journal=wal&sync=full".to_owned(),
            durability,
            may_lose: None,
            durability_reason: "write-ahead log with synchronous=FULL".to_owned(),
            writer_wait: None,
            memory_store: None,
            settings: vec![pair("journal_mode", "wal"), pair("synchronous", "2"), pair("page_size", "4096")],
            compile_options: vec!["THREADSAFE=2".to_owned(), "DEFAULT_MEMSTATUS=0".to_owned()],
        },
        workload: Workload {
            name: "tpce".to_owned(),
            kind: WorkloadKind::Brokerage,
            parameters: vec![pair("schedule", "closed loop")],
            headline_operation: Some("Trade-Result".to_owned()),
            headline_unit: "TR/s".to_owned(),
            nominal: Some(2.0),
            outcomes: vec![
                Outcome::Completed,
                Outcome::Warned,
                Outcome::RolledBack,
                Outcome::TooFewRows,
                Outcome::Failed,
                Outcome::Dropped,
            ],
            per_minute: None,
            has_lasting_rate: true,
            metric_titles: vec![pair("queue_length", "waiting in the market's queue")],
            notice: Some(
                "TPC-E-derived workload, unaudited; results are not comparable with published TPC Benchmark E results. \
                 TPC Benchmark and TPC-E are trademarks of the Transaction Processing Performance Council."
                    .to_owned(),
            ),
        },
        conditions: Conditions {
            users: Some(2),
            driver_queue: Some(DriverQueue {
                room: 16,
                operations: vec!["Trade-Result".to_owned(), "Market-Feed".to_owned()],
            }),
            storage: Some(Storage {
                file_system: "ext4".to_owned(),
                mount_options: "rw,relatime".to_owned(),
                device: Some("vda".to_owned()),
                volatile_write_cache: Some(true),
                fua: Some(false),
                medium: Medium::Device,
            }),
            raw_syncs: Some(RawSyncs { count: 50, p50_ns: 148_000, p90_ns: 230_000 }),
            scale: Some(Scale { customers: 1_000, scale_factor: 500, initial_days: 10 }),
            isolation: TRANSACTIONS
                .iter()
                .map(|(name, ..)| OperationIsolation {
                    operation: (*name).to_owned(),
                    demanded: IsolationLevel::ReadCommitted,
                    provided: IsolationLevel::Serializable,
                })
                .collect(),
            constraints: Some("foreign keys and checks enforced".to_owned()),
            ..Conditions::default()
        },
        varied: vec![],
        search: None,
        origin: None,
        rounds: vec![round(decks)],
        set_aside: Vec::new(),
        earlier: None,
        instructions: None,
    }
}
