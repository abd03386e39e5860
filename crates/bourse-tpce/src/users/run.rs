//! A run: Trade-Cleanup, round, drain, facts.

use super::due::DueResults;
use super::exchange::{Exchange, MarketQueues};
use super::history::Item;
use super::options::{OptionsError, RunOptions};
use super::people::{Customer, DriverState, Maintenance, MarketUser};
use super::{reconciled, specs};
use crate::aged::{self, PendingOrder};
use crate::check::reconciliation::{ORDERS, RESULTS};
use crate::sut::customers;
use crate::transactions::Transaction;
use crate::transactions::trade_cleanup::TradeCleanupOutput;
use crate::workload::Tpce;
use bourse_driver::{
    Background, Clock, Fault, Nanos, OpenLoop, OperationSpec, Outcome, RoundControl, RoundProgress, Sample, Schedule,
    SplitMix, StopRule, UserSpec, Workload,
};
use bourse_egen::Inputs;
use bourse_egen::driver::{CustomerConfig, CustomerEmulator, MaintenanceEmulator};
use bourse_engine::{Capabilities, Engine};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::history::{HistoryOptions, RoundHistory};
use bourse_oltp::planted;
use bourse_oltp::sut::{BegunRound, InProcess, RunError, RunResult, Sut};
use bourse_record::{
    CUSTOMERS, Check, Conditions, DriverQueue, MARKET_USERS, NameValue, OperationIsolation, PhaseKind, Recorder, Round,
    Scale, StoppingRule, Tunables, UsersOfProcess, Warning, WorkloadKind,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notice that every report of this workload must have.
pub const NOTICE: &str = bourse_record::BROKERAGE_NOTICE;

/// Name of the fact with the number of limit orders that are pending when a round ends.
pub const PENDING: &str = "limit orders pending at the end";

/// Outcomes that a transaction can have.
pub const OUTCOMES: [Outcome; 6] =
    [Outcome::Completed, Outcome::Warned, Outcome::RolledBack, Outcome::TooFewRows, Outcome::Failed, Outcome::Dropped];

/// The workload for the run file; [`conditions`] has its conditions.
pub fn workload(options: &RunOptions) -> bourse_record::Workload {
    let seconds = |ns: u64| format!("{} s", ns as f64 / 1e9);
    let longest = |ns: u64, may_end: &str| match options.plan.until {
        Some(StoppingRule::SteadinessDecided) => {
            format!("until the steady state is determined, at most {}", seconds(ns))
        }
        Some(StoppingRule::RateLevel) if !may_end.is_empty() => format!("{may_end}, at most {}", seconds(ns)),
        _ => seconds(ns),
    };
    let load = options.open_loop.map_or_else(|| "closed loop".to_owned(), |it| in_words(options, it));
    let own = [
        ("schedule", load),
        ("warm-up", longest(options.plan.warm_up_ns, "until the rate shows no trend")),
        ("measurement interval", longest(options.plan.measure_ns, "")),
        ("market's queue", market_queue(options)),
        (
            "data maintenance",
            "every 60 s, from 0.1 s into the warm-up on, and from 0.1 s into the measurement interval on".to_owned(),
        ),
    ];
    // Value of --arrivals, if it is not the default.
    let arrivals = options.open_loop.and_then(|it| match (it.evenly, it.shared) {
        (false, false) => None,
        (true, false) => Some("constant"),
        (false, true) => Some("shared"),
        (true, true) => Some("shared-constant"),
    });
    let arrivals = arrivals.map(|it| (bourse_record::Workload::ARRIVALS, it.to_owned()));
    let of_several = (!options.share.is_whole()).then(|| ("driver", share(options)));
    let history = options.history.as_ref().map(|_| ("history", "recorded and examined".to_owned()));
    let named = |(name, value): (&str, String)| NameValue::new(name, value);
    bourse_record::Workload {
        name: "tpce".to_owned(),
        kind: WorkloadKind::Brokerage,
        parameters: own.into_iter().chain(arrivals).chain(of_several).chain(history).map(named).collect(),
        headline_operation: Some(Transaction::TradeResult.name().to_owned()),
        headline_unit: "TR/s".to_owned(),
        nominal: Some(options.nominal()),
        outcomes: OUTCOMES.to_vec(),
        per_minute: None,
        has_lasting_rate: true,
        metric_titles: vec![named(("queue_length", "waiting in the market's queue".to_owned()))],
        notice: Some(NOTICE.to_owned()),
    }
}

fn market_queue(options: &RunOptions) -> String {
    let room = options.market_room;
    match options.processes {
        1 => format!("customers pause above {room} requests"),
        processes => format!("{processes} queues; customers pause above {room} requests in all, each process its part"),
    }
}

/// Conditions of a run on an engine of these capabilities, as far as the options determine them.
pub fn conditions(options: &RunOptions, capabilities: &Capabilities) -> Conditions {
    let part = options.part;
    let count = |number: usize| Some(number as u64);
    Conditions {
        users: count(options.users),
        further_users: count(options.market_users),
        processes: processes(options),
        scale: Some(Scale {
            customers: part.total_customers().unsigned_abs(),
            scale_factor: part.scale_factor().unsigned_abs(),
            initial_days: part.days().unsigned_abs(),
        }),
        arrival_streams: options.open_loop.map(OpenLoop::streams),
        requested_rate: options.requested_rate().map(|rate| (rate * 1e6).round() / 1e6),
        market_aged_at: options.aged_at.map(|rate| (rate * 1e6).round() / 1e6),
        driver_queue: options.requested_rate().is_none().then(|| DriverQueue {
            room: options.market_room as u64,
            operations: [Transaction::TradeResult, Transaction::MarketFeed].map(|it| it.name().to_owned()).to_vec(),
        }),
        isolation: isolation(capabilities),
        tunables: Some(if options.tunables.is_default() { Tunables::Specification } else { Tunables::Changed }),
        ..Conditions::default()
    }
}

/// The processes that users are distributed over; empty for a single one.
fn processes(options: &RunOptions) -> Vec<UsersOfProcess> {
    let parts = (options.processes > 1).then_some(1..=options.processes).into_iter().flatten();
    let of = |part: RunOptions| UsersOfProcess { users: part.users as u64, further_users: part.market_users as u64 };
    parts.filter_map(|number| options.of_process(number).ok()).map(of).collect()
}

/// Isolation level that each transaction demands, and the one that an engine of these capabilities provides.
pub fn isolation(capabilities: &Capabilities) -> Vec<OperationIsolation> {
    Transaction::ALL
        .into_iter()
        .map(|transaction| bourse_oltp::isolation::of(transaction.name(), transaction.isolation(), capabilities))
        .collect()
}

/// Description of an open-loop schedule.
fn in_words(options: &RunOptions, OpenLoop { per_second, evenly, .. }: OpenLoop) -> String {
    let how = if evenly { "evenly" } else { "at random moments" };
    let waiting = options.most_waiting();
    let asked = (options.requested_rate().unwrap_or_default() * 1e6).round() / 1e6;
    format!(
        "{asked} Trade-Results a second asked for: {per_second:.1} customers' transactions a second, {how}; at most \
         {waiting} of them wait, the others are dropped"
    )
}

/// Description of one driver of several, with its part of the customers.
fn share(options: &RunOptions) -> String {
    match customers(options.share, options.part) {
        None => format!("{}, for all customers", options.share),
        Some(partition) => {
            let last = partition.first + partition.count - 1;
            let rest = 100 - partition.percent;
            format!("{}, for customers {} to {last}; {rest} % of the requests for any", options.share, partition.first)
        }
    }
}

/// Runs Trade-Cleanup, then customers, market and maintenance through warm-up, measurement interval and drain, in process.
///
/// `interrupt` ends the measurement interval early, with everything in flight still finished; `progress` is called once a
/// second.
///
/// # Errors
/// [`RunError`] if it could not begin.
pub fn run(
    engine: &dyn Engine,
    inputs: &Inputs,
    options: &RunOptions,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<RunResult, RunError> {
    run_on(&InProcess::new(engine), inputs, options, clock, interrupt, progress)
}

/// [`run`] on any system under test.
///
/// With several drivers only the first has maintenance, which runs once a minute for any number of drivers, and counts the
/// one Trade-Cleanup.
///
/// # Errors
/// [`RunError`] if it could not begin.
pub fn run_on(
    sut: &dyn Sut<Tpce>,
    inputs: &Inputs,
    options: &RunOptions,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<RunResult, RunError> {
    options.check()?;
    let mut seeds = options.share.seeds(options.seed);
    let mut next_seed = || seeds.next();
    let database = options.database();
    let mut tunables = options.tunables;
    if planted!(MixWithoutWatch) {
        tunables.mix.market_watch = 0;
    }
    let maintenance = MaintenanceEmulator::new(inputs, database, next_seed()).map_err(OptionsError::from)?;

    let pending = pending_orders(inputs, options)?;
    let BegunRound { before, opening } = sut.open(&options.terms(), clock, interrupt)?;
    let begun = clock.now();
    let placed = if pending.is_empty() { Ledger::default() } else { place(sut, &pending, clock, interrupt)? };
    let placed_ns = clock.now() - begun;
    let state = DriverState {
        queues: MarketQueues::new(options.users, options.market_room),
        acknowledged: Mutex::default(),
        history: options.history.is_some().then(|| RoundHistory::of_users(options.users + options.market_users)),
        first_trade: opening.first_trade,
    };
    let mut brokerage = Brokerage { specs: specs::specs(), sut, state: &state, user_specs: Vec::new(), exchange: None };
    brokerage.exchange = Some(Exchange {
        inputs,
        database,
        ticker_tape_seed: next_seed(),
        trading_floor_seed: next_seed(),
        queues: &state.queues,
        pending,
    });
    for number in 1..=options.users {
        if interrupt.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        let config = CustomerConfig {
            tunables,
            // The reference starts every emulator's choice of accounts at the same number; Bourse's users would order in
            // lockstep.
            holdings_seed: next_seed(),
            partition: customers(options.share, options.part),
            ..CustomerConfig::of(database)
        };
        let emulator = CustomerEmulator::new(inputs, &config, next_seed(), next_seed()).map_err(OptionsError::from)?;
        let schedule = options.schedule(next_seed());
        let customer = Customer::new(&state, number, sut.connector()?, emulator);
        let user = UserSpec::new(format!("customer {number}"), customer);
        brokerage.user_specs.push(UserSpec { role: CUSTOMERS, schedule, ..user });
    }
    for number in 1..=options.market_users {
        let market_user = MarketUser::new(&state, options.users + number, sut.connector()?);
        let user = UserSpec::new(format!("market user {number}"), market_user);
        let (schedule, stop_rule) = (Schedule::Arrivals, StopRule::WhenFinished);
        brokerage.user_specs.push(UserSpec { role: MARKET_USERS, schedule, stop_rule, ..user });
    }
    if options.share.number() == 1 {
        let user = UserSpec::new("maintenance", Maintenance::new(&state, sut.connector()?, maintenance));
        brokerage.user_specs.push(UserSpec { role: "maintenance", schedule: Schedule::Arrivals, ..user });
    }

    let headline = Some(Transaction::TradeResult as usize);
    let back_off_seed = next_seed();
    let plan = options.round_plan();
    let measured =
        bourse_driver::run(sut.engine(), &mut brokerage, &plan, headline, back_off_seed, clock, interrupt, progress)?;
    let mut round = measured.round;
    let due = state.queues.counters.due.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    expect_of_market(&mut round, &due);
    if options.aged_at.is_some() {
        round.market_age_s = round.market_age_s.map(|age_s| age_s + aged::AGE_S as f64);
    }
    if options.share.number() == 1 {
        round.operations[Transaction::TradeCleanup as usize] = cleanup_figures(opening.cleanup_ns);
    }
    let (mut acknowledged, achieved) =
        state.acknowledged.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    round.checks.push(reconciled::acknowledgements(&acknowledged, &measured.counted.ledger));
    round.checks.push(reconciled::mix_of_requests(&measured.counted.ledger, &options.tunables.mix));
    if let (Some(history), Some(wanted)) = (&state.history, &options.history) {
        examine(&mut round, history, wanted, options.seed, sut.engine(), clock)?;
    }
    round.facts.extend(facts(&state, &opening.cleaned, &acknowledged, options));
    round.facts.extend(options.aged_at.map(|rate| NameValue {
        name: "market".to_owned(),
        value: format!(
            "aged at {rate} TR/s: {} pending limit orders placed before the warm-up, in {:.1} s",
            placed.sure(ORDERS),
            placed_ns as f64 / 1e9
        ),
    }));
    // The database's own count: the market forgets an order once its tape has shown the price.
    match sut.pending() {
        Ok(pending) => round.facts.extend(pending.map(|pending| NameValue::new(PENDING, pending.to_string()))),
        Err(error) => round.warnings.push(Warning::FigureMissing {
            figure: "the number of pending limit orders".to_owned(),
            cause: error.to_string(),
        }),
    }
    round.facts.extend(achieved.facts(&options.tunables));
    acknowledged.merge(&placed);
    Ok(RunResult {
        round,
        before,
        acknowledged,
        counted: measured.counted,
        interrupted: measured.interrupted,
        fault: measured.fault,
    })
}

/// Examines a round's history, and notes in the round what was found.
fn examine(
    round: &mut Round,
    history: &RoundHistory<Item>,
    wanted: &HistoryOptions,
    seed: u64,
    engine: &dyn Engine,
    clock: &dyn Clock,
) -> Result<(), RunError> {
    let (capabilities, begin) = (engine.capabilities(), clock.now());
    let operation = |at: usize| {
        let transaction = Transaction::ALL[at];
        (transaction.name(), capabilities.guarantee(transaction.isolation()))
    };
    let name = format!("tpce-{}-{seed}", engine.description()?.engine);
    let refused = |error| RunError::Refused(format!("cannot write the history: {error}"));
    let judged = history.judge(wanted, &name, operation).map_err(refused)?;
    round.history = Some(judged.figures);
    round.checks.push(Check { took_s: (clock.now() - begin) as f64 / 1e9, ..judged.check });
    round.facts.push(NameValue::new("history", judged.extent));
    Ok(())
}

/// Places orders from before the round that was opened last. Returns the placed orders' sums.
fn place(
    sut: &dyn Sut<Tpce>,
    orders: &[PendingOrder],
    clock: &dyn Clock,
    interrupt: &AtomicBool,
) -> Result<Ledger, RunError> {
    let mut placed = None;
    sut.change_state(&mut |house| placed = Some(house.place(sut.engine(), orders, clock, interrupt)));
    let refused = "the market cannot be aged: orders are placed in bulk on an engine in process";
    Ok(placed.ok_or_else(|| RunError::Refused(refused.to_owned()))??)
}

/// Pending orders from before the round, of separate customers, independent of the round's draws.
fn pending_orders(inputs: &Inputs, options: &RunOptions) -> Result<Vec<PendingOrder>, OptionsError> {
    let Some(rate) = options.aged_at else { return Ok(Vec::new()) };
    let mut seeds = SplitMix::new(options.seed ^ 0x000a_9ed0_5eed);
    let seeds = [seeds.next(), seeds.next(), seeds.next()];
    let orders_per_second = options.orders_at(rate);
    Ok(aged::pending_orders(inputs, options.database(), &options.tunables, orders_per_second, seeds)?)
}

/// Compares the mix of a round with the Trade-Results that its market owed in the measurement interval, and notes the
/// market's age when that began.
pub(super) fn expect_of_market(round: &mut Round, due: &DueResults) {
    let measured = round.phases.iter().find(|phase| phase.kind == PhaseKind::Measurement);
    let Some((from_s, to_s)) = measured.map(|phase| (phase.from_s, phase.to_s)) else { return };
    specs::expect(&mut round.operations, due.between(from_s, to_s));
    round.market_age_s = Some(from_s);
}

/// Figures of Trade-Cleanup as an operation of its own, run once before the round.
pub(super) fn cleanup_figures(took_ns: Nanos) -> bourse_record::Operation {
    let operation = Transaction::TradeCleanup as usize;
    let sample = Sample::new(operation, Outcome::Completed, took_ns);
    let mut recorder = Recorder::new(specs::specs().into(), |at| at == operation);
    recorder.sample(&sample, true);
    recorder.figures().swap_remove(operation)
}

fn facts(
    state: &DriverState,
    cleaned: &TradeCleanupOutput,
    acknowledged: &Ledger,
    options: &RunOptions,
) -> Vec<NameValue> {
    let counters = &state.queues.counters;
    let pacing_s = counters.pacing_ns.load(Ordering::Relaxed) as f64 / 1e9;
    let facts = [
        (
            "Trade-Cleanup",
            format!(
                "before the warm-up: {} pending and {} submitted orders of earlier runs canceled",
                cleaned.pending_canceled, cleaned.submitted_canceled
            ),
        ),
        ("pacing", format!("customers paused {pacing_s:.3} s in all for the market, of {} users", options.users)),
        ("longest market queue", counters.longest_queue.load(Ordering::Relaxed).to_string()),
        ("orders executed at once", counters.market_orders.load(Ordering::Relaxed).to_string()),
        ("limit orders placed", counters.limit_orders.load(Ordering::Relaxed).to_string()),
        ("limit orders triggered", counters.triggered.load(Ordering::Relaxed).to_string()),
        ("Trade-Orders committed in the whole round", acknowledged.sure(ORDERS).to_string()),
        ("Trade-Results committed in the whole round", acknowledged.sure(RESULTS).to_string()),
        ("seeds", "each user's mix, inputs and choice of accounts follow from the run's seed".to_owned()),
    ];
    facts.map(|(name, value)| NameValue::new(name, value)).into()
}

/// The workload of a round, with its users ready.
struct Brokerage<'w> {
    specs: Vec<OperationSpec>,
    sut: &'w dyn Sut<Tpce>,
    state: &'w DriverState,
    user_specs: Vec<UserSpec<'w>>,
    exchange: Option<Exchange<'w>>,
}

impl<'w> Workload<'w> for Brokerage<'w> {
    fn operations(&self) -> &[OperationSpec] {
        &self.specs
    }

    fn needs(&self, capabilities: &Capabilities) -> Vec<String> {
        needs(capabilities)
    }

    fn users(&mut self) -> Vec<UserSpec<'w>> {
        std::mem::take(&mut self.user_specs)
    }

    fn background(&mut self) -> Vec<Background<'w>> {
        let exchange = self.exchange.take();
        let run = |exchange: Exchange<'w>| -> bourse_driver::Emulator<'w> {
            Box::new(move |clock: &dyn Clock, control: &RoundControl| exchange.run(clock, control))
        };
        exchange
            .into_iter()
            .map(|exchange| Background { name: "market exchange".to_owned(), run: run(exchange) })
            .collect()
    }

    fn sessions_elsewhere(&self) -> usize {
        self.sut.sessions_elsewhere()
    }

    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, Fault> {
        Ok(self.sut.begin(clock)?)
    }

    fn queue_length(&self) -> Option<u64> {
        Some(self.state.queues.waiting() as u64)
    }
}

/// Abilities for TPC-E that an engine lacks, as sentences; empty if it lacks none.
pub fn needs(capabilities: &Capabilities) -> Vec<String> {
    let mut lacking = Vec::new();
    if capabilities.sql.is_none() {
        lacking.push("tpce needs SQL".to_owned());
    }
    if capabilities.one_session {
        lacking.push(
            "customers, market and maintenance need a session each, and this target allows one at a time".to_owned(),
        );
    }
    if capabilities.sql.is_some_and(|sql| !sql.row_conflicts) {
        lacking.push(
            "customers and market change rows of the same tables at once, and of two transactions that change one table this engine refuses one"
                .to_owned(),
        );
    }
    // Transactions that need more than reads of what is committed get the most that the engine has, which every report shows.
    if capabilities.sql.is_some_and(|sql| sql.isolation.is_empty()) {
        lacking.push("transactions must not see uncommitted changes of others (Clause 7.4.1)".to_owned());
    }
    lacking
}
