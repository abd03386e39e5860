//! Cost of one operation that the headline counts.

use super::CaseView;
use bourse_record::{CostCovers, Round};

/// Cost of one operation, a server's part included.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// CPU time, in nanoseconds; `None` if the server's cannot be read. No CPU time is known below [`Round::LEAST_CPU_S`].
    pub cpu_ns: Option<f64>,
    /// CPU time of the process that runs the round: the client's part, and the engine's if it works in it.
    pub own_cpu_ns: Option<f64>,
    /// The server's CPU time, in nanoseconds; `None` without a server, if it cannot be read, or in the part of one of its drivers.
    pub server_cpu_ns: Option<f64>,
    /// Bytes written by the server's own count; `None` without one, or in the part of one of its drivers.
    pub server_counted_bytes: Option<f64>,
    /// Processes that all of it covers: the fewest of any round's.
    pub covers: CostCovers,
    /// Bytes written; `None` if the server's cannot be read.
    pub written_bytes: Option<f64>,
    /// Bytes read from storage; `None` if the server's cannot be read.
    pub read_bytes: Option<f64>,
    /// Pages that were not in memory.
    pub misses: Option<f64>,
    /// Syncs; `None` if the engine does not count them, or counts those of other drivers too.
    pub syncs: Option<f64>,
}

/// Computes the cost; `None` for a case without a figure: the usage of a void case is no result either. Rounds whose usage
/// was read too late are left out.
pub(super) fn cost(view: &CaseView<'_>) -> Option<Cost> {
    view.valid_figure()?;
    let rounds: Vec<&Round> = view.case.rounds.iter().filter(|round| round.usage_late_s.is_none()).collect();
    let valid: u64 = rounds.iter().map(|round| round.headline_valid(&view.case.workload)).sum();
    let valid = Some(valid).filter(|valid| *valid > 0)? as f64;
    let each = |of: fn(&Round) -> Option<f64>| {
        rounds.iter().map(|round| of(round)).sum::<Option<f64>>().map(|sum| sum / valid)
    };
    let cpu_ns = |of: fn(&Round) -> Option<f64>| {
        each(of).filter(|cost| cost * valid >= Round::LEAST_CPU_S).map(|seconds| seconds * 1e9)
    };
    let is_part = rounds.iter().any(|round| round.is_part_on_server());
    let of_server = |cost: Option<f64>| cost.filter(|_| !is_part);
    Some(Cost {
        cpu_ns: cpu_ns(Round::cpu_s),
        own_cpu_ns: cpu_ns(|it| Some(it.own_cpu_s())),
        server_cpu_ns: of_server(cpu_ns(Round::server_cpu_s)),
        server_counted_bytes: of_server(each(Round::server_counted_bytes)),
        covers: match rounds.iter().find(|it| it.cost_covers() == CostCovers::Client) {
            Some(_) => CostCovers::Client,
            None => rounds.first()?.cost_covers(),
        },
        written_bytes: each(Round::all_written_bytes),
        read_bytes: each(Round::all_read_bytes),
        misses: of_server(each(|it| Some(it.misses() as f64))),
        syncs: of_server(each(|it| Some(it.io.iter().map(|file| file.syncs as f64).sum())))
            .filter(|_| rounds.iter().all(|it| !it.io.is_empty())),
    })
}
