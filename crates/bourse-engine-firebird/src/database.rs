//! Open databases.
//!
//! Firebird lets one process at a time open a file. Sessions of this process share the page cache; a connection of Bourse's own
//! preserves it as long as there are sessions, and answers questions about the database.

use crate::attachment::{Attachment, CancellableAttachment, Parameters};
use crate::library::FirebirdLibrary;
use crate::options::{FirebirdOptions, FirebirdSync};
use crate::statement::FirebirdStatement;
use bourse_engine::{Commits, EngineError, ErrorKind, FileUse, Interruptible, OpenFiles, Result, Slots, locked};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Statements that a session has prepared, by their slots.
#[derive(Default)]
pub(crate) struct PreparedStatements(Mutex<Slots<FirebirdStatement>>);

impl PreparedStatements {
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Slots<FirebirdStatement>> {
        locked(&self.0)
    }
}

/// Open database; closed when its last user drops it.
pub(crate) struct FirebirdDatabase {
    library: &'static FirebirdLibrary,
    path: PathBuf,
    options: FirebirdOptions,
    /// Commits of writing transactions.
    pub(crate) commits: Commits,
    /// Prepared statements of all sessions.
    prepared: Mutex<Vec<Arc<PreparedStatements>>>,
    /// Connections of all sessions.
    sessions: Mutex<Vec<CancellableAttachment>>,
    /// Bourse's own connection; closed before the file is free for others.
    keeper: Mutex<Attachment>,
    _use: FileUse,
}

/// Databases that this process has open.
static OPEN: OpenFiles<FirebirdOptions, FirebirdDatabase> = OpenFiles::new();

impl FirebirdDatabase {
    /// Opens the database in an existing file.
    ///
    /// # Errors
    /// The library's; [`ErrorKind::Conflict`] if the file is open with other settings, or in another process.
    pub(crate) fn in_file(
        library: &'static FirebirdLibrary,
        path: &Path,
        options: &FirebirdOptions,
    ) -> Result<Arc<Self>> {
        OPEN.get(path, options, || Self::alone(library, path, options, options.sync).map(Arc::new))
    }

    /// Opens a file that no other session knows, such as one that is being loaded.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn alone(
        library: &'static FirebirdLibrary,
        path: &Path,
        options: &FirebirdOptions,
        sync: FirebirdSync,
    ) -> Result<Self> {
        let used = FileUse::begin(path, "firebird")?;
        let parameters = |pages| Parameters::new(library).forced_writes(sync == FirebirdSync::Full).cache_pages(pages);
        let mut keeper = Attachment::open(library, path, &parameters(None)).map_err(|e| open_error(path, e))?;
        if let Some(bytes) = options.cache_bytes {
            // The number of pages depends on the page size, which the file has and which is known only once it is open.
            let page_size = page_size(&keeper)?;
            let pages = u32::try_from(bytes / page_size).unwrap_or(u32::MAX);
            drop(keeper);
            keeper = Attachment::open(library, path, &parameters(Some(pages))).map_err(|e| open_error(path, e))?;
        }
        Ok(Self {
            library,
            path: path.to_owned(),
            options: options.clone(),
            commits: Commits::default(),
            prepared: Mutex::default(),
            sessions: Mutex::default(),
            keeper: Mutex::new(keeper),
            _use: used,
        })
    }

    pub(crate) fn options(&self) -> &FirebirdOptions {
        &self.options
    }

    /// Connection that holds the database open.
    pub(crate) fn keeper(&self) -> MutexGuard<'_, Attachment> {
        locked(&self.keeper)
    }

    fn prepared(&self) -> MutexGuard<'_, Vec<Arc<PreparedStatements>>> {
        locked(&self.prepared)
    }

    /// Container for a new session's statements.
    pub(crate) fn new_prepared(&self) -> Arc<PreparedStatements> {
        let new = Arc::<PreparedStatements>::default();
        self.prepared().push(Arc::clone(&new));
        new
    }

    /// Drops all statements of a session, whose connection is still open.
    pub(crate) fn remove_prepared(&self, of: &Arc<PreparedStatements>) {
        self.prepared().retain(|known| !Arc::ptr_eq(known, of));
        of.lock().clear();
    }

    /// Drops the statements of all sessions, which prepare them again at next use.
    pub(crate) fn forget_prepared(&self) {
        self.prepared().iter().for_each(|known| known.lock().clear());
    }

    /// Lets [`Self::interrupt_statements`] cancel those of a session's connection, until that is [removed](Self::remove_session).
    pub(crate) fn add_session(&self, attachment: &Attachment) {
        locked(&self.sessions).push(attachment.cancellable());
    }

    /// Removes a session's connection, which is about to be closed.
    pub(crate) fn remove_session(&self, attachment: &Attachment) {
        locked(&self.sessions).retain(|known| *known != attachment.cancellable());
    }

    /// Opens a connection, which must be dropped before the database.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn connect(&self) -> Result<Attachment> {
        Attachment::open(self.library, &self.path, &Parameters::new(self.library))
    }
}

impl Interruptible for FirebirdDatabase {
    fn interrupt_statements(&self) {
        for session in locked(&self.sessions).iter() {
            // SAFETY: a connection is removed, which the lock forbids now, before it is closed.
            unsafe { session.cancel(self.library) };
        }
    }
}

/// Page size in bytes.
///
/// # Errors
/// The library's.
fn page_size(attachment: &Attachment) -> Result<u64> {
    const PAGE_SIZE: u8 = 14;
    let told = attachment.numbers(&[PAGE_SIZE])?;
    let size = told.first().and_then(|(_, size)| u64::try_from(*size).ok()).filter(|size| *size > 0);
    size.ok_or_else(|| EngineError::new(ErrorKind::Other, "Firebird does not tell the size of a page"))
}

/// Error of a file that could not be opened: a conflict if another process has it open.
fn open_error(path: &Path, error: EngineError) -> EngineError {
    if error.kind() != ErrorKind::Conflict {
        return error;
    }
    let words = format!("{} is open in another process, and Firebird lets no other one in: {error}", path.display());
    EngineError::new(ErrorKind::Conflict, words)
}
