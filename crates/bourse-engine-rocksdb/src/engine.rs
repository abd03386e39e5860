//! The engine: what RocksDB's database is to the seam.

use crate::database::RocksDbDatabase;
use crate::options::{Compression, GRAMMAR, RocksDbOptions};
use crate::transaction::TransactionView;
use bourse_engine::records::KeySession;
use bourse_engine::target::{Grammar, ParsedTarget, TargetError, show_bytes, show_switch};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, FileFormat, Guarantee, KeyDatabase, KeyedEngine, MayLose, Records, Result,
    Setting,
};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// RocksDB database under test.
pub type RocksDbEngine = KeyedEngine<RocksDbDatabase>;

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_rocksdb::open("rocksdb:x.rocksdb?sync=off").unwrap();
/// assert!(!engine.exists().unwrap());
/// let refused = bourse_engine_rocksdb::open("rocksdb:x?wal=off&sync=on").err().unwrap();
/// assert!(refused.to_string().contains("no log to sync"));
/// ```
pub fn open(target: &str) -> Result<RocksDbEngine, TargetError> {
    RocksDbEngine::open(target)
}

/// Version of the library, which reports it only in each database's newest file of options.
fn version(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let numbered = entries.filter_map(|entry| {
        let number: u64 = entry.file_name().to_str()?.strip_prefix("OPTIONS-")?.parse().ok()?;
        Some((number, entry.path()))
    });
    let text = fs::read_to_string(numbered.max()?.1).ok()?;
    let version = text.lines().find_map(|line| line.trim().strip_prefix("rocksdb_version="))?;
    Some(version.to_owned())
}

impl KeyDatabase for RocksDbDatabase {
    type Options = RocksDbOptions;
    const NAME: &'static str = "rocksdb";
    const FORMAT: &'static FileFormat = &FileFormat {
        name: "RocksDB",
        own: &[
            "CURRENT", "IDENTITY", "LOCK", "LOG", "LOG.old.#", "MANIFEST-#", "OPTIONS-#", "#.sst", "#.log", "#.blob",
            "#.dbtmp", "OPTIONS-#.dbtmp",
        ],
        ..FileFormat::FOLDER
    };
    const GRAMMAR: &'static Grammar<RocksDbOptions> = &GRAMMAR;

    const DEFAULTS: RocksDbOptions = RocksDbOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> =
        Some("its C interface has no database in memory; a folder below /dev/shm is one");
    const LOADS_LIBRARY: bool = true;

    /// Without a log there is nothing to sync.
    fn check(target: &mut ParsedTarget<RocksDbOptions>) -> Result<(), TargetError> {
        if target.options.wal {
            return Ok(());
        }
        if target.options.sync && target.given.contains(&"sync") {
            let (what, why) = ("sync=on".to_owned(), "there is no log to sync");
            return Err(TargetError::Impossible { what, with: "wal=off", why });
        }
        target.options.sync = false;
        Ok(())
    }

    fn found(options: &RocksDbOptions) -> Result<String, String> {
        let found = crate::info(options.library.as_deref()).map_err(|error| error.to_string())?;
        Ok(format!("library {}", found.display()))
    }

    fn open(options: &RocksDbOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        Self::at(&files.open_or_make()?, options).map(Arc::new)
    }

    fn version(&self) -> String {
        version(&self.folder).unwrap_or_else(|| "unknown: its library does not report it".to_owned())
    }

    fn durability(&self, RocksDbOptions { sync, wal, .. }: &RocksDbOptions) -> (Durability, String) {
        let (class, why) = match (wal, sync) {
            (false, _) => {
                (Durability::Volatile, "wal=off: a commit is in this process's memory until a table is written")
            }
            (true, true) => (Durability::Durable, "sync=on: each commit makes the write-ahead log durable"),
            (true, false) => (
                Durability::Consistent,
                "sync=off: a commit is handed to the operating system; what is in the log has checksums",
            ),
        };
        (class, why.to_owned())
    }

    fn may_lose(&self) -> MayLose {
        MayLose::NotWrittenBack
    }

    fn settings(&self, options: &RocksDbOptions) -> Result<Vec<Setting>> {
        let mut settings = Vec::new();
        let mut add = |name: &str, value: String| settings.push(Setting::new(name, value));
        add("library", self.library.display().to_string());
        add("transactions", "optimistic".to_owned());
        add("sync", show_switch(options.sync));
        add("wal", show_switch(options.wal));
        for (name, value) in self.in_force() {
            let compression = Compression::ALL.iter().find(|known| known.number() as u64 == value);
            add(
                name,
                match name {
                    "compression" => compression.map_or_else(|| value.to_string(), |known| known.word().to_owned()),
                    "jobs" => value.to_string(),
                    _ => show_bytes(value),
                },
            );
        }
        add("bloom", options.bloom_bits.map_or_else(|| "off".to_owned(), |bits| bits.to_string()));
        Ok(settings)
    }

    fn capabilities(_: &RocksDbOptions) -> Capabilities {
        // Writers work on snapshots; of two that change one record, the second to commit fails.
        Capabilities { concurrent_writers: true, guarantees: Guarantee::ALWAYS_SNAPSHOT, ..Capabilities::OF_KEYS }
    }

    fn records(self: Arc<Self>, _: &RocksDbOptions) -> Box<dyn Records> {
        Box::new(KeySession::new(TransactionView::new(self)))
    }

    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.names())
    }

    fn memory_bytes(&self) -> (u64, bool) {
        (self.held_bytes(), false)
    }

    fn is_log(name: &str) -> bool {
        name.ends_with(".log")
    }
}
