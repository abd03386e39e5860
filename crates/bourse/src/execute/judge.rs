//! Whether a round of a search met its limits: by its quantiles, its failures and what was never started.

use crate::plan::Search;
use bourse_record::{Round, length};

/// A round of a search, judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    /// Why it did not meet the limits, in words; empty if it did.
    pub(super) violations: Vec<String>,
    /// The worst quantile as a share of its limit; none where one of them is an operation without a time.
    pub(super) worst_limit_ratio: Option<f64>,
}

impl Judgement {
    /// Whether the round met every limit.
    pub(super) fn is_met(&self) -> bool {
        self.violations.is_empty()
    }

    /// Judges a round. Operations that failed, were dropped or were never started are slower than all others.
    pub(super) fn of(round: &Round, search: &Search) -> Self {
        let mut violations = Vec::new();
        let mut worst = 0.0_f64;
        for limit in &search.limits {
            for reached in limit.reached(round) {
                worst = worst.max(reached.quantile_ns / limit.limit_ns as f64);
                if limit.holds(reached.quantile_ns) {
                    continue;
                }
                let found = match reached.quantile_ns {
                    ns if ns.is_finite() => length(ns),
                    _ => "one that failed or was not started".to_owned(),
                };
                violations.push(format!(
                    "{}: {} {found}, limit {}",
                    reached.operation,
                    limit.quantile_name(),
                    length(limit.limit_ns as f64)
                ));
            }
        }
        let failed = round.failed();
        if failed > 0 {
            violations.push(format!("{failed} failed"));
        }
        match round.arrivals {
            Some(it) if it.due > 0 => {
                // A short round ends before a backlog that grows has reached the limits, so the pace itself is asked too: what
                // each user may have waiting at a chance moment, or a hundredth of all.
                let left = it.dropped + it.unstarted;
                if left > (it.due / 100).max(3 * search.users as u64) {
                    violations.push(format!("{left} of {} that were due were not started", it.due));
                }
            }
            _ => violations.push("nothing was due".to_owned()),
        }
        violations.extend(round.void.clone());
        Self { violations, worst_limit_ratio: worst.is_finite().then_some(worst) }
    }
}
