//! `bourse micro run` and `bourse replay`.

use crate::args::{MicroRun, ReplayArgs};
use crate::failure::Result;
use crate::plan::classic;

/// Runs a classic workload on each target and reports.
pub(crate) fn run(arguments: &MicroRun) -> Result<()> {
    crate::commands::run(&classic::plan(arguments)?, &arguments.conduct.execution, &arguments.conduct.output)
}

/// Replays a recording on each target and reports.
pub(crate) fn replay(arguments: &ReplayArgs) -> Result<()> {
    crate::commands::run(&classic::replay(arguments)?, &arguments.conduct.execution, &arguments.conduct.output)
}
