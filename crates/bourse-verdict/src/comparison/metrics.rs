//! Metrics that a comparison of two cases reports.

use super::CasePair;
use crate::units;
use crate::view::{OperationView, Quantile, of_round};
use bourse_record::{Better, Case, Round, Workload};

/// A metric of a round and of a case.
pub(super) struct ComparedMetric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) of_round: fn(&Round, &Workload) -> Option<f64>,
    /// The figure of all rounds together, as in reports of the case.
    pub(super) of_case: fn(&Case) -> Option<f64>,
    pub(super) text: fn(f64) -> String,
}

/// The metric that heads a comparison.
pub(super) const HEADLINE: ComparedMetric = ComparedMetric {
    name: "result",
    unit: "",
    better: Better::Higher,
    of_round: |round, workload| Some(round.figure(workload)),
    of_case: |case| case.estimate().map(|it| it.value),
    text: units::number,
};

/// Metrics that are shown with their interval and without a verdict.
pub(super) const SHOWN_METRICS: [ComparedMetric; 1] =
    [of_responses("response p50", |round, workload| response(round, workload, 0), |case| of_all(case, 0.5))];

/// Metrics that are judged besides the headline.
pub(super) const JUDGED_METRICS: [ComparedMetric; 4] = [
    of_responses("response p90", |round, workload| response(round, workload, 1), |case| of_all(case, 0.9)),
    of_responses("response p99", |round, workload| response(round, workload, 2), |case| of_all(case, 0.99)),
    ComparedMetric {
        name: "processor time each",
        unit: "ns",
        better: Better::Lower,
        of_round: |round, workload| Some(cpu_ns(round)? / valid(round, workload)?),
        of_case: |case| each(case, cpu_ns),
        text: units::duration_ns,
    },
    ComparedMetric {
        name: "bytes written/op",
        unit: "bytes",
        better: Better::Lower,
        of_round: |round, workload| Some(round.all_written_bytes()? / valid(round, workload)?),
        of_case: |case| each(case, Round::all_written_bytes),
        text: units::bytes,
    },
];

const fn of_responses(
    name: &'static str,
    of_round: fn(&Round, &Workload) -> Option<f64>,
    of_case: fn(&Case) -> Option<f64>,
) -> ComparedMetric {
    ComparedMetric { name, unit: "ns", better: Better::Lower, of_round, of_case, text: units::duration_ns }
}

fn cpu_ns(round: &Round) -> Option<f64> {
    Some(round.cpu_s()? * 1e9)
}

/// Cost of all rounds per valid operation.
fn each(case: &Case, cost: fn(&Round) -> Option<f64>) -> Option<f64> {
    let valid = case.rounds.iter().filter_map(|round| valid(round, &case.workload)).sum::<f64>();
    Some(case.rounds.iter().map(cost).sum::<Option<f64>>()? / valid)
}

/// A quantile of the response times of all rounds.
fn of_all(case: &Case, quantile: f64) -> Option<f64> {
    let operation = match &case.workload.headline_operation {
        Some(name) => OperationView::over(&case.rounds).into_iter().find(|it| it.name == *name),
        None => OperationView::all(&case.rounds),
    }?;
    match operation.response.quantile(quantile)? {
        Quantile::At(ns) => Some(ns as f64),
        Quantile::Beyond(_) | Quantile::TooFew => None,
    }
}

/// One of the quantiles of a round's response times.
fn response(round: &Round, workload: &Workload, at: usize) -> Option<f64> {
    of_round(round, workload.headline_operation.as_deref()).get(at).copied().flatten()
}

/// Prefix of the names of response times.
pub(super) const RESPONSE_PREFIX: &str = "response ";

/// Suffix for the name of a response time: that it is one of batches, and that it includes the driver's queue.
pub(super) fn of_response(pair: &CasePair) -> String {
    let of = |is: fn(&Case) -> bool, words| if is(&pair.base) || is(&pair.head) { words } else { "" };
    let batches = |case: &Case| {
        let operation = |round| OperationView::of(round, case.workload.headline_operation.as_deref());
        case.rounds.iter().filter_map(operation).any(|it| it.batches().is_some())
    };
    let queue = |case: &Case| case.conditions.queue_of_headline(&case.workload).is_some();
    format!("{}{}", of(batches, " of batches"), of(queue, " with driver's queue"))
}

/// Whether every round of both sides has that metric. Leaving out rounds for their slow operations would make a side look
/// better than it is.
pub(super) fn is_whole(pair: &CasePair, metric: &ComparedMetric) -> bool {
    let whole = |case: &Case| case.rounds.iter().all(|round| (metric.of_round)(round, &case.workload).is_some());
    whole(&pair.base) && whole(&pair.head)
}

fn valid(round: &Round, workload: &Workload) -> Option<f64> {
    Some(round.headline_valid(workload) as f64).filter(|valid| *valid > 0.0)
}
