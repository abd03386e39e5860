//! An open database, and its tables, each of which is a column family.

use crate::library::{self, Cache, Db, DbOptions, Family, RocksDbApi, TransactionDb, TransactionOptions, WriteOptions};
use crate::options::RocksDbOptions;
use bourse_engine::records::refusals::no_table;
use bourse_engine::{EngineError, RecordTable, Result, locked, memory_file_system};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Name of the column family that every database has.
const DEFAULT_FAMILY: &str = "default";

/// Objects of the library that are released when the last user of a database is gone.
pub(crate) struct Handles {
    pub(crate) api: &'static RocksDbApi,
    pub(crate) base: *mut Db,
    pub(crate) transactions: *mut TransactionDb,
    pub(crate) write_options: *mut WriteOptions,
    pub(crate) transaction_options: *mut TransactionOptions,
    options: *mut DbOptions,
    cache: *mut Cache,
}

// SAFETY: RocksDB's databases, options and caches are made to be shared by threads; options are not changed once made.
unsafe impl Send for Handles {}
// SAFETY: as above.
unsafe impl Sync for Handles {}

impl Drop for Handles {
    fn drop(&mut self) {
        let api = self.api;
        // SAFETY: each was made by the function that belongs to it, or is null where opening has failed; tables, sessions and
        // transactions keep this alive, so none of them is left.
        unsafe {
            if !self.base.is_null() {
                (api.close_base_db)(self.base);
            }
            if !self.transactions.is_null() {
                (api.close)(self.transactions);
            }
            (api.write_options_destroy)(self.write_options);
            (api.transaction_options_destroy)(self.transaction_options);
            (api.options_destroy)(self.options);
            (api.cache_destroy)(self.cache);
        }
    }
}

/// Table: its column family. A dropped one can still be read by its users.
pub(crate) struct ColumnFamily {
    pub(crate) raw: *mut Family,
    handles: Arc<Handles>,
}

// SAFETY: a handle of a column family is made to be shared by threads.
unsafe impl Send for ColumnFamily {}
// SAFETY: as above.
unsafe impl Sync for ColumnFamily {}

impl Drop for ColumnFamily {
    fn drop(&mut self) {
        // SAFETY: the database that it belongs to is still open.
        unsafe { (self.handles.api.family_destroy)(self.raw) };
    }
}

/// Database in an open folder.
pub struct RocksDbDatabase {
    // Tables go before what they belong to.
    tables: Mutex<HashMap<String, Arc<ColumnFamily>>>,
    /// Number that changes when a table is made anew.
    generation: AtomicU64,
    pub(crate) handles: Arc<Handles>,
    pub(crate) library: PathBuf,
    pub(crate) folder: PathBuf,
    /// Whether commits wait for a disk.
    pub(crate) syncs: bool,
}

fn c_string(text: &[u8]) -> Result<CString> {
    CString::new(text).map_err(|_| EngineError::unsupported("a name with a zero byte"))
}

impl RocksDbDatabase {
    pub(crate) fn at(folder: &Path, options: &RocksDbOptions) -> Result<Self> {
        let library = library::LIBRARY.load(options.library.as_deref())?;
        let (library, api) = (library.path.clone(), &library.api);
        let path = c_string(folder.as_os_str().as_bytes())?;
        let mut handles = made(api, options);
        let failed = |e: EngineError| e.during(format_args!("cannot open {}", folder.display()));
        let is_new = !folder.join("CURRENT").exists();
        let names = if is_new {
            vec![c_string(DEFAULT_FAMILY.as_bytes())?]
        } else {
            families(&handles, &path).map_err(failed)?
        };
        let c_names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let of_each = vec![handles.options.cast_const(); names.len()];
        let mut raws = vec![ptr::null_mut(); names.len()];
        let count = c_int::try_from(names.len()).map_err(|_| EngineError::unsupported("too many tables"))?;
        // SAFETY: names, options and places for handles are as many as passed; the options are valid.
        handles.transactions = api
            .checked(|status| unsafe {
                let (names, of_each, raws) = (c_names.as_ptr(), of_each.as_ptr(), raws.as_mut_ptr());
                (api.open)(handles.options, path.as_ptr(), count, names, of_each, raws, status)
            })
            .map_err(failed)?;
        // SAFETY: the database is open.
        handles.base = unsafe { (api.base_db)(handles.transactions) };
        let handles = Arc::new(handles);
        let table = |(name, raw): (CString, *mut Family)| {
            (name.to_string_lossy().into_owned(), Arc::new(ColumnFamily { raw, handles: Arc::clone(&handles) }))
        };
        let tables = Mutex::new(names.into_iter().zip(raws).map(table).collect());
        let syncs = options.sync && memory_file_system(folder).is_none();
        Ok(Self { tables, generation: AtomicU64::new(0), handles, library, folder: folder.to_owned(), syncs })
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, Arc<ColumnFamily>>> {
        locked(&self.tables)
    }

    /// Names of the tables, and of column families that are none.
    pub(crate) fn names(&self) -> Vec<String> {
        let tables = self.tables();
        let families = tables.keys().filter(|family| *family != DEFAULT_FAMILY);
        families.map(|family| RecordTable::name_in(family)).collect()
    }

    /// Writes the deletion of a key that is not there, outside of any transaction.
    ///
    /// RocksDB (7.8.3) that wrote a table while it recovered takes all later changes for newer than any snapshot: no transaction could
    /// ever be checked for conflicts, and so none would write.
    pub(crate) fn renew_snapshots(&self) -> Result<()> {
        let (api, base, options) = (self.handles.api, self.handles.base, self.handles.write_options);
        // SAFETY: the database is open; a key of no bytes is not read.
        api.checked(|status| unsafe { (api.delete)(base, options, [].as_ptr(), 0, status) })
    }

    /// Generation of the tables: it changes when a table is made anew.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Table of the database.
    ///
    /// # Errors
    /// A table that does not exist; keys that are neither integers nor texts.
    pub(crate) fn table(&self, table: &RecordTable) -> Result<Arc<ColumnFamily>> {
        self.tables().get(&table.typed_name()?).cloned().ok_or_else(|| no_table(table))
    }

    /// Makes a table anew, empty, and drops its column family with all its files.
    pub(crate) fn remake(&self, table: &RecordTable) -> Result<()> {
        let name = table.typed_name()?;
        let c_name = c_string(name.as_bytes())?;
        let (api, base) = (self.handles.api, self.handles.base);
        let mut tables = self.tables();
        if let Some(old) = tables.remove(&name) {
            // SAFETY: both are open; those who have the old one may go on to read it.
            api.checked(|status| unsafe { (api.drop_family)(base, old.raw, status) })?;
        }
        // SAFETY: the database is open and the options are good.
        let raw =
            api.checked(|status| unsafe { (api.create_family)(base, self.handles.options, c_name.as_ptr(), status) })?;
        tables.insert(name, Arc::new(ColumnFamily { raw, handles: Arc::clone(&self.handles) }));
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Numeric property, summed over all tables.
    pub(crate) fn property(&self, name: &CStr) -> u64 {
        let (api, base) = (self.handles.api, self.handles.base);
        let tables = self.tables();
        let of = |table: &Arc<ColumnFamily>| {
            let mut value = 0;
            // SAFETY: both are open; a place for a number. One that is not known stays 0.
            unsafe { (api.property_int)(base, table.raw, name.as_ptr(), &raw mut value) };
            value
        };
        tables.values().map(of).sum()
    }

    /// Memory for data not yet written to tables, and for cached blocks, in bytes.
    pub(crate) fn held_bytes(&self) -> u64 {
        // SAFETY: the cache is there as long as the database.
        let cached = unsafe { (self.handles.api.cache_usage)(self.handles.cache) };
        self.property(c"rocksdb.cur-size-all-mem-tables") + cached as u64
    }

    /// Settings as the library reports them.
    pub(crate) fn in_force(&self) -> [(&'static str, u64); 4] {
        let Handles { api, options, cache, .. } = *self.handles;
        // SAFETY: options and cache live as long as the database.
        let [cache, buffer, compression, jobs] = unsafe {
            let numbers = [(api.get_compression)(options), (api.get_jobs)(options)];
            let [compression, jobs] = numbers.map(|number| u64::try_from(number).unwrap_or(u64::MAX));
            [(api.cache_capacity)(cache) as u64, (api.get_write_buffer_size)(options) as u64, compression, jobs]
        };
        [("cache", cache), ("write_buffer", buffer), ("compression", compression), ("jobs", jobs)]
    }
}

/// Objects that are needed to open a database.
fn made(api: &'static RocksDbApi, asked: &RocksDbOptions) -> Handles {
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: each is given what was made for it just now; the options of tables have the cache for themselves too, and take
    // the filter.
    unsafe {
        let cache = (api.cache_create)(bytes(asked.cache_bytes));
        let tables = (api.table_options_create)();
        (api.set_block_cache)(tables, cache);
        if let Some(bits) = asked.bloom_bits {
            (api.set_filter)(tables, (api.bloom_create)(f64::from(bits)));
        }
        let options = (api.options_create)();
        (api.set_create_if_missing)(options, 1);
        (api.set_write_buffer_size)(options, bytes(asked.write_buffer_bytes));
        // Optimistic transactions look for conflicts in what was written of late: it stays in memory for them.
        (api.set_history)(options, -1);
        (api.set_compression)(options, asked.compression.number());
        (api.set_jobs)(options, c_int::from(asked.jobs));
        (api.set_tables)(options, tables);
        (api.table_options_destroy)(tables);
        let write_options = (api.write_options_create)();
        (api.set_sync)(write_options, u8::from(asked.sync));
        (api.disable_wal)(write_options, c_int::from(!asked.wal));
        let transaction_options = (api.transaction_options_create)();
        (api.transaction_options_set_snapshot)(transaction_options, 1);
        let (base, transactions) = (ptr::null_mut(), ptr::null_mut());
        Handles { api, base, transactions, write_options, transaction_options, options, cache }
    }
}

/// Names of the column families of a database that is not open.
fn families(handles: &Handles, path: &CStr) -> Result<Vec<CString>> {
    let api = handles.api;
    let mut count = 0;
    // SAFETY: the options are good; a place for a number.
    let list =
        api.checked(|status| unsafe { (api.list_families)(handles.options, path.as_ptr(), &raw mut count, status) })?;
    // SAFETY: so many texts that end with a zero, copied before the list goes.
    unsafe {
        let names = (0..count).map(|at| CStr::from_ptr(*list.add(at)).to_owned()).collect();
        (api.list_families_destroy)(list, count);
        Ok(names)
    }
}
