//! A round of a workload whose users draw transactions by their shares: database restored, run, checks.

use super::databases::Databases;
use super::on_database::{self, CheckedRound, OnDatabase};
use super::round::ExecuteRounds;
use super::sample::SampleChecks;
use super::shared::SharedJob;
use super::system::SystemUnderTest;
use super::{RoundOutcome, RoundRequest, RunContext};
use crate::args::{GivenOptions, MixDatabase};
use crate::failure::Result;
use crate::oltp::database::{DatabaseOptions as _, ReadyDatabase, WithWanted};
use crate::oltp::mixed::MixedDatabase;
use crate::oltp::served::ServedWorkload;
use crate::plan::drivers::{Coordinate, Drivers};
use crate::plan::targets::Requirements;
use crate::plan::{Job, MixRound};
use bourse_driver::{OpenLoop, RoundPlan, RoundProgress};
use bourse_oltp::Size;
use bourse_oltp::check::Depth;
use bourse_oltp::mix::RunOptions;
use bourse_oltp::sut::Share;
use bourse_record::{Conditions, NameValue, Outcome, UsersOfProcess, Workload, WorkloadKind};

impl SharedJob for MixRound {
    fn served(&self) -> Result<&'static dyn ServedWorkload> {
        Ok(self.mixed()?)
    }

    fn requirements(&self) -> Result<Requirements<'_>> {
        self.requirements()
    }

    fn depth(&self) -> Depth {
        self.check.into()
    }

    fn wanted(&self, _: &RunContext, then: WithWanted<'_>) -> Result<ReadyDatabase> {
        let database = MixDatabase { size: Some(self.size), constraints: self.constraints, reload: self.reload };
        MixedDatabase::of(self.mixed()?, &database, self.size, &self.set).wanted(then)
    }

    fn of_process(&self, size: &Size, coordinate: Coordinate) -> Result<Job> {
        let number = size.0.first().copied().unwrap_or_default();
        let drivers = Drivers { coordinate: Some(coordinate), ..self.drivers.clone() };
        let (size, set) = (number.unsigned_abs(), GivenOptions::default());
        Ok(Self { size, set, reload: false, drivers, ..self.clone() }.into())
    }
}

impl ExecuteRounds for MixRound {
    fn sample(&self, target: &str, context: &RunContext) -> Result<SampleChecks> {
        self.mixed()?.sample(target, &self.drivers, context)
    }

    fn open(&self, target: &str, context: &RunContext) -> Result<(SystemUnderTest, ReadyDatabase)> {
        let system = SystemUnderTest::open(target, self, context)?;
        let ready = system.ready(target, self, context)?;
        Ok((system, ready))
    }

    fn round(
        &self,
        request: &RoundRequest,
        databases: &mut Databases,
        context: &RunContext,
        label: &str,
    ) -> Result<RoundOutcome> {
        let mixed = self.mixed()?;
        let sessions = |_: &ReadyDatabase| {
            let options = self.run_options(&Size(Vec::new()), request.own_seed());
            Ok(options.users + usize::from(options.terminals))
        };
        on_database::round(request, databases, context, label, sessions, |on| {
            let size = &on.database.ready.fingerprint.size;
            let options = self.run_options(size, request.own_seed());
            let options = RunOptions { plan: request.round_plan(options.plan), ..options };
            let capabilities = on.database.system.engine().capabilities();
            let conditions = Conditions {
                users: Some(options.users as u64),
                processes: self.users_of_processes(),
                requested_rate: options.open_loop.map(|it| it.per_second),
                arrival_streams: options.open_loop.map(OpenLoop::streams),
                isolation: mixed.isolation(&capabilities),
                ..on.conditions.clone()
            };
            let workload = workload(self, size.0.first().copied().unwrap_or_default())?;
            let measured = match self.drivers.starts_processes() {
                true => on.in_processes(self, line),
                false => self.in_this_process(&on, &options),
            };
            Ok((measured?, workload, conditions))
        })
    }
}

impl MixRound {
    /// Options of this process's part of a round.
    fn run_options(&self, size: &Size, seed: u64) -> RunOptions {
        let share = self.drivers.driver().unwrap_or(Share::WHOLE);
        let options = RunOptions {
            size: size.clone(),
            users: self.users,
            open_loop: self.open_loop.map(Into::into),
            terminals: self.terminals,
            plan: RoundPlan { warm_up_ns: self.warm_up_ns, measure_ns: self.measure_ns, ..RoundPlan::default() },
            seed,
            share,
        };
        if share.is_process() { options.of_process(share) } else { options }
    }

    /// Users of each process that this one starts.
    fn users_of_processes(&self) -> Vec<UsersOfProcess> {
        let processes = if self.drivers.starts_processes() { self.drivers.processes } else { 0 };
        let shares = (1..=processes).filter_map(|number| Share::process(number, processes));
        shares.map(|share| UsersOfProcess { users: share.part(self.users) as u64, further_users: 0 }).collect()
    }

    /// Runs a round with its users in this process, and checks the database.
    fn in_this_process(&self, on: &OnDatabase<'_>, options: &RunOptions) -> Result<CheckedRound> {
        let mixed = self.mixed()?;
        let (ran, failure) = on.ran(on.label, false, options.share, line, |performing, clock, interrupted, say| {
            mixed.run(performing, options, clock, interrupted, say)
        })?;
        on.checked(mixed, ran, failure)
    }
}

/// One line of live figures.
fn line(progress: &RoundProgress) -> String {
    let all: f64 = progress.throughput.iter().sum();
    format!("{:.0} of {:.0} s  {all:.0} transactions/s", progress.elapsed_s, progress.planned_s)
}

/// The workload as the run file has it.
fn workload(job: &MixRound, size: i64) -> Result<Workload> {
    let mixed = job.mixed()?;
    let arrivals = job.open_loop.map(|it| NameValue::new(Workload::ARRIVALS, it.arrivals.name()));
    let terminals = job.terminals.then(|| NameValue::new("terminals", "keying and think times"));
    let driver = job.drivers.driver().map(|share| NameValue::new("driver", share.to_string()));
    Ok(Workload {
        name: job.workload.clone(),
        kind: WorkloadKind::Micro,
        parameters: [NameValue::new(mixed.unit(), size.to_string())]
            .into_iter()
            .chain(arrivals)
            .chain(terminals)
            .chain(driver)
            .collect(),
        headline_operation: None,
        headline_unit: "transactions/s".to_owned(),
        nominal: None,
        outcomes: vec![Outcome::Completed, Outcome::Warned, Outcome::RolledBack, Outcome::Failed, Outcome::Dropped],
        metric_titles: Vec::new(),
        per_minute: mixed.per_minute().map(str::to_owned),
        has_lasting_rate: true,
        notice: Some(mixed.notice().to_owned()),
    })
}
