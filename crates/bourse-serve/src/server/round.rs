//! A round of one or several drivers: its beginning, its end, its reconciliation and checks.

use super::{Event, Offer, STOPPED, Shared, coordinate, copy, lock};
use crate::protocol::codec::REPLY_BYTES;
use crate::protocol::control::{ClosedRound, OpenedRound, Payload, RoundTerms, Wait};
use crate::wire::TICK;
use bourse_driver::{Nanos, RetryPolicy};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::{RoundBegin, SharedWorkload};
use bourse_record::{Check, CheckStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Current round: there is one at a time.
pub(super) struct Rounds<W: SharedWorkload> {
    current: Mutex<Option<Arc<Round<W>>>>,
    /// Whether the server's stop ended a round: its drivers may have left before the accept loop looks at `current`.
    cut: AtomicBool,
    /// Rounds that have changed the database as it is now.
    pub(super) opened: AtomicU64,
}

impl<W: SharedWorkload> Default for Rounds<W> {
    fn default() -> Self {
        Self { current: Mutex::new(None), cut: AtomicBool::new(false), opened: AtomicU64::new(0) }
    }
}

pub(super) struct Round<W: SharedWorkload> {
    name: String,
    /// Terms of the driver that came first; those of the others must be equal.
    pub(super) terms: RoundTerms,
    pub(super) stage: Mutex<Table<W>>,
    pub(super) changed: Condvar,
}

pub(super) struct Table<W: SharedWorkload> {
    stage: Stage<W>,
    pub(super) members: Vec<MemberEntry<W>>,
    /// Moment at which coordinated drivers begin, once all are ready.
    pub(super) begins: Option<Nanos>,
    /// Number of finished drivers that wait for the others: one of them will run the checks.
    waiting: usize,
}

pub(super) enum Stage<W: SharedWorkload> {
    /// The round waits for drivers.
    Gathering,
    /// All drivers have joined; the workload's own work before the round runs.
    Opening,
    Open(Box<(OpenedRound, RoundBegin<W>)>),
    /// All drivers have ended; the checks run.
    Checking,
    Closed(Result<Box<ClosedRound>, String>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum MemberState {
    Present,
    /// Ledger that it reported.
    Finished(Ledger),
    Vanished,
}

/// A driver in a round, with its state.
pub(super) type MemberEntry<W> = (Arc<Member<W>>, MemberState);

/// Entry of a driver in a round.
pub(super) struct Member<W: SharedWorkload> {
    pub(super) number: u32,
    pub(super) of: u32,
    /// Number of its sessions, for a coordinated driver.
    pub(super) sessions: u32,
    /// Whether all users of a coordinated driver wait for the beginning.
    pub(super) is_ready: AtomicBool,
    retry: RetryPolicy,
    /// State of the round's transactions, once it is open.
    state: OnceLock<Arc<W::State>>,
    /// Transactions that the server has performed for this driver, or may have.
    performed: Mutex<Ledger>,
    /// Set when the driver has ended or vanished: it may begin no more transactions.
    over: AtomicBool,
    in_flight: AtomicUsize,
}

/// Permission to perform one transaction in a round; the round is not closed before it is dropped.
pub(super) struct TransactionPermit<W: SharedWorkload> {
    member: Arc<Member<W>>,
    state: Arc<W::State>,
}

impl<W: SharedWorkload> TransactionPermit<W> {
    /// Takes a permission; `None` if the round has not begun, or is over for this driver.
    pub(super) fn take(member: &Arc<Member<W>>) -> Option<Self> {
        let state = Arc::clone(member.state.get()?);
        member.in_flight.fetch_add(1, Ordering::SeqCst);
        let permit = Self { member: Arc::clone(member), state };
        // Read after the count is raised: who closes the round sets this first and then waits for the count.
        (!member.over.load(Ordering::SeqCst)).then_some(permit)
    }

    pub(super) fn state(&self) -> &W::State {
        &self.state
    }

    pub(super) fn retry(&self) -> RetryPolicy {
        self.member.retry
    }

    /// Counts a transaction at the server, by the rule that the driver's users follow.
    pub(super) fn answered(&self, request: &W::Request, answer: &W::Answer) {
        W::count(&mut lock(&self.member.performed), request, answer);
    }

    /// Counts a transaction that failed; `in_doubt` if the server itself does not know whether it was committed.
    pub(super) fn failed(&self, request: &W::Request, in_doubt: bool) {
        W::count_failed(&mut lock(&self.member.performed), request, in_doubt);
    }
}

impl<W: SharedWorkload> Drop for TransactionPermit<W> {
    fn drop(&mut self) {
        self.member.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Progress reported to a waiting driver, at every tick; an error ends its wait.
#[derive(Clone, Copy)]
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

/// A driver's entry in a round that has begun.
pub(super) type JoinedRound<W> = (Arc<Round<W>>, Arc<Member<W>>, OpenedRound);

impl<W: SharedWorkload> Rounds<W> {
    /// Joins a driver to a round, waits for the others and begins; the last to come opens the round for all.
    pub(super) fn join(
        &self,
        shared: &Shared<'_, W>,
        terms: RoundTerms,
        came: &mut dyn FnMut(&Arc<Member<W>>),
        tell: ReportWait<'_>,
    ) -> Result<JoinedRound<W>, WaitEnd> {
        if terms.share().is_none() {
            return Err(WaitEnd::Refused(format!("there is no driver {}/{}", terms.number, terms.of)));
        }
        let limit = Limit::new(shared.options.gather);
        let (round, member) = loop {
            match self.enter(terms) {
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

    fn enter(&self, terms: RoundTerms) -> EntryResult<W> {
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
            retry: terms.retry(),
            state: OnceLock::new(),
            performed: Mutex::default(),
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
        shared: &Shared<'_, W>,
        round: &Arc<Round<W>>,
        member: &Arc<Member<W>>,
        reported: Ledger,
        tell: ReportWait<'_>,
    ) -> Result<ClosedRound, WaitEnd> {
        member.over.store(true, Ordering::SeqCst);
        round.set(member, MemberState::Finished(reported.limited(W::default().growths())));
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
        shared: &Shared<'_, W>,
        round: &Arc<Round<W>>,
        tell: ReportWait<'_>,
    ) -> Result<ClosedRound, WaitEnd> {
        loop {
            let mut table = lock(&round.stage);
            let present = table.present();
            match &table.stage {
                Stage::Closed(Ok(closed)) => return Ok((**closed).clone()),
                Stage::Closed(Err(why)) => return Err(WaitEnd::Refused(why.clone())),
                Stage::Open(opened) if present == 0 => {
                    let begun = opened.1.clone();
                    table.stage = Stage::Checking;
                    let members = table.members.clone();
                    drop(table);
                    let of = round.terms.of;
                    while_told(tell, WaitReport { ready: of, of, what: Wait::Checking }, || {
                        let result = match shared.options.coordinates {
                            true => coordinate::check(shared, &begun, &members),
                            false => check(shared, &begun, &members),
                        };
                        self.end(shared, round, &members, result);
                    });
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
    pub(super) fn vanish(&self, shared: &Shared<'_, W>, round: &Arc<Round<W>>, member: &Arc<Member<W>>) -> bool {
        member.over.store(true, Ordering::SeqCst);
        let vanished = round.set(member, MemberState::Vanished);
        self.abandon_if_empty(shared, round);
        vanished
    }

    /// Removes a driver's entry before the round has begun.
    fn leave(&self, shared: &Shared<'_, W>, round: &Arc<Round<W>>, member: &Arc<Member<W>>) {
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
    fn abandon_if_empty(&self, shared: &Shared<'_, W>, round: &Arc<Round<W>>) {
        let table = lock(&round.stage);
        if !matches!(table.stage, Stage::Open(_)) || table.present() > 0 || table.waiting > 0 {
            return;
        }
        let members = table.members.clone();
        drop(table);
        wait_for_transactions(&members);
        self.cut.fetch_or(shared.stopping(), Ordering::SeqCst);
        let why = match shared.stopping() {
            true => STOPPED.to_owned(),
            false => "no driver was left to ask for checks".to_owned(),
        };
        let mut sum = Ledger::default();
        members.iter().for_each(|(member, _)| sum.merge(&lock(&member.performed)));
        let error = shared.stopping().then(|| why.clone());
        self.over(round, Err(why));
        let round = round.name.clone();
        (shared.tell)(Event::Closed { round, performed: W::in_words(&sum), checks: None, error });
    }

    fn end(
        &self,
        shared: &Shared<'_, W>,
        round: &Arc<Round<W>>,
        members: &[MemberEntry<W>],
        result: Result<ClosedRound, String>,
    ) {
        let mut sum = Ledger::default();
        for (member, state) in members {
            match state {
                // Transactions that bypassed this server are known only from the drivers' reports.
                MemberState::Finished(reported) if shared.options.coordinates => sum.merge(reported),
                _ => sum.merge(&lock(&member.performed)),
            }
        }
        let numbers = |closed: &ClosedRound| {
            let with = |status| closed.checks.iter().filter(|check| check.status == status).count();
            [CheckStatus::Passed, CheckStatus::Failed, CheckStatus::NotApplicable].map(with)
        };
        let checks = result.as_ref().ok().map(numbers);
        let error = result.as_ref().err().cloned();
        self.over(round, result.map(Box::new));
        let round = round.name.clone();
        (shared.tell)(Event::Closed { round, performed: W::in_words(&sum), checks, error });
    }

    fn over(&self, round: &Arc<Round<W>>, result: Result<Box<ClosedRound>, String>) {
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

enum EntryResult<W: SharedWorkload> {
    At(Arc<Round<W>>, Arc<Member<W>>),
    Later,
    Never(String),
}

impl<W: SharedWorkload> Round<W> {
    fn new(terms: RoundTerms) -> Self {
        let table = Table { stage: Stage::Gathering, members: Vec::new(), begins: None, waiting: 0 };
        let name = format!("{:016x}", super::listener::random_number());
        Self { name, terms, stage: Mutex::new(table), changed: Condvar::new() }
    }

    /// Sets the standing of a driver that was present until now; returns whether it was.
    fn set(&self, member: &Arc<Member<W>>, state: MemberState) -> bool {
        let mut table = lock(&self.stage);
        let mine = table.members.iter_mut().find(|(other, _)| Arc::ptr_eq(other, member));
        let changed = mine.filter(|(_, old)| *old == MemberState::Present).map(|(_, old)| *old = state).is_some();
        self.changed.notify_all();
        changed
    }

    fn gather(&self, shared: &Shared<'_, W>, tell: ReportWait<'_>) -> Result<OpenedRound, WaitEnd> {
        let limit = Limit::new(shared.options.gather);
        loop {
            let mut table = lock(&self.stage);
            let ready = table.present();
            match &table.stage {
                Stage::Gathering if ready == self.terms.of => {
                    table.stage = Stage::Opening;
                    drop(table);
                    let report = WaitReport { ready, of: ready, what: Wait::Beginning };
                    while_told(tell, report, || self.open(shared));
                    continue;
                }
                Stage::Open(opened) => return Ok(opened.0.clone()),
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

    /// Does the workload's own work before the round, for all drivers.
    fn open(&self, shared: &Shared<'_, W>) {
        let opened = copy::prepare(shared, self.terms.beginning).and_then(|prepared| {
            let Offer { engine, fingerprint, .. } = shared.offer;
            let (state, begun) = W::open(engine, &fingerprint.size, shared.clock).map_err(|error| error.to_string())?;
            let payload = Payload::of(&begun, REPLY_BYTES).map_err(|error| error.to_string())?;
            Ok((prepared, state, begun, payload))
        });
        let mut table = lock(&self.stage);
        match opened {
            Ok((prepared, state, begun, payload)) => {
                let state = Arc::new(state);
                for (member, _) in &table.members {
                    assert!(member.state.set(Arc::clone(&state)).is_ok(), "a round is opened once");
                }
                let opened = OpenedRound {
                    round: self.name.clone(),
                    kept: prepared.kept,
                    prepared: prepared.words,
                    begun: payload,
                    sessions: shared.options.coordinates.then(|| table.sessions()),
                };
                table.stage = Stage::Open(Box::new((opened, begun)));
                shared.rounds.opened.fetch_add(1, Ordering::Relaxed);
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

impl<W: SharedWorkload> Table<W> {
    fn present(&self) -> u32 {
        self.members.iter().filter(|(_, state)| *state == MemberState::Present).count() as u32
    }

    /// Number of sessions of all drivers.
    fn sessions(&self) -> u32 {
        self.members.iter().map(|(member, _)| member.sessions).fold(0, u32::saturating_add)
    }
}

/// Does long work of a server in a thread of its own, while the driver that waits for it gets signs of life.
fn while_told(tell: ReportWait<'_>, report: WaitReport, work: impl FnOnce() + Send) {
    let (done, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            work();
            drop(done);
        });
        let mut is_here = true;
        while ended.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
            // Others wait for the work too.
            is_here = is_here && tell(report).is_ok();
        }
    });
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

    pub(super) fn check<W: SharedWorkload>(
        &self,
        shared: &Shared<'_, W>,
        how_far: impl Fn() -> String,
    ) -> Result<(), WaitEnd> {
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

fn wait_for_transactions<W: SharedWorkload>(members: &[MemberEntry<W>]) {
    // Each transaction ends by itself: there is no waiting without limit inside one.
    while members.iter().any(|(member, _)| member.in_flight.load(Ordering::SeqCst) > 0) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Checks the database, its reconciliation with all drivers together, and that each driver's ledger agrees with the server's.
fn check<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    begun: &RoundBegin<W>,
    members: &[MemberEntry<W>],
) -> Result<ClosedRound, String> {
    wait_for_transactions(members);
    let Offer { engine, fingerprint, .. } = shared.offer;
    let mut total = Ledger::default();
    let mut answers = Vec::new();
    for (member, state) in members {
        let performed = lock(&member.performed).clone();
        match state {
            MemberState::Finished(reported) => {
                // Transactions in doubt for the driver are known to the server, unless they are in doubt for it too.
                total.merge(reported);
                total.merge_doubts(&performed);
                answers.push(agreement(member, reported, &performed));
            }
            MemberState::Present | MemberState::Vanished => total.merge(&performed),
        }
    }
    let run = Some((&begun.before, &total));
    let mut checks = W::check(engine, &fingerprint.size, run, shared.clock, &mut |_| {})
        .map_err(|error| format!("the database could not be checked: {error}"))?;
    checks.splice(0..0, answers);
    Ok(ClosedRound { vanished: vanished(members), checks })
}

/// Numbers of the drivers that vanished.
pub(super) fn vanished<W: SharedWorkload>(members: &[MemberEntry<W>]) -> Vec<u32> {
    let gone = members.iter().filter(|(_, state)| *state == MemberState::Vanished);
    let mut vanished: Vec<u32> = gone.map(|(member, _)| member.number).collect();
    vanished.sort_unstable();
    vanished
}

/// Checks that the ledger of a driver agrees with that of the server for it.
fn agreement<W: SharedWorkload>(member: &Member<W>, reported: &Ledger, performed: &Ledger) -> Check {
    let (holds, evidence) = reported.agreement(performed, W::default().growths());
    let name = format!("answers to driver {}/{}", member.number, member.of);
    Check::new(name, W::AGREEMENT, Check::RECONCILIATION, holds, evidence)
}
