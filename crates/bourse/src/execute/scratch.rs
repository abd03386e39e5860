//! The folder for a run's databases: created for it, removed with it.

use crate::failure::{Failure, Result};
use crate::interrupt;
use std::path::{Path, PathBuf};

/// A folder that lasts as long as the run.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
}

/// File in such a folder that identifies its owner, and its content.
const MARK: &str = ".bourse-suite";
const MARKED: &str = "This folder belongs to a run of `bourse suite`, and is removed with it.\n";

impl Scratch {
    /// Makes the folder, whose name ends with this process's number. A killed run may have left one with the same name: that
    /// is removed if it bears Bourse's mark.
    pub(super) fn new(path: &Path) -> Result<Self> {
        let refused = |error: std::io::Error| {
            Failure::usage("cannot make the folder for databases")
                .detail("folder", path.display().to_string())
                .detail("cause", error.to_string())
                .hint("--data chooses another folder for them")
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(refused)?;
            remove_abandoned(parent);
        }
        std::fs::create_dir(path).map_err(refused)?;
        let this = Self { path: path.to_owned() };
        std::fs::write(path.join(MARK), MARKED).map_err(refused)?;
        Ok(this)
    }
}

/// Removes the folders of killed runs.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("suite-")) else { continue };
        let process = rest.rsplit('-').next().and_then(|id| id.parse::<i32>().ok());
        let is_ours = std::fs::read_to_string(entry.path().join(MARK)).is_ok_and(|mark| mark == MARKED);
        if is_ours && process.is_some_and(|id| !interrupt::is_alive(id)) {
            // A folder that cannot be removed does no harm.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed now is removed by the next run.
        let _ = std::fs::remove_dir_all(&self.path);
        if let Some(parent) = self.path.parent() {
            // Removed if it was made for the run; fails if it has any content.
            let _ = std::fs::remove_dir(parent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders were removed by name alone.
    #[test]
    fn what_killed_runs_left_is_removed_and_no_more() {
        let parent = tempfile::tempdir().unwrap();
        // No process has a number so high.
        let (ours, theirs) = (parent.path().join("suite-a-2000000001"), parent.path().join("suite-b-2000000001"));
        for folder in [&ours, &theirs] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("x.db"), "content").unwrap();
        }
        std::fs::write(ours.join(MARK), MARKED).unwrap();
        let path = parent.path().join(format!("suite-c-{}", std::process::id()));
        let folder = Scratch::new(&path).unwrap();
        assert!(!ours.exists() && theirs.join("x.db").exists() && path.join(MARK).exists());
        drop(folder);
        assert!(!path.exists() && theirs.exists());
        let taken = parent.path().join(format!("suite-d-{}", std::process::id()));
        std::fs::create_dir(&taken).unwrap();
        assert!(Scratch::new(&taken).is_err() && taken.exists());
    }
}
