//! Where a SQLite file is crashed: a copy beside it, which is removed afterwards.

use crate::engines;
use bourse_acid::demand::Crash;
use bourse_acid::{AcidError, Site};
use bourse_engine::{Engine, ErrorKind};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the copy's name ends in.
const SUFFIX: &str = "-acid";
/// The files of a database.
const PARTS: [&str; 4] = ["", "-wal", "-journal", "-shm"];

pub(crate) struct FileSite {
    original: PathBuf,
    copy: PathBuf,
    /// The copy as a target.
    target: String,
    flat_in: Option<PathBuf>,
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

impl FileSite {
    /// Of a SQLite target that is a file; there is none for others.
    pub(crate) fn of(target: &str, flat_in: Option<&Path>) -> Option<Self> {
        let original = PathBuf::from(engines::sqlite_file(target)?);
        let (place, options) = target.split_once('?').unwrap_or((target, ""));
        let target = format!("{place}{SUFFIX}?{options}");
        let copy = with_suffix(&original, SUFFIX);
        Some(Self { original, copy, target, flat_in: flat_in.map(Path::to_owned) })
    }

    fn remove(&self) -> io::Result<()> {
        for part in PARTS {
            match fs::remove_file(with_suffix(&self.copy, part)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn copy_all(&self) -> io::Result<()> {
        self.remove()?;
        // Nobody has the original open, so what is in its log belongs to it; an index of the log is made anew.
        for part in ["", "-wal", "-journal"] {
            match fs::copy(with_suffix(&self.original, part), with_suffix(&self.copy, part)) {
                Err(error) if part.is_empty() || error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for FileSite {
    fn drop(&mut self) {
        // What cannot be removed is in nobody's way: the next copy replaces it.
        let _ = self.remove();
    }
}

impl Site for FileSite {
    fn no_power(&self) -> Option<String> {
        (!cfg!(unix)).then(|| "the simulated disk is made for Unix alone".to_owned())
    }

    fn renew(&self) -> Result<(), AcidError> {
        let (from, to) = (self.original.display(), self.copy.display());
        self.copy_all().map_err(|error| AcidError::Machinery(format!("{from} cannot be copied to {to}: {error}")))
    }

    fn open(&self) -> Result<Box<dyn Engine>, AcidError> {
        engines::open(&self.target)
            .map_err(|failure| AcidError::Engine(bourse_engine::EngineError::new(ErrorKind::Other, failure.render())))
    }

    fn process(&self, crash: Crash, seed: u64) -> Result<Command, AcidError> {
        let program = std::env::current_exe()
            .map_err(|error| AcidError::Machinery(format!("this program cannot be found again: {error}")))?;
        let mut target = self.target.clone();
        if crash == Crash::Power {
            target.push_str("&disk=forgetful");
        }
        let mut command = Command::new(program);
        command.args(["tpce", "acid-load", &target, "--seed", &seed.to_string()]);
        if let Some(folder) = &self.flat_in {
            command.arg("--flat-in").arg(folder);
        }
        Ok(command)
    }
}
