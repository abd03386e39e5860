//! File operations of the loader, reported to whoever observes SQLite's.

use std::fs::{self, File};
use std::io;
use std::path::Path;

#[cfg(unix)]
use crate::syscalls::{Call, report};

/// Opens a file for reading and writing, creating it if it is missing.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let creates = path.symlink_metadata().is_err();
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    #[cfg(unix)]
    report(path, |path| Call::Open { path, creates });
    Ok(file)
}

/// Sets the size of an open file.
pub(crate) fn set_len(file: &File, path: &Path, size: u64) -> io::Result<()> {
    file.set_len(size)?;
    #[cfg(unix)]
    report(path, |path| Call::Truncate { path, size });
    let _ = path;
    Ok(())
}

/// Syncs an open file.
pub(crate) fn sync(file: &File, path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    report(path, |path| Call::Sync { path });
    let _ = path;
    file.sync_all()
}

/// Removes a file.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    #[cfg(unix)]
    report(path, |path| Call::Unlink { path });
    Ok(())
}

/// Renames a file over another.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    #[cfg(unix)]
    crate::syscalls::report_rename(from, to);
    Ok(())
}

/// Syncs the directory that holds a file. Elsewhere than on Unix a directory cannot be opened as a file.
pub(crate) fn sync_directory_of(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        File::open(directory)?.sync_all()?;
        #[cfg(unix)]
        report(path, |path| Call::SyncDirectory { path });
    }
    Ok(())
}
