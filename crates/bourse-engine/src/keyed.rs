//! Engines of records by key: what they have in common, over an open database of one of them.

use crate::target::{Grammar, ParsedTarget};
use crate::{
    Capabilities, DatabaseFiles, Description, Durability, Engine, FileFormat, FolderBytes, Footprint, Interface,
    KeyEngine, Location, MayLose, MemoryStore, Records, Result, Setting, WriterWait, bytes_on_disk, durability_at,
    folder_bytes, locked,
};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// An open database of records by key; [`KeyedEngine`] makes an engine of it.
pub trait KeyDatabase: Send + Sync + Sized + 'static {
    /// Settings of a target.
    type Options: Send + Sync + fmt::Debug + 'static;

    /// Name of the engine in reports.
    const NAME: &'static str;

    /// Name of this build of the engine in reports.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Form of its files.
    const FORMAT: &'static FileFormat;

    /// Grammar of its targets.
    const GRAMMAR: &'static Grammar<Self::Options>;

    /// Opens the database in its files, which are made if there are none, or a new one in memory.
    ///
    /// # Errors
    /// The engine's; [`Refused`](crate::ErrorKind::Refused) if Bourse did not make what is at the path.
    fn open(target: &ParsedTarget<Self::Options>, files: Option<&DatabaseFiles>) -> Result<Arc<Self>>;

    /// Version of the engine.
    fn version(&self) -> String;

    /// Durability of a commit to a disk, and the reason.
    fn durability(&self, options: &Self::Options) -> (Durability, String);

    /// Commits that a power loss may take in the class [`Consistent`](Durability::Consistent).
    fn may_lose(&self) -> MayLose {
        MayLose::LastCommit
    }

    /// Reason why a database that has files is in memory all the same.
    fn in_memory(&self) -> Option<&'static str> {
        None
    }

    /// Settings in force.
    ///
    /// # Errors
    /// The engine's.
    fn settings(&self, options: &Self::Options) -> Result<Vec<Setting>> {
        Ok(settings(Self::GRAMMAR, options))
    }

    /// Warnings about the settings.
    fn warnings(&self, options: &Self::Options) -> Vec<String> {
        let _ = options;
        Vec::new()
    }

    /// Capabilities.
    fn capabilities(options: &Self::Options) -> Capabilities;

    /// Mechanism by which writers wait for one another.
    const WRITER_WAIT: WriterWait = WriterWait::EngineLocks;

    /// Refuses what is next to the database's path and cannot stay there.
    ///
    /// # Errors
    /// [`Refused`](crate::ErrorKind::Refused); the system's.
    fn refuse_neighbours(files: &DatabaseFiles) -> Result<()> {
        let _ = files;
        Ok(())
    }

    /// A new connection.
    fn records(self: Arc<Self>, options: &Self::Options) -> Box<dyn Records>;

    /// Names of the tables.
    ///
    /// # Errors
    /// The engine's.
    fn tables(&self) -> Result<Vec<String>>;

    /// Whether [`tables`](Self::tables) includes those of a person.
    const LISTS_TABLES: bool = true;

    /// Bytes of memory for the database, of which it is `true` that they are the database itself.
    fn memory_bytes(&self) -> (u64, bool) {
        (0, false)
    }

    /// Whether the name is that of a log in a folder.
    fn is_log(name: &str) -> bool {
        let _ = name;
        false
    }

    /// Sizes of the files in its folder.
    fn sizes(&self, files: &DatabaseFiles) -> FolderBytes {
        folder_bytes(files.path(), &Self::is_log)
    }
}

/// All settings of a target as the grammar writes them.
pub fn settings<O>(grammar: &Grammar<O>, options: &O) -> Vec<Setting> {
    grammar
        .options
        .iter()
        .map(|option| Setting { name: option.name.to_owned(), value: (option.show)(options) })
        .collect()
}

/// Engine of a target, whose database is opened once for all sessions.
pub struct KeyedEngine<D: KeyDatabase> {
    target: ParsedTarget<D::Options>,
    /// `None` in memory.
    files: Option<DatabaseFiles>,
    opened: Mutex<Option<Arc<D>>>,
}

impl<D: KeyDatabase> fmt::Debug for KeyedEngine<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedEngine").field("target", &self.target).finish_non_exhaustive()
    }
}

impl<D: KeyDatabase> KeyedEngine<D> {
    /// Engine of a parsed target; nothing on disk is touched yet.
    pub fn of(target: ParsedTarget<D::Options>) -> Self {
        let files = (target.place != ":memory:").then(|| DatabaseFiles::at(&target.place, D::FORMAT));
        Self { target, files, opened: Mutex::new(None) }
    }

    fn opened(&self) -> MutexGuard<'_, Option<Arc<D>>> {
        locked(&self.opened)
    }

    /// Files of the database, with links followed.
    fn files(&self) -> Option<DatabaseFiles> {
        self.files.as_ref().map(|files| DatabaseFiles::at(files.path(), D::FORMAT))
    }

    /// Database, opened at first use.
    fn database(&self) -> Result<Arc<D>> {
        let mut opened = self.opened();
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        let files = self.files();
        files.as_ref().map_or(Ok(()), D::refuse_neighbours)?;
        let database = D::open(&self.target, files.as_ref())?;
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }
}

impl<D: KeyDatabase> Engine for KeyedEngine<D> {
    fn description(&self) -> Result<Description> {
        let database = self.database()?;
        let options = &self.target.options;
        let path = self.files.as_ref().map(DatabaseFiles::path);
        let (durability, durability_reason, warning) = match database.in_memory() {
            Some(why) => (Durability::Volatile, why.to_owned(), None),
            None => durability_at(path, database.durability(options)),
        };
        let warnings = warning.into_iter().chain(database.warnings(options)).collect();
        Ok(Description {
            engine: database.name().to_owned(),
            version: database.version(),
            target: self.target.text.clone(),
            durability,
            may_lose: (durability == Durability::Consistent).then(|| database.may_lose()),
            durability_reason,
            writer_wait: Some(D::WRITER_WAIT),
            memory_store: self.files.is_none().then_some(MemoryStore::Engine),
            settings: database.settings(options)?,
            compile_options: Vec::new(),
            warnings,
        })
    }

    fn capabilities(&self) -> Capabilities {
        D::capabilities(&self.target.options)
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Keys(self)
    }

    fn foreign(&self) -> Result<Option<String>> {
        // An open database was examined before.
        let Some(files) = self.files().filter(|_| self.opened().is_none()) else { return Ok(None) };
        match D::refuse_neighbours(&files) {
            Err(e) if e.kind() == crate::ErrorKind::Refused => Ok(Some(e.message().to_owned())),
            done => done.and_then(|()| files.foreign()),
        }
    }

    fn exists(&self) -> Result<bool> {
        let is_there = || match self.files() {
            Some(files) => D::refuse_neighbours(&files).and_then(|()| files.exists()),
            None => Ok(false),
        };
        let is_open = self.opened().is_some();
        Ok((is_open || is_there()?) && !self.database()?.tables()?.is_empty())
    }

    fn location(&self) -> Location {
        self.files().map_or(Location::Memory, Location::Files)
    }

    fn footprint(&self) -> Result<Footprint> {
        let opened = self.opened().clone();
        let (memory_bytes, is_database) =
            opened.as_ref().map_or((0, self.files.is_none()), |database| database.memory_bytes());
        let FolderBytes { data, log } = match self.files() {
            Some(files) if D::FORMAT.is_folder => {
                opened.map_or_else(|| folder_bytes(files.path(), &D::is_log), |database| database.sizes(&files))
            }
            // Blocks that are really taken: files may be longer than what was written to them.
            Some(files) if !is_database => FolderBytes { data: bytes_on_disk(files.path()), log: 0 },
            _ => FolderBytes { data: memory_bytes, log: 0 },
        };
        Ok(Footprint { data_bytes: data, log_bytes: log, memory_bytes, ..Footprint::default() })
    }
}

impl<D: KeyDatabase> KeyEngine for KeyedEngine<D> {
    fn new_records(&self) -> Result<Box<dyn Records>> {
        Ok(self.database()?.records(&self.target.options))
    }

    fn tables(&self) -> Result<Vec<String>> {
        if D::LISTS_TABLES { self.database()?.tables() } else { Ok(Vec::new()) }
    }
}
