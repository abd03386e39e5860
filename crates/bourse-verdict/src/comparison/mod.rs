//! Comparison of the figures of two cases: ratio, interval and verdict for each metric.

mod disturbance;
mod instructions;
mod metrics;
mod noise;
mod pairs;
pub mod words;

pub use disturbance::Disturbance;
pub use instructions::FunctionDifference;
pub use noise::RunNoise;
pub use pairs::{CasePair, Incomparable, StoredPairs, stored_pairs};

use crate::view::ComparedPlans;
use bourse_record::{Better, Case, Comparison, Evidence, Gate, RunFile, Verdict};
use bourse_stats::{Interval, holm, ratio_of_groups, ratio_of_pairs, sequential, signed_rank};
use metrics::{ComparedMetric, HEADLINE, JUDGED_METRICS, RESPONSE_PREFIX, SHOWN_METRICS, is_whole, of_response};
use serde::Serialize;

/// Default tolerance: two figures within it are called alike.
pub const TOLERANCE: f64 = 0.05;

/// Name of the runs whose two cases are compared.
const COMPARE: &str = "compare";

/// Pairs of cases compared.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedCases {
    /// Part of one by which figures may differ and are still called alike.
    pub tolerance: f64,
    /// A comparison for each pair.
    pub comparisons: Vec<CaseComparison>,
    /// Reasons why the difference may have another cause, a sentence each.
    pub notes: Vec<String>,
    /// Cases that the second run lacks, a sentence each: no gate passes without them.
    pub missing: Vec<String>,
}

/// Comparison of two cases, metric by metric.
#[derive(Debug, Clone, Serialize)]
pub struct CaseComparison {
    /// Label of the baseline case.
    pub base: String,
    /// Label of the candidate case.
    pub head: String,
    /// Differences between the two that may cause one of their figures, a sentence each.
    pub unlike: Vec<String>,
    /// Each metric that both have; the headline first, if both have one.
    pub metrics: Vec<MetricDifference>,
    /// Plans of both sides, if their statements were timed.
    pub plans: ComparedPlans,
    /// Disturbance of each side by other processes.
    pub disturbance: [Disturbance; 2],
    /// The smallest difference that these pairs of rounds could have shown, as a part of one: half of the interval. `None`
    /// for runs that did not take turns.
    pub could_show: Option<f64>,
    /// Difference of two runs by noise alone, as a part of one; differences of runs that did not take turns are judged by
    /// it.
    pub noise: Option<f64>,
    /// Whether the comparison could end at any of several looks, over all of which the level holds.
    pub until_decided: bool,
    /// Factor by which B may be too slow because other processes disturbed it more; below 1 if they disturbed A more. `None`
    /// if they disturbed both alike.
    pub unequal: Option<f64>,
    /// Factor that others may have made of the difference, of a verdict that is withheld because of it; above 1.
    #[serde(skip)]
    pub may_explain: Option<f64>,
    /// Whether instructions decide, and not the headline figure.
    pub by_instructions: bool,
    /// Functions whose instructions differ, the largest difference first; empty unless they were counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionDifference>,
    /// Reason why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_result: Option<&'static str>,
    /// The verdict on the headline.
    pub verdict: Verdict,
}

/// Difference in one metric.
#[derive(Debug, Clone, Serialize)]
pub struct MetricDifference {
    /// Name of the metric; for the headline its unit.
    pub name: String,
    /// Unit of both figures.
    pub unit: String,
    /// Figure of the first case, as in every report of its run.
    pub base: f64,
    /// Figure of the second case.
    pub head: f64,
    /// Head divided by base: of rounds that took turns the Hodges–Lehmann estimate over their pairs, which need not be the ratio of
    /// the two.
    pub ratio: f64,
    /// Interval of the ratio; `None` for too few rounds.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// Level of the interval, at least 0.95.
    pub level: Option<f64>,
    /// Verdict by the interval. `None` for a metric that is shown without a verdict: all but the headline, unless they
    /// differ by Holm's correction.
    pub verdict: Option<Verdict>,
    /// Text of a value.
    #[serde(skip)]
    pub text: fn(f64) -> String,
    /// Direction in which values are better.
    #[serde(skip)]
    pub better: Better,
    /// Probability of such a difference by chance, for rounds that took turns; `None` for a metric that is not judged by it.
    #[serde(skip)]
    p: Option<f64>,
}

fn ends<S: serde::Serializer>(interval: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    interval.map(|interval| [interval.low, interval.high]).serialize(serializer)
}

/// Pairs from which on the metrics other than the headline have verdicts: with fewer not even all pairs on one side would be
/// enough for four of them together.
const PAIRS_FOR_ALL: usize = 8;
/// Probability of a false verdict on any of them.
const FALSE_VERDICT: f64 = 0.05;

impl ComparedCases {
    /// Compares each pair, with the notes of the caller.
    ///
    /// `noise` is the difference between two runs that did not take turns.
    pub fn of(pairs: &[CasePair], mut notes: Vec<String>, tolerance: f64, noise: &RunNoise) -> Self {
        let mut compared = |pair: &CasePair| {
            let floor = if pair.in_turn { Ok(None) } else { noise.of(pair) };
            let floor = floor.unwrap_or_else(|why| {
                notes.push(format!("{}: {why}", pair.head.label));
                None
            });
            CaseComparison::of(pair, tolerance, floor, false)
        };
        let comparisons = pairs.iter().map(&mut compared).collect();
        Self { tolerance, comparisons, notes, missing: Vec::new() }
    }

    /// Compares the cases of two stored runs. `noise` is the difference between two runs that did not take turns.
    pub fn of_stored(stored: StoredPairs, tolerance: f64, noise: &RunNoise) -> Self {
        let StoredPairs { pairs, notes, missing } = stored;
        Self { missing, ..Self::of(&pairs, notes, tolerance, noise) }
    }

    /// Compares the rounds until a look that may end the comparison. Its interval has its level over all looks; metrics
    /// other than the headline, which have no such level, are shown without a verdict.
    pub fn at_look(pair: CasePair, notes: Vec<String>, tolerance: f64) -> Self {
        let comparison = CaseComparison::of(&pair, tolerance, None, true);
        Self { tolerance, comparisons: vec![comparison], notes, missing: Vec::new() }
    }

    /// The comparison that a run was made for: its stored decision, with the drawings of its rounds. For runs of older
    /// versions, which stored none, it is decided now. `None` for other runs.
    pub fn of_run(file: &RunFile) -> Option<Self> {
        let case = |label: &str| file.cases.iter().find(|case| case.label == label);
        let (base, head, tolerance) = match (&file.comparison, file.cases.as_slice()) {
            (Some(stored), _) => (case(&stored.base)?, case(&stored.head)?, stored.tolerance),
            (None, [base, head]) if file.name == COMPARE => (base, head, TOLERANCE),
            _ => return None,
        };
        let pair = CasePair { base: base.clone(), head: head.clone(), in_turn: true };
        pair.check().ok()?;
        let notes = file.warnings.iter().map(ToString::to_string).collect();
        if file.comparison.as_ref().is_some_and(|it| it.by_instructions) {
            // Nothing of it is estimated: the counts alone decide.
            return Some(Self::by_instructions(&[pair], notes, tolerance));
        }
        let mut compared = match file.comparison.as_ref().is_some_and(|it| it.until_decided) {
            true => Self::at_look(pair, notes, tolerance),
            false => Self::of(&[pair], notes, tolerance, &RunNoise::Unknown),
        };
        if let (Some(stored), [comparison]) = (&file.comparison, compared.comparisons.as_mut_slice()) {
            comparison.decided(stored);
        }
        Some(compared)
    }

    /// The first comparison, in the form of the run file; `None` if there is none.
    pub fn stored(&self) -> Option<Comparison> {
        let it = self.comparisons.first()?;
        let result = it.result();
        let interval = result.and_then(|it| it.interval);
        Some(Comparison {
            base: it.base.clone(),
            head: it.head.clone(),
            tolerance: self.tolerance,
            ratio: result.map(|it| it.ratio),
            interval: interval.map(|it| [it.low, it.high]),
            level: interval.map(|it| it.level),
            until_decided: it.until_decided,
            by_instructions: it.by_instructions,
            verdict: it.verdict,
            may_explain: it.may_explain,
        })
    }

    /// Gate over all comparisons: failed if one fails, passed if all pass and the second run lacks no case.
    pub fn gate(&self) -> Gate {
        match () {
            () if !self.with(Gate::Failed).is_empty() => Gate::Failed,
            () if !self.with(Gate::Undecided).is_empty() => Gate::Undecided,
            () => Gate::Passed,
        }
    }

    /// Comparisons with this gate, a sentence each; a missing case is undecided.
    pub fn with(&self, gate: Gate) -> Vec<String> {
        let those = self.comparisons.iter().filter(|it| it.verdict.gate() == gate);
        let sentences = those.map(|it| format!("{}: {}", it.head, words::sentence(it, self.tolerance)));
        let missing = self.missing.iter().filter(|_| gate == Gate::Undecided).cloned();
        sentences.chain(missing).collect()
    }
}

impl CaseComparison {
    fn of(pair: &CasePair, tolerance: f64, noise: Option<f64>, until_decided: bool) -> Self {
        let disturbance = [Disturbance::of(&pair.base), Disturbance::of(&pair.head)];
        let unequal = disturbance::explains(pair);
        let [of_base, of_head] = disturbance::unmeasured(&disturbance);
        // A lead of the second side is explained by what slowed the first, and once: the loop's slowdown is in both factors.
        let explained = [unequal.min(1.0 / of_base), unequal.max(of_head)];
        let headline = match pairs::unlike_ages(&pair.base, &pair.head) {
            None => difference(pair, &HEADLINE, until_decided),
            Some(_) => Err("the market's age differs, and with it the part of Trade-Results in the mix"),
        };
        let no_result = match &headline {
            Ok(_) => None,
            Err(why) => Some(*why),
        };
        let mut may_explain = None;
        let mut undisturbed = |range| match undisturbed(range, explained, tolerance) {
            Ok(evidence) => evidence,
            Err(factor) => {
                may_explain = Some(factor);
                Evidence::Withheld
            }
        };
        let evidence = match &headline {
            Err(_) => Evidence::NoRatio,
            Ok(it) => match (noise, it.interval) {
                (Some(noise), interval) => {
                    let of_rounds = interval.map_or_else(|| extremes(pair, it.ratio), |it| (it.low, it.high));
                    undisturbed(with_noise(it.ratio, of_rounds, noise))
                }
                (None, _) if !pair.in_turn => Evidence::NotAttributable,
                (None, None) => Evidence::NoInterval,
                (None, Some(interval)) => undisturbed((interval.low, interval.high)),
            },
        };
        let verdict = Verdict::of(evidence, tolerance, HEADLINE.better);
        let headline = headline.ok().map(|it| MetricDifference {
            name: pair.base.workload.figure_unit().to_owned(),
            unit: pair.base.workload.figure_unit().to_owned(),
            verdict: Some(verdict),
            ..it
        });
        let interval = headline.as_ref().and_then(|it| it.interval).filter(|_| pair.in_turn);
        let note = of_response(pair);
        let of = |metrics: &[ComparedMetric]| -> Vec<MetricDifference> {
            let whole = metrics.iter().filter(|metric| is_whole(pair, metric));
            let mut found: Vec<MetricDifference> =
                whole.filter_map(|metric| difference(pair, metric, false).ok()).collect();
            found.iter_mut().filter(|it| it.name.starts_with(RESPONSE_PREFIX)).for_each(|it| it.name.push_str(&note));
            found
        };
        let (mut shown, mut others) = (of(&SHOWN_METRICS), of(&JUDGED_METRICS));
        let probabilities: Vec<f64> = others.iter().map(|it| it.p.unwrap_or(1.0)).collect();
        let is_judged = unequal == 1.0 && !until_decided;
        shown.iter_mut().chain(others.iter_mut().filter(|_| !is_judged)).for_each(|it| it.p = None);
        for (other, differs) in others.iter_mut().zip(holm::judge(&probabilities, FALSE_VERDICT)) {
            if let (true, true, Some(interval)) = (differs, is_judged, other.interval) {
                other.verdict =
                    Some(Verdict::of(Evidence::Range(interval.low, interval.high), tolerance, other.better));
            }
        }
        Self {
            base: pair.base.label.clone(),
            head: pair.head.label.clone(),
            unlike: pairs::unlike(pair),
            metrics: headline.into_iter().chain(shown).chain(others).collect(),
            plans: ComparedPlans::of(&pair.base.rounds, &pair.head.rounds),
            disturbance,
            could_show: interval.map(|it| it.map(f64::ln).half_width().exp_m1()),
            noise,
            until_decided,
            by_instructions: false,
            functions: Vec::new(),
            unequal: Some(unequal).filter(|it| *it != 1.0),
            may_explain,
            no_result,
            verdict,
        }
    }

    /// Takes over the decision that was stored when the run ended.
    fn decided(&mut self, stored: &Comparison) {
        self.verdict = stored.verdict;
        self.may_explain = stored.may_explain.or(self.may_explain);
        let has_result = self.no_result.is_none();
        if let (Some(result), true, Some(ratio)) = (self.metrics.first_mut(), has_result, stored.ratio) {
            let interval = stored.interval.zip(stored.level);
            result.ratio = ratio;
            result.interval = interval.map(|([low, high], level)| Interval { low, high, level });
            result.level = stored.level;
            result.verdict = Some(stored.verdict);
            self.could_show = result.interval.map(|it| it.map(f64::ln).half_width().exp_m1());
        }
    }

    /// The metric that decides: the headline. `None` if one of the cases has no figure, or the first a figure of 0.
    pub fn result(&self) -> Option<&MetricDifference> {
        self.metrics.first().filter(|_| self.no_result.is_none())
    }
}

impl MetricDifference {
    /// Name of the verdict, if there is one.
    pub fn verdict_name(&self) -> Option<&'static str> {
        self.verdict.map(|verdict| verdict.name(self.better))
    }

    /// Name of the verdict, or the reason why there is none.
    pub fn verdict_words(&self) -> &'static str {
        let without = if self.p.is_some() { "no difference shown" } else { "not judged" };
        self.verdict_name().unwrap_or(without)
    }
}

/// Difference of a metric between the cases of a pair, without its verdict; the error is the reason why there is no ratio.
fn difference(pair: &CasePair, metric: &ComparedMetric, at_look: bool) -> Result<MetricDifference, &'static str> {
    let values = |case: &Case| -> Vec<Option<f64>> {
        let of = |round| (metric.of_round)(round, &case.workload).filter(|value| value.is_finite());
        case.rounds.iter().map(of).collect()
    };
    let (base, head) = (values(&pair.base), values(&pair.head));
    // Pairs are by round number, even if another round of one side has no figure.
    let pairs: Vec<(f64, f64)> = base.iter().zip(&head).filter_map(|(base, head)| (*base).zip(*head)).collect();
    let flat = |values: Vec<Option<f64>>| -> Vec<f64> { values.into_iter().flatten().collect() };
    let (base, head) = (flat(base), flat(head));
    let of_case = |case: &Case| (metric.of_case)(case).filter(|value| value.is_finite());
    let (Some(one), Some(other)) = (of_case(&pair.base), of_case(&pair.head)) else {
        return Err("a case has no round with a figure");
    };
    // A figure too small to divide by counts as none.
    if one <= 0.0 || !(other / one).is_finite() {
        return Err("the first case's figure is 0, which nothing can be divided by");
    }
    // Rounds that took turns met the same noise: their ratios scatter less than they do.
    let estimate = match (pair.in_turn, at_look) {
        (true, true) => sequential::ratio_at_look(&pairs),
        (true, false) => ratio_of_pairs(&pairs),
        (false, _) => ratio_of_groups(&base, &head),
    };
    // A round with a figure of 0 has no logarithm; the figures still have a ratio. It is also that of rounds that did not take
    // turns: where they scatter by factors, a common ratio of theirs may be far from it.
    let estimate = estimate.filter(|it| it.value.is_finite());
    let ratio = estimate.filter(|_| pair.in_turn).map_or(other / one, |it| it.value);
    let interval = estimate.and_then(|it| it.interval).filter(|it| it.low.is_finite() && it.high.is_finite());
    let interval = interval.map(|it| Interval { low: it.low.min(ratio), high: it.high.max(ratio), ..it });
    let p = signed_rank::p_of_pairs(&pairs).filter(|_| pair.in_turn && pairs.len() >= PAIRS_FOR_ALL);
    Ok(MetricDifference {
        name: metric.name.to_owned(),
        unit: metric.unit.to_owned(),
        base: one,
        head: other,
        ratio,
        interval,
        level: interval.map(|it| it.level),
        verdict: None,
        text: metric.text,
        better: metric.better,
        p,
    })
}

/// Evidence of a range of which disturbances may explain two factors, at its low and at its high end: the wider range if the
/// verdict is the same with and without them; otherwise the error is the factor, above 1, that changes it.
fn undisturbed((low, high): (f64, f64), [lower, higher]: [f64; 2], tolerance: f64) -> Result<Evidence, f64> {
    let of = |low, high| Verdict::of(Evidence::Range(low, high), tolerance, HEADLINE.better);
    match of(low, high) {
        found if found == of(low * lower, high * higher) => Ok(Evidence::Range(low * lower, high * higher)),
        found if found != of(low * lower, high) => Err(1.0 / lower),
        _ => Err(higher),
    }
}

/// Range of the difference of two runs: the union of the range by the noise between runs and that of their rounds.
fn with_noise(ratio: f64, (low, high): (f64, f64), noise: f64) -> (f64, f64) {
    (low.min(ratio / (1.0 + noise)), high.max(ratio * (1.0 + noise)))
}

/// Least and greatest ratio of a round of the second case to one of the first, for cases with too few rounds for an interval;
/// a round with a figure of 0 among those divided by makes the greatest infinite. Of single rounds both are `ratio`.
fn extremes(pair: &CasePair, ratio: f64) -> (f64, f64) {
    let of = |case: &Case| {
        let figures = case.rounds.iter().filter_map(|round| (HEADLINE.of_round)(round, &case.workload));
        figures.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)))
    };
    let ((base_low, base_high), (head_low, head_high)) = (of(&pair.base), of(&pair.head));
    let high = if base_low > 0.0 { head_high / base_low } else { f64::INFINITY };
    (ratio.min(head_low / base_high), ratio.max(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::Interference;

    fn pair(base: &[f64], head: &[f64], taken: [f64; 2]) -> CasePair {
        let case = |figures: &[f64], taken: f64| {
            let round = |figure: &f64| {
                serde_json::json!({
                    "offset_s": 0, "phases": [], "measured_s": 10, "headline": figure, "operations": [],
                    "series": { "time_s": [], "columns": [] }, "cpu_user_s": 0, "cpu_system_s": 0, "read_bytes": 0,
                    "written_bytes": 0, "facts": [], "checks": [], "warnings": [],
                    "interference": { "by_others": taken, "by_kernel": 0.5, "by_host": 0 }
                })
            };
            let case = serde_json::json!({
                "label": "x",
                "engine": { "name": "e", "version": "", "target": "e:", "durability": "durable", "durability_reason": "",
                            "settings": [], "compile_options": [] },
                "workload": { "name": "w", "kind": "micro", "parameters": [], "headline_operation": "o",
                              "headline_unit": "o/s", "nominal": null, "outcomes": [], "notice": null },
                "rounds": figures.iter().map(round).collect::<Vec<_>>(),
            });
            serde_json::from_value::<Case>(case).expect("it is a case")
        };
        CasePair { base: case(base, taken[0]), head: case(head, taken[1]), in_turn: true }
    }

    /// Sentence of the verdict, and the lines below it.
    fn text(compared: &ComparedCases) -> String {
        let it = &compared.comparisons[0];
        let lines = std::iter::once(words::sentence(it, compared.tolerance)).chain(words::context_lines(it));
        lines.map(|line| line + "\n").collect()
    }

    #[test]
    fn figures_of_other_workloads_or_units_are_not_compared() {
        let alike = || pair(&[100.0], &[100.0], [0.0; 2]);
        assert_eq!(alike().check(), Ok(()));
        let refused = |change: fn(&mut bourse_record::Workload)| {
            let mut pair = alike();
            change(&mut pair.head.workload);
            pair.check().unwrap_err().to_string()
        };
        assert_eq!(
            refused(|other| other.name = "v".to_owned()),
            "the first run is w of x and counts o/s, the second is v of x and counts o/s"
        );
        assert_eq!(
            refused(|other| other.headline_unit = "p/s".to_owned()),
            "the first run is w of x and counts o/s, the second is w of x and counts p/s"
        );
    }

    /// A neighbour process that worked only while B ran once made B slower.
    #[test]
    fn a_side_that_was_disturbed_more_gets_no_verdict() {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.9, 100.1];
        let head = base.map(|figure| 0.8 * figure);
        for (taken, verdict) in [
            ([0.0, 0.05], Verdict::SlowerBeyond),
            ([0.6, 0.65], Verdict::SlowerBeyond),
            ([0.0, 0.5], Verdict::Withheld),
            // A disturbance of the faster side did not make the other slower.
            ([0.5, 0.0], Verdict::SlowerBeyond),
        ] {
            let compared = ComparedCases::of(&[pair(&base, &head, taken)], Vec::new(), 0.05, &RunNoise::Unknown);
            let result = compared.comparisons[0].result().expect("there are figures");
            assert_eq!(result.verdict, Some(verdict), "{taken:?}");
            let gate = if verdict == Verdict::SlowerBeyond { Gate::Failed } else { Gate::Undecided };
            assert_eq!((compared.gate(), compared.with(gate).len()), (gate, 1));
            let text = text(&compared);
            let alike =
                "; others took 0.62 CPUs from both sides, so on a quiet machine the difference may be another\n";
            assert_eq!(text.contains(alike), taken == [0.6, 0.65], "{text}");
            let is_shown = text.contains("disturbed by others: A: ");
            assert_eq!(is_shown, taken.iter().any(|taken| *taken > 0.1), "{text}");
        }
    }

    /// A cold and a warm run had +651 % next to figures of which one was 150 times the other.
    #[test]
    fn the_difference_of_runs_that_took_no_turns_is_that_of_their_figures() {
        let cold = [24_321.0, 1_070.0, 840.0, 682.0, 865.0, 264.0];
        let warm = [2_331.0, 2_521.0, 644_756.0, 5_172.0, 262_406.0, 6_241.0];
        let pair = CasePair { in_turn: false, ..pair(&cold, &warm, [0.0; 2]) };
        let compared = ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown);
        let result = compared.comparisons[0].result().expect("there are figures");
        let interval = result.interval.expect("there are rounds enough");
        assert_eq!((result.ratio, result.verdict), (result.head / result.base, Some(Verdict::NotAttributable)));
        assert!(result.ratio > 100.0 && interval.holds(result.ratio) && interval.holds(7.5), "{result:?}");
    }

    /// One stalled round on a busy machine once made a side "disturbed more", and any difference was withheld.
    #[test]
    fn one_stalled_round_is_no_disturbance_of_its_side_and_a_large_difference_stands() {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.9, 100.1];
        let verdict = |factor: f64, slowdowns: [f64; 2], stalled: f64| {
            let mut pair = pair(&base, &base.map(|figure| factor * figure), [1.86, 1.85]);
            for (case, slowdown) in [&mut pair.base, &mut pair.head].into_iter().zip(slowdowns) {
                case.rounds.iter_mut().for_each(|round| round.slowdown = Some(slowdown));
            }
            pair.head.rounds[0].slowdown = Some(stalled);
            ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown).comparisons[0].verdict
        };
        assert_eq!(verdict(0.8, [4.4, 4.4], 300.0), Verdict::SlowerBeyond);
        assert_eq!(verdict(0.8, [2.0, 4.4], 4.4), Verdict::Withheld, "2.2 times is more than the difference");
        assert_eq!(verdict(0.3, [2.0, 4.4], 4.4), Verdict::SlowerBeyond, "and less than this one");
        assert_eq!(verdict(2.5, [2.0, 4.4], 4.4), Verdict::Faster, "faster though disturbed more");
    }

    #[test]
    fn cpus_taken_are_no_fact_of_rounds_that_could_not_measure_them() {
        let of_server = Interference { by_others: 1.9, by_kernel: 0.0, by_host: 0.0, includes_server: true };
        for interference in [None, Some(of_server)] {
            let compared = unmeasured(1.0, interference, 8);
            let text = text(&compared);
            assert!(text.contains("CPUs taken not measured (short rounds,") && !text.contains("0.00 CPUs"), "{text}");
        }
    }

    /// Comparison of eight pairs in which B is by that factor faster, a fixed CPU loop took twice its best time in so many
    /// rounds of each side, and others took so many CPUs.
    fn unmeasured(factor: f64, interference: Option<Interference>, disturbed: usize) -> ComparedCases {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.9, 100.1];
        let mut pair = pair(&base, &base.map(|figure| factor * figure), [0.0; 2]);
        for case in [&mut pair.base, &mut pair.head] {
            for (at, round) in case.rounds.iter_mut().enumerate() {
                (round.interference, round.slowdown) = (interference, Some(if at < disturbed { 2.0 } else { 1.0 }));
            }
        }
        ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown)
    }

    /// A target was once called a third faster than itself by short rounds of which others disturbed nearly all.
    #[test]
    fn rounds_that_others_disturbed_by_an_unknown_amount_decide_only_what_that_cannot_explain() {
        let verdict =
            |factor, interference, disturbed| unmeasured(factor, interference, disturbed).comparisons[0].verdict;
        assert_eq!(verdict(1.35, None, 8), Verdict::Withheld);
        assert_eq!(verdict(1.0, None, 5), Verdict::Withheld);
        assert_eq!(verdict(1.35, None, 4), Verdict::Faster, "half of the rounds were quiet");
        assert_eq!((verdict(3.0, None, 8), verdict(0.1, None, 8)), (Verdict::Faster, Verdict::SlowerBeyond));
        let known = Interference { by_others: 0.6, by_kernel: 0.0, by_host: 0.0, includes_server: false };
        assert_eq!(verdict(1.35, Some(known), 8), Verdict::Faster, "disturbed alike, as was measured");
        let said = text(&unmeasured(1.35, None, 8));
        assert!(
            said.starts_with("withheld: others disturbed most rounds of both sides by an unknown amount"),
            "{said}"
        );
    }

    /// A gain of 300 % once was withheld where the loop had taken 2.6 times its best time on the slower side, since that slowdown
    /// counted twice; and where the faster side alone had been slowed down by as much.
    #[test]
    fn a_lead_is_explained_by_what_slowed_the_other_side_and_once() {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.9, 100.1];
        let compared = |factor: f64, slowdowns: [f64; 2]| {
            let mut pair = pair(&base, &base.map(|figure| factor * figure), [0.0; 2]);
            for (case, slowdown) in [&mut pair.base, &mut pair.head].into_iter().zip(slowdowns) {
                case.rounds.iter_mut().for_each(|it| (it.interference, it.slowdown) = (None, Some(slowdown)));
            }
            ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown)
        };
        for (factor, slowdowns, verdict) in [
            (4.0, [2.6, 1.6], Verdict::Faster),
            (4.0, [1.6, 6.0], Verdict::Faster),
            (0.25, [6.0, 1.6], Verdict::SlowerBeyond),
            (4.0, [6.0, 1.6], Verdict::Withheld),
            (0.25, [1.6, 6.0], Verdict::Withheld),
        ] {
            let found = compared(factor, slowdowns);
            assert_eq!(found.comparisons[0].verdict, verdict, "{factor} {slowdowns:?}");
            assert_eq!(found.comparisons[0].may_explain.is_some(), verdict == Verdict::Withheld);
            assert_eq!(
                text(&found).contains("a factor of up to 6.00"),
                verdict == Verdict::Withheld,
                "{}",
                text(&found)
            );
        }
    }

    #[test]
    fn stored_runs_without_an_interval_are_judged_by_what_their_rounds_reach() {
        for (base, head, verdict) in [
            (&[100.0, 100.0, 100.0][..], &[10.0, 100.0, 190.0][..], Verdict::Inconclusive),
            (&[10.0, 100.0, 1000.0], &[9.0, 90.0, 900.0], Verdict::Inconclusive),
            (&[0.0, 101.0, 102.0, 103.0, 104.0, 105.0], &[0.0, 1.0, 102.0, 103.0, 104.0, 500.0], Verdict::Inconclusive),
            (&[100.0, 101.0], &[80.0, 81.0], Verdict::SlowerBeyond),
            (&[100.0], &[101.0], Verdict::Equivalent),
        ] {
            let stored = CasePair { in_turn: false, ..pair(base, head, [0.0; 2]) };
            let compared = ComparedCases::of(&[stored], Vec::new(), 0.05, &RunNoise::Stated(0.03));
            assert_eq!(compared.comparisons[0].verdict, verdict, "{base:?} {head:?}");
        }
    }

    #[test]
    fn what_the_rounds_could_have_shown_is_half_of_the_interval() {
        let base = [100.0; 8];
        let head = [99.0, 101.0, 98.0, 102.0, 99.5, 100.5, 98.5, 101.5];
        let compared = ComparedCases::of(&[pair(&base, &head, [0.0; 2])], Vec::new(), 0.05, &RunNoise::Unknown);
        let interval = compared.comparisons[0].result().unwrap().interval.unwrap();
        let half = compared.comparisons[0].could_show.expect("eight pairs have an interval");
        assert!((half - interval.half_width()).abs() < 0.001 && half > 0.005, "{half} {interval:?}");
        assert!(text(&compared).contains("\nthese rounds can show a difference from ±"));
        let head = [20.0, 300.0, 10.0, 500.0, 30.0, 400.0, 50.0, 200.0];
        let wide = ComparedCases::of(&[pair(&base, &head, [0.0; 2])], Vec::new(), 0.05, &RunNoise::Unknown);
        assert!(text(&wide).contains("\nthese rounds can show a difference from a factor of "), "{}", text(&wide));
    }
}
