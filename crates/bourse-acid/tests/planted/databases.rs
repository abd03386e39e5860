//! A workload's loaded database, and a copy of it for each bug.

use crate::detectors::{Found, Length};
use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::load::{Constraints, Fingerprint, LoadError, LoadOptions, load};
use bourse_oltp::planted::{Bug, plant};
use bourse_oltp::verify::Sampled;
use bourse_record::{Check, Round};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A workload with bugs, as the detectors need it.
pub(crate) trait Planted: Sampled<Reference: Clone + Sync> + Sized {
    /// The workload with a bug, if it is one of its inputs.
    fn with(bug: Option<&'static Bug>) -> Self;

    /// The transactions at the pace of a comparison.
    fn compared(self) -> Self {
        self
    }

    /// Whether a database is loaded with the bug.
    fn is_loaded_with(bug: &Bug) -> bool {
        let _ = bug;
        false
    }

    /// Puts a bug into a copy; whether it has changed it.
    fn spoil(&self, bug: &Bug, engine: &SqliteEngine) -> bool {
        let _ = (bug, engine);
        false
    }

    /// The engine with the bug, if it is one of the engine; `open` opens it with other options.
    fn engine(&self, bug: &Bug, open: &dyn Fn(&str) -> SqliteEngine) -> Option<Box<dyn Engine>> {
        let _ = (bug, open);
        None
    }

    /// Performs a round with the bug planted, and makes the checks after it.
    ///
    /// # Errors
    /// The finding, if the round could not be run or checked.
    fn run(&self, bug: Option<&'static Bug>, engine: &dyn Engine, length: Length)
    -> Result<(Round, Vec<Check>), Found>;

    /// Finding of `acid` without crashes, if the workload has it.
    fn acid(copy: &Copy<'_, Self>) -> Option<Found> {
        let _ = copy;
        None
    }
}

/// The smallest database of a workload, loaded once.
pub(crate) struct Databases<W: Planted> {
    folder: PathBuf,
    right: W,
    /// Reference of the correct database, made when the first bug needs it.
    reference: OnceLock<W::Reference>,
    /// Finding of the checks before a run of the correct database, which are made for the first such run.
    checked: OnceLock<Result<(), Found>>,
}

/// A database with a bug, in a file of its own.
pub(crate) struct Copy<'d, W: Planted> {
    folder: TempDir,
    pub(crate) bug: Option<&'static Bug>,
    pub(crate) sampled: W,
    databases: &'d Databases<W>,
    is_correct: bool,
}

impl<W: Planted> Databases<W> {
    /// Databases in a folder; loaded there unless they exist.
    ///
    /// # Panics
    /// Panics if the database cannot be loaded.
    pub(crate) fn at(folder: &Path) -> Self {
        let this = Self {
            folder: folder.to_owned(),
            right: W::with(None),
            reference: OnceLock::new(),
            checked: OnceLock::new(),
        };
        if !this.path("original").exists() {
            fill(&this.right, &this.path("original")).expect("loads");
        }
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}-{name}.db", self.right.workload().name()))
    }

    /// Copies the database for a bug: the correct one, or one that is loaded with the bug.
    pub(crate) fn copy(&self, bug: Option<&'static Bug>) -> Result<Copy<'_, W>, LoadError> {
        let folder = tempfile::tempdir_in(&self.folder).expect("there is room for a folder");
        let sampled = W::with(bug);
        let of = match bug.filter(|bug| W::is_loaded_with(bug)) {
            None => self.path("original"),
            Some(bug) => {
                let wrong = self.path(bug.name);
                if !wrong.exists() {
                    plant(Some(bug));
                    let loaded = fill(&sampled, &wrong);
                    plant(None);
                    loaded?;
                }
                wrong
            }
        };
        std::fs::copy(of, folder.path().join("copy.db")).expect("it can be copied");
        let is_correct = !bug.is_some_and(|bug| W::is_loaded_with(bug));
        let mut copy = Copy { folder, bug, sampled, databases: self, is_correct };
        let engine = copy.right_engine();
        engine.location().database_files().expect("a file").mark().expect("it is there");
        if let Some(bug) = bug {
            copy.is_correct &= !copy.sampled.spoil(bug, &engine);
        }
        Ok(copy)
    }
}

fn target(path: &Path, options: &str) -> String {
    format!("sqlite:{}?{options}", path.display())
}

fn fill(sampled: &impl Sampled, path: &Path) -> Result<(), LoadError> {
    let engine = open(&target(path, "journal=delete")).expect("a valid target");
    let (workload, generator, options) = (sampled.workload(), sampled.generator(), LoadOptions::default());
    load(&engine, workload, generator, &sampled.size(), &options, &mut |_| ControlFlow::Continue(())).map(drop)
}

/// Options that the database is opened with, which declare full durability.
const OPTIONS: &str = "journal=wal&sync=full";

impl<W: Planted> Copy<'_, W> {
    fn sqlite(&self, options: &str) -> SqliteEngine {
        open(&target(&self.folder.path().join("copy.db"), options)).expect("a valid target")
    }

    /// The engine without a bug.
    pub(crate) fn right_engine(&self) -> SqliteEngine {
        self.sqlite(OPTIONS)
    }

    /// The engine with the bug, if it is one of the engine.
    pub(crate) fn engine(&self) -> Box<dyn Engine> {
        self.wrong_engine().unwrap_or_else(|| Box::new(self.right_engine()))
    }

    fn wrong_engine(&self) -> Option<Box<dyn Engine>> {
        self.bug.and_then(|bug| self.sampled.engine(bug, &|options| self.sqlite(options)))
    }

    /// Finding of the checks before a run; made once for all copies of the correct database on the engine without a bug.
    pub(crate) fn checked(&self, check: impl FnOnce() -> Result<(), Found>) -> Result<(), Found> {
        if self.is_correct && self.wrong_engine().is_none() {
            self.databases.checked.get_or_init(check).clone()
        } else {
            check()
        }
    }

    /// Reference of the database by its inputs.
    pub(crate) fn reference(&self) -> W::Reference {
        match self.bug {
            Some(bug) if W::is_loaded_with(bug) => self.sampled.reference(),
            _ => self.databases.reference.get_or_init(|| self.sampled.reference()).clone(),
        }
    }

    /// Fingerprint of the database's input data, as passed to `run`.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let (workload, generator) = (self.sampled.workload(), self.sampled.generator());
        Fingerprint::of(&self.right_engine(), workload, generator, &self.sampled.size(), Constraints::Full)
            .expect("a SQL engine")
    }
}
