//! A run in simulated time: one user performs the transactions of all users, in the order of the [`Stream`].
//!
//! It takes the steps of a real run: the brokerage house opens, the driver's loop draws, performs and records, the
//! acknowledged commits are added up. Time advances only by the assumed durations of transactions, so that a run is the same
//! every time.

use super::exchange::MarketQueues;
use super::people::DriverState;
use super::run::cleanup_figures;
use super::{RunError, RunOptions, RunResult, reconciled, specs};
use crate::transactions::Transaction;
use crate::users::achieved::AchievedMix;
use crate::verify::Stream;
use crate::verify::stream::START;
use crate::workload::Tpce;
use bourse_driver::{
    Clock, Draw, MS, Nanos, OperationCx, OperationResult, OperationSpec, RoundControl, RoundPlan, SECOND, Schedule,
    SimulatedClock, StopRule, User, UserSpec, Workload,
};
use bourse_egen::Inputs;
use bourse_egen::txn::TradeRequest;
use bourse_engine::Engine;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::{BegunRound, Connector, InProcess, Sut as _};
use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// Assumed duration of a transaction in simulated time; one of ten takes ten times that.
const TAKES: Nanos = MS;
/// Warm-up, in simulated time.
const WARM_UP: Nanos = 30 * SECOND;

/// Runs this number of transactions, and then those that the market still owes.
///
/// # Errors
/// [`RunError`] if it could not begin.
///
/// # Panics
/// If the stream sends an order for a security that does not exist.
pub fn simulate(
    engine: &dyn Engine,
    inputs: &Inputs,
    options: &RunOptions,
    transactions: u64,
    requests_per_second: u32,
) -> Result<RunResult, RunError> {
    let clock = SimulatedClock::at(START);
    let sut = InProcess::<Tpce>::new(engine);
    let never = AtomicBool::new(false);
    let plan = RoundPlan {
        warm_up_ns: WARM_UP,
        // Nine of ten transactions are customers'; the last of them fall into the drain.
        measure_ns: (transactions * SECOND * 17 / 20 / u64::from(requests_per_second)).saturating_sub(WARM_UP),
        drain_limit_ns: 3_600 * SECOND,
        ..options.plan
    };
    let BegunRound { before, opening } = sut.open(&RunOptions { plan, ..options.clone() }.terms(), &clock, &never)?;
    let mut stream = Stream::new(inputs, options.database(), options.seed, requests_per_second)
        .map_err(super::OptionsError::from)?;
    // The house has done the Trade-Cleanup that it begins with.
    stream.next_step();
    let state = DriverState {
        queues: MarketQueues::new(1, usize::MAX),
        acknowledged: Mutex::default(),
        history: None,
        first_trade: opening.first_trade,
    };
    let user = AllUsers {
        state: &state,
        connector: sut.connector()?,
        clock: &clock,
        stream,
        left: transactions,
        done: 0,
        request: None,
        acknowledged: Ledger::default(),
    };
    let mut alone = SingleUserWorkload { specs: specs::specs(), user_specs: Vec::new() };
    let (schedule, stop_rule) = (Schedule::Arrivals, StopRule::WhenFinished);
    alone.user_specs.push(UserSpec { schedule, stop_rule, ..UserSpec::new("everybody", user) });
    let headline = Some(Transaction::TradeResult as usize);
    let measured = bourse_driver::run(engine, &mut alone, &plan, headline, options.seed, &clock, &never, &mut |_| {})?;
    let mut round = measured.round;
    let due = state.queues.counters.due.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    super::run::expect_of_market(&mut round, &due);
    round.operations[Transaction::TradeCleanup as usize] = cleanup_figures(opening.cleanup_ns);
    let (acknowledged, _) = state.acknowledged.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    round.checks.push(reconciled::acknowledgements(&acknowledged, &measured.counted.ledger));
    round.checks.push(reconciled::mix_of_requests(&measured.counted.ledger, &options.tunables.mix));
    Ok(RunResult {
        round,
        before,
        acknowledged,
        counted: measured.counted,
        interrupted: measured.interrupted,
        fault: measured.fault,
    })
}

/// Customers, market and maintenance in one.
struct AllUsers<'w> {
    state: &'w DriverState,
    connector: Connector<Tpce>,
    clock: &'w SimulatedClock,
    stream: Stream<'w>,
    /// Transactions before the drain.
    left: u64,
    done: u64,
    request: Option<crate::transactions::Request>,
    acknowledged: Ledger,
}

impl User for AllUsers<'_> {
    fn draw(&mut self, _: &dyn Clock, control: &RoundControl) -> Draw {
        let step = if self.left > 0 {
            self.left -= 1;
            Some(self.stream.next_step())
        } else {
            self.stream.next_of_drain()
        };
        let Some(step) = step else { return Draw::Finished };
        let due = control.begin() + (step.now.millis() - START.millis()) as Nanos * MS;
        self.request = Some(step.request);
        Draw::Due(due)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let request = self.request.take().expect("a request is drawn before it is performed");
        let sent: RefCell<Vec<TradeRequest>> = RefCell::default();
        let send = |order: &TradeRequest| sent.borrow_mut().push(*order);
        let performed = self.state.serve(cx, &mut self.connector, &request, &mut self.acknowledged, &mut None, &send);
        let sent = sent.into_inner();
        let mut due = self.state.queues.counters.due.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for order in &sent {
            if let Some(after_s) = self.stream.executed_after_s(order) {
                due.add(self.stream.elapsed_ms() * MS, after_s);
            }
        }
        drop(due);
        self.stream.send(&sent).expect("orders name securities of the database");
        self.done += 1;
        self.clock.advance(if self.done.is_multiple_of(10) { 10 * TAKES } else { TAKES });
        performed
    }
}

impl Drop for AllUsers<'_> {
    fn drop(&mut self) {
        self.state.add(&self.acknowledged, &AchievedMix::default());
    }
}

/// The workload of one user.
struct SingleUserWorkload<'w> {
    specs: Vec<OperationSpec>,
    user_specs: Vec<UserSpec<'w>>,
}

impl<'w> Workload<'w> for SingleUserWorkload<'w> {
    fn operations(&self) -> &[OperationSpec] {
        &self.specs
    }

    fn users(&mut self) -> Vec<UserSpec<'w>> {
        std::mem::take(&mut self.user_specs)
    }
}
