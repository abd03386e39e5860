//! Folders of files as a whole: removed, and synced.

use crate::EngineError;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Removes a folder with all that is in it, if it is there.
///
/// # Errors
/// The system's.
pub fn remove_folder(folder: &Path) -> Result<(), EngineError> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(EngineError::io("remove", folder, &e)),
        _ => Ok(()),
    }
}

/// Syncs all that is in a folder.
///
/// # Errors
/// The system's.
pub fn sync_folder(folder: &Path) -> Result<(), EngineError> {
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
pub fn sync_names(folder: &Path) -> Result<(), EngineError> {
    if cfg!(not(unix)) {
        // Elsewhere a folder cannot be opened as a file.
        return Ok(());
    }
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| EngineError::io("sync", folder, &e))
}
