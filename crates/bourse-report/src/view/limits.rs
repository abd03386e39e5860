//! What kept the figure from being higher, as far as a run file can tell.

use super::{CaseView, Clock};
use crate::units;

/// A share of the users' time from which on we say that it is what limits.
const MOST: f64 = 0.5;
/// A share of the processors from which on they are full; the rest is the operating system's and the sampling's.
const FULL: f64 = 0.85;

/// A sentence; none if nothing was measured. Claims no more than the figures show: what is left over after processor
/// and locks is called waiting.
pub(super) fn limited_by(view: &CaseView<'_>) -> Option<String> {
    let busy = view.cores_busy().filter(|busy| busy.is_finite() && view.figure().is_some())?;
    Some(limit(view, busy))
}

fn limit(view: &CaseView<'_>, busy: f64) -> String {
    let cores = f64::from(view.machine().cores.max(1));
    let busy_words = format!("{} of {} cores busy", units::significant(busy, 3), view.machine().cores);
    if busy >= FULL * cores {
        return format!("bottleneck: CPU; {busy_words}");
    }
    // A schedule that was kept is what limits: asked for more, they would have done more.
    let kept_pace = view.arrivals().is_some_and(|it| (it.dropped + it.unstarted) * 100 <= it.due);
    if kept_pace {
        return format!("bottleneck: the requested rate, which was reached; {busy_words}");
    }
    // What the users spent inside the engine is the time there was to win, whoever of them spent it.
    let inside = inside_engine_s(view) / view.measured_s();
    let locks = view.mean("lock_wait").unwrap_or(0.0);
    let written = units::bytes(written_per_second(view));
    if inside > 0.0 && locks / inside >= MOST {
        let share = units::percent(100.0 * (locks / inside).min(1.0));
        return format!(
            "bottleneck: locks; {share} of the time in the engine was spent waiting for them; {busy_words}"
        );
    }
    if inside > 0.0 && busy / inside < MOST {
        let waited = units::percent(100.0 * (1.0 - (busy + locks) / inside).clamp(0.0, 1.0));
        return format!(
            "bottleneck: I/O, the writer lock or CPU scheduling; about {waited} of the time in the engine was spent waiting; \
             {busy_words}, {written}/s written"
        );
    }
    if inside > 0.0 && inside < FULL {
        let percent = units::percent(100.0 * inside);
        let what = if busy > 1.5 * inside { "the harness" } else { "the load" };
        return format!("bottleneck: {what}; the engine worked {percent} of the time; {busy_words}");
    }
    if (FULL..1.15).contains(&busy) {
        return format!("bottleneck: one CPU core; {busy_words}; only more concurrent users or writers can use more");
    }
    format!("no clear bottleneck: {busy_words}, {written}/s written")
}

/// Seconds all users together spent inside the engine and its locks.
fn inside_engine_s(view: &CaseView<'_>) -> f64 {
    let summaries = view.operations.iter().filter_map(|operation| operation.latency(Clock::Service).summary);
    summaries.map(|summary| summary.mean_ns * summary.count as f64).sum::<f64>() / 1e9
}

fn written_per_second(view: &CaseView<'_>) -> f64 {
    let own = view.case.rounds.iter().map(|round| round.written_bytes as f64).sum::<f64>() / view.measured_s();
    own + view.mean("server_written_bytes").unwrap_or(0.0)
}
