//! Sessions on threads of their own that receive one command after the other, so that a case is the same every time.
//!
//! A session that is blocked on a lock cannot report it. The thread that waits for the session queries the engine, which may
//! count waits, and otherwise gives the session a bounded time. The result is evidence, never by itself a verdict: an engine
//! may make a session wait, refuse it with a conflict, or let it read an old version, and each of these can be right.

use crate::pausable_session::{HaltCommand, ON_PURPOSE, PausableSession, SessionEvent, StatementInProgress};
use crate::test_bed::{AcidError, TestBed, TxnEnvironment};
use bourse_driver::OperationError;
use bourse_engine::{Engine, EngineError, ErrorKind, Session, one_line};
use bourse_oltp::acid::HaltPoint;
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep};
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

/// Transactions of a workload, as scenarios perform them.
pub(crate) trait Performing: Send + Sync + 'static {
    type Request: Clone + Send + 'static;
    type Output: Send + 'static;
    type Error: OperationError + Into<AcidError> + Send + 'static;

    /// Performs a transaction once; it is rolled back if it fails.
    fn once(&self, db: &mut dyn Session, request: &Self::Request) -> Result<Self::Output, Self::Error>;

    /// Name of a transaction.
    fn name(request: &Self::Request) -> String;

    /// Status of an output: its code, 0 for success, and its description.
    fn status(output: &Self::Output) -> (i32, String);

    /// Values in an output that tests examine.
    fn examined_values(output: &Self::Output) -> Vec<String>;

    /// The engine's error in that of a transaction.
    fn engine_error(error: &Self::Error) -> Option<&EngineError>;

    /// Error of a transaction that the engine's error ended.
    fn of_engine(error: EngineError) -> Self::Error;
}

/// End of a transaction.
type TransactionEnd<P> = Result<<P as Performing>::Output, <P as Performing>::Error>;

/// Number of a session in its scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionId(usize);

struct Participant<P: Performing> {
    name: String,
    /// `None` once no more requests come.
    jobs: Option<Sender<(P::Request, Option<HaltPoint>)>>,
    words: Option<Sender<HaltCommand>>,
    says: Receiver<SessionEvent<TransactionEnd<P>>>,
    doing: StatementInProgress,
    thread: Option<JoinHandle<()>>,
    /// Current job: its description, its point, and the engine's count of waits before it.
    job: Option<(String, Option<HaltPoint>, u64)>,
}

/// Result of a session that started after a conflicting one.
enum ConflictResult<P: Performing> {
    /// The session has ended, with or without an error.
    Ended(TransactionEnd<P>),
    /// The session waits.
    Waits,
}

/// Outcome of transactions that have met.
pub(crate) struct Met<P: Performing> {
    /// Output of the first; `None` if it was rolled back by its command.
    pub(crate) first: Option<P::Output>,
    pub(crate) others: Vec<MetOther<P::Output>>,
}

/// A transaction that began while the first was halted.
pub(crate) struct MetOther<O> {
    pub(crate) session: SessionId,
    pub(crate) output: O,
    /// Whether it was committed before the first one went on.
    pub(crate) at_once: bool,
}

/// Words for the end of a first transaction by that command.
pub(crate) const fn ending_words(ending: HaltCommand) -> &'static str {
    match ending {
        HaltCommand::GoOn => "the first commits",
        HaltCommand::GiveUp | HaltCommand::Vanish => "the first is rolled back",
    }
}

/// Case in progress.
pub(crate) struct Scenario<'l, P: Performing = TxnEnvironment> {
    test_bed: &'l TestBed<'l, P>,
    participants: Vec<Participant<P>>,
    case: AcidCase,
}

impl<P: Performing> Drop for Scenario<'_, P> {
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

impl<'l, P: Performing> Scenario<'l, P> {
    pub(crate) fn new(test_bed: &'l TestBed<'l, P>) -> Self {
        Self { test_bed, participants: Vec::new(), case: AcidCase::default() }
    }

    pub(crate) fn label(&mut self, label: String) {
        self.case.label = label;
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
        request: impl Into<P::Request>,
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
                    Ok(output) => format!("ended with status {}", P::status(&output).1),
                    Err(error) => error.to_string(),
                };
                Err(AcidError::Machinery(format!("{} was to halt {}, but {why}", participant.name, point.name)))
            }
            None => Err(participant.error_of_stuck("halt")),
        }
    }

    /// Waits a bounded time for a session that may be blocked; returns whether it ended or waits.
    fn watch(&mut self, who: SessionId) -> ConflictResult<P> {
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
                Err(RecvTimeoutError::Disconnected) => return ConflictResult::Ended(Err(lost::<P>())),
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
    pub(crate) fn end(&mut self, who: SessionId) -> Result<TransactionEnd<P>, AcidError> {
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

    /// Halts a transaction and undoes it by a command.
    pub(crate) fn undo(
        &mut self,
        what: String,
        request: impl Into<P::Request>,
        point: HaltPoint,
        command: HaltCommand,
    ) -> Result<(), AcidError> {
        let session = self.session()?;
        self.start(session, what, request, Some(point));
        self.until_halted(session)?;
        self.command(session, command);
        let ended = self.end(session)?;
        let outcome = match &ended {
            _ if is_by_command::<P>(&ended) => "undone".to_owned(),
            Ok(output) => format!("ended with status {}", P::status(output).1),
            Err(error) => error.to_string(),
        };
        self.find(AcidFinding::equal("outcome", &"undone".to_owned(), &outcome));
        Ok(())
    }

    /// Lets transactions meet: the first halts, the others begin, and the first goes on or is rolled back. The outcome of the
    /// others is noted, `through` for those that do not wait.
    pub(crate) fn meet<R: Into<P::Request>>(
        &mut self,
        (what, request, point): (String, R, HaltPoint),
        others: Vec<(String, R)>,
        ending: HaltCommand,
        through: &str,
    ) -> Result<Met<P>, AcidError> {
        let request: P::Request = request.into();
        let first = self.session()?;
        let sessions = others.iter().map(|_| self.session()).collect::<Result<Vec<_>, _>>()?;
        self.start(first, what, request.clone(), Some(point));
        self.until_halted(first)?;
        let (mut begun, mut words) = (Vec::new(), Vec::new());
        for ((session, (what, request)), name) in sessions.into_iter().zip(others).zip(["the second", "the third"]) {
            let request: P::Request = request.into();
            self.start(session, what, request.clone(), None);
            let met = self.watch(session);
            words.push(match &met {
                ConflictResult::Waits => format!("{name} waits"),
                ConflictResult::Ended(Ok(_)) => through.replacen("the second", name, 1),
                ConflictResult::Ended(Err(error)) if is_conflict::<P>(error) => {
                    format!("{name} is refused with a conflict")
                }
                ConflictResult::Ended(Err(_)) => format!("{name} fails"),
            });
            begun.push((session, request, met));
        }
        self.case.second_session = words.join(", ");
        self.command(first, ending);
        let end = self.end(first)?;
        let mut ended = Vec::new();
        for (session, request, met) in begun {
            let at_once = matches!(met, ConflictResult::Ended(Ok(_)));
            let end = match met {
                ConflictResult::Ended(end) => end,
                ConflictResult::Waits => self.end(session)?,
            };
            ended.push((session, request, end, at_once));
        }
        let first = match end {
            undone if is_by_command::<P>(&undone) => None,
            end => Some(self.settle(first, request, end)?),
        };
        let settled = |(session, request, end, at_once)| {
            let output = self.settle::<P::Request>(session, request, end)?;
            Ok(MetOther { session, output, at_once })
        };
        Ok(Met { first, others: ended.into_iter().map(settled).collect::<Result<_, AcidError>>()? })
    }

    /// Output of a transaction that must succeed: after a conflict it is tried again, as the specification allows.
    pub(crate) fn settle<R: Into<P::Request>>(
        &mut self,
        who: SessionId,
        request: R,
        ended: TransactionEnd<P>,
    ) -> Result<P::Output, AcidError> {
        let request: P::Request = request.into();
        let mut ended = ended;
        for _ in 0..MAX_ATTEMPTS {
            match ended {
                Ok(output) => return Ok(output),
                Err(error) if is_conflict::<P>(&error) => {
                    self.start(who, format!("{} again", P::name(&request)), request.clone(), None);
                    ended = self.end(who)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        ended.map_err(Into::into)
    }
}

/// Whether a transaction failed by a conflict with another.
fn is_conflict<P: Performing>(error: &P::Error) -> bool {
    error.kind() == ErrorKind::Conflict
}

/// Whether a transaction failed because of a command.
fn is_by_command<P: Performing>(ended: &TransactionEnd<P>) -> bool {
    ended.as_ref().err().and_then(P::engine_error).is_some_and(|error| error.code() == Some(ON_PURPOSE))
}

fn lost<P: Performing>() -> P::Error {
    P::of_engine(EngineError::new(ErrorKind::ConnectionLost, "the session's thread has ended"))
}

/// Adds a case with each ending of the first transaction, as often as it is to be repeated.
pub(crate) fn with_each_ending<P: Performing>(
    test_bed: &TestBed<'_, P>,
    cases: &mut Vec<AcidCase>,
    case: &mut dyn FnMut(HaltCommand, u32) -> Result<AcidCase, AcidError>,
) -> Result<(), AcidError> {
    for ending in [HaltCommand::GoOn, HaltCommand::GiveUp] {
        for turn in 0..test_bed.config.repeats {
            cases.push(case(ending, turn)?);
        }
    }
    Ok(())
}

/// Calls `work` on so many sessions at once, with the number of each.
pub(crate) fn on_sessions<P: Performing, R: Send>(
    test_bed: &TestBed<'_, P>,
    sessions: usize,
    work: &(dyn Fn(usize, &mut dyn Session) -> Result<R, AcidError> + Sync),
) -> Result<Vec<R>, AcidError> {
    let engine = test_bed.engine;
    std::thread::scope(|scope| {
        let one = |number| scope.spawn(move || work(number, &mut *engine.session()?));
        let threads: Vec<_> = (0..sessions).map(one).collect();
        threads.into_iter().map(|thread| thread.join().expect("a panic of one is one of the whole test")).collect()
    })
}

impl<P: Performing> Participant<P> {
    fn new(name: String, engine: &dyn Engine, environment: Arc<P>) -> Result<Self, AcidError> {
        let inner = engine.session()?;
        let (jobs, to_do) = channel::<(P::Request, Option<HaltPoint>)>();
        let (words, told) = channel();
        let (says, heard) = channel();
        let doing = StatementInProgress::default();
        let shown = Arc::clone(&doing);
        let work = move || {
            let mut session = PausableSession::new(inner, says.clone(), told, shown);
            while let Ok((request, point)) = to_do.recv() {
                session.point = point;
                let ended = environment.once(&mut session, &request);
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

    fn next_event(&self, limit: Duration) -> Option<SessionEvent<TransactionEnd<P>>> {
        match self.says.recv_timeout(limit) {
            Ok(said) => Some(said),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(SessionEvent::Ended(Err(lost::<P>()))),
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
    fn ended(&mut self, ended: &TransactionEnd<P>) -> AcidStep {
        let what = self.job.take().map_or_else(String::new, |job| job.0);
        let (outcome, read) = match ended {
            Ok(output) => match P::status(output) {
                (0, _) => ("committed".to_owned(), P::examined_values(output)),
                (_, status) => (format!("ended with status {status}"), P::examined_values(output)),
            },
            Err(_) if is_by_command::<P>(ended) => ("rolled back, as requested".to_owned(), Vec::new()),
            Err(error) if is_conflict::<P>(error) => {
                (format!("conflict: {}", error.to_string().lines().next().unwrap_or_default()), Vec::new())
            }
            Err(error) => (format!("failed: {}", one_line(&error.to_string())), Vec::new()),
        };
        self.step(what, outcome, read, None)
    }
}
