//! An open database, in a file or in memory, and connections to it.

use crate::error::error;
use crate::files::{CountedFiles, FileCounts};
use crate::options::{TursoJournal, TursoOptions};
use crate::statement::{TursoStatement, WantedRows};
use bourse_engine::{
    EachRow, EngineError, ErrorKind, FileUse, Interruptible, OpenFiles, Params, Result, RowExt as _, locked,
};
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use turso_core::{IO, MemoryIO, OpenFlags, OpenOptions, SqliteDialect};

/// Turso's names of a database in memory, and of its log.
pub(crate) const MEMORY: [&str; 2] = [":memory:", ":memory:-wal"];

/// Open database. One in a file is closed with its last connection, which merges its log into it.
pub(crate) struct TursoDatabase {
    core: Arc<turso_core::Database>,
    io: Arc<dyn IO>,
    options: TursoOptions,
    /// Connections, also some that are closed.
    connections: Mutex<Vec<Weak<turso_core::Connection>>>,
    _use: Option<FileUse>,
}

/// Databases in files that this process has open.
static OPEN: OpenFiles<TursoOptions, TursoDatabase> = OpenFiles::new();

/// A path as Turso takes it; of a relative one Turso spells its log's name in two ways.
///
/// # Errors
/// [`Unsupported`](bourse_engine::ErrorKind::Unsupported) if it is not UTF-8; the system's.
pub(crate) fn as_text(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).map_err(|e| EngineError::io("resolve", path, &e))?;
    let not_utf8 = |_| EngineError::unsupported(format!("{}: Turso takes no path that is not UTF-8", path.display()));
    absolute.into_os_string().into_string().map_err(not_utf8)
}

impl TursoDatabase {
    /// Opens the database in an existing file, in the journal mode of its settings.
    ///
    /// # Errors
    /// Turso's; [`ErrorKind::Conflict`] if the file is open with other settings, or in another process.
    pub(crate) fn in_file(path: &Path, options: TursoOptions, counts: &FileCounts) -> Result<Arc<Self>> {
        OPEN.get(path, &options, || {
            let database = Self::alone(path, options, counts)?;
            database.set_journal()?;
            Ok(database)
        })
    }

    /// Opens a file that no other session knows, such as one that is being loaded, in its own journal mode; it may be empty.
    ///
    /// # Errors
    /// Turso's.
    pub(crate) fn alone(path: &Path, options: TursoOptions, counts: &FileCounts) -> Result<Arc<Self>> {
        Self::of_file(path, options, counts, OpenFlags::default())
    }

    /// Opens the database in an existing file read-only, in its own journal mode.
    ///
    /// # Errors
    /// Turso's.
    pub(crate) fn for_reading(path: &Path, options: TursoOptions, counts: &FileCounts) -> Result<Arc<Self>> {
        // Nothing is written, and of a database that was only loaded, which has no log of rows, Turso accepts no limit for it.
        let options = TursoOptions { checkpoint_bytes: None, ..options };
        Self::of_file(path, options, counts, OpenFlags::ReadOnly)
    }

    fn of_file(path: &Path, options: TursoOptions, counts: &FileCounts, flags: OpenFlags) -> Result<Arc<Self>> {
        let text = as_text(path)?;
        let used = FileUse::begin(path, "turso")?;
        let files = CountedFiles::new(&text, counts.clone())?;
        Self::open(Arc::new(files), &text, options, flags, Some(used))
    }

    /// Opens the database in memory that these files contain, in its own journal mode.
    ///
    /// # Errors
    /// Turso's.
    pub(crate) fn in_memory(files: Arc<MemoryIO>, options: TursoOptions) -> Result<Arc<Self>> {
        Self::open(files, MEMORY[0], options, OpenFlags::default(), None)
    }

    fn open(
        io: Arc<dyn IO>,
        path: &str,
        options: TursoOptions,
        flags: OpenFlags,
        used: Option<FileUse>,
    ) -> Result<Arc<Self>> {
        let with = OpenOptions::new(Arc::new(SqliteDialect)).flags(flags);
        let opened = turso_core::Database::open(Arc::clone(&io), path, with);
        let core = opened.map_err(|e| error(&e).during(format_args!("cannot open {path}")))?;
        Ok(Arc::new(Self { core, io, options, connections: Mutex::default(), _use: used }))
    }

    /// Changes to the journal mode of the settings; the database must not be open elsewhere.
    ///
    /// # Errors
    /// Turso's.
    pub(crate) fn set_journal(self: &Arc<Self>) -> Result<()> {
        let connection = TursoConnection::plain(self)?;
        let wanted = self.options.journal.word();
        if connection.text("PRAGMA journal_mode")? == wanted {
            return Ok(());
        }
        connection.write_log()?;
        let has = connection.text(&format!("PRAGMA journal_mode = '{wanted}'"))?;
        if has == wanted {
            return Ok(());
        }
        Err(EngineError::unsupported(format!("Turso keeps the journal mode {has} instead of {wanted}")))
    }

    pub(crate) fn options(&self) -> &TursoOptions {
        &self.options
    }

    /// Size in bytes of the files of a database in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let size = |name| self.io.open_file(name, OpenFlags::None, false).and_then(|file| file.size());
        MEMORY.into_iter().filter_map(|name| size(name).ok()).sum()
    }

    /// File system of the database.
    pub(crate) fn io(&self) -> &Arc<dyn IO> {
        &self.io
    }
}

impl Interruptible for TursoDatabase {
    fn interrupt_statements(&self) {
        locked(&self.connections).iter().filter_map(Weak::upgrade).for_each(|it| it.interrupt());
    }
}

/// Connection, which holds its database open.
pub(crate) struct TursoConnection {
    core: Arc<turso_core::Connection>,
    database: Arc<TursoDatabase>,
}

impl TursoConnection {
    /// Opens a connection with the settings of its database.
    ///
    /// # Errors
    /// Turso's.
    pub(crate) fn open(database: &Arc<TursoDatabase>) -> Result<Self> {
        let this = Self::plain(database)?;
        let TursoOptions {
            sync,
            cache_bytes,
            busy_timeout,
            foreign_keys,
            checks,
            temp_store,
            journal,
            checkpoint_bytes,
        } = database.options;
        let switch = |on: bool| if on { "ON" } else { "OFF" };
        this.run(&format!("PRAGMA synchronous = {}", sync.word()))?;
        this.run(&format!("PRAGMA cache_size = -{}", cache_bytes / 1_024))?;
        this.run(&format!("PRAGMA foreign_keys = {}", switch(foreign_keys)))?;
        this.run(&format!("PRAGMA ignore_check_constraints = {}", switch(!checks)))?;
        this.run(&format!("PRAGMA temp_store = {}", temp_store.word()))?;
        if let (TursoJournal::Mvcc, Some(bytes)) = (journal, checkpoint_bytes) {
            this.run(&format!("PRAGMA mvcc_checkpoint_threshold = {bytes}"))?;
        }
        this.core.set_busy_timeout(busy_timeout);
        Ok(this)
    }

    /// Opens a connection with Turso's default settings.
    ///
    /// # Errors
    /// Turso's.
    pub(crate) fn plain(database: &Arc<TursoDatabase>) -> Result<Self> {
        let core = database.core.connect().map_err(|e| error(&e))?;
        let mut connections = locked(&database.connections);
        connections.retain(|it| it.strong_count() > 0);
        connections.push(Arc::downgrade(&core));
        drop(connections);
        Ok(Self { core, database: Arc::clone(database) })
    }

    pub(crate) fn database(&self) -> &Arc<TursoDatabase> {
        &self.database
    }

    /// Whether no transaction is open.
    #[inline]
    pub(crate) fn is_autocommit(&self) -> bool {
        self.core.get_auto_commit()
    }

    /// Prepares the single statement of a text.
    ///
    /// # Errors
    /// Turso's, with the statement.
    pub(crate) fn prepare(&self, sql: &str) -> Result<TursoStatement> {
        let prepared = self.core.prepare(sql).map_err(|e| error(&e).with_statement(sql))?;
        let rest = sql.get(prepared.tail_offset()..).unwrap_or_default();
        if !rest.trim_matches(|c: char| c.is_whitespace() || c == ';').is_empty() {
            let words = "more than one statement in one text";
            return Err(EngineError::new(ErrorKind::Other, words).with_statement(sql));
        }
        Ok(TursoStatement::new(prepared, Arc::clone(&self.database.io)))
    }

    /// Runs a statement and ignores its rows.
    ///
    /// # Errors
    /// Turso's, with the statement.
    pub(crate) fn run(&self, sql: &str) -> Result<()> {
        self.query(sql, &mut |_| Ok(()))
    }

    /// Runs a query.
    ///
    /// # Errors
    /// Turso's, with the statement.
    pub(crate) fn query(&self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        let mut statement = self.prepare(sql)?;
        statement.run(Params::NONE, WantedRows::All, each).map(|_| ()).map_err(|e| e.with_statement(sql))
    }

    /// The first column of a query's last row as a text; empty without a row.
    ///
    /// # Errors
    /// Turso's, with the statement.
    pub(crate) fn text(&self, sql: &str) -> Result<String> {
        let mut text = String::new();
        self.query(sql, &mut |row| {
            text = row.value(0).to_string();
            Ok(())
        })?;
        Ok(text)
    }

    /// Merges all of the log into the database.
    ///
    /// # Errors
    /// Turso's; [`ErrorKind::Conflict`] if another session prevents it.
    pub(crate) fn write_log(&self) -> Result<()> {
        let mut is_busy = false;
        self.query("PRAGMA wal_checkpoint(TRUNCATE)", &mut |row| {
            is_busy = row.get::<i64>(0)? != 0;
            Ok(())
        })?;
        if is_busy {
            return Err(EngineError::new(ErrorKind::Conflict, "the log cannot be written back: a session is open"));
        }
        Ok(())
    }
}

impl Drop for TursoConnection {
    fn drop(&mut self) {
        // An open transaction is undone. The last connection merges the log into the database; if that fails, the next opening
        // does.
        let _ = self.core.close();
    }
}
