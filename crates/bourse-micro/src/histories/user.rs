//! A user whose transactions are recorded: each attempt is one of the history's.

use super::steps::{Does, Step, draw};
use super::{AMOUNT, BALANCE, CELLS, CHANGE, ELEMENTS, Histories, READ, VERSION};
use crate::workload::{ProcessPart, RemainingOperations, RoundSettings};
use arrayvec::ArrayString;
use bourse_driver::{Clock, Draw, MS, Nanos, OperationCx, OperationResult, RoundControl, SplitMix, User};
use bourse_engine::{
    Access, Connection, Engine, EngineError, ErrorKind, FieldChange, Key, Records, Result, Row, RowExt as _,
    StatementForm, Value, locked,
};
use bourse_isolation::{Action, Operation, Transaction, TransactionOutcome};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::Ordering;

/// Performs transactions and records each attempt.
pub(super) struct HistoryUser<'s> {
    of: &'s Histories,
    number: usize,
    random: SplitMix,
    steps: Vec<Step>,
    /// Whether the transaction is undone in the end, on purpose.
    rolls_back: bool,
    /// Whether other threads are let in after each operation.
    yields: bool,
    /// Last version written: no other user writes it.
    version: u64,
    /// Operations of the attempt in progress.
    operations: Vec<Operation>,
    recorded: Vec<Transaction>,
    /// Transactions recorded, here or in the file.
    attempts: u64,
    left: RemainingOperations,
    is_real: bool,
    engine: &'s dyn Engine,
    /// File to which each transaction is appended, in one of several processes: it outlives this one.
    recording: Option<File>,
    /// Nanoseconds that the times of the history are ahead of the round's.
    ahead_ns: Nanos,
}

/// Transactions that change rows, of which one is undone on purpose.
const ONE_UNDONE_IN: u64 = 20;

/// Times that the driver's attempts at a transaction are made once more: on hot rows an engine that refuses conflicts may
/// refuse one for as long as others commit, which breaks no promise.
const PATIENCE: u32 = 20;

/// Time between two attempts to connect to a server that was killed.
const BETWEEN_ATTEMPTS: Nanos = 5 * MS;

/// Transactions of which one lets other threads in after each operation: in an engine in this process it would otherwise be
/// over before another begins.
const ONE_YIELDS_IN: u64 = 4;

impl<'s> HistoryUser<'s> {
    pub(super) fn new(of: &'s Histories, number: usize, random: SplitMix, setting: &RoundSettings<'s>) -> Self {
        let steps = 2 * of.operations.max(2) as usize;
        Self {
            of,
            number,
            random,
            steps: Vec::with_capacity(steps),
            rolls_back: false,
            yields: false,
            version: number as u64 + 1,
            operations: Vec::with_capacity(2 * steps),
            recorded: Vec::new(),
            attempts: 0,
            left: RemainingOperations::of(setting.count),
            is_real: setting.is_real,
            engine: setting.engine,
            recording: None,
            ahead_ns: of.part.get().map_or(0, |(_, ahead_ns)| *ahead_ns),
        }
    }

    /// One attempt, which is rolled back after an error.
    fn attempt(&mut self, connection: &mut Connection, clock: &dyn Clock) -> Result<()> {
        let is_read = self.is_read();
        let begin_ns = self.now(clock);
        self.operations.clear();
        self.attempts += u64::from(self.is_real);
        let access = if is_read { Access::Read } else { Access::Write };
        let begun = connection.begin(self.of.level, access);
        let performed = begun.and_then(|()| self.perform_steps(connection, clock));
        let performed = performed.and_then(|()| self.append(begin_ns, clock, TransactionOutcome::Unknown));
        let is_commit = performed.is_ok() && !self.rolls_back;
        let ended = performed.and_then(|()| match self.rolls_back {
            true => connection.rollback(),
            false => connection.with_records(StatementForm::Prepared, |records| records.commit()),
        });
        // The first error is the one to report, unless the session is lost too.
        let ended = ended.map_err(|error| match connection.rollback() {
            Err(lost) if lost.kind() == ErrorKind::ConnectionLost => lost,
            _ => error,
        });
        // A key that another transaction has inserted meanwhile, or a commit after which the session is lost.
        let ended = ended.map_err(|error| match error.kind() {
            ErrorKind::Duplicate => error.with_kind(ErrorKind::Conflict),
            _ => error,
        });
        if ended.as_ref().is_err_and(|error| error.kind() == ErrorKind::Conflict) {
            self.of.conflicts.fetch_add(1, Ordering::Relaxed);
        }
        let outcome = match &ended {
            Ok(()) if self.rolls_back => TransactionOutcome::RolledBack,
            Ok(()) => TransactionOutcome::Committed,
            // Without a request to commit there is no commit.
            Err(error) if is_commit && error.kind() != ErrorKind::Conflict => TransactionOutcome::Unknown,
            Err(_) => TransactionOutcome::RolledBack,
        };
        if self.recording.is_some() {
            self.append(begin_ns, clock, outcome)?;
        } else if self.is_real && !self.operations.is_empty() {
            self.recorded.push(self.transaction(begin_ns, clock, outcome));
        }
        ended
    }

    /// Time in the history.
    fn now(&self, clock: &dyn Clock) -> Nanos {
        clock.now() + self.ahead_ns
    }

    fn transaction(&self, begin_ns: Nanos, clock: &dyn Clock, outcome: TransactionOutcome) -> Transaction {
        let (session, operations) = (self.number as u32, self.operations.clone());
        Transaction { session, begin_ns, end_ns: self.now(clock), outcome, operations }
    }

    /// Appends the attempt to the recording, if there is one, by a single write.
    fn append(&mut self, begin_ns: Nanos, clock: &dyn Clock, outcome: TransactionOutcome) -> Result<()> {
        let is_there = self.recording.is_some() && !self.operations.is_empty();
        let line = is_there.then(|| self.transaction(begin_ns, clock, outcome).line());
        let written = self.recording.as_mut().zip(line).map_or(Ok(()), |(file, line)| file.write_all(line.as_bytes()));
        written.map_err(unwritten)
    }

    /// Connects again, when the server is up again; returns whether it is.
    fn connect(&self, cx: &mut OperationCx<'_>) -> bool {
        while self.of.faults.failure().is_none() {
            if let Ok(connection) = self.engine.connect() {
                *cx.connection = connection;
                return true;
            }
            cx.clock().nap_until(cx.clock().now() + BETWEEN_ATTEMPTS);
        }
        false
    }

    fn is_read(&self) -> bool {
        self.steps.iter().all(|step| step.does.reads_alone())
    }

    fn perform_steps(&mut self, connection: &mut Connection, clock: &dyn Clock) -> Result<()> {
        for at in 0..self.steps.len() {
            let step = self.steps[at];
            connection.with_records(StatementForm::Prepared, |records| self.step(step, records, clock))?;
            if self.yields {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Next version: unique in the history.
    fn next_version(&mut self) -> u64 {
        self.version += self.of.threads as u64;
        self.version
    }

    /// Performs an operation and records it if it is answered.
    fn recording<T>(
        &mut self,
        clock: &dyn Clock,
        perform: impl FnOnce() -> Result<T>,
        action: impl FnOnce(&T) -> Action,
    ) -> Result<T> {
        let begin_ns = self.now(clock);
        let done = perform()?;
        if self.is_real {
            let (action, end_ns) = (action(&done), self.now(clock));
            self.operations.push(Operation { begin_ns, end_ns, action });
        }
        Ok(done)
    }

    fn step(&mut self, Step { key, does }: Step, records: &mut dyn Records, clock: &dyn Clock) -> Result<()> {
        match does {
            Does::Read => self.read(records, clock, key).map(drop),
            Does::Write | Does::ReadWrite => {
                if does == Does::ReadWrite {
                    self.read(records, clock, key)?;
                }
                self.write(records, clock, key, None).and_then(|found| self.is_there(found, key))
            }
            Does::ReadList => {
                let read = || {
                    let mut elements = Vec::new();
                    records.get(&CELLS, id(key), &mut |row| numbers(row, &mut elements))?;
                    Ok(elements)
                };
                let action = |elements: &Vec<u64>| Action::ReadList { key, elements: elements.clone() };
                self.recording(clock, read, action).map(drop)
            }
            Does::Append => {
                let element = self.next_version();
                let mut text = ArrayString::<24>::new();
                write!(text, "{element},").expect("every number is shorter");
                let append = || match records.change(&CELLS, id(key), FieldChange::Append(ELEMENTS, &text))? {
                    true => Ok(()),
                    false => records.insert(&CELLS, id(key), &[Value::Int(0), Value::Int(0), Value::Text(&text)]),
                };
                self.recording(clock, append, |()| Action::Append { key, element })
            }
            Does::Scan => self.scan(records, clock, key).map(drop),
            Does::Audit => {
                let sum = self.scan(records, clock, key)?;
                if self.is_real && sum != self.of.group.cast_signed() * BALANCE {
                    self.of.wrong_sums.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            }
            Does::Put => {
                if self.write(records, clock, key, None)? {
                    return Ok(());
                }
                let version = self.next_version();
                let insert = || records.insert(&CELLS, id(key), &[int(version), Value::Int(BALANCE), Value::Text("")]);
                self.recording(clock, insert, |()| Action::Write { key, version })
            }
            Does::Delete => {
                let delete = || records.delete(&CELLS, id(key));
                let action = |was_there: &bool| match was_there {
                    true => Action::Delete { key },
                    false => Action::Read { key, version: None },
                };
                self.recording(clock, delete, action).map(drop)
            }
            Does::Pay(by) => {
                let balance = self.read(records, clock, key)?;
                self.write(records, clock, key, Some(balance + by)).and_then(|found| self.is_there(found, key))
            }
            Does::Count => {
                let count = || {
                    let mut value = 0;
                    records.add(&CELLS, id(key), VERSION, 1)?;
                    records.get(&CELLS, id(key), &mut |row| row.read_into(VERSION + 1, &mut value))?;
                    Ok(value)
                };
                let action = |value: &i64| Action::Count { key, value: value.cast_unsigned() };
                self.recording(clock, count, action).map(drop)
            }
        }
    }

    /// Reads a register and returns its amount.
    fn read(&mut self, records: &mut dyn Records, clock: &dyn Clock, key: u64) -> Result<i64> {
        let read = || {
            let mut found = None;
            records.get(&CELLS, id(key), &mut |row| {
                found = Some((row.get::<i64>(VERSION + 1)?.cast_unsigned(), row.get::<i64>(AMOUNT + 1)?));
                Ok(())
            })?;
            Ok(found)
        };
        let action = |found: &Option<(u64, i64)>| Action::Read { key, version: found.map(|(version, _)| version) };
        self.recording(clock, read, action).map(|found| found.map_or(0, |(_, amount)| amount))
    }

    /// Overwrites a register with a new version, and with an amount if there is one; returns whether it is there.
    fn write(&mut self, records: &mut dyn Records, clock: &dyn Clock, key: u64, amount: Option<i64>) -> Result<bool> {
        let version = self.next_version();
        let write = || match amount {
            Some(amount) => records.update(&CELLS, id(key), &[int(version), Value::Int(amount), Value::Text("")]),
            None => records.change(&CELLS, id(key), FieldChange::Set(VERSION, int(version))),
        };
        let action = |is_there: &bool| match is_there {
            true => Action::Write { key, version },
            false => Action::Read { key, version: None },
        };
        self.recording(clock, write, action)
    }

    fn is_there(&self, found: bool, key: u64) -> Result<()> {
        match found || !self.is_real {
            true => Ok(()),
            false => Err(EngineError::new(ErrorKind::Other, format!("no row {key} to update"))),
        }
    }

    /// Reads all rows of a group and returns the sum of their amounts.
    fn scan(&mut self, records: &mut dyn Records, clock: &dyn Clock, from: u64) -> Result<i64> {
        let to = from + self.of.group - 1;
        let scan = || {
            let (mut rows, mut sum) = (Vec::new(), 0);
            // No more rows than these can have the keys of the group.
            records.scan(&CELLS, id(from), self.of.group, &mut |row| {
                let key = row.get::<i64>(0)?.cast_unsigned();
                if key <= to {
                    rows.push((key, row.get::<i64>(VERSION + 1)?.cast_unsigned()));
                    sum += row.get::<i64>(AMOUNT + 1)?;
                }
                Ok(())
            })?;
            Ok((rows, sum))
        };
        let action = |(rows, _): &(Vec<(u64, u64)>, i64)| Action::ReadRange { from, to, rows: rows.clone() };
        self.recording(clock, scan, action).map(|(_, sum)| sum)
    }
}

/// Error of a recording that cannot be written.
fn unwritten(error: std::io::Error) -> EngineError {
    EngineError::new(ErrorKind::Full, format!("the recording of transactions cannot be written: {error}"))
}

impl User for HistoryUser<'_> {
    fn prepare(&mut self, _: &mut Connection) -> Result<()> {
        let open = |(part, _): &(ProcessPart, Nanos)| File::create_new(part.folder.join(self.number.to_string()));
        self.recording = self.of.part.get().map(open).transpose().map_err(unwritten)?;
        Ok(())
    }

    fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
        if self.left.now() == 0 || self.attempts >= self.of.most {
            return Draw::Finished;
        }
        self.left.draw(1);
        draw(self.of, &mut self.random, &mut self.steps);
        self.rolls_back = !self.is_read() && self.random.below(ONE_UNDONE_IN) == 0;
        self.yields = self.random.below(ONE_YIELDS_IN) == 0;
        Draw::Ready
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let operation = if self.is_read() { READ } else { CHANGE };
        let clock = cx.clock();
        let mut patience = PATIENCE;
        loop {
            match cx.backoff.retrying(|| self.attempt(cx.connection, clock)) {
                Ok(()) => return OperationResult::completed(operation),
                Err(error) if error.kind() == ErrorKind::Conflict && patience > 0 => patience -= 1,
                // Whatever became of that attempt, the next one is another transaction.
                Err(error) if error.kind() == ErrorKind::InDoubt && self.of.has_faults => {}
                Err(error) if error.kind() == ErrorKind::ConnectionLost && self.of.has_faults && self.connect(cx) => {}
                Err(error) => return OperationResult::error(operation, &error),
            }
        }
    }

    fn skip(&mut self) -> Option<usize> {
        Some(CHANGE)
    }
    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
    }
}

impl Drop for HistoryUser<'_> {
    fn drop(&mut self) {
        locked(&self.of.recorded).append(&mut self.recorded);
    }
}

const fn id(key: u64) -> Key<'static> {
    Key::Int(key.cast_signed())
}

const fn int(number: u64) -> Value<'static> {
    Value::Int(number.cast_signed())
}

/// Appends the elements of a list, each with a comma behind it.
pub(super) fn numbers(row: &dyn Row, elements: &mut Vec<u64>) -> Result<()> {
    let text = row.get::<String>(ELEMENTS + 1)?;
    for number in text.split_terminator(',') {
        let wrong =
            |_| EngineError::new(ErrorKind::Other, format!("'{number}' in a list is no element that was appended"));
        elements.push(number.parse().map_err(wrong)?);
    }
    Ok(())
}
