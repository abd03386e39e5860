//! Classic workloads: declarations as data, and workloads planned with options, ready to run.

use crate::batching::{BATCH, Batching};
use crate::options::{OptionError, WorkloadOption, WorkloadOptions};
use crate::records::Properties;
use bourse_driver::{Abilities, Ability, Background, Clock, Nanos, OperationSpec, UserSpec};
use bourse_engine::{Capabilities, Engine, EngineError};
use bourse_record::{Check, NameValue, Round};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// A classic workload, as data.
#[derive(Debug)]
pub struct WorkloadSpec {
    /// Name, as typed.
    pub name: &'static str,
    /// Description in a sentence without full stop.
    pub summary: &'static str,
    /// Description of its tables.
    pub tables: &'static str,
    /// Requirements on the engine, as a sentence.
    pub needs: &'static str,
    /// Options of the workload.
    pub options: &'static [WorkloadOption],
    /// Rule by which a round ends.
    pub extent: RoundExtent,
    pub(crate) plan: fn(&WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError>,
}

/// Rule by which a round ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundExtent {
    /// The measurement interval ends the round.
    Time,
    /// The round ends when its work is done; a measurement interval may cap it.
    Work,
}

impl WorkloadSpec {
    /// Features of runs that the workload supports.
    pub fn abilities(&self) -> Abilities {
        let without_end = match self.extent {
            RoundExtent::Time => Ability::Has,
            RoundExtent::Work => Ability::Lacks("it ends when its work is done"),
        };
        Abilities {
            rate: without_end,
            sampling: if self.has_batches() {
                Ability::Has
            } else {
                Ability::Lacks("its operations are not timed in batches of a size that can be chosen")
            },
            search: if self.has_pace() { Ability::Has } else { without_end },
            steadiness: without_end,
            snapshot: Ability::Lacks("its tables are made anew for each round"),
        }
    }

    /// Whether its operations can be timed in batches, by an option.
    fn has_batches(&self) -> bool {
        self.options.iter().any(|option| option.name == BATCH.name)
    }

    /// Whether its work can be done at several paces, by an option.
    pub fn has_pace(&self) -> bool {
        self.options.iter().any(|option| option.name == crate::replay::PACE)
    }

    /// Whether it takes a file, given before the targets on a command line, or by the option `file`.
    pub fn takes_file(&self) -> bool {
        self.options.iter().any(|option| option.name == crate::sql::FILE)
    }

    /// Contents of an example file, if it has one.
    pub fn example_file(&self) -> Option<&'static str> {
        (self.name == crate::sql::SPEC.name).then_some(crate::sql::EXAMPLE_FILE)
    }

    /// Plans the workload with options.
    ///
    /// # Errors
    /// The option is unknown, its value invalid, or the values cannot be combined.
    pub fn plan<'g>(
        &'static self,
        given: impl IntoIterator<Item = (&'g str, &'g str)>,
    ) -> Result<WorkloadCase, OptionError> {
        let given: Vec<(&str, &str)> = given.into_iter().collect();
        let file = given.iter().rev().find(|(name, value)| {
            self.name == crate::records::YCSB && *name == crate::sql::FILE && *value != crate::sql::NOTHING
        });
        let properties = file.map(|(_, file)| Properties::read(file)).transpose()?.unwrap_or_default();
        let of_file = properties.options.iter().map(|(name, value)| (*name, value.as_str()));
        let options = WorkloadOptions::parse(self.name, self.options, of_file.chain(given))?;
        Ok(WorkloadCase { spec: self, planned: (self.plan)(&options)?, options })
    }
}

/// A workload with its options, ready to run.
pub struct WorkloadCase {
    /// The workload.
    pub spec: &'static WorkloadSpec,
    /// Effective options.
    pub options: WorkloadOptions,
    pub(crate) planned: Box<dyn PlannedWorkload>,
}

impl Deref for WorkloadCase {
    type Target = dyn PlannedWorkload;
    fn deref(&self) -> &Self::Target {
        &*self.planned
    }
}

impl WorkloadCase {
    /// Missing capabilities of an engine for the workload, as sentences; empty if none.
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

    /// Names of the operations.
    pub fn operations(&self) -> Vec<&'static str> {
        self.planned.operations().iter().map(|operation| operation.name).collect()
    }

    /// Operation whose completions per second are the headline; `None` counts all together.
    pub fn headline_operation(&self) -> Option<&'static str> {
        self.planned.headline().map(|at| self.planned.operations()[at].name)
    }
}

/// Error of a round.
#[derive(Debug, Error)]
pub enum MicroError {
    /// The engine failed outside the timed part.
    #[error("{doing}: {error}")]
    Engine {
        /// The step in progress.
        doing: String,
        /// Error of the engine.
        error: EngineError,
    },
    /// The database was not created by Bourse and must not be lost.
    #[error("there is a database already, and it is not one that a classic workload made")]
    Foreign,
    /// A statement of a person's file failed outside the timed part.
    #[error("{place}: {error}")]
    Statement {
        /// Path of the file, with the line.
        place: String,
        /// Error of the engine.
        error: EngineError,
    },
    /// An operation on a file next to the database failed.
    #[error("{doing}: {error}")]
    System {
        /// The step in progress.
        doing: String,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The round could not begin.
    #[error(transparent)]
    Fault(#[from] bourse_driver::Fault),
}

impl MicroError {
    pub(crate) fn engine(doing: impl Into<String>) -> impl FnOnce(EngineError) -> Self {
        let doing = doing.into();
        move |error| Self::Engine { doing, error }
    }
}

/// A process's part of a round that several processes of this machine run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPart {
    /// Number of the process, from 0.
    pub number: u32,
    /// Folder in which its users record what they perform.
    pub folder: PathBuf,
}

/// Settings of a round.
#[derive(Clone)]
pub struct RoundSettings<'e> {
    /// The engine.
    pub engine: &'e dyn Engine,
    /// Seed of the keys.
    pub seed: u64,
    /// Operations of each thread; `None` if time ends the round.
    pub count: Option<u64>,
    /// Batch size that overrides the options: the null engine must be timed as the real one was.
    pub batch: Option<u64>,
    /// Whether one operation in 64 is timed alone and the others are only counted, instead of batches.
    pub sampled: bool,
    /// Whether the engine stores data: not the null engine, whose answers are not examined.
    pub is_real: bool,
    /// Counts of the users, for the checks.
    pub tally: Arc<RoundTally>,
}

impl RoundSettings<'_> {
    /// Number of changes that a check expects where `found` are in the database, of which `committed` were committed in transactions
    /// of `together` at most. An engine that cannot undo keeps those of a transaction that the end of the round cut off.
    pub(crate) fn expected(&self, committed: u64, together: u64, found: u64) -> u64 {
        let undoes = self.engine.capabilities().records.is_none_or(|records| records.rollback);
        found.clamp(committed, committed.saturating_add(if undoes { 0 } else { together - 1 }))
    }

    /// Batching of a user's operations: sampled if so set, otherwise with the given batch size.
    pub(crate) fn batching(&self, batch: Option<u64>) -> Batching {
        if self.sampled {
            // Users differ in their random numbers.
            let user = self.tally.users.fetch_add(1, Ordering::Relaxed);
            return Batching::sampled(self.seed.wrapping_add(user) ^ 0x5A4D);
        }
        Batching::new(batch)
    }
}

/// Counts of all users together, over the whole round with its warm-up.
#[derive(Debug, Default)]
pub struct RoundTally {
    /// Number of committed changes.
    pub changes: AtomicU64,
    /// Number of committed changes of a mix that insert a record.
    pub inserts: AtomicU64,
    /// Number of reads and scans.
    pub reads: AtomicU64,
    /// Number of rows that were found, or of rows that were deleted again.
    pub found: AtomicU64,
    /// Number of users whose operations are sampled.
    users: AtomicU64,
}

impl RoundTally {
    /// Value of a counter.
    pub(crate) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// A planned workload, which can run any number of rounds, one at a time.
pub trait PlannedWorkload: Send + Sync {
    /// Operations in the order of reports.
    fn operations(&self) -> Vec<OperationSpec>;

    /// Operation whose completions per second are the headline; `None` counts all together.
    fn headline(&self) -> Option<usize> {
        Some(0)
    }

    /// Unit of the headline.
    fn unit(&self) -> &'static str;

    /// Missing capabilities of an engine, as sentences.
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String>;

    /// Whether its statements have holes of a person's.
    fn has_holes(&self) -> bool {
        false
    }

    /// Whether it executes a person's statements, for which every engine of a round is confined.
    fn is_confined(&self) -> bool {
        false
    }

    /// Digest of the files that it was read from; `None` if its options say all.
    fn contents(&self) -> Option<String> {
        None
    }

    /// Holes of its statements without a word for engines of that dialect.
    fn missing_holes(&self, dialect: &bourse_engine::Dialect) -> Vec<String> {
        let _ = dialect;
        Vec::new()
    }

    /// Number of concurrently busy threads.
    fn threads(&self) -> usize;

    /// Processes of this machine that have the threads.
    fn processes(&self) -> u32 {
        1
    }

    /// Whether faults are made meanwhile.
    fn has_faults(&self) -> bool {
        false
    }

    /// Expected time of a round whose work ends it, in nanoseconds; `None` if unknown.
    fn expected_ns(&self) -> Option<Nanos> {
        None
    }

    /// Numbers of executions of each operation in a round; `None` if they are not fixed.
    fn executions(&self) -> Option<Vec<u64>> {
        None
    }

    /// Makes this process one of several: its users are those of the part. The machine's clock is `ahead_ns` ahead of the round's.
    fn join(&self, part: &ProcessPart, ahead_ns: Nanos) {
        let _ = (part, ahead_ns);
    }

    /// Takes what the processes of a round have recorded, as if this process had.
    fn collect(&self, folder: &Path, rounds: &[&Round]) -> std::io::Result<()> {
        let _ = (folder, rounds);
        Ok(())
    }

    /// Creates tables and rows; returns facts about them.
    fn prepare(&self, engine: &dyn Engine, clock: &dyn Clock) -> Result<Vec<NameValue>, MicroError>;

    /// Users of a round, each with a session.
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>>;

    /// Emulators without a session.
    fn background<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<Background<'s>> {
        let _ = setting;
        Vec::new()
    }

    /// Checks that the database is in the state that the round should have left. Not called after a fault.
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        let _ = setting;
        Ok(Vec::new())
    }

    /// Operation that changes rows, if one does.
    fn writes(&self) -> Option<Writes> {
        None
    }

    /// Whether operations are counted as they end, before their transaction is committed: if it fails, they are lost
    /// with it.
    fn counts_before_commit(&self) -> bool {
        false
    }

    /// Whether a round in which some operations failed has a figure, of the others.
    fn allows_failures(&self) -> bool {
        true
    }

    /// Adds further facts to the figures.
    fn finish(&self, setting: &RoundSettings<'_>, round: &mut Round) {
        let _ = (setting, round);
    }
}

/// An operation that changes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writes {
    /// Index of the operation.
    pub operation: usize,
    /// Maximum number of operations that may have ended without a commit when the round ends.
    pub uncommitted: u64,
}

impl Writes {
    /// Operations that are committed before they end.
    pub(crate) const fn committed(operation: usize) -> Self {
        Self { operation, uncommitted: 0 }
    }

    /// Operations of which `per_transaction` form a transaction.
    pub(crate) const fn together(operation: usize, per_transaction: u64) -> Self {
        Self { operation, uncommitted: per_transaction.saturating_sub(1) }
    }
}

/// Number of operations that a user has left, if limited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemainingOperations {
    left: Option<u64>,
    /// Number drawn; whether they count is known when they have ended.
    drawn: u64,
}

impl RemainingOperations {
    /// Limit according to the setting; `None` is unlimited.
    pub(crate) const fn of(count: Option<u64>) -> Self {
        Self { left: count, drawn: 0 }
    }

    /// Maximum number of operations that may be drawn now.
    pub(crate) fn now(&self) -> u64 {
        self.left.unwrap_or(u64::MAX)
    }

    /// Records the number of operations drawn.
    pub(crate) fn draw(&mut self, drawn: u64) {
        self.drawn = drawn;
    }

    /// Ends the operations drawn; those of the warm-up do not count.
    pub(crate) fn ended(&mut self, counts: bool) {
        if let (true, Some(left)) = (counts, &mut self.left) {
            *left = left.saturating_sub(self.drawn);
        }
    }
}

/// Digest of parts one after another, in 16 digits: enough to distinguish files of one name.
pub fn short_digest(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    in_digits(digest)
}

/// The first 16 digits of a digest.
pub(crate) fn in_digits(digest: Sha256) -> String {
    format!("{:x}", digest.finalize()).chars().take(16).collect()
}

/// Adds a file's bytes to a digest.
pub(crate) fn digest_file(digest: &mut Sha256, path: &Path) -> std::io::Result<()> {
    std::io::copy(&mut bourse_engine::open_named(path)?, digest).map(drop)
}

pub(crate) fn named(name: impl Into<String>, value: impl Into<String>) -> NameValue {
    NameValue::new(name, value)
}

#[cfg(test)]
mod tests {
    use super::RemainingOperations;

    #[test]
    fn what_ends_in_the_warm_up_is_still_to_be_done() {
        let mut left = RemainingOperations::of(Some(12));
        left.draw(5);
        left.ended(false);
        assert_eq!(left.now(), 12);
        for rest in [7, 2, 0] {
            left.draw(left.now().min(5));
            left.ended(true);
            assert_eq!(left.now(), rest);
        }
        let mut endless = RemainingOperations::of(None);
        endless.draw(5);
        endless.ended(true);
        assert_eq!(endless.now(), u64::MAX);
    }
}
