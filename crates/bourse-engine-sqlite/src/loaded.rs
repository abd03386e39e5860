//! A library with SQLite's C interface, loaded at run time: another version, build or derivative of SQLite.
//!
//! Each library is loaded once and never unloaded, since it stores addresses of Bourse's file systems. Its names are
//! local (`RTLD_LOCAL`), and it resolves them before those of this program, which exports none. Only if another copy's
//! names are global in this process after all, as after `LD_PRELOAD`, may it bind to those. Such a library is loaded
//! anew with its own names first (`RTLD_DEEPBIND`).

use crate::ffi::{self, SqliteFunctions};
use crate::library::{ENGINE, SCHEME};
use crate::options::interned;
use bourse_engine::target::TargetError;
use bourse_engine::{Dialect, locked};
use sha2::{Digest as _, Sha256};
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// Name passed to the system's loader if a target names no library.
const SYSTEMS: &str = if cfg!(windows) {
    "sqlite3.dll"
} else if cfg!(target_os = "macos") {
    "libsqlite3.dylib"
} else {
    "libsqlite3.so.0"
};

/// First version that has tables clustered by their key (`WITHOUT ROWID`).
const CLUSTERS: c_int = 3_008_002;

/// Oldest version that can be loaded: Berkeley DB SQL's.
const OLDEST: c_int = 3_007_006;

/// A loaded library.
#[derive(Clone, Copy)]
pub(crate) struct SqliteLibrary(&'static LoadedSqlite);

struct LoadedSqlite {
    functions: SqliteFunctions,
    more: OptionalFunctions,
    /// Name that distinguishes it from others in this process.
    name: &'static str,
    path: PathBuf,
    sha256: OnceLock<String>,
    /// Binding of its names, if unusual.
    binding: Option<String>,
    number: c_int,
    is_threadsafe: bool,
    /// Whether a session is open, of a library that allows only one.
    is_in_session: AtomicBool,
}

/// Functions needed only for libraries of other versions or builds.
struct OptionalFunctions {
    bind_blob: unsafe extern "C" fn(
        *mut ffi::sqlite3_stmt,
        c_int,
        *const c_void,
        c_int,
        Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int,
    changes: unsafe extern "C" fn(*mut ffi::sqlite3) -> c_int,
    db_config: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, ...) -> c_int,
    extended_result_codes: unsafe extern "C" fn(*mut ffi::sqlite3, c_int) -> c_int,
    libversion_number: unsafe extern "C" fn() -> c_int,
    prepare_v2: unsafe extern "C" fn(
        *mut ffi::sqlite3,
        *const c_char,
        c_int,
        *mut *mut ffi::sqlite3_stmt,
        *mut *const c_char,
    ) -> c_int,
    threadsafe: unsafe extern "C" fn() -> c_int,
    compileoption_used: Option<unsafe extern "C" fn(*const c_char) -> c_int>,
    key: Option<unsafe extern "C" fn(*mut ffi::sqlite3, *const c_void, c_int) -> c_int>,
}

impl OptionalFunctions {
    /// # Errors
    /// The name of the missing function.
    ///
    /// # Safety
    /// That of [`SqliteFunctions::of`].
    unsafe fn of(library: &libloading::Library) -> Result<Self, Vec<&'static str>> {
        macro_rules! get {
            ($name:literal) => {
                // SAFETY: the function of that name has this type in SQLite's header, and the caller promises that it is
                // SQLite's.
                unsafe { library.get($name) }.map(|found| *found)
            };
        }
        macro_rules! need {
            ($name:literal) => {
                get!($name).map_err(|_| vec![$name])?
            };
        }
        Ok(Self {
            bind_blob: need!("sqlite3_bind_blob"),
            changes: need!("sqlite3_changes"),
            db_config: need!("sqlite3_db_config"),
            extended_result_codes: need!("sqlite3_extended_result_codes"),
            libversion_number: need!("sqlite3_libversion_number"),
            prepare_v2: need!("sqlite3_prepare_v2"),
            threadsafe: need!("sqlite3_threadsafe"),
            compileoption_used: get!("sqlite3_compileoption_used").ok(),
            key: get!("sqlite3_key").ok(),
        })
    }
}

impl fmt::Debug for SqliteLibrary {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.0.name)
    }
}

/// Advice for installing the system's SQLite.
const PACKAGE: &str = "`apt-get install libsqlite3-0` (Debian, Ubuntu) or `dnf install sqlite-libs` (Fedora) gets it; ";

/// Loads a library, once in a process: from a path, or by a name without a slash from the system's loader; the system's
/// SQLite if `named` is `None`.
///
/// # Errors
/// [`TargetError::Library`]: it cannot be loaded, or is not SQLite.
pub(crate) fn load(named: Option<&'static str>) -> Result<SqliteLibrary, TargetError> {
    /// Loaded libraries, each under the given name and under its path.
    static LOADED: Mutex<Vec<(&'static str, SqliteLibrary)>> = Mutex::new(Vec::new());
    let named = named.unwrap_or(SYSTEMS);
    let mut loaded = locked(&LOADED);
    if let Some((_, library)) = loaded.iter().find(|(name, _)| *name == named) {
        return Ok(*library);
    }
    let package = if named == SYSTEMS { PACKAGE } else { "" };
    let refused = |why: String| {
        TargetError::Library(format!(
            "{why}; {package}`library=` names the file of a library with SQLite's C interface, as \
             library=/path/libsqlite3.so"
        ))
    };
    if named.contains('/') && !Path::new(named).is_file() {
        return Err(refused(format!("cannot load {named}: there is no such file")));
    }
    // SAFETY: whoever names a library says that it is SQLite or made of it, whose initialisers touch nothing of ours.
    let (found, binding) =
        unsafe { opened(named) }.map_err(|cause| refused(format!("cannot load {named}: {cause}")))?;
    // SAFETY: as above; it is never unloaded.
    let functions =
        unsafe { SqliteFunctions::of(&found).and_then(|functions| Ok((functions, OptionalFunctions::of(&found)?))) };
    let (functions, more) = functions.map_err(|missing| {
        refused(format!("{named} does not have SQLite's C interface: it lacks {}", missing.join(", ")))
    })?;
    // SAFETY: takes no argument.
    let (number, threadsafe) = unsafe { ((more.libversion_number)(), (more.threadsafe)()) };
    if number < OLDEST {
        return Err(refused(format!("{named} is SQLite {}, older than {}", shown(number), shown(OLDEST))));
    }
    let is_path = named.contains('/');
    let path =
        if is_path { Path::new(named).canonicalize().ok() } else { path_of(more.libversion_number as *const c_void) };
    let path = path.unwrap_or_else(|| named.into());
    // Two names of one file are one library.
    let library = match loaded.iter().find(|(_, known)| known.0.path == path) {
        Some((_, known)) => *known,
        None => SqliteLibrary(Box::leak(Box::new(LoadedSqlite {
            functions,
            more,
            name: interned(&format!("{SCHEME} with {}", path.display())),
            path,
            sha256: OnceLock::new(),
            binding,
            number,
            is_threadsafe: threadsafe != 0,
            is_in_session: AtomicBool::new(false),
        }))),
    };
    std::mem::forget(found);
    loaded.push((named, library));
    Ok(library)
}

/// An opened library, and the binding of its names if unusual.
type OpenedLibrary = (libloading::Library, Option<String>);

/// Opens a library, and again with its own names first if it is bound to another copy.
///
/// # Errors
/// The loader's message.
///
/// # Safety
/// That of [`libloading::Library::new`].
#[cfg(unix)]
unsafe fn opened(name: &str) -> Result<OpenedLibrary, String> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: as the caller promises.
    let open = |flags| unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL | flags) }.map_err(|e| cause(&e));
    let (library, others) = bound(open(0)?);
    let Some(others) = others else { return Ok((library.into(), None)) };
    // Nothing of it was called yet.
    drop(library);
    let (library, still) = bound(open(DEEPLY)?);
    match still {
        None => Ok((library.into(), Some(format!("its own names first (RTLD_DEEPBIND), before those of {others}")))),
        Some(others) => Err(format!(
            "its functions would call those of {others}, whose names are global in this process (as LD_PRELOAD makes \
             them), and it was loaded with them"
        )),
    }
}

/// Opens a library.
///
/// # Errors
/// The loader's message.
///
/// # Safety
/// That of [`libloading::Library::new`].
#[cfg(not(unix))]
unsafe fn opened(name: &str) -> Result<OpenedLibrary, String> {
    // SAFETY: as the caller promises.
    unsafe { libloading::Library::new(name) }.map(|library| (library, None)).map_err(|e| cause(&e))
}

/// The system loader's own message, which is the source of libloading's.
fn cause(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// A library, and the file of another copy of SQLite that its functions call; `None` if they call its own.
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn bound(library: libloading::os::unix::Library) -> (libloading::os::unix::Library, Option<String>) {
    let handle = library.into_raw();
    // SAFETY: the handle is open, by `RTLD_NOW`.
    let others = unsafe { crate::binding::foreign(handle) }
        .map(|address| path_of(address).map_or_else(|| "this program".to_owned(), |path| path.display().to_string()));
    // SAFETY: it is the handle of the library that was given up above.
    (unsafe { libloading::os::unix::Library::from_raw(handle) }, others)
}

/// Returns the library: bindings on other systems have not been examined.
#[cfg(all(
    unix,
    not(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))
))]
fn bound(library: libloading::os::unix::Library) -> (libloading::os::unix::Library, Option<String>) {
    (library, None)
}

/// Flag by which a library resolves its own names first.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const DEEPLY: c_int = libc::RTLD_DEEPBIND;
#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
const DEEPLY: c_int = 0;

/// File that an address was loaded from.
#[cfg(unix)]
fn path_of(address: *const c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the answer is filled in if this returns something else than 0, and its name
    // stays as long as the library is loaded.
    let name = unsafe {
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            return None;
        }
        let name = found.assume_init().dli_fname;
        if name.is_null() {
            return None;
        }
        CStr::from_ptr(name)
    };
    Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())).canonicalize().ok()
}

#[cfg(not(unix))]
fn path_of(_: *const c_void) -> Option<PathBuf> {
    None
}

/// Version as text: 3007006 is 3.7.6.
pub(crate) fn shown(number: c_int) -> String {
    format!("{}.{}.{}", number / 1_000_000, number / 1_000 % 1_000, number % 1_000)
}

impl SqliteLibrary {
    #[inline(always)]
    pub(crate) fn functions(self) -> &'static SqliteFunctions {
        &self.0.functions
    }

    /// Name that distinguishes it from other copies in this process.
    pub(crate) fn name(self) -> &'static str {
        self.0.name
    }

    /// Version as a number, 3007006 for 3.7.6.
    pub(crate) fn number(self) -> c_int {
        self.0.number
    }

    /// Name, version and path, for a message.
    pub(crate) fn description(self) -> String {
        format!("{ENGINE} {} of {}", self.version(), self.0.path.display())
    }

    /// SQL dialect of the library.
    pub(crate) fn dialect(self) -> &'static Dialect {
        if self.number() >= CLUSTERS { &bourse_schema::SQLITE } else { &bourse_schema::OLD_SQLITE }
    }

    /// Whether `PRAGMA cache_size` counts pages alone: since version 3.7.10 a negative number counts KiB.
    pub(crate) fn counts_caches_in_pages(self) -> bool {
        self.number() < 3_007_010
    }

    /// Whether several threads may call it concurrently.
    pub(crate) fn is_threadsafe(self) -> bool {
        self.0.is_threadsafe
    }

    /// Whether it was compiled with an option; false for a library that does not report its options.
    pub(crate) fn is_compiled_with(self, option: &CStr) -> bool {
        // SAFETY: the name ends in zero.
        self.0.more.compileoption_used.is_some_and(|ask| unsafe { ask(option.as_ptr()) != 0 })
    }

    /// Whether databases can be encrypted.
    pub(crate) fn has_keys(self) -> bool {
        self.0.more.key.is_some()
    }

    /// Flags for opening every connection.
    pub(crate) fn open_flags(self) -> c_int {
        if self.number() >= 3_037_000 { ffi::SQLITE_OPEN_EXRESCODE } else { 0 }
    }

    /// Applies settings that older versions have no flag for, and the key of an encrypted database. Returns SQLite's
    /// code.
    ///
    /// # Safety
    /// `db` must be a connection of this library that was just opened.
    pub(crate) unsafe fn prepare(self, db: *mut ffi::sqlite3, key: Option<&[u8]>) -> c_int {
        // SAFETY: as the caller promises; the key is copied.
        unsafe {
            let code = (self.0.more.extended_result_codes)(db, 1);
            match (key, self.0.more.key) {
                _ if code != ffi::SQLITE_OK => code,
                (None, _) => ffi::SQLITE_OK,
                (Some(key), Some(set)) => {
                    set(db, key.as_ptr().cast(), c_int::try_from(key.len()).unwrap_or(c_int::MAX))
                }
                (Some(_), None) => ffi::SQLITE_MISUSE,
            }
        }
    }

    /// Facts for the run file in addition to the version.
    pub(crate) fn facts(self) -> Vec<(&'static str, String)> {
        let LoadedSqlite { path, sha256, binding, .. } = self.0;
        let sha256 = sha256.get_or_init(|| match fs::read(path) {
            Ok(bytes) => format!("{:x}", Sha256::digest(bytes)),
            Err(error) => format!("cannot be read: {error}"),
        });
        let mut facts = vec![("library", path.display().to_string()), ("library_sha256", sha256.clone())];
        facts.extend(fs::metadata(path).ok().map(|file| ("library_bytes", file.len().to_string())));
        facts.extend(binding.clone().map(|binding| ("library_binding", binding)));
        facts
    }

    /// Begins a session; `None` if another one is open and the library allows only one.
    pub(crate) fn begin_session(self) -> Option<InSession> {
        let begins = self.is_threadsafe() || !self.0.is_in_session.swap(true, Ordering::AcqRel);
        begins.then(|| InSession(self))
    }
}

/// A session of a library, for as long as this lives.
#[derive(Debug)]
pub(crate) struct InSession(SqliteLibrary);

impl Drop for InSession {
    fn drop(&mut self) {
        self.0.0.is_in_session.store(false, Ordering::Release);
    }
}

/// Substitutes for functions that older versions lack.
///
/// SAFETY of each: the documentation of the function of that name in C.
#[allow(clippy::missing_safety_doc, clippy::too_many_arguments, reason = "as in C")]
impl SqliteLibrary {
    pub(crate) unsafe fn sqlite3_db_config(
        self,
        db: *mut ffi::sqlite3,
        operation: c_int,
        on: c_int,
        is_on: *mut c_int,
    ) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { (self.0.more.db_config)(db, operation, on, is_on) }
    }

    pub(crate) unsafe fn sqlite3_bind_blob64(
        self,
        stmt: *mut ffi::sqlite3_stmt,
        at: c_int,
        bytes: *const c_void,
        length: u64,
        end: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int {
        // SAFETY: as the caller promises.
        unsafe {
            match (self.0.functions.sqlite3_bind_blob64, c_int::try_from(length)) {
                (Some(bind), _) => bind(stmt, at, bytes, length, end),
                (None, Ok(length)) => (self.0.more.bind_blob)(stmt, at, bytes, length, end),
                (None, Err(_)) => ffi::SQLITE_TOOBIG,
            }
        }
    }

    pub(crate) unsafe fn sqlite3_bind_text64(
        self,
        stmt: *mut ffi::sqlite3_stmt,
        at: c_int,
        text: *const c_char,
        length: u64,
        end: Option<unsafe extern "C" fn(*mut c_void)>,
        encoding: c_uchar,
    ) -> c_int {
        // SAFETY: as the caller promises. Texts are UTF-8 here, as the other function takes them.
        unsafe {
            match (self.0.functions.sqlite3_bind_text64, c_int::try_from(length)) {
                (Some(bind), _) => bind(stmt, at, text, length, end, encoding),
                (None, Ok(length)) => self.sqlite3_bind_text(stmt, at, text, length, end),
                (None, Err(_)) => ffi::SQLITE_TOOBIG,
            }
        }
    }

    #[inline]
    pub(crate) unsafe fn sqlite3_changes64(self, db: *mut ffi::sqlite3) -> i64 {
        // SAFETY: as the caller promises.
        unsafe {
            match self.0.functions.sqlite3_changes64 {
                Some(changes) => changes(db),
                None => i64::from((self.0.more.changes)(db)),
            }
        }
    }

    pub(crate) unsafe fn sqlite3_errstr(self, code: c_int) -> *const c_char {
        match self.0.functions.sqlite3_errstr {
            // SAFETY: as the caller promises.
            Some(words) => unsafe { words(code) },
            None => c"this version has no words for the code".as_ptr(),
        }
    }

    /// Lets statements load extensions; a library that was compiled without them refuses.
    pub(crate) unsafe fn sqlite3_enable_load_extension(self, db: *mut ffi::sqlite3, on: c_int) -> c_int {
        // SAFETY: as the caller promises.
        self.0.functions.sqlite3_enable_load_extension.map_or(ffi::SQLITE_ERROR, |enable| unsafe { enable(db, on) })
    }

    /// Sets the authorizer; a library that was compiled without authorizers is limited to no attached files instead.
    pub(crate) unsafe fn sqlite3_set_authorizer(
        self,
        db: *mut ffi::sqlite3,
        authorizer: ffi::Authorizer,
        data: *mut c_void,
    ) -> c_int {
        const LIMIT_ATTACHED: c_int = 7;
        // SAFETY: as the caller promises.
        unsafe {
            match self.0.functions.sqlite3_set_authorizer {
                Some(set) => set(db, authorizer, data),
                None => {
                    self.sqlite3_limit(db, LIMIT_ATTACHED, 0);
                    ffi::SQLITE_OK
                }
            }
        }
    }

    pub(crate) unsafe fn sqlite3_prepare_v3(
        self,
        db: *mut ffi::sqlite3,
        sql: *const c_char,
        length: c_int,
        flags: c_uint,
        stmt: *mut *mut ffi::sqlite3_stmt,
        tail: *mut *const c_char,
    ) -> c_int {
        // SAFETY: as the caller promises. The flags are hints.
        unsafe {
            match self.0.functions.sqlite3_prepare_v3 {
                Some(prepare) => prepare(db, sql, length, flags, stmt, tail),
                None => (self.0.more.prepare_v2)(db, sql, length, stmt, tail),
            }
        }
    }
}
