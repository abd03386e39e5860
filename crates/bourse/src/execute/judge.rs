//! Verdict on a round of a search: by its quantiles, its failures and the operations that were never started.

use crate::plan::Search;
use bourse_record::{Round, length};

/// A round of a search, judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    /// Limits that it did not meet, a sentence each; empty if it met all.
    pub(super) violations: Vec<String>,
    /// The worst quantile as a share of its limit; `None` if one of them is an operation without a time.
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
        if let Some(it) = round.arrivals.filter(|it| it.due > 0) {
            // A short round ends before a growing backlog has reached the limits, so the pace itself is judged too: each
            // user may have a few operations waiting at a random moment, or a hundredth of all.
            let left = it.dropped + it.unstarted;
            if left > (it.due / 100).max(3 * search.users as u64) {
                violations.push(format!("{left} of {} that were due were not started", it.due));
            }
        } else {
            violations.push("nothing was due".to_owned());
        }
        let failed = round.failed();
        if failed > 0 {
            violations.push(format!("{failed} failed"));
        }
        let mut worst = 0.0_f64;
        // Quantiles beyond their limit: ratio and text.
        let mut beyond: Vec<(f64, String)> = Vec::new();
        let mut endless: Vec<String> = Vec::new();
        for limit in &search.limits {
            for reached in limit.reached(round) {
                let ratio = reached.quantile_ns / limit.limit_ns as f64;
                worst = worst.max(ratio);
                let name = format!("{}: {}", reached.operation, limit.quantile_name());
                match reached.quantile_ns {
                    ns if limit.holds(ns) => {}
                    ns if ns.is_finite() => {
                        beyond.push((ratio, format!("{name} {}, limit {}", length(ns), length(limit.limit_ns as f64))));
                    }
                    _ => endless.push(name),
                }
            }
        }
        beyond.sort_by(|a, b| b.0.total_cmp(&a.0));
        let beyond: Vec<String> = beyond.into_iter().map(|(_, words)| words).collect();
        // One of each kind is enough for a line: the others are beyond their limits for the same reason.
        let more = |names: &[String]| match names.len() {
            0 | 1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        violations.extend(beyond.first().map(|worst| format!("{worst}{}", more(&beyond))));
        violations.extend(endless.first().map(|name| {
            format!("{name} beyond any limit, since too many failed or were not started{}", more(&endless))
        }));
        violations.extend(round.void.clone());
        Self { violations, worst_limit_ratio: worst.is_finite().then_some(worst) }
    }
}
