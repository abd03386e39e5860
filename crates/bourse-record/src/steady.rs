//! Test of a measurement interval for steady state, by its series.
//!
//! Throughput is judged by [`bourse_stats::steady`]: yes, no, or undetermined. Its blocks are as long as the cycle in
//! which the log is moved into the database, if one is detected. Further tests cover changes of response times, growth
//! of the log, and the pace of a schedule.

use crate::{FileKind, PhaseKind, Round, Series, Workload, WorkloadKind};
use bourse_stats::steady::{FEWEST_BLOCKS, MeanChange, OTHERS, Shape, Steady, SteadyJudgement, judge};
use bourse_stats::stopping::TOLERANCE;

/// One steadiness test with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyTest {
    /// Name of the test.
    pub name: &'static str,
    /// The requirement.
    pub demands: String,
    /// The measured value.
    pub found: String,
    /// Result of the test.
    pub steady: Steady,
}

/// Result of all steadiness tests of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Steadiness {
    /// `No` if any test says so; otherwise `Unknown` if any test but that of response times does, whose scatter alone
    /// is no sign.
    pub steady: Steady,
    /// Tests in order.
    pub tests: Vec<SteadyTest>,
}

/// Number of seconds from which throughput is judged by seconds; a shorter microbenchmark is judged by finer steps.
const SECONDS: usize = 20;
/// Approximate number of steps for a shorter interval.
const STEPS: usize = 100;
/// Tolerated change of the 99th percentile by second: it scatters more than throughput, and limits are seconds away.
const RESPONSE_CHANGE: f64 = 0.50;
/// Tolerated growth of the log in the second half.
const LOG_GROWTH: f64 = 0.10;
/// Name of the test of response times.
const RESPONSE: &str = "response times, p99";

impl Steadiness {
    /// Tests a round of the workload.
    pub fn of(round: &Round, workload: &Workload) -> Self {
        let cycle_s = log_cycle_s(&within(round, "log_bytes"), log_written(round), round.measured_s);
        let mut tests = vec![throughput(round, workload, cycle_s)];
        tests.extend(response(&within(round, "response_ns_p99"), cycle_s));
        tests.extend(log(&within(round, "log_bytes"), log_written(round)));
        tests.extend(pace(round));
        Self::by(tests)
    }

    /// Tests the part of a running brokerage round between two moments as [`Steadiness::of`] does, except for the pace.
    /// `log_written` is the number of bytes that the engine has written to its log since the first moment.
    pub fn so_far(series: &Series, from_s: f64, to_s: f64, log_written: Option<f64>) -> Self {
        let values = |metric| values(series, (from_s, to_s), metric, 1.0);
        let log_bytes = values("log_bytes");
        let cycle_s = log_cycle_s(&log_bytes, log_written, to_s - from_s);
        let mut tests = vec![rate(&values("throughput"), cycle_s, 1.0)];
        tests.extend(response(&values("response_ns_p99"), cycle_s));
        tests.extend(log(&log_bytes, log_written));
        Self::by(tests)
    }

    /// Combined result of the tests.
    fn by(tests: Vec<SteadyTest>) -> Self {
        let any =
            |wanted| tests.iter().any(|test| test.steady == wanted && (wanted == Steady::No || test.name != RESPONSE));
        let steady = if any(Steady::No) {
            Steady::No
        } else if any(Steady::Unknown) {
            Steady::Unknown
        } else {
            Steady::Yes
        };
        Self { steady, tests }
    }

    /// Evidence of the tests that determine the result, on one line.
    pub fn evidence(&self) -> String {
        let deciding = self.tests.iter().filter(|test| test.steady == self.steady);
        let deciding = deciding.filter(|test| self.steady == Steady::No || test.name != RESPONSE);
        let words = |test: &SteadyTest| format!("{}: {}", test.name, test.found);
        let words: Vec<String> = deciding.map(words).collect();
        // If all is steady, the throughput alone is sufficient evidence.
        if self.steady == Steady::Yes { words.into_iter().take(1).collect() } else { words.join("; ") }
    }
}

/// Values of a metric in the measurement interval.
fn within(round: &Round, metric: &str) -> Vec<f64> {
    measured(round).map_or_else(Vec::new, |interval| values(&round.series, interval, metric, 1.0))
}

/// Start and end of the measurement interval, in seconds.
fn measured(round: &Round) -> Option<(f64, f64)> {
    let phase = round.phases.iter().find(|phase| phase.kind == PhaseKind::Measurement)?;
    Some((phase.from_s, phase.to_s))
}

/// Values of the rows, each `step_s` long, that are entirely between two moments.
fn values(series: &Series, (from_s, to_s): (f64, f64), metric: &str, step_s: f64) -> Vec<f64> {
    let Some(values) = series.column(metric) else { return Vec::new() };
    // A row carries the time of its end.
    let inside = |time: f64| time >= from_s + 0.5 * step_s && time <= to_s + 1e-6;
    let times = series.time_s.iter().zip(values).filter(|(time, _)| inside(**time));
    times.filter_map(|(_, value)| value.filter(|value| value.is_finite())).collect()
}

/// Length of a cycle as a number of values; `None` below two values.
fn period(cycle_s: Option<f64>, step_s: f64) -> Option<usize> {
    cycle_s.map(|cycle| (cycle / step_s).round() as usize).filter(|values| *values >= 2)
}

/// Tests the rate: of all transactions of the brokerage, otherwise of the headline operation.
fn throughput(round: &Round, workload: &Workload, cycle_s: Option<f64>) -> SteadyTest {
    let metric = match workload.kind {
        WorkloadKind::Brokerage => "throughput".to_owned(),
        WorkloadKind::Micro => workload.headline_metric(),
    };
    let seconds = within(round, &metric);
    // Of customers and a market even a neighbour's burst is as long as many short steps.
    let (values, step_s) = if seconds.len() >= SECONDS || workload.kind == WorkloadKind::Brokerage {
        (seconds, 1.0)
    } else {
        let fine = &round.throughput_series;
        let times = fine.time_s.len().max(2) as f64 - 1.0;
        let step_s = fine.time_s.first().zip(fine.time_s.last()).map_or(1.0, |(first, last)| (last - first) / times);
        let values = measured(round).map_or_else(Vec::new, |interval| values(fine, interval, &metric, step_s));
        let merged = values.len().div_ceil(STEPS).max(1);
        let means = values.chunks_exact(merged).map(|it| it.iter().sum::<f64>() / merged as f64);
        (means.collect(), step_s * merged as f64)
    };
    rate(&values, cycle_s, step_s)
}

/// Tests rates for steadiness; each value covers `step_s` seconds.
fn rate(values: &[f64], cycle_s: Option<f64>, step_s: f64) -> SteadyTest {
    test("throughput", &judge(values, period(cycle_s, step_s), TOLERANCE), TOLERANCE, step_s)
}

/// Tests the 99th percentile by second; `None` with too few seconds.
fn response(seconds: &[f64], cycle_s: Option<f64>) -> Option<SteadyTest> {
    let judged = (seconds.len() >= SECONDS).then(|| judge(seconds, period(cycle_s, 1.0), RESPONSE_CHANGE))?;
    Some(test(RESPONSE, &judged, RESPONSE_CHANGE, 1.0))
}

/// Result in the form of a test with texts; each value covers `step_s` seconds.
fn test(name: &'static str, judged: &SteadyJudgement, tolerance: f64, step_s: f64) -> SteadyTest {
    let seconds = |values: f64| {
        let seconds = values * step_s;
        if seconds < 9.95 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
    };
    let blocks = judged.block as f64;
    let of = judged.period.map_or("", |_| ", as long as a cycle");
    let found = match judged.change {
        Some(change) => words(change, &|place| seconds(place * blocks * judged.blocks as f64)),
        None => {
            let longer = judged.needs().map(|values| long_enough(values as f64 * step_s));
            let longer = longer.map_or_else(String::new, |s| format!("; needs about {s} s (--for {s}s)"));
            format!(
                "too short: {} of {}{of}, {FEWEST_BLOCKS} are needed{longer}",
                match judged.blocks {
                    0 => "no whole block".to_owned(),
                    1 => "1 block".to_owned(),
                    blocks => format!("{blocks} blocks"),
                },
                seconds(blocks)
            )
        }
    };
    SteadyTest {
        name,
        demands: format!(
            "no trend of more than {:.0} % over the interval, no other change of more than {:.0} %",
            100.0 * tolerance,
            100.0 * OTHERS * tolerance
        ),
        found,
        steady: judged.answer,
    }
}

/// Suggested interval in whole seconds: 10 % more than needed, since the next blocks may be longer; rounded up to tens
/// from 10 s on.
fn long_enough(seconds: f64) -> u64 {
    let seconds = 1.1 * seconds;
    let unit = if seconds < 10.0 { 1.0 } else { 10.0 };
    ((seconds / unit).ceil() * unit) as u64
}

/// Description of a change with its interval.
fn words(change: MeanChange, at: &dyn Fn(f64) -> String) -> String {
    let percent = |part: f64| format!("{:+.1} %", 100.0 * part);
    let size = format!("{} of the mean", percent(change.by));
    let shape = match change.shape {
        Shape::Trend => format!("trend of {size}"),
        Shape::Step { at: place } => format!("step of {size} after {}", at(place)),
        Shape::Bend { at: place } => format!("bend of {size} after {}", at(place)),
        Shape::Stretch { from, to } => format!("{size} from {} to {}", at(from), at(to)),
    };
    let (low, high) = (percent(change.by - change.half_width), percent(change.by + change.half_width));
    format!("{shape} (95 % interval {low} to {high})")
}

/// Cycle of the log in seconds, from filling to moving into the database, if seen at least twice. `values` are its
/// sizes by second; `written` is the number of bytes written to it in `measured_s` seconds.
fn log_cycle_s(values: &[f64], written: Option<f64>, measured_s: f64) -> Option<f64> {
    let falls = falls(values);
    if let (Some(first), Some(last), true) = (falls.first(), falls.last(), falls.len() >= 2) {
        return Some((last - first) as f64 / (falls.len() as f64 - 1.0));
    }
    let largest = values.iter().copied().fold(0.0, f64::max);
    let over = written.filter(|_| falls.is_empty() && largest > 0.0)? / largest;
    (over >= 2.0).then(|| measured_s / over)
}

/// Bytes that the engine wrote to its log in the interval, if it counts them.
fn log_written(round: &Round) -> Option<f64> {
    round.io.iter().find(|files| files.kind == FileKind::Log).map(|log| log.written_bytes as f64)
}

/// Tests the log of changes: it may rise and fall or stay the same, but not grow steadily. `None` without a log.
///
/// A log of constant size may be overwritten from its beginning after each checkpoint; `written` shows how often.
fn log(values: &[f64], written: Option<f64>) -> Option<SteadyTest> {
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    if values.len() < SECONDS || largest(values) <= 0.0 {
        return None;
    }
    let (first, second) = values.split_at(values.len() / 2);
    let (before, after) = (largest(first), largest(second));
    let growth = after / before.max(1.0) - 1.0;
    let cycles = falls(values).len();
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

/// Positions at which a saw-tooth fell by more than half of its height.
fn falls(values: &[f64]) -> Vec<usize> {
    let mut peak = 0.0_f64;
    let mut places = Vec::new();
    for (at, &value) in values.iter().enumerate() {
        if value < peak / 2.0 {
            places.push(at);
            peak = value;
        }
        peak = peak.max(value);
    }
    places
}

/// Tests whether the due operations were started; `None` without a schedule.
fn pace(round: &Round) -> Option<SteadyTest> {
    /// Tolerated share: operations that wait at any moment, and those due in the schedule's last second.
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
    use crate::{Arrivals, Phase, SplitMix};

    /// A round of 10 s of warm-up and `rates.len()` measured seconds, with the given response times and log.
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
        // A round of an old file: later fields have their defaults.
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

    fn workload(kind: WorkloadKind) -> Workload {
        Workload {
            name: "w".to_owned(),
            kind,
            parameters: Vec::new(),
            headline_operation: Some("x".to_owned()),
            headline_unit: "x/s".to_owned(),
            nominal: None,
            outcomes: Vec::new(),
            metric_titles: Vec::new(),
            notice: None,
            per_minute: None,
            has_lasting_rate: true,
        }
    }

    fn steady(rates: &[f64], log: impl Fn(usize) -> f64) -> Steadiness {
        Steadiness::of(&round(rates, log, None), &workload(WorkloadKind::Brokerage))
    }

    /// Rates around 100 per second that scatter by about 5 %, multiplied by a shape.
    fn rates(seconds: usize, seed: u64, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = SplitMix::new(seed);
        let scatter = |random: &mut SplitMix| 0.92 + 0.16 * random.unit();
        (0..seconds).map(|second| 100.0 * shape(second as f64 / seconds as f64) * scatter(&mut random)).collect()
    }

    #[test]
    fn a_level_rate_is_steady_and_changes_of_any_shape_are_not() {
        let level = steady(&rates(60, 1, |_| 1.0), |_| 0.0);
        assert_eq!(level.steady, Steady::Yes, "{level:?}");
        assert!(level.evidence().starts_with("throughput: ") && level.evidence().contains("95 % interval"));
        for (name, shape) in [
            ("trend of -", (|at| 1.2 - 0.4 * at) as fn(f64) -> f64),
            ("step of -3", |at| if at < 0.9 { 1.0 } else { 0.7 }),
            ("bend of", |at| 0.75 + 0.25 * (2.0 * at - 1.0).abs()),
        ] {
            let found = steady(&rates(60, 2, shape), |_| 0.0);
            assert_eq!(found.steady, Steady::No, "{name}");
            assert!(found.evidence().contains(name), "{}", found.evidence());
        }
    }

    #[test]
    fn too_short_an_interval_is_no_answer() {
        let short = steady(&rates(19, 3, |_| 1.0), |_| 0.0);
        assert_eq!(short.steady, Steady::Unknown);
        assert!(short.evidence().starts_with("throughput: too short: "), "{}", short.evidence());
    }

    #[test]
    fn an_interval_that_is_too_short_says_how_long_it_must_be() {
        // A checkpoint each 3 s: 6 blocks in 20 s.
        let log = |second: usize| (second % 3) as f64;
        let level = rates(20, 3, |_| 1.0);
        let short = steady(&level, log);
        let words = "6 blocks of 3.0 s, as long as a cycle, 10 are needed; needs about 40 s (--for 40s)";
        assert!(short.evidence().contains(words), "{}", short.evidence());
        assert_eq!(steady(&rates(40, 3, |_| 1.0), log).steady, Steady::Yes);
        assert_eq!([0.4, 3.0, 30.0, 57.0].map(long_enough), [1, 4, 40, 70]);
    }

    #[test]
    fn blocks_are_as_long_as_the_cycle_of_the_log() {
        // A checkpoint every 25 s takes away a third for 5 s.
        let shape = |second: usize| if second % 25 < 5 { 0.67 } else { 1.0 };
        for (seconds, expected) in [(60, Steady::Unknown), (300, Steady::Yes)] {
            let level = rates(seconds, 4, |_| 1.0);
            let rates: Vec<f64> = level.iter().enumerate().map(|(second, rate)| rate * shape(second)).collect();
            let found = steady(&rates, |second| (second % 25) as f64);
            assert_eq!(found.tests[0].steady, expected, "{found:?}");
            assert!(expected == Steady::Yes || found.evidence().contains("blocks of 25 s, as long as a cycle"));
        }
    }

    #[test]
    fn a_round_that_goes_on_is_asked_what_it_will_be_asked_at_its_end() {
        let level = rates(60, 4, |_| 1.0);
        // A checkpoint every 25 s, a log that grows, responses that become longer, and none of that.
        let cycle: Vec<f64> =
            level.iter().enumerate().map(|(at, it)| if at % 25 < 5 { 0.67 * it } else { *it }).collect();
        let mut slower = round(&level, |_| 0.0, None);
        let longer = slower.series.columns.iter_mut().find(|it| it.metric == "response_ns_p99").unwrap();
        longer.values.iter_mut().flatten().enumerate().for_each(|(at, it)| *it *= 1.0 + at as f64 / 20.0);
        let cases = [
            (round(&level, |_| 0.0, None), Steady::Yes),
            (round(&cycle, |second| (second % 25) as f64, None), Steady::Unknown),
            (round(&level, |second| second as f64, None), Steady::No),
            (slower, Steady::No),
        ];
        for (round, expected) in cases {
            let found = Steadiness::so_far(&round.series, 10.0, 70.0, None);
            assert_eq!(found, Steadiness::of(&round, &workload(WorkloadKind::Brokerage)));
            assert_eq!(found.steady, expected, "{found:?}");
        }
    }

    #[test]
    fn a_round_of_a_few_seconds_is_judged_by_shorter_steps() {
        let mut round = round(&[100.0; 3], |_| 0.0, None);
        for (at, rate) in rates(150, 5, |_| 1.0).into_iter().enumerate() {
            let row = [("throughput.x".to_owned(), Some(rate)), ("throughput".to_owned(), Some(1.0))];
            round.throughput_series.push(10.0 + 0.02 * (at + 1) as f64, row);
        }
        let found = Steadiness::of(&round, &workload(WorkloadKind::Micro));
        assert_eq!(found.steady, Steady::Yes, "{found:?}");
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
        // If the log stays at 4 MiB, the bytes written show how often it was overwritten.
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
            let found = Steadiness::of(&round, &workload(WorkloadKind::Brokerage));
            let test = found.tests.iter().find(|test| test.name == "log of changes").unwrap();
            assert_eq!(test.steady, expected, "{}", test.found);
        }
    }

    #[test]
    fn a_schedule_that_was_not_kept_is_not_steady() {
        let level = rates(60, 4, |_| 1.0);
        let behind = Arrivals { due: 1_000, started: 980, unstarted: 20, ..Arrivals::default() };
        let found = Steadiness::of(&round(&level, |_| 0.0, Some(behind)), &workload(WorkloadKind::Brokerage));
        assert_eq!((found.steady, found.evidence().as_str()), (Steady::No, "pace: 98.00 %"));
    }
}
