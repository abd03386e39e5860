//! The library: found, loaded once, its functions declared as in `rocksdb/c.h`.

use crate::error::error;
use bourse_engine::{EngineError, EngineLibrary, Result, c_interface};
use std::ffi::{CStr, c_char, c_double, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Mutex;

/// Environment variable that names the library.
pub const LIBRARY_VARIABLE: &str = "BOURSE_ROCKSDB";

/// Name that the system's loader looks for if no library is named, and prefix of other versions' names.
const NAME: &str = if cfg!(target_os = "macos") { "librocksdb.dylib" } else { "librocksdb.so" };

pub(crate) static LIBRARY: EngineLibrary<RocksDbApi> = EngineLibrary {
    variable: LIBRARY_VARIABLE,
    file_name: NAME,
    folders: &[],
    is_versioned: true,
    advice: "install RocksDB's shared library (librocksdb7.8 on Debian 12, librocksdb in other systems' packages) or name it in $BOURSE_ROCKSDB or with `library=`",
    // SAFETY: a person who names a library says that it is RocksDB, whose initialisers set up its own static objects.
    open: |path| unsafe { RocksDbApi::open(path) },
    loaded: Mutex::new(None),
};

/// Path of the library that [`open`](crate::open) would load.
///
/// # Errors
/// The reason, and how to get the library.
pub fn info(library: Option<&Path>) -> Result<&'static Path> {
    LIBRARY.load(library).map(|library| &*library.path)
}

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident;)+) => {
        $($(#[$meta])* #[repr(C)] pub(crate) struct $name([u8; 0]);)+
    };
}

opaque! {
    /// `rocksdb_t`.
    Db;
    /// `rocksdb_optimistictransactiondb_t`.
    TransactionDb;
    /// `rocksdb_transaction_t`.
    Transaction;
    /// `rocksdb_optimistictransaction_options_t`.
    TransactionOptions;
    /// `rocksdb_column_family_handle_t`.
    Family;
    /// `rocksdb_options_t`.
    DbOptions;
    /// `rocksdb_block_based_table_options_t`.
    TableOptions;
    /// `rocksdb_filterpolicy_t`.
    Filter;
    /// `rocksdb_cache_t`.
    Cache;
    /// `rocksdb_writeoptions_t`.
    WriteOptions;
    /// `rocksdb_readoptions_t`.
    ReadOptions;
    /// `rocksdb_snapshot_t`.
    Snapshot;
    /// `rocksdb_iterator_t`.
    Iter;
    /// `rocksdb_pinnableslice_t`.
    Pinned;
}

/// Address at which a function stores the text of an error status.
pub(crate) type StatusText = *mut *mut c_char;

c_interface! {
    /// Functions of `rocksdb/c.h` that are used.
    struct RocksDbApi;
    free = b"rocksdb_free\0": (*mut c_void);
    options_create = b"rocksdb_options_create\0": () -> *mut DbOptions;
    options_destroy = b"rocksdb_options_destroy\0": (*mut DbOptions);
    set_create_if_missing = b"rocksdb_options_set_create_if_missing\0": (*mut DbOptions, c_uchar);
    set_write_buffer_size = b"rocksdb_options_set_write_buffer_size\0": (*mut DbOptions, usize);
    get_write_buffer_size = b"rocksdb_options_get_write_buffer_size\0": (*mut DbOptions) -> usize;
    set_history = b"rocksdb_options_set_max_write_buffer_size_to_maintain\0": (*mut DbOptions, i64);
    set_compression = b"rocksdb_options_set_compression\0": (*mut DbOptions, c_int);
    get_compression = b"rocksdb_options_get_compression\0": (*mut DbOptions) -> c_int;
    set_jobs = b"rocksdb_options_set_max_background_jobs\0": (*mut DbOptions, c_int);
    get_jobs = b"rocksdb_options_get_max_background_jobs\0": (*mut DbOptions) -> c_int;
    set_tables = b"rocksdb_options_set_block_based_table_factory\0": (*mut DbOptions, *mut TableOptions);
    table_options_create = b"rocksdb_block_based_options_create\0": () -> *mut TableOptions;
    table_options_destroy = b"rocksdb_block_based_options_destroy\0": (*mut TableOptions);
    set_block_cache = b"rocksdb_block_based_options_set_block_cache\0": (*mut TableOptions, *mut Cache);
    set_filter = b"rocksdb_block_based_options_set_filter_policy\0": (*mut TableOptions, *mut Filter);
    bloom_create = b"rocksdb_filterpolicy_create_bloom_full\0": (c_double) -> *mut Filter;
    cache_create = b"rocksdb_cache_create_lru\0": (usize) -> *mut Cache;
    cache_destroy = b"rocksdb_cache_destroy\0": (*mut Cache);
    cache_capacity = b"rocksdb_cache_get_capacity\0": (*mut Cache) -> usize;
    cache_usage = b"rocksdb_cache_get_usage\0": (*mut Cache) -> usize;
    write_options_create = b"rocksdb_writeoptions_create\0": () -> *mut WriteOptions;
    write_options_destroy = b"rocksdb_writeoptions_destroy\0": (*mut WriteOptions);
    set_sync = b"rocksdb_writeoptions_set_sync\0": (*mut WriteOptions, c_uchar);
    disable_wal = b"rocksdb_writeoptions_disable_WAL\0": (*mut WriteOptions, c_int);
    read_options_create = b"rocksdb_readoptions_create\0": () -> *mut ReadOptions;
    read_options_destroy = b"rocksdb_readoptions_destroy\0": (*mut ReadOptions);
    set_snapshot = b"rocksdb_readoptions_set_snapshot\0": (*mut ReadOptions, *const Snapshot);
    list_families = b"rocksdb_list_column_families\0": (*const DbOptions, *const c_char, *mut usize, StatusText) -> *mut *mut c_char;
    list_families_destroy = b"rocksdb_list_column_families_destroy\0": (*mut *mut c_char, usize);
    open = b"rocksdb_optimistictransactiondb_open_column_families\0": (
        *const DbOptions, *const c_char, c_int, *const *const c_char, *const *const DbOptions, *mut *mut Family, StatusText,
    ) -> *mut TransactionDb;
    close = b"rocksdb_optimistictransactiondb_close\0": (*mut TransactionDb);
    base_db = b"rocksdb_optimistictransactiondb_get_base_db\0": (*mut TransactionDb) -> *mut Db;
    close_base_db = b"rocksdb_optimistictransactiondb_close_base_db\0": (*mut Db);
    create_family = b"rocksdb_create_column_family\0": (*mut Db, *const DbOptions, *const c_char, StatusText) -> *mut Family;
    drop_family = b"rocksdb_drop_column_family\0": (*mut Db, *mut Family, StatusText);
    family_destroy = b"rocksdb_column_family_handle_destroy\0": (*mut Family);
    property_int = b"rocksdb_property_int_cf\0": (*mut Db, *mut Family, *const c_char, *mut u64) -> c_int;
    snapshot_create = b"rocksdb_create_snapshot\0": (*mut Db) -> *const Snapshot;
    snapshot_release = b"rocksdb_release_snapshot\0": (*mut Db, *const Snapshot);
    get = b"rocksdb_get_pinned_cf\0": (*mut Db, *const ReadOptions, *mut Family, *const c_char, usize, StatusText) -> *mut Pinned;
    delete = b"rocksdb_delete\0": (*mut Db, *const WriteOptions, *const c_char, usize, StatusText);
    pinned_value = b"rocksdb_pinnableslice_value\0": (*const Pinned, *mut usize) -> *const c_char;
    pinned_destroy = b"rocksdb_pinnableslice_destroy\0": (*mut Pinned);
    iterate = b"rocksdb_create_iterator_cf\0": (*mut Db, *const ReadOptions, *mut Family) -> *mut Iter;
    iter_destroy = b"rocksdb_iter_destroy\0": (*mut Iter);
    iter_valid = b"rocksdb_iter_valid\0": (*const Iter) -> c_uchar;
    iter_seek = b"rocksdb_iter_seek\0": (*mut Iter, *const c_char, usize);
    iter_next = b"rocksdb_iter_next\0": (*mut Iter);
    iter_key = b"rocksdb_iter_key\0": (*const Iter, *mut usize) -> *const c_char;
    iter_value = b"rocksdb_iter_value\0": (*const Iter, *mut usize) -> *const c_char;
    iter_error = b"rocksdb_iter_get_error\0": (*const Iter, StatusText);
    transaction_options_create = b"rocksdb_optimistictransaction_options_create\0": () -> *mut TransactionOptions;
    transaction_options_destroy = b"rocksdb_optimistictransaction_options_destroy\0": (*mut TransactionOptions);
    transaction_options_set_snapshot = b"rocksdb_optimistictransaction_options_set_set_snapshot\0": (*mut TransactionOptions, c_uchar);
    begin = b"rocksdb_optimistictransaction_begin\0": (
        *mut TransactionDb, *const WriteOptions, *const TransactionOptions, *mut Transaction,
    ) -> *mut Transaction;
    transaction_snapshot = b"rocksdb_transaction_get_snapshot\0": (*mut Transaction) -> *const Snapshot;
    transaction_get = b"rocksdb_transaction_get_pinned_cf\0": (
        *mut Transaction, *const ReadOptions, *mut Family, *const c_char, usize, StatusText,
    ) -> *mut Pinned;
    transaction_get_for_update = b"rocksdb_transaction_get_pinned_for_update_cf\0": (
        *mut Transaction, *const ReadOptions, *mut Family, *const c_char, usize, c_uchar, StatusText,
    ) -> *mut Pinned;
    transaction_put = b"rocksdb_transaction_put_cf\0": (
        *mut Transaction, *mut Family, *const c_char, usize, *const c_char, usize, StatusText,
    );
    transaction_delete = b"rocksdb_transaction_delete_cf\0": (*mut Transaction, *mut Family, *const c_char, usize, StatusText);
    transaction_iterate = b"rocksdb_transaction_create_iterator_cf\0": (
        *mut Transaction, *const ReadOptions, *mut Family,
    ) -> *mut Iter;
    transaction_commit = b"rocksdb_transaction_commit\0": (*mut Transaction, StatusText);
    transaction_rollback = b"rocksdb_transaction_rollback\0": (*mut Transaction, StatusText);
    transaction_destroy = b"rocksdb_transaction_destroy\0": (*mut Transaction);
}

impl RocksDbApi {
    /// Makes a call that stores the text of its status.
    ///
    /// # Errors
    /// The status, if it is an error.
    #[inline]
    pub(crate) fn checked<T>(&self, call: impl FnOnce(StatusText) -> T) -> Result<T> {
        checked(self.free, call)
    }
}

/// Makes a call that stores the text of its status, which `free` releases.
///
/// # Errors
/// The status, if it is an error.
#[inline]
pub(crate) fn checked<T>(free: unsafe extern "C" fn(*mut c_void), call: impl FnOnce(StatusText) -> T) -> Result<T> {
    let mut status = ptr::null_mut();
    let value = call(&raw mut status);
    if status.is_null() { Ok(value) } else { Err(failed(free, status)) }
}

#[cold]
fn failed(free: unsafe extern "C" fn(*mut c_void), status: *mut c_char) -> EngineError {
    // SAFETY: a C string, which must be freed here.
    let text = unsafe { CStr::from_ptr(status) }.to_string_lossy().into_owned();
    // SAFETY: as above; it was copied.
    unsafe { free(status.cast()) };
    error(&text)
}
