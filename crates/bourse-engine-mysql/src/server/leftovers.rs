//! Servers whose owner was killed: ended and removed by whoever starts the next one below the same folder.

use super::{FOLDER_PREFIX, OWNER_FILE, OWNER_MARK, datadir_argument};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a server that was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends and removes private servers below `directory` whose owner no longer lives, and returns their folders.
///
/// An owner holds a file in its server's folder locked, which the system undoes however it ends. Only processes whose
/// arguments name that very data directory are ended. Only folders of our own user are looked at, and only those are removed
/// whose owner's file says that they were made here: a name alone proves nothing.
pub fn sweep(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FOLDER_PREFIX))
            && path.symlink_metadata().is_ok_and(|found| found.is_dir())
    };
    entries.flatten().map(|entry| entry.path()).filter(is_ours).filter(|folder| remove_if_abandoned(folder)).collect()
}

fn remove_if_abandoned(folder: &Path) -> bool {
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
    end_servers(folder);
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

/// Ends every process that was started on this folder's data directory.
#[cfg(target_os = "linux")]
pub(super) fn end_servers(folder: &Path) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let argument = datadir_argument(folder);
    let is_its = |pid: i32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes()))
    };
    let until = Instant::now() + PATIENCE;
    loop {
        let Ok(processes) = fs::read_dir("/proc") else { return };
        let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let found: Vec<i32> = pids.filter(|pid| is_its(*pid)).collect();
        if found.is_empty() || Instant::now() > until {
            return;
        }
        for pid in found {
            // By a handle that was opened before the last look, so that the number cannot have become another's.
            let Some(handle) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
                continue;
            };
            if is_its(pid) {
                // What is gone already is what we want.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Elsewhere a process's arguments cannot be read without further libraries, so nothing is ended.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_servers(folder: &Path) {
    let _ = (datadir_argument(folder), PATIENCE, Instant::now());
}
