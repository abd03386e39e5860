use crate::{EngineError, FromValue, Records, Sql, Value};
use bourse_schema::Dialect;

/// How far a transaction must be kept apart from others (Clause 7.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// No dirty reads (level 1).
    ReadCommitted,
    /// What was read stays as it was (level 2).
    RepeatableRead,
    /// As if alone (level 3).
    Serializable,
}

/// Whether a transaction will write: engines with a single writer take its place at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only reads.
    Read,
    /// Reads and writes.
    Write,
}

/// How thoroughly a log is moved into its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// What nobody is in the way of.
    Passive,
    /// All of it, waiting for writers and for readers of what is older.
    Full,
    /// All of it, so that the next writer begins the log from its start.
    Restart,
    /// All of it, and the log is cut to nothing.
    Truncate,
}

impl Checkpoint {
    /// The word for options and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::Full => "full",
            Self::Restart => "restart",
            Self::Truncate => "truncate",
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

    /// Column `index` if its natural form is a plain whole number. Engines can say it with less ado than by a [`Value`].
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

    /// Column `index`, which can be nothing but a plain whole number, as a record's key that is declared one: engines may
    /// read it without asking what it is. Anything else gives a number that means nothing.
    ///
    /// # Panics
    /// As [`Row::value`].
    #[inline]
    fn certain_int(&self, index: usize) -> i64 {
        self.int(index).unwrap_or_default()
    }

    /// The bytes of column `index` if its natural form is a text; an engine may leave it to the caller to see whether they
    /// are UTF-8.
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
    fn get<T: FromValue>(&self, index: usize) -> Result<T, EngineError>;

    /// Column `index` into the place of a `T`, which spares wide types a copy.
    ///
    /// # Errors
    /// If the value cannot be one.
    fn read_into<T: FromValue>(&self, index: usize, place: &mut T) -> Result<(), EngineError>;
}

impl RowExt for dyn Row + '_ {
    #[inline]
    fn read_into<T: FromValue>(&self, index: usize, place: &mut T) -> Result<(), EngineError> {
        if T::read_plain(place, self, index) { Ok(()) } else { read_other(self, index, place) }
    }

    #[inline]
    fn get<T: FromValue>(&self, index: usize) -> Result<T, EngineError> {
        T::from_value(self.value(index)).map_err(|wrong| wrong.in_column(index))
    }
}

/// [`RowExt::read_into`] for what has not the plain form; apart, so that what reads plain ones stays small.
#[inline(never)]
fn read_other<T: FromValue>(row: &dyn Row, index: usize, place: &mut T) -> Result<(), EngineError> {
    *place = row.get(index)?;
    Ok(())
}

/// What a session does with each row of a result.
pub type EachRow<'f> = dyn FnMut(&dyn Row) -> Result<(), EngineError> + 'f;

/// What is done with the rows found for one of many: its number, counted from 0, and its row.
pub type EachFound<'f> = dyn FnMut(usize, &dyn Row) -> Result<(), EngineError> + 'f;

/// [`Session::query_first_of_each`] by nothing but [`Session::query_first`].
///
/// # Errors
/// As there.
///
/// # Panics
/// As there.
pub fn query_one_by_one<S: Session + ?Sized>(
    session: &mut S,
    sql: &'static Sql,
    params: &[Value<'_>],
    width: usize,
    each: &mut EachFound<'_>,
) -> Result<(), EngineError> {
    let mut runs = params.chunks(width).enumerate();
    runs.try_for_each(|(at, params)| session.query_first(sql, params, &mut |row| each(at, row)).map(|_| ()))
}

/// One user's connection: blocking, used by one thread at a time, statements prepared at first use.
///
/// After an error of kind [`Conflict`](crate::ErrorKind::Conflict) the transaction is to be rolled back whatever
/// statement raised it; [`Session::rollback`] is always allowed and does nothing outside a transaction.
pub trait Session: Send {
    /// The engine's dialect.
    fn dialect(&self) -> &'static Dialect;

    /// Opens a transaction.
    ///
    /// # Errors
    /// [`Conflict`](crate::ErrorKind::Conflict) if the engine's patience with other writers ends.
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError>;

    /// Runs a query and hands each row to `each`; an error of `each` ends the query and comes back.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError>;

    /// Runs a query for its first row alone, hands that to `each`, and says whether there was one.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query_first(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<bool, EngineError> {
        let mut found = false;
        self.query(sql, params, &mut |row| if std::mem::replace(&mut found, true) { Ok(()) } else { each(row) })?;
        Ok(found)
    }

    /// Runs a query for its first row alone again and again, each time by a run of its own: `params` has the parameters of
    /// run after run, `width` for each. `each` gets the rows of those that have one.
    ///
    /// # Errors
    /// The engine's, with the statement, or `each`'s, at the first run that fails.
    ///
    /// # Panics
    /// If `width` is 0.
    fn query_first_of_each(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        width: usize,
        each: &mut EachFound<'_>,
    ) -> Result<(), EngineError> {
        query_one_by_one(self, sql, params, width, each)
    }

    /// Runs a change and returns the number of rows it changed.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn execute(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<u64, EngineError>;

    /// Runs a change whose parameters stand in two places, as a record's key and its values do, and returns the number of
    /// rows it changed.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn execute_split(
        &mut self,
        sql: &'static Sql,
        first: &[Value<'_>],
        rest: &[Value<'_>],
    ) -> Result<u64, EngineError> {
        /// That many are put together on the stack: the timed part must not allocate.
        const ON_STACK: usize = 24;
        let all = first.len() + rest.len();
        if all > ON_STACK {
            return self.execute(sql, &[first, rest].concat());
        }
        let mut params = [Value::Null; ON_STACK];
        for (param, value) in params.iter_mut().zip(first.iter().chain(rest)) {
            *param = *value;
        }
        self.execute(sql, &params[..all])
    }

    /// Inserts by a statement whose parameters stand in two places; how many rows it made nobody asks.
    ///
    /// # Errors
    /// The engine's, with the statement.
    #[inline]
    fn insert_split(&mut self, sql: &'static Sql, first: &[Value<'_>], rest: &[Value<'_>]) -> Result<(), EngineError> {
        self.execute_split(sql, first, rest).map(|_| ())
    }

    /// Inserts rows one after another, each by a run of the statement: `rows` has the parameters of row after row, `width`
    /// for each.
    ///
    /// # Errors
    /// The engine's, with the statement, at the first row that cannot be inserted; those before it are.
    ///
    /// # Panics
    /// If `width` is 0.
    fn insert_rows(&mut self, sql: &'static Sql, rows: &[Value<'_>], width: usize) -> Result<(), EngineError> {
        rows.chunks(width).try_for_each(|row| self.execute(sql, row).map(|_| ()))
    }

    /// Makes the transaction's changes last.
    ///
    /// # Errors
    /// The engine's; the transaction is then rolled back.
    fn commit(&mut self) -> Result<(), EngineError>;

    /// Undoes the transaction's changes; does nothing outside a transaction.
    ///
    /// # Errors
    /// The engine's.
    fn rollback(&mut self) -> Result<(), EngineError>;

    /// Moves the write-ahead log into the database; whether all of it was moved.
    ///
    /// # Errors
    /// The engine's; [`Unsupported`](crate::ErrorKind::Unsupported) without
    /// [checkpoints](crate::Capabilities::checkpoints).
    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<bool, EngineError> {
        let _ = checkpoint;
        Err(EngineError::unsupported("this engine has no log to be moved into the database"))
    }

    /// The plan of a statement, a line a step, in the engine's words.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) where the engine shows none.
    fn plan(&mut self, sql: &str) -> Result<Vec<String>, EngineError> {
        let _ = sql;
        Err(EngineError::unsupported("this engine shows no plans"))
    }

    /// Runs a statement whose text is made at run time, parsed anew each time: pragmas, checks, DDL, and workloads that
    /// measure what parsing costs.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError>;

    /// Runs a change whose text is made at run time, parsed anew each time, and returns the number of rows it changed.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, EngineError>;

    /// Records by key, where the engine has them natively; SQL sessions are lent to
    /// [`RecordsOverSql`](crate::RecordsOverSql) instead.
    fn records(&mut self) -> Option<&mut dyn Records> {
        None
    }
}

/// Shorter ways to ask common questions of a [`Session`].
pub trait SessionExt {
    /// The first row's columns as `T` by `read`, or `None` without a row.
    ///
    /// # Errors
    /// The engine's, or `read`'s.
    fn first<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError>;

    /// All rows by `read`.
    ///
    /// # Errors
    /// The engine's, or `read`'s.
    fn all<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, EngineError>;
}

impl<S: Session + ?Sized> SessionExt for S {
    fn first<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        let mut found = None;
        self.query_first(sql, params, &mut |row| {
            found = Some(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn all<T>(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T, EngineError>,
    ) -> Result<Vec<T>, EngineError> {
        // Most lists of the transactions fit, so that none is moved while it grows.
        let mut found = Vec::with_capacity(24);
        self.query(sql, params, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }
}
