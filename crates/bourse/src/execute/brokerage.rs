//! A round of the brokerage workload: database put back, run, checks.

use super::databases::{At, Databases, PreparedDatabase};
use super::{RoundOutcome, RoundRequest, RunContext, processes};
use crate::failure::{Exit, Failure};
use crate::oltp::database::engine_failure;
use crate::plan::search::customers_rate;
use crate::plan::{Brokerage, brokerage::LATENCY_PART};
use crate::progress::Step;
use crate::{interrupt, live, panics, spent};
use bourse_driver::Progress;
use bourse_engine::Location;
use bourse_record::{Conditions, LatencyPhase, NameValue, PhaseKind, RawSyncs};
use bourse_tpce::load::part_of;
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{self, Ran, RunError, RunOptions};

/// Runs the round.
pub(super) fn round(
    request: &RoundRequest,
    job: &Brokerage,
    databases: &mut Databases,
    context: &RunContext,
    label: &str,
) -> Result<RoundOutcome, Failure> {
    let target = &request.target;
    let at = databases.ready(target, &request.job, context)?;
    let options = RunOptions { part: part_of(&databases.at(at).ready.fingerprint), ..job.options(request.seed)? };
    let engine = databases.at(at).system.engine();
    // The description read here holds for every round; changes by rounds are in their own figures.
    let _ = engine.expect_sessions(options.sessions());
    let described = engine.description().map_err(|error| engine_failure(target, &error))?;
    let raw_syncs = bourse_driver::raw_syncs(&engine.location(), described.durability, &context.clock);
    let conditions = conditions(&options, job, databases.at(at), raw_syncs);
    let workload = users::workload(&options);
    let history = match &request.history {
        Some(history) => history.clone(),
        None => databases.begin(At::Here(at), request.begins_alike)?,
    };
    let options = RunOptions { seed: request.own_seed(), ..options };
    let database = databases.at(at);
    let not_quiet = request.wait(context);
    let (mut ran, mut failure) = run(database, target, job, &options, context, label, Part::Round)?;
    ran.round.facts.insert(0, named("database", database.system.found(history)));
    ran.round.warnings.extend(not_quiet);
    if request.is_first && !request.is_probe {
        ran.round.checks.splice(0..0, database.ready.checks.iter().cloned());
    }
    // A server always checks at the end of a round, even if the figures are only a probe's.
    let is_server = database.system.checks_itself();
    if !is_server && !request.is_probe && failure.is_none() && !ran.interrupted {
        failure = latency(database, target, job, &options, context, label, &mut ran)?;
    }
    if failure.is_none() && (is_server || !request.is_probe) {
        match panics::caught(|| {
            panics::asked_for("check");
            let step = Step::waiting(format!("checking {target}"));
            let _spending = spent::on(spent::Part::ChecksAfter);
            let mut say = |name| step.say(name);
            let checked = match &ran.round.latency {
                None => database.system.check(target, &options, &mut ran, &context.clock, &mut say),
                // Both phases have been reconciled.
                Some(_) => database.system.check_alone(target, &options, &context.clock, &mut say),
            };
            step.done();
            checked
        }) {
            Ok(checks) => ran.round.checks.extend(checks),
            Err(found) => {
                ran.round.make_void(format!("the database could not be checked: {}", found.line()));
                failure = Some(found);
            }
        }
    }
    Ok(RoundOutcome {
        interrupted: ran.interrupted,
        round: ran.round,
        warnings: described.warnings.clone(),
        engine: bourse_driver::described(described),
        workload,
        conditions,
        fixed_loop_ns: None,
        spent: spent::Parts::new(),
        failure,
    })
}

/// Measures response times at a part of a round's rate, if the job asks for them, after the round was reconciled with the
/// database. Returns the failure that ended it.
fn latency(
    database: &PreparedDatabase,
    target: &str,
    job: &Brokerage,
    options: &RunOptions,
    context: &RunContext,
    label: &str,
    ran: &mut Ran,
) -> Result<Option<Failure>, Failure> {
    let Some(plan) = job.latency else { return Ok(None) };
    ran.round.checks.extend(database.system.reconcile(target, ran)?);
    let rate = customers_rate(&ran.round);
    if rate <= 0.0 {
        return Ok(None);
    }
    let options = job.latency_options(plan, options, rate);
    let per_second = options.load.per_second().unwrap_or_default();
    let label = format!("{label}: at 70 % of its rate");
    let (mut after, failure) = run(database, target, job, &options, context, &label, Part::Latency)?;
    if failure.is_none() {
        after.round.checks.extend(database.system.reconcile(target, &after)?);
    } else {
        ran.round.make_void("the phase at 70 % of its rate was ended, so the database was not checked");
    }
    ran.interrupted |= after.interrupted;
    ran.round.latency = Some(Box::new(LatencyPhase { part: LATENCY_PART, per_second, round: after.round }));
    Ok(failure)
}

/// Measured part of a round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The round itself.
    Round,
    /// Response times at a part of its rate.
    Latency,
}

/// The figures of a round, and the failure it ended with.
fn run(
    database: &PreparedDatabase,
    target: &str,
    job: &Brokerage,
    options: &RunOptions,
    context: &RunContext,
    label: &str,
    part: Part,
) -> Result<(Ran, Option<Failure>), Failure> {
    let inputs = context.inputs(job.database.flat_in.as_deref())?;
    let step = Step::waiting(format!("running on {label}"));
    let mut say = |progress: &Progress| {
        step.say(shown(label, progress));
        live::second(progress, part == Part::Latency);
        context.end_if_lost(target, progress);
    };
    let ran = if options.processes > 1 {
        processes::run(database.system.engine(), target, job, options, context, &mut say)
    } else {
        let ran = database.system.run(&inputs, options, &context.clock, &context.interrupted, &mut say);
        ran.map_err(|error| run_failure(target, &error))
    };
    let mut ran = match ran {
        Ok(ran) => ran,
        Err(failure) => {
            step.abandon();
            return Err(failure);
        }
    };
    step.done();
    ran.round.shared = database.system.shared(options);
    let failure = ran.fault.take().map(|fault| {
        ran.round.make_void(format!("the round was ended: {fault}"));
        database.system.abandon();
        Failure::new(Exit::Target, format!("the run on {target} failed")).detail("cause", fault.to_string())
    });
    Ok((ran, failure))
}

/// Conditions of the round, in the form of the document.
fn conditions(
    options: &RunOptions,
    job: &Brokerage,
    database: &PreparedDatabase,
    raw_syncs: Option<RawSyncs>,
) -> Conditions {
    let data = match &job.database.flat_in {
        None => "built-in".to_owned(),
        Some(folder) => format!("files of {}", folder.display()),
    };
    let system = database.system.engine();
    let location = system.location();
    Conditions {
        constraints: Some(database.ready.fingerprint.constraints.to_string()),
        input_data: Some(data),
        storage: bourse_driver::storage(&location),
        raw_syncs,
        free_bytes: free_bytes(&location),
        ..users::conditions(options, &system.capabilities())
    }
}

/// Room for the database to grow, in bytes: on its file system, or in the machine's memory. `None` for servers, whose
/// storage is unknown.
pub(super) fn free_bytes(location: &Location) -> Option<u64> {
    match location {
        Location::Memory => Some(bourse_record::MachineMemory::now()?.free_bytes),
        elsewhere => elsewhere.free_bytes(),
    }
}

fn named(name: &str, value: String) -> NameValue {
    NameValue { name: name.to_owned(), value }
}

/// One line of live figures.
fn shown(label: &str, progress: &Progress) -> String {
    let results = progress.throughput.get(Transaction::TradeResult as usize).copied();
    let all: f64 = progress.throughput.iter().sum();
    let measured_s = progress.planned_s - progress.warm_up_s;
    let phase = match progress.phase {
        PhaseKind::WarmUp => format!("warm-up {:.0} of {:.0} s", progress.elapsed_s, progress.warm_up_s),
        PhaseKind::Measurement => {
            format!("measuring {:.0} of {measured_s:.0} s", progress.elapsed_s - progress.warm_up_s)
        }
        PhaseKind::Drain => "drain".to_owned(),
    };
    let waiting = progress.queue_length.unwrap_or(0);
    let p90 = progress.response_ns.map_or_else(String::new, |[_, p90, _]| format!(", p90 {:.2} ms", p90 / 1e6));
    format!("{label}  {phase}  {:.0} TR/s, {all:.0} transactions/s{p90}, {waiting} waiting", results.unwrap_or(0.0),)
}

pub(super) fn run_failure(target: &str, error: &RunError) -> Failure {
    match error {
        RunError::Options(error) => Failure::usage(error.to_string()),
        RunError::Engine(error) => engine_failure(target, error),
        RunError::Interrupted => interrupt::interrupted("the round had not begun"),
        RunError::Refused(why) => {
            Failure::new(Exit::Target, format!("{target} refused this round")).detail("cause", why.clone())
        }
        other => {
            Failure::new(Exit::Target, format!("cannot start the run on {target}")).detail("cause", other.to_string())
        }
    }
}
