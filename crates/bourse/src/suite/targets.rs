//! A suite's targets here: their URLs filled in, and whether they can be run.

use crate::failure::Failure;
use crate::{engines, interrupt};
use bourse_suite::definition::Target;
use std::path::{Path, PathBuf};

/// A target's URL with its placeholders filled in, or why it cannot be.
pub(super) fn url(target: &Target, data: &Path) -> Result<String, String> {
    let mut url = target.url.replace("{data}", &engines::escaped(data));
    while let Some(start) = url.find("{env:") {
        let end = url[start..].find('}').map_or(url.len(), |end| start + end);
        let name = url[start + 5..end].to_owned();
        let value = std::env::var(&name).map_err(|_| format!("the variable {name} is not set"))?;
        url.replace_range(start..=end.min(url.len() - 1), &value);
    }
    Ok(url)
}

/// Whether that target's engine is here, and takes such a URL.
pub(super) fn usable(url: &str, target: &Target) -> Result<(), String> {
    let absent = |why: String| match &target.hint {
        Some(hint) => format!("{why} ({hint})"),
        None => why,
    };
    engines::is_here(url).map_err(absent)?;
    engines::open(url).map(|_| ()).map_err(|failure| absent(failure.line()))
}

/// The folder for a run's databases: made for it, removed with it.
#[derive(Debug)]
pub(super) struct DataFolder {
    pub(super) path: PathBuf,
}

impl DataFolder {
    /// A folder of that name below `parent`. A run that was killed may have left one: it goes away if it bears our mark.
    pub(super) fn new(parent: &Path, name: &str) -> Result<Self, Failure> {
        let path = parent.join(format!("suite-{name}-{}", std::process::id()));
        let refused = |error: std::io::Error| {
            Failure::usage("the folder for databases cannot be made")
                .detail("folder", path.display().to_string())
                .detail("cause", error.to_string())
                .hint("--data names another place for them")
        };
        std::fs::create_dir_all(parent).map_err(refused)?;
        sweep(parent);
        std::fs::create_dir(&path).map_err(refused)?;
        let this = Self { path: path.clone() };
        std::fs::write(path.join(MARK), MARKED).map_err(refused)?;
        Ok(this)
    }
}

/// The file in a run's folder that says whose it is, and what stands in it.
const MARK: &str = ".bourse-suite";
const MARKED: &str = "This folder belongs to a run of `bourse suite`, and is removed with it.\n";

/// Removes what killed runs have left.
fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("suite-")) else { continue };
        let process = rest.rsplit('-').next().and_then(|id| id.parse::<i32>().ok());
        let is_ours = std::fs::read_to_string(entry.path().join(MARK)).is_ok_and(|mark| mark == MARKED);
        if is_ours && process.is_some_and(|id| !interrupt::is_alive(id)) {
            // It is in nobody's way if it cannot be removed.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next run.
        let _ = std::fs::remove_dir_all(&self.path);
        if let Some(parent) = self.path.parent() {
            // Goes away if it was made for us; stays if there is anything in it.
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
        let folder = DataFolder::new(parent.path(), "c").unwrap();
        assert!(!ours.exists() && theirs.join("x.db").exists() && folder.path.join(MARK).exists());
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists() && theirs.exists());
        let taken = parent.path().join(format!("suite-d-{}", std::process::id()));
        std::fs::create_dir(&taken).unwrap();
        assert!(DataFolder::new(parent.path(), "d").is_err() && taken.exists());
    }

    #[test]
    fn placeholders_are_filled_in_or_missed_by_name() {
        let target = |url: &str| Target { url: url.to_owned(), title: String::new(), served: false, hint: None };
        let filled = url(&target("sqlite:{data}/x.db?journal=wal"), Path::new("a?b%"));
        assert_eq!(filled.as_deref(), Ok("sqlite:a%3Fb%25/x.db?journal=wal"));
        let missed = url(&target("fastdb:{data}/x?library={env:BOURSE_NOWHERE_SET}&size=1GiB"), Path::new("d"));
        assert_eq!(missed, Err("the variable BOURSE_NOWHERE_SET is not set".to_owned()));
    }
}
