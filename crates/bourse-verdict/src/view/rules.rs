//! Rules of the specification, and whether a run met them. Even if it met all, it is no published result: the notice says
//! so.

use super::case::measured;
use super::validity::{SCALE_RULE_PERCENT, percent_of_nominal};
use super::{CaseView, OperationView};
use crate::units;
use bourse_record::{CheckStatus, Durability, Scale, Steady, Tunables, WorkloadKind};

bourse_record::named! {
    /// Whether a rule was met.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RuleStatus {
        /// The rule was met.
        Yes = "met",
        /// The rule was not met.
        No = "not met",
        /// Not in the run file, or the run was too short.
        Unknown = "unknown",
    }
}

/// A rule, and whether the run met it.
pub struct RuleResult {
    pub name: &'static str,
    pub demands: &'static str,
    pub status: RuleStatus,
    pub found: String,
}

type RuleQuestion = fn(&CaseView<'_>) -> (RuleStatus, String);

/// Name, demand and question. Clauses are given if known.
const RULES: [(&str, &str, RuleQuestion); 18] = [
    ("throughput ratio", "throughput from 80 % to 102 % of customers / scale factor", ratio),
    ("customers for the rate", "500 customers for each Trade-Result a second, 2 % fewer at most", customers_for_rate),
    ("customers", "at least 5,000 configured customers", customers),
    ("initial days", "300 days of initial trades", initial_days),
    (
        "mix",
        "each transaction's share within its tolerance (Clause 6.2), Trade-Results as the market's age has them due",
        mix,
    ),
    ("response limits", "90 % of each transaction within its limit (Clause 6.5)", response_limits),
    ("response means", "no mean above the 90th percentile", response_means),
    ("no errors", "no transaction fails", no_errors),
    ("maintenance", "Data-Maintenance every 60 s, each ended within 55 s", maintenance),
    ("interval", "at least two hours measured", interval),
    (
        "steady state",
        "the interval is shown to be in steady state: no trend of throughput beyond 10 %, no other change beyond 15 %, no log that grows",
        steady_state,
    ),
    ("windows of 10 minutes", "each within 20 % of the result", |view| windows(view, 600.0, 60.0, 20.0)),
    ("windows of an hour", "each within 2 % of the result", |view| windows(view, 3600.0, 600.0, 2.0)),
    (
        "isolation",
        "Trade-Result serializable; Trade-Order, Market-Feed, Trade-Update repeatable read; the others read committed (Clause \
         7.4.1)",
        isolation,
    ),
    ("durability", "an acknowledged commit survives power loss", durability),
    ("growth space", "room for 60 days of eight hours at the rate measured", growth_space),
    ("consistency", "the consistency conditions hold after the run (Clause 7.3)", consistency),
    ("tunables", "inputs as the specification has them", tunables),
];

/// The rules, for TPC-E-derived workloads; empty for others.
pub fn rules(view: &CaseView<'_>) -> Vec<RuleResult> {
    if view.case.workload.kind != WorkloadKind::Brokerage {
        return Vec::new();
    }
    let ask = |&(name, demands, ask): &(&'static str, &'static str, RuleQuestion)| {
        let (status, found) = ask(view);
        RuleResult { name, demands, status, found }
    };
    RULES.iter().map(ask).collect()
}

/// Line about the rules that were not met; `None` if all were met, or there are none.
pub fn not_tpce(view: &CaseView<'_>) -> Option<String> {
    let rules = rules(view);
    let broken: Vec<&str> = rules.iter().filter(|rule| rule.status == RuleStatus::No).map(|rule| rule.name).collect();
    let of = rules.len();
    (!broken.is_empty())
        .then(|| format!("not a TPC-E configuration: {} of {of} rules not met: {}", broken.len(), broken.join(", ")))
}

fn yes_or_no(kept: bool) -> RuleStatus {
    if kept { RuleStatus::Yes } else { RuleStatus::No }
}

fn unknown() -> (RuleStatus, String) {
    (RuleStatus::Unknown, "the run file does not say".to_owned())
}

fn ratio(view: &CaseView<'_>) -> (RuleStatus, String) {
    let (Some(percent), Some(figure), Some(nominal)) =
        (percent_of_nominal(view), view.results_per_second(), view.case.workload.nominal)
    else {
        return unknown();
    };
    let (low, high) = SCALE_RULE_PERCENT;
    let unit = units::printable(&view.case.workload.headline_unit);
    let found =
        format!("{} of {} {unit}: {} {unit}", units::percent(percent), units::plain(nominal), units::number(figure));
    (yes_or_no((low..=high).contains(&percent)), found)
}

fn customers_for_rate(view: &CaseView<'_>) -> (RuleStatus, String) {
    let (Some(customers), Some(figure)) = (
        view.conditions().scale.map(|scale| scale.customers as f64),
        view.results_per_second().filter(|figure| *figure > 0.0),
    ) else {
        return unknown();
    };
    let each = customers / figure;
    let needed = (figure * 500.0 / 1000.0).ceil() * 1000.0;
    let found = format!(
        "{} for each; {} would be needed at that rate",
        units::significant(each, 3),
        units::counted(needed as u64, "customer", "customers")
    );
    (yes_or_no(each >= 500.0 * 100.0 / SCALE_RULE_PERCENT.1), found)
}

fn at_least(view: &CaseView<'_>, of: fn(Scale) -> u64, least: u64) -> (RuleStatus, String) {
    view.conditions()
        .scale
        .map(of)
        .map_or_else(unknown, |value| (yes_or_no(value >= least), units::plain(value as f64)))
}

fn customers(view: &CaseView<'_>) -> (RuleStatus, String) {
    at_least(view, |scale| scale.customers, 5_000)
}

fn initial_days(view: &CaseView<'_>) -> (RuleStatus, String) {
    at_least(view, |scale| scale.initial_days, 300)
}

/// Judges the operations that `ask` gives a share of their limit and a text, by the largest share: met if none is above 1.
fn worst(view: &CaseView<'_>, ask: impl Fn(&OperationView) -> Option<(f64, String)>) -> (RuleStatus, String) {
    let mut asked: Vec<(f64, String)> = view
        .operations
        .iter()
        .filter_map(|operation| {
            let (share, words) = ask(operation)?;
            Some((share, format!("{} {words}", units::printable(&operation.name))))
        })
        .collect();
    asked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some((first, words)) = asked.first() else { return unknown() };
    if *first <= 1.0 + 1e-9 {
        return (RuleStatus::Yes, format!("all {}; nearest to it {words}", asked.len()));
    }
    let broken: Vec<&str> = asked.iter().filter(|(share, _)| *share > 1.0 + 1e-9).map(|(_, words)| &**words).collect();
    (RuleStatus::No, broken.join(", "))
}

fn mix(view: &CaseView<'_>) -> (RuleStatus, String) {
    worst(view, |operation| {
        let share = operation.share_percent?;
        // A market that has just opened owes fewer Trade-Results than the mix of a steady one has.
        let target = operation.expected_percent.or(operation.target_percent)?;
        let tolerance = operation.tolerance_points.filter(|tolerance| *tolerance > 0.0)?;
        let words = match operation.expected_percent {
            Some(_) => format!("{share:.2} % of {target:.2} ± {tolerance:.2} %"),
            None => format!("{share:.2} % of {} ± {tolerance:.2} %", units::plain(target)),
        };
        Some(((share - target).abs() / tolerance, words))
    })
}

fn response_limits(view: &CaseView<'_>) -> (RuleStatus, String) {
    let p90_of = |operation: &OperationView| operation.response.quantile_ns(0.9).zip(operation.limit_ns);
    let (status, found) = worst(view, |operation| {
        let (p90, limit) = p90_of(operation).filter(|_| !operation.is_too_few(0.9))?;
        let limit = limit as f64;
        let found = if p90.is_finite() { units::duration_ns(p90) } else { "not answered".to_owned() };
        let words = format!("{found} of {}", units::seconds(limit / 1e9));
        Some((p90 / limit, words))
    });
    let too_few = view.operations.iter().filter(|it| p90_of(it).is_some() && it.is_too_few(0.9));
    let too_few: Vec<String> = too_few.map(|it| units::printable(&it.name)).collect();
    if status == RuleStatus::No || too_few.is_empty() {
        return (status, found);
    }
    (RuleStatus::Unknown, format!("too few to tell of {}", too_few.join(", ")))
}

fn response_means(view: &CaseView<'_>) -> (RuleStatus, String) {
    worst(view, |operation| {
        let summary = operation.response.summary.filter(|_| operation.limit_ns.is_some())?;
        let (mean, p90) = (summary.mean_ns, summary.p90_ns as f64);
        let words = format!("mean {}, p90 {}", units::duration_ns(mean), units::duration_ns(p90));
        Some((if p90 > 0.0 { mean / p90 } else { 0.0 }, words))
    })
}

/// Data-Maintenance runs every 60 s: as many as fit into each round, if a second is left for the last.
fn maintenance(view: &CaseView<'_>) -> (RuleStatus, String) {
    const PERIOD_S: f64 = 60.0;
    const LONGEST_NS: u64 = 55_000_000_000;
    let Some(operation) = view.operations.iter().find(|operation| operation.name == "Data-Maintenance") else {
        return unknown();
    };
    let fit = |round: &bourse_record::Round| {
        if round.measured_s < 2.0 { 0 } else { 1 + ((round.measured_s - 2.0) / PERIOD_S) as u64 }
    };
    let wanted: u64 = view.case.rounds.iter().map(fit).sum();
    let longest = operation.response.summary.map_or(0, |summary| summary.max_ns);
    let done = operation.valid();
    if wanted == 0 {
        return (RuleStatus::Unknown, "too short for any".to_owned());
    }
    let found = format!(
        "{} in {}, {} due; the longest {}",
        units::count(done),
        units::seconds(view.measured_s()),
        units::count(wanted),
        units::duration_ns(longest as f64)
    );
    (yes_or_no(done >= wanted && longest <= LONGEST_NS), found)
}

fn no_errors(view: &CaseView<'_>) -> (RuleStatus, String) {
    let ended: u64 = view.operations.iter().map(OperationView::ended).sum();
    if ended == 0 {
        return unknown();
    }
    (yes_or_no(view.failed() == 0), format!("{} of {} failed", units::count(view.failed()), units::count(ended)))
}

fn interval(view: &CaseView<'_>) -> (RuleStatus, String) {
    let longest = view.case.rounds.iter().map(|round| round.measured_s).fold(0.0, f64::max);
    (yes_or_no(longest >= 7200.0), units::seconds(longest))
}

fn steady_state(view: &CaseView<'_>) -> (RuleStatus, String) {
    let rounds = view.steadiness();
    let Some(worst) = rounds.iter().find(|it| it.steady == Steady::No) else {
        return match rounds.iter().find(|it| it.steady == Steady::Unknown).or(rounds.first()) {
            None => unknown(),
            Some(found) if found.steady == Steady::Yes => (RuleStatus::Yes, found.evidence()),
            Some(found) => (RuleStatus::Unknown, format!("{}: {}", found.steady.name(), found.evidence())),
        };
    };
    (RuleStatus::No, worst.evidence())
}

/// Whether the means of all sliding windows of that length are near the result.
fn windows(view: &CaseView<'_>, length_s: f64, step_s: f64, within_percent: f64) -> (RuleStatus, String) {
    let metric = view.case.workload.headline_metric();
    let mut worst: Option<f64> = None;
    for round in &view.case.rounds {
        let rates = measured(round, &metric);
        let Some(off) = worst_window_percent(&rates, round.headline, length_s, step_s) else {
            return (RuleStatus::Unknown, format!("too short to tell: {} measured", units::seconds(round.measured_s)));
        };
        worst = Some(worst.map_or(off, |worst| worst.max(off)));
    }
    worst
        .map_or_else(unknown, |worst| (yes_or_no(worst <= within_percent), format!("within {}", units::percent(worst))))
}

/// Largest deviation of the mean of any sliding window, in percent of the result; `None` if no window fits.
fn worst_window_percent(rates: &[(f64, f64)], result: f64, length_s: f64, step_s: f64) -> Option<f64> {
    let (first, last) = (rates.first()?.0, rates.last()?.0);
    let mut worst: Option<f64> = None;
    let mut from = first;
    // A second's value carries the time of its end, so a window of n seconds has n values from its first one on.
    while from + length_s <= last + 1.0 + 1e-6 && result > 0.0 {
        let within = rates.iter().filter(|(time, _)| *time >= from && *time < from + length_s).map(|(_, rate)| rate);
        let (sum, count) = within.fold((0.0, 0_u32), |(sum, count), rate| (sum + rate, count + 1));
        if count > 0 {
            let off = 100.0 * (sum / f64::from(count) - result).abs() / result;
            worst = Some(worst.map_or(off, |worst| worst.max(off)));
        }
        from += step_s;
    }
    worst
}

fn isolation(view: &CaseView<'_>) -> (RuleStatus, String) {
    let levels = &view.conditions().isolation;
    if levels.is_empty() {
        return unknown();
    }
    match super::isolation_not_given(levels) {
        None => (RuleStatus::Yes, super::isolation_words(levels)),
        Some(short) => (RuleStatus::No, short),
    }
}

fn durability(view: &CaseView<'_>) -> (RuleStatus, String) {
    let engine = &view.case.engine;
    let class = engine.durability;
    let why = units::printable(&engine.durability_reason);
    let found = if why.is_empty() { class.to_string() } else { format!("{class}: {why}") };
    let kept = if class == Durability::Unknown { unknown().0 } else { yes_or_no(class == Durability::Durable) };
    (kept, found)
}

/// Measured growth over the time for which the specification requires room, compared with the available room.
fn growth_space(view: &CaseView<'_>) -> (RuleStatus, String) {
    const MAX_AGE_DAYS: f64 = 60.0;
    const DAY_S: f64 = 8.0 * 3600.0;
    let growth = view.case.rounds.iter().filter_map(|round| {
        let sizes = measured(round, "data_bytes");
        let ((from, first), (to, last)) = (sizes.first()?, sizes.last()?);
        (to > from).then(|| ((last - first) / (to - from)).max(0.0))
    });
    let Some(each_second) = growth.reduce(f64::max) else { return unknown() };
    let needed = each_second * DAY_S * MAX_AGE_DAYS;
    let grew = format!("{} a second, {} in 60 days", units::bytes(each_second), units::bytes(needed));
    match view.conditions().free_bytes.map(|bytes| bytes as f64) {
        Some(free) => (yes_or_no(free >= needed), format!("{grew}; free {}", units::bytes(free))),
        None => (RuleStatus::Unknown, grew),
    }
}

fn tunables(view: &CaseView<'_>) -> (RuleStatus, String) {
    let found = view.conditions().tunables;
    found.map_or_else(unknown, |it| (yes_or_no(it == Tunables::Specification), it.name().to_owned()))
}

fn consistency(view: &CaseView<'_>) -> (RuleStatus, String) {
    let (passed, failed) = (view.checks_that(CheckStatus::Passed), view.checks_that(CheckStatus::Failed));
    match (passed, failed) {
        (0, 0) => (RuleStatus::Unknown, "nothing was checked".to_owned()),
        (_, 0) => (RuleStatus::Yes, format!("{} passed", units::counted(passed, "check", "checks"))),
        _ => (RuleStatus::No, format!("{} failed", units::counted(failed, "check", "checks"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_compared_with_the_result() {
        let steady: Vec<(f64, f64)> = (1..=1200).map(|second| (f64::from(second), 100.0)).collect();
        assert_eq!(worst_window_percent(&steady, 100.0, 600.0, 60.0), Some(0.0));
        assert_eq!(worst_window_percent(&steady, 100.0, 3600.0, 600.0), None, "no window of an hour in 20 minutes");
        let falling: Vec<(f64, f64)> =
            (1..=1200).map(|second| (f64::from(second), if second <= 600 { 150.0 } else { 50.0 })).collect();
        assert_eq!(worst_window_percent(&falling, 100.0, 600.0, 60.0), Some(50.0));
    }
}
