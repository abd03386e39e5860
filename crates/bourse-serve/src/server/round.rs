//! A round of one or several drivers: its beginning, its end, its reconciliation and checks.

use super::{Event, Offer, Shared, coordinate, copy, lock};
use crate::protocol::control::{ClosedRound, OpenedRound, RoundTerms, Wait};
use crate::wire::TICK;
use bourse_driver::{Nanos, RetryPolicy};
use bourse_record::{Check, CheckStatus};
use bourse_tpce::check::reconciliation::AcknowledgedCommits;
use bourse_tpce::load::part_of;
use bourse_tpce::sut::BrokerageHouse;
use bourse_tpce::transactions::{Request, Status};
use bourse_tpce::users::verify_and_reconcile;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Current round: there is one at a time.
#[derive(Default)]
pub(super) struct Rounds {
    current: Mutex<Option<Arc<Round>>>,
    /// Whether the server's stop ended a round: its drivers may have left before the accept loop looks at `current`.
    cut: AtomicBool,
}

pub(super) struct Round {
    name: String,
    /// Terms of the driver that came first; those of the others must be equal.
    pub(super) terms: RoundTerms,
    pub(super) stage: Mutex<Table>,
    pub(super) changed: Condvar,
}

pub(super) struct Table {
    stage: Stage,
    pub(super) members: Vec<(Arc<Member>, MemberState)>,
    /// Moment at which coordinated drivers begin, once all are ready.
    pub(super) begins: Option<Nanos>,
    /// Number of finished drivers that wait for the others: one of them will run the checks.
    waiting: usize,
}

pub(super) enum Stage {
    /// The round waits for drivers.
    Gathering,
    /// All drivers have joined; Trade-Cleanup runs.
    Opening,
    Open(Box<OpenedRound>),
    /// All drivers have ended; the checks run.
    Checking,
    Closed(Result<Box<ClosedRound>, String>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MemberState {
    Present,
    Finished(AcknowledgedCommits),
    Vanished,
}

/// Entry of a driver in a round.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) number: u32,
    pub(super) of: u32,
    /// Number of its sessions, for a coordinated driver.
    pub(super) sessions: u32,
    /// Whether all users of a coordinated driver wait for the beginning.
    pub(super) is_ready: AtomicBool,
    retry: RetryPolicy,
    house: OnceLock<Arc<BrokerageHouse>>,
    /// Transactions that the server has committed for this driver, or may have.
    committed: Mutex<AcknowledgedCommits>,
    /// Set when the driver has ended or vanished: it may begin no more transactions.
    over: AtomicBool,
    in_flight: AtomicUsize,
}

/// Permission to perform one transaction in a round; the round is not closed before it is dropped.
pub(super) struct TransactionPermit {
    member: Arc<Member>,
    house: Arc<BrokerageHouse>,
}

impl TransactionPermit {
    /// Takes a permission; `None` if the round has not begun, or is over for this driver.
    pub(super) fn take(member: &Arc<Member>) -> Option<Self> {
        let house = Arc::clone(member.house.get()?);
        member.in_flight.fetch_add(1, Ordering::SeqCst);
        let permit = Self { member: Arc::clone(member), house };
        // Read after the count is raised: who closes the round sets this first and then waits for the count.
        (!member.over.load(Ordering::SeqCst)).then_some(permit)
    }

    pub(super) fn house(&self) -> &BrokerageHouse {
        &self.house
    }

    pub(super) fn retry(&self) -> RetryPolicy {
        self.member.retry
    }

    /// Counts a transaction at the server, by the rule that the driver's users follow.
    pub(super) fn performed(&self, request: &Request, status: Status) {
        let mut count = lock(&self.member.committed);
        if status == Status::SUCCESS { count.committed(request) } else { count.failed(request) }
    }

    /// Counts a transaction that failed.
    pub(super) fn failed(&self, request: &Request) {
        lock(&self.member.committed).failed(request);
    }

    /// Counts a transaction that the server itself does not know to be committed or not.
    pub(super) fn in_doubt(&self, request: &Request) {
        lock(&self.member.committed).in_doubt(request);
    }
}

impl Drop for TransactionPermit {
    fn drop(&mut self) {
        self.member.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Progress reported to a waiting driver, at every tick; an error ends its wait.
pub(super) struct WaitReport {
    pub(super) ready: u32,
    pub(super) of: u32,
    pub(super) what: Wait,
}

/// Reason that a driver's wait ends early.
pub(super) enum WaitEnd {
    /// The driver is gone.
    Driver(crate::ServeError),
    /// The driver is refused, with the reason.
    Refused(String),
}

pub(super) type ReportWait<'t> = &'t mut dyn FnMut(WaitReport) -> Result<(), crate::ServeError>;

impl Rounds {
    /// Joins a driver to a round, waits for the others and begins; the last to come opens the brokerage house.
    pub(super) fn join(
        &self,
        shared: &Shared<'_>,
        terms: RoundTerms,
        came: &mut dyn FnMut(&Arc<Member>),
        tell: ReportWait<'_>,
    ) -> Result<(Arc<Round>, Arc<Member>, OpenedRound), WaitEnd> {
        let all = terms.terms(part_of(shared.offer.fingerprint));
        let all = all.ok_or_else(|| WaitEnd::Refused(format!("there is no driver {}/{}", terms.number, terms.of)))?;
        let limit = Limit::new(shared.options.gather);
        let (round, member) = loop {
            match self.enter(terms, all.retry) {
                EntryResult::At(round, member) => break (round, member),
                EntryResult::Never(why) => return Err(WaitEnd::Refused(why)),
                // The round before is being checked, which takes a while and ends.
                EntryResult::Later => {
                    std::thread::sleep(TICK);
                    limit.check(shared, || "the checks of the round before still run".to_owned())?;
                    tell(WaitReport { ready: 0, of: terms.of, what: Wait::Checking }).map_err(WaitEnd::Driver)?;
                }
            }
        };
        came(&member);
        match round.gather(shared, tell) {
            Ok(opened) => Ok((round, member, opened)),
            Err(gone) => {
                self.leave(shared, &round, &member);
                Err(gone)
            }
        }
    }

    fn enter(&self, terms: RoundTerms, retry: RetryPolicy) -> EntryResult {
        let mut current = lock(&self.current);
        let round = current.get_or_insert_with(|| Arc::new(Round::new(terms)));
        let mut table = lock(&round.stage);
        let among = format!("driver {}/{}", terms.number, terms.of);
        match table.stage {
            Stage::Checking | Stage::Closed(_) => return EntryResult::Later,
            Stage::Opening | Stage::Open(_) => {
                let drivers = table.members.iter().filter(|(_, state)| *state == MemberState::Present).count();
                return EntryResult::Never(format!(
                    "a round is going on with {drivers} drivers; {among} comes too late"
                ));
            }
            Stage::Gathering => {}
        }
        let differences = terms.differences(&round.terms);
        if !differences.is_empty() {
            return EntryResult::Never(format!("{among} wants another round: {}", differences.join("; ")));
        }
        if table.members.iter().any(|(member, _)| member.number == terms.number) {
            return EntryResult::Never(format!(
                "{among} is here already: each driver of a round has a number of its own"
            ));
        }
        let member = Arc::new(Member {
            number: terms.number,
            of: terms.of,
            sessions: terms.sessions,
            is_ready: false.into(),
            retry,
            house: OnceLock::new(),
            committed: Mutex::default(),
            over: false.into(),
            in_flight: AtomicUsize::new(0),
        });
        table.members.push((Arc::clone(&member), MemberState::Present));
        drop(table);
        EntryResult::At(Arc::clone(round), member)
    }

    /// Ends a driver's part: waits for the others; one of the waiting drivers' threads runs the checks, and all get the result.
    pub(super) fn finish(
        &self,
        shared: &Shared<'_>,
        round: &Arc<Round>,
        member: &Arc<Member>,
        told: AcknowledgedCommits,
        tell: ReportWait<'_>,
    ) -> Result<ClosedRound, WaitEnd> {
        member.over.store(true, Ordering::SeqCst);
        round.set(member, MemberState::Finished(plausible(told)));
        lock(&round.stage).waiting += 1;
        let closed = self.wait_for_end(shared, round, tell);
        lock(&round.stage).waiting -= 1;
        if closed.is_err() {
            self.abandon_if_empty(shared, round);
        }
        closed
    }

    fn wait_for_end(
        &self,
        shared: &Shared<'_>,
        round: &Arc<Round>,
        tell: ReportWait<'_>,
    ) -> Result<ClosedRound, WaitEnd> {
        loop {
            let mut table = lock(&round.stage);
            let present = table.present();
            match &table.stage {
                Stage::Closed(Ok(closed)) => return Ok((**closed).clone()),
                Stage::Closed(Err(why)) => return Err(WaitEnd::Refused(why.clone())),
                Stage::Open(opened) if present == 0 => {
                    let opened = opened.clone();
                    table.stage = Stage::Checking;
                    let members = table.members.clone();
                    drop(table);
                    let result = match shared.options.coordinates {
                        true => coordinate::check(shared, &opened, &members),
                        false => check(shared, &opened, &members),
                    };
                    self.end(shared, round, &members, result);
                    continue;
                }
                Stage::Open(_) if shared.stopping() => {
                    return Err(WaitEnd::Refused("the server is closing, and other drivers have not ended".to_owned()));
                }
                _ => {}
            }
            let what = if matches!(table.stage, Stage::Checking) { Wait::Checking } else { Wait::Ending };
            let of = round.terms.of;
            let table = round.changed.wait_timeout(table, TICK).unwrap_or_else(PoisonError::into_inner).0;
            drop(table);
            tell(WaitReport { ready: of.saturating_sub(present), of, what }).map_err(WaitEnd::Driver)?;
        }
    }

    /// Marks a driver that is gone without having ended; returns whether that was during a round.
    pub(super) fn vanish(&self, shared: &Shared<'_>, round: &Arc<Round>, member: &Arc<Member>) -> bool {
        member.over.store(true, Ordering::SeqCst);
        let vanished = round.set(member, MemberState::Vanished);
        self.abandon_if_empty(shared, round);
        vanished
    }

    /// Removes a driver's entry before the round has begun.
    fn leave(&self, shared: &Shared<'_>, round: &Arc<Round>, member: &Arc<Member>) {
        let mut current = lock(&self.current);
        let mut table = lock(&round.stage);
        if matches!(table.stage, Stage::Gathering) {
            table.members.retain(|(other, _)| !Arc::ptr_eq(other, member));
            if table.members.is_empty() && current.as_ref().is_some_and(|current| Arc::ptr_eq(current, round)) {
                *current = None;
            }
            return;
        }
        drop((table, current));
        self.vanish(shared, round, member);
    }

    /// Ends a round that has no driver left to request the checks.
    fn abandon_if_empty(&self, shared: &Shared<'_>, round: &Arc<Round>) {
        let table = lock(&round.stage);
        if !matches!(table.stage, Stage::Open(_)) || table.present() > 0 || table.waiting > 0 {
            return;
        }
        let members = table.members.clone();
        drop(table);
        wait_for_transactions(&members);
        self.cut.fetch_or(shared.stopping(), Ordering::SeqCst);
        let why = "no driver was left to ask for checks".to_owned();
        let results = members.iter().map(|(member, _)| lock(&member.committed).results).sum();
        self.over(round, Err(why));
        (shared.tell)(Event::Closed { round: round.name.clone(), results, checks: None, error: None });
    }

    fn end(
        &self,
        shared: &Shared<'_>,
        round: &Arc<Round>,
        members: &[(Arc<Member>, MemberState)],
        result: Result<ClosedRound, String>,
    ) {
        let of = |(member, state): &(Arc<Member>, MemberState)| match state {
            // Transactions that bypassed this server are known only from the drivers' reports.
            MemberState::Finished(told) if shared.options.coordinates => told.results,
            _ => lock(&member.committed).results,
        };
        let results = members.iter().map(of).fold(0, u64::saturating_add);
        let passed = |checks: &[Check]| checks.iter().filter(|check| check.status == CheckStatus::Passed).count();
        let checks = result.as_ref().ok().map(|closed| (passed(&closed.checks), closed.checks.len()));
        let error = result.as_ref().err().cloned();
        self.over(round, result.map(Box::new));
        (shared.tell)(Event::Closed { round: round.name.clone(), results, checks, error });
    }

    fn over(&self, round: &Arc<Round>, result: Result<Box<ClosedRound>, String>) {
        let mut current = lock(&self.current);
        lock(&round.stage).stage = Stage::Closed(result);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, round)) {
            *current = None;
        }
        round.changed.notify_all();
    }

    /// Whether drivers are in a round, wait for one, or left one because the server stops.
    pub(super) fn busy(&self) -> bool {
        lock(&self.current).is_some() || self.cut.load(Ordering::SeqCst)
    }
}

enum EntryResult {
    At(Arc<Round>, Arc<Member>),
    Later,
    Never(String),
}

impl Round {
    fn new(terms: RoundTerms) -> Self {
        let table = Table { stage: Stage::Gathering, members: Vec::new(), begins: None, waiting: 0 };
        let name = format!("{:016x}", super::listener::random_number());
        Self { name, terms, stage: Mutex::new(table), changed: Condvar::new() }
    }

    /// Sets the standing of a driver that was present until now; returns whether it was.
    fn set(&self, member: &Arc<Member>, state: MemberState) -> bool {
        let mut table = lock(&self.stage);
        let mine = table.members.iter_mut().find(|(other, _)| Arc::ptr_eq(other, member));
        let changed = mine.filter(|(_, old)| *old == MemberState::Present).map(|(_, old)| *old = state).is_some();
        self.changed.notify_all();
        changed
    }

    fn gather(&self, shared: &Shared<'_>, tell: ReportWait<'_>) -> Result<OpenedRound, WaitEnd> {
        let limit = Limit::new(shared.options.gather);
        loop {
            let mut table = lock(&self.stage);
            let ready = table.present();
            match &table.stage {
                Stage::Gathering if ready == self.terms.of => {
                    table.stage = Stage::Opening;
                    drop(table);
                    self.open(shared);
                    continue;
                }
                Stage::Open(opened) => return Ok((**opened).clone()),
                Stage::Checking => return Err(WaitEnd::Refused("the round ended before it began".to_owned())),
                Stage::Closed(result) => {
                    let why = result.as_ref().err().cloned().unwrap_or_default();
                    return Err(WaitEnd::Refused(why));
                }
                Stage::Gathering | Stage::Opening => {}
            }
            let of = self.terms.of;
            if matches!(table.stage, Stage::Gathering) {
                limit.check(shared, || format!("{ready} of {of} drivers have come"))?;
            }
            drop(self.changed.wait_timeout(table, TICK).unwrap_or_else(PoisonError::into_inner));
            tell(WaitReport { ready, of, what: Wait::Beginning }).map_err(WaitEnd::Driver)?;
        }
    }

    /// Opens the brokerage house for all drivers.
    fn open(&self, shared: &Shared<'_>) {
        let opened = copy::prepare(shared, self.terms.beginning).and_then(|prepared| {
            let opened = BrokerageHouse::open(shared.offer.engine, part_of(shared.offer.fingerprint), shared.clock);
            opened.map(|(house, opened)| (prepared, house, opened)).map_err(|error| error.to_string())
        });
        let mut table = lock(&self.stage);
        match opened {
            Ok((prepared, house, opened)) => {
                let own = shared.options.coordinates.then(|| coordinate::own_statements(&table, &house));
                let house = Arc::new(house);
                for (member, _) in &table.members {
                    member.house.set(Arc::clone(&house)).expect("a round is opened once");
                }
                table.stage = Stage::Open(Box::new(OpenedRound {
                    round: self.name.clone(),
                    kept: prepared.kept,
                    prepared: prepared.words,
                    cleaned: opened.cleaned,
                    cleanup_ns: opened.cleanup_ns,
                    before: opened.before,
                    own,
                }));
                (shared.tell)(Event::Opened { round: self.name.clone(), of: self.terms.of });
            }
            Err(error) => {
                table.stage = Stage::Closed(Err(format!("the round could not begin: {error}")));
            }
        }
        let failed = matches!(table.stage, Stage::Closed(_));
        drop(table);
        if failed {
            *lock(&shared.rounds.current) = None;
        }
        self.changed.notify_all();
    }
}

impl Table {
    fn present(&self) -> u32 {
        self.members.iter().filter(|(_, state)| *state == MemberState::Present).count() as u32
    }
}

/// Time limit of a wait.
pub(super) struct Limit {
    begun: Instant,
    limit: Duration,
}

impl Limit {
    pub(super) fn new(limit: Duration) -> Self {
        Self { begun: Instant::now(), limit }
    }

    pub(super) fn check(&self, shared: &Shared<'_>, how_far: impl Fn() -> String) -> Result<(), WaitEnd> {
        if shared.stopping() {
            return Err(WaitEnd::Refused("the server is closing".to_owned()));
        }
        if self.begun.elapsed() > self.limit {
            let seconds = self.limit.as_secs();
            return Err(WaitEnd::Refused(format!("after {seconds} s {}", how_far())));
        }
        Ok(())
    }
}

/// Limits the counts that a driver reports to values a round can have, so that their sums cannot overflow.
fn plausible(told: AcknowledgedCommits) -> AcknowledgedCommits {
    const MOST: u64 = 1 << 40;
    const MOST_WRITTEN: u64 = 1 << 56;
    let AcknowledgedCommits { orders, orders_in_doubt, results, results_in_doubt, written, written_in_doubt } = told;
    AcknowledgedCommits {
        orders: orders.min(MOST),
        orders_in_doubt: orders_in_doubt.min(MOST),
        results: results.min(MOST),
        results_in_doubt: results_in_doubt.min(MOST),
        written: written.at_most(MOST_WRITTEN),
        written_in_doubt: written_in_doubt.at_most(MOST_WRITTEN),
    }
}

fn wait_for_transactions(members: &[(Arc<Member>, MemberState)]) {
    // Each transaction ends by itself: there is no waiting without limit inside one.
    while members.iter().any(|(member, _)| member.in_flight.load(Ordering::SeqCst) > 0) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Checks the database, its reconciliation with all drivers together, and that each driver's counts agree with the server's.
fn check(
    shared: &Shared<'_>,
    opened: &OpenedRound,
    members: &[(Arc<Member>, MemberState)],
) -> Result<ClosedRound, String> {
    wait_for_transactions(members);
    let Offer { engine, fingerprint, .. } = shared.offer;
    let mut total = AcknowledgedCommits::default();
    let mut answers = Vec::new();
    for (member, state) in members {
        let committed = *lock(&member.committed);
        match state {
            MemberState::Finished(told) => {
                // Transactions in doubt for the driver are known to the server, unless they are in doubt for it too.
                total.add(told);
                total.orders_in_doubt += committed.orders_in_doubt;
                total.results_in_doubt += committed.results_in_doubt;
                total.written_in_doubt.add(&committed.written_in_doubt);
                answers.push(agreement(member, told, &committed));
            }
            MemberState::Present | MemberState::Vanished => total.add(&committed),
        }
    }
    let books = Some((&opened.before, &total));
    let mut checks = verify_and_reconcile(engine, part_of(fingerprint), books, shared.clock, &mut |_| {})
        .map_err(|error| format!("the database could not be checked: {error}"))?;
    checks.splice(0..0, answers);
    Ok(ClosedRound { vanished: vanished(members), checks })
}

/// Numbers of the drivers that vanished.
pub(super) fn vanished(members: &[(Arc<Member>, MemberState)]) -> Vec<u32> {
    let gone = members.iter().filter(|(_, state)| *state == MemberState::Vanished);
    let mut vanished: Vec<u32> = gone.map(|(member, _)| member.number).collect();
    vanished.sort_unstable();
    vanished
}

/// Checks that the counts of a driver agree with those that the server committed for it.
fn agreement(member: &Member, told: &AcknowledgedCommits, committed: &AcknowledgedCommits) -> Check {
    let within =
        |told: u64, doubt: u64, committed: u64, unsure: u64| told <= committed + unsure && committed <= told + doubt;
    let orders = within(told.orders, told.orders_in_doubt, committed.orders, committed.orders_in_doubt);
    let results = within(told.results, told.results_in_doubt, committed.results, committed.results_in_doubt);
    Check {
        name: format!("answers to driver {}/{}", member.number, member.of),
        condition:
            "the driver received an answer for each Trade-Order and Trade-Result that the server committed for it, and for no other"
                .to_owned(),
        source: "reconciliation with the database".to_owned(),
        status: if orders && results { CheckStatus::Passed } else { CheckStatus::Failed },
        evidence: format!(
            "Trade-Orders: {} acknowledged, {} in doubt, {} committed; Trade-Results: {} acknowledged, {} in doubt, {} committed",
            told.orders, told.orders_in_doubt, committed.orders, told.results, told.results_in_doubt, committed.results
        ),
        took_s: 0.0,
    }
}
