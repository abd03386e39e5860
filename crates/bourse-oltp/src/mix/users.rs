//! Users of a round: each draws inputs and performs them on a session of its own.

use super::Transactions;
use crate::check::ledger::Ledger;
use crate::workload::Size;
use bourse_driver::{
    Clock, Draw, Fault, OpenLoop, OperationCx, OperationResult, OperationSpec, RoundControl, RoundCounts, RoundPlan,
    RoundProgress, Schedule, SplitMix, User, UserSpec, Workload,
};
use bourse_engine::{Capabilities, Connection, Engine, EngineError};
use bourse_record::{Operation, Round};
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
}

/// Result of a run.
#[derive(Debug)]
pub struct MixResult {
    /// The figures, without checks of the database.
    pub round: Round,
    /// Amounts that the database must have gained.
    pub ledger: Ledger,
    /// Counts apart from the figures.
    pub counted: RoundCounts,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Fault that ended the round, if one did.
    pub fault: Option<Fault>,
}

/// Runs a round: warm-up, measurement interval, the transactions in progress at its end.
///
/// # Errors
/// The [`Fault`] that prevented it from beginning.
pub fn run<T: Transactions>(
    engine: &dyn Engine,
    options: &RunOptions,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<MixResult, Fault> {
    let mut seeds = SplitMix::new(options.seed);
    let sums = Mutex::new(vec![[0; 2]; T::AMOUNTS.len()]);
    let mut users = Vec::with_capacity(options.users);
    for number in 1..=options.users {
        let seed = seeds.next();
        let schedule = options.open_loop.map_or(Schedule::Closed, |it| it.schedule(options.users, seed));
        let user = MixUser::<T> {
            emulator: T::emulator(&options.size, seeds.next()),
            input: None,
            changes: vec![[0; 2]; T::AMOUNTS.len()],
            sums: &sums,
        };
        users.push(UserSpec { schedule, ..UserSpec::new(format!("user {number}"), user) });
    }
    let mut workload = Users { operations: T::operations(), users };
    let backlog = options.open_loop.map_or(1, |it| it.backlog(options.users));
    let (plan, seed) = (RoundPlan { backlog, ..options.plan }, seeds.next());
    let measured = bourse_driver::run(engine, &mut workload, &plan, None, seed, clock, interrupt, progress)?;
    // Users add their changes when they end.
    drop(workload);
    let mut ledger = Ledger::default();
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (name, [least, most]) in T::AMOUNTS.iter().zip(sums) {
        ledger.set(name, least..=most);
    }
    let mut round = measured.round;
    expect_shares(&mut round.operations);
    Ok(MixResult { round, ledger, counted: measured.counted, interrupted: measured.interrupted, fault: measured.fault })
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
struct Users<'w> {
    operations: Vec<OperationSpec>,
    users: Vec<UserSpec<'w>>,
}

impl<'w> Workload<'w> for Users<'w> {
    fn operations(&self) -> &[OperationSpec] {
        &self.operations
    }

    fn needs(&self, capabilities: &Capabilities) -> Vec<String> {
        super::needs(capabilities)
    }

    fn users(&mut self) -> Vec<UserSpec<'w>> {
        std::mem::take(&mut self.users)
    }
}

/// A user.
struct MixUser<'w, T: Transactions> {
    emulator: T::Emulator,
    input: Option<T::Input>,
    /// Least and most of each amount that its transactions have written.
    changes: Vec<[i128; 2]>,
    sums: &'w Mutex<Vec<[i128; 2]>>,
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
        let attempt =
            |connection: &mut Connection| -> Result<T::Output, EngineError> { T::perform(connection.sql()?, input) };
        let operation = T::kind(input);
        match cx.retrying(attempt) {
            Ok(output) => {
                let judged = T::judge(input, &output);
                if let Some((at, amount)) = judged.change {
                    self.changes[at].iter_mut().for_each(|bound| *bound += i128::from(amount));
                }
                OperationResult::ended(operation, judged.outcome, judged.code)
            }
            Err(error) => {
                let performed = OperationResult::error(operation, &error);
                if let Some((at, amount)) = T::doubtful(input).filter(|_| performed.in_doubt) {
                    let [least, most] = &mut self.changes[at];
                    *least += i128::from(amount.min(0));
                    *most += i128::from(amount.max(0));
                }
                performed
            }
        }
    }
}

impl<T: Transactions> Drop for MixUser<'_, T> {
    fn drop(&mut self) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, own) in sums.iter_mut().zip(&self.changes) {
            *sum = [sum[0] + own[0], sum[1] + own[1]];
        }
    }
}
