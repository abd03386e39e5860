//! The engine: what FastDB's database is to the seam.

use crate::database::{FastDbDatabase, TransactionContext};
use crate::library::LIBRARY;
use crate::options::{Commit, FastDbOptions, GRAMMAR};
use crate::session::FastDbSession;
use bourse_engine::target::{Grammar, ParsedTarget, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, FileFormat, IndexKind, KeyDatabase, KeyedEngine, RecordCapabilities,
    Records, Result, Setting, settings,
};
use std::path::Path;
use std::sync::Arc;

/// FastDB database under test.
pub type FastDbEngine = KeyedEngine<FastDbDatabase>;

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_fastdb::open("fastdb:x.fdb?index=hash").unwrap();
/// assert!(!engine.capabilities().records.unwrap().ordered_scans);
/// assert!(bourse_engine_fastdb::open("fastdb:x.fdb?idx=hash").err().unwrap().to_string().contains("known options"));
/// ```
pub fn open(target: &str) -> Result<FastDbEngine, TargetError> {
    FastDbEngine::open(target)
}

impl KeyDatabase for FastDbDatabase {
    type Options = FastDbOptions;
    const NAME: &'static str = "fastdb";
    const FORMAT: &'static FileFormat = &FileFormat { name: "FastDB", ..FileFormat::FILE };
    const GRAMMAR: &'static Grammar<FastDbOptions> = &GRAMMAR;
    const LISTS_TABLES: bool = false;

    const DEFAULTS: FastDbOptions = FastDbOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> = Some("FastDB has no database `:memory:`; a diskless build is in memory");
    const LOADS_LIBRARY: bool = true;

    fn check(target: &mut ParsedTarget<FastDbOptions>) -> Result<(), TargetError> {
        if !target.place.contains('%') {
            return Ok(());
        }
        let (what, why) = (target.place.clone(), "its library takes the name of a file for a format of printf");
        Err(TargetError::Impossible { what, with: "FastDB", why })
    }

    fn found(options: &FastDbOptions) -> Result<String, String> {
        let found = LIBRARY.load(options.library.as_deref()).map_err(|error| error.to_string())?;
        Ok(format!("library {}", found.path.display()))
    }

    fn open(options: &FastDbOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        let library = LIBRARY.load(options.library.as_deref())?;
        Self::at(library, files, options)
    }

    fn library(&self) -> Option<&Path> {
        Some(self.library)
    }

    fn name(&self) -> &'static str {
        if self.is_diskless { "fastdb diskless" } else { "fastdb" }
    }

    fn version(&self) -> String {
        // The C interface has no function that says.
        "unknown: its library does not report it".to_owned()
    }

    fn in_memory(&self) -> Option<&'static str> {
        self.is_diskless.then_some("the library is a diskless build: the database is in memory")
    }

    fn durability(&self, options: &FastDbOptions) -> (Durability, String) {
        let (class, why) = match options.commit {
            Commit::Full => (
                Durability::Durable,
                "commit=full: each commit makes the whole file durable, the changes first and then the root that shows them",
            ),
            Commit::Precommit => (
                Durability::Volatile,
                "commit=precommit: there is no full commit until the database is closed, and a crash undoes everything since the last",
            ),
        };
        (class, why.to_owned())
    }

    fn settings(&self, options: &FastDbOptions) -> Result<Vec<Setting>> {
        let mut settings = settings(self, options);
        settings.push(Setting::new("diskless", if self.is_diskless { "on" } else { "off" }));
        settings.push(Setting::new("extent", self.extent()?.to_string()));
        Ok(settings)
    }

    fn warnings(&self, options: &FastDbOptions) -> Vec<String> {
        let mut warnings = Vec::new();
        if options.commit == Commit::Precommit {
            warnings.push(
                "commit=precommit: a transaction is seen by others when it ends but cannot be rolled back".to_owned(),
            );
        } else if !self.is_diskless {
            warnings.push(
                "FastDB does not report whether it was built with NO_FLUSH_ON_COMMIT, which would make commits survive a crash of the process only: look at the syncs per commit"
                    .to_owned(),
            );
        }
        if !options.unique {
            warnings.push("unique=off: a key that is inserted twice is there twice".to_owned());
        }
        warnings
    }

    fn capabilities(options: &FastDbOptions) -> Capabilities {
        Capabilities {
            // One lock for the whole database: readers share it, a writer has it alone.
            snapshots: false,
            records: Some(RecordCapabilities {
                text_keys: true,
                ordered_scans: options.index == IndexKind::Tree,
                indexed_fields: true,
                hash_index: true,
                assigned_keys: false,
                rollback: options.commit == Commit::Full,
            }),
            ..Capabilities::OF_KEYS
        }
    }

    fn records(self: Arc<Self>, options: &FastDbOptions) -> Box<dyn Records> {
        Box::new(FastDbSession::new(TransactionContext::new(self), options))
    }

    fn tables(&self) -> Result<Vec<String>> {
        self.names()
    }

    fn memory_bytes(&self) -> (u64, bool) {
        (self.extent().unwrap_or(0), self.is_diskless)
    }
}
