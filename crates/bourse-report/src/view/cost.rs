//! What one operation of the headline costs.

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

/// None of a case without a figure: what a void case took is no result either.
pub(super) fn cost(view: &CaseView<'_>) -> Option<Cost> {
    view.valid_figure()?;
    let valid = Some(view.headline_count()).filter(|valid| *valid > 0)? as f64;
    let rounds = &view.case.rounds;
    let each = |of: fn(&Round) -> Option<f64>| rounds.iter().map(of).sum::<Option<f64>>().map(|sum| sum / valid);
    Some(Cost {
        cpu_ns: each(|it| Some(it.cpu_s()? * 1e9)),
        written_bytes: each(Round::all_written_bytes),
        syncs: each(|it| Some(it.io.iter().map(|file| file.syncs as f64).sum()))
            .filter(|_| rounds.iter().any(|it| !it.io.is_empty())),
    })
}
