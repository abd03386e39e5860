//! Customers' response times at a part of the rate, without waits of users for one another.

use super::{CaseView, Latency, Quantile, Remark};
use crate::Tone;
use crate::units;
use bourse_record::{Case, Conditions, LatencyPhase, is_of_customers};

/// The latency phases after the rounds.
fn phases<'a>(view: &CaseView<'a>) -> impl Iterator<Item = &'a LatencyPhase> + use<'a> {
    view.case.rounds.iter().filter_map(|round| round.latency.as_deref())
}

/// A case of the phases after the rounds alone, for its tables. `None` without such phases, or if one did not keep its rate:
/// its response times would be those of another rate.
pub fn latency_case(view: &CaseView<'_>) -> Option<Case> {
    let rounds: Vec<_> = phases(view).map(|phase| phase.round.clone()).collect();
    let has_kept_pace = !rounds.is_empty() && phases(view).all(LatencyPhase::kept_pace);
    // Scheduled arrivals do not pause for the driver's queue, and wait in it no longer than a customer does.
    let conditions = Conditions { driver_queue: None, ..view.case.conditions.clone() };
    has_kept_pace.then(|| Case { rounds, conditions, ..view.case.clone() })
}

/// Customers' response times at that part of the rate, in a sentence; `None` if they were not measured.
pub(super) fn sentence(view: &CaseView<'_>) -> Option<Remark> {
    let first = phases(view).next()?;
    let part = units::percent(100.0 * first.part).replace(".00 %", " %");
    let per_second = units::number(first.per_second);
    let rate = format!("{part} of the customers' rate ({per_second}/s without the market's, one stream of arrivals)");
    let remark = |tone, text: String| Some(Remark::new(tone, text));
    if let Some(why) = phases(view).find_map(|phase| phase.round.void.as_deref()) {
        return remark(Tone::Bad, format!("what a customer waits at {rate}: no figure: {why}"));
    }
    let Some(case) = latency_case(view) else {
        let arrivals = phases(view).filter_map(|phase| phase.round.arrivals);
        let (started, due) = arrivals.fold((0, 0), |(started, due), it| (started + it.started, due + it.due));
        let share = format!("{:.1} %", 100.0 * started as f64 / due.max(1) as f64);
        return remark(
            Tone::Doubtful,
            format!(
                "what a customer waits at {rate}: no figure: only {share} of scheduled transactions started (99 % required)"
            ),
        );
    };
    let waits = CaseView::new(view.file, &case);
    let customers = waits.operations.iter().filter(|operation| is_of_customers(&operation.name));
    let together = Latency::together(customers.map(|operation| &operation.response))?;
    let found = [("p50", 0.5), ("p99", 0.99)].map(|(name, quantile)| match together.quantile(quantile) {
        Some(Quantile::At(ns)) => format!("{name} {}", units::duration_ns(ns as f64)),
        Some(Quantile::Beyond(ns)) => format!("{name} {}", units::beyond_ns(ns)),
        Some(Quantile::TooFew) => format!("{name}: no figure (too few transactions)"),
        None => format!("{name}: no figure (no times)"),
    });
    let found = found.join(", ");
    let text = format!("what a customer waits at {rate}: {found}");
    let verdict = Some(format!("what a customer waits at {part} of the customers' rate: {found}"));
    Some(Remark { tone: Tone::Plain, text, verdict })
}
