//! SQLite's engine: a target, the connections to it, its sizes.

use crate::connection::SqliteConnection;
use crate::counting::CountingFiles;
use crate::describe;
use crate::ffi::SqliteLibrary;
use crate::format::files_at;
use crate::library::SCHEME;
use crate::loader::{file_loader, memory_loader, ram_loader};
use crate::memvfs;
use crate::one_writer::OneWriterPlace;
use crate::options::{Locking, MemoryKind, SqliteJournal, SqliteWriters, Threading};
use crate::prepared::PreparedConnection;
use crate::queue::SqliteWriterLock;
use crate::reading::{self, DatabaseAccess};
use crate::session::{SharedEngine, SqliteSession};
use crate::shared_connection::{LentConnection, SharedConnection};
use crate::snapshot;
use crate::source::SqliteSource;
use crate::target::{SqlitePlace, SqliteTarget};
use crate::waits::{LockWaits, SQLITES_OWN};
use bourse_engine::server_wait::AwaitedConnection;
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Conflicts, Counter, DatabaseFiles, Description, Dialect, Engine, EngineError, FolderParts, Footprint,
    ForReading, Guarantee, Interface, IoCounts, Isolation, Loader, Location, LockStats, RecordCapabilities, Result,
    Session, Snapshot, SqlCapabilities, SqlEngine, TargetFile, locked, path_with_suffix,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// A SQLite database under test.
#[derive(Debug)]
pub struct SqliteEngine {
    target: SqliteTarget,
    /// Number that distinguishes this engine's database in memory from others of the process.
    number: u64,
    shared: SharedEngine,
    /// Connection that makes all changes, with `writers=one`.
    one_writer: OneWriterPlace,
    /// Counters of the disk operations on a database in a file.
    files: Option<Arc<CountingFiles>>,
    /// Connection that keeps a database in memory alive. Connections are opened under this lock, since two that set the
    /// journal mode of a new file concurrently get in each other's way.
    opened: Mutex<Option<SqliteConnection>>,
    /// Connection that contains a private database in memory, used by one session at a time.
    shared_connection: Arc<SharedConnection>,
    /// Last known size of a shared cache, in bytes.
    last_image_bytes: AtomicU64,
    /// Number of concurrent sessions that was announced.
    sessions: AtomicU64,
    /// Path of the file with links followed, once it was examined.
    resolved: OnceLock<PathBuf>,
    /// Whether the library enforces foreign keys by default, once that was read.
    enforces: OnceLock<bool>,
    /// Subfolders, for a database of Berkeley DB in files.
    parts: Option<FolderParts>,
    access: DatabaseAccess,
}

/// Opens a target: parses it, and registers a database in memory. Touches nothing on disk.
///
/// # Errors
/// [`TargetError`]: what in the target is wrong, and what is known.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_sqlite::open("sqlite::memory:").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_sqlite::open("sqlite:x.db?jurnal=wal").unwrap_err().to_string().contains("known options"));
/// ```
#[cfg(not(loaded))]
pub fn open(target: &str) -> Result<SqliteEngine, TargetError> {
    SqliteTarget::parse(target).map(SqliteEngine::new)
}

/// Opens a target: parses it, loads the library that it names, and compares its settings with the library's abilities.
/// Touches nothing but the library.
///
/// # Errors
/// [`TargetError`]: what in the target is wrong, and what is known; what is wrong with the library.
#[cfg(loaded)]
pub fn open(target: &str) -> Result<SqliteEngine, TargetError> {
    let (mut target, given) = SqliteTarget::read(target)?;
    let library = crate::loaded::load(target.options.library)?;
    library.fit(&mut target, &given)?;
    Ok(SqliteEngine::with_access(library, target, DatabaseAccess::Full))
}

/// Description of the library, for a list of engines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteInfo {
    /// Scheme in a target.
    pub name: &'static str,
    /// The library's version.
    pub version: &'static str,
    /// The check-in it was built from.
    pub source_id: &'static str,
    /// Options that it was compiled with.
    pub compile_options: Vec<String>,
    /// Further facts that identify it, by name: path and SHA-256 of a loaded library.
    pub facts: Vec<(&'static str, String)>,
}

/// Description of the library that is compiled in.
///
/// # Errors
/// An error if it cannot open a database in memory.
#[cfg(not(loaded))]
pub fn info() -> Result<SqliteInfo> {
    info_of(SqliteLibrary)
}

/// Description of the library that a target names; the system's if it names none.
///
/// # Errors
/// An error if it cannot be loaded, is not SQLite, or cannot open a database in memory.
#[cfg(loaded)]
pub fn info(library: Option<&str>) -> Result<SqliteInfo> {
    let loaded = crate::loaded::load(library.map(crate::options::interned));
    info_of(loaded.map_err(|error| EngineError::unsupported(error.to_string()))?)
}

fn info_of(library: SqliteLibrary) -> Result<SqliteInfo> {
    let source = SqliteSource::memory(library, "bourse-info", false);
    // Not every version has a switch for plans.
    let options = crate::SqliteOptions { stable_plans: false, ..crate::SqliteOptions::MEMORY };
    let connection = SqliteConnection::open(&source, &options, &Arc::default())?;
    Ok(SqliteInfo {
        name: SCHEME,
        version: library.version(),
        source_id: library.source_id(),
        compile_options: describe::compile_options(&connection)?,
        facts: library.facts(),
    })
}

impl SqliteEngine {
    /// Engine of a parsed target.
    #[cfg(not(loaded))]
    pub fn new(target: SqliteTarget) -> Self {
        Self::with_access(SqliteLibrary, target, DatabaseAccess::Full)
    }

    pub(crate) fn with_access(library: SqliteLibrary, target: SqliteTarget, access: DatabaseAccess) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let shared = SharedEngine {
            library,
            waits: Arc::new(LockWaits::default()),
            queue: matches!(target.options.writers, SqliteWriters::Queue | SqliteWriters::One)
                .then(Arc::<SqliteWriterLock>::default),
            busy_timeout: target.options.busy_timeout,
            waits_by_itself: target.options.writers == SqliteWriters::Sqlite,
            begin: target.options.begin,
            keeps_statements: target.options.statement_cache,
            confined: Arc::default(),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        #[cfg(loaded)]
        let parts = match &target.place {
            SqlitePlace::File(path) if library.is_berkeley_db() => Some(crate::berkeley::parts(path)),
            _ => None,
        };
        #[cfg(not(loaded))]
        let parts = None;
        let is_real = target.place != SqlitePlace::Memory && parts.is_none();
        // What is wrong with the extension is reported where a session loads it.
        let _ = SqliteConnection::register_vfs(library, &target.options);
        let files = if is_real { CountingFiles::register(library, target.options.vfs) } else { None };
        Self {
            target,
            number,
            shared,
            one_writer: OneWriterPlace::default(),
            files,
            opened: Mutex::new(None),
            shared_connection: Arc::default(),
            last_image_bytes: AtomicU64::new(0),
            sessions: AtomicU64::new(1),
            resolved: OnceLock::new(),
            enforces: OnceLock::new(),
            parts,
            access,
        }
    }

    /// Parsed target.
    pub fn target(&self) -> &SqliteTarget {
        &self.target
    }

    fn opened(&self) -> MutexGuard<'_, Option<SqliteConnection>> {
        locked(&self.opened)
    }

    /// Database that a connection opens.
    fn source(&self) -> Result<SqliteSource> {
        let (number, library) = (self.number, self.library());
        let path = self.path().unwrap_or(Path::new(""));
        Ok(match (&self.target.place, self.target.memory_kind()) {
            (SqlitePlace::File(_), _) => {
                if let DatabaseAccess::ReadOnly { is_immutable } = self.access {
                    return SqliteSource::read_only(library, path, is_immutable);
                }
                let source =
                    SqliteSource::file(library, path, true)?.with_shared_cache(self.target.options.shared_cache);
                source.with_files(self.files.clone())
            }
            (SqlitePlace::Memory, MemoryKind::Ram) => {
                SqliteSource::uri(library, &format!("file:{}?vfs=bourse-ram", self.ram_name()), false)
            }
            // A name that begins with a slash is one image for the whole process.
            (SqlitePlace::Memory, MemoryKind::MemDb) => {
                SqliteSource::uri(library, &format!("file:/bourse-{number}?vfs=memdb"), false)
            }
            (SqlitePlace::Memory, MemoryKind::SharedCache) => {
                SqliteSource::memory(library, &format!("bourse-{number}"), true)
            }
            (SqlitePlace::Memory, MemoryKind::Private) => {
                SqliteSource::memory(library, &format!("bourse-{number}"), false)
            }
        })
    }

    /// Whether sessions use the database with its own settings, neither read-only nor as a copy.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.access, DatabaseAccess::Full)
    }

    /// Copy of SQLite that it calls.
    pub(crate) fn library(&self) -> SqliteLibrary {
        self.shared.library
    }

    /// Parts that sessions share.
    #[cfg(test)]
    pub(crate) fn shared(&self) -> SharedEngine {
        self.shared.clone()
    }

    /// Opens a connection with all settings, or a read-only one if the database is only read.
    ///
    /// # Errors
    /// The library's; [`Refused`](bourse_engine::ErrorKind::Refused) if Bourse did not make the file at the path.
    pub(crate) fn connection(&self) -> Result<LentConnection> {
        let source = self.source()?;
        let SqliteTarget { place, options, .. } = &self.target;
        let options = &options.divided(self.sessions.load(Ordering::Relaxed));
        let is_new = self.path().is_some() && !self.is_there()?;
        if is_new {
            match (&self.parts, self.files()) {
                #[cfg(loaded)]
                (Some(parts), _) => crate::berkeley::make(parts, options)?,
                (_, Some(files)) => {
                    // Else a database would be left that nothing can be loaded into.
                    files.refuse_taken()?;
                    files.open_or_make()?;
                }
                _ => {}
            }
        }
        if matches!(self.access, DatabaseAccess::ReadOnly { .. }) {
            return SqliteConnection::open_to_read(&source, options, &self.shared.waits).map(LentConnection::from);
        }
        let open = || SqliteConnection::open_with(place, &source, options, &self.shared.waits, is_new);
        if self.is_private() {
            let connection = self.shared_connection.lend(open)?;
            // Before it is set up, which its last session may not do.
            self.shared.confine(&connection)?;
            connection.set_up_again(place, options)?;
            return Ok(connection);
        }
        let mut opened = self.opened();
        if self.is_ram() {
            memvfs::register(self.library());
        } else if self.target.place == SqlitePlace::Memory && opened.is_none() {
            let first = open()?;
            if self.target.memory_kind() == MemoryKind::MemDb {
                first.limit_memory_image(MemoryKind::IMAGE_LIMIT)?;
            }
            *opened = Some(first);
        }
        let connection = open()?;
        self.shared.confine(&connection)?;
        Ok(LentConnection::from(connection))
    }

    /// Place of the connection of a private database while no session has it.
    pub(crate) fn shared_connection(&self) -> Arc<SharedConnection> {
        Arc::clone(&self.shared_connection)
    }

    /// Size of a database in memory, in bytes.
    fn memory_image_bytes(&self) -> u64 {
        // A cache has no file to ask. While a writer has a shared one's page count locked, or a session has the private
        // one, the last answer stands.
        let pages = |connection: &SqliteConnection| {
            let number = |pragma| connection.text_of(pragma).ok()?.parse::<u64>().ok();
            Some(number("PRAGMA page_count")? * number("PRAGMA page_size")?)
        };
        let bytes = match self.target.memory_kind() {
            MemoryKind::Private => self.shared_connection.look(pages).flatten(),
            MemoryKind::MemDb => self.opened().as_ref().map(SqliteConnection::file_bytes),
            MemoryKind::SharedCache | MemoryKind::Ram => self.opened().as_ref().and_then(pages),
        };
        if let Some(bytes) = bytes {
            self.last_image_bytes.store(bytes, Ordering::Relaxed);
        }
        self.last_image_bytes.load(Ordering::Relaxed)
    }

    /// Whether the database is in Bourse's file system in memory.
    fn is_ram(&self) -> bool {
        self.target.place == SqlitePlace::Memory && self.target.memory_kind() == MemoryKind::Ram
    }

    /// Name of the database in Bourse's file system in memory.
    pub(crate) fn ram_name(&self) -> String {
        format!("/bourse-{}", self.number)
    }

    /// Lock waits; `None` if they are not counted.
    fn lock_waits(&self) -> Option<LockStats> {
        if !self.shared.waits_by_itself {
            return Some(self.shared.waits.totals());
        }
        // SQLite's own file systems in memory sleep where nobody counts.
        (self.path().is_some() || self.is_ram()).then(|| SQLITES_OWN.totals())
    }

    /// Whether only one session can be open at a time.
    fn is_one_session(&self) -> bool {
        let options = &self.target.options;
        // That file system has no locks.
        let has_locks = options.locking != Locking::Exclusive && options.vfs != Some("unix-none");
        self.is_private() || !has_locks || !self.library().is_threadsafe()
    }

    /// Whether the database in memory is private to one session.
    fn is_private(&self) -> bool {
        self.target.place == SqlitePlace::Memory && self.target.memory_kind() == MemoryKind::Private
    }

    /// Whether declared foreign keys are enforced: by the target's setting, or by the library's default.
    fn has_foreign_keys(&self) -> bool {
        if self.target.options.sets.has("foreign_keys") {
            return self.target.options.foreign_keys;
        }
        *self.enforces.get_or_init(|| {
            let source = SqliteSource::memory(self.library(), "bourse-defaults", false);
            let connection = SqliteConnection::open(&source, &self.target.options, &self.shared.waits);
            connection.and_then(|it| it.text_of("PRAGMA foreign_keys")).is_ok_and(|value| value == "1")
        })
    }

    /// Whether commits go to a write-ahead log.
    fn has_log(&self) -> bool {
        self.target.options.journal == SqliteJournal::Wal && (self.path().is_some() || self.is_ram())
    }

    /// Files of the database; `None` in memory.
    pub(crate) fn files(&self) -> Option<DatabaseFiles> {
        match &self.parts {
            Some(parts) => Some(parts.files()),
            None => self.path().map(files_at),
        }
    }

    /// Whether Bourse has made the database in its files.
    ///
    /// # Errors
    /// [`Refused`](bourse_engine::ErrorKind::Refused) if something else is at its path; the system's.
    fn is_there(&self) -> Result<bool> {
        let is_made = self.files().map_or(Ok(false), |files| files.exists())?;
        Ok(is_made && (self.parts.is_none() || self.path().is_some_and(Path::exists)))
    }

    /// Path of the file, with links followed.
    pub(crate) fn path(&self) -> Option<&Path> {
        let SqlitePlace::File(path) = &self.target.place else { return None };
        #[cfg(loaded)]
        if let Some(parts) = &self.parts {
            return Some(self.resolved.get_or_init(|| crate::berkeley::file_in(&parts.database())));
        }
        if let Some(resolved) = self.resolved.get() {
            return Some(resolved);
        }
        match TargetFile::at(path) {
            Ok(found) => Some(self.resolved.get_or_init(|| found.path().to_owned())),
            // Whoever opens it is told.
            Err(_) => Some(path),
        }
    }
}

impl Drop for SqliteEngine {
    fn drop(&mut self) {
        if self.is_ram() {
            memvfs::forget(&self.ram_name());
        }
    }
}

impl Engine for SqliteEngine {
    fn description(&self) -> Result<Description> {
        describe::describe(&self.target, &*self.connection()?)
    }

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.sessions.store(sessions as u64, Ordering::Relaxed);
        let (whole, divided) = (self.target.options, self.target.options.divided(sessions as u64));
        (divided.cache_bytes < whole.cache_bytes && !self.is_private()).then(|| {
            format!(
                "page cache of {} KiB a session instead of {} KiB, so that {sessions} sessions stay within {} GiB; \
                 `cache=` sets it",
                divided.cache_bytes >> 10,
                whole.cache_bytes >> 10,
                crate::SqliteOptions::CACHES_BYTES >> 30
            )
        })
    }

    fn capabilities(&self) -> Capabilities {
        let one_session = self.is_one_session();
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
                foreign_keys: self.has_foreign_keys(),
                checks: self.target.options.checks,
                row_conflicts: true,
            }),
            concurrent_writers: false,
            // In a shared cache readers and writers lock each other out by table.
            snapshots: (self.has_log() || self.parts.is_some()) && !self.target.options.shared_cache && !one_session,
            checkpoints: self.has_log(),
            one_session,
            processes: self.path().is_some() && self.parts.is_none() && !one_session,
            records: Some(RecordCapabilities::OVER_SQL),
            guarantees: match self.target.options.read_uncommitted {
                true => [Guarantee::ReadUncommitted; 3],
                false => Guarantee::ALWAYS_SERIALIZABLE,
            },
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn foreign(&self) -> Result<Option<String>> {
        self.files().map_or(Ok(None), |files| files.foreign_in_sqlite())
    }

    fn for_reading(&self) -> Result<Option<ForReading>> {
        if self.parts.is_some() {
            // Berkeley DB makes its shared memory in the folder, whoever opens the database.
            return Ok(None);
        }
        reading::open(self)
    }

    fn for_inspection(&self) -> Result<Option<ForReading>> {
        if self.parts.is_some() { Ok(None) } else { reading::open_for_inspection(self) }
    }

    fn exists(&self) -> Result<bool> {
        if self.path().is_some() && !self.is_there()? {
            return Ok(false);
        }
        // No setting is needed to look, and none must be changed by looking.
        let connection = match &self.target.place {
            SqlitePlace::File(_) => {
                LentConnection::from(SqliteConnection::open(&self.source()?, &self.target.options, &self.shared.waits)?)
            }
            SqlitePlace::Memory => self.connection()?,
        };
        Ok(connection.text_of("SELECT count(*) FROM sqlite_master WHERE type = 'table'")? != "0")
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        // Each row says what is wrong with one thing; of a database that is whole there is the one row "ok".
        let connection = self.connection()?;
        #[cfg(loaded)]
        let found = self.library().integrity_check(&connection)?;
        #[cfg(not(loaded))]
        let found = connection.lines_of("PRAGMA integrity_check(20)")?;
        Ok(Some(found.iter().flat_map(|row| row.lines()).filter(|line| *line != "ok").map(str::to_owned).collect()))
    }

    fn location(&self) -> Location {
        self.files().map_or(Location::Memory, Location::Files)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        if let Some(parts) = &self.parts {
            if parts.refuse_use().is_ok() {
                // What a crash has left is put right first.
                drop(self.connection()?);
            }
            return parts.copy();
        }
        snapshot::take(self)
    }

    fn footprint(&self) -> Result<Footprint> {
        let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        #[cfg(loaded)]
        if let Some(parts) = &self.parts {
            let bytes = bourse_engine::folder_bytes(&parts.database(), &crate::berkeley::is_log);
            return Ok(Footprint {
                data_bytes: bytes.data,
                log_bytes: bytes.log,
                memory_bytes: self.library().memory_bytes(),
                locks: self.lock_waits(),
                ..Footprint::default()
            });
        }
        let (data_bytes, log_bytes, journal_bytes) = match self.path() {
            Some(path) => {
                (size(path), size(&path_with_suffix(path, "-wal")), size(&path_with_suffix(path, "-journal")))
            }
            None if self.is_ram() => {
                let name = self.ram_name();
                (memvfs::size(&name), memvfs::size(&format!("{name}-wal")), memvfs::size(&format!("{name}-journal")))
            }
            None => (self.memory_image_bytes(), 0, 0),
        };
        Ok(Footprint {
            data_bytes,
            log_bytes,
            journal_bytes,
            memory_bytes: self.library().memory_bytes(),
            locks: self.lock_waits(),
            server: None,
        })
    }

    fn conflicts(&self) -> Vec<Conflicts> {
        let [busy, out_of_date] = self.shared.waits.conflicts();
        vec![
            Conflicts { name: "SQLITE_BUSY", count: busy },
            Conflicts { name: "SQLITE_BUSY_SNAPSHOT", count: out_of_date },
        ]
    }

    fn counters(&self) -> Result<Vec<Counter>> {
        let misses = self.files.as_ref().map(|files| files.pages_read());
        Ok(misses.map(|value| Counter { name: "page cache misses".to_owned(), value }).into_iter().collect())
    }

    fn io_counts(&self) -> Result<Option<IoCounts>> {
        // Memory of ours goes through no file system, and so asks nothing of one: not even for sorting.
        let nothing = self.is_ram().then_some(IoCounts::TIMED);
        Ok(self.files.as_ref().map(|files| files.counts()).or(nothing))
    }
}

impl SqlEngine for SqliteEngine {
    fn dialect(&self) -> &'static Dialect {
        self.library().dialect()
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        let options = &self.target.options;
        let confined = || {
            let connection = self.connection()?;
            self.shared.confine_session(&connection)?;
            Ok::<_, EngineError>(connection)
        };
        let connection = confined()?;
        if options.writers == SqliteWriters::Sqlite {
            connection.wait_by_itself(options.busy_timeout)?;
        }
        let one_writer = match options.writers {
            SqliteWriters::One => Some(self.one_writer.get(|| PreparedConnection::new(confined()?, options.begin))?),
            SqliteWriters::Queue | SqliteWriters::Busy | SqliteWriters::Sqlite => None,
        };
        Ok(Box::new(SqliteSession::new(connection, self.shared.clone(), one_writer)?))
    }

    fn confine(&self) {
        let (waits, library) = (Arc::clone(&self.shared.waits), self.library());
        let ends = || AwaitedConnection::of_calls(move || waits.interrupt_statements(library));
        self.shared.confined.get_or_init(ends);
    }

    fn interrupt_statements(&self) {
        self.shared.waits.interrupt_statements(self.library());
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        #[cfg(loaded)]
        if let Some(parts) = &self.parts {
            return crate::berkeley::folder_loader(parts, self.target.options, &self.shared);
        }
        match self.files() {
            Some(files) => file_loader(&files, self.target.options, self.shared.clone()),
            None if self.is_ram() => ram_loader(self.ram_name(), self.target.options, self.shared.clone()),
            None => memory_loader(self.connection()?, self.target.memory_kind(), &self.shared),
        }
    }
}

/// Whether a connection's calls take its mutex.
pub(crate) fn threading(connection: &SqliteConnection) -> Threading {
    // SAFETY: the connection is open; the mutex is only compared with null.
    let mutex = unsafe { connection.library().sqlite3_db_mutex(connection.raw()) };
    if mutex.is_null() { Threading::NoMutex } else { Threading::FullMutex }
}
