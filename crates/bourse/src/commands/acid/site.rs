//! Site of crashes: a copy of a database's file in a folder next to it, which is removed afterwards.

use crate::engines;
use crate::failure::{Failure, Result};
use crate::work_folder::WorkFolder;
use bourse_acid::demand::CrashKind;
use bourse_acid::{AcidError, Site};
use bourse_crash::preload::{
    Call, ControlFile, ProcessFiles, Survival, copy_folder, library, lose_power, write_library,
};
use bourse_engine::{DatabaseFiles, Engine, EngineError, ErrorKind, remove_folder, target_with_path};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct FileSite {
    original: DatabaseFiles,
    folder: WorkFolder,
    /// Path of the copy, in a folder of its own.
    copy: PathBuf,
    /// The copy as a target.
    target: String,
    workload: &'static str,
    flat_in: Option<PathBuf>,
}

impl FileSite {
    /// The site of a target whose engine's files can be crashed, for the workload of that command; `None` for others.
    pub(crate) fn of(workload: &'static str, target: &str, flat_in: Option<&Path>) -> Result<Option<Self>> {
        let files = engines::location(target).ok().and_then(|location| location.database_files().cloned());
        let Some(original) = files.filter(|_| engines::crash_sweeps(target).is_some()) else { return Ok(None) };
        let made = Self::at(workload, target, flat_in, &original);
        made.map(Some).map_err(|error| {
            Failure::usage("cannot make the folder for copies that crash")
                .detail("database", original.path().display().to_string())
                .detail("cause", error.to_string())
        })
    }

    fn at(workload: &'static str, target: &str, flat_in: Option<&Path>, original: &DatabaseFiles) -> io::Result<Self> {
        let below = match original.path().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // The preloaded library compares paths without links.
        let folder = WorkFolder::new("bourse-crash-", &below.canonicalize()?)?;
        if let Ok(library) = library() {
            write_library(&folder.path().join("preload.so"), library)?;
        }
        let copy = folder.path().join("files").join(original.path().file_name().unwrap_or_default());
        let target = target_with_path(target, &copy);
        Ok(Self { original: original.clone(), folder, copy, target, workload, flat_in: flat_in.map(Path::to_owned) })
    }

    fn copy_all(&self) -> bourse_engine::Result<()> {
        let files = self.folder.path().join("files");
        remove_folder(&files)?;
        fs::create_dir(&files).map_err(|error| EngineError::io("make", &files, &error))?;
        // The original is closed, so its log is complete.
        self.original.copy_to(&self.copy).map(drop)
    }

    /// Environment of a process whose calls are counted; its files are on a simulated disk, or its operations are recorded.
    fn preloading(&self, records: bool) -> io::Result<Vec<(OsString, OsString)>> {
        let place = |name: &str| self.folder.path().join(name);
        let (files, image, recording) = (place("files"), place("image"), place("recording"));
        removed(&image)?;
        if records {
            fs::write(&recording, [])?;
        } else {
            copy_folder(&files, &image)?;
        }
        ControlFile::create(&place("control"))?.arm(None)?;
        let (image, recording) = ((!records).then_some(image), records.then_some(recording));
        let places = ProcessFiles { control: place("control"), files, image, recording };
        Ok(places.preloading(&place("preload.so")))
    }

    fn load(&self, seed: u64) -> Result<Command, AcidError> {
        let program = std::env::current_exe()
            .map_err(|error| AcidError::Machinery(format!("this program cannot be found again: {error}")))?;
        let mut command = Command::new(program);
        command.args([self.workload, "acid-load", &self.target, "--seed", &seed.to_string()]);
        if let Some(folder) = &self.flat_in {
            command.arg("--flat-in").arg(folder);
        }
        Ok(command)
    }
}

/// Removes a folder with its contents, if it exists.
fn removed(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn no_disk(error: io::Error) -> AcidError {
    AcidError::Machinery(format!("no disk can be simulated: {error}"))
}

impl Site for FileSite {
    fn no_power(&self) -> Option<String> {
        library().err().map(|why| format!("no disk can be simulated here: {why}"))
    }

    fn renew(&self) -> Result<(), AcidError> {
        let from = self.original.path().display();
        self.copy_all().map_err(|error| AcidError::Machinery(format!("{from} cannot be copied: {error}")))
    }

    fn open(&self) -> Result<Box<dyn Engine>, AcidError> {
        engines::open(&self.target)
            .map_err(|failure| AcidError::Engine(EngineError::new(ErrorKind::Other, failure.render())))
    }

    fn process(&self, crash: CrashKind, seed: u64) -> Result<Command, AcidError> {
        let mut command = self.load(seed)?;
        if crash == CrashKind::Power {
            command.envs(self.preloading(false).map_err(no_disk)?);
        }
        Ok(command)
    }

    fn check_intercepted(&self) -> Result<(), AcidError> {
        let not = |why: &str| AcidError::NotIntercepted(format!("no disk can be simulated below this engine: {why}"));
        let control = ControlFile::open(&self.folder.path().join("control")).map_err(no_disk)?;
        if control.loaded().map_err(no_disk)? == 0 {
            return Err(not("the library was not preloaded"));
        }
        if let Some(why) = control.incompleteness().map_err(no_disk)? {
            return Err(not(&why));
        }
        match control.counts().map_err(no_disk)?.of(Call::Write) + control.maps().map_err(no_disk)? {
            0 => Err(not("it does not write by the C library's calls")),
            _ => Ok(()),
        }
    }

    fn lose_power(&self, seed: u64) -> Result<(), AcidError> {
        let (files, image) = (self.folder.path().join("files"), self.folder.path().join("image"));
        lose_power(&files, &image, Survival::Some(seed)).map_err(no_disk)?;
        // The files are others now.
        DatabaseFiles::at(&self.copy, self.original.format()).mark().map_err(AcidError::Engine)
    }

    fn copy(&self) -> &Path {
        &self.copy
    }

    fn recording(&self, target: &str, seed: u64, file: &Path) -> Result<Command, AcidError> {
        let mut command = self.load(seed)?;
        command.envs(self.preloading(true).map_err(no_disk)?);
        command.arg("--record").arg(file).arg("--file").arg(&self.copy).args(["--of", target]);
        Ok(command)
    }
}
