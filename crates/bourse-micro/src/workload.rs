//! What a classic workload is: its facts as data, and one of it planned with options, ready to run.

use crate::batching::{BATCH, Batching};
use crate::options::{OptionError, OptionSpec, Options};
use bourse_driver::{Abilities, Ability, Background, Clock, OperationSpec, UserSpec};
use bourse_engine::{Capabilities, Engine, EngineError};
use bourse_record::{Check, NameValue, Round};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// A classic workload, as data.
#[derive(Debug)]
pub struct WorkloadSpec {
    /// Name, as it is typed.
    pub name: &'static str,
    /// What it does, in a sentence without full stop.
    pub summary: &'static str,
    /// The tables it makes.
    pub tables: &'static str,
    /// Requirements on the engine, as a sentence.
    pub needs: &'static str,
    /// Options of the workload.
    pub options: &'static [OptionSpec],
    /// Extent: whether and when a round ends by itself.
    pub extent: Extent,
    pub(crate) plan: fn(&Options) -> Result<Box<dyn Planned>, OptionError>,
}

/// When a round ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Never: a measurement interval ends it.
    Time,
    /// When its work is done; a measurement interval may cap it.
    Work,
}

impl WorkloadSpec {
    /// What it can be asked for besides being run.
    pub fn abilities(&self) -> Abilities {
        let without_end = match self.extent {
            Extent::Time => Ability::Has,
            Extent::Work => Ability::Lacks("it ends when its work is done"),
        };
        Abilities {
            rate: without_end,
            sampling: if self.has_batches() {
                Ability::Has
            } else {
                Ability::Lacks("its operations are not timed in batches of a size that can be chosen")
            },
            search: without_end,
            steadiness: without_end,
            snapshot: Ability::Lacks("its tables are made anew for each round"),
        }
    }

    /// Whether its operations may be timed in batches, by an option.
    fn has_batches(&self) -> bool {
        self.options.iter().any(|option| option.name == BATCH.name)
    }

    /// Whether it needs a file, which a command line names before the targets; else by the option `file`.
    pub fn takes_file(&self) -> bool {
        self.options.iter().any(|option| option.name == crate::sql::FILE)
    }

    /// A file it takes, as an example, where it [takes one](Self::takes_file).
    pub fn example_file(&self) -> Option<&'static str> {
        self.takes_file().then_some(crate::sql::EXAMPLE_FILE)
    }

    /// The workload with those options.
    ///
    /// # Errors
    /// An unknown option, a value it does not take, or values that do not go together.
    pub fn plan<'g>(&'static self, given: impl IntoIterator<Item = (&'g str, &'g str)>) -> Result<Case, OptionError> {
        let options = Options::parse(self.name, self.options, given)?;
        Ok(Case { spec: self, planned: (self.plan)(&options)?, options })
    }
}

/// A workload with its options, ready to run.
pub struct Case {
    /// The workload.
    pub spec: &'static WorkloadSpec,
    /// Effective options.
    pub options: Options,
    pub(crate) planned: Box<dyn Planned>,
}

impl Case {
    /// What an engine lacks for it, in words; empty if nothing.
    pub fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = self.planned.lacking(capabilities);
        if capabilities.one_session && self.threads() > 1 {
            lacking.push(format!(
                "its {} threads need a session each, and this target allows one at a time",
                self.threads()
            ));
        }
        lacking
    }

    /// Words that its statements need and that it does not have for engines of that dialect; empty if none.
    pub fn wordless(&self, dialect: &bourse_engine::Dialect) -> Vec<String> {
        self.planned.wordless(dialect)
    }

    /// Names of its operations.
    pub fn operations(&self) -> Vec<&'static str> {
        self.planned.operations().iter().map(|operation| operation.name).collect()
    }

    /// The operation whose completions a second are the headline; none: all of them together.
    pub fn headline_operation(&self) -> Option<&'static str> {
        self.planned.headline().map(|at| self.planned.operations()[at].name)
    }

    /// The headline's unit.
    pub fn headline_unit(&self) -> &'static str {
        self.planned.unit()
    }

    /// Threads that are busy at once.
    pub fn threads(&self) -> usize {
        self.planned.threads()
    }
}

/// A round cannot be run, or not to its end.
#[derive(Debug, Error)]
pub enum MicroError {
    /// The engine failed outside the timed part.
    #[error("{doing}: {error}")]
    Engine {
        /// The step in progress.
        doing: String,
        /// The engine's words.
        error: EngineError,
    },
    /// The database there is not one of ours, and must not be lost.
    #[error("there is a database already, and it is not one that a classic workload made")]
    Foreign,
    /// A statement of a person's file failed outside the timed part.
    #[error("{place}: {error}")]
    Statement {
        /// The file, with the line.
        place: String,
        /// The engine's words.
        error: EngineError,
    },
    /// The machine failed: a file beside the database.
    #[error("{doing}: {error}")]
    System {
        /// The step in progress.
        doing: String,
        /// The system's words.
        error: std::io::Error,
    },
    /// A session could not be opened.
    #[error(transparent)]
    Fault(#[from] bourse_driver::Fault),
}

impl MicroError {
    pub(crate) fn engine(doing: impl Into<String>) -> impl FnOnce(EngineError) -> Self {
        let doing = doing.into();
        move |error| Self::Engine { doing, error }
    }
}

/// What a round is to be run with.
#[derive(Clone)]
pub struct Setting<'e> {
    /// The engine.
    pub engine: &'e dyn Engine,
    /// Seed of its keys.
    pub seed: u64,
    /// Operations of each thread; none where time ends the round.
    pub count: Option<u64>,
    /// Batches of this size, whatever the options say: the null engine is to be timed as the real one was.
    pub batch: Option<u64>,
    /// Whether one operation in 64 is timed alone and the others are only counted, where batches would be timed.
    pub sampled: bool,
    /// Whether anything is kept: not by the null engine, whose answers are not looked at.
    pub is_real: bool,
    /// What the users did, for the checks.
    pub tally: Arc<Tally>,
}

impl Setting<'_> {
    /// How a user's operations are timed: as this says, or else in batches of so many.
    pub(crate) fn batching(&self, batch: Option<u64>) -> Batching {
        if self.sampled {
            // Users differ in their random numbers.
            let user = self.tally.users.fetch_add(1, Ordering::Relaxed);
            return Batching::sampled(self.seed.wrapping_add(user) ^ 0x5A4D);
        }
        Batching::new(batch)
    }
}

/// What all users together did, over the whole round with its warm-up.
#[derive(Debug, Default)]
pub struct Tally {
    /// Changes that were committed.
    pub changes: AtomicU64,
    /// Rows or searches that were found.
    pub found: AtomicU64,
    /// Users whose operations are sampled.
    users: AtomicU64,
}

impl Tally {
    /// A counter's value.
    pub(crate) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// A planned workload, over and over again: one round at a time.
pub(crate) trait Planned: Send + Sync {
    /// Its operations.
    fn operations(&self) -> Vec<OperationSpec>;

    /// The operation whose completions a second are the headline; none: all of them together.
    fn headline(&self) -> Option<usize> {
        Some(0)
    }

    /// Unit of the headline.
    fn unit(&self) -> &'static str;

    /// What an engine lacks for it.
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String>;

    /// Words that its statements lack for engines of that dialect.
    fn wordless(&self, dialect: &bourse_engine::Dialect) -> Vec<String> {
        let _ = dialect;
        Vec::new()
    }

    /// Threads that are busy at once.
    fn threads(&self) -> usize;

    /// Makes its tables and rows; returns what is worth knowing of it.
    fn prepare(&self, engine: &dyn Engine, clock: &dyn Clock) -> Result<Vec<NameValue>, MicroError>;

    /// Everybody with a session.
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>>;

    /// Emulators without a session.
    fn background<'s>(&'s self, setting: &Setting<'s>) -> Vec<Background<'s>> {
        let _ = setting;
        Vec::new()
    }

    /// Whether the database is as the round should have left it. Not asked after a fault.
    fn check(&self, setting: &Setting<'_>) -> Result<Vec<Check>, MicroError> {
        let _ = setting;
        Ok(Vec::new())
    }

    /// The operation that changes rows, if one does.
    fn writes(&self) -> Option<Writes> {
        None
    }

    /// Whether operations are counted as they end, though the transaction that they are part of is yet to be committed: one
    /// that fails takes them with it.
    fn counts_before_commit(&self) -> bool {
        false
    }

    /// Whether a round in which some operations failed has a figure, of those that did not.
    fn allows_failures(&self) -> bool {
        true
    }

    /// Puts further facts into the figures.
    fn finish(&self, setting: &Setting<'_>, round: &mut Round) {
        let _ = (setting, round);
    }
}

/// An operation that changes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Writes {
    /// Index of the operation.
    pub(crate) operation: usize,
    /// How many of them may have ended when the round does, in a transaction that is not committed any more.
    pub(crate) uncommitted: u64,
}

impl Writes {
    /// Operations that are committed before they end.
    pub(crate) const fn committed(operation: usize) -> Self {
        Self { operation, uncommitted: 0 }
    }

    /// Operations of which so many make a transaction.
    pub(crate) const fn together(operation: usize, per_transaction: u64) -> Self {
        Self { operation, uncommitted: per_transaction.saturating_sub(1) }
    }
}

/// How many operations a user has left, where it has a number of them to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    left: Option<u64>,
    /// Drawn: whether they count is known when they have ended.
    drawn: u64,
}

impl Left {
    /// As many as the setting says.
    pub(crate) const fn of(count: Option<u64>) -> Self {
        Self { left: count, drawn: 0 }
    }

    /// At most how many may be drawn now.
    pub(crate) fn now(&self) -> u64 {
        self.left.unwrap_or(u64::MAX)
    }

    /// Counts drawn rows.
    pub(crate) fn draw(&mut self, drawn: u64) {
        self.drawn = drawn;
    }

    /// What was drawn has ended; in the warm-up it does not count.
    pub(crate) fn ended(&mut self, counts: bool) {
        if let (true, Some(left)) = (counts, &mut self.left) {
            *left = left.saturating_sub(self.drawn);
        }
    }
}

pub(crate) fn named(name: impl Into<String>, value: impl Into<String>) -> NameValue {
    NameValue { name: name.into(), value: value.into() }
}

#[cfg(test)]
mod tests {
    use super::Left;

    #[test]
    fn what_ends_in_the_warm_up_is_still_to_be_done() {
        let mut left = Left::of(Some(12));
        left.draw(5);
        left.ended(false);
        assert_eq!(left.now(), 12);
        for rest in [7, 2, 0] {
            left.draw(left.now().min(5));
            left.ended(true);
            assert_eq!(left.now(), rest);
        }
        let mut endless = Left::of(None);
        endless.draw(5);
        endless.ended(true);
        assert_eq!(endless.now(), u64::MAX);
    }
}
