//! The library: found, loaded once, its functions declared as in `leveldb/c.h`.

use crate::library::{Cache, Db, DbOptions, Filter, Iter, ReadOptions, Snapshot, StatusText, WriteOptions, checked};
use bourse_engine::{EngineLibrary, Result, c_interface};
use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::sync::Mutex;

/// Environment variable that names the library.
const LIBRARY_VARIABLE: &str = "BOURSE_LEVELDB";

/// Name that the system's loader looks for if no library is named, and prefix of other versions' names.
const NAME: &str = if cfg!(target_os = "macos") { "libleveldb.dylib" } else { "libleveldb.so" };

pub(super) static LIBRARY: EngineLibrary<LevelDbApi> = EngineLibrary {
    variable: LIBRARY_VARIABLE,
    file_name: NAME,
    folders: &[],
    is_versioned: true,
    advice: "install LevelDB's shared library (libleveldb1d on Debian and Ubuntu, leveldb in other systems' packages) or name it in $BOURSE_LEVELDB or with `library=`",
    // SAFETY: a person who names a library says that it is LevelDB, whose initialisers set up its own static objects.
    open: |path| unsafe { LevelDbApi::open(path) },
    loaded: Mutex::new(None),
};

/// Path and version of the library that [`open`](crate::leveldb::open) would load.
///
/// # Errors
/// The reason, and how to get the library.
pub fn info(library: Option<&Path>) -> Result<(&'static Path, String)> {
    LIBRARY.load(library).map(|library| (&*library.path, library.api.version()))
}

/// `leveldb_writebatch_t`.
#[repr(C)]
pub(crate) struct WriteBatch([u8; 0]);

c_interface! {
    /// Functions of `leveldb/c.h` that are used.
    struct LevelDbApi;
    free = b"leveldb_free\0": (*mut c_void);
    major_version = b"leveldb_major_version\0": () -> c_int;
    minor_version = b"leveldb_minor_version\0": () -> c_int;
    options_create = b"leveldb_options_create\0": () -> *mut DbOptions;
    options_destroy = b"leveldb_options_destroy\0": (*mut DbOptions);
    set_create_if_missing = b"leveldb_options_set_create_if_missing\0": (*mut DbOptions, c_uchar);
    set_write_buffer_size = b"leveldb_options_set_write_buffer_size\0": (*mut DbOptions, usize);
    set_cache = b"leveldb_options_set_cache\0": (*mut DbOptions, *mut Cache);
    set_compression = b"leveldb_options_set_compression\0": (*mut DbOptions, c_int);
    set_filter = b"leveldb_options_set_filter_policy\0": (*mut DbOptions, *mut Filter);
    bloom_create = b"leveldb_filterpolicy_create_bloom\0": (c_int) -> *mut Filter;
    filter_destroy = b"leveldb_filterpolicy_destroy\0": (*mut Filter);
    cache_create = b"leveldb_cache_create_lru\0": (usize) -> *mut Cache;
    cache_destroy = b"leveldb_cache_destroy\0": (*mut Cache);
    write_options_create = b"leveldb_writeoptions_create\0": () -> *mut WriteOptions;
    write_options_destroy = b"leveldb_writeoptions_destroy\0": (*mut WriteOptions);
    set_sync = b"leveldb_writeoptions_set_sync\0": (*mut WriteOptions, c_uchar);
    read_options_create = b"leveldb_readoptions_create\0": () -> *mut ReadOptions;
    read_options_destroy = b"leveldb_readoptions_destroy\0": (*mut ReadOptions);
    set_snapshot = b"leveldb_readoptions_set_snapshot\0": (*mut ReadOptions, *const Snapshot);
    open_database = b"leveldb_open\0": (*const DbOptions, *const c_char, StatusText) -> *mut Db;
    close = b"leveldb_close\0": (*mut Db);
    property = b"leveldb_property_value\0": (*mut Db, *const c_char) -> *mut c_char;
    snapshot_create = b"leveldb_create_snapshot\0": (*mut Db) -> *const Snapshot;
    snapshot_release = b"leveldb_release_snapshot\0": (*mut Db, *const Snapshot);
    get = b"leveldb_get\0": (*mut Db, *const ReadOptions, *const c_char, usize, *mut usize, StatusText) -> *mut c_char;
    write = b"leveldb_write\0": (*mut Db, *const WriteOptions, *mut WriteBatch, StatusText);
    batch_create = b"leveldb_writebatch_create\0": () -> *mut WriteBatch;
    batch_destroy = b"leveldb_writebatch_destroy\0": (*mut WriteBatch);
    batch_put = b"leveldb_writebatch_put\0": (*mut WriteBatch, *const c_char, usize, *const c_char, usize);
    batch_delete = b"leveldb_writebatch_delete\0": (*mut WriteBatch, *const c_char, usize);
    iterate = b"leveldb_create_iterator\0": (*mut Db, *const ReadOptions) -> *mut Iter;
    iter_destroy = b"leveldb_iter_destroy\0": (*mut Iter);
    iter_valid = b"leveldb_iter_valid\0": (*const Iter) -> c_uchar;
    iter_seek = b"leveldb_iter_seek\0": (*mut Iter, *const c_char, usize);
    iter_next = b"leveldb_iter_next\0": (*mut Iter);
    iter_key = b"leveldb_iter_key\0": (*const Iter, *mut usize) -> *const c_char;
    iter_value = b"leveldb_iter_value\0": (*const Iter, *mut usize) -> *const c_char;
    iter_error = b"leveldb_iter_get_error\0": (*const Iter, StatusText);
}

impl LevelDbApi {
    /// Makes a call that stores the text of its status.
    ///
    /// # Errors
    /// The status, if it is an error.
    #[inline]
    pub(crate) fn checked<T>(&self, call: impl FnOnce(StatusText) -> T) -> Result<T> {
        checked(self.free, call)
    }

    /// Version of the library.
    fn version(&self) -> String {
        // SAFETY: both take no argument.
        unsafe { format!("{}.{}", (self.major_version)(), (self.minor_version)()) }
    }
}
