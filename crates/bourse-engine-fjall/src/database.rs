//! An open database, shared by its sessions.

use crate::error::{conflict, error};
use crate::options::{FjallOptions, Persist};
use bourse_engine::{RecordTable, Result, Wait, blocked_on, locked, memory_file_system, writer_blocked_on};
use fjall::{Keyspace, KeyspaceCreateOptions, OptimisticTxDatabase, OptimisticWriteTx, Snapshot};
use std::path::Path;
use std::sync::Mutex;

/// Database in an open folder.
pub struct FjallDatabase {
    inner: OptimisticTxDatabase,
    persist: Persist,
    /// Whether commits wait for a disk.
    syncs: bool,
    /// Lock held during a commit. fjall commits one transaction at a time: the lock separates the wait for other commits from
    /// the wait for the disk.
    commits: Mutex<()>,
}

impl FjallDatabase {
    pub(crate) fn at(folder: &Path, options: &FjallOptions) -> Result<Self> {
        let mut builder = OptimisticTxDatabase::builder(folder)
            .cache_size(options.cache_bytes)
            .max_journaling_size(options.journal_bytes);
        if let Some(workers) = options.workers {
            builder = builder.worker_threads(workers);
        }
        let inner = builder.open().map_err(|e| error(e).during(format_args!("cannot open {}", folder.display())))?;
        let syncs = options.persist != Persist::Buffer && memory_file_system(folder).is_none();
        Ok(Self { inner, persist: options.persist, syncs, commits: Mutex::new(()) })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.inner.inner().list_keyspace_names().iter().map(ToString::to_string).collect()
    }

    /// Memory for data not yet written to tables, and for cached blocks, in bytes.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.inner.write_buffer_size() + self.inner.inner().cache_size()
    }

    /// Keyspace of a table.
    ///
    /// # Errors
    /// A table that does not exist; keys that are neither integers nor texts.
    pub(crate) fn keyspace(&self, table: &RecordTable) -> Result<Keyspace> {
        table.has_text_keys()?;
        let keyspace = self.inner.keyspace(table.name(), KeyspaceCreateOptions::default).map_err(error)?;
        Ok(AsRef::<Keyspace>::as_ref(&keyspace).clone())
    }

    /// Makes a table's keyspace empty in one step, outside of any transaction; also for sessions that have it open.
    pub(crate) fn remake(&self, table: &RecordTable) -> Result<()> {
        self.keyspace(table)?.clear().map_err(error)?;
        blocked_on(Wait::of_commit(self.syncs), || self.inner.persist(self.persist.mode())).map_err(error)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.inner.read_tx()
    }

    /// Begins a transaction for writing. It waits for its snapshot until no commit is in progress.
    #[inline]
    pub(crate) fn begin(&self) -> Result<OptimisticWriteTx> {
        let begun = writer_blocked_on(self.syncs, Wait::Lock, || self.inner.write_tx());
        Ok(begun.map_err(error)?.durability(Some(self.persist.mode())))
    }

    /// Commits a transaction.
    ///
    /// # Errors
    /// [`Conflict`](bourse_engine::ErrorKind::Conflict) with another transaction; fjall's.
    pub(crate) fn commit(&self, transaction: OptimisticWriteTx) -> Result<()> {
        let one_by_one = self.syncs.then(|| blocked_on(Wait::Lock, || locked(&self.commits)));
        let done = writer_blocked_on(self.syncs, Wait::of_commit(self.syncs), || transaction.commit());
        drop(one_by_one);
        done.map_err(error)?.map_err(|_| conflict())
    }
}
