//! `bourse micro run`.

use crate::args::MicroRun;
use crate::failure::Failure;
use crate::plan::classic;

/// Runs a classic workload on each target and reports.
pub(crate) fn run(arguments: &MicroRun) -> Result<(), Failure> {
    crate::commands::run(&classic::plan(arguments)?, &arguments.execution, &arguments.output)
}
