//! The folder of a run's results: made and tested before the run begins, so that no result is lost at its end.

use super::write_new;
use crate::failure::{Exit, Failure, Result};
use crate::live::{self, RunOutcome};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Room that is tested: the size of the documents of an ordinary run.
const PROBE_BYTES: usize = 4 << 20;

/// Paths in a folder that end in a name, and then in that name with a number.
fn numbered(directory: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    (1..).map(move |number| directory.join(if number == 1 { name.to_owned() } else { format!("{name}-{number}") }))
}

/// A free path: the given one, with a number after it if that is taken.
pub(crate) fn free_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let directory = path.parent().unwrap_or(Path::new("."));
    numbered(directory, &name).find(|path| path.symlink_metadata().is_err()).expect("there are more numbers than files")
}

/// A folder for the results of one run, removed again, with the folders that were made for it, if it remains empty.
#[derive(Debug)]
pub(crate) struct ResultFolder {
    path: PathBuf,
    /// Folders above it that were made for it, the outermost first.
    made: Vec<PathBuf>,
    /// Outcome written as the end of the run's progress file.
    outcome: Cell<RunOutcome>,
}

impl ResultFolder {
    /// Makes `<directory>/<time>-<name>`, with a number after it if that is taken, and writes into it once as a test.
    pub(crate) fn new(directory: &Path, name: &str) -> Result<Self> {
        let refused = |path: &Path, error: std::io::Error| {
            Failure::new(Exit::Usage, "cannot make a folder for this run")
                .detail("folder", path.display().to_string())
                .detail("cause", error.to_string())
                .hint("-o chooses another folder for runs")
        };
        let mut made: Vec<PathBuf> = directory
            .ancestors()
            .take_while(|it| !it.as_os_str().is_empty() && !it.exists())
            .map(Path::to_owned)
            .collect();
        made.reverse();
        std::fs::create_dir_all(directory).map_err(|error| refused(directory, error))?;
        let stem = format!("{}-{name}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"));
        for path in numbered(directory, &stem) {
            match std::fs::create_dir(&path) {
                Ok(()) => return Self { path, made, outcome: Cell::new(RunOutcome::Failed) }.tried(),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused(&path, error)),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    fn tried(self) -> Result<Self> {
        let probe = self.path.join("room-for-results");
        write_new(&probe, &vec![0; PROBE_BYTES]).map_err(|failure| {
            failure.hint("results need some MiB; -o chooses another folder for runs, nothing was run yet")
        })?;
        // A probe that cannot be removed does no harm.
        let _ = std::fs::remove_file(&probe);
        Ok(self)
    }

    /// Sets the outcome of the run; the default is failed.
    pub(crate) fn ends_with(&self, outcome: RunOutcome) {
        self.outcome.set(outcome);
    }

    /// Path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        live::end(self.outcome.get());
        // A folder with results is not empty, so it is not removed.
        for folder in std::iter::once(&self.path).chain(self.made.iter().rev()) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_only_with_results() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("a/b");
        drop(ResultFolder::new(&below, "x").unwrap());
        assert!(directory.path().exists() && !directory.path().join("a").exists());
        let [unused, used] = [(); 2].map(|()| ResultFolder::new(&below, "x").unwrap());
        assert_ne!(unused.path(), used.path());
        write_new(&used.path().join("run.json"), b"{}").unwrap();
        let paths = [&unused, &used].map(|it| it.path().to_owned());
        drop((unused, used));
        assert_eq!(paths.map(|path| path.exists()), [false, true]);
    }

    #[test]
    fn a_file_in_its_place_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = ResultFolder::new(file.path(), "x").unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
    }
}
