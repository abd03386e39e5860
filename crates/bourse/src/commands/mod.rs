//! The commands, a file each. Those that measure: arguments → plan → execute → publish.

pub(crate) mod acid;
pub(crate) mod bisect;
pub(crate) mod compare;
pub(crate) mod crash;
pub(crate) mod data;
pub(crate) mod engines;
pub(crate) mod faults;
pub(crate) mod help;
pub(crate) mod isolation;
pub(crate) mod micro;
pub(crate) mod mix;
pub(crate) mod oltp;
pub(crate) mod quick;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod suite;
pub(crate) mod tpce;
pub(crate) mod tune;
pub(crate) mod versions;
pub(crate) mod watch;

use crate::args::{ExecutionArgs, OltpRun, OutputArgs};
use crate::execute::{self, verdict::verdict};
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::{ResultFolder, print, publish};
use crate::plan::{Plan, show::show};
use crate::progress::note;
use bourse_verdict::likeness::earlier_runs;

/// Prints a plan, or carries it out, writes the run's files, prints the report, and fails by the verdict on the figures.
fn run(plan: &Plan, how: &ExecutionArgs, output: &OutputArgs) -> Result<()> {
    if how.plan.dry_run {
        return print(&show(plan, output.verbose));
    }
    let folder = ResultFolder::new(&output.directory, &plan.name)?;
    let (mut file, outcome) = execute::run(plan, how, &folder)?.measured()?;
    // A folder that cannot be read has no earlier runs. More than these would delay the end of a run.
    const MOST_EARLIER: usize = 50;
    let earlier = runs::run_files(&output.directory)
        .map_or_else(|_| Vec::new(), |files| files.rev().take(MOST_EARLIER).collect());
    let found: Vec<_> = file.cases.iter().map(|case| earlier_runs(&file, case, &earlier)).collect();
    file.cases.iter_mut().zip(found).for_each(|(case, found)| case.earlier = found);
    publish(&file, &folder, output)?;
    verdict(&file, plan, outcome)
}

/// Runs a plan of a transactional workload; without targets that of the plan is reported.
fn run_oltp(plan: &Plan, targets: &[String], how: &OltpRun) -> Result<()> {
    if let (true, Some(case)) = (targets.is_empty(), plan.cases().next()) {
        note(&format!("no target given: running on {}", case.target));
    }
    run(plan, &how.execution, &how.output)
}

/// Verdict on tests of guarantees: of so many violated among those tried, of an interruption, or of targets that were not tried.
fn judged<'r>(
    [violated, tried]: [usize; 2],
    interrupted: bool,
    what: &str,
    untried: impl ExactSizeIterator<Item = (&'r str, &'r str)>,
    hint: &str,
) -> Result<()> {
    if violated > 0 {
        return Err(Failure::new(Exit::Check, format!("{violated} of {tried} guarantees are violated")));
    }
    if interrupted {
        return Err(interrupt::interrupted(&format!("the {what} until then are reported")));
    }
    if untried.len() == 0 { Ok(()) } else { Err(Failure::all_unavailable(untried).hint(hint)) }
}
