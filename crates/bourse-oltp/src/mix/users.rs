//! Users of a round: each draws inputs and performs them on a session of its own.

use super::{MixCounts, Transactions};
use crate::sut::{Answered, Connector, RunError, RunOf, RunResult, Share, Sut, Terms};
use crate::workload::Size;
use bourse_driver::{
    Clock, Draw, Fault, Nanos, OpenLoop, OperationCx, OperationResult, OperationSpec, RoundControl, RoundPlan,
    RoundProgress, Schedule, User, UserSpec, Workload,
};
use bourse_engine::Capabilities;
use bourse_record::Operation;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// Options of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Size of the database.
    pub size: Size,
    /// Number of users.
    pub users: usize,
    /// Transactions that are due; `None` in a closed loop.
    pub open_loop: Option<OpenLoop>,
    /// Phases of the round, and retries.
    pub plan: RoundPlan,
    /// Seed of all inputs.
    pub seed: u64,
    /// This driver's share of the round, if there are several drivers.
    pub share: Share,
}

impl RunOptions {
    /// The options of one driver of several processes on a machine: its part of the users, and of the load. The parts together
    /// are the whole.
    #[must_use]
    pub fn of_process(self, share: Share) -> Self {
        let users = share.part(self.users);
        // Split by users, so that each user has the same load in every process.
        let scaled = |it: OpenLoop| OpenLoop { per_second: it.per_second * users as f64 / self.users as f64, ..it };
        Self { users, open_loop: self.open_loop.map(scaled), share, ..self }
    }

    /// Terms of the run for the system under test.
    pub fn terms(&self) -> Terms {
        let RoundPlan { warm_up_ns, measure_ns, retry, .. } = self.plan;
        let sessions = u32::try_from(self.users).unwrap_or(u32::MAX);
        Terms { size: self.size.clone(), share: self.share, warm_up_ns, measure_ns, retry, sessions }
    }
}

/// Runs a round: warm-up, measurement interval, the transactions in progress at its end.
///
/// # Errors
/// [`RunError`] if it could not begin.
pub fn run<T: Transactions>(
    sut: &dyn Sut<T>,
    options: &RunOptions,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<RunOf<T>, RunError> {
    let mut seeds = options.share.seeds(options.seed);
    let begun = sut.open(&options.terms(), clock, interrupt)?;
    let sums = Mutex::new(MixCounts::new(T::AMOUNTS.len()));
    let mut users = Vec::with_capacity(options.users);
    for number in 1..=options.users {
        let seed = seeds.next();
        let schedule = options.open_loop.map_or(Schedule::Closed, |it| it.schedule(options.users, seed));
        let user = MixUser::<T> {
            connector: sut.connector()?,
            emulator: T::emulator(&options.size, seeds.next()),
            input: None,
            counts: MixCounts::new(T::AMOUNTS.len()),
            sums: &sums,
        };
        users.push(UserSpec { schedule, ..UserSpec::new(format!("user {number}"), user) });
    }
    let mut workload = Users { operations: T::operations(), sut, users };
    let backlog = options.open_loop.map_or(1, |it| it.backlog(options.users));
    let plan = RoundPlan { backlog, is_part: options.share.is_process(), ..options.plan };
    let seed = seeds.next();
    let measured = bourse_driver::run(sut.engine(), &mut workload, &plan, None, seed, clock, interrupt, progress)?;
    // Users add their counts when they end.
    drop(workload);
    let acknowledged = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut round = measured.round;
    expect_shares(&mut round.operations);
    Ok(RunResult {
        round,
        before: begun.before,
        acknowledged,
        counted: measured.counted,
        interrupted: measured.interrupted,
        fault: measured.fault,
    })
}

/// Sets by how many percentage points the share of each transaction may be off: three standard deviations of so many draws.
fn expect_shares(operations: &mut [Operation]) {
    let all: u64 = operations.iter().map(Operation::ended).sum();
    for operation in operations {
        let Some(target) = operation.mix_target_percent else { continue };
        let share = target / 100.0;
        let deviation = 100.0 * (share * (1.0 - share) / all.max(1) as f64).sqrt();
        operation.mix_expected_percent = Some(target);
        operation.mix_tolerance_points = Some(0.05 + 3.0 * deviation);
    }
}

/// The users of a round as the driver takes them.
struct Users<'w, T: Transactions> {
    operations: Vec<OperationSpec>,
    sut: &'w dyn Sut<T>,
    users: Vec<UserSpec<'w>>,
}

impl<'w, T: Transactions> Workload<'w> for Users<'w, T> {
    fn operations(&self) -> &[OperationSpec] {
        &self.operations
    }

    fn needs(&self, capabilities: &Capabilities) -> Vec<String> {
        super::needs(capabilities)
    }

    fn users(&mut self) -> Vec<UserSpec<'w>> {
        std::mem::take(&mut self.users)
    }

    fn sessions_elsewhere(&self) -> usize {
        self.sut.sessions_elsewhere()
    }

    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, Fault> {
        Ok(self.sut.begin(clock)?)
    }
}

/// A user.
struct MixUser<'w, T: Transactions> {
    connector: Connector<T>,
    emulator: T::Emulator,
    input: Option<T::Input>,
    /// Counts acknowledged to it.
    counts: MixCounts,
    sums: &'w Mutex<MixCounts>,
}

impl<T: Transactions> MixUser<'_, T> {
    fn next_input(&mut self) -> T::Input {
        self.emulator.next().expect("an emulator has inputs without end")
    }
}

impl<T: Transactions> User for MixUser<'_, T> {
    fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
        self.input = Some(self.next_input());
        Draw::Ready
    }

    fn skip(&mut self) -> Option<usize> {
        Some(T::kind(&self.next_input()))
    }

    fn drawn(&self) -> Option<usize> {
        self.input.as_ref().map(T::kind)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let input = self.input.as_ref().expect("an input is drawn before it is performed");
        let operation = T::kind(input);
        match self.connector.perform(cx, input, &|_| {}) {
            Ok(Answered { answer, server }) => {
                let judged = T::judge(input, &answer);
                self.counts.judged(&judged);
                OperationResult { server, ..OperationResult::ended(operation, judged.outcome, judged.code) }
            }
            Err(error) => {
                let performed = OperationResult::error(operation, &error);
                if performed.in_doubt {
                    self.counts.doubt(T::doubtful(input));
                }
                performed
            }
        }
    }
}

impl<T: Transactions> Drop for MixUser<'_, T> {
    fn drop(&mut self) {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).add(&self.counts);
    }
}
