//! The library: found, loaded once, its functions and methods declared as in `db.h`.
//!
//! Its objects are structures with pointers to their methods, at places that are the same in all of 5.3.

use bourse_engine::{EngineError, EngineLibrary, ErrorKind, Result, c_interface};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::Mutex;

/// Environment variable that names the library.
const LIBRARY_VARIABLE: &str = "BOURSE_BERKELEY_DB";

/// Name that the system's loader looks for if no library is named.
const NAME: &str = if cfg!(target_os = "macos") { "libdb-5.3.dylib" } else { "libdb-5.3.so" };

pub(super) static LIBRARY: EngineLibrary<BerkeleyApi> = EngineLibrary {
    variable: LIBRARY_VARIABLE,
    file_name: NAME,
    folders: &[],
    is_versioned: true,
    advice: "install Berkeley DB 5.3's shared library (libdb5.3 on Debian and Ubuntu) or name it in $BOURSE_BERKELEY_DB or with `library=`",
    open: |path| {
        // SAFETY: a person who names a library says that it is Berkeley DB, which has no initialisers.
        let api = unsafe { BerkeleyApi::open(path) }?;
        match api.version() {
            (5, 3, _) => Ok(api),
            (major, minor, _) => Err(format!("it is version {major}.{minor}, whose structures differ: 5.3 is needed")),
        }
    },
    loaded: Mutex::new(None),
};

/// Path and version of the library that [`open`](crate::berkeley::open) would load.
///
/// # Errors
/// The reason, and how to get the library.
pub fn info(library: Option<&Path>) -> Result<(&'static Path, String)> {
    let library = LIBRARY.load(library)?;
    let (major, minor, patch) = library.api.version();
    Ok((&library.path, format!("{major}.{minor}.{patch}")))
}

/// Object of the library: `DB_ENV`, `DB`, `DB_TXN`, `DBC`.
pub(crate) type Object = *mut c_void;

/// `DBT`: a key or a record, in memory of the caller.
#[repr(C)]
pub(crate) struct Dbt {
    data: *mut c_void,
    pub(crate) size: u32,
    room: u32,
    part_length: u32,
    part_offset: u32,
    app_data: *mut c_void,
    flags: u32,
}

impl Dbt {
    /// Bytes that the library reads.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut this = Self::into(&mut []);
        (this.data, this.size) = (bytes.as_ptr().cast_mut().cast(), length);
        this
    }

    /// Room that the library writes to.
    pub(crate) fn into(room: &mut [u8]) -> Self {
        const USER_MEMORY: u32 = 0x800;
        let length = u32::try_from(room.len()).unwrap_or(u32::MAX);
        let (data, app_data) = (room.as_mut_ptr().cast(), std::ptr::null_mut());
        Self { data, size: 0, room: length, part_length: 0, part_offset: 0, app_data, flags: USER_MEMORY }
    }
}

c_interface! {
    /// Functions of `db.h` that are used.
    struct BerkeleyApi;
    env_create = b"db_env_create\0": (*mut Object, u32) -> c_int;
    db_create = b"db_create\0": (*mut Object, Object, u32) -> c_int;
    strerror = b"db_strerror\0": (c_int) -> *const c_char;
    get_version = b"db_version\0": (*mut c_int, *mut c_int, *mut c_int) -> *const c_char;
}

/// Methods that are used, each with its place among the pointers of its structure.
macro_rules! methods {
    ($($(#[$meta:meta])* $name:ident = $place:literal: ($($argument:ident: $type:ty),*);)+) => {
        impl BerkeleyApi {
            $(
                $(#[$meta])*
                ///
                /// # Safety
                /// The object must be of the method's structure, and the other arguments as `db.h` has them.
                #[allow(clippy::too_many_arguments, reason = "as the library has them")]
                pub(crate) unsafe fn $name(&self, object: Object, $($argument: $type),*) -> Result<()> {
                    // SAFETY: the structure has a pointer to this method there in all of 5.3, which was checked at loading.
                    let code = unsafe {
                        let pointer = *object.cast::<*const c_void>().add($place);
                        let method: unsafe extern "C" fn(Object, $($type),*) -> c_int = std::mem::transmute(pointer);
                        method(object, $($argument),*)
                    };
                    if code == 0 { Ok(()) } else { Err(self.error(code)) }
                }
            )+
        }
    };
}

methods! {
    /// `DB_ENV->set_cachesize`.
    env_set_cache = 204: (gigabytes: u32, bytes: u32, caches: c_int);
    /// `DB_ENV->set_lk_detect`.
    env_detect_deadlocks = 225: (policy: u32);
    /// `DB_ENV->set_lk_max_locks`.
    env_set_locks = 227: (number: u32);
    /// `DB_ENV->set_lk_max_objects`.
    env_set_objects = 228: (number: u32);
    /// `DB_ENV->set_lk_max_lockers`.
    env_set_lockers = 226: (number: u32);
    /// `DB_ENV->set_tx_max`.
    env_set_transactions = 250: (number: u32);
    /// `DB_ENV->set_timeout`.
    env_set_timeout = 248: (microseconds: u32, which: u32);
    /// `DB_ENV->log_set_config`.
    env_configure_log = 139: (which: u32, on: c_int);
    /// `DB_ENV->open`.
    env_open = 166: (home: *const c_char, flags: u32, mode: c_int);
    /// `DB_ENV->close`.
    env_close = 61: (flags: u32);
    /// `DB_ENV->txn_begin`.
    env_begin = 255: (parent: Object, transaction: *mut Object, flags: u32);
    /// `DB_ENV->txn_checkpoint`.
    env_checkpoint = 256: (kibibytes: u32, minutes: u32, flags: u32);
    /// `DB->open`.
    table_open = 126: (transaction: Object, file: *const c_char, name: *const c_char, kind: c_int, flags: u32, mode: c_int);
    /// `DB->close`.
    table_close = 71: (flags: u32);
    /// `DB->get`.
    get = 79: (transaction: Object, key: *mut Dbt, record: *mut Dbt, flags: u32);
    /// `DB->put`.
    put = 128: (transaction: Object, key: *mut Dbt, record: *mut Dbt, flags: u32);
    /// `DB->del`.
    delete = 74: (transaction: Object, key: *mut Dbt, flags: u32);
    /// `DB->truncate`.
    truncate = 170: (transaction: Object, count: *mut u32, flags: u32);
    /// `DB->cursor`.
    cursor = 73: (transaction: Object, cursor: *mut Object, flags: u32);
    /// `DBC->get`.
    cursor_get = 49: (key: *mut Dbt, record: *mut Dbt, flags: u32);
    /// `DBC->close`.
    cursor_close = 44: ();
    /// `DB_TXN->commit`.
    commit = 30: (flags: u32);
    /// `DB_TXN->abort`.
    abort = 29: ();
}

/// Code for a record that is not there.
pub(crate) const NOT_FOUND: &str = "DB_NOTFOUND";

/// Code for a record that is larger than the room for it.
pub(crate) const TOO_SMALL: &str = "DB_BUFFER_SMALL";

impl BerkeleyApi {
    fn version(&self) -> (c_int, c_int, c_int) {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: three places for numbers.
        unsafe { (self.get_version)(&raw mut major, &raw mut minor, &raw mut patch) };
        (major, minor, patch)
    }

    /// Error of a code that is not 0.
    #[cold]
    pub(crate) fn error(&self, code: c_int) -> EngineError {
        /// `ENOSPC`.
        const NO_SPACE: c_int = 28;
        let (name, kind) = match code {
            -30_988 => (NOT_FOUND, ErrorKind::Other),
            -30_999 => (TOO_SMALL, ErrorKind::Other),
            -30_993 => ("DB_LOCK_DEADLOCK", ErrorKind::Conflict),
            -30_992 => ("DB_LOCK_NOTGRANTED", ErrorKind::Conflict),
            -30_973 => ("DB_RUNRECOVERY", ErrorKind::ConnectionLost),
            NO_SPACE => ("ENOSPC", ErrorKind::Full),
            _ => ("", ErrorKind::Other),
        };
        // SAFETY: the library returns a C string for each code, which is copied at once.
        let text = unsafe { CStr::from_ptr((self.strerror)(code)) }.to_string_lossy().into_owned();
        let error = EngineError::new(kind, text);
        if name.is_empty() { error } else { error.with_code(name) }
    }
}
