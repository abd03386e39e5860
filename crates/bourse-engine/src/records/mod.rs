//! Interface of key engines: records of declared fields, found by key.
//!
//! | module | what |
//! |---|---|
//! | `table` | declaration of a set of records; the statements derived from it |
//! | [`codec`] | keys and records as bytes, for engines that store bytes alone |
//! | [`refusals`] | refusals that key engines have in common |
//! | `session` | session over an engine's view of its data, for engines that store bytes alone |
//! | `over_sql` | the one adapter by which every SQL engine's session serves as a key engine's |
//!
//! A workload by key is written once, over [`Records`]. A key engine's connection implements it; a SQL engine's session
//! is lent to [`RecordsOverSql`].

pub mod codec;
mod over_sql;
pub mod refusals;
mod session;
mod table;

pub use over_sql::{RecordsOverSql, StatementForm};
pub use session::{KeySession, KeyView};
pub use table::{IndexKind, RecordField, RecordTable, RecordType, TableSql};

use crate::{Access, EachFound, EachRow, EachToLoad, EngineError, ErrorKind, Result, Setting, Value};

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

/// Change of one field of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldChange<'a> {
    /// Adds a number to the integer field of that index, counted from 0 without the key.
    Add(usize, i64),
    /// Replaces the value of the field of that index.
    Set(usize, Value<'a>),
    /// Appends to the text field of that index.
    Append(usize, &'a str),
}

impl FieldChange<'_> {
    /// Index of the field, counted from 0 without the key.
    #[inline]
    pub const fn field(&self) -> usize {
        match *self {
            Self::Add(field, _) | Self::Set(field, _) | Self::Append(field, _) => field,
        }
    }
}

fn get_one_by_one<R: Records + ?Sized>(
    records: &mut R,
    table: &'static RecordTable,
    keys: &[Value<'_>],
    each: &mut EachFound<'_>,
) -> Result<()> {
    let mut keys = keys.iter().enumerate();
    keys.try_for_each(|(at, &key)| records.get(table, key_of(table, key)?, &mut |row| each(at, row)).map(|_| ()))
}

/// Converts a value to a key.
fn key_of<'v>(table: &RecordTable, value: Value<'v>) -> Result<Key<'v>> {
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
/// Outside a transaction each operation is a transaction of its own. A row passed to a callback has the key as column 0
/// and the fields after it in the order of their declaration; values to be written have that order too, without the
/// key. Tables are `static`, or live as long as the process, so that an engine finds what it has stored for one by its
/// [slot](RecordTable::slot).
///
/// ```
/// use bourse_engine::{Engine, IndexKind, NullEngine, RecordField, RecordTable, RecordType, Records, Value};
/// use bourse_engine::{RecordsOverSql, StatementForm};
///
/// static WORDS: RecordTable = RecordTable::new(
///     "words",
///     RecordField::new("id", RecordType::Int).indexed(IndexKind::Tree),
///     &[RecordField::new("word", RecordType::Text(50))],
/// );
/// let mut session = NullEngine.session()?;
/// let mut records = RecordsOverSql::new(&mut *session, StatementForm::Prepared);
/// records.create(&[&WORDS])?;
/// records.insert(&WORDS, 7.into(), &[Value::Text("bourse")])?;
/// let found = records.get(&WORDS, 7.into(), &mut |_| Ok(()))?;
/// assert!(!found, "the null engine returns no rows");
/// # Ok::<(), bourse_engine::EngineError>(())
/// ```
pub trait Records: Send {
    /// Settings in force, like [`Session::settings`](crate::Session::settings): another client may have changed them. Empty if the
    /// engine has no settings to read.
    ///
    /// # Errors
    /// The engine's.
    fn settings(&mut self) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }

    /// Creates these tables, empty; tables of the same names are dropped. Called while no other session is active.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) for an index or a field that it does not have.
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()>;

    /// Opens a transaction.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) if the engine's patience with other writers ends.
    fn begin(&mut self, access: Access) -> Result<()>;

    /// Makes the transaction's changes last.
    ///
    /// # Errors
    /// The engine's; the transaction is then rolled back.
    fn commit(&mut self) -> Result<()>;

    /// Undoes the transaction's changes; does nothing outside a transaction.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) if it cannot undo.
    fn rollback(&mut self) -> Result<()>;

    /// Passes the record with that key to `each`, if it exists, and returns whether it does.
    ///
    /// # Errors
    /// The engine's, or that of `each`.
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool>;

    /// Reads records one after another, each by a lookup of its own; `each` gets those that exist, with their index in
    /// `keys`, which are integers or texts.
    ///
    /// # Errors
    /// The engine's, or `each`'s, at the first that fails.
    fn get_each(&mut self, table: &'static RecordTable, keys: &[Value<'_>], each: &mut EachFound<'_>) -> Result<()> {
        get_one_by_one(self, table, keys, each)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`Duplicate`](crate::ErrorKind::Duplicate) if the key is there already.
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()>;

    /// Adds a record whose key the engine assigns: one more than any before. The table's key is
    /// [assigned](RecordTable::with_assigned_keys).
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [assigned keys](crate::RecordCapabilities::assigned_keys).
    fn append(&mut self, table: &'static RecordTable, values: &[Value<'_>]) -> Result<()> {
        let _ = values;
        Err(EngineError::unsupported(format!("this engine assigns no keys to the records of {}", table.name())))
    }

    /// Adds records one after another, each an operation of its own: `rows` has for each record its key, unless the
    /// table's keys are [assigned](RecordTable::with_assigned_keys), and its values.
    ///
    /// # Errors
    /// Those of [`Records::insert`] and [`Records::append`], at the first record that cannot be added; those before it
    /// stay.
    fn insert_rows(&mut self, table: &'static RecordTable, rows: &[Value<'_>]) -> Result<()> {
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

    /// Adds many records by the engine's fastest method; never timed. `rows` gets a function, and calls it with the key
    /// and the values of each record. The records belong to the open transaction.
    ///
    /// # Errors
    /// Those of [`Records::insert`], and those of `rows`; the caller must then roll back.
    fn load(&mut self, table: &'static RecordTable, rows: &mut EachToLoad<'_>) -> Result<()> {
        rows(&mut |row| match row {
            [key, values @ ..] => self.insert(table, key_of(table, *key)?, values),
            [] => Err(EngineError::new(ErrorKind::Other, format!("a record of {} has no key", table.name()))),
        })
    }

    /// Replaces all values of the record with that key, and returns whether it exists.
    ///
    /// # Errors
    /// The engine's.
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool>;

    /// Changes one field, and returns whether the record exists.
    ///
    /// # Errors
    /// The engine's.
    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool>;

    /// Adds `by` to an integer field, counted from 0 without the key.
    ///
    /// # Errors
    /// The engine's.
    #[inline]
    fn add(&mut self, table: &'static RecordTable, key: Key<'_>, field: usize, by: i64) -> Result<bool> {
        self.change(table, key, FieldChange::Add(field, by))
    }

    /// Deletes the record with that key and returns whether it existed.
    ///
    /// # Errors
    /// The engine's.
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool>;

    /// Passes at most `limit` records to `each`, by rising key from `from` on (inclusive), and returns their number.
    ///
    /// # Errors
    /// The engine's, or that of `each`; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [ordered scans](crate::RecordCapabilities::ordered_scans).
    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64>;

    /// Passes the records whose field, counted from 0 without the key, has that value to `each`, by the field's index,
    /// and returns their number.
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
    ) -> Result<u64> {
        let _ = (field, value, each);
        Err(EngineError::unsupported(format!("this engine has no indexes on the fields of {}", table.name())))
    }

    /// Number of records.
    ///
    /// # Errors
    /// The engine's.
    fn count(&mut self, table: &'static RecordTable) -> Result<u64>;

    /// Deletes all records by the engine's fastest method, and returns their number.
    ///
    /// # Errors
    /// The engine's.
    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64>;
}
