//! Where a SQLite file is crashed: a copy beside it, which is removed afterwards.

use crate::engines;
use crate::progress::note;
use bourse_acid::demand::Crash;
use bourse_acid::{AcidError, Site};
use bourse_engine::target::unescape;
use bourse_engine::{Engine, EngineError, ErrorKind, SideFile, SideFileKind, TargetFile, beside};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The copy: its name, and what tells that one which is there was left by a process of ours.
static COPY: SideFileKind = bourse_engine_sqlite::side_file_kind(".bourse-crash", "a copy that crashes may corrupt");

pub(crate) struct FileSite {
    original: PathBuf,
    /// Where the copy lies, once it was made.
    path: PathBuf,
    /// The copy once it was made; gone with this.
    copy: Mutex<Option<SideFile>>,
    /// The copy as a target.
    target: String,
    flat_in: Option<PathBuf>,
}

impl FileSite {
    /// Of a SQLite target that is a file; there is none for others.
    pub(crate) fn of(target: &str, flat_in: Option<&Path>) -> Option<Self> {
        let given = engines::sqlite_file(target)?;
        let given = PathBuf::from(unescape(given.strip_prefix("//").unwrap_or(given))?);
        // Where SQLite keeps its log and its journal: beside the file itself, not beside a link to it.
        let original = TargetFile::at(&given).map_or(given, |found| found.path().to_owned());
        if let Some(left) = SideFile::leftover(&original, &COPY) {
            note(&format!("replaced the leftover of a killed process: {}", left.display()));
        }
        let (scheme, _) = target.split_once(':').unwrap_or((target, ""));
        let (_, options) = target.split_once('?').unwrap_or((target, ""));
        let path = beside(&original, COPY.suffix);
        let place = engines::escaped(&path);
        let target = format!("{scheme}:{place}?{options}");
        Some(Self { original, path, copy: Mutex::new(None), target, flat_in: flat_in.map(Path::to_owned) })
    }

    fn copy_all(&self) -> Result<(), EngineError> {
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = match &mut *copy {
            Some(copy) => copy,
            empty => empty.insert(SideFile::create(&self.original, &COPY)?),
        };
        copy.fill_from(&self.original)?;
        // Nobody has the original open, so what is in its log belongs to it; an index of the log is made anew.
        for part in ["-wal", "-journal"] {
            copy.copy_companion(part, &beside(&self.original, part))?;
        }
        Ok(())
    }
}

impl Site for FileSite {
    fn no_power(&self) -> Option<String> {
        (!cfg!(unix)).then(|| "the simulated disk is made for Unix alone".to_owned())
    }

    fn renew(&self) -> Result<(), AcidError> {
        let from = self.original.display();
        self.copy_all().map_err(|error| AcidError::Machinery(format!("{from} cannot be copied: {error}")))
    }

    fn open(&self) -> Result<Box<dyn Engine>, AcidError> {
        engines::open(&self.target)
            .map_err(|failure| AcidError::Engine(EngineError::new(ErrorKind::Other, failure.render())))
    }

    fn process(&self, crash: Crash, seed: u64) -> Result<Command, AcidError> {
        let mut target = self.target.clone();
        if crash == Crash::Power {
            target.push_str("&disk=forgetful");
        }
        self.load(&target, seed)
    }

    fn copy(&self) -> &Path {
        &self.path
    }

    fn no_recording(&self) -> Option<String> {
        match self.target.starts_with("sqlite:") {
            true => self.no_power(),
            false => Some("the system calls of this build of SQLite cannot be recorded".to_owned()),
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
