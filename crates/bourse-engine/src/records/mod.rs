//! The seam for key engines: records of declared fields, found by key.
//!
//! | module | what |
//! |---|---|
//! | `table` | what a set of records looks like, declared once; the statements that follow from it |
//! | [`codec`] | keys and records as bytes, for engines that know nothing but bytes |
//! | `over_sql` | the one adapter by which every SQL engine's session does as a key engine's |
//!
//! A workload by key is written once, over [`Records`]. A key engine's connection is one; a SQL engine's session is lent to
//! [`RecordsOverSql`].

pub mod codec;
mod over_sql;
mod table;

pub use over_sql::{RecordsOverSql, Statements};
pub use table::{IndexKind, RecordField, RecordTable, RecordType, TableSql};

use crate::{Access, EachFound, EachRow, EachToLoad, EngineError, ErrorKind, Value};

/// The key of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key<'a> {
    /// An integer.
    Int(i64),
    /// A text, ordered by its bytes.
    Text(&'a str),
}

impl<'a> From<Key<'a>> for Value<'a> {
    fn from(key: Key<'a>) -> Self {
        match key {
            Key::Int(number) => Self::Int(number),
            Key::Text(text) => Self::Text(text),
        }
    }
}

impl From<i64> for Key<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

fn get_one_by_one<R: Records + ?Sized>(
    records: &mut R,
    table: &'static RecordTable,
    keys: &[Value<'_>],
    each: &mut EachFound<'_>,
) -> Result<(), EngineError> {
    let mut keys = keys.iter().enumerate();
    keys.try_for_each(|(at, &key)| records.get(table, key_of(table, key)?, &mut |row| each(at, row)).map(|_| ()))
}

/// The key that a value is.
fn key_of<'v>(table: &RecordTable, value: Value<'v>) -> Result<Key<'v>, EngineError> {
    match value {
        Value::Int(number) => Ok(Key::Int(number)),
        Value::Text(text) => Ok(Key::Text(text)),
        other => Err(EngineError::new(
            ErrorKind::Other,
            format!("a record of {} has a key that is an integer or a text, not {other:?}", table.name()),
        )),
    }
}

/// One user's connection to records by key: blocking, used by one thread at a time.
///
/// Outside a transaction each operation is a transaction by itself. A row handed to a callback has the key as column 0
/// and the fields behind it in the order of their declaration; values that are written come in that order too, without
/// the key. Tables are `static`, or live as long as the process, so that an engine finds what it keeps for one by its
/// [slot](RecordTable::slot).
pub trait Records: Send {
    /// Makes these tables anew, empty, whatever was there under their names. Called while no other session is at work.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) for an index or a field it does not have.
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<(), EngineError>;

    /// Opens a transaction.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) if the engine's patience with other writers ends.
    fn begin(&mut self, access: Access) -> Result<(), EngineError>;

    /// Makes the transaction's changes last.
    ///
    /// # Errors
    /// The engine's; the transaction is then rolled back.
    fn commit(&mut self) -> Result<(), EngineError>;

    /// Undoes the transaction's changes; does nothing outside a transaction.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) if it cannot undo.
    fn rollback(&mut self) -> Result<(), EngineError>;

    /// Hands the record of that key to `each`, if there is one, and says whether there was.
    ///
    /// # Errors
    /// The engine's, or that of `each`.
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool, EngineError>;

    /// Reads records one after another, each by a lookup of its own; `each` gets those that are there, by their number
    /// among `keys`, which are integers or texts.
    ///
    /// # Errors
    /// The engine's, or `each`'s, at the first that fails.
    fn get_each(
        &mut self,
        table: &'static RecordTable,
        keys: &[Value<'_>],
        each: &mut EachFound<'_>,
    ) -> Result<(), EngineError> {
        get_one_by_one(self, table, keys, each)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`Constraint`](crate::ErrorKind::Constraint) if the key is there already.
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<(), EngineError>;

    /// Adds a record whose key the engine assigns: one more than any before. The table's key is
    /// [assigned](RecordTable::with_assigned_keys).
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [assigned keys](crate::RecordCapabilities::assigned_keys).
    fn append(&mut self, table: &'static RecordTable, values: &[Value<'_>]) -> Result<(), EngineError> {
        let _ = values;
        Err(EngineError::unsupported(format!("this engine assigns no keys to the records of {}", table.name())))
    }

    /// Adds records one after another, each an operation by itself: `rows` has record after record its key, unless the
    /// table's are [assigned](RecordTable::with_assigned_keys), and its values.
    ///
    /// # Errors
    /// As [`Records::insert`] and [`Records::append`], at the first record that cannot be added; those before it are.
    fn insert_rows(&mut self, table: &'static RecordTable, rows: &[Value<'_>]) -> Result<(), EngineError> {
        let width = table.values_of_a_row();
        rows.chunks(width).try_for_each(|row| match row {
            row if row.len() < width => Err(EngineError::new(
                ErrorKind::Other,
                format!("a record of {} has {width} values, {} were given", table.name(), row.len()),
            )),
            row if table.has_assigned_keys() => self.append(table, row),
            row => self.insert(table, key_of(table, row[0])?, &row[1..]),
        })
    }

    /// Adds records as the engine adds many of them best; it is not timed. `rows` gets a function, and calls it with record
    /// after record: its key and its values. They belong to the open transaction.
    ///
    /// # Errors
    /// As [`Records::insert`], and that of `rows`; the transaction has to be rolled back.
    fn load(&mut self, table: &'static RecordTable, rows: &mut EachToLoad<'_>) -> Result<(), EngineError> {
        rows(&mut |row| match row {
            [key, values @ ..] => self.insert(table, key_of(table, *key)?, values),
            [] => Err(EngineError::new(ErrorKind::Other, format!("a record of {} has no key", table.name()))),
        })
    }

    /// Gives the record of that key other values, all of them, and says whether there was one.
    ///
    /// # Errors
    /// The engine's.
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool, EngineError>;

    /// Adds `by` to one field of integers, counted from 0 without the key, and says whether there was such a record.
    ///
    /// # Errors
    /// The engine's.
    fn add(&mut self, table: &'static RecordTable, key: Key<'_>, field: usize, by: i64) -> Result<bool, EngineError>;

    /// Takes the record of that key away and says whether there was one.
    ///
    /// # Errors
    /// The engine's.
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool, EngineError>;

    /// Hands at most `limit` records to `each`, by rising key from `from` on (inclusive), and returns how many.
    ///
    /// # Errors
    /// The engine's, or that of `each`; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [ordered scans](crate::RecordCapabilities::ordered_scans).
    fn scan(
        &mut self,
        table: &'static RecordTable,
        from: Key<'_>,
        limit: u64,
        each: &mut EachRow<'_>,
    ) -> Result<u64, EngineError>;

    /// Hands the records whose field, counted from 0 without the key, has that value to `each`, by the field's index,
    /// and returns how many.
    ///
    /// # Errors
    /// The engine's, or that of `each`; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [indexed fields](crate::RecordCapabilities::indexed_fields).
    fn find(
        &mut self,
        table: &'static RecordTable,
        field: usize,
        value: Value<'_>,
        each: &mut EachRow<'_>,
    ) -> Result<u64, EngineError> {
        let _ = (field, value, each);
        Err(EngineError::unsupported(format!("this engine has no indexes on the fields of {}", table.name())))
    }

    /// How many records there are.
    ///
    /// # Errors
    /// The engine's.
    fn count(&mut self, table: &'static RecordTable) -> Result<u64, EngineError>;

    /// Takes all records away, in the engine's best way, and returns how many there were.
    ///
    /// # Errors
    /// The engine's.
    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64, EngineError>;
}
