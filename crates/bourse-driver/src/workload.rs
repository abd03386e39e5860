//! Workloads, and the users who perform them.

use crate::{Clock, Fault, Nanos, OperationCx, OperationError, Outcome, RoundControl, Schedule};
use bourse_engine::{Capabilities, Connection, Engine, ErrorKind, Result, server_wait};
use bourse_record::{OperationSpec, ServerTime};

/// A workload: its operations, and for each round its users and the emulators behind them.
///
/// Users and emulators may borrow from data that lives as long as `'w`: input data, queues, counters.
pub trait Workload<'w> {
    /// Operations in the order of reports. A user names an operation by its index here.
    fn operations(&self) -> &[OperationSpec];

    /// Missing capabilities of an engine for this workload, as sentences; empty if none.
    fn needs(&self, capabilities: &Capabilities) -> Vec<String> {
        let _ = capabilities;
        Vec::new()
    }

    /// Users of a round: each gets a session and a thread.
    fn users(&mut self) -> Vec<UserSpec<'w>>;

    /// Emulators without a session: each gets a thread.
    fn background(&mut self) -> Vec<Background<'w>> {
        Vec::new()
    }

    /// Number of sessions that other processes have on the same database during the round.
    fn sessions_elsewhere(&self) -> usize {
        0
    }

    /// Waits until the round begins, and returns that moment. All threads of the round are ready and wait for it.
    ///
    /// # Errors
    /// The fault that prevents the round.
    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, Fault> {
        Ok(clock.now())
    }

    /// Number of requests waiting between the workload's parts, if they have a queue. Read once a second.
    fn queue_length(&self) -> Option<u64> {
        None
    }
}

/// A user of a round, with its name, its schedule and its stop rule.
pub struct UserSpec<'w> {
    /// Display name of its thread.
    pub name: String,
    /// Kind of the user, in the plural: users of one kind share a row in the split of their time.
    pub role: &'static str,
    /// The user.
    pub user: Box<dyn User + 'w>,
    /// The moments at which its operations are due.
    pub schedule: Schedule,
    /// The condition under which it stops.
    pub stop_rule: StopRule,
}

impl<'w> UserSpec<'w> {
    /// A user in a closed loop until the end of the measurement interval.
    pub fn new(name: impl Into<String>, user: impl User + 'w) -> Self {
        Self {
            name: name.into(),
            role: "users",
            user: Box::new(user),
            schedule: Schedule::Closed,
            stop_rule: StopRule::AtIntervalEnd,
        }
    }
}

/// The condition under which a user stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRule {
    /// Stops at the end of the measurement interval, after the operation in progress.
    AtIntervalEnd,
    /// Stops when its draw returns [`Draw::Finished`]: it completes work that others left in flight.
    WhenFinished,
}

/// An emulator without a session, on a thread of its own.
pub struct Background<'w> {
    /// Display name of its thread.
    pub name: String,
    /// Work of the emulator. It returns when the round [drains](RoundControl::draining) and the work is done, or when the
    /// round has [ended](RoundControl::ended).
    pub run: Emulator<'w>,
}

/// Work of a [`Background`] thread.
pub type Emulator<'w> = Box<dyn FnOnce(&dyn Clock, &RoundControl) + Send + 'w>;

/// Result of drawing the next input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// An input was drawn; it is due by the schedule, or immediately.
    Ready,
    /// An input was drawn that is due at this moment, past or future.
    Due(Nanos),
    /// No input yet: draw again at this moment.
    Wait(Nanos),
    /// No further input.
    Finished,
}

/// One emulated client on one session.
///
/// Drawing and performing are two methods, so that drawing inputs cannot be timed by mistake.
pub trait User: Send {
    /// Whether the user ever performs that operation. No histogram is allocated for one that it does not perform.
    fn performs(&self, operation: usize) -> bool {
        let _ = operation;
        true
    }

    /// Prepares the operations on its session, such as prepared statements, before the clock starts.
    ///
    /// # Errors
    /// The engine's error; the round then does not begin.
    fn prepare(&mut self, connection: &mut Connection) -> Result<()> {
        let _ = connection;
        Ok(())
    }

    /// Whether the operations may change settings of the session, as a person's own statements may.
    fn may_change_settings(&self) -> bool {
        false
    }

    /// Draws the next input and stores it. Not timed; may block for about 20 ms.
    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw;

    /// Skips the next input because the backlog is full, and returns its operation. `None` if it cannot skip: the next draw
    /// then returns the same input.
    fn skip(&mut self) -> Option<usize> {
        None
    }

    /// Whether the next operation is timed: if only one in several is, the others are counted.
    fn is_timed(&self) -> bool {
        true
    }

    /// Operation of the input that was drawn, for users with several: the name of a call that does not return.
    fn drawn(&self) -> Option<usize> {
        None
    }

    /// The engine, if its connection is to be closed and opened anew before the input that was drawn. Not timed.
    fn reconnects(&mut self) -> Option<&dyn Engine> {
        None
    }

    /// Performs the input that was drawn. Timed.
    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult;

    /// Ends the operation; `counts` is false if figures exclude it, as in the warm-up. Not timed.
    fn ended(&mut self, counts: bool) {
        let _ = counts;
    }
}

/// Result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationResult {
    /// The operation: an index into [`Workload::operations`].
    pub operation: usize,
    /// Number of operations timed together; 1 unless [set](Self::times) otherwise.
    pub count: u32,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Status code of the workload; 0 if there is none.
    pub code: i32,
    /// Example of an error message, for failures.
    pub example: Option<String>,
    /// Time spent at an application server, if it went through one.
    pub server: Option<ServerTime>,
    /// Kind of an error after which the session cannot continue: the round ends.
    pub fatal: Option<ErrorKind>,
    /// Whether the operation may or may not have taken effect.
    pub in_doubt: bool,
}

impl OperationResult {
    /// A completed operation.
    pub const fn completed(operation: usize) -> Self {
        Self::ended(operation, Outcome::Completed, 0)
    }

    /// An operation with that outcome and status code.
    pub const fn ended(operation: usize, outcome: Outcome, code: i32) -> Self {
        Self { operation, count: 1, outcome, code, example: None, server: None, fatal: None, in_doubt: false }
    }

    /// Sets the number of operations in one sample, for operations too short to time individually.
    #[must_use]
    pub const fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }

    /// A failed operation with its status code and the reason.
    pub fn failed(operation: usize, code: i32, example: impl Into<String>) -> Self {
        Self { example: Some(example.into()), ..Self::ended(operation, Outcome::Failed, code) }
    }

    /// An operation that failed with an error; the round ends if the session cannot continue.
    pub fn error(operation: usize, error: &impl OperationError) -> Self {
        let kind = error.kind();
        // What another program has put into the database is refused again and again.
        let fatal =
            matches!(kind, ErrorKind::ConnectionLost | ErrorKind::Full | ErrorKind::Interrupted | ErrorKind::Refused);
        let in_doubt = fatal || kind == ErrorKind::InDoubt;
        let fatal = match kind {
            // It was given up, or would have been tried again.
            ErrorKind::Conflict if server_wait::is_interrupted() => Some(ErrorKind::Interrupted),
            _ => fatal.then_some(kind),
        };
        Self { fatal, in_doubt, ..Self::failed(operation, 0, error.to_string()) }
    }
}
