//! Connections to a database, and their transactions.

use crate::api::{LibraryObject, RawAttachment, RawTransaction, value};
use crate::library::FirebirdLibrary;
use crate::statement::FirebirdStatement;
use crate::status::StatusObject;
use bourse_engine::{EachRow, EngineError, Params, Result, RowExt as _};
use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

/// Parameters of opening or making a database: the library's list (`isc_dpb_…`).
pub(crate) struct Parameters(Vec<u8>);

impl Parameters {
    /// Parameters of every database: only the engine in this process, and no names of other machines in the path.
    pub(crate) fn new(library: &FirebirdLibrary) -> Self {
        const VERSION_1: u8 = 1;
        const USER_NAME: u8 = 28;
        const CONFIG: u8 = 87;
        let config = format!("Providers={}", library.api.engine);
        let mut this = Self(vec![VERSION_1]);
        this.add(USER_NAME, b"SYSDBA").add(CONFIG, config.as_bytes());
        this
    }

    fn add(&mut self, item: u8, value: &[u8]) -> &mut Self {
        self.0.extend([item, u8::try_from(value.len()).expect("parameters are short")]);
        self.0.extend_from_slice(value);
        self
    }

    /// Sets whether writes of pages wait for the disk, which the file remembers.
    pub(crate) fn forced_writes(mut self, on: bool) -> Self {
        const FORCE_WRITE: u8 = 24;
        self.add(FORCE_WRITE, &[u8::from(on)]);
        self
    }

    /// Sets the size of the page cache, in pages.
    pub(crate) fn cache_pages(mut self, pages: Option<u32>) -> Self {
        const NUM_BUFFERS: u8 = 5;
        if let Some(pages) = pages {
            self.add(NUM_BUFFERS, &pages.to_le_bytes());
        }
        self
    }

    /// Sets the page size of a database that is made, in bytes.
    pub(crate) fn page_size(mut self, bytes: u32) -> Self {
        const PAGE_SIZE: u8 = 4;
        const SQL_DIALECT: u8 = 63;
        const CHAR_SET: u8 = 68;
        self.add(PAGE_SIZE, &bytes.to_le_bytes()).add(SQL_DIALECT, &[3]).add(CHAR_SET, b"UTF8");
        self
    }

    /// Requests a check of all pages, records and indexes, without repairs.
    pub(crate) fn verify(mut self) -> Self {
        const VERIFY: u8 = 9;
        // Pages, records and indexes, by a bit each, and the bit by which nothing is changed.
        self.add(VERIFY, &[1 | 2 | 4 | 16]);
        self
    }
}

/// Parameters of beginning a transaction: the library's list (`isc_tpb_…`).
#[derive(Debug, Clone)]
pub(crate) struct TransactionParameters(Vec<u8>);

/// Visibility of other transactions' changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Rows committed by the time each statement reads them.
    Committed,
    /// Rows committed when the transaction began.
    Snapshot,
    /// Rows committed when the transaction began; no other transaction changes the tables that it has used.
    Alone,
}

impl TransactionParameters {
    pub(crate) fn new(sees: Visibility, writes: bool, patience: Duration) -> Self {
        const VERSION_3: u8 = 3;
        const READ: u8 = 8;
        const WRITE: u8 = 9;
        const CONSISTENCY: u8 = 1;
        const CONCURRENCY: u8 = 2;
        const READ_COMMITTED: u8 = 15;
        const RECORD_VERSION: u8 = 17;
        const WAIT: u8 = 6;
        const NO_WAIT: u8 = 7;
        const LOCK_TIMEOUT: u8 = 21;
        let mut list = vec![VERSION_3, if writes { WRITE } else { READ }];
        match sees {
            Visibility::Committed => list.extend([READ_COMMITTED, RECORD_VERSION]),
            Visibility::Snapshot => list.push(CONCURRENCY),
            Visibility::Alone => list.push(CONSISTENCY),
        }
        match u32::try_from(patience.as_secs()).unwrap_or(u32::MAX) {
            0 => list.push(NO_WAIT),
            seconds => {
                list.extend([WAIT, LOCK_TIMEOUT, 4]);
                list.extend(seconds.to_le_bytes());
            }
        }
        Self(list)
    }

    /// Makes the transaction keep no undo log: a load is undone by deleting its file.
    pub(crate) fn without_undo(mut self) -> Self {
        const NO_AUTO_UNDO: u8 = 20;
        self.0.push(NO_AUTO_UNDO);
        self
    }
}

/// Connection to a database.
pub(crate) struct Attachment {
    status: StatusObject,
    raw: *mut RawAttachment,
}

// SAFETY: the library lets any thread use a connection, one at a time, and an `Attachment` is not shared between threads.
unsafe impl Send for Attachment {}

impl Attachment {
    /// Opens an existing database.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn open(library: &'static FirebirdLibrary, path: &Path, parameters: &Parameters) -> Result<Self> {
        Self::made(library, path, parameters, false)
    }

    /// Makes a new database.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn create(library: &'static FirebirdLibrary, path: &Path, parameters: &Parameters) -> Result<Self> {
        Self::made(library, path, parameters, true)
    }

    fn made(
        library: &'static FirebirdLibrary,
        path: &Path,
        Parameters(list): &Parameters,
        is_new: bool,
    ) -> Result<Self> {
        // A relative path may be resolved elsewhere, such as by an alias.
        let whole = std::path::absolute(path).map_err(|e| EngineError::io("find", path, &e))?;
        let refused = |why: &str| EngineError::unsupported(format!("{}: {why}", whole.display()));
        if cfg!(unix) && whole.as_os_str().as_encoded_bytes().contains(&b':') {
            return Err(refused(
                "Firebird takes what stands before a colon for another machine's name: name a path without one",
            ));
        }
        // It converts others by the locale of the process, which is that of C.
        let name = whole.to_str().filter(|name| name.is_ascii()).and_then(|name| CString::new(name).ok());
        let name =
            name.ok_or_else(|| refused("Firebird takes only ASCII characters in paths: name a path of those"))?;
        let status = StatusObject::new(library);
        // SAFETY: the provider lives as long as the library; name and list live until this returns.
        let raw = unsafe {
            let table = LibraryObject::table(library.api.provider);
            let open = if is_new { table.create } else { table.attach };
            status.check(|status| open(library.api.provider, status, name.as_ptr(), list.len() as u32, list.as_ptr()))
        }?;
        Ok(Self { status, raw })
    }

    pub(crate) fn library(&self) -> &'static FirebirdLibrary {
        self.status.library()
    }

    pub(crate) fn status(&self) -> &StatusObject {
        &self.status
    }

    pub(crate) fn raw(&self) -> *mut RawAttachment {
        self.raw
    }

    pub(crate) fn cancellable(&self) -> CancellableAttachment {
        CancellableAttachment(self.raw)
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// The library's.
    #[inline]
    pub(crate) fn begin(&self, TransactionParameters(list): &TransactionParameters) -> Result<FirebirdTransaction> {
        // SAFETY: the connection is open; the list lives until this returns.
        let raw = unsafe {
            let start = LibraryObject::table(self.raw).start;
            self.status.check(|status| start(self.raw, status, list.len() as u32, list.as_ptr()))
        }?;
        Ok(FirebirdTransaction { raw })
    }

    /// Commits a transaction; one that cannot be committed is undone.
    ///
    /// # Errors
    /// The library's.
    #[inline]
    pub(crate) fn commit(&self, transaction: FirebirdTransaction) -> Result<()> {
        // SAFETY: the transaction is one of this connection, and is gone once it is committed.
        let done = unsafe {
            let commit = LibraryObject::table(transaction.raw).commit;
            self.status.check(|status| commit(transaction.raw, status))
        };
        if done.is_err() {
            // The first error is the one to report.
            let _ = self.roll_back(transaction);
        }
        done
    }

    /// Undoes a transaction's changes.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn roll_back(&self, transaction: FirebirdTransaction) -> Result<()> {
        // SAFETY: as above; one that cannot be undone is left to the end of the connection, and given back here.
        unsafe {
            let table = LibraryObject::table(transaction.raw);
            let done = self.status.check(|status| (table.rollback)(transaction.raw, status));
            if done.is_err() {
                (table.counted.release)(transaction.raw);
            }
            done
        }
    }

    /// Runs a statement in a transaction of its own, parsed for this run only.
    ///
    /// # Errors
    /// The library's, with the statement.
    pub(crate) fn run(&self, sql: &str, each: &mut EachRow<'_>) -> Result<u64> {
        let transaction =
            self.begin(&TransactionParameters::new(Visibility::Committed, true, Duration::from_secs(10)))?;
        let ran = FirebirdStatement::prepare(self, &transaction, sql)
            .and_then(|mut statement| statement.run(self, &transaction, Params::NONE, None, each));
        match ran {
            Ok(changed) => self.commit(transaction).map(|()| changed),
            Err(error) => {
                // The first error is the one to report.
                let _ = self.roll_back(transaction);
                Err(error)
            }
        }
        .map_err(|e| e.with_statement(sql))
    }

    /// Integer that a query returns.
    ///
    /// # Errors
    /// Those of [`Attachment::run`].
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        let mut number = 0;
        self.run(sql, &mut |row| {
            number = row.get(0)?;
            Ok(())
        })?;
        Ok(number)
    }

    /// Numbers that the engine reports about the database (`isc_info_…`), each by its item; an item that it does not report is
    /// left out.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn numbers(&self, items: &[u8]) -> Result<Vec<(u8, i64)>> {
        let mut answer = [0u8; 512];
        // SAFETY: the connection is open; items and the place for the answer live until this returns.
        unsafe {
            let get_info = LibraryObject::table(self.raw).get_info;
            self.status.check(|status| {
                get_info(
                    self.raw,
                    status,
                    items.len() as u32,
                    items.as_ptr(),
                    answer.len() as u32,
                    answer.as_mut_ptr(),
                );
            })?;
        }
        Ok(numbers_of_answer(&answer))
    }
}

/// Connection that another thread can cancel the statement of, while it is open.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CancellableAttachment(*mut RawAttachment);

// SAFETY: the library lets any thread cancel the statement that a connection executes, at any time.
unsafe impl Send for CancellableAttachment {}

impl CancellableAttachment {
    /// Cancels the statement that the connection executes.
    ///
    /// # Safety
    /// The connection must be open.
    pub(crate) unsafe fn cancel(&self, library: &'static FirebirdLibrary) {
        // Of a connection that executes nothing there is nothing to cancel.
        // SAFETY: as the caller promises; the status is this call's own.
        let _ = StatusObject::new(library).check(|status| unsafe {
            (LibraryObject::table(self.0).cancel)(self.0, status, value::CANCEL);
        });
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // SAFETY: the connection is this one's alone; it is gone once it is closed, and given back if it cannot be.
        unsafe {
            let table = LibraryObject::table(self.raw);
            if self.status.check(|status| (table.detach)(self.raw, status)).is_err() {
                (table.counted.release)(self.raw);
            }
        }
    }
}

/// Parses the items and numbers of an answer: an item's byte, its length in two bytes, and its bytes, the lowest first.
fn numbers_of_answer(answer: &[u8]) -> Vec<(u8, i64)> {
    const END: u8 = 1;
    const CUT_SHORT: u8 = 2;
    let mut told = Vec::new();
    let mut rest = answer;
    while let [item, low, high, behind @ ..] = rest
        && ![END, CUT_SHORT].contains(item)
    {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let Some((bytes, behind)) = behind.split_at_checked(length) else { break };
        if (1..=8).contains(&length) {
            let mut number = [0; 8];
            number[..length].copy_from_slice(bytes);
            told.push((*item, i64::from_le_bytes(number)));
        }
        rest = behind;
    }
    told
}

/// Open transaction, to be committed or rolled back by its connection.
pub(crate) struct FirebirdTransaction {
    raw: *mut RawTransaction,
}

// SAFETY: the library lets any thread use a transaction, one at a time, and a `FirebirdTransaction` is not shared between threads.
unsafe impl Send for FirebirdTransaction {}

impl FirebirdTransaction {
    pub(crate) fn raw(&self) -> *mut RawTransaction {
        self.raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_by_their_items() {
        assert_eq!(
            numbers_of_answer(&[14, 4, 0, 0, 0x20, 0, 0, 52, 4, 0, 1, 0, 0, 0, 1, 9, 9]),
            [(14, 8_192), (52, 1)]
        );
        assert_eq!(numbers_of_answer(&[14, 4, 0, 0]), []);
        assert_eq!(numbers_of_answer(&[]), []);
    }

    #[test]
    fn a_transaction_is_begun_as_it_is_asked_for() {
        let wait = TransactionParameters::new(Visibility::Snapshot, true, Duration::from_secs(300));
        assert_eq!(wait.0, [3, 9, 2, 6, 21, 4, 44, 1, 0, 0]);
        let now = TransactionParameters::new(Visibility::Committed, false, Duration::ZERO).without_undo();
        assert_eq!(now.0, [3, 8, 15, 17, 7, 20]);
    }
}
