//! User who performs the operations of a workload of the table.

mod draw;

use super::mix::Action::{Add, Delete, DeleteAll, FindByText, Get, Insert, Read, ReadModifyWrite, Scan, Set};
use super::mix::{Action, Crew, RecordMix};
use crate::batching::Batching;
use crate::database::{pair_number, pair_order};
use crate::filled_table::FilledTable;
use crate::keys::{GrowingKeys, KeyStream};
use crate::usual::by_weight;
use crate::workload::{RemainingOperations, RoundSettings, RoundTally};
use arrayvec::ArrayString;
use bourse_driver::{Clock, Draw, MS, Nanos, OperationCx, OperationResult, RoundControl, SECOND, User};
use bourse_engine::{Access, EngineError, ErrorKind, FieldChange, Key, Records, Result, Row, Value};
use bourse_record::SplitMix;
use std::sync::Arc;

/// Text keys passed to the engine together, to be looked up one after another.
const KEYS_PER_CALL: usize = 32;

/// Counts and sums of the rows read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ReadRows {
    rows: u64,
    /// Sum of the rows' texts.
    texts: u64,
    /// Sum of the rows' numbers.
    numbers: i64,
}

impl ReadRows {
    /// Adds a row, every byte of it; returns whether it is whole. A row with a missing column is not counted.
    #[inline]
    fn add(&mut self, table: &FilledTable, row: &dyn Row) -> bool {
        let Some((number, texts)) = table.read(row) else { return false };
        self.rows += 1;
        self.texts = self.texts.wrapping_add(texts);
        self.numbers = self.numbers.wrapping_add(number);
        true
    }
}

/// A scan that was drawn.
#[derive(Debug, Clone, Copy)]
struct Range {
    length: u64,
    /// Rows that it finds at least: those that were loaded.
    at_least: u64,
    /// Key of the next row, or its index in the order of text keys.
    next: u64,
}

/// Performs operations with known keys and row contents, in proportion to their shares.
pub(super) struct RecordUser<'s> {
    mix: &'s RecordMix,
    crew: &'s Crew,
    /// Index in the workload of the crew's first operation.
    first: usize,
    keys: KeyStream,
    growth: Option<Arc<GrowingKeys>>,
    random: SplitMix,
    /// Operation of the sample, by its index in the crew's, and how often it is performed.
    at: usize,
    count: u64,
    /// Keys of the sample: numbers, or texts.
    drawn: Vec<Value<'static>>,
    texts: Vec<ArrayString<41>>,
    ranges: Vec<Range>,
    /// Fields to be replaced, with their new texts.
    changes: Vec<(usize, String)>,
    /// Rows to be inserted, and how many of them are committed.
    inserts: Vec<u64>,
    committed: usize,
    /// Expected result of reading.
    expected: ReadRows,
    /// Deletions that are not yet committed.
    in_transaction: u64,
    batching: Batching,
    /// Moment before which no operation of a crew with a rate begins; 0 before the first.
    due: Nanos,
    left: RemainingOperations,
    setting: RoundSettings<'s>,
}

/// Time by which a user with a rate may be late and still make up for it, in nanoseconds.
const CATCH_UP: Nanos = 100 * MS;

impl<'s> RecordUser<'s> {
    pub(super) fn new(
        mix: &'s RecordMix,
        crew: &'s Crew,
        first: usize,
        keys: KeyStream,
        growth: Option<Arc<GrowingKeys>>,
        setting: &RoundSettings<'s>,
        thread: usize,
    ) -> Self {
        let deletes = mix.has(Delete) || mix.has(DeleteAll);
        let count = setting.count.and(crew.most).or(setting.count);
        let mut user = Self {
            mix,
            crew,
            first,
            keys: keys.within(growth.clone()),
            growth,
            random: SplitMix::new(setting.seed.wrapping_add(77 + thread as u64)),
            at: 0,
            count: 0,
            drawn: Vec::new(),
            texts: Vec::new(),
            ranges: Vec::new(),
            changes: Vec::new(),
            inserts: Vec::new(),
            committed: 0,
            expected: ReadRows::default(),
            in_transaction: 0,
            batching: Batching::new(None),
            due: 0,
            // The null engine deletes again and again, until its time is known well enough.
            left: RemainingOperations::of(if deletes { setting.is_real.then_some(mix.table.rows) } else { count }),
            setting: setting.clone(),
        };
        // The null engine's batch is in operations, this one in transactions.
        let batch = setting.batch.map(|operations| (operations / user.together()).max(1));
        user.batching = setting.batching(batch.or(mix.batch));
        user
    }

    fn action(&self) -> Action {
        self.crew.operations[self.at].1
    }

    /// Operations that a transaction has within one sample.
    fn together(&self) -> u64 {
        if self.action() == Add { self.mix.per_transaction } else { 1 }
    }

    /// Draws an operation of the crew's.
    fn choose(&mut self) -> usize {
        let operations = self.crew.operations;
        // The one that is timed alone is of the kind of those before it: else each kind would be timed alone always or never.
        if operations.len() == 1 || !self.batching.is_timed() {
            return self.at;
        }
        if self.crew.takes_turns() {
            return (self.at + 1) % operations.len();
        }
        by_weight(&mut self.random, operations.iter().map(|(_, _, share)| *share))
    }

    /// Key number `at` of the sample.
    #[inline]
    fn key(&self, at: usize) -> Key<'_> {
        match self.drawn.get(at) {
            Some(Value::Int(key)) => Key::Int(*key),
            _ => Key::Text(&self.texts[at]),
        }
    }

    /// Number of the row, from 0, that key number `at` of the sample finds.
    fn number(&self, at: usize) -> u64 {
        match self.key(at) {
            Key::Int(key) => key as u64 - 1,
            Key::Text(text) => pair_number(text.as_bytes()).expect("a key of the table") - 1,
        }
    }

    fn read(&self, cx: &mut OperationCx<'_>) -> Result<()> {
        let (RecordMix { table, statements, .. }, drawn, texts) = (self.mix, &self.drawn[..], &self.texts[..]);
        let found = cx.retrying(|connection| {
            connection.with_records(*statements, |records| {
                let mut found = ReadRows::default();
                records.get_each(table.table, drawn, &mut |at, row| {
                    // The row must be the requested one.
                    if matches!(drawn[at], Value::Int(key) if row.is_int(0, key)) {
                        found.add(table, row);
                    }
                    Ok(())
                })?;
                // Keys on the stack: the timed part must not allocate.
                let mut keys = [Value::Null; KEYS_PER_CALL];
                for texts in texts.chunks(KEYS_PER_CALL) {
                    let keys = &mut keys[..texts.len()];
                    keys.iter_mut().zip(texts).for_each(|(key, text)| *key = Value::Text(text));
                    records.get_each(table.table, keys, &mut |at, row| {
                        if row.text_bytes(0) == Some(texts[at].as_bytes()) {
                            found.add(table, row);
                        }
                        Ok(())
                    })?;
                }
                Ok::<_, EngineError>(found)
            })
        })?;
        RoundTally::add(&self.setting.tally.reads, self.count);
        RoundTally::add(&self.setting.tally.found, found.rows);
        self.verified(found)
    }

    fn search(&self, cx: &mut OperationCx<'_>) -> Result<()> {
        let RecordMix { table, statements, .. } = self.mix;
        let found = cx.retrying(|connection| {
            connection.with_records(*statements, |records| {
                let mut found = ReadRows::default();
                for at in 0..self.drawn.len() {
                    let Key::Int(number) = self.key(at) else { continue };
                    let mut each = |row: &dyn Row| {
                        if row.is_int(0, number) {
                            found.add(table, row);
                        }
                        Ok(())
                    };
                    match self.texts.get(at) {
                        Some(text) => records.find(table.table, 0, Value::Text(text), &mut each)? > 0,
                        None => records.get(table.table, Key::Int(number), &mut each)?,
                    };
                }
                Ok::<_, EngineError>(found)
            })
        })?;
        self.verified(found)
    }

    fn scan(&self, cx: &mut OperationCx<'_>) -> Result<()> {
        let RecordMix { table, statements, .. } = self.mix;
        let (found, rows) = cx.retrying(|connection| {
            connection.with_records(*statements, |records| {
                let (mut found, mut rows) = (ReadRows::default(), 0);
                for (at, range) in self.ranges.iter().enumerate() {
                    let (mut scanned, mut next) = (ReadRows::default(), range.next);
                    let count = records.scan(table.table, self.key(at), range.length, &mut |row| {
                        if let Some(sum) = in_order(table, row, &mut next)
                            && scanned.add(table, row)
                        {
                            scanned.texts = scanned.texts.wrapping_sub(sum);
                        }
                        Ok(())
                    })?;
                    rows += count;
                    // Rows that are inserted meanwhile may be among them.
                    found.rows += if scanned.rows == count { count.min(range.at_least) } else { 0 };
                    found.texts = found.texts.wrapping_add(scanned.texts);
                    found.numbers = found.numbers.wrapping_add(scanned.numbers);
                }
                Ok::<_, EngineError>((found, rows))
            })
        })?;
        RoundTally::add(&self.setting.tally.reads, self.count);
        RoundTally::add(&self.setting.tally.found, rows);
        self.verified(found)
    }

    /// Adds 1 to numbers, many in a transaction.
    fn add(&self, cx: &mut OperationCx<'_>) -> Result<()> {
        let RecordMix { table, statements, per_transaction, explicit, compute_ns, .. } = self.mix;
        let (is_real, clock) = (self.setting.is_real, cx.clock());
        for transaction in self.drawn.chunks(*per_transaction as usize) {
            cx.retrying(|connection| {
                connection.with_records(*statements, |records| {
                    if *explicit {
                        records.begin(Access::Write)?;
                    }
                    if *compute_ns > 0 {
                        let until = clock.now() + compute_ns;
                        while clock.now() < until {
                            std::hint::spin_loop();
                        }
                    }
                    for key in transaction {
                        let Value::Int(key) = *key else { continue };
                        if !records.add(table.table, Key::Int(key), 0, 1)? && is_real {
                            return Err(EngineError::new(ErrorKind::Other, format!("no row {key} to update")));
                        }
                    }
                    if *explicit { records.commit() } else { Ok(()) }
                })
            })?;
            RoundTally::add(&self.setting.tally.changes, transaction.len() as u64);
        }
        Ok(())
    }

    /// Inserts rows or replaces texts, each by itself.
    fn write(&mut self, cx: &mut OperationCx<'_>) -> Result<()> {
        let mut found = ReadRows::default();
        self.committed = 0;
        for at in 0..self.count as usize {
            let before = found;
            cx.retrying(|connection| {
                found = before;
                connection.with_records(self.mix.statements, |records| self.write_one(records, at, &mut found))
            })?;
            self.committed += 1;
            RoundTally::add(&self.setting.tally.changes, 1);
            if self.action() == Insert {
                RoundTally::add(&self.setting.tally.inserts, 1);
            }
        }
        self.verified(found)
    }

    fn write_one(&self, records: &mut dyn Records, at: usize, found: &mut ReadRows) -> Result<()> {
        let (table, action, key) = (&self.mix.table, self.action(), self.key(at));
        if action == Insert {
            return records.insert(table.table, key, &table.values(self.inserts[at]));
        }
        if action == ReadModifyWrite {
            records.begin(Access::Write)?;
            records.get(table.table, key, &mut |row| {
                if row.text_bytes(0) == Some(self.texts[at].as_bytes()) {
                    found.add(table, row);
                }
                Ok(())
            })?;
        }
        let (field, text) = &self.changes[at];
        if !records.change(table.table, key, FieldChange::Set(*field, Value::Text(text)))? && self.setting.is_real {
            return Err(EngineError::new(ErrorKind::Other, format!("no row {key:?} to update")));
        }
        if action == ReadModifyWrite { records.commit() } else { Ok(()) }
    }

    /// Deletes the rows of the sample; begins and commits at the bounds of transactions.
    fn delete(&mut self, records: &mut dyn Records) -> Result<()> {
        let RecordMix { table: FilledTable { table, rows, .. }, per_transaction, .. } = self.mix;
        if self.action() == DeleteAll {
            records.begin(Access::Write)?;
            let gone = records.delete_all(table)?;
            records.commit()?;
            if gone != *rows && self.setting.is_real {
                return Err(EngineError::new(ErrorKind::Other, format!("{gone} of {rows} rows were deleted")));
            }
            RoundTally::add(&self.setting.tally.changes, *rows);
            return Ok(());
        }
        for at in 0..self.drawn.len() {
            if self.in_transaction == 0 {
                records.begin(Access::Write)?;
            }
            if !records.delete(table, self.key(at))? && self.setting.is_real {
                return Err(EngineError::new(ErrorKind::Other, format!("no row {} to delete", self.number(at) + 1)));
            }
            self.in_transaction += 1;
            if self.in_transaction == *per_transaction || self.number(at) + 1 == *rows {
                records.commit()?;
                RoundTally::add(&self.setting.tally.changes, std::mem::take(&mut self.in_transaction));
            }
        }
        Ok(())
    }

    /// Whether the rows that were read are those that are there, with the values that were written.
    fn verified(&self, mut found: ReadRows) -> Result<()> {
        // Numbers that users add to are not known.
        if self.mix.has(Add) {
            found.numbers = 0;
        }
        if found == self.expected || !self.setting.is_real { Ok(()) } else { Err(self.mismatch(found)) }
    }

    #[cold]
    fn mismatch(&self, found: ReadRows) -> EngineError {
        let expected = self.expected.rows;
        let words = match found.rows {
            rows if rows == expected => "a row was read whose values are not those that were loaded".to_owned(),
            rows if self.action() == Scan => format!("{rows} rows came in their order, of {expected} that are there"),
            rows => format!("{rows} rows found, {expected} of the keys are there"),
        };
        EngineError::new(ErrorKind::Other, words)
    }
}

/// Sum that a scanned row's texts have beyond those expected of the whole scan, if the row is next in order.
///
/// Integer keys are followed by the next number. Of text keys all that were loaded come, in their order; rows that were
/// inserted may come between them.
#[inline]
fn in_order(table: &FilledTable, row: &dyn Row, next: &mut u64) -> Option<u64> {
    if !table.has_text_key {
        *next += 1;
        return row.is_int(0, *next as i64 - 1).then_some(0);
    }
    let number = pair_number(row.text_bytes(0)?)?;
    if (1..=table.rows).contains(&number) {
        *next += 1;
        (table.orders().get(*next as usize - 1) == Some(&pair_order(number))).then_some(())?;
    }
    Some(table.sums().row(number.checked_sub(1)?))
}

impl User for RecordUser<'_> {
    fn performs(&self, operation: usize) -> bool {
        (self.first..self.first + self.crew.operations.len()).contains(&operation)
    }

    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        self.at = self.choose();
        let (left, together) = (self.left.now(), self.together());
        // A sample never has deletions of two transactions.
        let rest = if self.action() == Delete { self.mix.per_transaction - self.in_transaction } else { u64::MAX };
        // The last transaction may be a smaller one.
        let transactions = self.batching.next(clock, left.div_ceil(together).min(rest));
        self.count = (transactions * together).min(left);
        if self.count == 0 {
            return Draw::Finished;
        }
        self.left.draw(self.count);
        self.draw_inputs();
        self.batching.begins(clock);
        let Some(rate) = self.crew.rate else { return Draw::Ready };
        let now = clock.now();
        let due = if self.due == 0 { now } else { self.due.max(now.saturating_sub(CATCH_UP)) };
        self.due = due + self.count * SECOND / rate;
        Draw::Due(due)
    }

    fn skip(&mut self) -> Option<usize> {
        Some(self.first + self.choose())
    }

    fn is_timed(&self) -> bool {
        self.batching.is_timed()
    }

    fn drawn(&self) -> Option<usize> {
        (self.crew.operations.len() > 1).then_some(self.first + self.at)
    }

    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
        if let Some(growth) = &self.growth {
            for (at, key) in self.inserts.drain(..).enumerate() {
                growth.ended(key, at < self.committed);
            }
        }
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let (operation, count) = (self.first + self.at, self.count as u32);
        let done = match self.action() {
            Read => self.read(cx),
            Get | FindByText => self.search(cx),
            Scan => self.scan(cx),
            Add => self.add(cx),
            Set | Insert | ReadModifyWrite => self.write(cx),
            Delete | DeleteAll => {
                // No other user writes here: a failure is not retried.
                let deleted = cx.connection.with_records(self.mix.statements, |records| self.delete(records));
                if deleted.is_err() {
                    // The rest of the transaction is lost with it; the first error is the one to report.
                    let _ = cx.connection.rollback();
                    self.in_transaction = 0;
                    self.left = RemainingOperations::of(Some(0));
                }
                deleted
            }
        };
        match done {
            Ok(()) => OperationResult::completed(operation).times(count),
            Err(error) => OperationResult::error(operation, &error).times(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::pair_chars;
    use crate::options::WorkloadOptions;
    use std::borrow::Cow;

    struct KeyRow(Value<'static>);

    impl Row for KeyRow {
        fn value(&self, _: usize) -> Value<'_> {
            self.0
        }
        fn column_name(&self, _: usize) -> Option<Cow<'_, str>> {
            None
        }
    }

    #[test]
    fn a_scan_misses_no_row_that_was_loaded() {
        let specs = super::super::TABLE.iter().find(|spec| spec.name == "ycsb-e").unwrap().options;
        let table = FilledTable::usertable(&WorkloadOptions::parse("ycsb-e", specs, [("rows", "50")]).unwrap());
        let mut numbers: Vec<u64> = (1..=60).collect();
        numbers.sort_by_key(|number| pair_order(*number));
        let row = |number: u64| KeyRow(Value::Text(pair_chars(number).to_string().leak()));
        let mut next = 0;
        assert!(numbers.iter().all(|&number| in_order(&table, &row(number), &mut next).is_some()));
        assert_eq!(next, 50, "ten were inserted");
        let loaded: Vec<u64> = numbers.into_iter().filter(|number| *number <= 50).collect();
        let mut next = 0;
        assert!(in_order(&table, &row(loaded[0]), &mut next).is_some());
        assert!(in_order(&table, &row(loaded[2]), &mut next).is_none(), "one was left out");
        assert!(in_order(&table, &KeyRow(Value::Text("key-")), &mut next).is_none());
    }
}
