//! The engine: what fjall's database is to the seam.

use crate::database::FjallDatabase;
use crate::options::{FjallOptions, GRAMMAR, Persist};
use crate::view::FjallView;
use bourse_engine::records::KeySession;
use bourse_engine::target::{Grammar, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, FileFormat, KeyDatabase, KeyedEngine, MayLose, Records, Result, Setting,
    settings,
};
use std::sync::Arc;

/// The fjall database under test.
pub type FjallEngine = KeyedEngine<FjallDatabase>;

/// Parses a target; nothing on disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_fjall::open("fjall:x.fjall?persist=buffer").unwrap();
/// assert!(!engine.exists().unwrap());
/// let refused = bourse_engine_fjall::open("fjall::memory:").err().unwrap();
/// assert!(refused.to_string().contains("no database in memory"));
/// ```
pub fn open(target: &str) -> Result<FjallEngine, TargetError> {
    FjallEngine::open(target)
}

/// Version of fjall that is compiled in, as `build.rs` reads it from the lock file.
pub fn version() -> &'static str {
    env!("ENGINE_VERSION")
}

impl KeyDatabase for FjallDatabase {
    type Options = FjallOptions;
    const NAME: &'static str = "fjall";
    const FORMAT: &'static FileFormat = &FileFormat {
        name: "fjall",
        own: &[
            "version", "lock", "#.jnl", "keyspaces/#/current", "keyspaces/#/v#", "keyspaces/#/tables/#",
            "keyspaces/#/blobs/#",
        ],
        ..FileFormat::FOLDER
    };
    const GRAMMAR: &'static Grammar<FjallOptions> = &GRAMMAR;

    const DEFAULTS: FjallOptions = FjallOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> = Some("fjall has no database in memory; a folder below /dev/shm is one");

    fn found(_: &FjallOptions) -> Result<String, String> {
        Ok(version().to_owned())
    }

    fn open(options: &FjallOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        Self::at(&files.open_or_make()?, options).map(Arc::new)
    }

    fn durability(&self, options: &FjallOptions) -> (Durability, String) {
        match options.persist {
            Persist::SyncAll | Persist::SyncData => (
                Durability::Durable,
                format!("persist={}: each commit makes the journal durable", options.persist.word()),
            ),
            Persist::Buffer => (
                Durability::Consistent,
                "persist=buffer: a commit is handed to the operating system; a commit in the journal has a checksum"
                    .to_owned(),
            ),
        }
    }

    fn may_lose(&self) -> MayLose {
        MayLose::NotWrittenBack
    }

    fn settings(&self, options: &FjallOptions) -> Result<Vec<Setting>> {
        let mut settings = settings(self, options);
        settings.push(Setting::new("transactions", "optimistic"));
        Ok(settings)
    }

    fn capabilities(_: &FjallOptions) -> Capabilities {
        // Writers work on snapshots; of two that got in each other's way, the second to commit fails.
        Capabilities { concurrent_writers: true, ..Capabilities::OF_KEYS }
    }

    fn records(self: Arc<Self>, _: &FjallOptions) -> Box<dyn Records> {
        Box::new(KeySession::new(FjallView::new(self)))
    }

    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.names())
    }

    fn memory_bytes(&self) -> (u64, bool) {
        (self.held_bytes(), false)
    }

    fn is_log(name: &str) -> bool {
        name.ends_with(".jnl")
    }
}
