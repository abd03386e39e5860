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

use crate::args::{ExecutionArgs, OutputArgs};
use crate::execute::{self, verdict::verdict};
use crate::failure::Result;
use crate::output::{ResultFolder, print, publish};
use crate::plan::{Plan, show::show};
use bourse_verdict::likeness::earlier_runs;

/// Prints a plan, or carries it out, writes the run's files, prints the report, and fails by the verdict on the figures.
fn run(plan: &Plan, how: &ExecutionArgs, output: &OutputArgs) -> Result<()> {
    if how.plan.dry_run {
        return print(&show(plan));
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
    outcome?;
    verdict(&file, plan)
}
