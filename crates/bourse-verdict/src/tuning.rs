//! Figures of a search for settings: what the selected settings bring together, and each of them alone.

use bourse_record::{Case, CheckStatus, Round, RunFile, Tuning, Verdict, median};
use bourse_stats::Estimate;
use bourse_stats::signed_rank::{level_of_each, ratio_of_pairs_at};

/// Gain of a selected setting.
#[derive(Debug, Clone, PartialEq)]
pub struct LineGain<'t> {
    /// The option with its value.
    pub change: &'t str,
    /// Ratio of all selected settings to all but this one. The intervals of all lines hold together in 95 % of searches. `None`
    /// if a round has no figure.
    pub gain: Option<Estimate>,
}

impl LineGain<'_> {
    /// Whether the setting is shown to bring something.
    pub fn is_shown(&self) -> bool {
        self.gain.and_then(|it| it.interval).is_some_and(|it| it.low > 1.0)
    }
}

/// Gain of each selected setting, taken away alone, on the pairs of rounds of the proof.
pub fn line_gains<'t>(file: &RunFile, tuning: &'t Tuning) -> Vec<LineGain<'t>> {
    let case = |label: &str| file.cases.iter().find(|case| case.label == label);
    let winner = file.comparison.as_ref().and_then(|it| case(&it.head));
    let of = |without: &Case| {
        let figures = |case: &Case| case.rounds.iter().map(|round| round.figure(&case.workload)).collect::<Vec<_>>();
        let pairs: Vec<(f64, f64)> = figures(without).into_iter().zip(figures(winner?)).collect();
        let is_whole = pairs.iter().all(|(one, other)| one.is_finite() && other.is_finite());
        ratio_of_pairs_at(&pairs, level_of_each(tuning.lines.len())).filter(|_| is_whole)
    };
    let gain = |change, without: &str| LineGain { change, gain: case(without).and_then(of) };
    tuning.lines.iter().map(|line| gain(line.change.as_str(), &line.without)).collect()
}

/// Whether the selected settings are shown to be faster than the defaults, and kept their promise.
pub fn is_won(file: &RunFile, tuning: &Tuning) -> bool {
    let is_kept = tuning.crashes.last().is_none_or(|crash| crash.broken == 0);
    let is_faster = file.comparison.as_ref().is_some_and(|it| it.verdict == Verdict::Faster);
    !tuning.lines.is_empty() && is_kept && is_faster
}

/// Reason that no round of the target as it is has a figure, so that nothing can be faster; `None` if one has, as after a search that
/// proved settings.
pub fn no_base(file: &RunFile, tuning: &Tuning) -> Option<String> {
    let base = file.cases.first().filter(|_| tuning.lines.is_empty())?;
    let whys: Vec<String> = base.rounds.iter().map(|round| reason_void(base, round)).collect::<Option<_>>()?;
    let why = whys.into_iter().next().unwrap_or_else(|| "nothing was measured".to_owned());
    Some(format!("no round of the target as it is has a figure: {why}"))
}

/// Reason that a round's figure is void; `None` if it is not.
fn reason_void(case: &Case, round: &Round) -> Option<String> {
    let failed = round.checks.iter().find(|check| check.status == CheckStatus::Failed);
    let found = failed.map(|it| format!("check {} failed: {}", it.name, it.evidence.replace('\n', "; ")));
    let is_missing = || (!round.figure(&case.workload).is_finite()).then(|| "nothing was measured".to_owned());
    found.or_else(|| round.void.clone()).or_else(is_missing)
}

/// Settings that ran in the race and were not faster than the defaults by the median of their pairs.
pub fn not_faster(tuning: &Tuning) -> Vec<&str> {
    let is_slower = |ratios: &[f64]| median(ratios).is_some_and(|it| it <= 1.0);
    let raced = tuning.race.iter().filter(|it| it.out.is_none() && is_slower(&it.ratios));
    raced.map(|it| it.change.as_str()).collect()
}
