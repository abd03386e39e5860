//! Reading a database without changing it: Firebird writes into each file that it opens, so a copy in a folder of its own is
//! read.

use crate::mark::side_file_kind;
use bourse_engine::{EngineError, ErrorKind, SideFile, SideFileKind};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Name of the copy in its folder, before the suffix of its kind.
const NAME: &str = "database";
/// Prefix of the names of the copies' folders.
const FOLDERS: &str = "bourse-firebird-";
static KIND: SideFileKind = side_file_kind(".bourse-copy", "a copy to be checked");
/// Upper limit of attempts to copy a database that changes meanwhile.
const TRIES: usize = 5;

/// Copy of a database, in a folder of its own.
#[derive(Debug)]
pub(crate) struct Copy {
    /// `None` once it is removed.
    file: Option<SideFile>,
    folder: PathBuf,
}

impl Copy {
    /// Copies the database at a path, if no other process changes it meanwhile.
    ///
    /// # Errors
    /// The system's; [`ErrorKind::Conflict`] if a process changes it.
    pub(crate) fn of(path: &Path) -> Result<Self, EngineError> {
        remove_leftovers();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("{FOLDERS}{}-{number}", std::process::id()));
        make_private(&folder).map_err(|e| EngineError::io("make", &folder, &e))?;
        let mut this = Self { file: None, folder };
        let file = this.file.insert(SideFile::create(&this.folder.join(NAME), &KIND)?);
        for _ in 0..TRIES {
            let before = stamp(path)?;
            file.fill_from(path)?;
            if before == stamp(path)? {
                // Firebird locks the file as the side file is locked: it takes the lock over.
                file.file().unlock().map_err(|e| EngineError::io("unlock", file.path(), &e))?;
                return Ok(this);
            }
        }
        let words = format!("{} is being changed by another program while it is read", path.display());
        Err(EngineError::new(ErrorKind::Conflict, words))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.as_ref().expect("a copy that was made has its file").path()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        drop(self.file.take());
        // One that cannot be removed goes with the next copy.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Size and time of change of a file, by which a change is noticed.
fn stamp(path: &Path) -> Result<(u64, Option<SystemTime>), EngineError> {
    let found = fs::metadata(path).map_err(|e| EngineError::io("look at", path, &e))?;
    Ok((found.len(), found.modified().ok()))
}

/// Makes a new folder that only this user may access.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the copies that killed processes have left.
fn remove_leftovers() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let database = entry.path().join(NAME);
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDERS));
        // An empty one may be just about to be filled.
        let is_left = |path: PathBuf| fs::metadata(path).is_ok_and(|found| found.len() > 0);
        if is_one && SideFile::leftover(&database, &KIND).is_some_and(is_left) {
            SideFile::remove_leftover(&database, &KIND);
            // Stays while there is anything in it.
            let _ = fs::remove_dir(entry.path());
        }
    }
}
