//! `bourse quick`: the picture of a machine.

use crate::args::Quick;
use crate::failure::Failure;
use crate::plan::quick;

/// Runs the brokerage workload and the classic ones that are quoted most on every engine that is here.
pub(crate) fn run(arguments: &Quick) -> Result<(), Failure> {
    super::run(&quick::plan(arguments)?, &arguments.execution, &arguments.output)
}
