//! The library: found, loaded once, its functions declared as in DuckDB's C header.

use bourse_engine::{EngineLibrary, LoadedLibrary, Result, c_interface};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

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

pub(crate) static LIBRARY: EngineLibrary<DuckDbApi> = EngineLibrary {
    variable: LIBRARY_VARIABLE,
    file_name: FILE_NAME,
    folders: &["/usr/local/lib", "/opt/duckdb", "/opt/duckdb/lib", "/opt/homebrew/lib"],
    is_versioned: false,
    advice: "DuckDB's releases have the library by itself (libduckdb), and so has the npm package @duckdb/node-bindings-linux-x64; name its file in $BOURSE_DUCKDB or with `library=`",
    // SAFETY: a user who names a library asserts that it is DuckDB, whose initializers do not touch this program's data.
    open: |path| unsafe { DuckDbApi::open(path) },
    loaded: Mutex::new(None),
};

/// Version and path of the available library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuckDbInfo {
    /// Version, such as `1.5.6`.
    pub version: String,
    /// Path of its file.
    pub path: PathBuf,
}

/// Loaded library.
pub(crate) type DuckDbLibrary = LoadedLibrary<DuckDbApi>;

/// Looks for the library: the one named by `library=`, or by `$BOURSE_DUCKDB`, or the system's.
///
/// # Errors
/// The reason, and where to get the library.
pub fn info(library: Option<&Path>) -> Result<DuckDbInfo> {
    LIBRARY.load(library).map(|library| DuckDbInfo { version: library.api.version(), path: library.path.clone() })
}

impl DuckDbApi {
    /// Version of the library.
    pub(crate) fn version(&self) -> String {
        // SAFETY: takes no argument and returns a text that is part of the library.
        let version = unsafe { CStr::from_ptr((self.library_version)()) }.to_string_lossy();
        version.trim_start_matches('v').to_owned()
    }
}

/// Pointer to an object that only the library dereferences.
pub(crate) type LibraryHandle = *mut c_void;

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

c_interface! {
    /// Functions of the library that are used.
    struct DuckDbApi;
    library_version = b"duckdb_library_version\0": () -> *const c_char;
    free = b"duckdb_free\0": (*mut c_void);
    create_config = b"duckdb_create_config\0": (*mut LibraryHandle) -> c_int;
    set_config = b"duckdb_set_config\0": (LibraryHandle, *const c_char, *const c_char) -> c_int;
    destroy_config = b"duckdb_destroy_config\0": (*mut LibraryHandle);
    open = b"duckdb_open_ext\0": (*const c_char, *mut LibraryHandle, LibraryHandle, *mut *mut c_char) -> c_int;
    close = b"duckdb_close\0": (*mut LibraryHandle);
    connect = b"duckdb_connect\0": (LibraryHandle, *mut LibraryHandle) -> c_int;
    disconnect = b"duckdb_disconnect\0": (*mut LibraryHandle);
    interrupt = b"duckdb_interrupt\0": (LibraryHandle);
    query = b"duckdb_query\0": (LibraryHandle, *const c_char, *mut RawResult) -> c_int;
    prepare = b"duckdb_prepare\0": (LibraryHandle, *const c_char, *mut LibraryHandle) -> c_int;
    prepare_error = b"duckdb_prepare_error\0": (LibraryHandle) -> *const c_char;
    destroy_prepare = b"duckdb_destroy_prepare\0": (*mut LibraryHandle);
    parameters = b"duckdb_nparams\0": (LibraryHandle) -> u64;
    bind_null = b"duckdb_bind_null\0": (LibraryHandle, u64) -> c_int;
    bind_boolean = b"duckdb_bind_boolean\0": (LibraryHandle, u64, bool) -> c_int;
    bind_int64 = b"duckdb_bind_int64\0": (LibraryHandle, u64, i64) -> c_int;
    bind_double = b"duckdb_bind_double\0": (LibraryHandle, u64, f64) -> c_int;
    bind_decimal = b"duckdb_bind_decimal\0": (LibraryHandle, u64, RawDecimal) -> c_int;
    bind_date = b"duckdb_bind_date\0": (LibraryHandle, u64, RawDate) -> c_int;
    bind_timestamp = b"duckdb_bind_timestamp\0": (LibraryHandle, u64, RawTimestamp) -> c_int;
    bind_text = b"duckdb_bind_varchar_length\0": (LibraryHandle, u64, *const c_char, u64) -> c_int;
    bind_blob = b"duckdb_bind_blob\0": (LibraryHandle, u64, *const c_void, u64) -> c_int;
    execute = b"duckdb_execute_prepared\0": (LibraryHandle, *mut RawResult) -> c_int;
    destroy_result = b"duckdb_destroy_result\0": (*mut RawResult);
    result_error = b"duckdb_result_error\0": (*mut RawResult) -> *const c_char;
    result_error_type = b"duckdb_result_error_type\0": (*mut RawResult) -> c_int;
    result_return_type = b"duckdb_result_return_type\0": (RawResult) -> c_int;
    rows_changed = b"duckdb_rows_changed\0": (*mut RawResult) -> u64;
    column_count = b"duckdb_column_count\0": (*mut RawResult) -> u64;
    column_name = b"duckdb_column_name\0": (*mut RawResult, u64) -> *const c_char;
    column_type = b"duckdb_column_type\0": (*mut RawResult, u64) -> c_int;
    column_logical_type = b"duckdb_column_logical_type\0": (*mut RawResult, u64) -> LibraryHandle;
    fetch_chunk = b"duckdb_fetch_chunk\0": (RawResult) -> LibraryHandle;
    type_id = b"duckdb_get_type_id\0": (LibraryHandle) -> c_int;
    decimal_scale = b"duckdb_decimal_scale\0": (LibraryHandle) -> u8;
    decimal_internal_type = b"duckdb_decimal_internal_type\0": (LibraryHandle) -> c_int;
    destroy_logical_type = b"duckdb_destroy_logical_type\0": (*mut LibraryHandle);
    create_data_chunk = b"duckdb_create_data_chunk\0": (*mut LibraryHandle, u64) -> LibraryHandle;
    destroy_data_chunk = b"duckdb_destroy_data_chunk\0": (*mut LibraryHandle);
    data_chunk_reset = b"duckdb_data_chunk_reset\0": (LibraryHandle);
    data_chunk_size = b"duckdb_data_chunk_get_size\0": (LibraryHandle) -> u64;
    data_chunk_set_size = b"duckdb_data_chunk_set_size\0": (LibraryHandle, u64);
    data_chunk_vector = b"duckdb_data_chunk_get_vector\0": (LibraryHandle, u64) -> LibraryHandle;
    vector_size = b"duckdb_vector_size\0": () -> u64;
    vector_data = b"duckdb_vector_get_data\0": (LibraryHandle) -> *mut c_void;
    vector_validity = b"duckdb_vector_get_validity\0": (LibraryHandle) -> *mut u64;
    vector_ensure_validity = b"duckdb_vector_ensure_validity_writable\0": (LibraryHandle);
    vector_assign_text = b"duckdb_vector_assign_string_element_len\0": (LibraryHandle, u64, *const c_char, u64);
    appender_create = b"duckdb_appender_create_ext\0": (LibraryHandle, *const c_char, *const c_char, *const c_char, *mut LibraryHandle) -> c_int;
    appender_columns = b"duckdb_appender_column_count\0": (LibraryHandle) -> u64;
    appender_column_type = b"duckdb_appender_column_type\0": (LibraryHandle, u64) -> LibraryHandle;
    appender_append = b"duckdb_append_data_chunk\0": (LibraryHandle, LibraryHandle) -> c_int;
    appender_flush = b"duckdb_appender_flush\0": (LibraryHandle) -> c_int;
    appender_destroy = b"duckdb_appender_destroy\0": (*mut LibraryHandle) -> c_int;
    appender_error = b"duckdb_appender_error_data\0": (LibraryHandle) -> LibraryHandle;
    error_type = b"duckdb_error_data_error_type\0": (LibraryHandle) -> c_int;
    error_message = b"duckdb_error_data_message\0": (LibraryHandle) -> *const c_char;
    destroy_error = b"duckdb_destroy_error_data\0": (*mut LibraryHandle);
}
