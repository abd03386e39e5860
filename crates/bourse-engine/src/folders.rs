//! Folders of files as a whole: removed, synced, measured.

use crate::{EngineError, Result};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Removes a folder with all that is in it, if it is there.
///
/// # Errors
/// The system's.
pub fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(EngineError::io("remove", folder, &e)),
        _ => Ok(()),
    }
}

/// Syncs all that is in a folder.
///
/// # Errors
/// The system's.
pub fn sync_folder(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(|e| EngineError::io("read", folder, &e))? {
        let path = entry.map_err(|e| EngineError::io("read", folder, &e))?.path();
        if path.is_dir() {
            sync_folder(&path)?;
        } else {
            // Opened for writing: some systems sync no file that is open for reading alone.
            let synced = File::options().append(true).open(&path).and_then(|file| file.sync_all());
            synced.map_err(|e| EngineError::io("sync", &path, &e))?;
        }
    }
    sync_names(folder)
}

/// Syncs the names in a folder.
///
/// # Errors
/// The system's.
pub fn sync_names(folder: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        // Elsewhere a folder cannot be opened as a file.
        return Ok(());
    }
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| EngineError::io("sync", folder, &e))
}

/// Sizes of the files of a database, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FolderBytes {
    /// All files but the logs.
    pub data: u64,
    /// Logs.
    pub log: u64,
}

/// Allocated bytes of the files of a folder and its subfolders: logs, recognised by name, and all others. Files removed meanwhile
/// count zero.
pub fn folder_bytes(path: &Path, is_log: &dyn Fn(&str) -> bool) -> FolderBytes {
    let mut bytes = FolderBytes::default();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_str().is_some_and(is_log) {
                bytes.log += allocated(&found);
            } else {
                bytes.data += allocated(&found);
            }
        }
    }
    bytes
}

/// Allocated bytes: logs are created long, with holes, before they are written.
#[cfg(unix)]
pub(crate) fn allocated(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(found) * 512
}

#[cfg(not(unix))]
pub(crate) fn allocated(found: &Metadata) -> u64 {
    found.len()
}
