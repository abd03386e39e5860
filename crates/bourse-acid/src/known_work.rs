//! The work under faults and power losses: transactions on one table, whose contents after each of them are known.
//!
//! The table begins with rows 1 to [`ROWS`]. Transaction *k* checks the rows it reads, gives three rows version *k*, adds row
//! `ROWS + k`, which is longer so that files grow, deletes the row that was added 40 transactions before, and sets row 0, the
//! progress, to *k*. One in 40 changes every row, more than a small cache holds; one in 20 is rolled back first, with other
//! contents. Any state that transactions can leave is therefore identified by its progress, and compared row by row.

use bourse_engine::{
    Access, Connection, Dialect, EachRow, Engine, EngineError, ErrorKind, IndexKind, Key, RecordField, RecordTable,
    RecordType, Records, Result, RowExt as _, StatementForm, Value, one_line,
};
use bourse_record::SplitMix;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of rows in the beginning, without the progress.
pub const ROWS: i64 = 400;
/// Upper limit of attempts at a transaction; the last is on a new session.
const MAX_ATTEMPTS: u32 = 3;
/// Number of transactions after which a row that one of them has added is deleted.
const LIFETIME: u64 = 40;
/// One transaction in this many changes every row.
const BULK_EVERY: u64 = 40;
/// One transaction in this many is rolled back before it is committed.
const ROLLED_BACK_EVERY: u64 = 20;
/// Length of the longest filler, in bytes.
const FILLER: usize = 6_000;

static TABLE: RecordTable = RecordTable::new("fault_rows", ID, &[VERSION.indexed(IndexKind::Tree), TEXT]);
/// The table of engines without indexes on fields.
static PLAIN_TABLE: RecordTable = RecordTable::new("fault_rows", ID, &[VERSION, TEXT]);
const ID: RecordField = RecordField::new("id", RecordType::Int);
const VERSION: RecordField = RecordField::new("version", RecordType::Int);
const TEXT: RecordField = RecordField::new("filler", RecordType::Text(FILLER));

/// Event that a process at work, or checking, reports as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEvent {
    /// The commit of this transaction was acknowledged.
    Acknowledged(u64),
    /// The transaction is in the database, although an error was reported for it.
    Stands(u64),
    /// The engine reported an error.
    Error {
        /// Transaction during which the error occurred; 0 before the first.
        transaction: u64,
        /// Text of the engine's error.
        text: String,
    },
    /// The engine gave wrong data without an error.
    Wrong {
        /// Transaction during which the data was read.
        transaction: u64,
        /// Description of the wrong data.
        text: String,
    },
    /// The database was read.
    Found {
        /// Progress stored in the database.
        progress: u64,
        /// Difference between its rows and those of that progress; `None` if equal.
        differs: Option<String>,
        /// Damage found by the engine's own check.
        damage: Vec<String>,
    },
    /// The database cannot be opened or read; with the engine's error.
    Unreadable(String),
}

/// Contents of the table after a number of transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableContents {
    seed: u64,
    /// Version of each row; row 0 is the progress.
    versions: BTreeMap<i64, i64>,
}

impl TableContents {
    /// Model before the first transaction.
    pub fn new(seed: u64) -> Self {
        Self { seed, versions: (0..=ROWS).map(|id| (id, 0)).collect() }
    }

    /// Model after a number of transactions.
    pub fn after(seed: u64, transactions: u64) -> Self {
        let mut this = Self::new(seed);
        (1..=transactions).for_each(|number| this.apply(number));
        this
    }

    /// Rows that a transaction changes.
    fn changed_by(&self, number: u64) -> BTreeSet<i64> {
        if number.is_multiple_of(BULK_EVERY) {
            return (1..=ROWS).collect();
        }
        let mut random = SplitMix::new(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (0..3).map(|_| 1 + random.below(ROWS as u64) as i64).collect()
    }

    fn apply(&mut self, number: u64) {
        for id in self.changed_by(number) {
            self.versions.insert(id, number as i64);
        }
        self.versions.insert(ROWS + number as i64, number as i64);
        if let Some(id) = deleted_by(number) {
            self.versions.remove(&id);
        }
        self.versions.insert(0, number as i64);
    }

    /// Values of a row's fields.
    fn with_values<T>(&self, id: i64, version: i64, f: impl FnOnce(&[Value<'_>]) -> T) -> T {
        f(&[Value::Int(version), Value::Text(&self.filler(id, version))])
    }

    fn filler(&self, id: i64, version: i64) -> String {
        let mut random = SplitMix::new(self.seed ^ ((id as u64) << 32) ^ version as u64);
        let mut text = format!("{id}.{version}:");
        let least = if id > ROWS { FILLER / 2 } else { 100 };
        let length = least + random.below(200) as usize;
        while text.len() < length {
            let word = random.next();
            text.extend((0..16).map(|digit| char::from(b'a' + (word >> (4 * digit)) as u8 % 16)));
        }
        text
    }

    /// Difference of a row from the model; `None` if there is none.
    fn difference(&self, id: i64, version: i64, filler: &str) -> Option<String> {
        match self.versions.get(&id) {
            None => Some(format!("row {id} should not be there")),
            Some(wanted) if *wanted != version => Some(format!("row {id} has version {version}, not {wanted}")),
            Some(_) if self.filler(id, version) != filler => Some(format!("row {id} has another text")),
            Some(_) => None,
        }
    }
}

/// Row that a transaction deletes; `None` for one of the first.
fn deleted_by(number: u64) -> Option<i64> {
    (number > LIFETIME).then(|| ROWS + (number - LIFETIME) as i64)
}

/// Text of an engine's error in one line.
fn words(error: &EngineError) -> String {
    one_line(&error.to_string())
}

/// Makes the table with its first rows, and an index on their versions where the engine has such.
///
/// # Errors
/// The engine's.
pub fn fill(engine: &dyn Engine, seed: u64) -> Result<()> {
    let model = TableContents::new(seed);
    let has_indexes = engine.capabilities().records.is_some_and(|records| records.indexed_fields);
    engine.connect()?.with_records(StatementForm::Prepared, |records| {
        records.create(&[if has_indexes { &TABLE } else { &PLAIN_TABLE }])?;
        records.begin(Access::Write)?;
        for (&id, &version) in &model.versions {
            model.with_values(id, version, |values| records.insert(&TABLE, Key::Int(id), values))?;
        }
        records.commit()
    })
}

/// Statements that make the table with its first rows, for a loader.
pub fn load_statements(seed: u64, dialect: &Dialect) -> Vec<String> {
    let model = TableContents::new(seed);
    let insert = |(&id, &version): (&i64, &i64)| {
        format!("INSERT INTO {} VALUES ({id}, {version}, '{}')", TABLE.name(), model.filler(id, version))
    };
    TABLE.create_sql(dialect).into_iter().chain(model.versions.iter().map(insert)).collect()
}

/// Queries of all rows in the order of their keys, and of their number.
pub fn contents_queries() -> [String; 2] {
    let name = TABLE.name();
    [format!("SELECT id, version, filler FROM {name} ORDER BY id"), format!("SELECT count(*) FROM {name}")]
}

/// Reason that a transaction failed.
enum FailureReason {
    Engine(EngineError),
    Wrong(String),
}

impl From<EngineError> for FailureReason {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// Runs the transactions in order and reports the result of each as an event. A transaction that fails is tried again, as an
/// application would do; when it fails for good the work ends. Returns the session, still open, if there is one.
pub fn work(engine: &dyn Engine, seed: u64, transactions: u64, tell: &mut dyn FnMut(WorkEvent)) -> Option<Connection> {
    work_with(engine, seed, transactions, &|_| {}, tell)
}

/// Function that is called with true before each change and commit of a transaction, and with false after it.
pub type CallWindow<'c> = &'c dyn Fn(bool);

/// Runs the transactions as [`work`] does, with a window around the engine's calls.
pub fn work_with(
    engine: &dyn Engine,
    seed: u64,
    transactions: u64,
    window: CallWindow<'_>,
    tell: &mut dyn FnMut(WorkEvent),
) -> Option<Connection> {
    let mut model = TableContents::new(seed);
    let mut session = None;
    for number in 1..=transactions {
        let mut failures = 0;
        loop {
            // A session may be unusable after an error.
            if failures + 1 == MAX_ATTEMPTS {
                session = None;
            }
            match attempt(engine, &mut session, &model, number, window) {
                Ok(event) => break tell(event),
                Err(FailureReason::Wrong(text)) => {
                    tell(WorkEvent::Wrong { transaction: number, text });
                    return session;
                }
                Err(FailureReason::Engine(error)) => {
                    tell(WorkEvent::Error { transaction: number, text: words(&error) });
                    failures += 1;
                    if failures == MAX_ATTEMPTS {
                        return session;
                    }
                }
            }
        }
        model.apply(number);
    }
    session
}

fn attempt(
    engine: &dyn Engine,
    session: &mut Option<Connection>,
    model: &TableContents,
    number: u64,
    window: CallWindow<'_>,
) -> Result<WorkEvent, FailureReason> {
    let session = match session {
        Some(session) => session,
        None => session.insert(engine.connect()?),
    };
    session.with_records(StatementForm::Prepared, |records| {
        let done = transaction(records, model, number, window);
        if done.is_err() {
            // The error that matters is the one before.
            let _ = records.rollback();
        }
        done
    })
}

fn read(records: &mut dyn Records, id: i64) -> Result<Option<(i64, String)>> {
    let mut found = None;
    records.get(&TABLE, Key::Int(id), &mut |row| {
        found = Some((row.get::<i64>(1)?, row.get::<String>(2)?));
        Ok(())
    })?;
    Ok(found)
}

/// Changes rows of which nothing may be found.
fn rolled_back(records: &mut dyn Records, model: &TableContents, number: i64) -> Result<()> {
    records.begin(Access::Write)?;
    let wrong = Value::Text("rolled back");
    records.insert(&TABLE, Key::Int(ROWS + number), &[Value::Int(-number), wrong])?;
    for id in model.changed_by(number as u64).into_iter().chain([0]) {
        records.update(&TABLE, Key::Int(id), &[Value::Int(-number), wrong])?;
    }
    records.rollback()
}

fn transaction(
    records: &mut dyn Records,
    model: &TableContents,
    number: u64,
    window: CallWindow<'_>,
) -> Result<WorkEvent, FailureReason> {
    if number % ROLLED_BACK_EVERY == 7 {
        rolled_back(records, model, number as i64)?;
    }
    records.begin(Access::Write)?;
    let within = |call: &mut dyn FnMut() -> Result<bool>| {
        window(true);
        let done = call();
        window(false);
        done
    };
    let progress = read(records, 0)?.map(|(version, _)| version);
    if progress == Some(number as i64) {
        records.rollback()?;
        return Ok(WorkEvent::Stands(number));
    }
    if progress != Some(number as i64 - 1) {
        return Err(FailureReason::Wrong(format!("the progress is {progress:?}, not {}", number - 1)));
    }
    let mut next = model.clone();
    next.apply(number);
    for id in model.changed_by(number).into_iter().chain([0]) {
        let differs = match read(records, id)? {
            Some((version, filler)) => model.difference(id, version, &filler),
            None => Some(format!("row {id} is missing")),
        };
        if let Some(text) = differs {
            return Err(FailureReason::Wrong(text));
        }
        let update = |values: &[Value<'_>]| within(&mut || records.update(&TABLE, Key::Int(id), values));
        let is_there = next.with_values(id, number as i64, update)?;
        if !is_there {
            return Err(FailureReason::Wrong(format!("row {id} cannot be found for its update")));
        }
    }
    let fresh = ROWS + number as i64;
    next.with_values(fresh, number as i64, |values| {
        within(&mut || records.insert(&TABLE, Key::Int(fresh), values).map(|()| true))
    })?;
    if let Some(id) = deleted_by(number)
        && !within(&mut || records.delete(&TABLE, Key::Int(id)))?
    {
        return Err(FailureReason::Wrong(format!("row {id} cannot be found for its deletion")));
    }
    within(&mut || records.commit().map(|()| true))?;
    Ok(WorkEvent::Acknowledged(number))
}

/// Opens the database as its next user would, reads every row, and runs the engine's own check.
pub fn look(engine: &dyn Engine, seed: u64) -> WorkEvent {
    match try_look(engine, seed) {
        Ok(event) => event,
        Err(error) => WorkEvent::Unreadable(words(&error)),
    }
}

fn try_look(engine: &dyn Engine, seed: u64) -> Result<WorkEvent> {
    let compared = engine.connect()?.with_records(StatementForm::Prepared, |records| {
        let counted = records.count(&TABLE)?;
        let most = u64::from(u32::MAX);
        compare(seed, counted, &mut |each| records.scan(&TABLE, Key::Int(0), most, each).map(|_| ()))
    });
    let (progress, differs) = compared?;
    // Without a check of its own an engine can be judged by its rows alone.
    let damage = engine.integrity_check()?.unwrap_or_default();
    Ok(WorkEvent::Found { progress, differs, damage })
}

/// Progress of a database, and the first difference of its rows from those of that progress. `scan` passes all rows, in the
/// order of their keys; `counted` is their number by the engine's own count.
///
/// # Errors
/// Those of `scan`.
pub fn compare(
    seed: u64,
    counted: u64,
    scan: &mut dyn FnMut(&mut EachRow<'_>) -> Result<()>,
) -> Result<(u64, Option<String>)> {
    let mut first = None;
    let mut model = TableContents::new(seed);
    let mut differs = None;
    let mut last = -1;
    let mut rows = 0_u64;
    scan(&mut |row| {
        let (id, version) = (row.get::<i64>(0)?, row.get::<i64>(1)?);
        let Value::Text(filler) = row.value(2) else {
            return Err(EngineError::new(ErrorKind::Other, format!("row {id} has no text")));
        };
        if first.is_none() {
            first = Some(u64::try_from(version).ok().filter(|number| id == 0 && *number < 1 << 20));
            match first.flatten() {
                Some(number) => model = TableContents::after(seed, number),
                None => differs = Some(format!("the progress is missing: row {id} with version {version} is first")),
            }
        }
        rows += 1;
        let found = match id > last {
            true => model.difference(id, version, filler),
            false => Some(format!("row {id} comes after row {last}")),
        };
        last = id;
        differs = differs.take().or(found);
        Ok(())
    })?;
    let Some(number) = first.flatten() else {
        return Ok((0, Some(differs.unwrap_or_else(|| "there are no rows".to_owned()))));
    };
    let wanted = model.versions.len() as u64;
    if differs.is_none() && rows != wanted {
        differs = Some(format!("{rows} rows, not {wanted}"));
    }
    if differs.is_none() && counted != wanted {
        differs = Some(format!("the engine counts {counted} rows, not {wanted}"));
    }
    Ok((number, differs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_knows_every_state_and_no_other() {
        let (before, after) = (TableContents::after(1, 9), TableContents::after(1, 10));
        assert_eq!(after.versions.len(), before.versions.len() + 1);
        assert_eq!(after.versions.get(&0), Some(&10));
        for id in after.changed_by(10) {
            let (old, new) = (before.versions[&id], after.versions[&id]);
            assert!(old < 10 && new == 10);
            assert_eq!(after.difference(id, 10, &after.filler(id, 10)), None);
            assert!(after.difference(id, old, &after.filler(id, old)).is_some(), "an older version is another state");
            assert!(after.difference(id, 10, &after.filler(id, old)).is_some(), "a text of another version is none");
        }
        assert!(before.difference(ROWS + 10, 10, &after.filler(ROWS + 10, 10)).is_some());
        assert_ne!(TableContents::after(1, 9).filler(1, 0), TableContents::after(2, 9).filler(1, 0), "seeds differ");
    }
}
