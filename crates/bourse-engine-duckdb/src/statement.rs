//! Statements and their results: values in, rows out.

use crate::error::{error, words};
use crate::library::{
    DuckDbApi, LibraryHandle, QUERY_RESULT, RawDate, RawDecimal, RawHugeInt, RawResult, RawTimestamp, SUCCESS,
};
use crate::row::{DuckRow, ResultColumns};
use bourse_engine::{EachRow, EngineError, ErrorKind, Result, Value};
use std::ffi::CString;

/// Prepared statement. It must be dropped before its connection.
pub(crate) struct DuckDbStatement {
    api: &'static DuckDbApi,
    raw: LibraryHandle,
    parameters: usize,
}

// SAFETY: the library lets any thread use a statement, one at a time, and a `DuckDbStatement` is used through `&mut`.
unsafe impl Send for DuckDbStatement {}

impl DuckDbStatement {
    /// Prepares a statement.
    ///
    /// # Errors
    /// The library's, which reports no kind at this point.
    ///
    /// # Safety
    /// `connection` must be an open connection of that library, and outlive the statement.
    #[cold]
    pub(crate) unsafe fn prepare(api: &'static DuckDbApi, connection: LibraryHandle, sql: &str) -> Result<Self> {
        let text = text_of(sql)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the connection is open, the text ends in zero, and there is a place for the statement, which is to be
        // destroyed even if it could not be prepared.
        unsafe {
            let is_prepared = (api.prepare)(connection, text.as_ptr(), &mut raw) == SUCCESS;
            let mut this = Self { api, raw, parameters: 0 };
            if !is_prepared {
                let told = words((api.prepare_error)(raw));
                let is_interrupted = told.starts_with("INTERRUPT");
                let kind = if is_interrupted { ErrorKind::Interrupted } else { ErrorKind::Other };
                return Err(EngineError::new(kind, told.lines().next().unwrap_or_default()));
            }
            this.parameters = (api.parameters)(raw) as usize;
            Ok(this)
        }
    }

    /// Refuses any number of values but that of its parameters, however these are written.
    pub(crate) fn takes(&self, given: usize) -> Result<()> {
        if given == self.parameters {
            return Ok(());
        }
        let words = format!("the statement has {} parameters, {given} were given", self.parameters);
        Err(EngineError::new(ErrorKind::Other, words))
    }

    /// Runs the statement with these values.
    ///
    /// # Errors
    /// The library's; [`StatementError`] says whether the statement had begun.
    pub(crate) fn run(&mut self, params: &[Value<'_>]) -> Result<ResultRows, StatementError> {
        self.takes(params.len()).map_err(StatementError::BeforeItRan)?;
        for (value, number) in params.iter().zip(1..) {
            if !self.bind(number, *value) {
                let words = format!("parameter {number} cannot be bound");
                return Err(StatementError::BeforeItRan(EngineError::new(ErrorKind::Other, words)));
            }
        }
        let mut rows = ResultRows { api: self.api, raw: RawResult::EMPTY };
        // SAFETY: the statement lives, and there is a place for the result, which is destroyed with `rows` in any case.
        match unsafe { (self.api.execute)(self.raw, &mut rows.raw) } {
            SUCCESS => Ok(rows),
            _ => Err(StatementError::WhileItRan(rows.error())),
        }
    }

    #[inline]
    fn bind(&mut self, number: u64, value: Value<'_>) -> bool {
        let (api, raw) = (self.api, self.raw);
        // SAFETY: the statement lives; the library copies texts and bytes, of which it is given the lengths.
        let done = unsafe {
            match value {
                Value::Null => (api.bind_null)(raw, number),
                Value::Int(it) => (api.bind_int64)(raw, number, it),
                Value::Bool(flag) => (api.bind_boolean)(raw, number, flag),
                Value::Decimal { units, scale } => (api.bind_decimal)(raw, number, decimal(units, scale)),
                Value::Real(it) => (api.bind_double)(raw, number, it),
                Value::Date(date) => (api.bind_date)(raw, number, RawDate { days: date.days() }),
                Value::Timestamp(moment) => {
                    (api.bind_timestamp)(raw, number, RawTimestamp { micros: moment.millis().saturating_mul(1_000) })
                }
                Value::Text(text) => (api.bind_text)(raw, number, text.as_ptr().cast(), text.len() as u64),
                Value::Blob(bytes) => (api.bind_blob)(raw, number, bytes.as_ptr().cast(), bytes.len() as u64),
            }
        };
        done == SUCCESS
    }
}

impl Drop for DuckDbStatement {
    fn drop(&mut self) {
        // SAFETY: the statement is this one's alone, and its connection is still open.
        unsafe { (self.api.destroy_prepare)(&mut self.raw) }
    }
}

/// Error of a statement, by the time at which it failed.
pub(crate) enum StatementError {
    /// The statement failed before the database ran it.
    BeforeItRan(EngineError),
    /// The database failed while running it, which ends an open transaction.
    WhileItRan(EngineError),
}

impl StatementError {
    pub(crate) fn error(self) -> EngineError {
        match self {
            Self::BeforeItRan(error) | Self::WhileItRan(error) => error,
        }
    }
}

/// Decimal of 15 or 19 digits, two widths that fit nearly all amounts, so that a statement is not planned anew for each width.
fn decimal(units: i64, scale: u8) -> RawDecimal {
    let width = if units.unsigned_abs() < 10u64.pow(15) { 15 } else { 19 };
    RawDecimal { width: width.max(scale), scale, value: RawHugeInt::of(units) }
}

/// Text of a statement as a C string.
pub(crate) fn text_of(sql: &str) -> Result<CString> {
    CString::new(sql).map_err(|_| EngineError::new(ErrorKind::Other, "a statement cannot hold a zero byte"))
}

/// Result of a statement, completely in memory.
pub(crate) struct ResultRows {
    api: &'static DuckDbApi,
    raw: RawResult,
}

impl ResultRows {
    /// Runs a text without parameters, which may contain several statements.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// `connection` must be an open connection of that library.
    pub(crate) unsafe fn of_text(api: &'static DuckDbApi, connection: LibraryHandle, sql: &str) -> Result<Self> {
        let text = text_of(sql)?;
        let mut rows = Self { api, raw: RawResult::EMPTY };
        // SAFETY: the connection is open, the text ends in zero, and there is a place for the result.
        match unsafe { (api.query)(connection, text.as_ptr(), &mut rows.raw) } {
            SUCCESS => Ok(rows),
            _ => Err(rows.error()),
        }
    }

    #[cold]
    fn error(&mut self) -> EngineError {
        // SAFETY: the result is valid; the text is copied.
        unsafe { error((self.api.result_error_type)(&mut self.raw), &words((self.api.result_error)(&mut self.raw))) }
    }

    /// Number of rows that the statement changed.
    pub(crate) fn changed(&mut self) -> u64 {
        // SAFETY: the result is valid.
        unsafe { (self.api.rows_changed)(&mut self.raw) }
    }

    /// Passes each row to `each`; a statement that is not a query has none.
    ///
    /// # Errors
    /// That of `each`; a column whose type cannot be read.
    pub(crate) fn each(&mut self, columns: &mut ResultColumns, each: &mut EachRow<'_>) -> Result<()> {
        let api = self.api;
        // SAFETY: the result is valid.
        if unsafe { (api.result_return_type)(self.raw) } != QUERY_RESULT {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { columns.read_types(api, &mut self.raw)? };
        loop {
            // SAFETY: as above; what comes is this one's to destroy.
            let chunk = ResultChunk { api, raw: unsafe { (api.fetch_chunk)(self.raw) } };
            if chunk.raw.is_null() {
                return Ok(());
            }
            // SAFETY: the chunk is of this result, and lives as long as its rows are looked at.
            let rows = unsafe { columns.read_chunk(api, chunk.raw) };
            for at in 0..rows {
                // SAFETY: as above; there are so many rows.
                each(&unsafe { DuckRow::new(columns, at, &raw mut self.raw, api) })?;
            }
        }
    }
}

impl Drop for ResultRows {
    fn drop(&mut self) {
        // SAFETY: the result is this one's alone.
        unsafe { (self.api.destroy_result)(&mut self.raw) }
    }
}

/// Part of a result.
struct ResultChunk {
    api: &'static DuckDbApi,
    raw: LibraryHandle,
}

impl Drop for ResultChunk {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the chunk is this one's alone.
            unsafe { (self.api.destroy_data_chunk)(&mut self.raw) }
        }
    }
}
