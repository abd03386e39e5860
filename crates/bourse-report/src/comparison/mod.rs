//! How the figures of two cases differ: ratio, interval and verdict for each metric; as text, Markdown, HTML, CSV and JSON.

mod csv;
mod disturbance;
mod html;
mod markdown;
mod noise;
mod pairs;
mod text;
mod words;

pub use disturbance::Disturbance;
pub use noise::Noise;
pub use pairs::{Incomparable, Pair, stored_pairs, unlike};

use crate::text::CsvText;
use crate::units;
use crate::view::{OperationView, of_round};
use bourse_record::{Better, Case, Evidence, Gate, Provenance, Round, Verdict, Workload, median};
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
    /// The verdict on the headline.
    pub verdict: Verdict,
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
    #[serde(skip)]
    text: fn(f64) -> String,
    #[serde(skip)]
    better: Better,
    /// Probability of such a difference by chance, of rounds that took turns.
    #[serde(skip)]
    p: Option<f64>,
}

fn ends<S: serde::Serializer>(interval: &Option<Interval>, serializer: S) -> Result<S::Ok, S::Error> {
    interval.map(|interval| [interval.low, interval.high]).serialize(serializer)
}

/// Pairs from which on the metrics beside the headline have verdicts: with fewer not even all pairs on one side would be
/// enough for four of them at once.
const PAIRS_FOR_ALL: usize = 8;
/// Probability of a false verdict on any of them.
const FALSE_VERDICT: f64 = 0.05;

/// A metric of a round: name, direction, value, text.
type Metric = (&'static str, Better, fn(&Round, &Workload) -> Option<f64>, fn(f64) -> String);

const HEADLINE: Metric = ("result", Better::Higher, |round, workload| Some(round.figure(workload)), units::number);

/// What is shown with its interval, and has no verdict.
const SHOWN: [Metric; 1] =
    [("response p50", Better::Lower, |round, workload| response(round, workload, 0), units::duration_ns)];

const METRICS: [Metric; 4] = [
    ("response p90", Better::Lower, |round, workload| response(round, workload, 1), units::duration_ns),
    ("response p99", Better::Lower, |round, workload| response(round, workload, 2), units::duration_ns),
    (
        "processor time each",
        Better::Lower,
        |round, workload| Some(round.cpu_s()? * 1e9 / valid(round, workload)?),
        units::duration_ns,
    ),
    (
        "bytes written/op",
        Better::Lower,
        |round, workload| Some(round.all_written_bytes()? / valid(round, workload)?),
        units::bytes,
    ),
];

/// One of the quantiles of a round's response times.
fn response(round: &Round, workload: &Workload, at: usize) -> Option<f64> {
    of_round(round, workload.headline_operation.as_deref()).get(at).copied().flatten()
}

/// How the names of response times begin.
const RESPONSE: &str = "response ";

/// What the name of a response time has to say beside it: that it is one of batches, and that it includes a queue of ours.
fn of_response(pair: &Pair) -> String {
    let of = |is: fn(&Case) -> bool, words| if is(&pair.base) || is(&pair.head) { words } else { "" };
    let batches = |case: &Case| {
        let operation = |round| OperationView::of(round, case.workload.headline_operation.as_deref());
        case.rounds.iter().filter_map(operation).any(|it| it.batches().is_some())
    };
    let queue = |case: &Case| case.conditions.queue_of_headline(&case.workload).is_some();
    format!("{}{}", of(batches, " of batches"), of(queue, " with driver's queue"))
}

/// Whether every round of both sides has that metric. Rounds left out for their slow operations would make a side look better
/// than it is.
fn is_whole(pair: &Pair, metric: &Metric) -> bool {
    let whole = |case: &Case| case.rounds.iter().all(|round| (metric.2)(round, &case.workload).is_some());
    whole(&pair.base) && whole(&pair.head)
}

fn valid(round: &Round, workload: &Workload) -> Option<f64> {
    Some(round.headline_valid(workload) as f64).filter(|valid| *valid > 0.0)
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

    /// What a gate makes of all comparisons: failed if one fails, passed if all pass.
    pub fn gate(&self) -> Gate {
        match () {
            () if !self.with(Gate::Failed).is_empty() => Gate::Failed,
            () if !self.with(Gate::Undecided).is_empty() => Gate::Undecided,
            () => Gate::Passed,
        }
    }

    /// The comparisons that a gate makes this of, in words.
    pub fn with(&self, gate: Gate) -> Vec<String> {
        let those = self.comparisons.iter().filter(|it| it.verdict.gate() == gate);
        those.map(|it| format!("{}: {}", it.head, words::sentence(it, self.tolerance))).collect()
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
        let evidence = match &headline {
            Err(_) => Evidence::NoRatio,
            Ok(it) => match (noise, it.interval) {
                (Some(noise), interval) => with_noise(it.ratio, interval, noise),
                (None, _) if !pair.in_turn => Evidence::NotAttributable,
                (None, None) => Evidence::NoInterval,
                (None, Some(_)) if withheld => Evidence::Withheld,
                (None, Some(interval)) => Evidence::Range(interval.low, interval.high),
            },
        };
        let verdict = Verdict::of(evidence, tolerance, HEADLINE.1);
        let headline = headline.ok().map(|it| Difference {
            name: pair.base.workload.figure_unit().to_owned(),
            verdict: Some(verdict),
            ..it
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
            if let (true, false, Some(interval)) = (differs, withheld, other.interval) {
                other.verdict =
                    Some(Verdict::of(Evidence::Range(interval.low, interval.high), tolerance, other.better));
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
            verdict,
        }
    }

    /// The metric that decides: the headline. None if one of the cases has no figure, or the first a figure of 0.
    pub fn result(&self) -> Option<&Difference> {
        self.metrics.first().filter(|_| self.no_result.is_none())
    }
}

/// How a metric differs between the cases of a pair, or why there is no ratio; the verdict is still to be given.
fn difference(pair: &Pair, metric: &Metric) -> Result<Difference, &'static str> {
    let (name, better, of, text) = metric;
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
        text: *text,
        better: *better,
        p,
    })
}

/// Range of the difference of two runs: both what noise between runs leaves of it, and the interval of their rounds.
fn with_noise(ratio: f64, interval: Option<Interval>, noise: f64) -> Evidence {
    let (low, high) = (ratio / (1.0 + noise), ratio * (1.0 + noise));
    match interval {
        None => Evidence::Range(low, high),
        Some(interval) => Evidence::Range(low.min(interval.low), high.max(interval.high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ([0.0, 0.05], Verdict::SlowerBeyond),
            ([0.6, 0.65], Verdict::SlowerBeyond),
            ([0.0, 0.5], Verdict::Withheld),
            ([0.5, 0.0], Verdict::Withheld),
        ] {
            let compared = Compared::of(&[pair(&base, &head, taken)], Vec::new(), 0.05, &Noise::Unknown);
            let result = compared.comparisons[0].result().expect("there are figures");
            assert_eq!(result.verdict, Some(verdict), "{taken:?}");
            let gate = if verdict == Verdict::SlowerBeyond { Gate::Failed } else { Gate::Undecided };
            assert_eq!((compared.gate(), compared.with(gate).len()), (gate, 1));
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
