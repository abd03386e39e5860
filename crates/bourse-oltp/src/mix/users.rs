//! Users of a round: each draws inputs and performs them on a session of its own.

use super::Transactions;
use crate::check::ledger::Ledger;
use crate::sut::{Answered, Connector, RunError, RunResult, Share, SharedWorkload as _, Sut, Terms};
use crate::workload::Size;
use bourse_driver::{
    Clock, Draw, Fault, MS, Nanos, OpenLoop, OperationCx, OperationResult, OperationSpec, RoundControl, RoundPlan,
    RoundProgress, Schedule, SplitMix, User, UserSpec, Workload,
};
use bourse_engine::{Capabilities, locked};
use bourse_record::Operation;
use std::collections::VecDeque;
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
    /// Whether users are at terminals: they pause, and what they defer has a session of its own.
    pub terminals: bool,
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
        let sessions = u32::try_from(self.users + usize::from(self.terminals)).unwrap_or(u32::MAX);
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
) -> Result<RunResult, RunError> {
    let mut seeds = options.share.seeds(options.seed);
    let begun = sut.open(&options.terms(), clock, interrupt)?;
    let sums = Mutex::new(Ledger::default());
    let queue = Mutex::default();
    let user =
        |source, connector| MixUser::<T> { connector, source, input: None, ledger: Ledger::default(), sums: &sums };
    let mut users = Vec::with_capacity(options.users);
    for number in 1..=options.users {
        let seed = seeds.next();
        let schedule = options.open_loop.map_or(Schedule::Closed, |it| it.schedule(options.users, seed));
        let emulator = T::emulator(&options.size, seeds.next(), options.share.number_of(number - 1));
        let terminal = |queue| Terminal { queue, random: SplitMix::new(seed), keyed: None, thinking_ns: 0 };
        let source = Source::User(emulator, options.terminals.then_some(&queue).map(terminal));
        let user = user(source, sut.connector()?);
        users.push(UserSpec { schedule, ..UserSpec::new(format!("user {number}"), user) });
    }
    if options.terminals {
        let user = user(Source::Queue(&queue), sut.connector()?);
        users.push(UserSpec { role: "deferred work", ..UserSpec::new("deferred work", user) });
    }
    let mut workload = Users { operations: T::operations(), sut, users };
    let backlog = options.open_loop.map_or(1, |it| it.backlog(options.users));
    let plan = RoundPlan { backlog, is_part: options.share.is_process(), ..options.plan };
    let seed = seeds.next();
    let measured = bourse_driver::run(sut.engine(), &mut workload, &plan, None, seed, clock, interrupt, progress)?;
    // Users add their ledgers when they end.
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

/// Inputs that terminals have queued, with the moment of each.
type DeferredInputs<T> = Mutex<VecDeque<(Nanos, <T as Transactions>::Input)>>;

/// Terminal of a user.
struct Terminal<'w, T: Transactions> {
    queue: &'w DeferredInputs<T>,
    random: SplitMix,
    /// Input to queue that is being keyed in.
    keyed: Option<T::Input>,
    /// Pause after the last transaction.
    thinking_ns: Nanos,
}

/// Source of a session's inputs.
enum Source<'w, T: Transactions> {
    /// A user, who may be at a terminal.
    User(T::Emulator, Option<Terminal<'w, T>>),
    /// The queue of all terminals.
    Queue(&'w DeferredInputs<T>),
}

/// Time after which an empty queue is looked at again.
const EMPTY_NS: Nanos = 10 * MS;

impl<T: Transactions> Terminal<'_, T> {
    /// Queues an input that has been keyed in, or pauses before the next one.
    fn draw(&mut self, emulator: &mut T::Emulator, now: Nanos, drawn: &mut Option<T::Input>) -> Draw {
        if let Some(input) = self.keyed.take() {
            locked(self.queue).push_back((now, input));
        }
        let input = next_of::<T>(emulator);
        let kind = T::kind(&input);
        let [keying_ns, thinking_ns] = T::pauses(kind, self.random.unit()).unwrap_or_default();
        let due = now + std::mem::replace(&mut self.thinking_ns, thinking_ns) + keying_ns;
        if T::DEFERRED == Some(kind) {
            self.keyed = Some(input);
            return Draw::Wait(due);
        }
        *drawn = Some(input);
        Draw::Due(due)
    }
}

fn next_of<T: Transactions>(emulator: &mut T::Emulator) -> T::Input {
    emulator.next().expect("an emulator has inputs without end")
}

/// A session with its inputs.
struct MixUser<'w, T: Transactions> {
    connector: Connector<T>,
    source: Source<'w, T>,
    input: Option<T::Input>,
    /// Amounts acknowledged to it.
    ledger: Ledger,
    sums: &'w Mutex<Ledger>,
}

impl<T: Transactions> User for MixUser<'_, T> {
    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        match &mut self.source {
            Source::User(emulator, None) => {
                self.input = Some(next_of::<T>(emulator));
                Draw::Ready
            }
            Source::User(emulator, Some(terminal)) => terminal.draw(emulator, clock.now(), &mut self.input),
            Source::Queue(queue) => match locked(queue).pop_front() {
                Some((at, input)) => {
                    self.input = Some(input);
                    Draw::Due(at)
                }
                None => Draw::Wait(clock.now() + EMPTY_NS),
            },
        }
    }

    fn skip(&mut self) -> Option<usize> {
        match &mut self.source {
            Source::User(emulator, _) => Some(T::kind(&next_of::<T>(emulator))),
            Source::Queue(_) => None,
        }
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
                self.ledger.judged(&judged);
                OperationResult { server, ..OperationResult::ended(operation, judged.outcome, judged.code) }
            }
            Err(error) => {
                let performed = OperationResult::error(operation, &error);
                T::count_failed(&mut self.ledger, input, performed.in_doubt);
                performed
            }
        }
    }
}

impl<T: Transactions> Drop for MixUser<'_, T> {
    fn drop(&mut self) {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).merge(&self.ledger);
    }
}
