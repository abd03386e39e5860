//! Databases that sessions of an engine share, and counts of their commits.

use crate::server_wait::AwaitedConnection;
use crate::{Result, locked};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

/// An open database whose statements another thread can end.
pub trait Interruptible: Send + Sync + 'static {
    /// Interrupts the statements that its sessions execute now.
    fn interrupt_statements(&self);
}

/// Database that an engine opens once for all its sessions. One in files is closed with its last session, so that another
/// process can open it between rounds; one in memory is held, since its contents would otherwise be lost then.
pub struct SharedDatabase<D>(Arc<Shared<D>>);

struct Shared<D> {
    open: Mutex<Open<D>>,
    /// Ends the statements of sessions when the program is interrupted.
    confined: OnceLock<AwaitedConnection>,
}

struct Open<D> {
    in_files: Weak<D>,
    in_memory: Option<Arc<D>>,
}

impl<D> Open<D> {
    fn get(&self) -> Option<Arc<D>> {
        self.in_memory.clone().or_else(|| self.in_files.upgrade())
    }
}

impl<D> Default for SharedDatabase<D> {
    fn default() -> Self {
        let open = Mutex::new(Open { in_files: Weak::new(), in_memory: None });
        Self(Arc::new(Shared { open, confined: OnceLock::new() }))
    }
}

impl<D> Clone for SharedDatabase<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D> fmt::Debug for SharedDatabase<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Opened").field(&self.get().is_some()).finish()
    }
}

impl<D> SharedDatabase<D> {
    fn lock(&self) -> MutexGuard<'_, Open<D>> {
        locked(&self.0.open)
    }

    /// Open database.
    pub fn get(&self) -> Option<Arc<D>> {
        self.lock().get()
    }

    /// Open database, opened by `open` at first use; other threads wait meanwhile.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get_or_open(&self, in_memory: bool, open: impl FnOnce() -> Result<Arc<D>>) -> Result<Arc<D>> {
        let mut opened = self.lock();
        if let Some(database) = opened.get() {
            return Ok(database);
        }
        let database = open()?;
        match in_memory {
            true => opened.in_memory = Some(Arc::clone(&database)),
            false => opened.in_files = Arc::downgrade(&database),
        }
        Ok(database)
    }

    /// Gives new sessions another database in memory.
    pub fn replace(&self, database: Arc<D>) {
        // The old one is dropped once others can open the new one.
        let old = self.lock().in_memory.replace(database);
        drop(old);
    }
}

impl<D: Interruptible> SharedDatabase<D> {
    /// Has an interruption of the program end the statements of all sessions.
    pub fn confine(&self) {
        let shared = Arc::downgrade(&self.0);
        let end = move || shared.upgrade().map(Self).iter().for_each(Self::interrupt_statements);
        self.0.confined.get_or_init(|| AwaitedConnection::of_calls(end));
    }

    /// Interrupts the statements that sessions execute now.
    pub fn interrupt_statements(&self) {
        self.get().iter().for_each(|database| database.interrupt_statements());
    }
}

/// Counts of a database's commits, by which a session recognises a duplicate key that another transaction has added since its
/// own began: some engines refuse that as one that existed before, though the transaction cannot see it.
#[derive(Debug, Default)]
pub struct Commits {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Commits {
    /// Runs a commit of changes, and counts it.
    #[inline]
    pub fn run<T>(&self, commit: impl FnOnce() -> T) -> T {
        self.begun.fetch_add(1, Ordering::AcqRel);
        let done = commit();
        self.ended.fetch_add(1, Ordering::AcqRel);
        done
    }

    /// Number of commits that have ended, all of which a transaction that begins now sees.
    #[inline]
    pub fn count(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether others may have committed since a transaction began that saw this many commits.
    #[inline]
    pub fn has_others_since(&self, seen: u64) -> bool {
        self.begun.load(Ordering::Acquire) != seen
    }
}
