//! Folders for Bourse's own databases: removed with all their contents, by the next process if one was killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use tempfile::TempDir;

/// The file that is locked for as long as the folder is in use. It gets this name once it is locked.
const LOCK: &str = "in-use.bourse";
/// Content of the lock file.
const MARK: &[u8] = b"A folder of Bourse. It can be removed when no process has this file locked.\n";

/// A folder that is removed with all its contents.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    folder: TempDir,
    /// Locked while this value exists: a process that can lock it knows that the owner is gone.
    lock: File,
}

impl WorkFolder {
    /// Makes a folder below another, after removing those of this prefix whose processes are gone.
    pub(crate) fn new(prefix: &str, below: &Path) -> io::Result<Self> {
        remove_leftovers(prefix, below);
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(below)?;
        let (unlocked, locked) = (folder.path().join("lock"), folder.path().join(LOCK));
        let mut lock = OpenOptions::new().write(true).create_new(true).open(&unlocked)?;
        lock.lock()?;
        lock.write_all(MARK)?;
        fs::rename(&unlocked, &locked)?;
        Ok(Self { folder, lock })
    }

    /// Path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes it.
    pub(crate) fn close(self) -> io::Result<()> {
        let Self { folder, lock } = self;
        let closed = folder.close();
        drop(lock);
        closed
    }
}

/// Removes the folders of a prefix whose processes are gone. A folder without the locked file, or with a foreign one, is
/// left; so is one that cannot be removed: the next process tries again.
fn remove_leftovers(prefix: &str, below: &Path) {
    let Ok(entries) = fs::read_dir(below) else { return };
    for entry in entries.flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_named && is_folder && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a folder is one of Bourse's that no process has in use.
fn is_abandoned(folder: &Path) -> bool {
    let path = folder.join(LOCK);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() && it.len() == MARK.len() as u64);
    is_file && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) && fs::read(&path).is_ok_and(|it| it == MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_that_is_gone_has_left_is_removed_and_nothing_else() {
        let below = tempfile::tempdir().unwrap();
        let used = WorkFolder::new("x-", below.path()).unwrap();
        let other = WorkFolder::new("y-", below.path()).unwrap();
        // A killed process leaves the folder, without the lock.
        let left = WorkFolder::new("x-", below.path()).unwrap();
        fs::write(left.path().join("x.db"), "x").unwrap();
        let left_path = left.path().to_owned();
        std::mem::forget(left.folder);
        drop(left.lock);
        // Foreign folders.
        for (name, text) in [("x-without", None), ("x-foreign", Some("mine"))] {
            fs::create_dir(below.path().join(name)).unwrap();
            if let Some(text) = text {
                fs::write(below.path().join(name).join(LOCK), text).unwrap();
            }
        }
        assert!(left_path.exists());
        let new = WorkFolder::new("x-", below.path()).unwrap();
        assert!(!left_path.exists() && used.path().exists() && other.path().exists() && new.path().exists());
        assert!(below.path().join("x-without").exists() && below.path().join("x-foreign").exists());
        let path = new.path().to_owned();
        new.close().unwrap();
        assert!(!path.exists());
    }
}
