//! What the loader does to files without SQLite, reported to whoever observes SQLite's system calls.

#[cfg(all(unix, not(loaded)))]
use crate::syscalls::{Call, report, report_rename};
#[cfg(all(unix, not(loaded)))]
use std::path::Path;

/// A file was created.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn created(path: &Path) {
    report(path, |path| Call::Open { path, creates: true });
}

/// A file is about to be synced.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn syncs(path: &Path) {
    report(path, |path| Call::Sync { path });
}

/// A file was removed.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn removed(path: &Path) {
    report(path, |path| Call::Unlink { path });
}

/// A file was renamed over another.
#[cfg(all(unix, not(loaded)))]
pub(crate) fn renamed(from: &Path, to: &Path) {
    report_rename(from, to);
}

/// The directory that holds a file was synced.
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
