//! A database that is a folder of files: its owner, and its size.

#[cfg(unix)]
use crate::folder_of;
use crate::{EngineError, ErrorKind, FileOwner, TargetFile};
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Name of the file that marks a folder as a database of Bourse.
pub const FOLDER_MARK: &str = "bourse-mark";
/// Content of the mark.
const MARKED: &str = "This folder is a database that Bourse has made.\n";

/// The path of a database that is a folder. The mark is a file in it, so that it can be checked without the engine's
/// library.
#[derive(Debug)]
pub struct TargetFolder;

impl TargetFolder {
    /// Owner of a folder: none if it is absent or empty, Bourse if it has the mark. Links are followed.
    ///
    /// # Errors
    /// The system's.
    pub fn look(path: &Path) -> Result<FileOwner, EngineError> {
        let shown = path.display();
        let found = match fs::canonicalize(path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // Absent, or a link that leads nowhere.
                return match TargetFile::at(path) {
                    Ok(file) => Ok(FileOwner::Nobody(file.path().to_owned())),
                    Err(e) => FileOwner::refused(e),
                };
            }
            Err(e) => return Err(EngineError::io("look at", path, &e)),
        };
        if !found.is_dir() {
            return Ok(FileOwner::Foreign(format!(
                "{shown} is no folder: name the path of a folder, which need not exist yet"
            )));
        }
        let mark = match TargetFile::at(&found.join(FOLDER_MARK)).and_then(|mark| mark.start(MARKED.len() + 1)) {
            Ok(mark) => mark,
            Err(e) => return FileOwner::refused(e),
        };
        if mark == MARKED.as_bytes() {
            return Ok(FileOwner::Ours(found));
        }
        let mut entries = fs::read_dir(&found).map_err(|e| EngineError::io("read", path, &e))?;
        Ok(match entries.next() {
            None => FileOwner::Nobody(found),
            Some(_) => FileOwner::Foreign(format!(
                "{shown} is a folder that holds something, without Bourse's mark (a file {FOLDER_MARK}): name another \
                 path, or an empty folder"
            )),
        })
    }

    /// The folder to open; created and marked if it had no owner.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if it is foreign; the system's.
    pub fn open(path: &Path) -> Result<PathBuf, EngineError> {
        let (path, is_new) = Self::look(path)?.to_open()?;
        if is_new {
            make(&path).map_err(|e| EngineError::io("create", &path, &e))?;
        }
        fs::canonicalize(&path).map_err(|e| EngineError::io("look at", &path, &e))
    }

    /// Whether a folder of Bourse contains a database.
    ///
    /// # Errors
    /// Those of [`TargetFolder::look`]; [`Refused`](ErrorKind::Refused) if it is foreign.
    pub fn is_used(path: &Path) -> Result<bool, EngineError> {
        match Self::look(path)? {
            FileOwner::Nobody(_) => Ok(false),
            FileOwner::Ours(_) => Ok(true),
            FileOwner::Foreign(why) => Err(EngineError::new(ErrorKind::Refused, why)),
        }
    }

    /// Path with links followed; unchanged if it does not exist.
    pub fn resolved(path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }

    /// Allocated bytes of the files of a folder and its subfolders: logs, recognised by name, and all others. Files
    /// removed meanwhile count zero.
    pub fn bytes(path: &Path, is_log: &dyn Fn(&str) -> bool) -> FolderBytes {
        let mut bytes = FolderBytes::default();
        let mut folders = vec![path.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                let Ok(found) = entry.metadata() else { continue };
                if found.is_dir() {
                    folders.push(entry.path());
                } else if entry.file_name().to_str().is_some_and(is_log) {
                    bytes.log += taken(&found);
                } else {
                    bytes.data += taken(&found);
                }
            }
        }
        bytes
    }
}

/// Creates a folder, unless it exists, with the mark in it, and syncs both: an engine syncs the content of its folder,
/// not the folder's own name.
fn make(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        fs::create_dir(path)?;
    }
    let mut mark = OpenOptions::new().write(true).create_new(true).open(path.join(FOLDER_MARK))?;
    mark.write_all(MARKED.as_bytes())?;
    mark.sync_all()?;
    #[cfg(unix)]
    for folder in [Some(path.to_owned()), folder_of(path)].into_iter().flatten() {
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Sizes of the files of a database, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FolderBytes {
    /// All files but the logs.
    pub data: u64,
    /// Logs.
    pub log: u64,
}

/// Allocated bytes: logs are created long, with holes, before they are written.
#[cfg(unix)]
fn taken(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(found) * 512
}

#[cfg(not(unix))]
fn taken(found: &Metadata) -> u64 {
    found.len()
}
