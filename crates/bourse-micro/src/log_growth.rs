//! `log-growth`: size of the write-ahead log or the rollback journal while one user writes.

use crate::batching::Batching;
use crate::filled_table::{FilledTable, PERSONS, WIDTH};
use crate::keys::{KEYS, KeyDistribution, KeyStream};
use crate::options::{OptionError, OptionKind, SWITCH, WorkloadOptions, option};
use crate::usual::{ROWS, STATEMENTS, lacking_records, statements};
use crate::watch::{SAMPLE_INTERVAL_NS, SizesSeen, WatchedSizes, look, seen, watcher};
use crate::workload::{
    MicroError, PlannedWorkload, RemainingOperations, RoundExtent, RoundSettings, RoundTally, WorkloadSpec, Writes,
    named,
};
use bourse_driver::{
    Background, Clock, Draw, MS, Nanos, OperationCx, OperationResult, OperationSpec, RoundControl, StopRule, User,
    UserSpec,
};
use bourse_engine::{
    Access, Capabilities, Checkpoint, Engine, EngineError, ErrorKind, Isolation, Key, Records, Result, StatementForm,
};
use bourse_record::{Check, NameValue, Round};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "log-growth",
    summary: "records the size of the write-ahead log or rollback journal while one user writes",
    tables: PERSONS,
    needs: "records by key; a log that can be moved into the database for `checkpoint`; readers that leave writers \
            alone for pinned=on",
    options: &[
        ROWS,
        WIDTH,
        option!("change" => OptionKind::Word(&["update", "insert"]), "update",
            "what is written: a column of existing rows is incremented, or rows are appended"),
        option!("per_transaction" => OptionKind::CountOr { word: "all", min: 1, max: 1_000_000_000 }, "1",
            "changes per transaction; all: one transaction for the whole round, with --count"),
        option!("checkpoint" => OptionKind::Word(&["engine", "passive", "full", "restart", "truncate"]), "engine",
            "checkpoints: the engine's own, or also those of a separate checkpointer in this mode"),
        option!("checkpoint_every_ms" => OptionKind::Count { min: 1, max: 3_600_000 }, "500",
            "milliseconds between checkpoints of the separate checkpointer"),
        option!("pinned" => SWITCH, "off",
            "a read transaction that stays open for the whole round, so that checkpoints cannot reset the log"),
        KEYS,
        STATEMENTS,
    ],
    extent: RoundExtent::Time,
    plan,
};

const WRITE: usize = 0;
const CHECKPOINT: usize = 1;

/// Changes between two readings of the clock, if a transaction has more.
const SAMPLE: u64 = 1_000;

struct LogGrowth {
    persons: FilledTable,
    inserts: bool,
    per_transaction: u64,
    checkpoint: Option<Checkpoint>,
    checkpoint_every: Nanos,
    pinned: bool,
    keys: KeyDistribution,
    statements: StatementForm,
    watched: WatchedSizes,
    /// Number of checkpoints that left something in the log.
    unfinished: Arc<AtomicU64>,
}

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    let persons = FilledTable::persons(options);
    Ok(Box::new(LogGrowth {
        inserts: options.is("change", "insert"),
        per_transaction: options.count_or("per_transaction").unwrap_or(u64::MAX),
        checkpoint: Checkpoint::ALL.into_iter().find(|checkpoint| options.is("checkpoint", checkpoint.name())),
        checkpoint_every: options.count("checkpoint_every_ms") * MS,
        pinned: options.is("pinned", "on"),
        keys: KeyDistribution::chosen(options, persons.rows),
        statements: statements(options),
        watched: WatchedSizes::default(),
        unfinished: Arc::default(),
        persons,
    }))
}

impl LogGrowth {
    /// Index of the pinned reader's operation.
    fn pin(&self) -> usize {
        CHECKPOINT + usize::from(self.checkpoint.is_some())
    }
}

impl PlannedWorkload for LogGrowth {
    fn operations(&self) -> Vec<OperationSpec> {
        let mut operations = vec![OperationSpec::new(if self.inserts { "insert" } else { "update" })];
        if self.checkpoint.is_some() {
            operations.push(OperationSpec::new("checkpoint"));
        }
        if self.pinned {
            operations.push(OperationSpec::new("begin of the pinned reader"));
        }
        operations
    }
    fn unit(&self) -> &'static str {
        if self.inserts { "rows/s" } else { "updates/s" }
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        if let (Some(checkpoint), false) = (self.checkpoint, capabilities.checkpoints) {
            lacking.push(format!("checkpoint={} needs a write-ahead log", checkpoint.name()));
        } else if let (Some(checkpoint), true) = (self.checkpoint, capabilities.one_session) {
            let name = checkpoint.name();
            lacking.push(format!(
                "checkpoint={name} needs a session beside the writer's, and this target allows one at a time"
            ));
        }
        if self.pinned && !capabilities.snapshots {
            lacking.push("pinned=on needs readers that leave writers alone".to_owned());
        }
        lacking
    }
    fn threads(&self) -> usize {
        1
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = SizesSeen::default();
        self.unfinished.store(0, Ordering::Relaxed);
        self.persons.make(engine)
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let writer = GrowthWriter {
            growth: self,
            keys: KeyStream::new(self.keys.clone(), self.persons.rows, setting.seed, 0, 1),
            drawn: Vec::new(),
            next_row: self.persons.rows,
            in_transaction: 0,
            begin: 0,
            commits: false,
            // One change a transaction may be short; of longer ones a sample is a part.
            batching: Batching::new(setting.batch.or((self.per_transaction > 1).then_some(SAMPLE))),
            left: RemainingOperations::of(setting.count),
            setting: setting.clone(),
        };
        let mut user_specs = vec![UserSpec::new("writer", writer)];
        if let Some(checkpoint) = self.checkpoint {
            let user = Checkpointer { checkpoint, growth: self, due: self.checkpoint_every };
            user_specs.push(UserSpec {
                role: "checkpointer",
                stop_rule: StopRule::WhenFinished,
                ..UserSpec::new("checkpointer", user)
            });
        }
        if self.pinned {
            let reader = PinnedReader { growth: self, has_begun: false };
            user_specs.push(UserSpec {
                role: "pinned reader",
                stop_rule: StopRule::WhenFinished,
                ..UserSpec::new("pinned reader", reader)
            });
        }
        user_specs
    }
    fn background<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<Background<'s>> {
        if setting.is_real { vec![watcher(setting.engine, &self.watched)] } else { Vec::new() }
    }
    fn counts_before_commit(&self) -> bool {
        self.per_transaction > 1
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::together(WRITE, self.per_transaction))
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        if !self.inserts {
            return self.persons.check_sum(setting, self.per_transaction);
        }
        self.persons.check_count(setting, RoundTally::get(&setting.tally.changes), self.per_transaction)
    }
    fn finish(&self, setting: &RoundSettings<'_>, round: &mut Round) {
        if !setting.is_real {
            return;
        }
        let seen = seen(&self.watched);
        for (what, metric) in [("write-ahead log", "log_bytes"), ("rollback journal", "journal_bytes")] {
            let (peak, last) = (seen.peak(metric), seen.last(metric));
            round.facts.push(named(format!("{what}, largest"), format!("{peak} bytes")));
            round.facts.push(named(format!("{what}, at the end"), format!("{last} bytes")));
        }
        let every = SAMPLE_INTERVAL_NS as f64 / MS as f64;
        let words = format!("{} times, {every} ms apart and more", seen.looks());
        round.facts.push(named("sizes were looked at", words));
        if self.checkpoint.is_some() {
            let unfinished = self.unfinished.load(Ordering::Relaxed);
            round.facts.push(named("checkpoints that left something in the log", unfinished.to_string()));
        }
        round.fine_series = seen.series();
    }
}

struct GrowthWriter<'s> {
    growth: &'s LogGrowth,
    keys: KeyStream,
    /// Changes of the sample: keys to update, or numbers of rows to insert, from 0.
    drawn: Vec<u64>,
    /// Number of the next row to insert.
    next_row: u64,
    /// Changes made and not yet committed.
    in_transaction: u64,
    /// Beginning of the round.
    begin: Nanos,
    /// Whether the sample ends the transaction, if that has more than one change.
    commits: bool,
    batching: Batching,
    left: RemainingOperations,
    setting: RoundSettings<'s>,
}

impl GrowthWriter<'_> {
    fn change(&self, records: &mut dyn Records, number: u64) -> Result<()> {
        let FilledTable { table, .. } = self.growth.persons;
        let key = Key::Int(number as i64 + 1);
        if self.growth.inserts {
            return records.insert(table, key, &self.growth.persons.values(number));
        }
        if !records.add(table, key, 0, 1)? && self.setting.is_real {
            return Err(EngineError::new(ErrorKind::Other, format!("no row {} to update", number + 1)));
        }
        Ok(())
    }

    /// Performs transactions of one change each.
    fn singly(&self, cx: &mut OperationCx<'_>) -> Result<()> {
        for &number in &self.drawn {
            cx.retrying(|connection| {
                connection.with_records(self.growth.statements, |records| {
                    records.begin(Access::Write)?;
                    self.change(records, number)?;
                    records.commit()
                })
            })?;
            RoundTally::add(&self.setting.tally.changes, 1);
        }
        Ok(())
    }

    /// Performs a part of a transaction. A conflict in its middle cannot be retried, since the previous parts' inputs
    /// are gone.
    fn part(&mut self, cx: &mut OperationCx<'_>) -> Result<()> {
        if self.in_transaction == 0 {
            cx.retrying(|connection| {
                connection.with_records(self.growth.statements, |records| records.begin(Access::Write))
            })?;
        }
        cx.connection.with_records(self.growth.statements, |records| {
            self.drawn.iter().try_for_each(|&number| self.change(records, number))
        })?;
        self.in_transaction += self.drawn.len() as u64;
        if self.commits {
            // A journal is largest now, and gone when a watcher comes by. Asking takes some microseconds, of a transaction
            // that takes a thousand; smaller ones are many, and the watcher will meet some.
            if self.in_transaction >= SAMPLE && self.setting.is_real {
                look(self.setting.engine, &self.growth.watched, self.begin, cx.clock().now());
            }
            cx.connection.with_records(self.growth.statements, |records| records.commit())?;
            RoundTally::add(&self.setting.tally.changes, std::mem::take(&mut self.in_transaction));
        }
        Ok(())
    }
}

impl User for GrowthWriter<'_> {
    fn performs(&self, operation: usize) -> bool {
        operation == WRITE
    }

    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        let left = self.left.now();
        let rest =
            if self.growth.per_transaction == 1 { left } else { self.growth.per_transaction - self.in_transaction };
        let changes = self.batching.next(clock, left.min(rest));
        if changes == 0 {
            if self.setting.is_real {
                // The last session that closes may take the log with it.
                look(self.setting.engine, &self.growth.watched, control.begin(), clock.now());
            }
            return Draw::Finished;
        }
        self.begin = control.begin();
        self.left.draw(changes);
        self.commits = changes == left.min(rest);
        self.drawn.clear();
        if self.growth.inserts {
            self.drawn.extend(self.next_row..self.next_row + changes);
            self.next_row += changes;
        } else {
            let keys = &mut self.keys;
            self.drawn.extend((0..changes).map(|_| keys.next_key()));
        }
        self.batching.begins(clock);
        Draw::Ready
    }

    fn skip(&mut self) -> Option<usize> {
        Some(WRITE)
    }
    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let done = if self.growth.per_transaction == 1 { self.singly(cx) } else { self.part(cx) };
        let changes = self.drawn.len() as u32;
        match done {
            Ok(()) => OperationResult::completed(WRITE).times(changes),
            Err(error) => {
                // The first error is the one to report.
                let _ = cx.connection.rollback();
                self.in_transaction = 0;
                OperationResult::error(WRITE, &error).times(changes)
            }
        }
    }
}

/// Moves the log into the database repeatedly.
struct Checkpointer<'s> {
    checkpoint: Checkpoint,
    growth: &'s LogGrowth,
    /// Due time of the next checkpoint, from the round's start.
    due: Nanos,
}

impl User for Checkpointer<'_> {
    fn performs(&self, operation: usize) -> bool {
        operation == CHECKPOINT
    }

    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        let now = clock.now();
        if control.draining(now) {
            return Draw::Finished;
        }
        let at = control.begin() + self.due;
        if now < at {
            return Draw::Wait(at);
        }
        self.due = now - control.begin() + self.growth.checkpoint_every;
        Draw::Ready
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        match cx.connection.sql().and_then(|session| session.checkpoint(self.checkpoint)) {
            Ok(whole) => {
                self.growth.unfinished.fetch_add(u64::from(!whole), Ordering::Relaxed);
                OperationResult::completed(CHECKPOINT)
            }
            // Another session was in the way for longer than the engine waits; the next checkpoint is due anyway.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.growth.unfinished.fetch_add(1, Ordering::Relaxed);
                OperationResult::completed(CHECKPOINT)
            }
            Err(error) => OperationResult::error(CHECKPOINT, &error),
        }
    }
}

/// Begins to read, and reads the same snapshot until the round drains.
struct PinnedReader<'s> {
    growth: &'s LogGrowth,
    has_begun: bool,
}

impl User for PinnedReader<'_> {
    fn performs(&self, operation: usize) -> bool {
        operation == self.growth.pin()
    }

    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        let now = clock.now();
        if control.draining(now) {
            return Draw::Finished;
        }
        if std::mem::replace(&mut self.has_begun, true) {
            return Draw::Wait(now + 20 * MS);
        }
        Draw::Ready
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let LogGrowth { statements, persons, .. } = self.growth;
        // A transaction's snapshot is taken at its first read.
        let begun = cx.retrying(|connection| {
            // Not serializable: some engines would lock the rows that are read.
            connection.begin(Isolation::RepeatableRead, Access::Read)?;
            connection.with_records(*statements, |records| records.get(persons.table, Key::Int(1), &mut |_| Ok(())))
        });
        match begun {
            Ok(_) => OperationResult::completed(self.growth.pin()),
            Err(error) => OperationResult::error(self.growth.pin(), &error),
        }
    }
}
