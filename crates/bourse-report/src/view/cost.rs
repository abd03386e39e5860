//! What one operation of the headline costs.

use super::CaseView;
use bourse_record::Round;

/// Cost of one operation, the server's part among it if there is a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cpu_ns: f64,
    pub(crate) written_bytes: f64,
    /// None where the engine cannot say.
    pub(crate) syncs: Option<f64>,
}

/// None of a case without a figure: what a void case took is no result either.
pub(super) fn cost(view: &CaseView<'_>) -> Option<Cost> {
    view.valid_figure()?;
    let valid = Some(view.headline_count()).filter(|valid| *valid > 0)? as f64;
    let rounds = &view.case.rounds;
    let each = |of: fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>() / valid;
    Some(Cost {
        cpu_ns: each(|it| {
            let of_server = it.server.map_or(0.0, |server| server.cpu_user_s + server.cpu_system_s);
            (it.cpu_user_s + it.cpu_system_s + of_server) * 1e9
        }),
        written_bytes: each(|it| it.written_bytes as f64 + it.server.map_or(0.0, |server| server.written_bytes as f64)),
        syncs: rounds
            .iter()
            .any(|it| !it.io.is_empty())
            .then(|| each(|it| it.io.iter().map(|file| file.syncs as f64).sum())),
    })
}
