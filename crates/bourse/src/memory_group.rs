//! Groups of processes whose memory is limited (control groups), one for each round with `--memory`.
//!
//! A group of version 1 is made below that of this process. One of version 2 is made next to it, since a group with processes has
//! no groups below it whose memory could be limited. Its name is its mark: the next command removes groups whose maker is gone.

use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use bourse_engine::target::show_bytes;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Beginning of the groups' names. Process and number of the group follow.
const NAME: &str = "bourse-memory-";

/// File of a group of version 1 that drops the pages which it holds.
const FORCE_EMPTY: &str = "memory.force_empty";

/// Sets a value of the kernel's, in a file that exists.
fn set(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// A group, which is removed with this value.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    folder: PathBuf,
    limit: u64,
}

impl MemoryGroup {
    /// Makes a group with a limit in bytes, and no swap.
    pub(crate) fn new(limit: u64) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let below = folder_of_groups(Path::new("/sys/fs/cgroup"), &groups).map_err(|why| refused(&why))?;
        remove_leftovers(&below);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = below.join(format!("{NAME}{}-{number}", std::process::id()));
        let failed = |error: io::Error| refused(&format!("no group can be made in {}: {error}", below.display()));
        fs::create_dir(&folder).map_err(failed)?;
        let this = Self { folder, limit };
        this.set_limit().map_err(failed)?;
        Ok(this)
    }

    fn set_limit(&self) -> io::Result<()> {
        let limit = self.limit.to_string();
        let [memory, swap, swap_limit] = match self.folder.join("memory.max").exists() {
            true => ["memory.max", "memory.swap.max", "0"],
            // With swap, the limit is that of both together.
            false => ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes", &limit],
        };
        set(&self.folder.join(memory), &limit)?;
        // A system without swap has no limit of it.
        match set(&self.folder.join(swap), swap_limit) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds a process. The processes that it starts are in the group too.
    pub(crate) fn add(&self, process: u32) -> Result<()> {
        set(&self.folder.join("cgroup.procs"), &process.to_string())
            .map_err(|error| refused(&format!("no process can be added to {}: {error}", self.folder.display())))
    }

    /// The failure of a round of which the kernel ended a process, since the group had no more memory.
    pub(crate) fn exceeded(&self, round: &str) -> Option<Failure> {
        let count = |name: &str| {
            let text = fs::read_to_string(self.folder.join(name)).ok()?;
            text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok())
        };
        let ended = count("memory.events").or_else(|| count("memory.oom_control")).filter(|count| *count > 0)?;
        let why = format!("{round} needed more memory than --memory {}", show_bytes(self.limit));
        let cause = format!("the kernel ended {ended} of its processes, whose memory had reached the limit");
        Some(
            Failure::new(Exit::Target, why)
                .detail("cause", cause)
                .hint("give more, or make the engine's caches smaller"),
        )
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Pages of files that are left would be counted in no later group. Version 2 has no such file.
        let _ = set(&self.folder.join(FORCE_EMPTY), "0");
        // A process that has just ended may still be in it.
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn refused(why: &str) -> Failure {
    Failure::usage("--memory cannot be used here").detail("cause", why).hint(
        "`systemd-run --user --scope bourse …` starts a command where it may make groups; elsewhere root may, or \
         `systemd-run --scope -p MemoryMax=512M bourse …` limits the whole command, without --memory",
    )
}

/// Removes the groups of processes that are gone. One that has processes cannot be removed.
fn remove_leftovers(below: &Path) {
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next()?.parse().ok());
        if maker.is_some_and(|maker| !interrupt::is_alive(maker)) {
            let _ = set(&entry.path().join(FORCE_EMPTY), "0");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The folder that groups are made in, by the mount point of control groups and the kernel's list of this process's; or the
/// reason why there is none.
fn folder_of_groups(mount: &Path, groups: &str) -> Result<PathBuf, String> {
    // The folder of the group whose controllers are such. A container may see its own group as the mount point.
    let own = |mount: &Path, is_such: &dyn Fn(&str) -> bool| {
        let folder = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            is_such(controllers).then(|| mount.join(path.trim_start_matches('/')))
        })?;
        Some(if folder.is_dir() { folder } else { mount.to_owned() }).filter(|folder| folder.is_dir())
    };
    if let Some(folder) = own(&mount.join("memory"), &|all| all.split(',').any(|it| it == "memory")) {
        return Ok(folder);
    }
    let own = own(mount, &str::is_empty).ok_or("the system has no control groups with a limit of memory")?;
    let beside = own.parent().filter(|parent| parent.starts_with(mount)).unwrap_or(&own);
    let enabled = beside.join("cgroup.subtree_control");
    match fs::read_to_string(&enabled).is_ok_and(|enabled| enabled.split_whitespace().any(|it| it == "memory")) {
        true => Ok(beside.to_owned()),
        false => Err(format!("{} does not have the memory controller", enabled.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_made_where_the_system_allows_it() {
        let mount = tempfile::tempdir().unwrap();
        let mount = mount.path();
        let found = |groups: &str| folder_of_groups(mount, groups);
        for folder in ["memory/a/b", "user/app/run-1.scope", "off/x"] {
            fs::create_dir_all(mount.join(folder)).unwrap();
        }
        for (folder, enabled) in [("", "memory"), ("user/app", "cpu memory pids"), ("off", "cpu")] {
            fs::write(mount.join(folder).join("cgroup.subtree_control"), enabled).unwrap();
        }
        assert_eq!(found("4:cpuset,memory:/a/b\n1:cpu:/\n0::/\n"), Ok(mount.join("memory/a/b")));
        assert_eq!(found("4:memory:/docker/x\n"), Ok(mount.join("memory")), "a container's own group");
        assert_eq!(found("0::/user/app/run-1.scope\n"), Ok(mount.join("user/app")), "next to it");
        assert_eq!(found("0::/\n"), Ok(mount.to_owned()));
        let refused = found("0::/off/x\n").unwrap_err();
        assert!(refused.ends_with("off/cgroup.subtree_control does not have the memory controller"), "{refused}");
        assert_eq!(found("").unwrap_err(), "the system has no control groups with a limit of memory");
    }

    #[test]
    fn groups_of_processes_that_are_gone_are_removed_and_no_others() {
        let below = tempfile::tempdir().unwrap();
        // No process has a number so high.
        let gone = below.path().join("bourse-memory-2000000001-0");
        let names = [format!("{NAME}{}-9", std::process::id()), "bourse-memory-x".to_owned(), "other".to_owned()];
        std::iter::once(gone.clone()).chain(names.iter().map(|name| below.path().join(name))).for_each(|folder| {
            fs::create_dir(folder).unwrap();
        });
        remove_leftovers(below.path());
        assert!(!gone.exists() && names.iter().all(|name| below.path().join(name).exists()));
    }
}
