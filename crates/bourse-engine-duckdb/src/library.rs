//! The library: found, loaded once, its functions declared as in DuckDB's C header.

use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Environment variable that names the library.
pub const LIBRARY_VARIABLE: &str = "BOURSE_DUCKDB";

/// File name of the library.
const FILE_NAME: &str = if cfg!(windows) {
    "duckdb.dll"
} else if cfg!(target_os = "macos") {
    "libduckdb.dylib"
} else {
    "libduckdb.so"
};

/// Folders that are searched if the system's loader finds no library.
const FOLDERS: &[&str] = &["/usr/local/lib", "/opt/duckdb", "/opt/duckdb/lib", "/opt/homebrew/lib"];

/// Error for a library that is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{why}; DuckDB's releases have the library by itself (libduckdb), and so has the npm package @duckdb/node-bindings-linux-x64; name its file in ${LIBRARY_VARIABLE} or with `library=`"
)]
pub struct Absent {
    why: String,
}

/// Version and path of the available library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Version, such as `1.5.6`.
    pub version: String,
    /// Path of its file.
    pub path: PathBuf,
}

/// Looks for the library: the one named by `library=`, or by `$BOURSE_DUCKDB`, or the system's.
///
/// # Errors
/// [`Absent`]: the reason, and where to get the library.
pub fn info(library: Option<&Path>) -> Result<Info, Absent> {
    load(library).map(|library| Info { version: library.version(), path: library.path.clone() })
}

/// Loaded library.
pub(crate) struct Library {
    pub(crate) path: PathBuf,
    pub(crate) api: Api,
    sha256: OnceLock<String>,
}

impl Library {
    /// Version of the library.
    pub(crate) fn version(&self) -> String {
        // SAFETY: takes no argument and returns a text that is part of the library.
        let version = unsafe { CStr::from_ptr((self.api.library_version)()) }.to_string_lossy();
        version.trim_start_matches('v').to_owned()
    }

    /// SHA-256 of the library's file.
    pub(crate) fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| match fs::read(&self.path) {
            Ok(bytes) => format!("{:x}", Sha256::digest(bytes)),
            Err(error) => format!("cannot be read: {error}"),
        })
    }
}

/// Pointer to an object that only the library dereferences.
pub(crate) type Handle = *mut c_void;

/// `duckdb_result`: memory owned by the library; all but the last field are of older versions of the interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawResult {
    column_count: u64,
    row_count: u64,
    rows_changed: u64,
    columns: *mut c_void,
    error_message: *mut c_char,
    internal_data: *mut c_void,
}

impl RawResult {
    /// Result before it is filled.
    pub(crate) const EMPTY: Self = Self {
        column_count: 0,
        row_count: 0,
        rows_changed: 0,
        columns: std::ptr::null_mut(),
        error_message: std::ptr::null_mut(),
        internal_data: std::ptr::null_mut(),
    };
}

/// `duckdb_hugeint`: `upper * 2^64 + lower`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawHugeInt {
    pub(crate) lower: u64,
    pub(crate) upper: i64,
}

impl RawHugeInt {
    pub(crate) const fn of(number: i64) -> Self {
        Self { lower: number as u64, upper: if number < 0 { -1 } else { 0 } }
    }
}

/// `duckdb_decimal`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawDecimal {
    pub(crate) width: u8,
    pub(crate) scale: u8,
    pub(crate) value: RawHugeInt,
}

/// `duckdb_date`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawDate {
    pub(crate) days: i32,
}

/// `duckdb_timestamp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawTimestamp {
    pub(crate) micros: i64,
}

/// `DuckDBSuccess`.
pub(crate) const SUCCESS: c_int = 0;

/// `DUCKDB_RESULT_TYPE_QUERY_RESULT`.
pub(crate) const QUERY_RESULT: c_int = 3;

macro_rules! interface {
    ($($name:ident = $symbol:literal: ($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// Functions of the library that are used.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
        }

        impl Api {
            fn of(library: &libloading::Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $(
                        // SAFETY: the symbol is the function of that name in DuckDB's header, whose signature this is;
                        // the library is never unloaded, so the pointer stays good.
                        $name: unsafe { *library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>($symbol)? },
                    )+
                })
            }
        }
    };
}

interface! {
    library_version = b"duckdb_library_version\0": () -> *const c_char;
    free = b"duckdb_free\0": (*mut c_void);
    create_config = b"duckdb_create_config\0": (*mut Handle) -> c_int;
    set_config = b"duckdb_set_config\0": (Handle, *const c_char, *const c_char) -> c_int;
    destroy_config = b"duckdb_destroy_config\0": (*mut Handle);
    open = b"duckdb_open_ext\0": (*const c_char, *mut Handle, Handle, *mut *mut c_char) -> c_int;
    close = b"duckdb_close\0": (*mut Handle);
    connect = b"duckdb_connect\0": (Handle, *mut Handle) -> c_int;
    disconnect = b"duckdb_disconnect\0": (*mut Handle);
    query = b"duckdb_query\0": (Handle, *const c_char, *mut RawResult) -> c_int;
    prepare = b"duckdb_prepare\0": (Handle, *const c_char, *mut Handle) -> c_int;
    prepare_error = b"duckdb_prepare_error\0": (Handle) -> *const c_char;
    destroy_prepare = b"duckdb_destroy_prepare\0": (*mut Handle);
    parameters = b"duckdb_nparams\0": (Handle) -> u64;
    bind_null = b"duckdb_bind_null\0": (Handle, u64) -> c_int;
    bind_boolean = b"duckdb_bind_boolean\0": (Handle, u64, bool) -> c_int;
    bind_int64 = b"duckdb_bind_int64\0": (Handle, u64, i64) -> c_int;
    bind_double = b"duckdb_bind_double\0": (Handle, u64, f64) -> c_int;
    bind_decimal = b"duckdb_bind_decimal\0": (Handle, u64, RawDecimal) -> c_int;
    bind_date = b"duckdb_bind_date\0": (Handle, u64, RawDate) -> c_int;
    bind_timestamp = b"duckdb_bind_timestamp\0": (Handle, u64, RawTimestamp) -> c_int;
    bind_text = b"duckdb_bind_varchar_length\0": (Handle, u64, *const c_char, u64) -> c_int;
    bind_blob = b"duckdb_bind_blob\0": (Handle, u64, *const c_void, u64) -> c_int;
    execute = b"duckdb_execute_prepared\0": (Handle, *mut RawResult) -> c_int;
    destroy_result = b"duckdb_destroy_result\0": (*mut RawResult);
    result_error = b"duckdb_result_error\0": (*mut RawResult) -> *const c_char;
    result_error_type = b"duckdb_result_error_type\0": (*mut RawResult) -> c_int;
    result_return_type = b"duckdb_result_return_type\0": (RawResult) -> c_int;
    rows_changed = b"duckdb_rows_changed\0": (*mut RawResult) -> u64;
    column_count = b"duckdb_column_count\0": (*mut RawResult) -> u64;
    column_name = b"duckdb_column_name\0": (*mut RawResult, u64) -> *const c_char;
    column_type = b"duckdb_column_type\0": (*mut RawResult, u64) -> c_int;
    column_logical_type = b"duckdb_column_logical_type\0": (*mut RawResult, u64) -> Handle;
    fetch_chunk = b"duckdb_fetch_chunk\0": (RawResult) -> Handle;
    type_id = b"duckdb_get_type_id\0": (Handle) -> c_int;
    decimal_scale = b"duckdb_decimal_scale\0": (Handle) -> u8;
    decimal_internal_type = b"duckdb_decimal_internal_type\0": (Handle) -> c_int;
    destroy_logical_type = b"duckdb_destroy_logical_type\0": (*mut Handle);
    create_data_chunk = b"duckdb_create_data_chunk\0": (*mut Handle, u64) -> Handle;
    destroy_data_chunk = b"duckdb_destroy_data_chunk\0": (*mut Handle);
    data_chunk_reset = b"duckdb_data_chunk_reset\0": (Handle);
    data_chunk_size = b"duckdb_data_chunk_get_size\0": (Handle) -> u64;
    data_chunk_set_size = b"duckdb_data_chunk_set_size\0": (Handle, u64);
    data_chunk_vector = b"duckdb_data_chunk_get_vector\0": (Handle, u64) -> Handle;
    vector_size = b"duckdb_vector_size\0": () -> u64;
    vector_data = b"duckdb_vector_get_data\0": (Handle) -> *mut c_void;
    vector_validity = b"duckdb_vector_get_validity\0": (Handle) -> *mut u64;
    vector_ensure_validity = b"duckdb_vector_ensure_validity_writable\0": (Handle);
    vector_assign_text = b"duckdb_vector_assign_string_element_len\0": (Handle, u64, *const c_char, u64);
    appender_create = b"duckdb_appender_create_ext\0": (Handle, *const c_char, *const c_char, *const c_char, *mut Handle) -> c_int;
    appender_columns = b"duckdb_appender_column_count\0": (Handle) -> u64;
    appender_column_type = b"duckdb_appender_column_type\0": (Handle, u64) -> Handle;
    appender_append = b"duckdb_append_data_chunk\0": (Handle, Handle) -> c_int;
    appender_flush = b"duckdb_appender_flush\0": (Handle) -> c_int;
    appender_destroy = b"duckdb_appender_destroy\0": (*mut Handle) -> c_int;
    appender_error = b"duckdb_appender_error_data\0": (Handle) -> Handle;
    error_type = b"duckdb_error_data_error_type\0": (Handle) -> c_int;
    error_message = b"duckdb_error_data_message\0": (Handle) -> *const c_char;
    destroy_error = b"duckdb_destroy_error_data\0": (*mut Handle);
}

/// Loads the library, once per process.
pub(crate) fn load(library: Option<&Path>) -> Result<&'static Library, Absent> {
    static LOADED: Mutex<Option<HashMap<PathBuf, &'static Library>>> = Mutex::new(None);
    let named = library.map(Path::to_owned).or_else(|| env::var_os(LIBRARY_VARIABLE).map(PathBuf::from));
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = loaded.get_or_insert_default();
    // A library named by the user is the only one tried.
    let Some(named) = named else {
        let folders = FOLDERS.iter().map(|folder| Path::new(folder).join(FILE_NAME)).filter(|path| path.is_file());
        let mut first = None;
        for path in std::iter::once(PathBuf::from(FILE_NAME)).chain(folders) {
            match load_path(loaded, path) {
                Ok(library) => return Ok(library),
                Err(absent) => first = first.or(Some(absent)),
            }
        }
        return Err(first.expect("the name without a folder was tried"));
    };
    load_path(loaded, named)
}

fn load_path(loaded: &mut HashMap<PathBuf, &'static Library>, path: PathBuf) -> Result<&'static Library, Absent> {
    if let Some(library) = loaded.get(&path) {
        return Ok(library);
    }
    let absent = |e: libloading::Error| {
        // The loader's own words are behind those of the crate.
        let cause = std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string);
        Absent { why: format!("cannot load {}: {cause}", path.display()) }
    };
    // SAFETY: a user who names a library asserts that it is DuckDB, whose initializers do not touch this program's data.
    let found = unsafe { libloading::Library::new(&path) }.map_err(absent)?;
    let api = Api::of(&found).map_err(absent)?;
    let real = path.canonicalize().ok().or_else(|| mapped_as(&path)).unwrap_or_else(|| path.clone());
    // Its threads may be at work until the process ends: it must never be unloaded.
    std::mem::forget(found);
    let library: &'static Library = Box::leak(Box::new(Library { path: real, api, sha256: OnceLock::new() }));
    loaded.insert(path, library);
    Ok(library)
}

/// File that the system's loader found for a name, as the kernel lists it.
fn mapped_as(name: &Path) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, rest)| PathBuf::from(format!("/{rest}"))));
    paths.into_iter().find(|path| path.file_name() == name.file_name())
}
