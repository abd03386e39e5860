use crate::{EngineError, FromValue, Result, Routine, Setting, Sql, Value};
use bourse_schema::Dialect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

crate::named! {
    /// Isolation level of a transaction (Clause 7.4.1), from the weakest on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Isolation {
        /// No dirty reads (level 1).
        ReadCommitted = "read-committed",
        /// Data read stays unchanged until the end of the transaction (level 2).
        RepeatableRead = "repeatable-read",
        /// Transactions have the effect of some serial order (level 3).
        Serializable = "serializable",
    }
}

/// Whether a transaction will write: engines with a single writer then take the writer lock when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads only.
    Read,
    /// Reads and writes.
    Write,
}

crate::named! {
    /// Extent to which a log is moved into its database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Checkpoint {
        /// The part that can be moved without waiting.
        Passive = "passive",
        /// The whole log, waiting for writers and for readers of older data.
        Full = "full",
        /// The whole log; the next writer begins the log from its start.
        Restart = "restart",
        /// The whole log, which is then truncated to length zero.
        Truncate = "truncate",
    }
}

/// Work of a statement, by the engine's own counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StatementWork {
    /// Rows stepped over in scans of whole tables.
    pub scanned_rows: u64,
    /// Sorts of rows that no index had in order.
    pub sorts: u64,
    /// Rows put into indexes that the engine made for one run of the statement.
    pub automatic_index_rows: u64,
    /// Instructions of the engine's virtual machine.
    pub instructions: u64,
}

impl StatementWork {
    /// Sums of two counts.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            scanned_rows: self.scanned_rows.saturating_add(other.scanned_rows),
            sorts: self.sorts.saturating_add(other.sorts),
            automatic_index_rows: self.automatic_index_rows.saturating_add(other.automatic_index_rows),
            instructions: self.instructions.saturating_add(other.instructions),
        }
    }
}

/// A row of a result, valid while the callback that got it runs.
pub trait Row {
    /// The value of column `index`, counted from 0, in the engine's natural form.
    ///
    /// # Panics
    /// May panic if there is no such column.
    fn value(&self, index: usize) -> Value<'_>;

    /// Column `index` if its natural form is a plain integer. Cheaper than a [`Value`] in some engines.
    ///
    /// # Panics
    /// As [`Row::value`].
    #[inline]
    fn int(&self, index: usize) -> Option<i64> {
        match self.value(index) {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    /// Whether column `index` is that integer. An engine may convert a value of another type, as `CAST(… AS INTEGER)`
    /// does.
    ///
    /// # Panics
    /// As [`Row::value`].
    #[inline]
    fn is_int(&self, index: usize, number: i64) -> bool {
        self.int(index) == Some(number)
    }

    /// The name of column `index`; `None` if there is no such column, or if columns have no names.
    fn column_name(&self, index: usize) -> Option<Cow<'_, str>>;

    /// The bytes of column `index` if its natural form is a text; an engine may leave the check for UTF-8 to the
    /// caller.
    ///
    /// # Panics
    /// As [`Row::value`].
    #[inline]
    fn text_bytes(&self, index: usize) -> Option<&[u8]> {
        match self.value(index) {
            Value::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }
}

/// Typed reading of a [`Row`].
pub trait RowExt {
    /// Column `index` as `T`.
    ///
    /// # Errors
    /// If the value cannot be one.
    fn get<T: FromValue>(&self, index: usize) -> Result<T>;

    /// Column `index` into the place of a `T`, which spares wide types a copy.
    ///
    /// # Errors
    /// If the value cannot be one.
    fn read_into<T: FromValue>(&self, index: usize, place: &mut T) -> Result<()>;

    /// Number of columns that have a name: all columns of a SQL engine's row.
    fn columns(&self) -> usize;
}

impl RowExt for dyn Row + '_ {
    #[inline]
    fn read_into<T: FromValue>(&self, index: usize, place: &mut T) -> Result<()> {
        if T::read_plain(place, self, index) { Ok(()) } else { read_other(self, index, place) }
    }

    fn columns(&self) -> usize {
        (0..).take_while(|&index| self.column_name(index).is_some()).count()
    }

    #[inline]
    fn get<T: FromValue>(&self, index: usize) -> Result<T> {
        T::from_value(self.value(index)).map_err(|wrong| wrong.in_column(index))
    }
}

/// Reads a value that has not the plain form, for [`RowExt::read_into`]. Not inlined, so that the common path stays
/// small.
#[inline(never)]
fn read_other<T: FromValue>(row: &dyn Row, index: usize, place: &mut T) -> Result<()> {
    *place = row.get(index)?;
    Ok(())
}

/// Callback that gets each row of a result.
pub type EachRow<'f> = dyn FnMut(&dyn Row) -> Result<()> + 'f;

/// Callback that gets the rows of many runs or sets: the number of the run or set, counted from 0, and the row.
pub type EachFound<'f> = dyn FnMut(usize, &dyn Row) -> Result<()> + 'f;

/// Callback that takes the values of a row to be loaded.
pub type PutRow<'p> = dyn FnMut(&[Value<'_>]) -> Result<()> + 'p;

/// Function that produces rows to be loaded, one after another.
pub type EachToLoad<'l> = dyn FnMut(&mut PutRow<'_>) -> Result<()> + 'l;

/// Parameters of many runs of a statement.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'v> {
    /// Values of all runs, one run's after another's.
    pub params: &'v [Value<'v>],
    /// Number of values of a run.
    pub width: usize,
}

/// [`Session::run_each`] by [`Session::query_first`] and [`Session::execute`] alone.
///
/// # Errors
/// Those of [`Session::run_each`].
///
/// # Panics
/// If the runs' width is 0.
pub fn run_one_by_one<S: Session + ?Sized>(
    session: &mut S,
    sql: &'static Sql,
    runs: Runs<'_>,
    each: Option<&mut EachFound<'_>>,
) -> Result<()> {
    let mut runs = runs.params.chunks(runs.width).map(Params::of);
    match each {
        Some(each) => runs
            .enumerate()
            .try_for_each(|(at, params)| session.query_first(sql, params, &mut |row| each(at, row)).map(|_| ())),
        None => runs.try_for_each(|params| session.execute(sql, params).map(|_| ())),
    }
}

/// Parameters of a statement, `?1`, `?2`, … in order. They are in one list or in two, such as a record's key and its
/// values, so that joining them needs no copy.
///
/// ```
/// use bourse_engine::{Params, Value};
/// let (key, values) = ([Value::Int(7)], [Value::Text("a"), Value::Null]);
/// let params = Params::of(&key).then(&values);
/// assert_eq!(params.len(), 3);
/// assert!(params.iter().eq([Value::Int(7), Value::Text("a"), Value::Null]));
/// assert!(Params::NONE.is_empty());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Params<'a>([&'a [Value<'a>]; 2]);

impl<'a> Params<'a> {
    /// No parameter.
    pub const NONE: Self = Self([&[]; 2]);

    /// Parameters in one list.
    #[inline]
    pub const fn of(values: &'a [Value<'a>]) -> Self {
        Self([values, &[]])
    }

    /// Appends a second list.
    ///
    /// # Panics
    /// If there is a second list already.
    #[must_use]
    #[inline]
    pub const fn then(self, values: &'a [Value<'a>]) -> Self {
        assert!(self.0[1].is_empty(), "parameters stand in two lists at most");
        Self([self.0[0], values])
    }

    /// The two lists, of which the second may be empty.
    #[inline]
    pub const fn lists(self) -> [&'a [Value<'a>]; 2] {
        self.0
    }

    /// Number of parameters.
    #[inline]
    pub const fn len(&self) -> usize {
        self.0[0].len() + self.0[1].len()
    }

    /// Whether no parameter exists.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first parameter.
    #[inline]
    pub fn first(&self) -> Option<Value<'a>> {
        self.iter().next()
    }

    /// All parameters in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let [first, rest] = self.0;
        first.iter().chain(rest).copied()
    }

    /// Calls `f` with all parameters in one list, which is on the stack unless it is very long: the timed part must not
    /// allocate.
    pub fn with_one_list<T>(self, f: impl FnOnce(&[Value<'_>]) -> T) -> T {
        const ON_STACK: usize = 24;
        let ([first, rest], all) = (self.0, self.len());
        if rest.is_empty() {
            return f(first);
        }
        if all > ON_STACK {
            return f(&[first, rest].concat());
        }
        let mut params = [Value::Null; ON_STACK];
        for (param, value) in params.iter_mut().zip(self.iter()) {
            *param = value;
        }
        f(&params[..all])
    }
}

/// One user's connection: blocking, used by one thread at a time, statements prepared at first use.
///
/// After an error of kind [`Conflict`](crate::ErrorKind::Conflict) the transaction must be rolled back, whichever
/// statement raised it; [`Session::rollback`] is always allowed and does nothing outside a transaction.
///
/// ```
/// use bourse_engine::{Access, EngineError, Isolation, Params, Session, Sql, Value};
///
/// static WITHDRAW: Sql = Sql::new("UPDATE account SET balance = balance - ?2 WHERE id = ?1");
///
/// fn withdraw(session: &mut dyn Session, account: i64, amount: i64) -> Result<(), EngineError> {
///     session.begin(Isolation::Serializable, Access::Write)?;
///     let changed = session.execute(&WITHDRAW, Params::of(&[Value::Int(account), Value::Int(amount)]));
///     match changed {
///         Ok(_) => session.commit(),
///         Err(error) => session.rollback().and(Err(error)),
///     }
/// }
/// # use bourse_engine::{Engine, NullEngine};
/// assert!(withdraw(&mut *NullEngine.session()?, 7, 100).is_ok());
/// # Ok::<(), EngineError>(())
/// ```
pub trait Session: Send {
    /// The engine's dialect.
    fn dialect(&self) -> &'static Dialect;

    /// Settings in force in this session, read as [`Engine::description`](crate::Engine::description) reads them: a
    /// statement may have changed them since. Empty if the engine has no settings to read.
    ///
    /// # Errors
    /// The engine's.
    fn settings(&mut self) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }

    /// Opens a transaction.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) if the engine's patience with other writers ends.
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()>;

    /// Prepares a statement for values of these types, outside a transaction, without running it, so that an error
    /// occurs before anything is timed. Does nothing in an engine that finds errors only when it runs a statement.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        let _ = (sql, params);
        Ok(())
    }

    /// Runs a query and passes each row to `each`; an error of `each` ends the query and is returned.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()>;

    /// Runs a query for its first row alone, passes that to `each`, and returns whether a row was found.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let mut found = false;
        self.query(sql, params, &mut |row| if std::mem::replace(&mut found, true) { Ok(()) } else { each(row) })?;
        Ok(found)
    }

    /// Runs a change and returns the number of rows it changed.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64>;

    /// Runs a change that must change one row, and returns the number of rows it changed.
    ///
    /// A session may send it together with later statements, and return 1 before the answer is known. An error, or
    /// another number of rows, is then reported with this statement by the next call that waits for an answer, or by
    /// the commit, which fails.
    ///
    /// # Errors
    /// The engine's, with the statement, or those of an earlier change.
    fn change_one(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.execute(sql, params)
    }

    /// Number of round trips to the server since the session was opened; `None` without a server.
    #[inline]
    fn round_trips(&self) -> Option<u64> {
        None
    }

    /// Runs a statement repeatedly. For a query, `each` gets the first row of each run that has one; for a change `each` is
    /// `None`, and numbers of changed rows are not checked.
    ///
    /// # Errors
    /// The engine's, with the statement, or those of `each`, at the first run that fails; the changes of earlier runs
    /// stay.
    ///
    /// # Panics
    /// If the runs' width is 0.
    fn run_each(&mut self, sql: &'static Sql, runs: Runs<'_>, each: Option<&mut EachFound<'_>>) -> Result<()> {
        run_one_by_one(self, sql, runs, each)
    }

    /// Adds many rows to a table by the engine's fastest method; never timed. `rows` gets a function, and calls it with
    /// the values of each row: all columns of the table in order, which are the parameters of `insert` too. The rows
    /// belong to the open transaction.
    ///
    /// # Errors
    /// The engine's, with the statement, and those of `rows`. Earlier rows may or may not be added: the caller must
    /// roll back.
    fn load(&mut self, table: &str, insert: &'static Sql, rows: &mut EachToLoad<'_>) -> Result<()> {
        let _ = table;
        rows(&mut |values| self.execute(insert, Params::of(values)).map(drop))
    }

    /// Installs the present version of these routines at the server, if the session is to [call](Session::call)
    /// routines. Called outside a transaction; cheap from the second time on.
    ///
    /// # Errors
    /// The engine's, with the right or setting that the server lacks.
    fn install(&mut self, routines: &'static [&'static Routine]) -> Result<()> {
        let _ = routines;
        Ok(())
    }

    /// Whether [`Session::call`] is to be used: the target requests it, and the routines are
    /// [installed](Session::install).
    #[inline]
    fn has_routines(&self) -> bool {
        false
    }

    /// Calls an installed routine: one round trip. `each` gets the number of a set of rows and a row of it, in order.
    ///
    /// # Errors
    /// The engine's, with the routine's name; [`Unsupported`](crate::ErrorKind::Unsupported) in an engine without
    /// routines.
    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        let _ = (params, each);
        Err(EngineError::unsupported("this session calls no routines of a server").with_statement(routine.name()))
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// The engine's; the transaction is then rolled back.
    fn commit(&mut self) -> Result<()>;

    /// Undoes the transaction's changes; does nothing outside a transaction.
    ///
    /// # Errors
    /// The engine's.
    fn rollback(&mut self) -> Result<()>;

    /// Moves the write-ahead log into the database; returns whether all of it was moved.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [checkpoints](crate::Capabilities::checkpoints).
    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<bool> {
        let _ = checkpoint;
        Err(EngineError::unsupported("this engine has no log to be moved into the database"))
    }

    /// The plan of a statement, one line a step, as the engine prints it.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) where the engine shows none.
    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        let _ = sql;
        Err(EngineError::unsupported("this engine shows no plans"))
    }

    /// Work of a prepared statement since this was last called, by the engine's own counters; `None` where it has none, or the
    /// statement is not prepared in this session any more.
    #[inline]
    fn statement_work(&mut self, sql: &'static Sql) -> Option<StatementWork> {
        let _ = sql;
        None
    }

    /// Runs a statement whose text is made at run time, parsed anew each time: pragmas, checks, DDL, and workloads that
    /// measure what parsing costs.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()>;

    /// Runs a change whose text is made at run time, parsed anew each time, and returns the number of rows it changed.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64>;
}

/// Convenience methods for reading a [`Session`]'s results.
///
/// ```
/// use bourse_engine::{Engine, NullEngine, RowExt, SessionExt, Sql, Value};
/// static BALANCE: Sql = Sql::new("SELECT balance FROM account WHERE id = ?1");
/// let mut session = NullEngine.session()?;
/// let balance: Option<i64> = session.first(&BALANCE, &[Value::Int(7)], |row| row.get(0))?;
/// assert_eq!(balance, None, "the null engine returns no rows");
/// # Ok::<(), bourse_engine::EngineError>(())
/// ```
pub trait SessionExt {
    /// Columns of the first row, read as `T` by `read`; `None` without a row.
    ///
    /// # Errors
    /// The engine's, or `read`'s.
    fn first<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>>;

    /// All rows, each read by `read`.
    ///
    /// # Errors
    /// The engine's, or `read`'s.
    fn all<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>>;

    /// All rows of a query's text, each read by `read`.
    ///
    /// # Errors
    /// The engine's, or `read`'s.
    fn text_rows<T>(&mut self, sql: &str, read: impl FnMut(&dyn Row) -> Result<T>) -> Result<Vec<T>>;

    /// First column of the last row of a query's text; `None` without a row.
    ///
    /// # Errors
    /// The engine's, or those of another type.
    fn text_value<T: FromValue>(&mut self, sql: &str) -> Result<Option<T>> {
        Ok(self.text_rows(sql, |row| row.get(0))?.pop())
    }
}

impl<S: Session + ?Sized> SessionExt for S {
    fn first<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.query_first(sql, Params::of(params), &mut |row| {
            found = Some(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn all<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        // Most lists of the transactions fit, so that none is moved while it grows.
        let mut found = Vec::with_capacity(24);
        self.query(sql, Params::of(params), &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn text_rows<T>(&mut self, sql: &str, mut read: impl FnMut(&dyn Row) -> Result<T>) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.query_text(sql, &[], &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }
}
