//! Whether a measurement interval was in steady state: asked of its one-second series, not assumed.
//!
//! Four questions, each with what was found beside what is demanded: does throughput rise or fall, do response times, do
//! parts of the interval differ, and does the log go on growing. A trend is Theil and Sen's slope with its interval from
//! Kendall's statistic, over blocks of seconds so long that a block says nothing of the next: neighbouring seconds are alike,
//! and a test that takes them for independent finds trends everywhere.

use crate::{FileKind, PhaseKind, Round};

/// What a steadiness test, or all of them together, came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    /// In steady state, as far as an interval of that length can show.
    Yes,
    /// Not in steady state.
    No,
    /// The interval is too short, or its seconds differ too much, to tell.
    Unknown,
}

impl Steady {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "steady",
            Self::No => "not steady",
            Self::Unknown => "too short or too uneven to tell",
        }
    }
}

/// One question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyTest {
    /// Name of the test.
    pub name: &'static str,
    /// The requirement.
    pub demands: String,
    /// The measured value.
    pub found: String,
    /// Whether the round was in steady state.
    pub steady: Steady,
}

/// Whether a round was in steady state, with the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Steadiness {
    /// No if any test says so, else unknown if any does not know.
    pub steady: Steady,
    /// The tests.
    pub tests: Vec<SteadyTest>,
}

/// Seconds without which nothing is told.
const LEAST: usize = 20;
/// How much throughput may rise or fall over the whole interval.
const THROUGHPUT_CHANGE: f64 = 0.10;
/// How much the seconds' 99th percentiles may: they scatter more, and a limit is seconds away.
const RESPONSE_CHANGE: f64 = 0.50;
/// How far a fifth of the interval may be off its mean: the specification's bound for its shorter windows.
const PART_OFF: f64 = 0.20;
/// How much larger the log may become in the second half.
const LOG_GROWTH: f64 = 0.10;

impl Steadiness {
    /// Of a round whose headline is that operation's.
    pub fn of(round: &Round, headline: &str) -> Self {
        let throughput = within(round, "throughput");
        if throughput.len() < LEAST {
            let test = SteadyTest {
                name: "length",
                demands: format!("at least {LEAST} seconds"),
                found: format!("{} seconds", throughput.len()),
                steady: Steady::Unknown,
            };
            return Self { steady: Steady::Unknown, tests: vec![test] };
        }
        let mut tests = vec![
            trend("trend of throughput", &throughput, THROUGHPUT_CHANGE),
            parts(&within(round, &format!("throughput.{headline}"))),
        ];
        let response = within(round, "response_ns_p99");
        if response.len() >= LEAST {
            tests.push(trend("trend of response times, p99", &response, RESPONSE_CHANGE));
        }
        tests.extend(log(&within(round, "log_bytes"), log_written(round)));
        tests.extend(pace(round));
        let any = |wanted| tests.iter().any(|test| test.steady == wanted);
        let steady = if any(Steady::No) {
            Steady::No
        } else if any(Steady::Unknown) {
            Steady::Unknown
        } else {
            Steady::Yes
        };
        Self { steady, tests }
    }

    /// What speaks against it, or else what was found, in a line.
    pub fn evidence(&self) -> String {
        let against: Vec<&SteadyTest> = self.tests.iter().filter(|test| test.steady == self.steady).collect();
        let words = |test: &&SteadyTest| format!("{}: {}", test.name, test.found);
        against.iter().map(words).collect::<Vec<_>>().join("; ")
    }
}

/// A metric's values of the measurement interval.
fn within(round: &Round, metric: &str) -> Vec<f64> {
    let Some(values) = round.series.column(metric) else { return Vec::new() };
    let measured = round.phases.iter().find(|phase| phase.kind == PhaseKind::Measurement);
    let Some(phase) = measured else { return Vec::new() };
    let times = round.series.time_s.iter().zip(values);
    // A row carries the time of its end: the first that lies in the interval as a whole ends a second into it.
    let inside = times.filter(|(time, _)| **time >= phase.from_s + 0.5 && **time <= phase.to_s + 1e-6);
    inside.filter_map(|(_, value)| value.filter(|value| value.is_finite())).collect()
}

/// A relative change over the whole interval, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    by: f64,
    low: f64,
    high: f64,
}

fn trend(name: &'static str, values: &[f64], tolerance: f64) -> SteadyTest {
    let demands = format!("no change of more than {:.0} % over the interval", 100.0 * tolerance);
    let Some(change) = change(values) else {
        return SteadyTest { name, demands, found: "nothing to tell from".to_owned(), steady: Steady::Unknown };
    };
    let steady = if change.by.abs() <= tolerance {
        Steady::Yes
    } else if change.low > 0.0 || change.high < 0.0 {
        Steady::No
    } else {
        Steady::Unknown
    };
    let percent = |part: f64| format!("{:+.1} %", 100.0 * part);
    let found = format!("{} (95 % interval {} to {})", percent(change.by), percent(change.low), percent(change.high));
    SteadyTest { name, demands, found, steady }
}

/// Theil and Sen's slope times the length, relative to the median; none of values that are nothing.
fn change(values: &[f64]) -> Option<Change> {
    /// Slopes are taken of every pair of blocks.
    const MOST: usize = 300;
    const FEWEST: usize = 10;
    let mut size = values.len().div_ceil(MOST).max(1);
    let mut means = blocks(values, size);
    while autocorrelation(&means) > 0.3 && values.len() / (2 * size) >= FEWEST {
        size *= 2;
        means = blocks(values, size);
    }
    let middle = crate::median(&means).filter(|middle| *middle > 0.0)?;
    let count = means.len();
    let mut slopes = Vec::with_capacity(count * (count - 1) / 2);
    for (at, first) in means.iter().enumerate() {
        slopes.extend(
            means.iter().enumerate().skip(at + 1).map(|(later, second)| (second - first) / (later - at) as f64),
        );
    }
    slopes.sort_by(f64::total_cmp);
    let n = count as f64;
    let width = 1.96 * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let pairs = slopes.len() as f64;
    let bound = |place: f64| slopes[(place.max(0.0) as usize).min(slopes.len() - 1)];
    let over = |slope: f64| slope * n / middle;
    Some(Change {
        by: over(crate::median(&slopes)?),
        low: over(bound(((pairs - width) / 2.0).floor() - 1.0)),
        high: over(bound(((pairs + width) / 2.0).ceil())),
    })
}

/// Means of so many values in a row; what is left over at the end goes with the last.
fn blocks(values: &[f64], size: usize) -> Vec<f64> {
    let count = (values.len() / size).max(1);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let block = |at: usize| mean(&values[at * size..if at + 1 == count { values.len() } else { (at + 1) * size }]);
    (0..count).map(block).collect()
}

/// How much a value tells of the next, from -1 to 1.
fn autocorrelation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let common: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if variance > 0.0 { common / variance } else { 0.0 }
}

/// Fifths of the interval against the whole: a dent in the middle is no trend.
fn parts(values: &[f64]) -> SteadyTest {
    const PARTS: usize = 5;
    let name = "fifths of the interval";
    let whole = values.iter().sum::<f64>() / values.len().max(1) as f64;
    if values.len() < LEAST || whole <= 0.0 {
        let found = "nothing was completed".to_owned();
        return SteadyTest { name, demands: "something to be completed".to_owned(), found, steady: Steady::Unknown };
    }
    let worst = blocks(values, values.len() / PARTS).iter().map(|part| (part / whole - 1.0).abs()).fold(0.0, f64::max);
    // Few events scatter: three standard deviations of their number belong to no change.
    let chance = 3.0 / (whole * values.len() as f64 / PARTS as f64).sqrt();
    let allowed = PART_OFF.max(chance);
    SteadyTest {
        name,
        demands: format!("each within {:.0} % of the result", 100.0 * allowed),
        found: format!("within {:.1} %", 100.0 * worst),
        steady: if worst <= allowed { Steady::Yes } else { Steady::No },
    }
}

/// What the engine wrote to its log in the interval, where it counts that.
fn log_written(round: &Round) -> Option<f64> {
    round.io.iter().find(|files| files.kind == FileKind::Log).map(|log| log.written_bytes as f64)
}

/// The log of changes: it may rise and fall, and it may stay, but it must not go on growing. None where there is none.
///
/// A log that stays as large as it is may be written over from its beginning each time its changes were moved into the
/// database: how often, what was written to it tells.
fn log(values: &[f64], written: Option<f64>) -> Option<SteadyTest> {
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    if values.len() < LEAST || largest(values) <= 0.0 {
        return None;
    }
    let (first, second) = values.split_at(values.len() / 2);
    let (before, after) = (largest(first), largest(second));
    let growth = after / before.max(1.0) - 1.0;
    let cycles = falls(values);
    let mib = |bytes: f64| format!("{:.1} MiB", bytes / (1 << 20) as f64);
    let over = written.filter(|_| cycles == 0).map(|written| written / after.max(before));
    let shape = match (cycles, over) {
        (0, None) => "reused in place".to_owned(),
        (0, Some(over)) => format!("written over {over:.1} times in place"),
        (1, _) => "one cycle of growing and being cut".to_owned(),
        (many, _) => format!("{many} cycles of growing and being cut"),
    };
    // A log that was cut once may be in its first cycle of a longer rhythm; one that stays where it is, is not.
    let steady = match (growth <= LOG_GROWTH, cycles) {
        (true, 1) => Steady::Unknown,
        (true, 0) if over.is_some_and(|over| over < 2.0) => Steady::Unknown,
        (true, _) => Steady::Yes,
        (false, _) => Steady::No,
    };
    Some(SteadyTest {
        name: "log of changes",
        demands: format!(
            "at most {:.0} % larger in the second half; its cycle, if it has one, seen twice",
            100.0 * LOG_GROWTH
        ),
        found: format!("at most {} and then {}, {shape}", mib(before), mib(after)),
        steady,
    })
}

/// How often a saw-tooth fell by more than half of its height.
fn falls(values: &[f64]) -> usize {
    let mut peak = 0.0_f64;
    let mut count = 0;
    for &value in values {
        if value < peak / 2.0 {
            count += 1;
            peak = value;
        }
        peak = peak.max(value);
    }
    count
}

/// Whether what was due was done, where a schedule said what was due.
fn pace(round: &Round) -> Option<SteadyTest> {
    /// What waits at a chance moment, and what the schedule's last second brings.
    const LEFT: f64 = 0.01;
    let arrivals = round.arrivals.filter(|arrivals| arrivals.due > 0)?;
    let left = (arrivals.dropped + arrivals.unstarted) as f64 / arrivals.due as f64;
    Some(SteadyTest {
        name: "pace",
        demands: format!("at least {:.0} % of what was due started", 100.0 * (1.0 - LEFT)),
        found: format!("{:.2} %", 100.0 * (1.0 - left)),
        steady: if left <= LEFT { Steady::Yes } else { Steady::No },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Phase, Series, SplitMix};

    /// A round of 10 s of warm-up and `rates.len()` measured seconds, with response times and log as given.
    fn round(rates: &[f64], log: impl Fn(usize) -> f64, arrivals: Option<Arrivals>) -> Round {
        let mut series = Series::default();
        for second in 0..10 {
            series.push(f64::from(second + 1), [("throughput".to_owned(), Some(1.0))]);
        }
        for (second, rate) in rates.iter().enumerate() {
            let row = [("throughput", rate * 10.0), ("throughput.x", *rate), ("response_ns_p99", 1e9 / rate)];
            let row = row.map(|(name, value)| (name.to_owned(), Some(value)));
            let log = ("log_bytes".to_owned(), Some(log(second)));
            series.push((second + 11) as f64, row.into_iter().chain([log]));
        }
        let phase = |kind, from_s, to_s| Phase { kind, from_s, to_s };
        let end = 10.0 + rates.len() as f64;
        // What a round of years ago had: fields that came later have their defaults.
        let round = r#"{
            "offset_s": 0, "phases": [], "measured_s": 1, "headline": 1, "operations": [], "cpu_user_s": 0,
            "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
            "checks": [], "warnings": []
        }"#;
        Round {
            phases: vec![phase(PhaseKind::WarmUp, 0.0, 10.0), phase(PhaseKind::Measurement, 10.0, end)],
            arrivals,
            series,
            ..serde_json::from_str(round).unwrap()
        }
    }

    fn steady(rates: &[f64], log: impl Fn(usize) -> f64) -> Steadiness {
        Steadiness::of(&round(rates, log, None), "x")
    }

    /// 100 a second with a scatter of a tenth, times a shape.
    fn rates(seconds: usize, seed: u64, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = SplitMix::new(seed);
        let scatter = |random: &mut SplitMix| 0.9 + 0.2 * random.unit();
        (0..seconds).map(|second| 100.0 * shape(second as f64 / seconds as f64) * scatter(&mut random)).collect()
    }

    #[test]
    fn what_neither_rises_nor_falls_is_steady() {
        let wrong = (0..200).filter(|&seed| steady(&rates(60, seed, |_| 1.0), |_| 0.0).steady != Steady::Yes).count();
        assert!(wrong <= 2, "{wrong} of 200");
    }

    #[test]
    fn neighbours_that_are_alike_make_no_trend() {
        // A slow wave of a minute: each second is like the last.
        let wave = rates(600, 1, |at| 1.0 + 0.1 * (at * 10.0 * std::f64::consts::TAU).sin());
        let found = steady(&wave, |_| 0.0);
        assert_eq!(found.steady, Steady::Yes, "{found:?}");
    }

    #[test]
    fn a_trend_a_dent_and_a_step_are_found() {
        for (name, shape) in [
            ("falling", (|at| 1.2 - 0.4 * at) as fn(f64) -> f64),
            ("rising", |at| 0.8 + 0.4 * at),
            ("a dent", |at| if (0.4..0.6).contains(&at) { 0.5 } else { 1.0 }),
            ("a step", |at| if at < 0.5 { 1.0 } else { 0.6 }),
        ] {
            let missed = (0..50).filter(|&seed| steady(&rates(60, seed, shape), |_| 0.0).steady != Steady::No).count();
            assert_eq!(missed, 0, "{name}");
        }
    }

    #[test]
    fn a_log_may_cycle_or_stay_but_not_grow() {
        let flat = rates(60, 2, |_| 1.0);
        let mib = f64::from(1 << 20);
        let log = |shape: &dyn Fn(usize) -> f64| {
            let found = steady(&flat, shape);
            found.tests.into_iter().find(|test| test.name == "log of changes").map(|test| test.steady)
        };
        assert_eq!(log(&|_| 0.0), None);
        assert_eq!(log(&|_| 4.0 * mib), Some(Steady::Yes));
        assert_eq!(log(&|second| (second % 20) as f64 * mib), Some(Steady::Yes));
        assert_eq!(log(&|second| second as f64 * mib), Some(Steady::No));
        let once = |second: usize| if second < 25 { second as f64 * mib } else { mib };
        assert_eq!(log(&once), Some(Steady::Unknown), "one cycle shows no rhythm");
        // Of 4 MiB that stay, what was written tells how often they were written over.
        for (written_mib, expected) in [(6, Steady::Unknown), (9, Steady::Yes)] {
            let mut round = round(&flat, |_| 4.0 * mib, None);
            let (syncs, writes, reads, read_bytes) = (0, 0, 0, 0);
            let written_bytes = written_mib << 20;
            round.io = vec![crate::FileActivity {
                kind: FileKind::Log,
                syncs,
                sync_ns: None,
                writes,
                written_bytes,
                reads,
                read_bytes,
            }];
            let found = Steadiness::of(&round, "x");
            let test = found.tests.iter().find(|test| test.name == "log of changes").unwrap();
            assert_eq!(test.steady, expected, "{}", test.found);
        }
    }

    #[test]
    fn short_intervals_and_lost_pace_are_told() {
        let short = steady(&rates(19, 3, |_| 1.0), |_| 0.0);
        assert_eq!((short.steady, short.evidence().as_str()), (Steady::Unknown, "length: 19 seconds"));
        let flat = rates(60, 4, |_| 1.0);
        let behind = Arrivals { due: 1_000, started: 980, unstarted: 20, ..Arrivals::default() };
        let found = Steadiness::of(&round(&flat, |_| 0.0, Some(behind)), "x");
        assert_eq!((found.steady, found.evidence().as_str()), (Steady::No, "pace: 98.00 %"));
    }
}
