//! Engines of records by key: what they have in common, over an open database of one of them.

use crate::target::{Grammar, ParsedTarget, TargetError};
use crate::{
    Capabilities, DatabaseFiles, Description, Durability, Engine, EngineError, EngineKind, FileFormat, FolderBytes,
    Footprint, InProcessPlaces, Interface, KeyEngine, Location, MayLose, MemoryStore, Records, Result, Setting,
    WriterWait, bytes_on_disk, durability_at, folder_bytes, locked,
};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// An open database of records by key; [`KeyedEngine`] makes an engine of it.
pub trait KeyDatabase: Send + Sync + Sized + 'static {
    /// Settings of a target.
    type Options: Send + Sync + fmt::Debug + 'static;

    /// Settings of a target that names none.
    const DEFAULTS: Self::Options;

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

    /// Reason why it has no database in memory; `None` if it has.
    const NO_MEMORY: Option<&'static str> = None;

    /// Whether its library is loaded at run time, and stays in the process.
    const LOADS_LIBRARY: bool = false;

    /// Refuses options that cannot be used together, and sets those that follow from others.
    ///
    /// # Errors
    /// [`TargetError::Impossible`].
    fn check(target: &mut ParsedTarget<Self::Options>) -> Result<(), TargetError> {
        let _ = target;
        Ok(())
    }

    /// Version of the engine on this machine, with the file of a library that is loaded at run time.
    ///
    /// # Errors
    /// What is missing, and which package has it.
    fn found(options: &Self::Options) -> Result<String, String>;

    /// Opens the database in its files, which are made if there are none. They are not another's, and the engine was
    /// [found](Self::found).
    ///
    /// # Errors
    /// The engine's; [`Refused`](crate::ErrorKind::Refused) if Bourse did not make what is at the path.
    fn open(options: &Self::Options, files: &DatabaseFiles) -> Result<Arc<Self>>;

    /// Makes a database in memory, in an engine that [has one](Self::NO_MEMORY).
    ///
    /// # Errors
    /// The engine's.
    fn open_in_memory(options: &Self::Options) -> Result<Arc<Self>> {
        let _ = options;
        Err(EngineError::unsupported(Self::NO_MEMORY.unwrap_or_default()))
    }

    /// Version of the engine.
    fn version(&self) -> String {
        Self::found(&Self::DEFAULTS).unwrap_or_else(|missing| missing)
    }

    /// File of a library that was loaded at run time.
    fn library(&self) -> Option<&Path> {
        None
    }

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
        Ok(settings(self, options))
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

/// All settings of a target as the grammar writes them, and the library that was loaded.
pub fn settings<D: KeyDatabase>(database: &D, options: &D::Options) -> Vec<Setting> {
    let mut settings = D::GRAMMAR.settings(options, |name| name != "library");
    settings.extend(database.library().map(|file| Setting::new("library", file.display().to_string())));
    settings
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
    /// Engine of a target; nothing on disk is touched yet.
    ///
    /// # Errors
    /// [`TargetError`]: the part of the target that is wrong, and the known options.
    pub fn open(target: &str) -> Result<Self, TargetError> {
        let mut target = D::GRAMMAR.parse(target, D::DEFAULTS)?;
        let in_memory = target.place == ":memory:";
        if let Some(why) = D::NO_MEMORY.filter(|_| in_memory) {
            return Err(TargetError::Place { engine: D::GRAMMAR.engine, why, forms: D::GRAMMAR.forms });
        }
        D::check(&mut target)?;
        let files = (!in_memory).then(|| DatabaseFiles::at(&target.place, D::FORMAT));
        Ok(Self { target, files, opened: Mutex::new(None) })
    }

    /// The engine as a program lists it, by its scheme, summary and example, and the ending of its files' names.
    pub const fn kind(texts: [&'static str; 3], file_ending: Option<&'static str>) -> EngineKind {
        EngineKind {
            in_process: Some(InProcessPlaces::new(file_ending, D::NO_MEMORY.is_none())),
            available: |target| {
                if !D::LOADS_LIBRARY {
                    return Ok(());
                }
                let target = D::GRAMMAR.parse(target, D::DEFAULTS).map_err(|error| error.to_string())?;
                D::found(&target.options).map(drop)
            },
            stays_loaded: D::LOADS_LIBRARY,
            ..EngineKind::new(
                texts,
                || D::found(&D::DEFAULTS),
                |scheme| D::GRAMMAR.help(scheme, &D::DEFAULTS),
                |target| Ok(Box::new(Self::open(target)?)),
            )
        }
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
        let options = &self.target.options;
        let database = match self.files() {
            None => D::open_in_memory(options)?,
            Some(files) => {
                D::refuse_neighbours(&files)?;
                files.exists()?;
                D::found(options).map_err(EngineError::unsupported)?;
                D::open(options, &files)?
            }
        };
        Ok(Arc::clone(opened.insert(database)))
    }
}

impl<D: KeyDatabase> Engine for KeyedEngine<D> {
    fn description(&self) -> Result<Description> {
        let database = self.database()?;
        let options = &self.target.options;
        let path = self.files.as_ref().map(DatabaseFiles::path);
        let durability = match database.in_memory() {
            Some(why) => (Durability::Volatile, why.to_owned(), None),
            None => durability_at(path, database.durability(options)),
        };
        let may_lose = (durability.0 == Durability::Consistent).then(|| database.may_lose());
        let (version, settings) = (database.version(), database.settings(options)?);
        let mut description = Description::new(database.name(), version, &self.target.text, durability, settings);
        description.may_lose = may_lose;
        description.writer_wait = Some(D::WRITER_WAIT);
        description.memory_store = self.files.is_none().then_some(MemoryStore::Engine);
        description.warnings.extend(database.warnings(options));
        Ok(description)
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
