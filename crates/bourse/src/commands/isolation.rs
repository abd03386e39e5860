//! `bourse isolation`: what isolation an engine gives, from recorded histories, and what it costs.

use super::report;
use crate::args::IsolationArgs;
use crate::failure::{Failure, Result};
use crate::output::{has_color, line_width, print};
use crate::plan::isolation;
use bourse_driver::history::examine;
use bourse_engine::Guarantee;
use bourse_isolation::{History, HistoryError};
use bourse_record::FoundAnomaly;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Records histories on each target at each level, examines them and reports; or examines stored ones again.
pub(crate) fn run(arguments: &IsolationArgs) -> Result<()> {
    match &arguments.replay {
        Some(path) => replay(path),
        None => super::run(&isolation::plan(arguments)?, &arguments.execution, &arguments.output),
    }
}

/// Examines a stored history, or shows what was found in each round of a run.
fn replay(path: &Path) -> Result<()> {
    let shown = |name: &str, transactions: u64, strongest: &str, found: &[FoundAnomaly]| {
        let sheet = bourse_report::anomalies(name, transactions, strongest, found);
        print(&sheet.terminal(line_width(), has_color(), true))
    };
    let file = path.is_file().then(|| File::open(path).ok()).flatten();
    match file.map(|file| History::read(BufReader::new(file))) {
        Some(Ok(history)) => {
            let of_each = vec![Guarantee::Serializable; history.transactions.len()];
            let (found, strongest, _) = examine(&history, &of_each, |transaction, action| {
                // Rows of the brokerage are of several tables, which the file does not name.
                let of_cells = !history.name.starts_with("tpce");
                of_cells.then(|| bourse_micro::history_statement(transaction, action)).flatten()
            });
            return shown(&history.name, history.transactions.len() as u64, &strongest, &found);
        }
        // A run's document is JSON of another kind.
        None | Some(Err(HistoryError::Foreign { .. } | HistoryError::Json { line: 1, .. })) => {}
        Some(Err(error)) => {
            let why = format!("cannot read {}: {error}", path.display());
            return Err(Failure::usage(why).hint(error.hint()));
        }
    }
    let run = report::read(path)?;
    let rounds = run.cases.iter().flat_map(|case| case.rounds.iter().map(move |round| (&case.label, round)));
    let mut found = rounds.filter_map(|(label, round)| Some((label, round.history.as_ref()?))).peekable();
    if found.peek().is_none() {
        return Err(Failure::usage("this run recorded no histories").hint("`bourse isolation TARGET` records some"));
    }
    found.try_for_each(|(label, it)| shown(label, it.committed, &it.not_refuted, &it.anomalies))
}
