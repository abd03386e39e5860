//! Site of crashes: a copy next to a database's file, which is removed afterwards.

use crate::engines;
use crate::progress::note;
use bourse_acid::demand::Crash;
use bourse_acid::{AcidError, Site};
use bourse_engine::{Crashes, DatabaseFiles, Engine, EngineError, ErrorKind, SideFile, beside, target_with_path};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

pub(crate) struct FileSite {
    original: DatabaseFiles,
    crashes: &'static Crashes,
    /// Path of the copy.
    path: PathBuf,
    /// The copy, if it was made; removed with this value.
    copy: Mutex<Option<SideFile>>,
    /// The copy as a target.
    target: String,
    flat_in: Option<PathBuf>,
}

impl FileSite {
    /// The site of a target whose engine's files can be crashed; `None` for others.
    pub(crate) fn of(target: &str, flat_in: Option<&Path>) -> Option<Self> {
        let crashes = engines::crashes(target)?;
        let original = engines::location(target).ok()?.database_files()?.clone();
        if let Some(left) = SideFile::leftover(original.path(), &crashes.copy) {
            note(&format!("replaced the leftover of a killed process: {}", left.display()));
        }
        let path = beside(original.path(), crashes.copy.suffix);
        let target = target_with_path(target, &path);
        Some(Self { original, crashes, path, copy: Mutex::new(None), target, flat_in: flat_in.map(Path::to_owned) })
    }

    fn copy_all(&self) -> Result<(), EngineError> {
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = match &mut *copy {
            Some(copy) => copy,
            empty => empty.insert(SideFile::create(self.original.path(), &self.crashes.copy)?),
        };
        copy.fill_from(self.original.path())?;
        // The original is closed, so its log is complete.
        for part in self.original.companions() {
            copy.copy_companion(part, &beside(self.original.path(), part))?;
        }
        if self.crashes.takes_the_lock {
            copy.file().unlock().map_err(|e| EngineError::io("unlock", copy.path(), &e))?;
        }
        Ok(())
    }
}

impl Site for FileSite {
    fn no_power(&self) -> Option<String> {
        if self.crashes.lossy_disk.is_none() {
            return Some(
                "this engine's files cannot be on a simulated disk; that its process is killed is all that is tried"
                    .to_owned(),
            );
        }
        (!cfg!(unix)).then(|| "the simulated disk is made for Unix alone".to_owned())
    }

    fn renew(&self) -> Result<(), AcidError> {
        let from = self.original.path().display();
        self.copy_all().map_err(|error| AcidError::Machinery(format!("{from} cannot be copied: {error}")))
    }

    fn open(&self) -> Result<Box<dyn Engine>, AcidError> {
        engines::open(&self.target)
            .map_err(|failure| AcidError::Engine(EngineError::new(ErrorKind::Other, failure.render())))
    }

    fn process(&self, crash: Crash, seed: u64) -> Result<Command, AcidError> {
        let target = match crash {
            Crash::Kill => self.target.clone(),
            Crash::Power => {
                let disk = self.crashes.lossy_disk.ok_or_else(|| {
                    AcidError::Machinery("this engine's files cannot be on a simulated disk".to_owned())
                })?;
                let separator = if self.target.contains('?') { '&' } else { '?' };
                format!("{}{separator}{disk}", self.target)
            }
        };
        self.load(&target, seed)
    }

    fn copy(&self) -> &Path {
        &self.path
    }

    fn no_recording(&self) -> Option<String> {
        match self.crashes.can_be_recorded {
            true => self.no_power(),
            false => Some("the system calls of this engine's build cannot be recorded".to_owned()),
        }
    }

    fn recording(&self, target: &str, seed: u64, file: &Path) -> Result<Command, AcidError> {
        let mut command = self.load(&self.target, seed)?;
        command.arg("--record").arg(file).arg("--file").arg(&self.path).args(["--of", target]);
        Ok(command)
    }
}

impl FileSite {
    fn load(&self, target: &str, seed: u64) -> Result<Command, AcidError> {
        let program = std::env::current_exe()
            .map_err(|error| AcidError::Machinery(format!("this program cannot be found again: {error}")))?;
        let mut command = Command::new(program);
        command.args(["tpce", "acid-load", target, "--seed", &seed.to_string()]);
        if let Some(folder) = &self.flat_in {
            command.arg("--flat-in").arg(folder);
        }
        Ok(command)
    }
}
