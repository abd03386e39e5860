//! What there is to do, and the users who do it.

use crate::{Clock, Control, Failure, Nanos, Outcome, Schedule, Turn};
use bourse_engine::{Capabilities, ErrorKind};
use bourse_record::{OperationSpec, ServerTime};

/// A workload: its operations, and for each round its users and the emulators behind them.
///
/// Users and emulators may borrow from what lives as long as `'w`: input data, queues, counters.
pub trait Workload<'w> {
    /// What it does, in the order of its reports; a user names an operation by its index here.
    fn operations(&self) -> &[OperationSpec];

    /// What an engine with these capabilities lacks for this workload, in words; empty if nothing.
    fn needs(&self, capabilities: &Capabilities) -> Vec<String> {
        let _ = capabilities;
        Vec::new()
    }

    /// Everybody with a session: each gets a thread of its own.
    fn users(&mut self) -> Vec<Seat<'w>>;

    /// Emulators without a session: each gets a thread of its own.
    fn background(&mut self) -> Vec<Background<'w>> {
        Vec::new()
    }

    /// How many requests wait between the workload's parts now, if they have a queue. Asked once a second.
    fn queue_length(&self) -> Option<u64> {
        None
    }
}

/// A user with its place in the round.
pub struct Seat<'w> {
    /// Name of its thread, as a person reads it.
    pub name: String,
    /// Who sits there.
    pub user: Box<dyn User + 'w>,
    /// When its operations are due.
    pub schedule: Schedule,
    /// When it may go home.
    pub role: Role,
}

/// When a user stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// At the end of the measurement interval, after the operation in hand.
    Customer,
    /// Not before its draw says [`Draw::Finished`]: it finishes work that customers left in flight.
    Worker,
}

/// An emulator without a session, on a thread of its own.
pub struct Background<'w> {
    /// Name of its thread, as a person reads it.
    pub name: String,
    /// What it does, until the round [drains](Control::draining) and its own work is done, or the round has
    /// [ended](Control::ended).
    pub run: Emulator<'w>,
}

/// What a [`Background`] thread does.
pub type Emulator<'w> = Box<dyn FnOnce(&dyn Clock, &Control) + Send + 'w>;

/// What drawing the next input came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// An input is kept; it is due by the schedule, or at once.
    Ready,
    /// An input is kept that is due at this moment, past or future.
    Due(Nanos),
    /// Nothing to do yet: ask again at this moment.
    Wait(Nanos),
    /// Nothing will come any more.
    Finished,
}

/// One emulated client on one session.
///
/// Two methods, so that drawing inputs cannot be timed by mistake.
pub trait User: Send {
    /// Whether it ever performs that operation of the workload's list; saves memory where it does not.
    fn performs(&self, operation: usize) -> bool {
        let _ = operation;
        true
    }

    /// Chooses and keeps the next input. Not timed; may block for some 20 ms.
    fn draw(&mut self, clock: &dyn Clock, control: &Control) -> Draw;

    /// Passes over an input that it would have drawn, because too many wait already; which operation it would have been.
    /// None if it cannot say: then nothing is passed over, and what comes next is what would have come now.
    fn skip(&mut self) -> Option<usize> {
        None
    }

    /// Performs what was drawn. Timed.
    fn perform(&mut self, turn: &mut Turn<'_>) -> Performed;
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed {
    /// Which: an index into [`Workload::operations`].
    pub operation: usize,
    /// How many of them, timed together; 1 unless [told](Self::times) otherwise.
    pub count: u32,
    /// How.
    pub outcome: Outcome,
    /// The workload's status code, where it has one; else 0.
    pub code: i32,
    /// For failures: an example in words.
    pub example: Option<String>,
    /// What an application server took of it, if it went through one.
    pub server: Option<ServerTime>,
    /// Set if the session cannot go on: the round ends.
    pub fatal: Option<ErrorKind>,
}

impl Performed {
    /// Ended as it should.
    pub const fn completed(operation: usize) -> Self {
        Self::ended(operation, Outcome::Completed, 0)
    }

    /// Ended so, with a status code.
    pub const fn ended(operation: usize, outcome: Outcome, code: i32) -> Self {
        Self { operation, count: 1, outcome, code, example: None, server: None, fatal: None }
    }

    /// That many of them in one sample: operations too short to be timed one by one.
    #[must_use]
    pub const fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }

    /// Failed with a status code, for a reason.
    pub fn failed(operation: usize, code: i32, example: impl Into<String>) -> Self {
        Self { example: Some(example.into()), ..Self::ended(operation, Outcome::Failed, code) }
    }

    /// Failed with an error; ends the round if there is no going on after it.
    pub fn error(operation: usize, error: &impl Failure) -> Self {
        let kind = error.kind();
        let fatal = matches!(kind, ErrorKind::ConnectionLost | ErrorKind::Full | ErrorKind::Interrupted);
        Self { fatal: fatal.then_some(kind), ..Self::failed(operation, 0, error.to_string()) }
    }
}
