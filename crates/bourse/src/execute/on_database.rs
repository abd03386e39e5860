//! Parts of a round that all transactional workloads share: the database restored, the run shown, the checks after it.

use super::databases::{DatabaseRef, Databases, PreparedDatabase};
use super::shared::{SharedJob, run_failure};
use super::{RoundOutcome, RoundRequest, RunContext, processes};
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::{ReadyDatabase, engine_failure, refused};
use crate::oltp::served::{Performing, ServedWorkload};
use crate::progress::{ProgressStep, note};
use crate::{live, panics, spent};
use bourse_driver::{Clock, RoundProgress};
use bourse_engine::{Description, Engine, Location};
use bourse_oltp::check::ledger::SOURCE;
use bourse_oltp::sut::{RunError, RunResult, Share};
use bourse_record::{Check, CheckStatus, Conditions, NameValue, Round, Workload};
use bourse_verdict::units::seconds;
use std::sync::atomic::AtomicBool;

/// A round that was measured and checked.
pub(super) struct CheckedRound {
    pub(super) round: Round,
    /// Whether it was cut off from outside.
    pub(super) interrupted: bool,
    /// Failure that ended it, if it did not end by itself.
    pub(super) failure: Option<Failure>,
}

/// A database that is ready for a round.
pub(super) struct OnDatabase<'d> {
    pub(super) database: &'d PreparedDatabase,
    /// History of the database, for the run file.
    pub(super) history: String,
    /// Conditions that follow from the database.
    pub(super) conditions: Conditions,
    pub(super) request: &'d RoundRequest,
    pub(super) context: &'d RunContext,
    /// Name of the round, for its progress.
    pub(super) label: &'d str,
}

/// Runs a round: `sessions` is the number of sessions on a database, and `measure` runs and checks.
pub(super) fn round(
    request: &RoundRequest,
    databases: &mut Databases,
    context: &RunContext,
    label: &str,
    sessions: impl FnOnce(&ReadyDatabase) -> Result<usize>,
    measure: impl FnOnce(OnDatabase<'_>) -> Result<(CheckedRound, Workload, Conditions)>,
) -> Result<RoundOutcome> {
    let target = &request.target;
    let at = databases.ready(target, &request.job, context)?;
    let database = databases.at(at);
    let engine = database.system.engine();
    let _ = engine.expect_sessions(sessions(&database.ready)?);
    // The description read here holds for every round; changes by rounds are in their own figures.
    let described = engine.description().map_err(|error| engine_failure(target, &error))?;
    let conditions = conditions(engine, &database.ready, &described, context);
    let history = match &request.history {
        Some(history) => history.clone(),
        None => databases.begin(DatabaseRef::Here(at), request.begins_alike)?,
    };
    let database = databases.at(at);
    let not_quiet = request.wait(context);
    let (mut measured, workload, conditions) =
        measure(OnDatabase { database, history, conditions, request, context, label })?;
    measured.round.warnings.extend(not_quiet);
    if request.is_first && !request.is_probe {
        measured.round.checks.splice(0..0, database.ready.checks.iter().cloned());
    }
    let CheckedRound { round, interrupted, failure } = measured;
    Ok(RoundOutcome { interrupted, failure, ..RoundOutcome::of(round, described, workload, conditions) })
}

fn conditions(engine: &dyn Engine, ready: &ReadyDatabase, described: &Description, context: &RunContext) -> Conditions {
    let location = engine.location();
    Conditions {
        constraints: Some(ready.fingerprint.constraints.to_string()),
        storage: bourse_driver::storage(&location),
        raw_syncs: bourse_driver::raw_syncs(&location, described.durability, &context.clock),
        free_bytes: free_bytes(&location),
        ..Conditions::default()
    }
}

/// Room for the database to grow, in bytes: on its file system, or in the machine's memory. `None` for servers, whose
/// storage is unknown.
fn free_bytes(location: &Location) -> Option<u64> {
    match location {
        Location::Memory => Some(bourse_record::MachineMemory::now()?.free_bytes),
        elsewhere => elsewhere.free_bytes(),
    }
}

/// Description of a round's progress in a line.
type ProgressLine = fn(&RoundProgress) -> String;

impl OnDatabase<'_> {
    fn target(&self) -> &str {
        &self.request.target
    }

    /// Runs a measured part, and shows its progress.
    fn shown<T>(
        &self,
        label: &str,
        is_latency: bool,
        line: ProgressLine,
        run: impl FnOnce(&mut dyn FnMut(&RoundProgress)) -> Result<T>,
    ) -> Result<T> {
        let step = ProgressStep::waiting(format!("running on {label}"));
        let ran = run(&mut |progress: &RoundProgress| {
            step.say(format!("{label}  {}", line(progress)));
            live::second(progress, is_latency);
            self.context.end_if_lost(self.target(), progress);
        });
        step.end(&ran);
        ran
    }

    /// Runs a round with its users in several processes.
    pub(super) fn in_processes(&self, job: &dyn SharedJob, line: ProgressLine) -> Result<CheckedRound> {
        self.shown(self.label, false, line, |say| processes::run(self, job, say))
    }

    /// Runs a round with its users in this process, or a phase after it; the result with the failure that ended it.
    pub(super) fn ran(
        &self,
        label: &str,
        is_latency: bool,
        share: Share,
        line: ProgressLine,
        run: impl FnOnce(
            Performing<'_>,
            &dyn Clock,
            &AtomicBool,
            &mut dyn FnMut(&RoundProgress),
        ) -> Result<RunResult, RunError>,
    ) -> Result<(RunResult, Option<Failure>)> {
        let (system, context) = (&self.database.system, self.context);
        let mut ran = self.shown(label, is_latency, line, |say| {
            let ran = system.run(&context.clock, &context.interrupted, |performing, clock, interrupted| {
                run(performing, clock, interrupted, say)
            });
            ran.map_err(|error| run_failure(self.target(), &error))
        })?;
        ran.round.shared = system.shared(share);
        if !is_latency {
            let value = system.history_with_preparation(self.history.clone());
            ran.round.facts.insert(0, NameValue::new("database", value));
        }
        let failure = ran.fault.take().map(|fault| {
            system.abandon();
            ran.round.make_void(format!("the round was ended: {fault}"));
            if fault.is_refusal() {
                return refused(self.target(), &fault.to_string());
            }
            Failure::new(Exit::Target, format!("the run on {} failed", self.target()))
                .detail("cause", fault.to_string())
        });
        Ok((ran, failure))
    }

    /// Checks the database after a round with its users in this process, which this failure ended, if one did.
    pub(super) fn checked(
        &self,
        served: &dyn ServedWorkload,
        mut ran: RunResult,
        mut failure: Option<Failure>,
    ) -> Result<CheckedRound> {
        let &Self { database, request: RoundRequest { target, is_probe, .. }, context, label, .. } = self;
        let (system, size) = (&database.system, &database.ready.fingerprint.size);
        let has_nothing = ran.interrupted && ran.round.measured_s <= 0.0;
        // A server always checks at the end of a round, even if the figures are only a probe's.
        if failure.is_none() && (system.checks_itself() || !(*is_probe || has_nothing)) {
            if ran.interrupted {
                tell_of_checks(database, label);
            }
            let checks = checked(target, |say| {
                let say = &mut |check: &Check| say(check.name.clone());
                match &ran.round.latency {
                    None => system.check(target, &mut ran, |engine, ran| {
                        served.check_run(engine, size, Some(ran), &context.clock, say)
                    }),
                    // Both phases have been reconciled.
                    Some(_) => served
                        .check_run(system.engine(), size, None, &context.clock, say)
                        .map_err(|error| engine_failure(target, &error)),
                }
            });
            failure = add_checks(&mut ran.round, checks);
        }
        Ok(CheckedRound { round: ran.round, interrupted: ran.interrupted, failure })
    }
}

/// Reports that the database of an interrupted round is being checked, and how long the checks before the round took.
fn tell_of_checks(database: &PreparedDatabase, label: &str) {
    let before_s: f64 = database.ready.checks.iter().map(|check| check.took_s).sum();
    let took =
        if before_s < 1.0 { String::new() } else { format!(" (before the round they took {})", seconds(before_s)) };
    note(&format!(
        "{label}: checking the database, for what was measured to count{took}; Ctrl-C again ends without it"
    ));
}

/// Checks a database after a round, and shows the progress.
fn checked(target: &str, check: impl FnOnce(&mut dyn FnMut(String)) -> Result<Vec<Check>>) -> Result<Vec<Check>> {
    panics::catch_panic(|| {
        panics::panic_if_requested("check");
        let step = ProgressStep::waiting(format!("checking {target}"));
        let _spending = spent::on(spent::SpentPart::ChecksAfter);
        let checked = check(&mut |name| step.say(name));
        step.done();
        checked
    })
}

/// Adds checks to a round, which is void if they could not be made, or its growth could not be judged since a driver was lost;
/// the failure then.
fn add_checks(round: &mut Round, checked: Result<Vec<Check>>) -> Option<Failure> {
    let failure = match checked {
        Ok(checks) => {
            let is_unjudged = |it: &&Check| it.source == SOURCE && it.status == CheckStatus::NotApplicable;
            let failure = checks.iter().find(is_unjudged).map(|it| {
                Failure::new(Exit::Target, "the growth of the database could not be judged")
                    .detail(&*it.name, &*it.evidence)
            });
            round.checks.extend(checks);
            failure?
        }
        Err(failure) => failure,
    };
    round.make_void(format!("the database could not be checked: {}", failure.line()));
    Some(failure)
}
