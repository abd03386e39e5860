//! Sessions on threads of their own that receive one command after the other, so that a case is the same every time.
//!
//! A session that is blocked on a lock cannot report it. The thread that waits for the session queries the engine, which may
//! count waits, and otherwise gives the session a bounded time. The result is evidence, never by itself a verdict: an engine
//! may make a session wait, refuse it with a conflict, or let it read an old version, and each of these can be right.

use crate::pausable_session::{HaltCommand, HaltPoint, ON_PURPOSE, PausableSession, SessionEvent, StatementInProgress};
use crate::test_bed::{AcidError, TestBed, TxnEnvironment, is_conflict};
use bourse_engine::{Engine, EngineError, one_line};
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep};
use bourse_tpce::transactions::{FrameError, Output, Request, TxnError};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time limit for a session to reach its point, or its end once it is no longer blocked: longer than any engine waits for a
/// lock before it reports a conflict.
const WAIT_LIMIT: Duration = Duration::from_secs(120);
/// Grace period in which a session that the engine has counted as waiting may still end.
const WAITING_GRACE: Duration = Duration::from_millis(50);
/// Interval between queries of the engine while a session is awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Upper limit of attempts at a transaction that met a conflict.
const MAX_ATTEMPTS: u32 = 10;

type TransactionEnd = Result<Output, TxnError>;

/// Number of a session in its scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionId(usize);

struct Participant {
    name: String,
    /// `None` once no more requests come.
    jobs: Option<Sender<(Request, Option<HaltPoint>)>>,
    words: Option<Sender<HaltCommand>>,
    says: Receiver<SessionEvent<TransactionEnd>>,
    doing: StatementInProgress,
    thread: Option<JoinHandle<()>>,
    /// Current job: its description, its point, and the engine's count of waits before it.
    job: Option<(String, Option<HaltPoint>, u64)>,
}

/// Result of a session that started after a conflicting one.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a handful of these live at once")]
pub(crate) enum ConflictResult {
    /// The session has ended, with or without an error.
    Ended(TransactionEnd),
    /// The session waits.
    Waits,
}

/// Case in progress.
pub(crate) struct Scenario<'l> {
    test_bed: &'l TestBed<'l>,
    participants: Vec<Participant>,
    case: AcidCase,
}

impl Drop for Scenario<'_> {
    fn drop(&mut self) {
        // Halted sessions give up when their channels are closed; only then can all threads end.
        for participant in &mut self.participants {
            participant.jobs = None;
            participant.words = None;
        }
        for participant in &mut self.participants {
            if let Some(thread) = participant.thread.take() {
                // A panic of the thread was reported when its answer was missed.
                let _ = thread.join();
            }
        }
    }
}

impl<'l> Scenario<'l> {
    pub(crate) fn new(test_bed: &'l TestBed<'l>) -> Self {
        Self { test_bed, participants: Vec::new(), case: AcidCase::default() }
    }

    pub(crate) fn label(&mut self, label: String) {
        self.case.label = label;
    }

    /// Sets the outcome of the second session, for the verdict's reason.
    pub(crate) fn set_second_session(&mut self, second_session: &str) {
        second_session.clone_into(&mut self.case.second_session);
    }

    /// Adds a finding.
    pub(crate) fn find(&mut self, finding: AcidFinding) {
        self.case.findings.push(finding);
    }

    /// Adds a step that no session of this scenario performed.
    pub(crate) fn note(
        &mut self,
        session: &str,
        did: impl Into<String>,
        outcome: impl Into<String>,
        read: Vec<String>,
    ) {
        let (did, outcome) = (did.into(), outcome.into());
        self.case.steps.push(AcidStep { session: session.to_owned(), did, outcome, read, statement: None });
    }

    /// Finished case.
    pub(crate) fn done(mut self) -> AcidCase {
        std::mem::take(&mut self.case)
    }

    /// Starts another session, on its own thread.
    pub(crate) fn session(&mut self) -> Result<SessionId, AcidError> {
        let name = format!("S{}", self.participants.len() + 1);
        let participant = Participant::new(name, self.test_bed.engine, Arc::clone(&self.test_bed.environment))?;
        self.participants.push(participant);
        Ok(SessionId(self.participants.len() - 1))
    }

    /// Makes a session begin a transaction that halts at `point`.
    pub(crate) fn start(
        &mut self,
        who: SessionId,
        what: impl Into<String>,
        request: impl Into<Request>,
        point: Option<HaltPoint>,
    ) {
        let waits = self.test_bed.lock_waits();
        let participant = &mut self.participants[who.0];
        participant.job = Some((what.into(), point, waits));
        let jobs = participant.jobs.as_ref().expect("closed only at the end");
        jobs.send((request.into(), point)).expect("the thread lives until its jobs are closed");
    }

    /// Waits until a session has halted at its point.
    pub(crate) fn until_halted(&mut self, who: SessionId) -> Result<(), AcidError> {
        let participant = &mut self.participants[who.0];
        let (what, point, waits) = participant.job.clone().expect("it was started");
        let point = point.expect("it was given a point");
        match participant.next_event(WAIT_LIMIT) {
            Some(SessionEvent::Halted(halt)) => {
                let outcome = format!("halted {}", point.name);
                let step = participant.step(what, outcome, halt.read, Some(halt.statement));
                // The session's next step is recorded when it ends.
                participant.job = Some(("goes on".to_owned(), None, waits));
                self.case.steps.push(step);
                Ok(())
            }
            Some(SessionEvent::Ended(ended)) => {
                let why = match ended {
                    Ok(output) => format!("ended with status {}", output.status()),
                    Err(error) => error.to_string(),
                };
                Err(AcidError::Machinery(format!("{} was to halt {}, but {why}", participant.name, point.name)))
            }
            None => Err(participant.error_of_stuck("halt")),
        }
    }

    /// Waits a bounded time for a session that may be blocked; returns whether it ended or waits.
    pub(crate) fn watch(&mut self, who: SessionId) -> ConflictResult {
        let test_bed = self.test_bed;
        let participant = &mut self.participants[who.0];
        let before = participant.job.as_ref().expect("it was started").2;
        let began = Instant::now();
        let mut counted_at: Option<Instant> = None;
        loop {
            match participant.says.recv_timeout(POLL_INTERVAL) {
                Ok(SessionEvent::Ended(ended)) => {
                    let step = participant.ended(&ended);
                    self.case.steps.push(step);
                    return ConflictResult::Ended(ended);
                }
                Ok(SessionEvent::Halted(_)) => unreachable!("a session that is watched has no point"),
                Err(RecvTimeoutError::Disconnected) => return ConflictResult::Ended(Err(lost())),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if counted_at.is_none() && test_bed.lock_waits() > before {
                counted_at = Some(Instant::now());
            }
            let counted = counted_at.is_some_and(|at| at.elapsed() > WAITING_GRACE);
            if counted || began.elapsed() > test_bed.config.patience {
                let what = participant.job.as_ref().expect("it was started").0.clone();
                let outcome = match counted {
                    true => "waits: the engine has counted a wait for a lock".to_owned(),
                    false => format!("waits: no end within {} ms", began.elapsed().as_millis()),
                };
                let statement = participant.doing();
                let step = participant.step(what, outcome, Vec::new(), statement);
                participant.job = Some(("goes on".to_owned(), None, before));
                self.case.steps.push(step);
                return ConflictResult::Waits;
            }
        }
    }

    /// Sends a command to a halted session.
    pub(crate) fn command(&mut self, who: SessionId, word: HaltCommand) {
        let participant = &mut self.participants[who.0];
        let told = match word {
            HaltCommand::GoOn => "goes on",
            HaltCommand::GiveUp => "gives up: its transaction is rolled back",
            HaltCommand::Vanish => "vanishes: its connection is closed amid the transaction",
        };
        let waits = participant.job.as_ref().map_or(0, |job| job.2);
        participant.job = Some((told.to_owned(), None, waits));
        let words = participant.words.as_ref().expect("closed only at the end");
        words.send(word).expect("a session that halts listens");
    }

    /// Waits for the end of a session's transaction.
    pub(crate) fn end(&mut self, who: SessionId) -> Result<TransactionEnd, AcidError> {
        let participant = &mut self.participants[who.0];
        match participant.next_event(WAIT_LIMIT) {
            Some(SessionEvent::Ended(ended)) => {
                let step = participant.ended(&ended);
                self.case.steps.push(step);
                Ok(ended)
            }
            Some(SessionEvent::Halted(_)) => unreachable!("it halts once"),
            None => Err(participant.error_of_stuck("end")),
        }
    }

    /// Output of a transaction that must succeed: after a conflict it is tried again, as the specification allows.
    pub(crate) fn settle(
        &mut self,
        who: SessionId,
        request: impl Into<Request>,
        ended: TransactionEnd,
    ) -> Result<Output, AcidError> {
        let request = request.into();
        let mut ended = ended;
        for _ in 0..MAX_ATTEMPTS {
            match ended {
                Ok(output) => return Ok(output),
                Err(error) if is_conflict(&error) => {
                    self.start(who, format!("{} again", request.transaction()), request.clone(), None);
                    ended = self.end(who)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        ended.map_err(Into::into)
    }
}

/// Whether a transaction failed because of a command.
pub(crate) fn is_by_command(ended: &TransactionEnd) -> bool {
    match ended {
        Err(TxnError { cause: FrameError::Engine(error), .. }) => error.code() == Some(ON_PURPOSE),
        _ => false,
    }
}

fn lost() -> TxnError {
    TxnError {
        transaction: bourse_tpce::transactions::Transaction::TradeResult,
        frame: None,
        attempts: 1,
        cause: EngineError::new(bourse_engine::ErrorKind::ConnectionLost, "the session's thread has ended").into(),
    }
}

impl Participant {
    fn new(name: String, engine: &dyn Engine, environment: Arc<TxnEnvironment>) -> Result<Self, AcidError> {
        let inner = engine.session()?;
        let (jobs, to_do) = channel::<(Request, Option<HaltPoint>)>();
        let (words, told) = channel();
        let (says, heard) = channel();
        let doing = StatementInProgress::default();
        let shown = Arc::clone(&doing);
        let work = move || {
            let mut session = PausableSession::new(inner, says.clone(), told, shown);
            while let Ok((request, point)) = to_do.recv() {
                session.point = point;
                let ended = environment.perform(&mut session, &request, 1).map(|performed| performed.output);
                if says.send(SessionEvent::Ended(ended)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name(name.clone())
            .spawn(work)
            .map_err(|error| AcidError::Machinery(format!("no thread for a session: {error}")))?;
        Ok(Self { name, jobs: Some(jobs), words: Some(words), says: heard, doing, thread: Some(thread), job: None })
    }

    fn next_event(&self, limit: Duration) -> Option<SessionEvent<TransactionEnd>> {
        match self.says.recv_timeout(limit) {
            Ok(said) => Some(said),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(SessionEvent::Ended(Err(lost()))),
        }
    }

    /// Statement that the session is executing.
    fn doing(&self) -> Option<String> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner).map(one_line)
    }

    fn error_of_stuck(&self, what: &str) -> AcidError {
        let (session, what) = (self.name.clone(), what.to_owned());
        AcidError::Stuck { session, what, limit: WAIT_LIMIT, statement: self.doing() }
    }

    fn step(&self, did: String, outcome: String, read: Vec<String>, statement: Option<String>) -> AcidStep {
        AcidStep { session: self.name.clone(), did, outcome, read, statement }
    }

    /// Step of a transaction that has ended.
    fn ended(&mut self, ended: &TransactionEnd) -> AcidStep {
        let what = self.job.take().map_or_else(String::new, |job| job.0);
        let (outcome, read) = match ended {
            Ok(output) if output.status().code() == 0 => ("committed".to_owned(), examined_values(output)),
            Ok(output) => (format!("ended with status {}", output.status()), examined_values(output)),
            Err(_) if is_by_command(ended) => ("rolled back, as requested".to_owned(), Vec::new()),
            Err(error) if is_conflict(error) => {
                (format!("conflict: {}", error.to_string().lines().next().unwrap_or_default()), Vec::new())
            }
            Err(error) => (format!("failed: {}", one_line(&error.to_string())), Vec::new()),
        };
        self.step(what, outcome, read, None)
    }
}

/// Values in a transaction's output that tests examine.
fn examined_values(output: &Output) -> Vec<String> {
    match output {
        Output::TradeResult(result) => {
            let held = result.trade.as_ref().map(|trade| format!("hs_qty = {}", trade.hs_qty));
            let settled = [format!("se_amt = {}", result.se_amount), format!("ca_bal = {}", result.acct_bal)];
            held.into_iter().chain(settled).collect()
        }
        Output::TradeOrder(order) => {
            let estimate = order.estimate.iter().flat_map(|estimate| {
                [format!("lt_price = {}", estimate.market_price), format!("assets = {}", estimate.acct_assets)]
            });
            order.trade_id.map(|id| format!("t_id = {id}")).into_iter().chain(estimate).collect()
        }
        Output::MarketFeed(feed) => vec![format!("prices noted = {}", feed.num_updated)],
        Output::CustomerPosition(position) => {
            let cash = |account: &bourse_tpce::transactions::customer_position::AccountPosition| {
                format!("account {}: ca_bal = {}", account.acct_id, account.cash_bal)
            };
            position.accounts.iter().map(cash).collect()
        }
        _ => Vec::new(),
    }
}
