//! Copies of databases to be read, in folders of their own below the system's for temporary files.

use crate::side_file::COPY;
use crate::{DatabaseFiles, EngineError, ErrorKind, Result, SideFile, path_with_suffix};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The copy's name in its folder, before the suffix of its kind.
const NAME: &str = "database";
/// Prefix of the names of the copies' folders.
const FOLDERS: &str = "bourse-check-";
/// Number of attempts to copy a database that is changed meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// A copy of a database file with its companions, removed when this is dropped.
#[derive(Debug)]
pub struct ReadCopy {
    /// The copied file; `None` once it is removed.
    file: Option<SideFile>,
    folder: PathBuf,
}

impl ReadCopy {
    /// Copies a database that this process does not have open, with the companions of those suffixes; an engine may lock the
    /// copy.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if another process changes the database meanwhile; the system's.
    pub fn of(database: &DatabaseFiles, companions: &[&str]) -> Result<Self> {
        remove_leftovers(database);
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("{FOLDERS}{}-{number}", std::process::id()));
        make_private(&folder).map_err(|e| EngineError::io("make", &folder, &e))?;
        let files = DatabaseFiles::at(folder.join(NAME), database.format());
        let mut this = Self { file: None, folder };
        let file = this.file.insert(SideFile::create(&files, &COPY)?);
        let stamps = || database.all().map(|path| stamp(&path)).collect::<Result<Vec<_>, _>>();
        for _ in 0..MAX_ATTEMPTS {
            let before = stamps()?;
            file.fill_from(database.path())?;
            for suffix in companions {
                file.copy_companion(suffix, &path_with_suffix(database.path(), suffix))?;
            }
            if before == stamps()? {
                file.lend_lock()?;
                return Ok(this);
            }
        }
        Err(is_changed(database.path()))
    }

    /// Path of the copied file.
    pub fn path(&self) -> &Path {
        self.file.as_ref().expect("a copy that was made has its file").path()
    }
}

impl Drop for ReadCopy {
    fn drop(&mut self) {
        drop(self.file.take());
        // One that cannot be removed goes with the next copy.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Error for a database that changes while it is read.
pub fn is_changed(path: &Path) -> EngineError {
    let text = format!("{} is being changed by another program while it is read", path.display());
    EngineError::new(ErrorKind::Conflict, text)
}

/// Length and modification time of a file, by which a change is detected.
///
/// # Errors
/// The system's.
pub fn stamp(path: &Path) -> Result<(u64, Option<SystemTime>)> {
    match fs::metadata(path) {
        Ok(found) => Ok((found.len(), found.modified().ok())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok((0, None)),
        Err(e) => Err(EngineError::io("look at", path, &e)),
    }
}

/// Creates a folder that only this user can access, and fails if it exists.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the copies of databases of that format that killed processes have left.
fn remove_leftovers(like: &DatabaseFiles) {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let files = DatabaseFiles::at(entry.path().join(NAME), like.format());
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDERS));
        // An empty one may be just about to be filled.
        let is_left = |path: PathBuf| fs::metadata(path).is_ok_and(|found| found.len() > 0);
        if is_one && SideFile::leftover(&files, &COPY).is_some_and(is_left) {
            SideFile::remove_leftover(&files, &COPY);
            // Stays while there is anything in it.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileFormat;

    static FORMAT: FileFormat = FileFormat { name: "test", ..FileFormat::FILE };

    #[test]
    fn copies_of_killed_processes_are_removed_and_no_other_folders() {
        let folder = |name: &str| std::env::temp_dir().join(format!("{FOLDERS}test-{name}-{}", std::process::id()));
        let (left, theirs) = (folder("left"), folder("theirs"));
        for folder in [&left, &theirs] {
            make_private(folder).unwrap();
            assert!(make_private(folder).is_err(), "it is taken");
            fs::write(path_with_suffix(&folder.join(NAME), COPY.suffix), "content").unwrap();
        }
        DatabaseFiles::at(path_with_suffix(&left.join(NAME), COPY.suffix), &FORMAT).mark().unwrap();
        remove_leftovers(&DatabaseFiles::at("x", &FORMAT));
        assert!(!left.exists() && theirs.exists());
        fs::remove_dir_all(theirs).unwrap();
    }
}
