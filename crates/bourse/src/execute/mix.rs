//! A round of a workload whose users draw transactions by their shares: database restored, run, checks.

use super::databases::Databases;
use super::on_database::{self, CheckedRound, add_checks, checked, ended, history, shown};
use super::round::ExecuteRounds;
use super::sample::SampleChecks;
use super::system::SystemUnderTest;
use super::{RoundOutcome, RoundRequest, RunContext};
use crate::failure::{Exit, Failure};
use crate::oltp::database::{ReadyDatabase, WantedDatabase, engine_failure, ready, refuse_foreign};
use crate::plan::MixRound;
use crate::{engines, interrupt};
use bourse_driver::{Fault, OpenLoop, RoundPlan, RoundProgress};
use bourse_engine::{EngineError, Session};
use bourse_oltp::check::recorded::after_run;
use bourse_oltp::mix::RunOptions;
use bourse_record::{Check, Conditions, NameValue, Outcome, Workload, WorkloadKind};

impl ExecuteRounds for MixRound {
    fn sample(&self, target: &str, context: &RunContext) -> Result<SampleChecks, Failure> {
        self.mixed()?.sample(target, context)
    }

    fn open(&self, target: &str, context: &RunContext) -> Result<(SystemUnderTest, ReadyDatabase), Failure> {
        let mixed = self.mixed()?;
        let engine = engines::open(target)?;
        engines::needs(target, engine.as_ref(), bourse_oltp::mix::needs)?;
        refuse_foreign(target, engine.as_ref())?;
        engines::make_folder(target)?;
        let requested = self.constraints.into();
        let size = self.size()?;
        let wanted = WantedDatabase {
            workload: mixed.workload(),
            generator: mixed.generator(),
            size: size.clone(),
            constraints: requested,
            adopt: &|found| {
                let size = if self.is_size_set { size.clone() } else { found.size.clone() };
                (size, if self.is_constraints_set { requested } else { found.constraints })
            },
            reload: self.reload,
            threads: 1,
        };
        let ready = ready(target, engine.as_ref(), &wanted, self.check.into(), &context.interrupted)?;
        Ok((SystemUnderTest::InProcess(engine.into()), ready))
    }

    fn round(
        &self,
        request: &RoundRequest,
        databases: &mut Databases,
        context: &RunContext,
        label: &str,
    ) -> Result<RoundOutcome, Failure> {
        let (target, mixed) = (&request.target, self.mixed()?);
        let failed = |error: EngineError| engine_failure(target, &error);
        on_database::round(
            request,
            databases,
            context,
            |_| Ok(self.users),
            |on| {
                let (engine, size) = (on.database.system.engine(), &on.database.ready.fingerprint.size);
                let growths = mixed.growths();
                let before = growths.before(&mut *engine.session().map_err(failed)?).map_err(failed)?;
                let options = RunOptions {
                    size: size.clone(),
                    users: self.users,
                    open_loop: self.open_loop.map(Into::into),
                    plan: RoundPlan {
                        warm_up_ns: self.warm_up_ns,
                        measure_ns: self.measure_ns,
                        ..RoundPlan::default()
                    },
                    seed: request.own_seed(),
                };
                let line = |progress: &RoundProgress| {
                    let all: f64 = progress.throughput.iter().sum();
                    format!("{:.0} of {:.0} s  {all:.0} transactions/s", progress.elapsed_s, progress.planned_s)
                };
                let ran = shown(label, target, context, false, line, |say| {
                    let ran = mixed.run(engine, &options, &context.clock, &context.interrupted, say);
                    ran.map_err(|fault| fault_failure(target, &fault))
                })?;
                let mut round = ran.round;
                round.facts.insert(0, history(on.history));
                let mut failure = ran.fault.map(|fault| ended(&mut round, &fault, target));
                if failure.is_none() && !request.is_probe {
                    let checks = checked(target, |say| {
                        let mut reconcile = |session: &mut dyn Session| growths.compare(session, &before, &ran.ledger);
                        let mut say = |check: &Check| say(check.name.clone());
                        after_run(engine, mixed.workload(), size, &mut reconcile, &context.clock, &mut say)
                            .map_err(failed)
                    });
                    failure = add_checks(&mut round, checks);
                }
                let measured = CheckedRound { round, interrupted: ran.interrupted, failure };
                let conditions = Conditions {
                    users: Some(self.users as u64),
                    requested_rate: options.open_loop.map(|it| it.per_second),
                    arrival_streams: options.open_loop.map(OpenLoop::streams),
                    isolation: mixed.isolation(&engine.capabilities()),
                    ..on.conditions
                };
                Ok((measured, workload(self, size.0.first().copied().unwrap_or_default())?, conditions))
            },
        )
    }
}

/// The workload as the run file has it.
fn workload(job: &MixRound, size: i64) -> Result<Workload, Failure> {
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
