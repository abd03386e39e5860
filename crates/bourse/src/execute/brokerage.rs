//! A round of the brokerage workload: database put back, run, checks.

use super::databases::Databases;
use super::model::{self, ModelSystem};
use super::on_database::{self, CheckedRound, OnDatabase};
use super::round::ExecuteRounds;
use super::sample::{SampleChecks, of_target};
use super::shared::SharedJob;
use super::system::SystemUnderTest;
use super::{RoundOutcome, RoundRequest, RunContext};
use crate::args::{DatabaseArgs, GivenOptions};
use crate::failure::{Failure, Result};
use crate::oltp::database::{ReadyDatabase, WithWanted, engine_failure};
use crate::oltp::served::ServedWorkload;
use crate::plan::drivers::{Coordinate, Drivers};
use crate::plan::search::customers_rate;
use crate::plan::targets::Requirements;
use crate::plan::{Brokerage, Job, brokerage::LATENCY_PART};
use crate::tpce;
use bourse_driver::RoundProgress;
use bourse_engine::{Engine, Location};
use bourse_oltp::Size;
use bourse_oltp::check::Depth;
use bourse_record::{Check, Conditions, LatencyPhase, NameValue, PhaseKind, Round, Warning};
use bourse_tpce::load::part_of;
use bourse_tpce::sut::BrokerageHouse;
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{self, RunOptions, RunResult};
use bourse_tpce::verify::TpceSample;
use bourse_tpce::workload::{Tpce, part};

impl SharedJob for Brokerage {
    fn served(&self) -> Result<&'static dyn ServedWorkload> {
        Ok(&Tpce)
    }

    fn requirements(&self) -> Result<Requirements<'_>> {
        Ok(self.requirements())
    }

    fn depth(&self) -> Depth {
        self.check.into()
    }

    fn wanted(&self, context: &RunContext, then: WithWanted<'_>) -> Result<ReadyDatabase> {
        let inputs = context.inputs(self.database.flat_in.as_deref())?;
        tpce::database::wanted(&self.database, &self.explicitly_set, &inputs, then)
    }

    fn of_process(&self, size: &Size, coordinate: Coordinate) -> Result<Job> {
        let part = part(size).map_err(Failure::usage)?;
        let database = DatabaseArgs { reload: false, ..self.database.of_size(part) };
        let drivers = Drivers { coordinate: Some(coordinate), ..self.drivers.clone() };
        Ok(Self { database, explicitly_set: GivenOptions::default(), drivers, ..self.clone() }.into())
    }
}

impl ExecuteRounds for Brokerage {
    fn sample(&self, target: &str, context: &RunContext) -> Result<SampleChecks> {
        let inputs = context.inputs(self.database.flat_in.as_deref())?;
        of_target(&TpceSample::of(&inputs), target, &self.drivers, context)
    }

    fn open(&self, target: &str, context: &RunContext) -> Result<(SystemUnderTest, ReadyDatabase)> {
        let system = match SystemUnderTest::open(target, self, context)? {
            SystemUnderTest::InProcess(engine) if matches!(engine.location(), Location::Nowhere) => {
                SystemUnderTest::Model(engine)
            }
            system => system,
        };
        let ready = match &system {
            SystemUnderTest::Model(_) => {
                model::ready(target, &self.database, &*context.inputs(self.database.flat_in.as_deref())?)?
            }
            system => system.ready(target, self, context)?,
        };
        Ok((system, ready))
    }

    fn round(
        &self,
        request: &RoundRequest,
        databases: &mut Databases,
        context: &RunContext,
        label: &str,
    ) -> Result<RoundOutcome> {
        let options = |ready: &ReadyDatabase| -> Result<RunOptions> {
            let options = self.options(request.seed)?;
            Ok(RunOptions { part: part_of(&ready.fingerprint), plan: request.round_plan(options.plan), ..options })
        };
        let sessions = |ready: &ReadyDatabase| Ok(options(ready)?.sessions());
        on_database::round(request, databases, context, label, sessions, |on| {
            let options = options(&on.database.ready)?;
            let capabilities = on.database.system.engine().capabilities();
            let of_run = users::conditions(&options, &capabilities);
            let data = match &self.database.flat_in {
                None => "built-in".to_owned(),
                Some(folder) => format!("files of {}", folder.display()),
            };
            let Conditions { constraints, storage, raw_syncs, free_bytes, .. } = on.conditions.clone();
            let conditions =
                Conditions { input_data: Some(data), constraints, storage, raw_syncs, free_bytes, ..of_run };
            let workload = users::workload(&options);
            let options = RunOptions { seed: request.own_seed(), ..options };
            let measured = match options.processes {
                1 => in_this_process(&on, self, &options),
                _ => on.in_processes(self, line).map(|mut measured| {
                    count_pending(&mut measured.round, on.database.system.engine());
                    measured
                }),
            };
            Ok((measured?, workload, conditions))
        })
    }
}

/// Runs a round with its users in this process, and checks the database.
fn in_this_process(on: &OnDatabase<'_>, job: &Brokerage, options: &RunOptions) -> Result<CheckedRound> {
    let (mut ran, mut failure) = run(on, job, options, on.label, false)?;
    if !on.database.system.checks_itself() && !on.request.is_probe && failure.is_none() && !ran.interrupted {
        failure = latency(on, job, options, &mut ran)?;
    }
    on.checked(&Tpce, ran, failure)
}

/// Measures response times at a part of a round's rate, if the job asks for them, after the round was reconciled with the
/// database. Returns the failure that ended it.
fn latency(on: &OnDatabase<'_>, job: &Brokerage, options: &RunOptions, ran: &mut RunResult) -> Result<Option<Failure>> {
    let Some(plan) = job.latency else { return Ok(None) };
    ran.round.checks.extend(reconciled(on, ran)?);
    let rate = customers_rate(&ran.round);
    if rate <= 0.0 {
        return Ok(None);
    }
    let options = job.latency_options(plan, options, rate);
    let per_second = options.open_loop.map_or(0.0, |it| it.per_second);
    let (mut after, failure) = run(on, job, &options, &format!("{}: at 70 % of its rate", on.label), true)?;
    if failure.is_none() {
        after.round.checks.extend(reconciled(on, &after)?);
    } else {
        ran.round.make_void("the phase at 70 % of its rate was ended, so the database was not checked");
    }
    ran.interrupted |= after.interrupted;
    ran.round.latency = Some(Box::new(LatencyPhase { part: LATENCY_PART, per_second, round: after.round }));
    Ok(failure)
}

/// Reconciles a round with the database, before another round follows on it.
fn reconciled(on: &OnDatabase<'_>, ran: &RunResult) -> Result<Vec<Check>> {
    let system = &on.database.system;
    if matches!(system, SystemUnderTest::Model(_)) {
        return Ok(Vec::new());
    }
    users::reconcile(system.engine(), ran).map_err(|error| engine_failure(&on.request.target, &error))
}

/// Counts the pending limit orders once for all processes, after the last of them has ended.
fn count_pending(round: &mut Round, engine: &dyn Engine) {
    round.facts.retain(|fact| !fact.name.ends_with(users::PENDING));
    if let Ok(pending) = BrokerageHouse::pending_orders(engine) {
        round.facts.push(NameValue::new(users::PENDING, pending.to_string()));
    }
}

/// The figures of a round, or of the latency phase after it, and the failure that ended it.
fn run(
    on: &OnDatabase<'_>,
    job: &Brokerage,
    options: &RunOptions,
    label: &str,
    is_latency: bool,
) -> Result<(RunResult, Option<Failure>)> {
    let inputs = on.context.inputs(job.database.flat_in.as_deref())?;
    on.ran(label, is_latency, options.share, line, |performing, clock, interrupted, say| match on.database.system {
        SystemUnderTest::Model(_) => {
            let mut ran = users::run_on(&ModelSystem::new(&inputs), &inputs, options, clock, interrupted, say)?;
            ran.round.warnings.push(Warning::of_engine(model::NOTE));
            Ok(ran)
        }
        _ => performing.sut(|sut| users::run_on(sut, &inputs, options, clock, interrupted, say)),
    })
}

/// One line of live figures.
fn line(progress: &RoundProgress) -> String {
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
    format!("{phase}  {:.0} TR/s, {all:.0} transactions/s{p90}, {waiting} waiting", results.unwrap_or(0.0),)
}
