//! `bourse quick`: all engines of a machine in a few minutes.

use crate::args::QuickArgs;
use crate::failure::Result;
use crate::plan::quick;

/// Runs the brokerage workload and the most quoted classic ones on every available engine.
pub(crate) fn run(arguments: &QuickArgs) -> Result<()> {
    super::run(&quick::plan(arguments)?, &arguments.execution, &arguments.output)
}
