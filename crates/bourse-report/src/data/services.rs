//! A run as the JSON that services for continuous benchmarks read: a value for each benchmark, with its interval.

use crate::view::{CaseView, OperationView, QUANTILES, Quantile, over_rounds};
use bourse_record::{Estimate, Interval, RunFile};
use serde_json::{Map, Value, json};

/// One value of a benchmark.
struct BenchmarkValue {
    benchmark: String,
    /// Short name of the measure.
    measure: String,
    unit: String,
    is_higher_better: bool,
    value: f64,
    interval: Option<Interval>,
    /// Remarks to show with the figure.
    beside: String,
}

/// The figures that count: throughput of each case, and the median, 90th and 99th percentile of each operation's response time.
///
/// Intervals are included if the rounds give one. Void cases have no figures.
fn measures(run: &RunFile) -> Vec<BenchmarkValue> {
    let notices = crate::view::notices(run).join(" ");
    let mut all = Vec::new();
    for view in CaseView::all(run) {
        let Some(estimate) = view.estimate().filter(|_| view.valid_figure().is_some()) else { continue };
        let case = view.case;
        let benchmark = format!("{}: {}", case.workload.name, case.label);
        let beside = [case.engine.durability.name(), notices.as_str()].into_iter().filter(|it| !it.is_empty());
        let beside = beside.collect::<Vec<_>>().join("; ");
        all.push(BenchmarkValue {
            benchmark: benchmark.clone(),
            measure: "throughput".to_owned(),
            unit: view.unit().to_owned(),
            is_higher_better: true,
            value: estimate.value,
            interval: estimate.interval,
            beside: beside.clone(),
        });
        for operation in &view.operations {
            for (at, quantile) in QUANTILES.into_iter().enumerate() {
                let Some(estimate) = response(operation, at, quantile) else { continue };
                all.push(BenchmarkValue {
                    benchmark: format!("{benchmark}: {}", operation.name),
                    measure: format!("latency-p{}", (100.0 * quantile).round()),
                    unit: "ns".to_owned(),
                    is_higher_better: false,
                    value: estimate.value,
                    interval: estimate.interval,
                    beside: beside.clone(),
                });
            }
        }
    }
    all
}

/// A quantile of response times: over the rounds with its interval, or of all operations together.
fn response(operation: &OperationView, at: usize, quantile: f64) -> Option<Estimate> {
    over_rounds(&operation.by_round, at).or_else(|| match operation.response.quantile(quantile)? {
        Quantile::At(ns) => Some(Estimate { value: ns as f64, interval: None }),
        Quantile::Beyond(_) | Quantile::TooFew => None,
    })
}

/// The run in the [Bencher Metric Format](https://bencher.dev/docs/reference/bencher-metric-format): `throughput` in operations
/// a second, `latency-p50` and others in nanoseconds. `None` if no figure counts.
pub fn bencher(run: &RunFile) -> Option<String> {
    let mut benchmarks = Map::new();
    for it in measures(run) {
        let mut metric = Map::from_iter([("value".to_owned(), json!(it.value))]);
        if let Some(interval) = it.interval {
            metric.insert("lower_value".to_owned(), json!(interval.low));
            metric.insert("upper_value".to_owned(), json!(interval.high));
        }
        let of_benchmark = benchmarks.entry(it.benchmark).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(measures) = of_benchmark {
            measures.insert(it.measure, Value::Object(metric));
        }
    }
    (!benchmarks.is_empty()).then(|| format!("{:#}\n", Value::Object(benchmarks)))
}

/// The run in the two custom formats of
/// [github-action-benchmark](https://github.com/benchmark-action/github-action-benchmark): `customBiggerIsBetter` with the
/// throughputs and `customSmallerIsBetter` with the response times. `None` if no figure counts.
pub fn github_action_benchmark(run: &RunFile) -> Option<[String; 2]> {
    let measures = measures(run);
    let of = |is_higher_better: bool| {
        let of_side = measures.iter().filter(|it| it.is_higher_better == is_higher_better);
        let entries: Vec<Value> = of_side
            .map(|it| {
                let name = match it.is_higher_better {
                    true => it.benchmark.clone(),
                    false => format!("{} {}", it.benchmark, it.measure),
                };
                let mut entry = json!({ "name": name, "unit": it.unit, "value": it.value, "extra": it.beside });
                if let (Some(interval), Value::Object(entry)) = (it.interval, &mut entry) {
                    let level = crate::units::significant(100.0 * interval.level, 3);
                    let range = format!("{} to {} ({level} %)", interval.low, interval.high);
                    entry.insert("range".to_owned(), range.into());
                }
                entry
            })
            .collect();
        format!("{:#}\n", Value::Array(entries))
    };
    (!measures.is_empty()).then(|| [of(true), of(false)])
}
