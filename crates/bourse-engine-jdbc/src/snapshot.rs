//! Copies of a database in a folder, so that rounds can begin alike without loading again.

use crate::database::{DATABASE, in_use, is_open};
use crate::loader::{RESTORED, SNAPSHOT, replace};
use bourse_engine::{EngineError, Snapshot, copy_file, remove_folder, sync_folder};
use std::fs;
use std::path::{Path, PathBuf};

/// A copy beside the database.
pub(crate) struct FolderCopy {
    root: PathBuf,
}

impl FolderCopy {
    /// Copies a database that is closed.
    pub(crate) fn take(root: &Path) -> Result<Self, EngineError> {
        if is_open(&root.join(DATABASE)) {
            return Err(in_use(root));
        }
        let this = Self { root: root.to_owned() };
        copy(&root.join(DATABASE), &root.join(SNAPSHOT))?;
        Ok(this)
    }
}

/// Copies a folder with all that is in it to a place that is emptied before.
fn copy(from: &Path, to: &Path) -> Result<(), EngineError> {
    remove_folder(to)?;
    copy_into(from, to)?;
    // What a copy leaves to be written later would be written while a round is measured.
    sync_folder(to)
}

fn copy_into(from: &Path, to: &Path) -> Result<(), EngineError> {
    fs::create_dir(to).map_err(|e| EngineError::io("create", to, &e))?;
    for entry in fs::read_dir(from).map_err(|e| EngineError::io("read", from, &e))? {
        let entry = entry.map_err(|e| EngineError::io("read", from, &e))?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_into(&path, &copied)?;
        } else {
            copy_file(&path, &copied)?;
        }
    }
    Ok(())
}

impl Snapshot for FolderCopy {
    fn how(&self) -> &str {
        "copied"
    }

    fn restore(&self) -> Result<(), EngineError> {
        if is_open(&self.root.join(DATABASE)) {
            return Err(in_use(&self.root));
        }
        let restored = self.root.join(RESTORED);
        copy(&self.root.join(SNAPSHOT), &restored)?;
        replace(&self.root, &restored)
    }
}

impl Drop for FolderCopy {
    fn drop(&mut self) {
        // What stays is told as left over.
        let _ = remove_folder(&self.root.join(SNAPSHOT));
    }
}
