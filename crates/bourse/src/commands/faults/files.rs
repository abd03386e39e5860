//! Engines within a process: their files are copied for each trial, and a process of this program works on the copy.

use super::{TrialConditions, child, placed, renewed, work_folder};
use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::tpce::DATA_FOLDER;
use crate::work_folder::WorkFolder;
use bourse_acid::AcidError;
use bourse_acid::faults::judge::{ProcessReport, TargetDurability};
use bourse_acid::faults::{FaultBed, Trial, TrialSpec};
use bourse_acid::known_work as work;
use bourse_crash::preload::{ControlFile, ProcessFiles, lose_power};
use bourse_engine::DatabaseFiles;
use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

/// Test bed of a target whose engine runs in the process.
pub(super) struct FileBed<'c> {
    target: String,
    scheme: String,
    options: String,
    class: TargetDurability,
    conditions: &'c TrialConditions,
    folder: WorkFolder,
}

impl<'c> FileBed<'c> {
    /// Makes the database that each trial begins with.
    pub(super) fn new(target: &str, scheme: &str, options: &str, conditions: &'c TrialConditions) -> Result<Self> {
        let folder = work_folder(conditions.folder.as_deref().unwrap_or(Path::new(DATA_FOLDER)))?;
        let base = folder.path().join("base");
        let failed = |cause: String| {
            Failure::new(Exit::Target, format!("cannot make the database for {target}")).detail("cause", cause)
        };
        fs::create_dir(&base).map_err(|error| failed(error.to_string()))?;
        if let Ok(library) = bourse_crash::preload::library() {
            bourse_crash::preload::write_library(&folder.path().join("preload.so"), library)
                .map_err(|error| failed(error.to_string()))?;
        }
        let engine = engines::open(&placed(scheme, &base.join("x"), options))?;
        work::fill(engine.as_ref(), conditions.seed).map_err(|error| failed(error.to_string()))?;
        let described = engine.description().map_err(|error| failed(error.to_string()))?;
        drop(engine);
        Ok(Self {
            target: target.to_owned(),
            scheme: scheme.to_owned(),
            options: options.to_owned(),
            class: TargetDurability::of(described),
            conditions,
            folder,
        })
    }

    /// Makes the folders and settings of one trial anew.
    fn renew(&self) -> io::Result<(ProcessFiles, ControlFile)> {
        let made = renewed(&self.folder, self.folder.path().join("files"))?;
        self.mark(&made.0.files)?;
        Ok(made)
    }

    /// Marks the database of a trial, which was copied there.
    fn mark(&self, files: &Path) -> io::Result<()> {
        let location = engines::location(&self.placed(files)).map_err(|failure| io::Error::other(failure.render()))?;
        let there = location.database_files().filter(|files| files.path().exists());
        let marked = there.map_or(Ok(()), DatabaseFiles::mark);
        marked.map_err(|error| io::Error::other(error.to_string()))
    }

    fn placed(&self, files: &Path) -> String {
        placed(&self.scheme, &files.join("x"), &self.options)
    }

    fn arguments(&self, files: &Path, more: &[&str]) -> Vec<OsString> {
        let target = self.placed(files);
        let transactions = self.conditions.transactions.to_string();
        let seed = self.conditions.seed.to_string();
        let all = [target.as_str(), "--seed", &seed, "--transactions", &transactions];
        all.iter().chain(more).map(OsString::from).collect()
    }

    fn worked(&self, places: &ProcessFiles, closes: bool) -> Result<ProcessReport, AcidError> {
        let environment = places.preloading(&self.folder.path().join("preload.so"));
        let leave: &[&str] = if closes { &[] } else { &["--leave-open"] };
        child::run(&self.arguments(&places.files, leave), &environment, self.conditions.patience)
    }
}

impl FaultBed for FileBed<'_> {
    fn target(&self) -> &str {
        &self.target
    }

    fn class(&self) -> &TargetDurability {
        &self.class
    }

    fn attempt(&self, spec: &TrialSpec) -> Result<Trial, AcidError> {
        let process_error = |error: io::Error| AcidError::Machinery(format!("a trial cannot be made: {error}"));
        let (places, control) = self.renew().map_err(process_error)?;
        control.arm(spec.fault).map_err(process_error)?;
        let work = self.worked(&places, spec.power.is_none())?;
        if let (Some(survival), Some(image)) = (spec.power, &places.image) {
            lose_power(&places.files, image, survival)
                .and_then(|()| self.mark(&places.files))
                .map_err(process_error)?;
        }
        let look = child::run(&self.arguments(&places.files, &["--look"]), &[], self.conditions.patience)?;
        Trial::of(&control, work, look)
    }
}
