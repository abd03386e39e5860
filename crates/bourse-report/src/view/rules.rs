//! Which rules of the specification a run kept. Kept or not, it is no published result: the notice says so.

use super::case::measured;
use super::standing::{SCALE_RULE_PERCENT, percent_of_nominal};
use super::{CaseView, OperationView};
use crate::units;
use bourse_record::CheckStatus;

/// Whether a rule was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Yes,
    No,
    /// The run file does not tell, or the run was too short to.
    Unknown,
}

impl Kept {
    /// As every output says it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Yes => "kept",
            Self::No => "not kept",
            Self::Unknown => "not known",
        }
    }
}

/// What became of a rule.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) demands: &'static str,
    pub(crate) kept: Kept,
    pub(crate) found: String,
}

type Ask = fn(&CaseView<'_>) -> (Kept, String);

/// Name, demand, question.
const RULES: [(&str, &str, Ask); 12] = [
    ("scale", "throughput from 80 % to 102 % of customers / scale factor", scale),
    ("customers", "at least 5,000 configured customers", customers),
    ("initial days", "300 days of initial trades", initial_days),
    ("mix", "each transaction's share within its tolerance", mix),
    ("response limits", "90 % of each transaction within its limit", response_limits),
    ("response means", "no mean above the 90th percentile", response_means),
    ("no errors", "no transaction fails", no_errors),
    ("interval", "at least two hours measured", interval),
    ("steady state", "windows of 10 minutes within 20 %, of an hour within 2 % of the result", steady_state),
    ("isolation", "no transaction below the level its clause demands", isolation),
    ("durability", "an acknowledged commit survives power loss", durability),
    ("consistency", "the consistency conditions hold after the run", consistency),
];

/// The rules, for TPC-E-derived workloads; empty for others.
pub(crate) fn rules(view: &CaseView<'_>) -> Vec<Rule> {
    if view.case.workload.name != "tpce" {
        return Vec::new();
    }
    let ask = |&(name, demands, ask): &(&'static str, &'static str, Ask)| {
        let (kept, found) = ask(view);
        Rule { name, demands, kept, found }
    };
    RULES.iter().map(ask).collect()
}

fn yes_or_no(kept: bool) -> Kept {
    if kept { Kept::Yes } else { Kept::No }
}

fn unknown() -> (Kept, String) {
    (Kept::Unknown, "the run file does not say".to_owned())
}

fn scale(view: &CaseView<'_>) -> (Kept, String) {
    percent_of_nominal(view).map_or_else(unknown, |percent| {
        let (low, high) = SCALE_RULE_PERCENT;
        (yes_or_no((low..=high).contains(&percent)), format!("{} of nominal", units::percent(percent)))
    })
}

fn at_least(view: &CaseView<'_>, names: &[&str], least: f64) -> (Kept, String) {
    view.number(names).map_or_else(unknown, |value| (yes_or_no(value >= least), units::plain(value)))
}

fn customers(view: &CaseView<'_>) -> (Kept, String) {
    at_least(view, &["customers", "configured customers"], 5000.0)
}

fn initial_days(view: &CaseView<'_>) -> (Kept, String) {
    at_least(view, &["initial days", "initial trade days", "days of initial trades", "days"], 300.0)
}

/// Yes if all say yes, no if any says no; names those who do.
fn each(view: &CaseView<'_>, ask: impl Fn(&OperationView) -> Option<bool>) -> (Kept, String) {
    let asked: Vec<_> = view.operations.iter().filter_map(|operation| Some((operation, ask(operation)?))).collect();
    let broken: Vec<_> = asked.iter().filter(|(_, kept)| !kept).map(|(operation, _)| operation.name.as_str()).collect();
    match (asked.len(), broken.len()) {
        (0, _) => unknown(),
        (all, 0) => (Kept::Yes, format!("all {all}")),
        _ => (Kept::No, format!("not by {}", units::printable(&broken.join(", ")))),
    }
}

fn mix(view: &CaseView<'_>) -> (Kept, String) {
    each(view, OperationView::mix_kept)
}

fn response_limits(view: &CaseView<'_>) -> (Kept, String) {
    each(view, OperationView::limit_kept)
}

fn response_means(view: &CaseView<'_>) -> (Kept, String) {
    each(view, |operation| {
        let summary = operation.response.summary.filter(|_| operation.limit_ns.is_some())?;
        Some(summary.mean_ns <= summary.p90_ns as f64)
    })
}

fn no_errors(view: &CaseView<'_>) -> (Kept, String) {
    let ended: u64 = view.operations.iter().map(OperationView::ended).sum();
    if ended == 0 {
        return unknown();
    }
    (yes_or_no(view.failed() == 0), format!("{} of {} failed", units::count(view.failed()), units::count(ended)))
}

fn interval(view: &CaseView<'_>) -> (Kept, String) {
    let longest = view.case.rounds.iter().map(|round| round.measured_s).fold(0.0, f64::max);
    (yes_or_no(longest >= 7200.0), units::seconds(longest))
}

fn steady_state(view: &CaseView<'_>) -> (Kept, String) {
    let too_short = || (Kept::Unknown, "too short to tell: windows are 10 minutes and an hour long".to_owned());
    let metric = format!("throughput.{}", view.case.workload.headline_operation);
    let mut worst = [0.0_f64; 2];
    for round in &view.case.rounds {
        let rates = measured(round, &metric);
        for (worst, (length_s, step_s)) in worst.iter_mut().zip([(600.0, 60.0), (3600.0, 600.0)]) {
            let Some(off) = worst_window_percent(&rates, round.headline, length_s, step_s) else { return too_short() };
            *worst = worst.max(off);
        }
    }
    if view.case.rounds.is_empty() {
        return too_short();
    }
    let found = format!("10 minutes within {}, an hour within {}", units::percent(worst[0]), units::percent(worst[1]));
    (yes_or_no(worst[0] <= 20.0 && worst[1] <= 2.0), found)
}

/// How far, in percent of the result, the mean of any sliding window is off; none if not one window fits.
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

fn isolation(view: &CaseView<'_>) -> (Kept, String) {
    let Some(level) = view.parameter(&["isolation", "isolation level"]) else { return unknown() };
    let plain = level.to_lowercase();
    let kept = if plain.contains("serializable") || plain.contains("specification") {
        Kept::Yes
    } else if plain.contains("snapshot") || plain.contains("read ") || plain.contains("none") {
        Kept::No
    } else {
        Kept::Unknown
    };
    (kept, units::printable(level))
}

fn durability(view: &CaseView<'_>) -> (Kept, String) {
    let class = &view.case.engine.durability;
    (yes_or_no(class == "durable"), units::printable(class))
}

fn consistency(view: &CaseView<'_>) -> (Kept, String) {
    let (passed, failed) = (view.checks_that(CheckStatus::Passed), view.checks_that(CheckStatus::Failed));
    match (passed, failed) {
        (0, 0) => (Kept::Unknown, "nothing was checked".to_owned()),
        (_, 0) => (Kept::Yes, format!("{} passed", units::counted(passed, "check", "checks"))),
        _ => (Kept::No, format!("{} failed", units::counted(failed, "check", "checks"))),
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
