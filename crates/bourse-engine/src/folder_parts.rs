//! A folder of Bourse's with the database in one subfolder, and loads and copies in others.

use crate::copied::copy_file_until;
use crate::own_files::PARTS;
use crate::server_wait::Interruption;
use crate::{DatabaseFiles, EngineError, ErrorKind, Result, Snapshot, remove_folder, sync_folder, sync_names};
use std::fs;
use std::path::{Path, PathBuf};

/// Subfolders next to the database's: a load, a database about to be removed, copies. All are among [`PARTS`].
const LOADING: &str = "loading";
const REPLACED: &str = "replaced";
const SNAPSHOT: &str = "snapshot";
const RESTORED: &str = "restored";

/// Subfolders of such a folder. The database is replaced by renaming another subfolder to its name, so that it is
/// always the old or the new one, whole.
#[derive(Debug, Clone)]
pub struct FolderParts {
    files: DatabaseFiles,
    /// Whether this process has the database in that folder open.
    is_open: fn(&Path) -> bool,
}

impl FolderParts {
    /// Subfolders of a database's folder, which need not exist; `is_open` returns whether this process has the database in a folder
    /// open.
    pub fn of(files: DatabaseFiles, is_open: fn(&Path) -> bool) -> Self {
        Self { files, is_open }
    }

    /// The whole folder, as it is now.
    pub fn files(&self) -> DatabaseFiles {
        DatabaseFiles::at(self.root(), self.files.format())
    }

    /// Path of the whole folder.
    pub fn root(&self) -> &Path {
        self.files.path()
    }

    /// The folder of the database.
    pub fn database(&self) -> PathBuf {
        self.root().join("db")
    }

    /// Begins a load: removes what killed loads have left.
    ///
    /// # Errors
    /// The system's; [`Conflict`](ErrorKind::Conflict) if this process is loading there; [`Refused`](ErrorKind::Refused) if one
    /// of the parts, which a load replaces whole, holds what the engine did not make.
    pub fn begin_load(&self) -> Result<FolderLoad> {
        let folder = self.root().join(LOADING);
        self.refuse_use_of(&folder)?;
        self.files.refuse_others(|path| path.split_once('/').is_some_and(|(part, _)| PARTS.contains(&part)))?;
        let left = leftovers(&self.files).into_iter().filter(|left| !left.ends_with(SNAPSHOT));
        left.into_iter().try_for_each(|left| remove_folder(&left))?;
        Ok(FolderLoad { parts: self.clone(), folder })
    }

    /// Fails while this process has the database open.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict).
    pub fn refuse_use(&self) -> Result<()> {
        self.refuse_use_of(&self.database())
    }

    fn refuse_use_of(&self, folder: &Path) -> Result<()> {
        if !(self.is_open)(folder) {
            return Ok(());
        }
        let words = format!("{} is in use: a session of this process has it open", folder.display());
        Err(EngineError::new(ErrorKind::Conflict, words))
    }

    /// Replaces the database by a complete one in another subfolder.
    ///
    /// # Errors
    /// The system's; [`Conflict`](ErrorKind::Conflict) if this process has the database open.
    pub fn replace(&self, with: &Path) -> Result<()> {
        let (database, replaced) = (self.database(), self.root().join(REPLACED));
        self.refuse_use()?;
        remove_folder(&replaced)?;
        let renamed = |from: &Path, to: &Path| fs::rename(from, to).map_err(|e| EngineError::io("rename", from, &e));
        if database.exists() {
            renamed(&database, &replaced)?;
        }
        renamed(with, &database)?;
        sync_names(self.root())?;
        remove_folder(&replaced)
    }

    /// Copies the database, which no process may have open.
    ///
    /// # Errors
    /// The system's; [`Conflict`](ErrorKind::Conflict) if this process has it open.
    pub fn copy(&self) -> Result<Box<dyn Snapshot>> {
        self.refuse_use()?;
        let copied = FolderCopy { parts: self.clone() };
        copy(&self.database(), &self.root().join(SNAPSHOT))?;
        Ok(Box::new(copied))
    }
}

/// A load in progress: a subfolder that is removed if this is dropped. One that stays is reported as a leftover, and removed by
/// the next load.
#[derive(Debug)]
pub struct FolderLoad {
    parts: FolderParts,
    folder: PathBuf,
}

impl FolderLoad {
    /// Path of the folder that is loaded.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Replaces the database by the loaded one, which is closed. Before that, `retire` opens and closes the database that is
    /// replaced, so that its locks show whether another process uses it.
    ///
    /// # Errors
    /// Those of `retire` and of [`FolderParts::replace`].
    pub fn publish(self, retire: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        sync_folder(&self.folder)?;
        self.parts.refuse_use()?;
        let database = self.parts.database();
        if database.exists() {
            retire(&database)?;
        }
        self.parts.replace(&self.folder)
    }
}

impl Drop for FolderLoad {
    fn drop(&mut self) {
        let _ = remove_folder(&self.folder);
    }
}

/// Subfolders that killed processes have left in a database that consists of such parts.
pub(crate) fn leftovers(files: &DatabaseFiles) -> Vec<PathBuf> {
    if !files.format().own.iter().any(|pattern| pattern.starts_with("@/")) {
        return Vec::new();
    }
    let all = [LOADING, REPLACED, SNAPSHOT, RESTORED].map(|name| files.path().join(name));
    all.into_iter().filter(|path| path.exists()).collect()
}

/// Copy of a database in a subfolder.
struct FolderCopy {
    parts: FolderParts,
}

impl Snapshot for FolderCopy {
    fn method(&self) -> &str {
        "copied"
    }

    fn restore(&self) -> Result<()> {
        self.parts.refuse_use()?;
        let restored = self.parts.root().join(RESTORED);
        copy(&self.parts.root().join(SNAPSHOT), &restored)?;
        self.parts.replace(&restored)
    }
}

impl Drop for FolderCopy {
    fn drop(&mut self) {
        // What stays is reported as left over.
        let _ = remove_folder(&self.parts.root().join(SNAPSHOT));
    }
}

/// Copies a folder with its content to a path that is emptied before.
fn copy(from: &Path, to: &Path) -> Result<()> {
    remove_folder(to)?;
    copy_into(Interruption::from_now(), from, to).inspect_err(|_| drop(remove_folder(to)))?;
    // What a copy leaves to be written later would be written while a round is measured.
    sync_folder(to)
}

pub(crate) fn copy_into(interruption: Interruption, from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).map_err(|e| EngineError::io("create", to, &e))?;
    for entry in fs::read_dir(from).map_err(|e| EngineError::io("read", from, &e))? {
        let entry = entry.map_err(|e| EngineError::io("read", from, &e))?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_into(interruption, &path, &copied)?;
        } else {
            copy_file_until(interruption, &path, &copied)?;
        }
    }
    Ok(())
}
