//! Jobs of transactional workloads as systems under test and several drivers take them, whatever the workload.

use super::RunContext;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::oltp::database::{ReadyDatabase, WithWanted, engine_failure};
use crate::oltp::served::ServedWorkload;
use crate::plan::Job;
use crate::plan::drivers::Coordinate;
use crate::plan::targets::Requirements;
use bourse_oltp::Size;
use bourse_oltp::check::Depth;
use bourse_oltp::sut::RunError;

/// Job of a transactional workload: its transactions can be performed by a server, and its rounds shared by several drivers.
pub(super) trait SharedJob {
    /// The workload.
    fn served(&self) -> Result<&'static dyn ServedWorkload>;

    /// Requirements of its rounds.
    fn requirements(&self) -> Result<Requirements<'_>>;

    /// Depth of the checks before a run.
    fn depth(&self) -> Depth;

    /// Calls `then` with the database that it wants.
    fn wanted(&self, context: &RunContext, then: WithWanted<'_>) -> Result<ReadyDatabase>;

    /// The job of one of its processes of users, which meet at that place, on a database of that size.
    fn of_process(&self, size: &Size, coordinate: Coordinate) -> Result<Job>;
}

/// Failure of a run that could not begin.
pub(super) fn run_failure(target: &str, error: &RunError) -> Failure {
    match error {
        RunError::Options(why) => Failure::usage(why.clone()),
        RunError::Engine(error) => engine_failure(target, error),
        RunError::Interrupted => interrupt::interrupted("the round had not begun"),
        RunError::Refused(why) => {
            Failure::new(Exit::Target, format!("the round on {target} did not begin")).detail("cause", why.clone())
        }
        RunError::Opening(_) | RunError::Setup(_) => {
            Failure::new(Exit::Target, format!("cannot start the run on {target}")).detail("cause", error.to_string())
        }
    }
}
