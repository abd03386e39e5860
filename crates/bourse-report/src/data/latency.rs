//! Latency figures as values: quantiles, percentiles and histograms.

use crate::view::{Latency, Quantile};

/// A quantile in nanoseconds: `None` if fewer than ten operations are expected beyond it, or if it falls on one that failed
/// or never started.
pub(super) fn quantile(latency: &Latency, quantile: f64) -> Option<u64> {
    known(latency.quantile(quantile)?)
}

/// The longest in nanoseconds: `None` if one that failed or never started may be longer.
pub(super) fn longest(latency: &Latency) -> Option<u64> {
    known(latency.longest()?)
}

pub(super) fn mean(latency: &Latency) -> Option<f64> {
    latency.known().map(|summary| summary.mean_ns)
}

const fn known(quantile: Quantile) -> Option<u64> {
    match quantile {
        Quantile::At(ns) => Some(ns),
        Quantile::Beyond(_) | Quantile::TooFew => None,
    }
}

/// Percentiles of a curve: every whole one, then ever closer to 100.
pub(super) fn percentiles() -> impl Iterator<Item = f64> {
    let whole = (0..=99).map(f64::from);
    whole.chain([99.5, 99.8, 99.9, 99.95, 99.98, 99.99, 99.995, 99.998, 99.999])
}

/// A stretch of a histogram.
pub(super) struct Bucket {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) count: u64,
}

/// The buckets with samples, the shortest times first.
pub(super) fn buckets(latency: &Latency) -> Vec<Bucket> {
    let Some(histogram) = &latency.histogram else { return Vec::new() };
    let bucket = |value: u64, count: u64| Bucket {
        from_ns: histogram.lowest_equivalent(value),
        to_ns: histogram.highest_equivalent(value),
        count,
    };
    histogram.iter_recorded().map(|step| bucket(step.value_iterated_to(), step.count_at_value())).collect()
}
