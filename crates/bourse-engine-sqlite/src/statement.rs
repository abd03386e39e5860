//! Prepared statements: bound without copying, stepped, read in place.

use crate::connection::SqliteConnection;
use crate::ffi::{self, SqliteLibrary};
use bourse_engine::{EngineError, ErrorKind, Params, Result, Row, Runs, StatementWork, Value};
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// A prepared statement. Its owner drops it before the connection that prepared it.
#[derive(Debug)]
pub(crate) struct SqliteStatement {
    library: SqliteLibrary,
    stmt: NonNull<ffi::sqlite3_stmt>,
    parameters: usize,
    is_readonly: bool,
}

// SAFETY: like its connection's, its calls may come from any thread, one at a time.
unsafe impl Send for SqliteStatement {}

impl SqliteStatement {
    /// Prepares the first statement of `sql` and returns it with the rest of the text; `None` for blank text.
    ///
    /// `keep` announces that it will be used many times.
    pub(crate) fn prepare<'s>(
        connection: &SqliteConnection,
        sql: &'s str,
        keep: bool,
    ) -> Result<(Option<Self>, &'s str)> {
        let bytes = c_int::try_from(sql.len())
            .map_err(|_| EngineError::new(ErrorKind::Other, "a statement of more than 2 GiB"))?;
        let flags = if keep { ffi::SQLITE_PREPARE_PERSISTENT as c_uint } else { 0 };
        let start = sql.as_ptr().cast::<c_char>();
        let mut stmt = ptr::null_mut();
        let mut tail = ptr::null();
        let library = connection.library();
        // SAFETY: text and length belong together, and SQLite reads no further; the out pointers are valid.
        let code = unsafe { library.sqlite3_prepare_v3(connection.raw(), start, bytes, flags, &mut stmt, &mut tail) };
        connection.check(code)?;
        // SQLite copies a text that does not end in zero, but gives the tail back as an address in ours.
        let used = if tail.is_null() { sql.len() } else { (tail as usize - start as usize).min(sql.len()) };
        let this = NonNull::new(stmt).map(|stmt| {
            // SAFETY: the statement was just prepared.
            let (parameters, is_readonly) = unsafe {
                (library.sqlite3_bind_parameter_count(stmt.as_ptr()), library.sqlite3_stmt_readonly(stmt.as_ptr()) != 0)
            };
            Self { library, stmt, parameters: usize::try_from(parameters).unwrap_or(0), is_readonly }
        });
        Ok((this, sql.get(used..).unwrap_or_default()))
    }

    /// Whether it leaves the database unchanged.
    pub(crate) fn is_readonly(&self) -> bool {
        self.is_readonly
    }

    /// Work since this was last called.
    pub(crate) fn work(&self) -> StatementWork {
        // SAFETY: the statement is prepared; 1 sets the counter to zero.
        let taken = |counter| unsafe { self.library.sqlite3_stmt_status(self.stmt.as_ptr(), counter, 1) }.max(0) as u64;
        StatementWork {
            scanned_rows: taken(ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP),
            sorts: taken(ffi::SQLITE_STMTSTATUS_SORT),
            automatic_index_rows: taken(ffi::SQLITE_STMTSTATUS_AUTOINDEX),
            instructions: taken(ffi::SQLITE_STMTSTATUS_VM_STEP),
        }
    }

    /// Number of times that SQLite prepared it anew by itself.
    #[cfg(test)]
    pub(crate) fn times_prepared_again(&self) -> c_int {
        // SAFETY: the statement is prepared; 0 leaves the counter as it is.
        unsafe { self.library.sqlite3_stmt_status(self.stmt.as_ptr(), ffi::SQLITE_STMTSTATUS_REPREPARE, 0) }
    }

    /// Refuses any number of values but that of its parameters, however these are written: `?1`, `@name`, `$name`.
    #[inline(always)]
    pub(crate) fn takes(&self, given: usize) -> Result<()> {
        if given == self.parameters { Ok(()) } else { Err(self.wrong_number(given)) }
    }

    /// Binds parameters `?1`, `?2`, …. Texts and blobs are not copied, so the returned guard, which borrows them, is
    /// needed for stepping.
    ///
    /// They are not unbound afterwards, which would cost a tenth of an insert: parameters are unused between a run and
    /// the next, which must bind all of them anew to get a guard. ([`Self::run_with_each`] alone binds again only
    /// changed ones, while it borrows those bound before.)
    #[inline(always)]
    pub(crate) fn bind<'b>(&'b self, connection: &SqliteConnection, params: Params<'b>) -> Result<BoundStatement<'b>> {
        self.takes(params.len())?;
        let [first, rest] = params.lists();
        // A loop each: chained they cost another branch for every value.
        self.bind_from(1, connection, first)?;
        self.bind_from(1 + first.len(), connection, rest)?;
        Ok(BoundStatement { statement: self })
    }

    /// Runs it to its end for every `width` values of `rows`; result rows are ignored.
    ///
    /// An integer equal to the previous row's stays bound: comparing it costs a tenth of binding it.
    pub(crate) fn run_with_each(&self, connection: &SqliteConnection, rows: &[Value<'_>], width: usize) -> Result<()> {
        let (whole, part) = rows.split_at(rows.len() - rows.len() % width);
        let (first, rest) = whole.split_at(width.min(whole.len()));
        if !first.is_empty() {
            self.bind(connection, Params::of(first))?.run_to_end(connection, |_| Ok(()))?;
        }
        // One loop over the values of all rows: a loop in a loop costs more than what it does here.
        let last = width as c_int;
        let mut at = 1;
        for (value, before) in rest.iter().zip(rows) {
            self.bind_value(
                at,
                connection,
                *value,
                |number| matches!(before, Value::Int(before) if *before == number),
            )?;
            if at < last {
                at += 1;
                continue;
            }
            at = 1;
            // Each parameter is bound to a value of `rows`, which are borrowed until this returns.
            BoundStatement { statement: self }.run_to_end(connection, |_| Ok(()))?;
        }
        if part.is_empty() { Ok(()) } else { Err(self.wrong_number(part.len())) }
    }

    /// Runs it for the first row of each run; `each` gets the row, if one is found, with the number of
    /// the run. `first_step` makes the first step of each run.
    #[inline(always)]
    pub(crate) fn first_of_each(
        &self,
        connection: &SqliteConnection,
        Runs { params, width }: Runs<'_>,
        first_step: impl Fn(&mut BoundStatement<'_>) -> c_int,
        mut each: impl FnMut(usize, &CurrentRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.takes(width)?;
        // One loop over the values of all sets, as for rows.
        let whole = params.len() - params.len() % width.max(1);
        let (last, mut at, mut number) = (width as c_int, 1, 0);
        for value in &params[..whole] {
            self.bind_value(at, connection, *value, |_| false)?;
            if at < last {
                at += 1;
                continue;
            }
            at = 1;
            // Every parameter is bound to a value of this set, which is borrowed until this returns.
            let mut bound = BoundStatement { statement: self };
            match first_step(&mut bound) {
                ffi::SQLITE_ROW => each(number, &bound.columns())?,
                ffi::SQLITE_DONE => {}
                code => return Err(connection.error(code)),
            }
            number += 1;
        }
        if whole == params.len() { Ok(()) } else { Err(self.wrong_number(params.len() - whole)) }
    }

    /// Binds values to the parameters from number `from` on.
    #[inline(always)]
    fn bind_from(&self, from: usize, connection: &SqliteConnection, values: &[Value<'_>]) -> Result<()> {
        (from as c_int..).zip(values).try_for_each(|(at, value)| self.bind_value(at, connection, *value, |_| false))
    }

    /// Binds a value to parameter number `at`, unless it is an integer for which `is_bound` is true.
    #[inline(always)]
    fn bind_value(
        &self,
        at: c_int,
        connection: &SqliteConnection,
        value: Value<'_>,
        is_bound: impl FnOnce(i64) -> bool,
    ) -> Result<()> {
        // SAFETY: the statement is not running (every run ends in a reset). Pointers are bound as SQLITE_STATIC: SQLite
        // reads them in steps only and never frees them. Steps are made by a `BoundStatement` alone, and those made from this
        // statement later come with every parameter replaced by one that is alive (`run_through` consumes statements that
        // were never bound); this one lives no longer than the pointers do.
        let code = unsafe {
            // The two that most values are stand apart: a jump through a table in every turn makes the processor
            // guess worse in SQLite's own.
            match value {
                Value::Int(number) if is_bound(number) => return Ok(()),
                Value::Int(number) => self.library.sqlite3_bind_int64(self.stmt.as_ptr(), at, number),
                // Neither empty nor too long, seen by one comparison.
                Value::Text(text) if text.len().wrapping_sub(1) < c_int::MAX as usize => {
                    self.library.sqlite3_bind_text(
                        self.stmt.as_ptr(),
                        at,
                        text.as_ptr().cast(),
                        text.len() as c_int,
                        ffi::SQLITE_STATIC(),
                    )
                }
                other => self.bind_other(at, other),
            }
        };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(connection.error(code)) }
    }

    /// Binds a value of any kind and returns SQLite's code.
    ///
    /// # Safety
    /// The statement is not running, and is stepped only while the value's text or bytes live.
    #[inline(never)]
    unsafe fn bind_other(&self, at: c_int, value: Value<'_>) -> c_int {
        let stmt = self.stmt.as_ptr();
        // SAFETY: as the caller promises.
        unsafe {
            match value {
                Value::Null => self.library.sqlite3_bind_null(stmt, at),
                Value::Int(units) | Value::Decimal { units, .. } => self.library.sqlite3_bind_int64(stmt, at, units),
                Value::Bool(flag) => self.library.sqlite3_bind_int64(stmt, at, i64::from(flag)),
                Value::Real(number) => self.library.sqlite3_bind_double(stmt, at, number),
                Value::Date(date) => self.library.sqlite3_bind_int64(stmt, at, i64::from(date.days())),
                Value::Timestamp(moment) => self.library.sqlite3_bind_int64(stmt, at, moment.millis()),
                // One that is too long for an int is too big for SQLite too, which says so.
                Value::Text(text) => self.library.sqlite3_bind_text64(
                    stmt,
                    at,
                    address(text.as_bytes()).cast(),
                    text.len() as u64,
                    ffi::SQLITE_STATIC(),
                    ffi::SQLITE_UTF8 as u8,
                ),
                Value::Blob(bytes) => self.library.sqlite3_bind_blob64(
                    stmt,
                    at,
                    address(bytes).cast(),
                    bytes.len() as u64,
                    ffi::SQLITE_STATIC(),
                ),
            }
        }
    }

    #[cold]
    fn wrong_number(&self, given: usize) -> EngineError {
        let (s, were) = (if self.parameters == 1 { "" } else { "s" }, if given == 1 { " was" } else { "s were" });
        let words = format!("the statement has {} parameter{s}, {given} value{were} given", self.parameters);
        EngineError::new(ErrorKind::Other, words)
    }

    /// Runs it to the end with NULL parameters, for statements that are used once.
    pub(crate) fn run_through(
        self,
        connection: &SqliteConnection,
        each: impl FnMut(&CurrentRow<'_>) -> Result<()>,
    ) -> Result<()> {
        BoundStatement { statement: &self }.run_to_end(connection, each)
    }
}

/// Address of bytes, never null: SQLite takes a null address for NULL.
fn address(bytes: &[u8]) -> *const u8 {
    if bytes.is_empty() { c"".as_ptr().cast() } else { bytes.as_ptr() }
}

impl Drop for SqliteStatement {
    fn drop(&mut self) {
        // SAFETY: prepared and finalized once. Its result is the latest step's, which was reported then.
        unsafe { self.library.sqlite3_finalize(self.stmt.as_ptr()) };
    }
}

/// A statement with its parameters bound; reset when this is dropped.
pub(crate) struct BoundStatement<'s> {
    statement: &'s SqliteStatement,
}

impl BoundStatement<'_> {
    /// Steps to the next row or the end.
    #[inline]
    pub(crate) fn step(&mut self) -> c_int {
        // SAFETY: the statement is prepared and its parameters are alive.
        let code = unsafe { self.statement.library.sqlite3_step(self.statement.stmt.as_ptr()) };
        if code & 0xff == ffi::SQLITE_CONSTRAINT {
            // Old versions name the constraint in the message only after this.
            self.reset();
        }
        code
    }

    /// Steps through all remaining rows.
    #[inline]
    fn run_to_end(
        &mut self,
        connection: &SqliteConnection,
        mut each: impl FnMut(&CurrentRow<'_>) -> Result<()>,
    ) -> Result<()> {
        loop {
            match self.step() {
                ffi::SQLITE_ROW => each(&self.columns())?,
                ffi::SQLITE_DONE => return Ok(()),
                code => return Err(connection.error(code)),
            }
        }
    }

    /// Prepares it for another run with the same parameters.
    #[inline]
    pub(crate) fn reset(&mut self) {
        // SAFETY: the statement is prepared. The result repeats the latest step's.
        unsafe { self.statement.library.sqlite3_reset(self.statement.stmt.as_ptr()) };
    }

    /// The row that the latest step reached.
    #[inline]
    pub(crate) fn columns(&self) -> CurrentRow<'_> {
        CurrentRow { library: self.statement.library, stmt: self.statement.stmt, row: PhantomData }
    }
}

impl Drop for BoundStatement<'_> {
    fn drop(&mut self) {
        self.reset();
    }
}

/// The current row of a running statement.
pub(crate) struct CurrentRow<'s> {
    library: SqliteLibrary,
    stmt: NonNull<ffi::sqlite3_stmt>,
    row: PhantomData<&'s SqliteStatement>,
}

impl CurrentRow<'_> {
    /// The column in SQLite's own form; one that does not exist reads as NULL.
    #[inline]
    fn column(&self, index: usize) -> *mut ffi::sqlite3_value {
        // SAFETY: the statement is on a row while this exists, and has at most 32,767 columns. The value is unprotected,
        // which is enough: a connection is used by one thread at a time, as its session has it for itself.
        unsafe { self.library.sqlite3_column_value(self.stmt.as_ptr(), index as c_int) }
    }

    /// # Safety
    /// `value` is a text of this row.
    #[inline]
    unsafe fn bytes_of(&self, value: *mut ffi::sqlite3_value) -> &[u8] {
        // SAFETY: the text stays in place until the next step, reset or conversion, all of which need this row's borrow to
        // end: a value is only ever asked for in the type it has, so nothing is converted.
        unsafe { slice(self.library.sqlite3_value_text(value), self.library.sqlite3_value_bytes(value)) }
    }

    /// # Safety
    /// `value` is a text of this row.
    #[inline]
    unsafe fn text_of(&self, value: *mut ffi::sqlite3_value) -> Result<&str, &[u8]> {
        // SAFETY: as the caller promises. ASCII is UTF-8.
        unsafe {
            let bytes = self.bytes_of(value);
            if bytes.is_ascii() {
                // Far cheaper to see for short texts than UTF-8, and nearly all texts are of this kind.
                Ok(std::str::from_utf8_unchecked(bytes))
            } else {
                std::str::from_utf8(bytes).map_err(|_| bytes)
            }
        }
    }
}

impl Row for CurrentRow<'_> {
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        let value = self.column(index);
        // SAFETY: it is asked for in the type it has; a blob stays in place as a text does.
        unsafe {
            match self.library.sqlite3_value_type(value) {
                ffi::SQLITE_INTEGER => Value::Int(self.library.sqlite3_value_int64(value)),
                ffi::SQLITE_FLOAT => Value::Real(self.library.sqlite3_value_double(value)),
                // SQLite keeps whatever bytes it is given; what is no text comes back as what it is.
                ffi::SQLITE_TEXT => self.text_of(value).map_or_else(Value::Blob, Value::Text),
                ffi::SQLITE_BLOB => {
                    let start = self.library.sqlite3_value_blob(value);
                    Value::Blob(slice(start.cast(), self.library.sqlite3_value_bytes(value)))
                }
                _ => Value::Null,
            }
        }
    }

    #[inline]
    fn int(&self, index: usize) -> Option<i64> {
        let value = self.column(index);
        // SAFETY: the value is this row's, and asked for in the type it has.
        unsafe {
            (self.library.sqlite3_value_type(value) == ffi::SQLITE_INTEGER)
                .then(|| self.library.sqlite3_value_int64(value))
        }
    }

    /// Compares by one call of the library, where [`Row::int`] needs three.
    #[inline]
    fn is_int(&self, index: usize, number: i64) -> bool {
        // SAFETY: as for `column`. What is not an integer SQLite reads as one, and leaves texts and blobs in place.
        unsafe { self.library.sqlite3_column_int64(self.stmt.as_ptr(), index as c_int) == number }
    }

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        let index = c_int::try_from(index).ok()?;
        // SAFETY: the statement is prepared; a name stays in place until it is prepared anew, which only a step does, and
        // this row's borrow ends before. Of a column that does not exist there is none.
        let name = unsafe { self.library.sqlite3_column_name(self.stmt.as_ptr(), index).as_ref() }?;
        // SAFETY: as above; it ends in zero.
        Some(unsafe { CStr::from_ptr(name) }.to_string_lossy())
    }

    #[inline]
    fn text_bytes(&self, index: usize) -> Option<&[u8]> {
        let value = self.column(index);
        // SAFETY: the value is this row's, and asked for in the type it has.
        unsafe { (self.library.sqlite3_value_type(value) == ffi::SQLITE_TEXT).then(|| self.bytes_of(value)) }
    }
}

/// # Safety
/// `start` is null or the address of that many bytes, which stay for 'r.
unsafe fn slice<'r>(start: *const u8, bytes: c_int) -> &'r [u8] {
    match usize::try_from(bytes) {
        // SAFETY: as the caller promises.
        Ok(length @ 1..) if !start.is_null() => unsafe { std::slice::from_raw_parts(start, length) },
        _ => &[],
    }
}
