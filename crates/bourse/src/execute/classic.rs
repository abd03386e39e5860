//! A round of a classic workload: its tables created, warm-up, measurement, checks.

use super::databases::Databases;
use super::round::ExecuteRounds;
use super::system::SystemUnderTest;
use super::{RoundOutcome, RoundRequest, RunContext, parts};
use crate::args::{ArrivalsArg, TimingMode};
use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::live;
use crate::oltp::database::{ReadyDatabase, engine_failure, refuse_foreign, refused};
use crate::plan::ClassicRound;
use bourse_driver::{Fault, OpenLoop};
use bourse_engine::{Durability, EngineError, ErrorKind};
use bourse_micro::{FROM, MicroError, NOTICE, PreparedRound, RoundResult, prepare_round, refuse_others, run_prepared};
use bourse_record::{Conditions, NameValue, Outcome, Warning, Workload, WorkloadKind};

impl ExecuteRounds for ClassicRound {
    fn open(&self, _: &str, _: &RunContext) -> Result<(SystemUnderTest, ReadyDatabase)> {
        Err(Failure::usage(format!("{} makes its own tables for each round", self.workload)))
    }

    fn round(&self, request: &RoundRequest, _: &mut Databases, context: &RunContext, _: &str) -> Result<RoundOutcome> {
        let target = &request.target;
        let case = self.case()?;
        let mut engine = engines::open(target)?;
        let failed_by = |exit: Exit, cause: String| {
            Failure::new(exit, format!("cannot run {} on {target}", self.workload)).detail("cause", cause)
        };
        let failed = |cause: String| failed_by(Exit::Target, cause);
        // Before the description, for which an engine would open even a foreign database.
        refuse_foreign(target, &*engine)?;
        let cannot_run = |error: MicroError| match error {
            MicroError::Foreign => refused(target, &error.to_string()),
            MicroError::Engine { error, .. } if matches!(error.kind(), ErrorKind::Refused | ErrorKind::Interrupted) => {
                engine_failure(target, &error)
            }
            MicroError::Fault(Fault::Interrupted) => interrupt::interrupted_unmeasured(),
            MicroError::Statement { error, .. }
                if error.kind() == ErrorKind::Interrupted && context.is_interrupted() =>
            {
                interrupt::interrupted_unmeasured()
            }
            // Refusals of the engine are to be fixed in the user's file.
            MicroError::Fault(Fault::Prepare { .. }) => failed_by(Exit::Usage, error.to_string()),
            MicroError::Statement { error: ref cause, .. } if is_of_statement(cause.kind()) => {
                failed_by(Exit::Usage, error.to_string())
            }
            MicroError::Engine { error: ref cause, .. } if cause.kind() == ErrorKind::Full => {
                failed(error.to_string()).hint("free some space, name another target, or use fewer rows")
            }
            MicroError::Engine { error: ref cause, .. } => failed_by(Exit::of(cause.kind()), error.to_string()),
            other => failed(other.to_string()),
        };
        refuse_others(&*engine).map_err(cannot_run)?;
        engines::make_folder(target)?;
        // This starts a private server. If it does not come up the round ends: another call would start it again.
        let stopped = |error: EngineError| match error.kind() {
            ErrorKind::Refused | ErrorKind::Interrupted => engine_failure(target, &error),
            kind => failed_by(Exit::of(kind), error.to_string()),
        };
        let before = engine.description().map_err(stopped)?;
        let raw_syncs = bourse_driver::raw_syncs(&engine.location(), before.durability, &context.clock);
        let not_quiet = request.wait(context);
        let (timing, seed) = (self.timing(request.statements), request.own_seed());
        let result = match case.processes() {
            1 => {
                let prepared = prepare_round(&case, &*engine, &context.clock).map_err(cannot_run)?;
                let page_cache = request.memory.cache;
                if page_cache.is_some() {
                    // Its caches hold what was prepared. One engine at a time can have a database open.
                    drop(engine);
                    engine = engines::open(target)?;
                }
                let prepared = PreparedRound { page_cache, ..prepared };
                let (clock, interrupted) = (&context.clock, &context.interrupted);
                run_prepared(&case, prepared, &*engine, &timing, seed, clock, interrupted, &mut |progress| {
                    live::second(progress, false);
                    context.end_if_lost(target, progress);
                })
                .map_err(cannot_run)?
            }
            _ => {
                let round = parts::run(self, request, (&case, &*engine), context, &cannot_run)?;
                RoundResult { round, interrupted: context.is_interrupted(), fault: None }
            }
        };
        // An engine that was lost during the round has no description any more; the results are retained.
        let mut described = engine.description().unwrap_or(before);
        let is_refusal = result.fault.as_ref().is_some_and(Fault::is_refusal);
        let fault = result.fault.map(|fault| fault.to_string());
        let mut round = result.round;
        if let Some(why) = round.warnings.iter().find(|it| matches!(it, Warning::NotSynced { .. })) {
            described.lower(Durability::Unknown, why.to_string());
        }
        round.warnings.extend(not_quiet);
        round.warnings.extend(fault.clone().map(|cause| Warning::RoundEnded { cause }));
        // The database that was named, and not its copy; without one it is not listed.
        let parameters = case.options.effective().filter_map(|(name, value)| {
            let value = if name == FROM { self.from()? } else { value };
            Some(NameValue::new(name, value))
        });
        // A file of the same name may have other statements in it the next time.
        let contents = case.contents().map(|value| NameValue::new("contents", value));
        // The default is not listed.
        let timed = match self.timed {
            TimingMode::Batched => None,
            TimingMode::Sampled => Some("sampled"),
            TimingMode::Single => Some("single"),
        };
        let timed = timed.map(|value| NameValue::new("timing", value));
        let count = self.count.map(|count| NameValue::new(Workload::COUNT, count.to_string()));
        let arrivals = self.open_loop.map(|it| it.arrivals);
        let unusual = arrivals.filter(|it| *it != ArrivalsArg::default());
        let arriving = unusual.map(|it| NameValue::new(Workload::ARRIVALS, it.name()));
        let workload = Workload {
            name: self.workload.clone(),
            kind: WorkloadKind::Micro,
            parameters: parameters.chain(contents).chain(timed).chain(count).chain(arriving).collect(),
            headline_operation: case.headline_operation().map(str::to_owned),
            headline_unit: case.unit().to_owned(),
            nominal: None,
            outcomes: Outcome::PLAIN.into_iter().chain(timing.open_loop.map(|_| Outcome::Dropped)).collect(),
            metric_titles: Vec::new(),
            per_minute: None,
            has_lasting_rate: case.spec.abilities().steadiness.lacks().is_none(),
            // Where a sample has several operations.
            notice: round
                .operations
                .iter()
                .any(|it| it.samples > 0 && it.service.summary.count > it.samples)
                .then(|| NOTICE.to_owned()),
        };
        let conditions = Conditions {
            storage: bourse_driver::storage(&engine.location()),
            raw_syncs,
            requested_rate: timing.open_loop.map(|it| it.per_second),
            arrival_streams: timing.open_loop.map(OpenLoop::streams),
            ..Conditions::default()
        };
        let failure = fault.map(|fault| match is_refusal {
            true => refused(target, &fault),
            false => Failure::new(Exit::Target, format!("the run on {target} failed")).detail("cause", fault),
        });
        let outcome = RoundOutcome::of(round, described, workload, conditions);
        Ok(RoundOutcome { interrupted: result.interrupted, failure, ..outcome })
    }
}

/// Whether an error is caused by the statement, and not by the engine or the machine.
fn is_of_statement(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Duplicate | ErrorKind::Constraint | ErrorKind::Unsupported | ErrorKind::Other)
}
