//! Verdict on a round of a search: by its quantiles, its failures and the operations that were never started.

use crate::plan::SearchPlan;
use bourse_record::{Round, Search, length};

/// A round of a search, judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    /// Limits that it did not meet, a sentence each; empty if it met all.
    pub(super) violations: Vec<String>,
    /// Quantiles of too few operations, which neither meet nor miss their limits, a sentence each with the remedy.
    pub(super) undetermined: Vec<String>,
    /// The worst quantile as a share of its limit; `None` if one of them is an operation without a time.
    pub(super) worst_limit_ratio: Option<f64>,
}

impl Judgement {
    /// Result of the round in a line.
    pub(super) fn words(&self) -> String {
        match (self.violations.as_slice(), self.undetermined.as_slice()) {
            ([], []) => "within every limit".to_owned(),
            ([], undetermined) => undetermined.join("; "),
            (violations, _) => violations.join("; "),
        }
    }

    /// Judges a round of a job whose interval at full length is `full_s` seconds. Operations that failed, were dropped or
    /// were never started are slower than all others.
    pub(super) fn of(round: &Round, search: &SearchPlan, full_s: f64) -> Self {
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
        // Quantiles of too few operations: how many times as many they need, and text.
        let mut few: Vec<(f64, String)> = Vec::new();
        let (is_paced, mut judged) = (search.unit == Search::PACE, 0);
        for limit in &search.limits {
            for reached in limit.reached(round) {
                let ratio = reached.quantile_ns / limit.limit_ns as f64;
                // A recording's rare statements cannot be had more often.
                if reached.too_few.is_none() || !is_paced {
                    worst = worst.max(ratio);
                }
                let name = format!("{}: {}", reached.operation, limit.quantile_name());
                if let Some((count, needed)) = reached.too_few {
                    let times = needed / count.max(1) as f64;
                    let for_s = (1.5 * full_s * times / 10.0).ceil() * 10.0;
                    let (operation, quantile) = (&reached.operation, limit.quantile_name());
                    let remedy = if is_paced { "record more".to_owned() } else { format!("try --for {for_s}s") };
                    few.push((
                        times,
                        format!("{operation}: {count} operations are too few for a {quantile} ({needed:.0} needed); {remedy}"),
                    ));
                    continue;
                }
                judged += 1;
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
        few.retain(|_| !is_paced || judged == 0);
        few.sort_by(|a, b| b.0.total_cmp(&a.0));
        let few: Vec<String> = few.into_iter().map(|(_, words)| words).collect();
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
        let undetermined = few.first().map(|longest| format!("{longest}{}", more(&few))).into_iter().collect();
        Self { violations, undetermined, worst_limit_ratio: worst.is_finite().then_some(worst) }
    }
}
