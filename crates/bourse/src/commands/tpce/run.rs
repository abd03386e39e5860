//! `bourse tpce run`.

use crate::args::TpceRun;
use crate::failure::Result;
use crate::plan::brokerage;
use crate::progress::note;

/// Loads if needed, runs on each target, checks, reports.
pub(crate) fn run(arguments: &TpceRun) -> Result<()> {
    let plan = brokerage::plan(arguments)?;
    if arguments.targets.is_empty()
        && let Some(case) = plan.cases().next()
    {
        note(&format!("no target given: running on {}", case.target));
    }
    crate::commands::run(&plan, &arguments.settings.run.execution, &arguments.settings.run.output)
}
