//! The engine: what LMDB's environment is to the seam.

use crate::environment::{LmdbEnvironment, version};
use crate::options::{GRAMMAR, LmdbOptions, LmdbSync};
use crate::view::LmdbView;
use bourse_engine::records::KeySession;
use bourse_engine::target::{Grammar, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, EngineError, FileFormat, KeyDatabase, KeyedEngine, Records, Result,
    TargetFile, path_with_suffix,
};
use std::sync::Arc;

/// LMDB database under test.
pub type LmdbEngine = KeyedEngine<LmdbEnvironment>;

/// Parses a target; nothing on disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_lmdb::open("lmdb:x.mdb?sync=meta").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_lmdb::open("lmdb:x.mdb?sink=off").unwrap_err().to_string().contains("known options"));
/// ```
pub fn open(target: &str) -> Result<LmdbEngine, TargetError> {
    LmdbEngine::open(target)
}

/// Suffix of LMDB's lock file.
const LOCK: &str = "-lock";
/// First bytes of a lock file (`mdb.c`, `MDB_MAGIC`).
const MAGIC: u32 = 0xBEEF_C0DE;

impl KeyDatabase for LmdbEnvironment {
    type Options = LmdbOptions;
    const NAME: &'static str = "lmdb";
    const FORMAT: &'static FileFormat = &FileFormat { name: "LMDB", companions: &[LOCK], ..FileFormat::FILE };
    const GRAMMAR: &'static Grammar<LmdbOptions> = &GRAMMAR;

    const DEFAULTS: LmdbOptions = LmdbOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> = Some("LMDB has no database in memory; a file below /dev/shm is one");

    fn found(_: &LmdbOptions) -> Result<String, String> {
        Ok(version())
    }

    fn open(options: &LmdbOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        Self::at(&files.open_or_make()?, options)
    }

    fn durability(&self, options: &LmdbOptions) -> (Durability, String) {
        let (class, why) = match options.sync {
            LmdbSync::Full => (Durability::Durable, "sync=full: changes and root are made durable at each commit"),
            LmdbSync::Meta => (
                Durability::Consistent,
                "sync=meta: the root is not waited for, so that power loss may undo the last commit",
            ),
            LmdbSync::Off => (
                Durability::Process,
                "sync=off: the disk is never waited for, and power loss may leave a corrupted file",
            ),
        };
        (class, why.to_owned())
    }

    fn capabilities(_: &LmdbOptions) -> Capabilities {
        Capabilities { processes: true, ..Capabilities::OF_KEYS }
    }

    /// LMDB takes the file of its locks as its own, whatever is in it; one that a database left holds nothing.
    fn refuse_neighbours(files: &DatabaseFiles) -> Result<()> {
        let lock = path_with_suffix(files.path(), LOCK);
        let start = TargetFile::at(&lock)?.start(4)?;
        if start.is_empty() || start == MAGIC.to_ne_bytes() {
            return Ok(());
        }
        Err(EngineError::refused(format!(
            "{} is there and is no lock file of LMDB, which would overwrite it: move it away, or name another path",
            lock.display()
        )))
    }

    fn records(self: Arc<Self>, _: &LmdbOptions) -> Box<dyn Records> {
        Box::new(KeySession::new(LmdbView::new(self)))
    }

    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.names())
    }
}
