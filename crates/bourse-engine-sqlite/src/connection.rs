//! Connections of the C library: opened with a target's settings, closed with their last statement.

use crate::counting::{self, CountingFiles};
use crate::error::{error, words};
use crate::ffi::{self, SqliteLibrary};
use crate::options::{Defaults, Locking, MemoryKind, SqliteOptions, Threading};
use crate::source::SqliteSource;
use crate::statement::{CurrentRow, SqliteStatement};
use crate::target::SqlitePlace;
use crate::waits::{LockWaits, Patience, on_busy};
use bourse_engine::{EngineError, ErrorKind, FileUse, Result, Row as _, Value};
use std::ffi::{CStr, CString, c_int};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

/// An open connection.
#[derive(Debug)]
pub(crate) struct SqliteConnection {
    library: SqliteLibrary,
    db: NonNull<ffi::sqlite3>,
    patience: Box<Patience>,
    /// Whether the target names a key.
    #[cfg(loaded)]
    has_key: bool,
    /// File system, alive until the connection is closed.
    _files: Option<Arc<CountingFiles>>,
    /// Use of the file, alive until the connection is closed: the other build of the library must not open it.
    _use: Option<FileUse>,
}

// SAFETY: the library is compiled thread-safe, or has one session at a time, so a connection may be used by any thread as long as it is one at a time;
// it is not Sync, and its methods and its statements' are reached through one owner.
unsafe impl Send for SqliteConnection {}

impl SqliteConnection {
    /// Opens a connection with no settings but locks and patience.
    pub(crate) fn open(source: &SqliteSource, options: &SqliteOptions, waits: &Arc<LockWaits>) -> Result<Self> {
        let library = source.library;
        let code = library.start();
        if code != ffi::SQLITE_OK {
            return Err(error(code, words(library, code)));
        }
        let mut flags = library.open_flags();
        flags |= if source.read_only { ffi::SQLITE_OPEN_READONLY } else { ffi::SQLITE_OPEN_READWRITE };
        flags |= if source.create { ffi::SQLITE_OPEN_CREATE } else { 0 };
        flags |= if source.is_uri { ffi::SQLITE_OPEN_URI } else { 0 };
        flags |= match source.shared_cache {
            true => ffi::SQLITE_OPEN_SHAREDCACHE,
            false => ffi::SQLITE_OPEN_PRIVATECACHE,
        };
        flags |= match options.threading {
            _ if !options.sets.has("threading") => 0,
            Threading::NoMutex => ffi::SQLITE_OPEN_NOMUTEX,
            Threading::FullMutex => ffi::SQLITE_OPEN_FULLMUTEX,
        };
        Self::register_vfs(library, options)?;
        let used = source.path.as_deref().map(|path| FileUse::begin(path, library.name())).transpose()?;
        let mut db = ptr::null_mut();
        let counting = source.files.as_ref().or(source.path.as_ref().and_then(|_| counting::declared()));
        let named = options.vfs.filter(|_| source.path.is_some()).and_then(|name| CString::new(name).ok());
        let file_system = counting.map(|files| files.name()).or(named.as_deref()).map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: the names end in zero, the out pointer is valid, a null file system's name means the default.
        let code = unsafe { library.sqlite3_open_v2(source.name.as_ptr(), &mut db, flags, file_system) };
        let Some(db) = NonNull::new(db) else { return Err(error(code, words(library, code))) };
        let patience = Box::new(Patience::new(Arc::clone(waits), options.busy_timeout));
        let this = Self {
            library,
            db,
            patience,
            #[cfg(loaded)]
            has_key: options.key.is_some() && source.path.is_some(),
            _files: source.files.clone(),
            _use: used,
        };
        if code != ffi::SQLITE_OK {
            let name = source.name.to_string_lossy();
            return Err(error(code, format!("cannot open {name}: {}", this.message())));
        }
        #[cfg(loaded)]
        {
            let key =
                options.key.filter(|_| source.path.is_some()).map(crate::encrypted::KeySource::read).transpose()?;
            // SAFETY: the connection was just opened by this library.
            this.check(unsafe { library.prepare(this.raw(), key.as_deref()) })?;
            if library.is_berkeley_db() && source.path.is_some() {
                crate::berkeley::enable_snapshot_reads(&this)?;
            }
            if key.is_some() {
                // The header that would tell is encrypted too. Other libraries than SQLCipher take this for nothing.
                this.run(&format!("PRAGMA cipher_page_size = {}", options.page_size))?;
            }
        }
        // SAFETY: the patience is boxed and owned by this connection, so it stays where it is until after the close.
        let code = unsafe {
            library.sqlite3_busy_handler(this.raw(), Some(on_busy), ptr::from_ref(&*this.patience).cast_mut().cast())
        };
        this.check(code)?;
        if options.stable_plans {
            this.keep_plans()?;
        }
        #[cfg(not(lean))]
        if let Some(path) = options.extension {
            this.load_extension(path).map_err(|e| {
                EngineError::unsupported(format!("the extension {path} cannot be loaded: {}", e.message()))
            })?;
        }
        Ok(this)
    }

    /// Has the target's extension register the target's file system, if the library has none of that name yet.
    pub(crate) fn register_vfs(library: SqliteLibrary, options: &SqliteOptions) -> Result<()> {
        #[cfg(not(lean))]
        if let (Some(name), Some(_)) = (options.vfs.and_then(|name| CString::new(name).ok()), options.extension)
            && library.start() == ffi::SQLITE_OK
            // SAFETY: the name ends in zero.
            && unsafe { library.sqlite3_vfs_find(name.as_ptr()) }.is_null()
        {
            let source = SqliteSource::memory(library, "bourse-extension", false);
            return Self::open(&source, &SqliteOptions { vfs: None, ..*options }, &Arc::default()).map(drop);
        }
        let _ = (library, options);
        Ok(())
    }

    /// Loads an extension; afterwards no statement can load another one.
    #[cfg(not(lean))]
    fn load_extension(&self, path: &str) -> Result<()> {
        // SAFETY: the connection is open.
        let enable = |on| self.check(unsafe { self.library.sqlite3_enable_load_extension(self.raw(), on) });
        enable(1)?;
        self.run(&format!("SELECT load_extension('{}')", path.replace('\'', "''")))?;
        enable(0)
    }

    /// Opens a connection with all settings of a target.
    pub(crate) fn open_with(
        place: &SqlitePlace,
        source: &SqliteSource,
        options: &SqliteOptions,
        waits: &Arc<LockWaits>,
        is_new: bool,
    ) -> Result<Self> {
        let this = Self::open(source, options, waits)?;
        #[cfg(loaded)]
        if is_new && this.library.is_berkeley_db() {
            // It makes no file before something is written.
            this.set_page_size(options)?;
            this.run("PRAGMA user_version = 1")?;
        }
        let _ = is_new;
        this.set_up(place, options)?;
        Ok(this)
    }

    /// Opens a read-only connection, with those settings that write nothing.
    pub(crate) fn open_to_read(source: &SqliteSource, options: &SqliteOptions, waits: &Arc<LockWaits>) -> Result<Self> {
        let this = Self::open(source, options, waits)?;
        this.run(&format!("PRAGMA mmap_size = {}", options.mmap_bytes))?;
        this.set_cache(options.cache_bytes, options)?;
        this.run(&format!("PRAGMA temp_store = {}", options.temp_store.word()))?;
        Ok(this)
    }

    /// Sets the page size of a database that is still empty.
    pub(crate) fn set_page_size(&self, options: &SqliteOptions) -> Result<()> {
        match options.sets.has("page_size") {
            true => self.run(&format!("PRAGMA page_size = {}", options.page_size)),
            false => Ok(()),
        }
    }

    /// Sets the size of the page cache.
    pub(crate) fn set_cache(&self, bytes: u64, options: &SqliteOptions) -> Result<()> {
        #[cfg(loaded)]
        if self.library.counts_caches_in_pages() {
            return self.run(&format!("PRAGMA cache_size = {}", bytes / u64::from(options.page_size)));
        }
        let _ = options;
        self.run(&format!("PRAGMA cache_size = -{}", bytes / 1_024))
    }

    /// Applies all settings that the target sets.
    fn set_up(&self, place: &SqlitePlace, options: &SqliteOptions) -> Result<()> {
        let on = |flag| if flag { "ON" } else { "OFF" };
        let sets = |name| options.sets.has(name);
        // Only an empty database takes the page size, and only before its journal mode is set.
        self.set_page_size(options)?;
        if *place != SqlitePlace::Memory {
            if options.locking == Locking::Exclusive {
                self.run("PRAGMA locking_mode = EXCLUSIVE")?;
            }
            if cfg!(target_os = "macos") && options.defaults == Defaults::Bourse {
                // There fsync leaves the data in the drive's cache; this asks for more.
                self.run("PRAGMA fullfsync = ON")?;
            }
            if sets("mmap") {
                self.run(&format!("PRAGMA mmap_size = {}", options.mmap_bytes))?;
            }
        } else if options.has_ram_files() {
            // Any size makes SQLite ask for addresses of pages; the file system has one for every page.
            self.run("PRAGMA mmap_size = 1073741824")?;
        }
        if sets("journal") {
            let is_kept_by_library = cfg!(loaded)
                && *place == SqlitePlace::Memory
                && options.memory == MemoryKind::Private
                && !options.shared_cache;
            match self.set_journal(options.journal.word()) {
                // What a library keeps of a journal in its own memory is its affair; Berkeley DB says `delete` always.
                Err(e) if is_kept_by_library && e.kind() == ErrorKind::Unsupported => {}
                set => set?,
            }
        }
        if sets("autocheckpoint") && (*place != SqlitePlace::Memory || options.has_ram_files()) {
            self.run(&format!("PRAGMA wal_autocheckpoint = {}", options.autocheckpoint_pages))?;
        }
        if sets("sync") {
            self.run(&format!("PRAGMA synchronous = {}", options.sync.word()))?;
        }
        if sets("cache") {
            self.set_cache(options.cache_bytes, options)?;
        }
        if sets("foreign_keys") {
            self.run(&format!("PRAGMA foreign_keys = {}", on(options.foreign_keys)))?;
        }
        if sets("checks") {
            self.run(&format!("PRAGMA ignore_check_constraints = {}", on(!options.checks)))?;
        }
        if sets("temp_store") {
            self.run(&format!("PRAGMA temp_store = {}", options.temp_store.word()))?;
        }
        if options.read_uncommitted {
            self.run("PRAGMA read_uncommitted = ON")?;
        }
        Ok(())
    }

    /// Applies all settings of a target again, after a session that may have changed them, or made temporary objects.
    pub(crate) fn set_up_again(&self, place: &SqlitePlace, options: &SqliteOptions) -> Result<()> {
        for setting in
            ["threads", "case_sensitive_like", "query_only", "recursive_triggers", "reverse_unordered_selects"]
        {
            self.run(&format!("PRAGMA {setting} = 0"))?;
        }
        // A change of their place deletes temporary objects.
        for place in ["MEMORY", "FILE", "DEFAULT"] {
            self.run(&format!("PRAGMA temp_store = {place}"))?;
        }
        self.set_up(place, options)
    }

    /// Sets the journal mode, unless it is in force, and checks the result.
    ///
    /// Leaving the write-ahead log takes exclusive access to the file, so the pragma is used only when needed.
    pub(crate) fn set_journal(&self, wanted: &str) -> Result<()> {
        if self.text_of("PRAGMA journal_mode")? == wanted {
            return Ok(());
        }
        let found = self.text_of(&format!("PRAGMA journal_mode = {wanted}"))?;
        if found == wanted {
            Ok(())
        } else {
            Err(EngineError::new(
                ErrorKind::Unsupported,
                format!("wanted journal={wanted}, SQLite keeps {found}: the file system may not allow it"),
            ))
        }
    }

    /// Makes plans independent of the values bound: with the statistics of `ANALYZE`, SQLite would otherwise prepare a
    /// statement anew each time a parameter changes, at many times the cost of running it.
    fn keep_plans(&self) -> Result<()> {
        const ON: c_int = 1;
        // SAFETY: this operation takes an int and a pointer to an int that may be null.
        let code = unsafe {
            self.library.sqlite3_db_config(self.raw(), ffi::SQLITE_DBCONFIG_ENABLE_QPSG, ON, ptr::null_mut())
        };
        self.check(code)
    }

    /// Uses SQLite's own busy timeout from now on.
    pub(crate) fn wait_by_itself(&self, timeout: Duration) -> Result<()> {
        let ms = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
        // SAFETY: the connection is open; this takes the place of our busy handler.
        self.check(unsafe { self.library.sqlite3_busy_timeout(self.raw(), ms) })
    }

    /// Copy of SQLite that the connection belongs to.
    pub(crate) fn library(&self) -> SqliteLibrary {
        self.library
    }

    pub(crate) fn raw(&self) -> *mut ffi::sqlite3 {
        self.db.as_ptr()
    }

    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// SQLite's message for the latest error.
    pub(crate) fn message(&self) -> String {
        // SAFETY: the connection is open; the text is copied before any other call could replace it.
        let text = unsafe { CStr::from_ptr(self.library.sqlite3_errmsg(self.raw())) };
        text.to_string_lossy().into_owned()
    }

    /// Error for a code just returned by a call on this connection.
    #[cold]
    pub(crate) fn error(&self, code: c_int) -> EngineError {
        if matches!(code & 0xff, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) {
            self.patience.conflict(code);
        }
        #[cfg(loaded)]
        if code & 0xff == ffi::SQLITE_NOTADB && self.has_key {
            let why = "it cannot be read with this key: it has another one, or is not encrypted, or by another version";
            return error(code, format!("{}: {why}", self.message()));
        }
        if code & 0xff == ffi::SQLITE_AUTH {
            return error(code, format!("{}: {}", self.message(), crate::confined::WHY));
        }
        error(code, self.message())
    }

    pub(crate) fn check(&self, code: c_int) -> Result<()> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.error(code)) }
    }

    /// Whether no transaction is open.
    pub(crate) fn is_autocommit(&self) -> bool {
        // SAFETY: the connection is open.
        unsafe { self.library.sqlite3_get_autocommit(self.raw()) != 0 }
    }

    /// Number of rows changed by the latest change.
    pub(crate) fn changes(&self) -> u64 {
        // SAFETY: the connection is open.
        u64::try_from(unsafe { self.library.sqlite3_changes64(self.raw()) }).unwrap_or(0)
    }

    /// Runs statements and ignores results.
    pub(crate) fn run(&self, sql: &str) -> Result<()> {
        let mut rest = sql;
        loop {
            let (statement, tail) = SqliteStatement::prepare(self, rest, false).map_err(|e| e.with_statement(sql))?;
            if let Some(statement) = statement {
                statement.run_through(self, |_| Ok(())).map_err(|e| e.with_statement(sql))?;
            }
            if tail.trim().is_empty() {
                return Ok(());
            }
            rest = tail;
        }
    }

    /// Passes the rows of a query to `each`.
    pub(crate) fn query(&self, sql: &str, each: impl FnMut(&CurrentRow<'_>) -> Result<()>) -> Result<()> {
        let (statement, _) = SqliteStatement::prepare(self, sql, false).map_err(|e| e.with_statement(sql))?;
        let Some(statement) = statement else { return Ok(()) };
        statement.run_through(self, each).map_err(|e| e.with_statement(sql))
    }

    /// Single value of a query, as text.
    pub(crate) fn text_of(&self, sql: &str) -> Result<String> {
        let mut found = String::new();
        self.query(sql, |row| {
            found = match row.value(0) {
                Value::Null => String::new(),
                value => value.to_string(),
            };
            Ok(())
        })?;
        Ok(found)
    }

    /// First column of a query's rows, as text.
    pub(crate) fn lines_of(&self, sql: &str) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        self.query(sql, |row| {
            lines.push(row.value(0).to_string());
            Ok(())
        })?;
        Ok(lines)
    }

    /// Size of the database's file or image in bytes, without taking a lock; 0 if there is none.
    pub(crate) fn file_bytes(&self) -> u64 {
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        let mut size = 0;
        // SAFETY: FILE_POINTER writes the address of the main database's file, which lives as long as the connection;
        // its methods are null when it is not open.
        unsafe {
            let code = self.library.sqlite3_file_control(
                self.raw(),
                c"main".as_ptr(),
                ffi::SQLITE_FCNTL_FILE_POINTER,
                ptr::from_mut(&mut file).cast(),
            );
            if code != ffi::SQLITE_OK || file.is_null() || (*file).pMethods.is_null() {
                return 0;
            }
            match (*(*file).pMethods).xFileSize {
                Some(ask) if ask(file, &mut size) == ffi::SQLITE_OK => u64::try_from(size).unwrap_or(0),
                _ => 0,
            }
        }
    }

    /// Lets a `memdb` image grow to `bytes`.
    pub(crate) fn limit_memory_image(&self, bytes: i64) -> Result<()> {
        let mut limit = bytes;
        // SAFETY: SIZE_LIMIT reads and writes a 64-bit number.
        let code = unsafe {
            self.library.sqlite3_file_control(
                self.raw(),
                c"main".as_ptr(),
                ffi::SQLITE_FCNTL_SIZE_LIMIT,
                ptr::from_mut(&mut limit).cast(),
            )
        };
        self.check(code)
    }
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        self.patience.closes(self.raw());
        // SAFETY: the connection is open and closed once. Owners drop its statements first; should one be left, the close
        // is refused and the connection leaks, without a busy handler whose data is about to go away.
        let code = unsafe {
            self.library.sqlite3_busy_handler(self.raw(), None, ptr::null_mut());
            self.library.sqlite3_close(self.raw())
        };
        debug_assert_eq!(code, ffi::SQLITE_OK, "a statement outlived its connection");
    }
}
