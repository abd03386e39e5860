//! A round of a workload whose users draw transactions by their shares: database restored, run, checks.

use super::databases::{At, Databases};
use super::system::SystemUnderTest;
use super::{RoundOutcome, RoundRequest, RunContext};
use crate::args::{self, CheckDepth};
use crate::failure::{Exit, Failure};
use crate::oltp::database::{Ready, Wanted, engine_failure, ready, refuse_foreign};
use crate::plan::Mix;
use crate::progress::Step;
use crate::{engines, interrupt, live, panics, spent};
use bourse_driver::{Fault, Plan, Progress};
use bourse_engine::{EngineError, Session};
use bourse_oltp::check::Depth;
use bourse_oltp::check::recorded::after_run;
use bourse_oltp::load::Constraints;
use bourse_oltp::mix::RunOptions;
use bourse_record::{ArrivalStreams, Conditions, NameValue, Outcome, Workload, WorkloadKind};

/// Opens a target and makes sure that it holds the database of a job.
pub(super) fn opened(target: &str, job: &Mix, context: &RunContext) -> Result<(SystemUnderTest, Ready), Failure> {
    let mixed = job.mixed()?;
    let engine = engines::open(target)?;
    engines::needs(target, engine.as_ref(), bourse_oltp::mix::needs)?;
    refuse_foreign(target, engine.as_ref())?;
    engines::make_folder(target)?;
    let requested = match job.constraints {
        args::Constraints::Full => Constraints::Full,
        args::Constraints::Keys => Constraints::KeysOnly,
    };
    let size = job.size()?;
    let wanted = Wanted {
        workload: mixed.workload(),
        generator: mixed.generator(),
        size: size.clone(),
        constraints: requested,
        adopt: &|found| {
            let size = if job.is_size_set { size.clone() } else { found.size.clone() };
            (size, if job.is_constraints_set { requested } else { found.constraints })
        },
        reload: job.reload,
        threads: 1,
        in_words: &|size| mixed.in_words(size),
    };
    let depth = match job.check {
        CheckDepth::Full => Depth::Full,
        CheckDepth::Quick => Depth::Quick,
    };
    let ready = ready(target, engine.as_ref(), &wanted, depth, &context.interrupted)?;
    Ok((SystemUnderTest::InProcess(engine), ready))
}

/// Runs the round.
pub(super) fn round(
    request: &RoundRequest,
    job: &Mix,
    databases: &mut Databases,
    context: &RunContext,
    label: &str,
) -> Result<RoundOutcome, Failure> {
    let (target, mixed) = (&request.target, job.mixed()?);
    let failed = |error: EngineError| engine_failure(target, &error);
    let at = databases.ready(target, &request.job, context)?;
    let engine = databases.at(at).system.engine();
    let _ = engine.expect_sessions(job.users);
    let described = engine.description().map_err(failed)?;
    let raw_syncs = bourse_driver::raw_syncs(&engine.location(), described.durability, &context.clock);
    let history = match &request.history {
        Some(history) => history.clone(),
        None => databases.begin(At::Here(at), request.begins_alike)?,
    };
    let database = databases.at(at);
    let (engine, size) = (database.system.engine(), &database.ready.fingerprint.size);
    let not_quiet = request.wait(context);
    let growths = mixed.growths();
    let before = growths.before(&mut *engine.session().map_err(failed)?).map_err(failed)?;
    let options = RunOptions {
        size: size.clone(),
        users: job.users,
        per_second: job.open_loop.map(|it| it.rate),
        evenly: job.open_loop.is_some_and(|it| it.arrivals.is_even()),
        shared: job.open_loop.is_some_and(|it| it.arrivals.is_shared()),
        plan: Plan { warm_up_ns: job.warm_up_ns, measure_ns: job.measure_ns, ..Plan::default() },
        seed: request.own_seed(),
    };
    let step = Step::waiting(format!("running on {label}"));
    let mut say = |progress: &Progress| {
        let all: f64 = progress.throughput.iter().sum();
        step.say(format!("{label}  {:.0} of {:.0} s  {all:.0} transactions/s", progress.elapsed_s, progress.planned_s));
        live::second(progress, false);
        context.end_if_lost(target, progress);
    };
    let ran = mixed.run(engine, &options, &context.clock, &context.interrupted, &mut say);
    let mut ran = match ran {
        Ok(ran) => ran,
        Err(fault) => {
            step.abandon();
            return Err(fault_failure(target, &fault));
        }
    };
    step.done();
    ran.round.facts.insert(0, NameValue { name: "database".to_owned(), value: history });
    ran.round.warnings.extend(not_quiet);
    if request.is_first && !request.is_probe {
        ran.round.checks.splice(0..0, database.ready.checks.iter().cloned());
    }
    let mut failure = ran.fault.take().map(|fault| {
        ran.round.make_void(format!("the round was ended: {fault}"));
        Failure::new(Exit::Target, format!("the run on {target} failed")).detail("cause", fault.to_string())
    });
    if failure.is_none() && !request.is_probe {
        let checked = panics::caught(|| {
            let step = Step::waiting(format!("checking {target}"));
            let _spending = spent::on(spent::Part::ChecksAfter);
            let mut reconcile = |session: &mut dyn Session| growths.compare(session, &before, &ran.ledger);
            let mut say = |check: &bourse_record::Check| step.say(check.name.clone());
            let checked = after_run(engine, mixed.workload(), size, &mut reconcile, &context.clock, &mut say);
            step.done();
            checked.map_err(failed)
        });
        match checked {
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
        workload: workload(job, size.0.first().copied().unwrap_or_default())?,
        conditions: Conditions {
            users: Some(job.users as u64),
            constraints: Some(database.ready.fingerprint.constraints.to_string()),
            storage: bourse_driver::storage(&engine.location()),
            raw_syncs,
            free_bytes: super::brokerage::free_bytes(&engine.location()),
            requested_rate: options.per_second,
            arrival_streams: job.open_loop.map(|it| match it.arrivals.is_shared() {
                true => ArrivalStreams::Shared,
                false => ArrivalStreams::PerUser,
            }),
            isolation: mixed.isolation(&engine.capabilities()),
            ..Conditions::default()
        },
        fixed_loop_ns: None,
        spent: spent::Parts::new(),
        failure,
    })
}

/// The workload as the run file has it.
fn workload(job: &Mix, size: i64) -> Result<Workload, Failure> {
    let mixed = job.mixed()?;
    let named = |name: &str, value: String| NameValue { name: name.to_owned(), value };
    let arrivals = job.open_loop.map(|it| named(Workload::ARRIVALS, it.arrivals.name()));
    Ok(Workload {
        name: job.workload.clone(),
        kind: WorkloadKind::Micro,
        parameters: [named(mixed.unit(), size.to_string())].into_iter().chain(arrivals).collect(),
        headline_operation: None,
        headline_unit: "transactions/s".to_owned(),
        nominal: None,
        outcomes: vec![Outcome::Completed, Outcome::Warned, Outcome::RolledBack, Outcome::Failed, Outcome::Dropped],
        metric_titles: Vec::new(),
        has_lasting_rate: true,
        notice: Some(mixed.notice().to_owned()),
    })
}

fn fault_failure(target: &str, fault: &Fault) -> Failure {
    match fault {
        Fault::Interrupted => interrupt::interrupted("the round had not begun"),
        other => {
            Failure::new(Exit::Target, format!("cannot start the run on {target}")).detail("cause", other.to_string())
        }
    }
}
