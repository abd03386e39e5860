//! A database in a folder of its own, opened once for all the sessions of an engine.

use crate::{EngineError, FolderBytes, Footprint, Location, TargetFolder, memory_file_system};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A [`TargetFolder`] with the database that an engine has open in it: none until the first use.
#[derive(Debug)]
pub struct FolderDatabase<D> {
    path: PathBuf,
    opened: Mutex<Option<Arc<D>>>,
}

impl<D> FolderDatabase<D> {
    /// A database at a path. Touches nothing on disk.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), opened: Mutex::new(None) }
    }

    /// The folder, as the target names it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open database, if it is open.
    pub fn opened(&self) -> Option<Arc<D>> {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Option<Arc<D>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open database; opens it with `open` at first use.
    ///
    /// # Errors
    /// Those of `open`, which creates the folder where it needs one ([`TargetFolder::open`]).
    pub fn get(&self, open: impl FnOnce(&Path) -> Result<D, EngineError>) -> Result<Arc<D>, EngineError> {
        let mut opened = self.locked();
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        let database = Arc::new(open(&self.path)?);
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }

    /// Reason why the folder must not be used; `None` if it may be. An open database was checked before.
    ///
    /// # Errors
    /// The system's.
    pub fn foreign(&self) -> Result<Option<String>, EngineError> {
        if self.opened().is_some() { Ok(None) } else { Ok(TargetFolder::look(&self.path)?.foreign()) }
    }

    /// Whether the database is open, or exists.
    ///
    /// # Errors
    /// As [`TargetFolder::is_used`].
    pub fn is_there(&self) -> Result<bool, EngineError> {
        Ok(self.opened().is_some() || TargetFolder::is_used(&self.path)?)
    }

    /// Location of the database; `own` are patterns of the files that the engine makes there.
    pub fn location(&self, own: &'static [&'static str]) -> Location {
        Location::in_folder(TargetFolder::resolved(&self.path), own)
    }

    /// Sizes of the database: its files, of which `is_log` recognises the logs by name, and the memory of the open
    /// database.
    pub fn footprint(&self, is_log: &dyn Fn(&str) -> bool, memory_bytes: impl FnOnce(&D) -> u64) -> Footprint {
        let FolderBytes { data: data_bytes, log: log_bytes } = TargetFolder::bytes(&self.path, is_log);
        let memory_bytes = self.opened().map_or(0, |database| memory_bytes(&database));
        Footprint { data_bytes, log_bytes, memory_bytes, ..Footprint::default() }
    }

    /// The file system in memory that the folder is on, if it is on one.
    pub fn memory_file_system(&self) -> Option<&'static str> {
        memory_file_system(&self.path)
    }
}
