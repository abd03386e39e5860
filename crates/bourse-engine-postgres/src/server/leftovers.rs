//! Servers whose owner was killed: ended and removed by whoever starts the next one below the same folder.

use super::{FOLDER_PREFIX, OWNER_FILE, OWNER_MARK};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a server that was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends and removes private servers below `directory` whose owner no longer lives, and returns their folders.
///
/// An owner holds a file in its server's folder locked, which the system undoes however it ends. Only servers that work in
/// that very data directory are ended. Only folders whose owner's file is our own user's are looked at, and only those are
/// removed whose file says that they were made here: a name alone proves nothing.
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

/// A server is many processes, and each works in its data directory: those of this folder's.
#[cfg(target_os = "linux")]
fn processes(data: &Path) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| is_its(*pid, data)).collect()
}

#[cfg(target_os = "linux")]
fn is_its(pid: u32, data: &Path) -> bool {
    // A person may have gone to the folder to look at it.
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "postgres")
        && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|works_in| works_in == data)
}

/// Ends every process that works in this folder's data directory.
#[cfg(target_os = "linux")]
pub(super) fn end_servers(folder: &Path) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    // The system tells a process's folder without links on the way.
    let Ok(data) = folder.join("data").canonicalize() else { return };
    let until = Instant::now() + PATIENCE;
    loop {
        let found = processes(&data);
        if found.is_empty() {
            return remove_segment(&data);
        }
        if Instant::now() > until {
            return;
        }
        for pid in found {
            // By a handle that was opened before the last look, so that the number cannot have become another's.
            let handle = i32::try_from(pid).ok().and_then(Pid::from_raw);
            let Some(handle) = handle.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { continue };
            if is_its(pid, &data) {
                // What is gone already is what we want.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A server that was killed leaves a segment of shared memory of a few bytes, by which the next one on its data would know that
/// it still runs. The seventh line of its file is the segment's key and number.
#[cfg(target_os = "linux")]
fn remove_segment(data: &Path) {
    let file = data.join("postmaster.pid");
    let told = fs::read_to_string(&file).unwrap_or_default();
    let number = told.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)?.parse::<u32>().ok());
    let Some(number) = number else { return };
    // Best effort: without it nothing but those bytes is left.
    let removed = std::process::Command::new("ipcrm")
        .args(["-m", &number.to_string()])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    if removed.is_ok_and(|status| status.success()) {
        let _ = fs::remove_file(file);
    }
}

/// Elsewhere processes whose parent was killed end by themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_servers(folder: &Path) {
    let _ = (folder, PATIENCE, Instant::now());
}
