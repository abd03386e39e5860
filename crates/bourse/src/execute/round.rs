//! One round of a job: a request and its outcome; both are data, so that another process can run it.

use super::RunContext;
use super::databases::Databases;
use super::instructions::RoundCount;
use super::sample::SampleChecks;
use super::system::SystemUnderTest;
use crate::args::MemoryArgs;
use crate::failure::{Failure, Result};
use crate::oltp::database::ReadyDatabase;
use crate::plan::Job;
use crate::plan::work::settings_of;
use crate::progress::ProgressStep;
use crate::spent;
use bourse_driver::{FixedLoop, RoundPlan, wait_for_quiet};
use bourse_engine::Description;
use bourse_record::{Conditions, Engine, Round, Warning, Workload};
use serde::{Deserialize, Serialize};

/// Request for a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundRequest {
    /// The target, as a URL.
    pub(crate) target: String,
    /// The job of a round.
    pub(crate) job: Job,
    /// Seed of the run.
    pub(crate) seed: u64,
    /// Number of the round: rounds differ in their requests, like two runs, and still follow from the run's seed.
    pub(crate) round: u32,
    /// Whether other rounds run on the same database, so that each must find it as the first did.
    pub(crate) begins_alike: bool,
    /// Whether it is the first of its case: its document has the checks of the database.
    pub(crate) is_first: bool,
    /// Whether its figures only steer a search: optional checks are left out then.
    pub(crate) is_probe: bool,
    /// Note on how the caller prepared the database, for the run file.
    pub(crate) history: Option<String>,
    /// Longest wait for a quiet machine, in nanoseconds.
    pub(crate) wait_quiet_ns: Option<u64>,
    /// Time after the measurement interval until a running call counts as lost, in nanoseconds.
    pub(crate) call_limit_ns: u64,
    /// Whether each statement is timed.
    pub(crate) statements: bool,
    /// Counting of its instructions, if they are counted.
    pub(crate) count: Option<RoundCount>,
    /// Page cache and memory of the round.
    pub(crate) memory: MemoryArgs,
}

impl RoundRequest {
    /// Seed of the round.
    pub(crate) fn own_seed(&self) -> u64 {
        self.seed.wrapping_add(u64::from(self.round))
    }

    /// Plan of the round, of which other things are as in `of`.
    pub(super) fn round_plan(&self, of: RoundPlan) -> RoundPlan {
        RoundPlan { statements: self.statements, page_cache: self.memory.cache, ..of }
    }

    /// Waits for a quiet machine, at most for the requested time; a warning if it did not become quiet.
    pub(super) fn wait(&self, context: &RunContext) -> Option<Warning> {
        let limit = self.wait_quiet_ns?;
        let limit_s = limit / bourse_driver::SECOND;
        let step = ProgressStep::waiting(format!("waiting up to {limit_s} s for background load to drop"));
        let _spending = spent::on(spent::SpentPart::Quiet);
        let is_quiet = wait_for_quiet(&context.clock, limit, &context.interrupted);
        step.done();
        (!is_quiet).then_some(Warning::NotQuiet)
    }
}

/// Result of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundOutcome {
    /// The figures, with their checks.
    pub(crate) round: Round,
    /// Description of the engine, as read back.
    pub(crate) engine: Engine,
    /// Workload that the round ran.
    pub(crate) workload: Workload,
    /// Conditions of the round.
    pub(crate) conditions: Conditions,
    /// Warnings in the engine's description.
    pub(crate) warnings: Vec<String>,
    /// Whether an interruption ended the round.
    pub(crate) interrupted: bool,
    /// Times of a fixed CPU loop right after the round, in nanoseconds: median and 90th percentile. `None` if it was not run.
    pub(crate) fixed_loop_ns: Option<[f64; 2]>,
    /// Instructions that the processor counted in the child process; 0 if it counted none.
    pub(crate) instructions: u64,
    /// Time spent by the child process of the round, by part; empty for a round in this process.
    pub(crate) spent: spent::SpentParts,
    /// Failure that ended it, if it did not end by itself.
    pub(crate) failure: Option<Failure>,
}

impl RoundOutcome {
    /// Outcome of a round that ended by itself.
    pub(super) fn of(round: Round, described: Description, workload: Workload, conditions: Conditions) -> Self {
        Self {
            round,
            warnings: described.warnings.clone(),
            engine: bourse_driver::described(described),
            workload,
            conditions,
            interrupted: false,
            fixed_loop_ns: None,
            instructions: 0,
            spent: spent::SpentParts::new(),
            failure: None,
        }
    }
}

/// Execution of a workload's rounds.
pub(super) trait ExecuteRounds {
    /// Opens a target and makes sure that it holds the database of the job.
    fn open(&self, target: &str, context: &RunContext) -> Result<(SystemUnderTest, ReadyDatabase)>;

    /// Runs a round.
    fn round(
        &self,
        request: &RoundRequest,
        databases: &mut Databases,
        context: &RunContext,
        label: &str,
    ) -> Result<RoundOutcome>;

    /// Samples the transactions on a database next to a target's; without checks if the workload has none.
    fn sample(&self, target: &str, context: &RunContext) -> Result<SampleChecks> {
        let _ = (target, context);
        Ok(SampleChecks::new())
    }
}

impl Job {
    /// The workload whose rounds are run.
    pub(super) fn rounds(&self) -> &dyn ExecuteRounds {
        settings_of!(self, job => &**job)
    }
}

/// Runs a round in this process.
pub(crate) fn round(
    request: &RoundRequest,
    databases: &mut Databases,
    context: &RunContext,
    label: &str,
) -> Result<RoundOutcome> {
    let _spending = spent::on(spent::SpentPart::Rounds);
    let mut outcome = request.job.rounds().round(request, databases, context, label)?;
    spent::of_round(&outcome.round, request.is_probe);
    outcome.conditions.page_cache = request.memory.cache;
    outcome.conditions.memory_limit_bytes = request.memory.limit;
    if !request.is_probe && !context.is_interrupted() {
        let FixedLoop { median_ns, p90_ns } = FixedLoop::now(&context.clock);
        outcome.fixed_loop_ns = Some([median_ns, p90_ns]);
    }
    Ok(outcome)
}
