//! Database files that are replaced as a whole: a load or a copy is built next to the database and renamed when it is complete.

use crate::side_file::{LOADING, RESTORED, SNAPSHOT};
use crate::{
    DatabaseFiles, EngineError, ErrorKind, FileCopy, FileUse, Result, SideFile, Snapshot, folder_of, sync_names,
};
use std::path::{Path, PathBuf};

/// A load in progress: the file `PATH.bourse-loading`, which is removed if this is dropped.
#[derive(Debug)]
pub struct StagedLoad {
    database: DatabaseFiles,
    side: SideFile,
}

impl StagedLoad {
    /// Path of the file that is loaded.
    pub fn path(&self) -> &Path {
        self.side.path()
    }

    /// Replaces the database by the loaded one, which is closed. Before that, `retire` opens and closes a database of Bourse's that
    /// is replaced, so that its locks show whether another process uses it. Its companions are removed, which would be taken for
    /// the new one's.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if a file that Bourse did not make has come to the path; [`Conflict`](ErrorKind::Conflict)
    /// if the database is in use; those of `retire`; the system's.
    pub fn publish(self, retire: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let Self { database, side } = self;
        side.files().refuse_logs()?;
        side.remove_companions();
        // The slow sync happens before the old database is touched.
        side.sync()?;
        FileUse::refuse(database.path())?;
        if database.exists()? {
            retire(database.path())?;
        }
        database.remove_exclusive()?;
        // Otherwise a power loss may preserve the renaming and restore the old database's log.
        database.sync_names()?;
        side.rename(database.path())?;
        database.sync_names()
    }
}

/// Result of opening a database that is replaced: a damaged one may be replaced, one in use or refused not.
///
/// # Errors
/// The [`Conflict`](ErrorKind::Conflict), and the [refusal](ErrorKind::Refused).
pub fn unless_in_use<T>(opened: Result<T>) -> Result<()> {
    match opened {
        Err(e) if matches!(e.kind(), ErrorKind::Conflict | ErrorKind::Refused) => Err(e),
        _ => Ok(()),
    }
}

impl DatabaseFiles {
    /// Syncs the names in the database's folder.
    fn sync_names(&self) -> Result<()> {
        sync_names(&folder_of(self.path()).unwrap_or_else(|| PathBuf::from(".")))
    }

    /// Description of what killed processes have left next to the database; the next load removes it.
    pub fn leftovers(&self) -> Option<String> {
        let left = self.leftover_files();
        let names: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
        (!left.is_empty()).then(|| format!("left by a process that did not end, and removed: {}", names.join(", ")))
    }

    /// Files and folders that a process which did not end has left beside the database, or one that has not ended yet uses.
    pub fn leftover_files(&self) -> Vec<PathBuf> {
        match self.format().is_folder {
            true => {
                crate::folder_parts::leftovers(self).into_iter().chain(self.being_removed().ok().flatten()).collect()
            }
            false => KINDS.iter().filter_map(|kind| SideFile::leftover(self, kind)).collect(),
        }
    }

    /// Removes what killed processes have left beside a database file.
    pub fn remove_leftovers(&self) {
        KINDS.iter().for_each(|kind| SideFile::remove_leftover(self, kind));
    }

    /// Begins a load in place of the database, or of none.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if a file that Bourse did not make is at the path or at a name that is needed;
    /// [`Conflict`](ErrorKind::Conflict) if another process loads; the system's.
    pub fn begin_load(&self) -> Result<StagedLoad> {
        self.exists()?;
        self.remove_leftovers();
        Ok(StagedLoad { database: self.clone(), side: SideFile::create(self, &LOADING)? })
    }

    /// Begins a load whose file `make` makes, for an engine that refuses an empty file; the engine may lock it.
    ///
    /// # Errors
    /// Those of [`begin_load`](Self::begin_load) and of `make`.
    pub fn begin_load_with(&self, make: impl FnOnce(&Path) -> Result<()>) -> Result<StagedLoad> {
        let load = self.begin_load()?;
        load.side.fill_with(make)?;
        load.side.lend_lock()?;
        Ok(load)
    }

    /// The path to open; if nothing is there, a database that `make` makes.
    ///
    /// # Errors
    /// Those of [`open_or_make`](Self::open_or_make) and of `make`.
    pub fn open_or_make_with(&self, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        if !self.exists()? {
            let side = SideFile::create(self, &LOADING)?;
            side.fill_with(make)?;
            side.rename(self.path())?;
        }
        Ok(self.path().to_owned())
    }

    /// Refuses to make a database that nothing could be loaded into.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if the name of a load is taken by a file that Bourse did not make; the system's.
    pub fn refuse_taken(&self) -> Result<()> {
        SideFile::refuse_taken(self, &LOADING)
    }

    /// Fails if a log holds a part of the database, which is closed.
    fn refuse_logs(&self) -> Result<()> {
        let Some(log) = self.log() else { return Ok(()) };
        let text = format!("{} holds a part of the database that was not written into it", log.display());
        Err(EngineError::new(ErrorKind::Conflict, text))
    }

    /// Copies the database, which no process has open and whose logs are written into it.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if it is in use, or a log holds a part of it; those of [`SideFile::create`].
    pub fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        FileUse::refuse(self.path())?;
        self.refuse_logs()?;
        Ok(Box::new(StagedSnapshot { copy: FileCopy::take(self, &SNAPSHOT)?, database: self.clone() }))
    }
}

/// Kinds of files that a killed load or run has left.
static KINDS: [&crate::SideFileKind; 3] = [&LOADING, &SNAPSHOT, &RESTORED];

/// Snapshot as a file next to the database.
struct StagedSnapshot {
    database: DatabaseFiles,
    copy: FileCopy,
}

impl Snapshot for StagedSnapshot {
    fn method(&self) -> &str {
        self.copy.method()
    }

    fn restore(&self) -> Result<()> {
        FileUse::refuse(self.database.path())?;
        self.database.exists()?;
        self.database.remove_exclusive()?;
        self.copy.restore(&self.database, &RESTORED)
    }
}
