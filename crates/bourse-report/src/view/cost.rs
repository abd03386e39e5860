//! Cost of one operation that the headline counts.

use super::CaseView;
use bourse_record::Round;

/// Cost of one operation, a server's part included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// None where the server cannot be looked at.
    pub(crate) cpu_ns: Option<f64>,
    /// None where the server cannot be looked at.
    pub(crate) written_bytes: Option<f64>,
    /// None where the engine cannot say.
    pub(crate) syncs: Option<f64>,
}

/// None of a case without a figure: what a void case took is no result either. Rounds whose use was read too late are left out.
pub(super) fn cost(view: &CaseView<'_>) -> Option<Cost> {
    view.valid_figure()?;
    let rounds: Vec<&Round> = view.case.rounds.iter().filter(|round| round.usage_late_s.is_none()).collect();
    let valid: u64 = rounds.iter().map(|round| round.headline_valid(&view.case.workload)).sum();
    let valid = Some(valid).filter(|valid| *valid > 0)? as f64;
    let each = |of: fn(&Round) -> Option<f64>| {
        rounds.iter().map(|round| of(round)).sum::<Option<f64>>().map(|sum| sum / valid)
    };
    Some(Cost {
        cpu_ns: each(|it| Some(it.cpu_s()? * 1e9)),
        written_bytes: each(Round::all_written_bytes),
        syncs: each(|it| Some(it.io.iter().map(|file| file.syncs as f64).sum()))
            .filter(|_| rounds.iter().any(|it| !it.io.is_empty())),
    })
}
