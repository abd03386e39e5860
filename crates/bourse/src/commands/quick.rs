//! `bourse quick`: the picture of a machine.

use crate::args::Quick;
use crate::failure::Failure;
use crate::plan::{quick, show::duration};
use crate::progress::note;

/// Runs the brokerage workload and the classic ones that are quoted most on every engine that is here.
pub(crate) fn run(arguments: &Quick) -> Result<(), Failure> {
    let plan = quick::plan(arguments)?;
    if !arguments.execution.dry_run {
        note(&format!("quick look: {}", duration(&plan)));
    }
    super::run(&plan, &arguments.execution, &arguments.output)
}
