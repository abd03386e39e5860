//! Prepared statements.

use crate::api::{LibraryObject, RawCursor, RawStatement, value};
use crate::attachment::{Attachment, FirebirdTransaction};
use crate::message::ParameterMessage;
use crate::row::StatementOutput;
use crate::status::StatusObject;
use bourse_engine::{EachRow, EngineError, ErrorKind, Params, Result, split_parameters};
use std::ffi::{CStr, CString};

/// Kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementClass {
    /// Query whose rows are read by a cursor.
    Query,
    /// Change of rows, which may return one.
    Change,
    /// Change of the schema.
    Schema,
}

/// Prepared statement. It must be dropped before its connection.
pub(crate) struct FirebirdStatement {
    raw: Raw,
    kind: StatementClass,
    input: ParameterMessage,
    output: StatementOutput,
}

// SAFETY: the library lets any thread use a statement, one at a time, and a `FirebirdStatement` is used through `&mut`.
unsafe impl Send for FirebirdStatement {}

/// The library's statement.
struct Raw(*mut RawStatement);

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the statement is this one's alone, and its connection is still open.
        unsafe {
            (LibraryObject::table(self.0).counted.release)(self.0);
        }
    }
}

impl FirebirdStatement {
    /// Prepares a statement whose parameters are `?1`, `?2`, …; Firebird knows only a plain `?`.
    ///
    /// # Errors
    /// The library's; [`ErrorKind::Unsupported`] for a statement that would begin or end a transaction.
    pub(crate) fn prepare(attachment: &Attachment, transaction: &FirebirdTransaction, sql: &str) -> Result<Self> {
        let (pieces, order) = split_parameters(sql);
        let text = CString::new(pieces.join("?"));
        let text = text.map_err(|_| EngineError::new(ErrorKind::Other, "a statement cannot hold a zero byte"))?;
        let status = attachment.status();
        /// `PREPARE_PREFETCH_METADATA`.
        const WITH_METADATA: u32 = 1 | 2 | 4 | 64;
        // SAFETY: connection and transaction are open, the text ends in zero; statement and descriptions are given back by those
        // that take them.
        unsafe {
            let prepare = LibraryObject::table(attachment.raw()).prepare;
            let raw = status.check(|status| {
                prepare(attachment.raw(), status, transaction.raw(), 0, text.as_ptr(), value::DIALECT, WITH_METADATA)
            })?;
            let (table, owned) = (LibraryObject::table(raw), Raw(raw));
            let flags = status.check(|status| (table.get_flags)(raw, status))?;
            let kind = match status.check(|status| (table.get_type)(raw, status))? {
                // Beginning, ending and marking a transaction.
                9..=11 | 14 => {
                    let words = "transactions are begun and ended by the session, not by statements";
                    return Err(EngineError::unsupported(words));
                }
                5 => StatementClass::Schema,
                _ if flags & value::HAS_CURSOR != 0 => StatementClass::Query,
                _ => StatementClass::Change,
            };
            let described = status.check(|status| (table.get_input)(raw, status))?;
            let input = ParameterMessage::new(attachment, described, order, kind == StatementClass::Query)?;
            let output = StatementOutput::new(attachment, status.check(|status| (table.get_output)(raw, status))?)?;
            Ok(Self { raw: owned, kind, input, output })
        }
    }

    pub(crate) fn kind(&self) -> StatementClass {
        self.kind
    }

    /// Runs the statement and passes each row to `each`, at most `limit` of them; returns the number of rows changed.
    ///
    /// # Errors
    /// The library's; that of `each`.
    #[inline]
    pub(crate) fn run(
        &mut self,
        attachment: &Attachment,
        transaction: &FirebirdTransaction,
        params: Params<'_>,
        limit: Option<u64>,
        each: &mut EachRow<'_>,
    ) -> Result<u64> {
        let status = attachment.status();
        self.input.fill(attachment, transaction, params)?;
        let (raw, metadata, block) = (self.raw.0, self.input.metadata(), self.input.block());
        // SAFETY: the statement lives, and so does the transaction.
        let table = unsafe { LibraryObject::table(raw) };
        if self.kind == StatementClass::Query {
            let output = self.output.metadata();
            // SAFETY: as above; the block is laid out as its description says, and the cursor is given back when it is dropped.
            let cursor = unsafe {
                status.check(|status| (table.open_cursor)(raw, status, transaction.raw(), metadata, block, output, 0))
            }?;
            let cursor = OpenCursor { status, raw: cursor };
            let mut rows = 0;
            while limit.is_none_or(|limit| rows < limit) && cursor.next(&mut self.output)? {
                each(&self.output.row(attachment, transaction)?)?;
                rows += 1;
            }
            cursor.close()?;
            return Ok(0);
        }
        let has_row = !self.output.is_empty();
        let (output, place) = if has_row {
            (self.output.metadata(), self.output.block())
        } else {
            (std::ptr::null_mut(), std::ptr::null_mut())
        };
        // SAFETY: as above; a row has its place.
        unsafe {
            status.check(|status| (table.execute)(raw, status, transaction.raw(), metadata, block, output, place))?;
        }
        if has_row {
            each(&self.output.row(attachment, transaction)?)?;
        }
        match self.kind {
            StatementClass::Schema | StatementClass::Query => Ok(0),
            // SAFETY: the statement lives.
            StatementClass::Change => unsafe { status.check(|status| (table.get_affected)(raw, status)) },
        }
    }

    /// Query plan, one line per step.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn plan(&self, attachment: &Attachment) -> Result<Vec<String>> {
        let raw = self.raw.0;
        // SAFETY: the statement lives, and the text that it gives lives as long; it ends in zero.
        let text = unsafe {
            let plan = attachment.status().check(|status| (LibraryObject::table(raw).get_plan)(raw, status, 1))?;
            if plan.is_null() {
                return Err(EngineError::unsupported("Firebird has no plan of this statement"));
            }
            CStr::from_ptr(plan).to_string_lossy()
        };
        Ok(text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.trim_end().to_owned()).collect())
    }
}

/// Open cursor.
struct OpenCursor<'s> {
    status: &'s StatusObject,
    raw: *mut RawCursor,
}

impl OpenCursor<'_> {
    /// Reads the next row into its block; returns whether there was one.
    #[inline]
    fn next(&self, output: &mut StatementOutput) -> Result<bool> {
        let place = output.block();
        // SAFETY: the cursor is open, and the place is as long as its description says, by which the cursor was opened.
        let told = unsafe {
            let fetch_next = LibraryObject::table(self.raw).fetch_next;
            self.status.check(|status| fetch_next(self.raw, status, place))
        };
        told.map(|told| told == value::FOUND)
    }

    fn close(self) -> Result<()> {
        // SAFETY: the cursor is this one's alone, and is gone once it is closed.
        let closed = unsafe {
            let close = LibraryObject::table(self.raw).close;
            self.status.check(|status| close(self.raw, status))
        };
        if closed.is_ok() {
            std::mem::forget(self);
        }
        closed
    }
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        // SAFETY: the cursor is this one's alone, and was not closed.
        unsafe {
            (LibraryObject::table(self.raw).counted.release)(self.raw);
        }
    }
}
