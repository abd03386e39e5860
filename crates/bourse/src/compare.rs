//! `bourse compare`: two stored runs, or two targets run in turn: how large the difference is, how sure, and whether it is
//! beyond a tolerance.

use crate::args::{Compare, CompareFormat, Run, Said};
use crate::failure::{Exit, Failure};
use crate::output::{print, print_report, store};
use crate::report;
use crate::tpce::run::{measure, verdict};
use bourse_record::{Case, CheckStatus, Interval, Round, RunFile, median, median_interval, ratio_interval};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// Rounds on each of two targets, unless told otherwise: fewer give no interval worth its name.
const ROUNDS: u32 = 7;
/// How long a round waits for a quiet machine, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(20);

/// Compares, prints, and fails if the second is surely slower by more than what is tolerated.
pub(crate) fn compare(arguments: &Compare) -> Result<(), Failure> {
    let stored = [&arguments.base, &arguments.head].map(|run| Path::new(run).exists());
    let (pairs, notes) = match stored {
        [true, true] => stored_pairs(arguments)?,
        [false, false] => measured_pairs(arguments)?,
        _ => {
            return Err(Failure::usage("a stored run and a target cannot be compared")
                .hint("name two runs (folders, or run.json files) or two targets (URLs)"));
        }
    };
    let tolerance = arguments.fail_above.unwrap_or(TOLERANCE);
    let compared: Vec<Comparison> = pairs.iter().map(|pair| Comparison::of(pair, tolerance)).collect();
    print(&match arguments.format() {
        CompareFormat::Text => text(&compared, &notes, tolerance),
        CompareFormat::Markdown => markdown(&compared, &notes, tolerance),
        CompareFormat::Json => {
            let whole = serde_json::json!({ "tolerance": tolerance, "comparisons": compared, "notes": notes });
            format!("{whole:#}\n")
        }
    })?;
    let Some(tolerance) = arguments.fail_above else { return Ok(()) };
    let worse: Vec<String> = compared
        .iter()
        .filter(|it| it.result().interval.is_some_and(|interval| interval.high < 1.0 - tolerance))
        .map(|it| format!("{}: {}", it.head, it.result().difference()))
        .collect();
    if worse.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::Regression, format!("slower by more than {}", percent(tolerance)))
        .detail("found", worse.join("\n")))
}

impl Compare {
    /// How to print: `--json` is understood here as everywhere.
    fn format(&self) -> CompareFormat {
        if self.settings.output.json { CompareFormat::Json } else { self.format }
    }
}

/// What is called no difference where nobody says what is tolerated.
const TOLERANCE: f64 = 0.05;

/// Two cases to compare.
struct Pair {
    base: Case,
    head: Case,
    /// Whether their rounds took turns, so that the first goes with the first.
    in_turn: bool,
}

fn stored_pairs(arguments: &Compare) -> Result<(Vec<Pair>, Vec<String>), Failure> {
    let (base, head) = (report::read(Path::new(&arguments.base))?, report::read(Path::new(&arguments.head))?);
    let mut notes = differences(&base, &head);
    let same_count = base.cases.len() == head.cases.len();
    let by_label = base.cases.iter().any(|case| head.cases.iter().any(|other| other.label == case.label));
    let mut pairs = Vec::new();
    let mut others: Vec<Option<Case>> = head.cases.into_iter().map(Some).collect();
    for (at, case) in base.cases.into_iter().enumerate() {
        let place = if by_label {
            others.iter().position(|other| other.as_ref().is_some_and(|other| other.label == case.label))
        } else {
            same_count.then_some(at)
        };
        match place.and_then(|at| others[at].take()) {
            Some(other) => pairs.push(Pair { base: case, head: other, in_turn: false }),
            None => notes.push(format!("{} is in the first run only", case.label)),
        }
    }
    notes.extend(others.into_iter().flatten().map(|case| format!("{} is in the second run only", case.label)));
    if pairs.is_empty() {
        return Err(Failure::usage("the two runs have no case in common").hint("compare runs of the same cases"));
    }
    for pair in &pairs {
        sound(pair)?;
        notes.extend(unlike(pair));
    }
    Ok((pairs, notes))
}

fn measured_pairs(arguments: &Compare) -> Result<(Vec<Pair>, Vec<String>), Failure> {
    let mut settings = arguments.settings.clone();
    if !settings.sweep.is_empty() || settings.find_max {
        return Err(Failure::usage(
            "two targets are compared at one setting: --sweep and --find-max have no place here",
        ));
    }
    settings.rounds.get_or_insert(ROUNDS);
    settings.wait_quiet.get_or_insert(PATIENCE);
    let run = Run {
        targets: vec![arguments.base.clone(), arguments.head.clone()],
        settings,
        part: None,
        token: arguments.token.clone(),
        said: Said::default(),
    };
    let (file, outcome) = measure("compare", &run)?;
    store(&file, &run.settings.output)?;
    if arguments.format() == CompareFormat::Text {
        print_report(&file)?;
    }
    outcome?;
    verdict(&file, run.settings.require_steady)?;
    let notes = file.warnings.clone();
    let mut cases = file.cases.into_iter();
    let (Some(base), Some(head)) = (cases.next(), cases.next()) else {
        return Err(Failure::new(Exit::Target, "not both targets were measured"));
    };
    let pair = Pair { base, head, in_turn: true };
    let notes = notes.into_iter().chain(unlike(&pair)).collect();
    Ok((vec![pair], notes))
}

/// Refuses what is no figure.
fn sound(pair: &Pair) -> Result<(), Failure> {
    for case in [&pair.base, &pair.head] {
        for (at, round) in case.rounds.iter().enumerate() {
            let name = format!("{}, round {} of {}", case.label, at + 1, case.rounds.len());
            let failed: Vec<_> = round.checks.iter().filter(|it| it.status == CheckStatus::Failed).collect();
            if !failed.is_empty() {
                let names: Vec<_> = failed.iter().map(|check| check.name.as_str()).collect();
                return Err(Failure::new(Exit::Check, format!("{name} is void: checks of its database failed"))
                    .detail("failed", names.join(", ")));
            }
            if let Some(why) = &round.void {
                return Err(Failure::new(Exit::Target, format!("{name} is void: {why}")));
            }
        }
    }
    if pair.base.workload.headline_unit != pair.head.workload.headline_unit {
        return Err(Failure::usage(format!(
            "{} counts {}, {} counts {}",
            pair.base.label, pair.base.workload.headline_unit, pair.head.label, pair.head.workload.headline_unit
        )));
    }
    Ok(())
}

/// What about two runs makes their difference one of something else, in words.
fn differences(base: &RunFile, head: &RunFile) -> Vec<String> {
    let mut notes = Vec::new();
    let (one, other) = (&base.machine, &head.machine);
    if (&one.processor, one.cores, &one.system) != (&other.processor, other.cores, &other.system) {
        notes.push(format!(
            "other machines: {} with {} cores ({}) and {} with {} cores ({})",
            one.processor, one.cores, one.system, other.processor, other.cores, other.system
        ));
    }
    if base.build.profile != head.build.profile {
        notes.push(format!("a {} build and a {} build", base.build.profile, head.build.profile));
    }
    notes.push("the runs did not take turns: what changed on the machine in between is in the difference".to_owned());
    notes
}

/// What about two cases makes their difference one of something else, in words.
fn unlike(pair: &Pair) -> Vec<String> {
    let mut notes = Vec::new();
    let (base, head) = (&pair.base, &pair.head);
    if base.engine.durability != head.engine.durability {
        notes.push(format!(
            "durability differs ({} and {}): what survives less is not the same work done faster",
            base.engine.durability, head.engine.durability
        ));
    }
    let dull = ["seed", "free space", "95 % interval of the median"];
    for parameter in base.workload.parameters.iter().filter(|it| !dull.contains(&it.name.as_str())) {
        let other = head.workload.parameters.iter().find(|other| other.name == parameter.name);
        if let Some(other) = other.filter(|other| other.value != parameter.value) {
            notes.push(format!("{} differs: {} and {}", parameter.name, parameter.value, other.value));
        }
    }
    notes
}

/// How two cases differ, metric by metric; the first is the result.
#[derive(Debug, Serialize)]
struct Comparison {
    base: String,
    head: String,
    metrics: Vec<Difference>,
}

/// How a metric differs.
#[derive(Debug, Serialize)]
struct Difference {
    name: String,
    base: f64,
    head: f64,
    /// Head divided by base.
    ratio: f64,
    /// 95 % of it; none of too few rounds.
    #[serde(serialize_with = "ends")]
    interval: Option<Interval>,
    verdict: &'static str,
    #[serde(skip)]
    text: fn(f64) -> String,
}

fn ends<S: serde::Serializer>(interval: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    interval.map(|interval| [interval.low, interval.high]).serialize(serializer)
}

/// A metric of a round: name, whether more is better, value, text.
type Metric = (&'static str, bool, fn(&Round, &str) -> Option<f64>, fn(f64) -> String);

const METRICS: [Metric; 5] = [
    ("result", true, |round, _| Some(round.headline), plain),
    ("response p90", false, |round, name| Some(response(round, name)?.p90_ns as f64), milliseconds),
    ("response p99", false, |round, name| Some(response(round, name)?.p99_ns as f64), milliseconds),
    (
        "processor time each",
        false,
        |round, name| Some((round.cpu_user_s + round.cpu_system_s) * 1e9 / valid(round, name)?),
        milliseconds,
    ),
    ("written each", false, |round, name| Some(round.written_bytes as f64 / valid(round, name)?), kibibytes),
];

fn response(round: &Round, name: &str) -> Option<bourse_record::LatencySummary> {
    let operation = round.operations.iter().find(|operation| operation.name == name)?;
    Some(operation.response.summary).filter(|summary| summary.count > 0)
}

fn valid(round: &Round, name: &str) -> Option<f64> {
    let operation = round.operations.iter().find(|operation| operation.name == name)?;
    Some(operation.valid() as f64).filter(|valid| *valid > 0.0)
}

fn plain(value: f64) -> String {
    if value >= 1_000.0 { format!("{value:.0}") } else { format!("{value:.4}").chars().take(6).collect() }
}

fn milliseconds(ns: f64) -> String {
    format!("{:.3} ms", ns / 1e6)
}

fn kibibytes(bytes: f64) -> String {
    format!("{:.1} KiB", bytes / 1_024.0)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

impl Comparison {
    fn of(pair: &Pair, tolerance: f64) -> Self {
        let name = &pair.base.workload.headline_operation;
        let metrics = METRICS.iter().filter_map(|(title, higher, of, text)| {
            let values = |case: &Case| -> Vec<f64> {
                case.rounds.iter().filter_map(|round| of(round, name)).filter(|value| value.is_finite()).collect()
            };
            let (base, head) = (values(&pair.base), values(&pair.head));
            let (one, other) = (median(&base)?, median(&head)?);
            if one <= 0.0 {
                return None;
            }
            let interval = if pair.in_turn && base.len() == head.len() {
                // Rounds that took turns met the same moods of the machine: their ratios scatter less than they do.
                let ratios: Vec<f64> = base.iter().zip(&head).map(|(base, head)| head / base).collect();
                median_interval(&ratios)
            } else {
                ratio_interval(&base, &head)
            };
            let title = if *title == "result" { pair.base.workload.headline_unit.clone() } else { (*title).to_owned() };
            Some(Difference {
                name: title,
                base: one,
                head: other,
                ratio: other / one,
                interval,
                verdict: judged(interval, *higher, tolerance),
                text: *text,
            })
        });
        Self { base: pair.base.label.clone(), head: pair.head.label.clone(), metrics: metrics.collect() }
    }

    /// The metric that decides.
    fn result(&self) -> &Difference {
        &self.metrics[0]
    }
}

impl Difference {
    fn difference(&self) -> String {
        let change = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
        match self.interval {
            None => format!("{} (too few rounds for an interval)", change(self.ratio)),
            Some(Interval { low, high }) => {
                format!("{} (95 % interval {} to {})", change(self.ratio), change(low), change(high))
            }
        }
    }
}

/// What an interval of head divided by base says.
fn judged(interval: Option<Interval>, higher_is_better: bool, tolerance: f64) -> &'static str {
    let Some(Interval { low, high }) = interval else { return "too few rounds to tell" };
    let (better, worse) = if higher_is_better { ("faster", "slower") } else { ("less", "more") };
    if low > 1.0 {
        if higher_is_better { better } else { worse }
    } else if high < 1.0 {
        if higher_is_better { worse } else { better }
    } else if low >= 1.0 - tolerance && high <= 1.0 + tolerance {
        "no difference shown"
    } else {
        "too noisy to tell"
    }
}

fn text(compared: &[Comparison], notes: &[String], tolerance: f64) -> String {
    let mut out = String::new();
    for it in compared {
        out.push_str(&format!("A: {}\nB: {}\n", it.base, it.head));
        for metric in &it.metrics {
            out.push_str(&format!(
                "  {:<20} A {:>12}  B {:>12}  {:<48} {}\n",
                metric.name,
                (metric.text)(metric.base),
                (metric.text)(metric.head),
                metric.difference(),
                metric.verdict
            ));
        }
        out.push_str(&format!("verdict: B is {}\n\n", sentence(it.result(), tolerance)));
    }
    for note in notes {
        out.push_str(&format!("note: {note}\n"));
    }
    out
}

/// The verdict as it ends «B is …».
fn sentence(result: &Difference, tolerance: f64) -> String {
    match result.verdict {
        "no difference shown" => format!("not shown to differ: within {}", percent(tolerance)),
        "too noisy to tell" => "too noisy to tell from A: more rounds, or a quieter machine, could".to_owned(),
        "too few rounds to tell" => "not to be told from A by so few rounds: --rounds 7 could".to_owned(),
        other => format!("{other}: {}", result.difference()),
    }
}

fn markdown(compared: &[Comparison], notes: &[String], tolerance: f64) -> String {
    let mut out = String::new();
    for it in compared {
        let cell = |text: &str| text.replace('|', "\\|");
        out.push_str(&format!("**B is {}**\n\n", sentence(it.result(), tolerance)));
        out.push_str(&format!("A: `{}`, B: `{}`\n\n", it.base.replace('`', "'"), it.head.replace('`', "'")));
        out.push_str("| metric | A | B | difference | verdict |\n|---|---:|---:|---|---|\n");
        for metric in &it.metrics {
            let (base, head) = ((metric.text)(metric.base), (metric.text)(metric.head));
            let row = [&metric.name, &base, &head, &metric.difference(), metric.verdict].map(cell);
            out.push_str(&format!("| {} |\n", row.join(" | ")));
        }
        out.push('\n');
    }
    for note in notes {
        out.push_str(&format!("- {note}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_from_the_interval_and_the_tolerance() {
        let of = |low, high| judged(Some(Interval { low, high }), true, 0.05);
        assert_eq!(of(1.01, 1.10), "faster");
        assert_eq!(of(0.80, 0.99), "slower");
        assert_eq!(of(0.98, 1.03), "no difference shown");
        assert_eq!(of(0.90, 1.20), "too noisy to tell");
        assert_eq!(judged(None, true, 0.05), "too few rounds to tell");
        assert_eq!(judged(Some(Interval { low: 1.1, high: 1.2 }), false, 0.05), "more");
    }
}
