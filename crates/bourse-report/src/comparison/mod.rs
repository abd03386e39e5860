//! How the figures of two cases differ: ratio, interval and verdict for each metric; as text, Markdown, HTML, CSV and JSON.

mod csv;
mod disturbance;
mod html;
mod markdown;
mod noise;
mod pairs;
mod text;

pub use disturbance::Disturbance;
pub use noise::Noise;
pub use pairs::{Incomparable, Pair, stored_pairs, unlike};

use crate::text::CsvText;
use crate::units;
use crate::view::{OperationView, of_round};
use bourse_record::{Case, Provenance, Round, Workload, median};
use bourse_stats::{Interval, holm, ratio_of_groups, ratio_of_pairs, signed_rank};
use serde::Serialize;

/// Tolerance where none is named: within it two figures are called alike.
pub const TOLERANCE: f64 = 0.05;

/// Pairs of cases compared.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// Part of one by which figures may differ and still be called alike.
    pub tolerance: f64,
    /// A comparison for each pair.
    pub comparisons: Vec<Comparison>,
    /// What makes a difference one of something else, in words.
    pub notes: Vec<String>,
}

/// How two cases differ, metric by metric.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Label of the case that is compared with.
    pub base: String,
    /// Label of the case that is compared.
    pub head: String,
    /// Each metric that both have; the headline first, if both have one.
    pub metrics: Vec<Difference>,
    /// What others took while each side ran.
    pub disturbance: [Disturbance; 2],
    /// The smallest difference that these pairs of rounds could have shown, as a part of one: half of the interval. None of
    /// runs that did not take turns.
    pub could_show: Option<f64>,
    /// How far apart two runs lie by noise alone, as a part of one, which a difference of runs that did not take turns is
    /// held against.
    pub noise: Option<f64>,
    /// Reason why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_result: Option<&'static str>,
}

/// Difference in one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The metric, in words; of the headline its unit.
    pub name: String,
    /// Median of the rounds of the first case.
    pub base: f64,
    /// Median of the rounds of the second case.
    pub head: f64,
    /// Head divided by base: the Hodges–Lehmann estimate over the pairs of rounds, which need not be the medians' ratio.
    pub ratio: f64,
    /// Interval of the ratio, that of the estimate; none of too few rounds.
    #[serde(serialize_with = "ends")]
    pub interval: Option<Interval>,
    /// Level of the interval, at least 0.95.
    pub level: Option<f64>,
    /// What the interval says. None for a metric that is shown without a verdict: all but the headline, unless they differ
    /// by Holm's correction.
    pub verdict: Option<Verdict>,
    /// The range of the ratio that decides: its interval, or of runs that did not take turns what noise leaves of it. None
    /// where nothing can be decided.
    #[serde(skip)]
    decides: Option<(f64, f64)>,
    #[serde(skip)]
    text: fn(f64) -> String,
    #[serde(skip)]
    higher_is_better: bool,
    /// Probability of such a difference by chance, of rounds that took turns.
    #[serde(skip)]
    p: Option<f64>,
}

/// What the interval of a ratio says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Verdict {
    /// More of what more is better of.
    Faster,
    /// Less of it.
    Slower,
    /// Less of a cost.
    Less,
    /// More of a cost.
    More,
    /// Within the tolerance, surely.
    NoDifference,
    /// Neither beyond the tolerance nor within it.
    TooNoisy,
    /// No interval.
    TooFewRounds,
    /// The rounds did not take turns, and nothing says how far apart two runs lie by noise alone.
    NotAttributable,
    /// Others disturbed one side more than the other.
    Withheld,
}

impl Verdict {
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Less => "less",
            Self::More => "more",
            Self::NoDifference => "no difference shown",
            Self::TooNoisy => "inconclusive: within noise",
            Self::TooFewRounds => "inconclusive: too few rounds",
            Self::NotAttributable => "not attributable",
            Self::Withheld => "withheld: disturbed unequally",
        }
    }
}

impl From<Verdict> for &'static str {
    fn from(verdict: Verdict) -> Self {
        verdict.name()
    }
}

fn ends<S: serde::Serializer>(interval: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    interval.map(|interval| [interval.low, interval.high]).serialize(serializer)
}

/// Pairs from which on the metrics beside the headline have verdicts: with fewer not even all pairs on one side would be
/// enough for four of them at once.
const PAIRS_FOR_ALL: usize = 8;
/// Probability of a false verdict on any of them.
const FALSE_VERDICT: f64 = 0.05;

/// A metric of a round: name, whether more is better, value, text.
type Metric = (&'static str, bool, fn(&Round, &Workload) -> Option<f64>, fn(f64) -> String);

const HEADLINE: Metric = ("result", true, |round, workload| Some(round.figure(workload)), units::number);

/// What is shown with its interval, and has no verdict.
const SHOWN: [Metric; 1] =
    [("response p50", false, |round, workload| response(round, workload, 0), units::duration_ns)];

const METRICS: [Metric; 4] = [
    ("response p90", false, |round, workload| response(round, workload, 1), units::duration_ns),
    ("response p99", false, |round, workload| response(round, workload, 2), units::duration_ns),
    (
        "processor time each",
        false,
        |round, workload| Some(round.cpu_s()? * 1e9 / valid(round, workload)?),
        units::duration_ns,
    ),
    (
        "bytes written/op",
        false,
        |round, workload| Some(round.all_written_bytes()? / valid(round, workload)?),
        units::bytes,
    ),
];

/// One of the quantiles of a round's response times.
fn response(round: &Round, workload: &Workload, at: usize) -> Option<f64> {
    of_round(round, &workload.headline_operation).get(at).copied().flatten()
}

/// How the names of response times begin.
const RESPONSE: &str = "response ";

/// What the name of a response time has to say beside it: that it is one of batches, and that it includes a queue of ours.
fn of_response(pair: &Pair) -> String {
    let of = |is: fn(&Case) -> bool, words| if is(&pair.base) || is(&pair.head) { words } else { "" };
    let batches = |case: &Case| {
        let operation = |round| OperationView::of(round, &case.workload.headline_operation);
        case.rounds.iter().filter_map(operation).any(|it| it.batches().is_some())
    };
    let queue = |case: &Case| case.conditions.queue_of(&case.workload.headline_operation).is_some();
    format!("{}{}", of(batches, " of batches"), of(queue, " with driver's queue"))
}

/// Whether every round of both sides has that metric. Rounds left out for their slow operations would make a side look better
/// than it is.
fn is_whole(pair: &Pair, metric: &Metric) -> bool {
    let whole = |case: &Case| case.rounds.iter().all(|round| (metric.2)(round, &case.workload).is_some());
    whole(&pair.base) && whole(&pair.head)
}

fn valid(round: &Round, workload: &Workload) -> Option<f64> {
    let operation = round.operations.iter().find(|operation| operation.name == workload.headline_operation)?;
    Some(operation.valid() as f64).filter(|valid| *valid > 0.0)
}

/// The side lines below a comparison: what others did to each side, and what it could have shown.
fn beside(compared: &Comparison) -> Vec<String> {
    let [base, head] = &compared.disturbance;
    let mut lines = Vec::new();
    if !(base.is_none() && head.is_none()) {
        lines.push(format!("disturbed by others: A: {}; B: {}", base.words(), head.words()));
    }
    lines.extend(
        compared.could_show.map(|part| format!("these rounds can show a difference from ±{} on", percent(part))),
    );
    lines
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

impl Compared {
    /// Compares each pair; what the notes say is added by the caller.
    ///
    /// `noise` is how far apart two runs lie that did not take turns.
    pub fn of(pairs: &[Pair], mut notes: Vec<String>, tolerance: f64, noise: &Noise) -> Self {
        let mut compared = |pair: &Pair| {
            let floor = if pair.in_turn { Ok(None) } else { noise.of(pair) };
            let floor = floor.unwrap_or_else(|why| {
                notes.push(format!("{}: {why}", pair.head.label));
                None
            });
            Comparison::of(pair, tolerance, floor)
        };
        let comparisons = pairs.iter().map(&mut compared).collect();
        Self { tolerance, comparisons, notes }
    }

    /// The comparisons whose second case is slower by more than the tolerance, the whole range that decides beyond it; in
    /// words.
    pub fn slower(&self) -> Vec<String> {
        let results = self.comparisons.iter().filter_map(|it| Some((it, it.result()?)));
        let beyond = results.filter(|(_, result)| result.decides.is_some_and(|(_, high)| high < 1.0 - self.tolerance));
        beyond.map(|(it, result)| format!("{}: {}", it.head, it.difference(result))).collect()
    }

    /// The comparisons that nothing can be decided by, in words: without a result, or without a range that decides.
    pub fn undecided(&self) -> Vec<String> {
        let undecided = self.comparisons.iter().filter(|it| it.result().is_none_or(|result| result.decides.is_none()));
        undecided
            .map(|it| {
                format!("{}: {}", it.head, it.no_result.map_or_else(|| sentence(it, self.tolerance), str::to_owned))
            })
            .collect()
    }

    /// One self-contained page. `runs` are the runs that were compared, by name: the two that were stored, or the one in which
    /// both sides took turns.
    pub fn html(&self, runs: &[(&str, &Provenance)]) -> String {
        html::html(self, runs)
    }

    /// A line for each metric.
    pub fn csv(&self, texts: CsvText) -> String {
        csv::csv(self, texts)
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        text::text(self)
    }

    /// For a comment on a change.
    pub fn markdown(&self) -> String {
        markdown::markdown(self)
    }
}

impl Comparison {
    fn of(pair: &Pair, tolerance: f64, noise: Option<f64>) -> Self {
        let disturbance = [Disturbance::of(&pair.base), Disturbance::of(&pair.head)];
        let withheld = pair.in_turn && disturbance[0].is_unlike(&disturbance[1]);
        let headline = match pairs::unlike_ages(&pair.base, &pair.head) {
            None => difference(pair, &HEADLINE),
            Some(_) => Err("the market's age differs, and with it the part of Trade-Results in the mix"),
        };
        let no_result = match &headline {
            Ok(_) => None,
            Err(why) => Some(*why),
        };
        let headline = headline.ok().map(|it| {
            let range = it.interval.map(|it| (it.low, it.high));
            let decides = match noise {
                Some(noise) => Some((it.ratio / (1.0 + noise), it.ratio * (1.0 + noise))),
                None => range.filter(|_| pair.in_turn && !withheld),
            };
            let verdict = match decides {
                Some(range) => judged(range, it.higher_is_better, tolerance),
                None if !pair.in_turn => Verdict::NotAttributable,
                None if range.is_none() => Verdict::TooFewRounds,
                None => Verdict::Withheld,
            };
            Difference { name: pair.base.workload.figure_unit().to_owned(), decides, verdict: Some(verdict), ..it }
        });
        let interval = headline.as_ref().and_then(|it| it.interval).filter(|_| pair.in_turn);
        let note = of_response(pair);
        let of = |metrics: &[Metric]| -> Vec<Difference> {
            let whole = metrics.iter().filter(|metric| is_whole(pair, metric));
            let mut found: Vec<Difference> = whole.filter_map(|metric| difference(pair, metric).ok()).collect();
            found.iter_mut().filter(|it| it.name.starts_with(RESPONSE)).for_each(|it| it.name.push_str(&note));
            found
        };
        let (shown, mut others) = (of(&SHOWN), of(&METRICS));
        let probabilities: Vec<f64> = others.iter().map(|it| it.p.unwrap_or(1.0)).collect();
        for (other, differs) in others.iter_mut().zip(holm::judge(&probabilities, FALSE_VERDICT)) {
            if differs && !withheld {
                other.verdict = Some(side(other.ratio, other.higher_is_better));
            }
        }
        Self {
            base: pair.base.label.clone(),
            head: pair.head.label.clone(),
            metrics: headline.into_iter().chain(shown).chain(others).collect(),
            disturbance,
            could_show: interval.map(|it| it.map(f64::ln).half_width().exp_m1()),
            noise,
            no_result,
        }
    }

    /// A difference in words; with the noise it is held against, if that is the headline's.
    fn difference(&self, metric: &Difference) -> String {
        let words = metric.difference();
        match self.noise.filter(|_| self.result().is_some_and(|result| std::ptr::eq(result, metric))) {
            Some(noise) => format!("{words}, two runs lie up to {} apart by noise", percent(noise)),
            None => words,
        }
    }

    /// The metric that decides: the headline. None if one of the cases has no figure, or the first a figure of 0.
    pub fn result(&self) -> Option<&Difference> {
        self.metrics.first().filter(|_| self.no_result.is_none())
    }
}

/// How a metric differs between the cases of a pair, or why there is no ratio; the verdict is still to be given.
fn difference(pair: &Pair, metric: &Metric) -> Result<Difference, &'static str> {
    let (name, higher_is_better, of, text) = metric;
    let values = |case: &Case| -> Vec<Option<f64>> {
        case.rounds.iter().map(|round| of(round, &case.workload).filter(|value| value.is_finite())).collect()
    };
    let (base, head) = (values(&pair.base), values(&pair.head));
    // The first goes with the first, also where another round of one side has no figure.
    let pairs: Vec<(f64, f64)> = base.iter().zip(&head).filter_map(|(base, head)| (*base).zip(*head)).collect();
    let flat = |values: Vec<Option<f64>>| -> Vec<f64> { values.into_iter().flatten().collect() };
    let (base, head) = (flat(base), flat(head));
    let (Some(one), Some(other)) = (median(&base), median(&head)) else {
        return Err("a case has no round with a figure");
    };
    // A figure too small to divide by is as good as none.
    if one <= 0.0 || !(other / one).is_finite() {
        return Err("the first case's figure is 0, which nothing can be divided by");
    }
    // Rounds that took turns met the same noise: their ratios scatter less than they do.
    let estimate = if pair.in_turn { ratio_of_pairs(&pairs) } else { ratio_of_groups(&base, &head) };
    let estimate = estimate.filter(|it| it.value.is_finite());
    let interval = estimate.and_then(|it| it.interval).filter(|it| it.low.is_finite() && it.high.is_finite());
    let p = signed_rank::p_of_pairs(&pairs).filter(|_| pair.in_turn && pairs.len() >= PAIRS_FOR_ALL);
    Ok(Difference {
        name: (*name).to_owned(),
        base: one,
        head: other,
        // A round of nothing has no logarithm; the medians have a ratio still.
        ratio: estimate.map_or(other / one, |it| it.value),
        interval,
        level: interval.map(|it| it.level),
        verdict: None,
        decides: None,
        text: *text,
        higher_is_better: *higher_is_better,
        p,
    })
}

impl Difference {
    fn difference(&self) -> String {
        let change = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
        match self.interval {
            None => format!("{} (too few rounds for an interval)", change(self.ratio)),
            Some(Interval { low, high, level }) => {
                let (ratio, low, high) = (change(self.ratio), change(low), change(high));
                format!("{ratio} ({} interval {low} to {high})", percent(level))
            }
        }
    }
}

/// The word for a difference.
fn side(ratio: f64, higher_is_better: bool) -> Verdict {
    match (ratio > 1.0, higher_is_better) {
        (true, true) => Verdict::Faster,
        (false, true) => Verdict::Slower,
        (true, false) => Verdict::More,
        (false, false) => Verdict::Less,
    }
}

/// What the range of head divided by base says.
fn judged((low, high): (f64, f64), higher_is_better: bool, tolerance: f64) -> Verdict {
    if low > 1.0 || high < 1.0 {
        side(low, higher_is_better)
    } else if low >= 1.0 - tolerance && high <= 1.0 + tolerance {
        Verdict::NoDifference
    } else {
        Verdict::TooNoisy
    }
}

/// The verdict in words: `B is …`, or why there is none.
fn sentence(compared: &Comparison, tolerance: f64) -> String {
    let Some(result) = compared.result() else {
        return format!("none: {}", compared.no_result.unwrap_or("nothing was measured"));
    };
    let verdict = match result.verdict.unwrap_or(Verdict::TooFewRounds) {
        Verdict::NoDifference => format!("B is not shown to differ: within {}", percent(tolerance)),
        Verdict::TooNoisy => {
            "inconclusive: the difference is within noise; use more rounds or a quieter machine".to_owned()
        }
        Verdict::TooFewRounds => "inconclusive: too few rounds; use --rounds 8 or more".to_owned(),
        Verdict::NotAttributable => format!(
            "B differs by {}, not attributable: the runs did not take turns; `bourse compare` takes --noise or --baseline, or two targets to run in turn",
            compared.difference(result)
        ),
        Verdict::Withheld => {
            "withheld: others disturbed one side more than the other; repeat it on a quiet machine".to_owned()
        }
        other => format!("B is {}: {}", other.name(), compared.difference(result)),
    };
    match disturbed_alike(compared).filter(|_| result.decides.is_some()) {
        Some(words) => format!("{verdict}; {words}"),
        None => verdict,
    }
}

/// What a verdict is worth whose rounds others disturbed on both sides alike; none otherwise. Pairs in random order favour
/// neither side then, so that the verdict holds, for that machine as it was: how large a difference is may hang on what is left
/// of the machine.
fn disturbed_alike(compared: &Comparison) -> Option<String> {
    let [base, head] = &compared.disturbance;
    (base.is_mostly() && head.is_mostly()).then(|| {
        let taken = (base.taken + head.taken) / 2.0;
        format!("others took {taken:.2} CPUs from both sides, so on a quiet machine the difference may be another")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_from_the_interval_and_the_tolerance() {
        let judged = |low, high, more| judged((low, high), more, 0.05);
        assert_eq!(judged(1.01, 1.10, true), Verdict::Faster);
        assert_eq!(judged(0.80, 0.99, true), Verdict::Slower);
        assert_eq!(judged(0.98, 1.03, true), Verdict::NoDifference);
        assert_eq!(judged(0.90, 1.20, true), Verdict::TooNoisy);
        assert_eq!(judged(1.1, 1.2, false), Verdict::More);
        assert_eq!(judged(0.8, 0.9, false), Verdict::Less);
    }

    fn pair(base: &[f64], head: &[f64], taken: [f64; 2]) -> Pair {
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
        Pair { base: case(base, taken[0]), head: case(head, taken[1]), in_turn: true }
    }

    /// A neighbour that worked while B ran once made B slower.
    #[test]
    fn a_side_that_was_disturbed_more_gets_no_verdict() {
        let base = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.9, 100.1];
        let head = base.map(|figure| 0.8 * figure);
        for (taken, verdict) in [
            ([0.0, 0.05], Verdict::Slower),
            ([0.6, 0.65], Verdict::Slower),
            ([0.0, 0.5], Verdict::Withheld),
            ([0.5, 0.0], Verdict::Withheld),
        ] {
            let compared = Compared::of(&[pair(&base, &head, taken)], Vec::new(), 0.05, &Noise::Unknown);
            let result = compared.comparisons[0].result().expect("there are figures");
            assert_eq!(result.verdict, Some(verdict), "{taken:?}");
            assert_eq!(
                (compared.slower().len(), compared.undecided().len()),
                if verdict == Verdict::Slower { (1, 0) } else { (0, 1) }
            );
            let text = compared.text();
            let alike =
                "; others took 0.62 CPUs from both sides, so on a quiet machine the difference may be another\n";
            assert_eq!(text.contains(alike), taken == [0.6, 0.65], "{text}");
            let told = compared.text().contains("disturbed by others: A: ");
            assert_eq!(told, taken.iter().any(|taken| *taken > 0.1), "{}", compared.text());
        }
    }

    #[test]
    fn what_the_rounds_could_have_shown_is_half_of_the_interval() {
        let base = [100.0; 8];
        let head = [99.0, 101.0, 98.0, 102.0, 99.5, 100.5, 98.5, 101.5];
        let compared = Compared::of(&[pair(&base, &head, [0.0; 2])], Vec::new(), 0.05, &Noise::Unknown);
        let interval = compared.comparisons[0].result().unwrap().interval.unwrap();
        let half = compared.comparisons[0].could_show.expect("eight pairs have an interval");
        assert!((half - interval.half_width()).abs() < 0.001 && half > 0.005, "{half} {interval:?}");
        assert!(compared.text().contains("these rounds can show a difference from ±"), "{}", compared.text());
    }
}
