//! File operations of the loader that bypass SQLite, reported to the observer of SQLite's system calls.

#[cfg(all(unix, not(loaded)))]
use crate::syscalls::{Call, report, report_rename};
#[cfg(all(unix, not(loaded)))]
use std::path::Path;

/// Reports that a file was created.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn created(path: &Path) {
    report(path, |path| Call::Open { path, creates: true });
}

/// Reports that a file is about to be synced.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn syncs(path: &Path) {
    report(path, |path| Call::Sync { path });
}

/// Reports that a file was removed.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn removed(path: &Path) {
    report(path, |path| Call::Unlink { path });
}

/// Reports that a file was renamed over another.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn renamed(from: &Path, to: &Path) {
    report_rename(from, to);
}

/// Reports that the directory of a file was synced.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn synced_directory_of(path: &Path) {
    report(path, |path| Call::SyncDirectory { path });
}

#[cfg(not(all(unix, not(loaded))))]
mod unobserved {
    use std::path::Path;

    pub(crate) fn created(_: &Path) {}
    pub(crate) fn syncs(_: &Path) {}
    pub(crate) fn removed(_: &Path) {}
    pub(crate) fn renamed(_: &Path, _: &Path) {}
    pub(crate) fn synced_directory_of(_: &Path) {}
}

#[cfg(not(all(unix, not(loaded))))]
pub(crate) use unobserved::{created, removed, renamed, synced_directory_of, syncs};
