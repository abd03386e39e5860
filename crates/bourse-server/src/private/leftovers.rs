//! Servers whose owner was killed: ended and removed by the next owner below the same folder.

use crate::private::ServerKind;
use crate::private::folder::{OWNER_FILE, OWNER_MARK, parent};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Ends and removes private servers below `directory` whose owner no longer lives, and returns their folders.
///
/// Only processes that serve such a folder's data directory are ended. Only folders whose owner's file belongs to this
/// user are examined, and only those with the mark in that file are removed: a name alone proves nothing.
pub fn sweep(kind: &ServerKind, directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind.prefix))
            && path.symlink_metadata().is_ok_and(|found| found.is_dir())
    };
    let folders = entries.flatten().map(|entry| entry.path()).filter(is_ours);
    folders.filter(|folder| remove_if_abandoned(kind, folder)).collect()
}

/// Does the same in the [`parent`] of a target's private server.
pub fn sweep_below(kind: &ServerKind, directory: Option<&Path>, in_memory: bool) -> Vec<PathBuf> {
    parent(directory, in_memory).map_or_else(|_| Vec::new(), |parent| sweep(kind, &parent))
}

fn remove_if_abandoned(kind: &ServerKind, folder: &Path) -> bool {
    let path = folder.join(OWNER_FILE);
    // A link or a pipe of that name is somebody's, and opening a pipe may wait.
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        // Or its owner was killed before it had anything in it, or is just making it.
        return false;
    }
    let Ok(owner) = File::options().read(true).write(true).open(path) else { return false };
    if !is_own(&owner) || !is_marked(&owner) || owner.try_lock().is_err() {
        return false;
    }
    end_processes(kind, folder);
    fs::remove_dir_all(folder).is_ok()
}

fn is_marked(owner: &File) -> bool {
    let mut text = String::new();
    // One byte more than there may be: what is longer is not the mark.
    owner.take(OWNER_MARK.len() as u64 + 1).read_to_string(&mut text).is_ok() && text == OWNER_MARK
}

#[cfg(unix)]
fn is_own(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_own(_: &File) -> bool {
    true
}

/// Ends every process that serves this folder's data directory, and removes what they leave outside it.
#[cfg(target_os = "linux")]
pub(crate) fn end_processes(kind: &ServerKind, folder: &Path) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::time::{Duration, Instant};
    /// Time within which killed processes must be gone.
    const END_TIMEOUT: Duration = Duration::from_secs(10);
    let data = folder.join("data");
    let until = Instant::now() + END_TIMEOUT;
    loop {
        let Ok(processes) = fs::read_dir("/proc") else { return };
        let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let found: Vec<u32> = pids.filter(|pid| (kind.serves)(*pid, &data)).collect();
        if found.is_empty() {
            return (kind.after_kill)(&data);
        }
        if Instant::now() > until {
            return;
        }
        for pid in found {
            // By a handle that was opened before the last look, so that the number cannot have become another's.
            let handle = i32::try_from(pid).ok().and_then(Pid::from_raw);
            let Some(handle) = handle.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { continue };
            if (kind.serves)(pid, &data) {
                // What is gone already is what we want.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends nothing: on other systems only a process's number is known without further libraries.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_processes(kind: &ServerKind, folder: &Path) {
    let _ = (kind, folder);
}
