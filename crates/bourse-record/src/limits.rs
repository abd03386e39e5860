//! Limits of response times, and the quantiles that a round reached.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::latency::FEWEST_BEYOND;
use crate::{Latency, LatencyClock, Operation, Round};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A limit of a quantile of response times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseLimit {
    /// Operation that the limit is for; `None` applies it to every operation that a schedule makes due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The quantile, above 0 and up to 1: 1 is the longest.
    pub quantile: f64,
    /// The limit in nanoseconds.
    pub limit_ns: u64,
}

/// Quantile of an operation that has a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitedQuantile {
    /// The operation.
    pub operation: String,
    /// Quantile in nanoseconds, of however few operations; infinite if it falls on one that failed, was dropped or
    /// never started.
    pub quantile_ns: f64,
    /// Operations there were, and those from which on the quantile is shown, if there were fewer: it then neither meets nor
    /// misses a limit.
    pub too_few: Option<(u64, f64)>,
}

impl ResponseLimit {
    /// Quantiles that can have a limit, by name.
    pub const QUANTILES: [(&str, f64); 6] =
        [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

    /// Name of the quantile, as `p99`.
    pub fn quantile_name(&self) -> String {
        let known = Self::QUANTILES.iter().find(|(_, quantile)| *quantile == self.quantile);
        known.map_or_else(|| format!("p{}", 100.0 * self.quantile), |(name, _)| (*name).to_owned())
    }

    /// Number of operations from which on the quantile is shown: ten are expected beyond it.
    ///
    /// ```
    /// let limit = bourse_record::ResponseLimit { operation: None, quantile: 0.99, limit_ns: 1 };
    /// assert_eq!(limit.needed(), 1_000);
    /// ```
    pub fn needed(&self) -> u64 {
        let needed = (FEWEST_BEYOND - 1e-9) / (1.0 - self.quantile);
        if needed.is_finite() { needed.ceil() as u64 } else { 1 }
    }

    /// Quantiles of a round's operations. Failed and dropped operations, and those never started, count as slower than
    /// all others. Operations that did not occur have no quantile.
    ///
    /// If the limit is on the longest response (quantile 1), operations still queued at the end of the interval count
    /// with the time that they had waited, if known: at any moment something may be waiting.
    pub fn reached(&self, round: &Round) -> Vec<LimitedQuantile> {
        let is_limited = |it: &&Operation| match &self.operation {
            Some(name) => it.name == *name,
            None => it.by_schedule,
        };
        let limited = round.operations.iter().filter(is_limited);
        limited
            .filter_map(|operation| {
                let waited = round.arrivals.map_or(0, |arrivals| arrivals.unstarted_ns_longest);
                let all = Latency::of_round(round, &operation.name)?;
                let quantile_ns = if self.quantile >= 1.0 && waited > 0 && round.unstarted_of(&operation.name) > 0 {
                    let longest = Latency::of(&[operation], LatencyClock::Response).quantile_ns(1.0).unwrap_or(0.0);
                    longest.max(waited as f64)
                } else {
                    all.quantile_ns(self.quantile)?
                };
                let counts = (all.operations(), all.needed(self.quantile));
                let too_few = Some(counts).filter(|(count, needed)| self.quantile < 1.0 && (*count as f64) < *needed);
                Some(LimitedQuantile { operation: operation.name.clone(), quantile_ns, too_few })
            })
            .collect()
    }

    /// Whether a quantile is within the limit.
    ///
    /// ```
    /// use bourse_record::{ResponseLimit, length};
    /// let limit = ResponseLimit { operation: None, quantile: 0.99, limit_ns: 2_500_000 };
    /// assert_eq!((limit.quantile_name(), length(2_500_000.0)), ("p99".to_owned(), "2.5 ms".to_owned()));
    /// assert!(limit.holds(2_400_000.0) && !limit.holds(f64::INFINITY));
    /// ```
    pub fn holds(&self, quantile_ns: f64) -> bool {
        quantile_ns <= self.limit_ns as f64
    }
}

impl fmt::Display for ResponseLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.operation {
            write!(f, "{operation}: ")?;
        }
        write!(f, "{} within {}", self.quantile_name(), length(self.limit_ns as f64))
    }
}

/// Duration in the largest unit of which it has at least one.
pub fn length(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    format!("{} {unit}", (value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, OperationSpec, Outcome, Recorder, Sample};

    const READ: usize = 0;
    const WRITE: usize = 1;

    /// A round of `reads` of 1 ms, of which `failed` failed in no time, and of writes of 1 s that no schedule makes
    /// due.
    fn round(reads: u64, failed: u64, dropped: u64, unstarted: u64) -> Round {
        let specs = [OperationSpec::new("read"), OperationSpec::new("write")];
        let mut recorder = Recorder::new(specs.into(), |_| true);
        let mut sample = |operation, ns, outcome| recorder.sample(&Sample::new(operation, outcome, ns), true);
        (0..reads).for_each(|_| sample(READ, 1_000_000, Outcome::Completed));
        (0..failed).for_each(|_| sample(READ, 1, Outcome::Failed));
        (0..10).for_each(|_| sample(WRITE, 1_000_000_000, Outcome::Completed));
        (0..dropped).for_each(|_| recorder.dropped(READ));
        let mut operations = recorder.figures();
        operations[READ].by_schedule = true;
        let text = r#"{ "offset_s": 0, "phases": [], "measured_s": 20, "headline": 1, "operations": [], "cpu_user_s": 0,
            "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
            "checks": [], "warnings": [] }"#;
        let round: Round = serde_json::from_str(text).unwrap();
        Round { operations, arrivals: Some(Arrivals { unstarted, ..Arrivals::default() }), ..round }
    }

    fn limit(operation: Option<&str>, quantile: f64) -> ResponseLimit {
        ResponseLimit { operation: operation.map(str::to_owned), quantile, limit_ns: 2_000_000 }
    }

    fn reached(round: &Round, operation: Option<&str>, quantile: f64) -> f64 {
        let reached = limit(operation, quantile).reached(round);
        assert_eq!(reached.len(), 1, "{reached:?}");
        reached[0].quantile_ns
    }

    #[test]
    fn what_has_no_time_is_slower_than_everything() {
        let near = |ns: f64| (ns - 1e6).abs() < 2e3;
        for slower in [(20, 0, 0), (0, 20, 0), (0, 0, 20), (7, 7, 6)] {
            let round = round(980, slower.0, slower.1, slower.2);
            assert!(near(reached(&round, None, 0.98)), "{slower:?}");
            assert_eq!(reached(&round, None, 0.99), f64::INFINITY, "{slower:?}");
            assert_eq!(reached(&round, None, 1.0), f64::INFINITY, "{slower:?}");
            assert!(!limit(None, 0.99).holds(f64::INFINITY));
        }
        assert!(near(reached(&round(980, 0, 0, 0), None, 1.0)));
        // An operation queued at the end of the interval has waited for a known part of its time.
        for (waited, longest) in [(500_000, 1e6), (7_000_000, 7e6)] {
            let mut round = round(980, 0, 0, 1);
            round.arrivals.as_mut().unwrap().unstarted_ns_longest = waited;
            assert!((reached(&round, None, 1.0) / longest - 1.0).abs() < 2e-3, "{waited}");
            assert_eq!(reached(&round, None, 0.9999), f64::INFINITY, "{waited}");
        }
        assert_eq!(reached(&round(0, 0, 0, 5), None, 0.5), f64::INFINITY, "none was started");
        assert!(limit(None, 0.5).reached(&round(0, 0, 0, 0)).is_empty(), "none was due");
    }

    /// Sixteen operations once met a limit of the 99th percentile.
    #[test]
    fn a_quantile_of_too_few_operations_is_named_as_such() {
        let too_few = |reads, quantile| limit(None, quantile).reached(&round(reads, 0, 0, 0))[0].too_few;
        assert_eq!(too_few(16, 0.99).map(|(count, needed)| (count, needed.round())), Some((16, 1_000.0)));
        assert_eq!((too_few(999, 0.99).is_some(), too_few(1_000, 0.99)), (true, None));
        assert_eq!((too_few(19, 0.5).is_some(), too_few(20, 0.5)), (true, None));
        assert_eq!(too_few(1, 1.0), None, "the longest is known of any number");
    }

    #[test]
    fn a_limit_without_a_name_is_that_of_what_a_schedule_makes_due() {
        let round = round(100, 0, 0, 0);
        assert!(limit(None, 0.5).holds(reached(&round, None, 0.5)), "the writers go on as they do");
        assert!(!limit(None, 0.5).holds(reached(&round, Some("write"), 0.5)));
        assert!(limit(Some("scan"), 0.5).reached(&round).is_empty());
    }

    #[test]
    fn what_was_never_started_is_shared_out_over_what_the_schedule_makes_due() {
        let mut round = round(30, 0, 0, 9);
        assert_eq!((round.unstarted_of("read"), round.unstarted_of("write")), (9, 0));
        // Ten writes to thirty reads: a quarter, rounded up.
        round.operations[WRITE].by_schedule = true;
        assert_eq!((round.unstarted_of("read"), round.unstarted_of("write")), (7, 3));
        // A file that predates `by_schedule`.
        round.operations.iter_mut().for_each(|it| it.by_schedule = false);
        assert_eq!((round.unstarted_of("read"), round.unstarted_of("write")), (0, 0));
        round.operations.truncate(1);
        assert_eq!(round.unstarted_of("read"), 9);
    }

    #[test]
    fn limits_are_told_in_words() {
        assert_eq!(limit(None, 0.99).to_string(), "p99 within 2 ms");
        assert_eq!(limit(Some("read"), 0.999).to_string(), "read: p99.9 within 2 ms");
        assert_eq!(limit(None, 1.0).quantile_name(), "max");
        assert_eq!([1.5e9, 2.5e6, 12_340.0, 7.0].map(length), ["1.5 s", "2.5 ms", "12.34 µs", "7 ns"]);
    }
}
