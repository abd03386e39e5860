//! Ways to run the rounds of a block.

use super::find_max::FindMax;
use super::in_turn::RoundsInTurn;
use super::{CaseRun, Executor};
use crate::failure::Result;
use crate::plan::CaseBlock;

/// Decides by the rounds until now which round is run next, and when a block is done.
pub(super) trait Strategy {
    /// Runs the rounds of a block. Results before a failure are retained.
    fn run(&self, executor: &mut Executor<'_>, block: &CaseBlock, cases: &mut [CaseRun]) -> Result<()>;
}

/// The strategy for the cases of a block.
pub(super) fn of(cases: &[CaseRun]) -> &'static dyn Strategy {
    if cases.iter().any(|case| case.planned.job.search().is_some()) { &FindMax } else { &RoundsInTurn }
}
