//! The key files and System V objects that the library leaves behind, and their removal.
//!
//! For each database name FastDB makes empty files in `/tmp` whose inodes are the keys of System V semaphores and shared
//! memory. It removes the latter when it closes, the files never, and after a crash neither. So each opening has a name of its
//! own and a lock file that is locked as long as the process lives: a process that can lock it later cleans up after the dead
//! one. Only files with Bourse's prefix and the keys that follow from them are touched.

use rustix::fs::{FlockOperation, flock};
use std::ffi::{CStr, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Folder of FastDB's key files unless its `keyFileDir` is changed.
const FOLDER: &str = "/tmp";
const PREFIX: &str = "bourse-fastdb-";
/// Endings of the key files: initialization, monitor, the semaphores of writers, readers and upgrades, the end of backups,
/// critical sections.
const SUFFIXES: [&str; 8] = ["in", "dm", "ws", "rs", "us", "bce", "cs", "mcs"];
const LOCK: &str = ".lock";

/// Key files of one opened database, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Leftovers {
    name: String,
    /// Lock file, locked while this process lives.
    _lock: File,
}

impl Leftovers {
    /// Chooses an unused name for a database at `path`; cleans up after dead processes.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        sweep(Path::new(FOLDER));
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            let lock_path = in_folder(&name, LOCK);
            let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&lock_path);
            let mut lock = match opened {
                Ok(file) => file,
                // Left by a process that had this process's number, perhaps in another container.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            };
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            // Another process's cleanup may have come between making and locking.
            let is_ours =
                fs::metadata(&lock_path).is_ok_and(|found| lock.metadata().is_ok_and(|m| m.ino() == found.ino()));
            if is_ours {
                lock.write_all(path.as_os_str().as_bytes())?;
                return Ok(Self { name, _lock: lock });
            }
        }
    }

    /// Name of the database.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        clear(Path::new(FOLDER), &self.name);
    }
}

fn in_folder(name: &str, ending: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}{ending}"))
}

/// Cleans up after dead processes.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let name = file_name.to_str().and_then(|name| name.strip_suffix(LOCK));
        let Some(name) = name.filter(|name| name.starts_with(PREFIX)) else { continue };
        let Ok(mut lock) = File::open(entry.path()) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut path = Vec::new();
        if lock.read_to_end(&mut path).is_ok() {
            clear_memory_of(Path::new(OsStr::from_bytes(&path)));
        }
        clear(folder, name);
    }
}

/// Removes the shared memory of a database of a diskless build, whose key is the database's empty file.
pub(crate) fn clear_memory_of(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0) && remove_keyed(path) {
        let _ = fs::remove_file(path);
    }
}

/// Removes the key files of `name`, and the objects that they are keys of.
fn clear(folder: &Path, name: &str) {
    for suffix in SUFFIXES {
        let path = folder.join(format!("{name}.{suffix}"));
        if path.exists() {
            remove_keyed(&path);
            // Nothing more can be done about a file that will not go.
            let _ = fs::remove_file(path);
        }
    }
    let _ = fs::remove_file(folder.join(format!("{name}{LOCK}")));
}

/// Removes the semaphores and the shared memory whose key is the inode of `path`; returns whether there was memory.
fn remove_keyed(path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else { return false };
    // FastDB's own reckoning of a key.
    let key = (((found.dev() & 0x7f) << 24) ^ (found.ino() & 0x7fff_ffff)) as libc::key_t;
    // SAFETY: plain system calls on numbers; without IPC_CREAT nothing is made, and the removed objects have the key of a file
    // with Bourse's name.
    unsafe {
        let semaphores = libc::semget(key, 0, 0);
        if semaphores >= 0 {
            libc::semctl(semaphores, 0, libc::IPC_RMID);
        }
        let memory = libc::shmget(key, 0, 0);
        memory >= 0 && libc::shmctl(memory, libc::IPC_RMID, std::ptr::null_mut()) == 0
    }
}

/// Locks a database's file for this process. FastDB does not: two processes that open one file under two names corrupt it.
pub(crate) fn lock_for_process(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process has it open"))
        }
        Err(e) => Err(e.into()),
    }
}

/// Path as a C string.
pub(crate) fn c_path(path: &Path) -> io::Result<std::ffi::CString> {
    std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a zero byte in a path"))
}

/// Text of a C string.
///
/// # Safety
/// `text` must be a valid C string.
pub(crate) unsafe fn text_of<'a>(text: *const std::ffi::c_char) -> std::borrow::Cow<'a, str> {
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_cleared_up_after_and_the_living_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let living = format!("{PREFIX}1-1");
        let dead = format!("{PREFIX}1-2");
        for name in [&living, &dead] {
            for suffix in ["in", "dm"] {
                File::create(folder.path().join(format!("{name}.{suffix}"))).unwrap();
            }
        }
        let others = folder.path().join("other.in");
        File::create(&others).unwrap();
        File::create(folder.path().join(format!("{dead}{LOCK}"))).unwrap();
        let held = File::create(folder.path().join(format!("{living}{LOCK}"))).unwrap();
        flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
        let key = {
            let found = fs::metadata(folder.path().join(format!("{dead}.in"))).unwrap();
            (((found.dev() & 0x7f) << 24) ^ (found.ino() & 0x7fff_ffff)) as libc::key_t
        };
        // SAFETY: plain system calls on numbers.
        let made = unsafe { libc::semget(key, 2, libc::IPC_CREAT | 0o600) };
        assert!(made >= 0);
        sweep(folder.path());
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let expected =
            [format!("{living}.dm"), format!("{living}.in"), format!("{living}{LOCK}"), "other.in".to_owned()];
        assert_eq!(left, expected);
        // SAFETY: plain system calls on numbers.
        assert!(unsafe { libc::semget(key, 0, 0) } < 0, "the dead process's semaphores are gone");
    }
}
