//! `bourse suite run`: every case of a suite, rounds in turn, and the report next to the published figures.

use super::list::find;
use crate::args::SuiteRun;
use crate::execute::{self, CaseRun, verdict::steady};
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::{ResultFolder, print, publish_suite};
use crate::plan::{
    show::show,
    suite::{SuitePlan, plan},
};
use crate::progress::note;
use bourse_record::{FEWEST_ROUNDS, Interference, RunFile, Warning};
use bourse_verdict::suite::SuiteFile;
use bourse_verdict::suite::document::{CellState, EngineUsed, Incomplete, RerunFacts, SuiteCaseOutcome};
use std::collections::BTreeMap;

/// Runs a suite, writes its files, prints its report.
pub(crate) fn run(arguments: &SuiteRun) -> Result<()> {
    let suite = find(&arguments.name)?;
    let planned = plan(&suite, arguments)?;
    if arguments.execution.plan.dry_run {
        return print(&show(&planned.plan, true));
    }
    let rounds = planned.plan.blocks.iter().map(|block| block.rounds).max().unwrap_or(0);
    let few = ((rounds as usize) < FEWEST_ROUNDS && !suite.findings.is_empty())
        .then_some(Warning::TooFewRounds { rounds, needed: FEWEST_ROUNDS as u32 });
    few.iter().for_each(|few| note(&few.to_string()));
    for (name, why) in planned.urls.iter().filter_map(|(name, url)| Some((name, url.as_ref().err()?))) {
        note(&format!("{name}: not run: {why}"));
    }
    let folder = ResultFolder::new(&arguments.output.directory, &format!("suite-{}", suite.name))?;
    let executed = execute::run(&planned.plan, &arguments.execution, &folder)?;
    let outcomes: Vec<SuiteCaseOutcome> = executed.cases.iter().map(outcome).collect();
    let engines = engines(&planned, &executed.cases);
    let disturbed = disturbed(executed.cases.iter().flat_map(|case| {
        let taken = case.rounds().iter().filter_map(|round| round.interference?.known());
        taken.map(|taken| (taken, case.label()))
    }));
    let mut whole = RunFile { name: suite.name.clone(), ..executed.file() };
    whole.warnings.extend(few);
    whole.warnings.extend(disturbed);
    let repeated: usize = whole.cases.iter().map(|case| case.set_aside.len()).sum();
    whole.warnings.extend((repeated > 0).then_some(Warning::RoundsRepeated { rounds: repeated as u32 }));
    let facts = RerunFacts {
        provenance: whole.provenance.clone(),
        rounds,
        engines,
        warnings: whole.warnings.clone(),
        interrupted: whole.interrupted,
    };
    let file = SuiteFile::of(&planned.cells, &outcomes, facts);
    if whole.interrupted && !file.has_figures() {
        return Err(interrupt::interrupted_unmeasured());
    }
    publish_suite(&file, &whole, &folder, &arguments.output)?;
    verdict(&file)?;
    steady(&whole, &planned.plan)
}

/// Outcome of a case. Rounds that were cut off are in the run file, but in no figure of a table.
fn outcome(case: &CaseRun) -> SuiteCaseOutcome {
    let not_run = case.planned.not_run.clone().map(Incomplete::NotRun);
    let failed = || case.failure.as_ref().map(|failure| Incomplete::Failed(failure.line()));
    SuiteCaseOutcome { rounds: case.whole_rounds().cloned().collect(), trouble: not_run.or_else(failed) }
}

/// Description of each target, as read back from it, or the reason why nothing was run on it.
fn engines(planned: &SuitePlan<'_>, cases: &[CaseRun]) -> BTreeMap<String, EngineUsed> {
    let used = |name: &String, url: &Result<String, String>| {
        let mut of_target = planned.cells.cases.iter().zip(cases).filter(|(case, _)| case.target == *name);
        EngineUsed {
            title: planned.cells.suite.targets[name].title.clone(),
            engine: of_target.find_map(|(_, run)| Some(run.case.as_ref()?.engine.clone())),
            not_run: url.as_ref().err().cloned(),
        }
    };
    planned.urls.iter().map(|(name, url)| (name.clone(), used(name, url))).collect()
}

/// Warning about disturbed rounds, from the CPUs that other processes took in each round: their number and the worst.
fn disturbed<'a>(rounds: impl Iterator<Item = (f64, &'a str)>) -> Option<Warning> {
    let (mut all, mut noticed) = (0_u32, Vec::new());
    for round in rounds {
        all += 1;
        if round.0 > Interference::NOTICED {
            noticed.push(round);
        }
    }
    let (most, label) = noticed.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Warning::DisturbedRounds {
        disturbed: noticed.len() as u32,
        known: all,
        most_in: (*label).to_owned(),
        most_cpus: *most,
    })
}

/// Failure for the exit code of the suite's result.
fn verdict(file: &SuiteFile) -> Result<()> {
    let cells = || file.tables.iter().flat_map(|table| table.cells.iter().map(move |cell| (&table.id, cell)));
    let named = |wanted: fn(&CellState) -> bool| {
        cells()
            .filter(|(_, cell)| wanted(&cell.state))
            .map(|(table, cell)| format!("{table}/{}/{}", cell.row, cell.column))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let void = named(|state| matches!(state, CellState::Void(_)));
    if !void.is_empty() {
        return Err(Failure::new(Exit::Check, "figures are void: checks of the database failed").detail("cells", void));
    }
    if file.interrupted {
        return Err(interrupt::interrupted("what was measured until then is reported"));
    }
    let failed = named(|state| matches!(state, CellState::Failed(_)));
    if !failed.is_empty() {
        return Err(Failure::new(Exit::Target, "some cells failed; the others are reported").detail("cells", failed));
    }
    if !file.has_figures() {
        return Err(Failure::new(Exit::Target, "nothing could be run")
            .hint("`bourse engines` shows which engines are available"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_are_told_of() {
        assert_eq!(disturbed([(0.02, "2a"), (0.1, "2b")].into_iter()), None);
        assert_eq!(disturbed([].into_iter()), None);
        let told = disturbed([(0.02, "2a"), (0.3, "2b"), (1.25, "2c"), (0.5, "2d")].into_iter());
        let expected = Warning::DisturbedRounds { disturbed: 3, known: 4, most_in: "2c".to_owned(), most_cpus: 1.25 };
        assert_eq!(told, Some(expected));
    }
}
