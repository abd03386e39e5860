//! The engine: a target, the database opened once for all its sessions, what it promises.

use crate::database::Database;
use crate::options::{Compression, Options, parse};
use crate::session::RocksDbSession;
use bourse_engine::target::{Parsed, TargetError, show_bytes, show_switch};
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, Footprint, Hosting, Interface, KeyEngine, Location,
    MayLose, RecordCapabilities, Records, Setting, TargetFolder, WriterWait, memory_file_system,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A RocksDB database under test.
pub struct RocksDbEngine {
    target: Parsed<Options>,
    path: PathBuf,
    opened: Mutex<Option<Arc<Database>>>,
}

/// Opens a target: reads it; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: what in the target is wrong, and what is known.
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
    let path = PathBuf::from(&target.place);
    Ok(RocksDbEngine { target, path, opened: Mutex::new(None) })
}

impl RocksDbEngine {
    fn opened(&self) -> Option<Arc<Database>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The database, opened at first use.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        if let Some(why) = TargetFolder::look(&self.path)?.foreign() {
            return Err(EngineError::refused(why));
        }
        // Nothing is made where there is no library.
        crate::info(self.target.options.library.as_deref()).map_err(|e| EngineError::unsupported(e.to_string()))?;
        let database = Database::open(&TargetFolder::open(&self.path)?, &self.target.options)?;
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }

    fn durability(&self) -> (Durability, String) {
        if let Some(name) = memory_file_system(&self.path) {
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

/// What RocksDB tells of a database at no cost, summed over its tables.
const PROPERTIES: [&std::ffi::CStr; 4] = [
    c"rocksdb.estimate-num-keys",
    c"rocksdb.num-files-at-level0",
    c"rocksdb.total-sst-files-size",
    c"rocksdb.estimate-pending-compaction-bytes",
];

/// The library's version, which it writes into each database's newest file of options and tells nowhere else.
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
        let warning =
            |name| format!("the database is on {name}: nothing survives the machine, whatever the settings say");
        Ok(Description {
            engine: "rocksdb".to_owned(),
            version: version(&self.path).unwrap_or_else(|| "not told by its library".to_owned()),
            target: self.target.text.clone(),
            durability,
            may_lose: (durability == Durability::Consistent).then_some(MayLose::NotWrittenBack),
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings,
            compile_options: Vec::new(),
            warnings: memory_file_system(&self.path).map(warning).into_iter().collect(),
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
        // What is open was looked at before.
        if self.opened().is_some() {
            return Ok(None);
        }
        Ok(TargetFolder::look(&self.path)?.foreign())
    }

    fn exists(&self) -> Result<bool, EngineError> {
        if self.opened().is_none() && !TargetFolder::is_used(&self.path)? {
            return Ok(false);
        }
        Ok(self.database()?.has_tables())
    }

    fn location(&self) -> Location {
        Location::files(TargetFolder::resolved(&self.path), &[])
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let bytes = TargetFolder::bytes(&self.path, &|name| name.ends_with(".log"));
        let memory_bytes = self.opened().map_or(0, |database| database.memory_bytes());
        Ok(Footprint { data_bytes: bytes.data, log_bytes: bytes.log, memory_bytes, ..Footprint::default() })
    }
}

impl KeyEngine for RocksDbEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        Ok(Box::new(RocksDbSession::new(self.database()?)))
    }
}
