//! The library: found, loaded once, its functions declared as in `cli.h`.

use bourse_engine::{EngineLibrary, Result, c_interface};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::Mutex;

/// Environment variable that names the library.
pub const LIBRARY_VARIABLE: &str = "BOURSE_FASTDB";

pub(crate) static LIBRARY: EngineLibrary<FastDbApi> = EngineLibrary {
    variable: LIBRARY_VARIABLE,
    file_name: "libfastdb_r.so.2",
    folders: &[],
    is_versioned: false,
    advice: "FastDB is in no package registry: its sources are public (version 3.77, for one, at github.com/gavioto/fastdb); build their shared library libfastdb_r.so.2 optimised (their makefile is for debugging unless it is given DEBUG=0) and name it in $BOURSE_FASTDB or with `library=`",
    open: |path| {
        // SAFETY: a person who names a library says that it is FastDB, whose initialisers set up its own static objects and a
        // handler of SIGALRM, a signal that nothing here uses.
        let api = unsafe { FastDbApi::open(path) }?;
        // SAFETY: the function has the signature of `cli_trace_function_t` and is there for good.
        unsafe { (api.set_trace_function)(silent) };
        Ok(api)
    },
    loaded: Mutex::new(None),
};

/// Path of the library that [`open`](crate::open) would load.
///
/// # Errors
/// The reason, and where to get the library.
pub fn info(library: Option<&Path>) -> Result<&'static Path> {
    LIBRARY.load(library).map(|library| &*library.path)
}

/// `cli_field_descriptor`.
#[repr(C)]
pub(crate) struct FieldDescriptor {
    pub(crate) var_type: c_int,
    pub(crate) flags: c_int,
    pub(crate) name: *const c_char,
    pub(crate) referenced_table: *const c_char,
    pub(crate) inverse_field: *const c_char,
}

/// `cli_table_descriptor`.
#[repr(C)]
pub(crate) struct TableDescriptor {
    pub(crate) name: *const c_char,
}

/// `cli_database_monitor`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct DatabaseMonitor {
    pub(crate) readers: c_int,
    pub(crate) writers: c_int,
    pub(crate) blocked_readers: c_int,
    pub(crate) blocked_writers: c_int,
    pub(crate) users: c_int,
    pub(crate) database_size: usize,
}

pub(crate) type ErrorHandler = unsafe extern "C" fn(c_int, *const c_char, c_int, *mut c_void);
type TraceFunction = unsafe extern "C" fn(*mut c_char);

c_interface! {
    /// Functions of `cli.h` that are used.
    struct FastDbApi;
    create = b"cli_create\0": (*const c_char, *const c_char, c_uint, c_int, usize, usize, usize, usize) -> c_int;
    close = b"cli_close\0": (c_int) -> c_int;
    statement = b"cli_statement\0": (c_int, *const c_char) -> c_int;
    parameter = b"cli_parameter\0": (c_int, *const c_char, c_int, *mut c_void) -> c_int;
    column = b"cli_column\0": (c_int, *const c_char, c_int, *mut c_int, *mut c_void) -> c_int;
    fetch = b"cli_fetch\0": (c_int, c_int) -> c_int;
    insert = b"cli_insert\0": (c_int, *mut c_void) -> c_int;
    get_first = b"cli_get_first\0": (c_int) -> c_int;
    get_next = b"cli_get_next\0": (c_int) -> c_int;
    update = b"cli_update\0": (c_int) -> c_int;
    remove = b"cli_remove\0": (c_int) -> c_int;
    free = b"cli_free\0": (c_int) -> c_int;
    commit = b"cli_commit\0": (c_int) -> c_int;
    precommit = b"cli_precommit\0": (c_int) -> c_int;
    abort = b"cli_abort\0": (c_int) -> c_int;
    lock = b"cli_lock\0": (c_int) -> c_int;
    create_table = b"cli_create_table\0": (c_int, *const c_char, c_int, *mut FieldDescriptor) -> c_int;
    drop_table = b"cli_drop_table\0": (c_int, *const c_char) -> c_int;
    show_tables = b"cli_show_tables\0": (c_int, *mut *mut TableDescriptor) -> c_int;
    free_memory = b"cli_free_memory\0": (c_int, *mut c_void);
    set_error_handler = b"cli_set_error_handler\0": (c_int, Option<ErrorHandler>, *mut c_void) -> Option<ErrorHandler>;
    set_trace_function = b"cli_set_trace_function\0": (TraceFunction);
    attach = b"cli_attach\0": (c_int) -> c_int;
    detach = b"cli_detach\0": (c_int, c_int) -> c_int;
    get_database_state = b"cli_get_database_state\0": (c_int, *mut DatabaseMonitor) -> c_int;
    create_context = b"cli_create_transaction_context\0": () -> *mut c_void;
    join_context = b"cli_join_transaction\0": (c_int, *mut c_void) -> c_int;
    remove_context = b"cli_remove_transaction_context\0": (*mut c_void);
}

/// Discards FastDB's messages on recoveries and lock upgrades: standard error belongs to the program, not to an engine.
unsafe extern "C" fn silent(_: *mut c_char) {}
