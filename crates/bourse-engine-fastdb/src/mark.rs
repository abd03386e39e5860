//! The mark of a database that Bourse made: a small file next to it that identifies it by device and inode.
//!
//! FastDB's file is an image of its memory without room for other data, and only the library, which may be unavailable, can
//! read it, changing it as it opens it. A mark next to the file is weaker than one inside, so it is valid for one inode only:
//! another file put in the database's place is not taken for Bourse's.

use bourse_engine::{EngineError, FileOwner, TargetFile, beside};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Suffix of the mark's file.
const SUFFIX: &str = ".bourse-mark";
/// First line of the mark, and the number of bytes read of it at most.
const FIRST_LINE: &str = "This file marks the FastDB database beside it as made by Bourse.\n";
const LONGEST: usize = 256;

/// Finds out the owner of the file at a path.
///
/// # Errors
/// The system's.
pub(crate) fn look(path: &Path) -> Result<FileOwner, EngineError> {
    let file = match TargetFile::at(path) {
        Ok(file) => file,
        Err(e) => return FileOwner::refused(e),
    };
    let beside = beside(file.path(), SUFFIX);
    let mark = match TargetFile::at(&beside).and_then(|mark| mark.start(LONGEST)) {
        Ok(mark) => mark,
        Err(e) => return FileOwner::refused(e),
    };
    if !mark.is_empty() && !mark.starts_with(FIRST_LINE.as_bytes()) {
        return Ok(FileOwner::Foreign(format!(
            "{} is needed for a mark and is there already, without one: move it away, or name another path",
            beside.display()
        )));
    }
    if file.start(1)?.is_empty() {
        return Ok(FileOwner::Nobody(file.path().to_owned()));
    }
    if mark == text(file.path())?.as_bytes() {
        return Ok(FileOwner::Ours(file.path().to_owned()));
    }
    Ok(FileOwner::Foreign(format!(
        "{} has no mark of Bourse's beside it ({} that names it); if it was made by a version that left no mark yet, or \
         was moved, delete it",
        path.display(),
        beside.display()
    )))
}

/// Marks a database that was just made.
///
/// # Errors
/// The system's.
pub(crate) fn mark(path: &Path) -> Result<(), EngineError> {
    unmark(path);
    let beside = beside(path, SUFFIX);
    let text = text(path)?;
    let made = OpenOptions::new().write(true).create_new(true).open(&beside);
    made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|e| EngineError::io("create", &beside, &e))
}

/// Removes the mark of a deleted database; a file that is not a mark stays.
pub(crate) fn unmark(path: &Path) {
    let beside = beside(path, SUFFIX);
    let start = TargetFile::at(&beside).and_then(|mark| mark.start(LONGEST)).unwrap_or_default();
    let is_empty = fs::symlink_metadata(&beside).is_ok_and(|found| found.is_file() && found.len() == 0);
    if is_empty || start.starts_with(FIRST_LINE.as_bytes()) {
        // One that stays is found by the next database of this name, which replaces it.
        let _ = fs::remove_file(beside);
    }
}

/// Text of the mark for the file that exists now.
fn text(path: &Path) -> Result<String, EngineError> {
    let found = fs::metadata(path).map_err(|e| EngineError::io("look at", path, &e))?;
    Ok(format!("{FIRST_LINE}device {} inode {}\n", found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_one_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.fdb");
        let beside = folder.path().join("x.fdb.bourse-mark");
        let foreign = |words: &str| match look(&path).unwrap() {
            FileOwner::Foreign(why) => assert!(why.contains(words), "{why}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(look(&path).unwrap(), FileOwner::Nobody(path.clone()));
        fs::write(&path, "").unwrap();
        assert_eq!(look(&path).unwrap(), FileOwner::Nobody(path.clone()));
        mark(&path).unwrap();
        fs::write(&path, "content").unwrap();
        assert_eq!(look(&path).unwrap(), FileOwner::Ours(path.clone()));
        // Made while the other is still there, so that it cannot have its inode.
        fs::write(folder.path().join("other"), "somebody's").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        foreign("has no mark of Bourse's beside it");
        unmark(&path);
        assert!(!beside.exists());
        foreign("has no mark of Bourse's beside it");
        fs::write(&beside, "somebody's notes").unwrap();
        foreign("is there already, without one");
        unmark(&path);
        assert_eq!(fs::read_to_string(&beside).unwrap(), "somebody's notes");
        assert!(mark(&path).is_err());
    }
}
