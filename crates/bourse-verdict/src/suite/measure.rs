//! Measures of a cell, each with title, unit, and its source in a round and among published figures.

use crate::suite::definition::PublishedFigures;
use bourse_record::{Outcome, Round};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

bourse_record::named! {
    /// Measure of a cell.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Measure {
        /// Operations per second, compared with the printed rate.
        Rate = "{counted}/s",
        /// Operations per second, compared with the rate that follows from the printed time: for tables whose printed rates
        /// and times contradict one another.
        RateFromTimes = "{counted}/s, the published ones computed from the published times",
        /// Time for all of the work, in milliseconds.
        TimeMs = "time, ms",
        /// Time for all of the work, in seconds.
        TimeS = "time, s",
        /// Processor time of Bourse's process, in percent of one core.
        Cpu = "processor time, % of one core",
        /// Processor time of Bourse's process and of the server's, in percent of all processors of the machine.
        MachineBusy = "processors busy with client and server, % of all",
        /// Largest size of write-ahead log or rollback journal, in bytes.
        LogPeak = "log or journal, peak",
        /// Size of the database at the end, in bytes.
        Size = "database",
        /// Memory used on the machine, in bytes: mean over the measurement interval.
        MemoryUsed = "memory used on the machine",
        /// Growth of the memory used on the machine, in bytes, from before the measurement interval to its end.
        MemoryGrowth = "growth of the memory used on the machine",
        /// Memory free on the machine, in bytes: mean over the measurement interval.
        MemoryFree = "memory free on the machine",
        /// Swap used on the machine, in bytes: mean over the measurement interval.
        SwapUsed = "swap used on the machine",
        /// Mean number of users inside an operation.
        InEngine = "users inside transactions, on average",
        /// Mean number of those users that perform operations for the market exchange.
        InMarket = "of them the market's users, on average",
        /// Mean number of users in a sync of the storage.
        InSyncs = "users in syncs of the storage, on average",
        /// Mean number of users waiting for a lock.
        WaitingForLocks = "users waiting for locks, on average",
    }
}

/// Format of a measure's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureFormat {
    /// A plain number.
    Number,
    /// Bytes.
    Bytes,
    /// Percent.
    Percent,
}

impl Measure {
    /// Title of the measure; `counted` is the unit that is counted.
    pub fn title(self, counted: &str) -> String {
        self.name().replace("{counted}", counted)
    }

    /// Format of the measure's numbers.
    pub const fn unit(self) -> MeasureFormat {
        match self {
            Self::Rate | Self::RateFromTimes | Self::TimeMs | Self::TimeS => MeasureFormat::Number,
            Self::InEngine | Self::InMarket | Self::InSyncs | Self::WaitingForLocks => MeasureFormat::Number,
            Self::LogPeak | Self::Size => MeasureFormat::Bytes,
            Self::MemoryUsed | Self::MemoryGrowth | Self::MemoryFree | Self::SwapUsed => MeasureFormat::Bytes,
            Self::Cpu | Self::MachineBusy => MeasureFormat::Percent,
        }
    }

    /// Whether the measure is for all of the work together, so that another amount of work cannot be compared.
    pub const fn is_total(self) -> bool {
        matches!(self, Self::TimeMs | Self::TimeS | Self::LogPeak | Self::Size)
    }

    /// Published figure, if there is one; `work` is the number of operations that the published time covers.
    pub fn published(self, published: &PublishedFigures, work: Option<u64>) -> Option<f64> {
        match self {
            Self::Rate => published.rate.or_else(|| rate(published, work)),
            Self::RateFromTimes => rate(published, work),
            Self::TimeMs => published.mean_ms,
            Self::TimeS => published.mean_ms.map(|ms| ms / 1e3),
            Self::Cpu => published.cpu_percent,
            Self::LogPeak | Self::Size => published.bytes,
            Self::MemoryUsed => published.memory_bytes,
            _ => None,
        }
    }

    /// Figure of a round on `cores` cores, if recorded. `done` operations were completed in `seconds`.
    pub(crate) fn measured(self, round: &Round, done: u64, seconds: f64, cores: u32) -> Option<f64> {
        let positive = |value: f64| (value.is_finite() && value > 0.0).then_some(value);
        match self {
            Self::Rate | Self::RateFromTimes => positive(done as f64 / seconds),
            Self::TimeMs => positive(seconds * 1e3),
            Self::TimeS => positive(seconds),
            Self::Cpu => positive(seconds).map(|seconds| 100.0 * (round.cpu_user_s + round.cpu_system_s) / seconds),
            Self::MachineBusy => {
                let server = mean(round, "server_cpu_user")? + mean(round, "server_cpu_system")?;
                let client = (round.cpu_user_s + round.cpu_system_s) / positive(seconds)?;
                positive(100.0 * (client + server) / f64::from(cores))
            }
            Self::LogPeak => {
                let told = LARGEST.iter().filter_map(|name| fact(round, name)).reduce(|log, journal| log + journal);
                let peak = |metric| values(round, metric).max_by(f64::total_cmp);
                told.or_else(|| match (peak("log_bytes"), peak("journal_bytes")) {
                    (None, None) => None,
                    (log, journal) => Some(log.unwrap_or(0.0) + journal.unwrap_or(0.0)),
                })
            }
            Self::Size => samples(round, "data_bytes").last().map(|(_, bytes)| bytes),
            Self::MemoryUsed => mean(round, "machine_memory_used_bytes"),
            Self::MemoryGrowth => {
                let (from, to) = measurement(round);
                let used = || samples(round, "machine_memory_used_bytes");
                let (begin, first) = used().filter(|(time, _)| *time <= from).last().or_else(|| used().next())?;
                let (end, last) = used().filter(|(time, _)| *time <= to).last()?;
                (end > begin).then_some(last - first)
            }
            Self::MemoryFree => mean(round, "machine_memory_free_bytes"),
            Self::SwapUsed => mean(round, "machine_swap_used_bytes"),
            Self::InEngine => positive(seconds).map(|seconds| busy_s(round, |_| true) / seconds),
            Self::InMarket => {
                let of_market = |name: &str| MARKET.contains(&name);
                positive(seconds).map(|seconds| busy_s(round, of_market) / seconds)
            }
            Self::InSyncs => {
                let spent = round.io.iter().map(|file| file.sync_ns).sum::<Option<u64>>();
                let spent = spent.filter(|_| !round.io.is_empty());
                spent.filter(|_| seconds > 0.0).map(|ns| ns as f64 / 1e9 / seconds)
            }
            Self::WaitingForLocks => mean(round, "lock_wait"),
        }
    }
}

/// Operations of the brokerage workload that the market exchange requests.
const MARKET: [&str; 2] = ["Trade-Result", "Market-Feed"];

/// Total time inside operations with those names, in seconds.
fn busy_s(round: &Round, wanted: impl Fn(&str) -> bool) -> f64 {
    let operations = round.operations.iter().filter(|operation| wanted(&operation.name));
    let of = |it: &bourse_record::LatencySummary| it.mean_ns * it.count as f64 / 1e9;
    operations.map(|operation| of(&operation.service.summary)).sum()
}

/// Facts of a round with the largest sizes, from workloads that sample more often than once a second.
const LARGEST: [&str; 2] = ["write-ahead log, largest", "rollback journal, largest"];

fn rate(published: &PublishedFigures, work: Option<u64>) -> Option<f64> {
    Some(work? as f64 / (published.mean_ms? / 1e3))
}

fn fact(round: &Round, name: &str) -> Option<f64> {
    round.facts.iter().find(|fact| fact.name == name)?.value.strip_suffix(" bytes")?.parse().ok()
}

/// Start and end of the measurement interval, in seconds, including the sample that closes it.
fn measurement(round: &Round) -> (f64, f64) {
    let measured = round.phases.iter().find(|phase| phase.kind == bourse_record::PhaseKind::Measurement);
    measured.map_or((0.0, f64::MAX), |phase| (phase.from_s, phase.to_s + 0.5))
}

/// Samples of a metric over the whole round: time in seconds, and value.
fn samples<'r>(round: &'r Round, metric: &str) -> impl Iterator<Item = (f64, f64)> + 'r {
    let column = round.series.columns.iter().find(|column| column.metric == metric);
    let times = round.series.time_s.iter().copied();
    column
        .into_iter()
        .flat_map(move |column| times.clone().zip(&column.values))
        .filter_map(|(time, value)| Some((time, (*value)?)))
}

/// Values of a metric in the measurement interval.
fn values<'r>(round: &'r Round, metric: &str) -> impl Iterator<Item = f64> + 'r {
    let (from, to) = measurement(round);
    samples(round, metric).filter(move |(time, _)| *time > from && *time <= to).map(|(_, value)| value)
}

fn mean(round: &Round, metric: &str) -> Option<f64> {
    let (sum, count) = values(round, metric).fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Word in place of an operation's name for all of them together.
const ALL_OPERATIONS: &str = "all";

/// Numbers of completed and failed executions of an operation, or of [`ALL_OPERATIONS`]; the first by default.
pub(crate) fn counts(round: &Round, operation: Option<&str>) -> (u64, u64) {
    let wanted = |(at, name): (usize, &str)| match operation {
        Some(ALL_OPERATIONS) => true,
        Some(wanted) => name == wanted,
        None => at == 0,
    };
    let found = round.operations.iter().enumerate().filter(|(at, it)| wanted((*at, &it.name)));
    found.fold((0, 0), |(valid, failed), (_, operation)| {
        let lost = operation.outcomes.iter().filter(|each| matches!(each.outcome, Outcome::Failed | Outcome::Dropped));
        (valid + operation.valid(), failed + lost.map(|each| each.count).sum::<u64>())
    })
}
