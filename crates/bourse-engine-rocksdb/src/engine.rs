//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::Database;
use crate::options::{Compression, Options, parse};
use crate::session::RocksDbSession;
use bourse_engine::target::{Parsed, TargetError, show_bytes, show_switch};
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, FolderDatabase, Footprint, Hosting, Interface,
    KeyEngine, Location, MayLose, RecordCapabilities, Records, Setting, TargetFolder, WriterWait, lost_with_machine,
};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// RocksDB database under test.
pub struct RocksDbEngine {
    target: Parsed<Options>,
    folder: FolderDatabase<Database>,
}

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
    let target = parse(target)?;
    let folder = FolderDatabase::at(&target.place);
    Ok(RocksDbEngine { target, folder })
}

impl RocksDbEngine {
    /// Database, opened at first use.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        let options = &self.target.options;
        self.folder.get(|path| {
            if let Some(why) = TargetFolder::look(path)?.foreign() {
                return Err(EngineError::refused(why));
            }
            // Nothing is made where there is no library.
            crate::info(options.library.as_deref()).map_err(|e| EngineError::unsupported(e.to_string()))?;
            Database::open(&TargetFolder::open(path)?, options)
        })
    }

    fn durability(&self) -> (Durability, String) {
        if let Some(name) = self.folder.memory_file_system() {
            return (Durability::Volatile, format!("the folder is on {name}, which is memory"));
        }
        let Options { sync, wal, .. } = self.target.options;
        let (class, why) = match (wal, sync) {
            (false, _) => {
                (Durability::Volatile, "wal=off: a commit is in this process's memory until a table is written")
            }
            (true, true) => (Durability::Durable, "sync=on: each commit makes the write-ahead log durable"),
            (true, false) => (
                Durability::Consistent,
                "sync=off: a commit is handed to the operating system; what stands in the log has checksums",
            ),
        };
        (class, why.to_owned())
    }
}

/// Properties that RocksDB reports at no cost, summed over its tables.
const PROPERTIES: [&std::ffi::CStr; 4] = [
    c"rocksdb.estimate-num-keys",
    c"rocksdb.num-files-at-level0",
    c"rocksdb.total-sst-files-size",
    c"rocksdb.estimate-pending-compaction-bytes",
];

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

impl Engine for RocksDbEngine {
    fn description(&self) -> Result<Description, EngineError> {
        let database = self.database()?;
        let (durability, durability_reason) = self.durability();
        let options = &self.target.options;
        let mut settings = Vec::new();
        let mut add = |name: &str, value: String| settings.push(Setting { name: name.to_owned(), value });
        add("library", database.library.display().to_string());
        add("transactions", "optimistic".to_owned());
        add("sync", show_switch(options.sync));
        add("wal", show_switch(options.wal));
        for (name, value) in database.settings() {
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
        for property in PROPERTIES {
            add(&property.to_string_lossy(), database.property(property).to_string());
        }
        let warning = |name| lost_with_machine("the database", name);
        Ok(Description {
            engine: "rocksdb".to_owned(),
            version: version(self.folder.path())
                .unwrap_or_else(|| "unknown: its library does not report it".to_owned()),
            target: self.target.text.clone(),
            durability,
            may_lose: (durability == Durability::Consistent).then_some(MayLose::NotWrittenBack),
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings,
            compile_options: Vec::new(),
            warnings: self.folder.memory_file_system().map(warning).into_iter().collect(),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: None,
            // Writers work on snapshots; of two that change one record, the second to commit fails.
            concurrent_writers: true,
            snapshots: true,
            checkpoints: false,
            one_session: false,
            processes: false,
            records: Some(RecordCapabilities {
                text_keys: true,
                ordered_scans: true,
                indexed_fields: false,
                hash_index: false,
                assigned_keys: false,
                rollback: true,
            }),
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Keys(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        Hosting::InProcess
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        self.folder.foreign()
    }

    fn exists(&self) -> Result<bool, EngineError> {
        Ok(self.folder.is_there()? && !self.database()?.names().is_empty())
    }

    fn location(&self) -> Location {
        self.folder.location(&[
            "CURRENT",
            "IDENTITY",
            "LOCK",
            "LOG",
            "LOG.old.#",
            "MANIFEST-#",
            "OPTIONS-#",
            "#.sst",
            "#.log",
            "#.blob",
            "#.dbtmp",
            "OPTIONS-#.dbtmp",
        ])
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        Ok(self.folder.footprint(&|name| name.ends_with(".log"), Database::memory_bytes))
    }
}

impl KeyEngine for RocksDbEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        Ok(Box::new(RocksDbSession::new(self.database()?)))
    }

    fn tables(&self) -> Result<Vec<String>, EngineError> {
        Ok(self.database()?.names())
    }
}
