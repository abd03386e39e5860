//! An LMDB environment: the file, and the trees in it.

use crate::error::check;
use crate::options::{LmdbOptions, LmdbSync};
use crate::transaction::{ReadTransaction, WriteTransaction};
use bourse_engine::records::refusals::no_table;
use bourse_engine::{EngineError, ErrorKind, RecordTable, Result, locked, memory_file_system};
use lmdb_master_sys as ffi;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_int, c_uint};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

/// Limits on the number of trees, and of concurrent readers.
const TREES: c_uint = 256;
const READERS: c_uint = 1_024;

/// Files that this process has open, by device and inode. LMDB's locks belong to the process: if a file were open twice, the
/// first close would release the other's locks.
static OPEN: Mutex<Option<HashSet<(u64, u64)>>> = Mutex::new(None);

/// Version of the library.
pub fn version() -> String {
    let (mut major, mut minor, mut patch): (c_int, c_int, c_int) = (0, 0, 0);
    // SAFETY: three places for numbers.
    unsafe { ffi::mdb_version(&raw mut major, &raw mut minor, &raw mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Open environment.
#[derive(Debug)]
pub struct LmdbEnvironment {
    raw: *mut ffi::MDB_env,
    file: (u64, u64),
    /// Whether commits wait for a disk.
    syncs: bool,
    /// Trees by name. They are never closed, so that one is valid as long as its environment.
    trees: Mutex<HashMap<String, ffi::MDB_dbi>>,
}

// SAFETY: LMDB's environments are made to be shared by threads; opening trees, which is not, happens under `trees`.
unsafe impl Send for LmdbEnvironment {}
// SAFETY: as above.
unsafe impl std::marker::Sync for LmdbEnvironment {}

/// Environment that is not completely open yet; closed when dropped.
struct OpeningEnvironment(*mut ffi::MDB_env, (u64, u64));

impl Drop for OpeningEnvironment {
    fn drop(&mut self) {
        // SAFETY: made by mdb_env_create and not shared yet; an environment that failed to open must be closed too.
        unsafe { ffi::mdb_env_close(self.0) };
        locked(&OPEN).get_or_insert_default().remove(&self.1);
    }
}

fn io_error(path: &Path, e: &io::Error) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("cannot open {}: {e}", path.display()))
}

impl LmdbEnvironment {
    /// Opens the environment in a file that exists.
    pub(crate) fn at(path: &Path, options: &LmdbOptions) -> Result<Arc<Self>> {
        let c_path = CString::new(path.as_os_str().as_bytes()).map_err(|e| io_error(path, &e.into()))?;
        let found = std::fs::metadata(path).map_err(|e| io_error(path, &e))?;
        let file = (found.dev(), found.ino());
        if !locked(&OPEN).get_or_insert_default().insert(file) {
            let text = format!("cannot open {}: this process has it open already", path.display());
            return Err(EngineError::new(ErrorKind::Other, text));
        }
        let mut raw = ptr::null_mut();
        // SAFETY: a place for the new environment.
        if let Err(e) = check(unsafe { ffi::mdb_env_create(&raw mut raw) }) {
            locked(&OPEN).get_or_insert_default().remove(&file);
            return Err(e);
        }
        let opening = OpeningEnvironment(raw, file);
        let mut flags = ffi::MDB_NOSUBDIR | ffi::MDB_NOTLS;
        flags |= match options.sync {
            LmdbSync::Full => 0,
            LmdbSync::Meta => ffi::MDB_NOMETASYNC,
            LmdbSync::Off => ffi::MDB_NOSYNC,
        };
        if options.writes_map {
            flags |= ffi::MDB_WRITEMAP;
        }
        let map_bytes = usize::try_from(options.map_bytes).unwrap_or(usize::MAX);
        let failed = |e: EngineError| e.during(format_args!("cannot open {}", path.display()));
        // SAFETY: the environment was made and is not yet open, as these ask for; the path ends with a zero.
        unsafe {
            check(ffi::mdb_env_set_mapsize(raw, map_bytes))?;
            check(ffi::mdb_env_set_maxdbs(raw, TREES))?;
            check(ffi::mdb_env_set_maxreaders(raw, READERS))?;
            check(ffi::mdb_env_open(raw, c_path.as_ptr(), flags, 0o644)).map_err(failed)?;
        }
        std::mem::forget(opening);
        let syncs = options.sync != LmdbSync::Off && memory_file_system(path).is_none();
        let environment = Arc::new(Self { raw, file, syncs, trees: Mutex::default() });
        environment.find_trees()?;
        Ok(environment)
    }

    pub(crate) fn raw(&self) -> *mut ffi::MDB_env {
        self.raw
    }

    /// Whether the file system that holds the database has no space left.
    pub(crate) fn is_disk_full(&self) -> bool {
        let mut fd = -1;
        // SAFETY: the environment is open, and the number of its file is written to a place for it.
        if unsafe { ffi::mdb_env_get_fd(self.raw, &raw mut fd) } != ffi::MDB_SUCCESS {
            return false;
        }
        // SAFETY: the environment has its file open for longer than this call.
        let file = unsafe { BorrowedFd::borrow_raw(fd) };
        rustix::fs::fstatvfs(file).is_ok_and(|found| found.f_bavail == 0)
    }

    /// Whether a commit waits for a disk.
    pub(crate) fn syncs(&self) -> bool {
        self.syncs
    }

    /// Opens the trees of all tables in the file: LMDB could not open them later, in the middle of a transaction.
    fn find_trees(self: &Arc<Self>) -> Result<()> {
        let reading = ReadTransaction::new(Arc::clone(self))?;
        let main = reading.open_tree(None, 0)?;
        let mut names = Vec::new();
        reading.at().scan(main, None, u64::MAX, &mut |name, _| {
            names.push(String::from_utf8_lossy(name).into_owned());
            Ok(())
        })?;
        let mut trees = locked(&self.trees);
        for name in names {
            let foreign = || EngineError::refused(format!("it holds what bourse did not make: key {name}"));
            let c_name = CString::new(name.as_str()).map_err(|_| foreign())?;
            let tree = reading.open_tree(Some(&c_name), 0);
            let tree = tree.map_err(|e| if e.kind() == ErrorKind::ConnectionLost { e } else { foreign() })?;
            trees.insert(name, tree);
        }
        reading.commit()
    }

    /// Tree of a table.
    ///
    /// # Errors
    /// A table that does not exist.
    pub(crate) fn tree(&self, table: &RecordTable) -> Result<ffi::MDB_dbi> {
        locked(&self.trees).get(&table.typed_name()?).copied().ok_or_else(|| no_table(table))
    }

    /// Makes a table anew, empty.
    pub(crate) fn remake(self: &Arc<Self>, table: &RecordTable) -> Result<()> {
        let mut trees = locked(&self.trees);
        let mut writing = WriteTransaction::new(Arc::clone(self))?;
        // The name includes the type of the keys, so that none must ever be closed.
        let name = table.typed_name()?;
        let tree = match trees.get(&name) {
            Some(tree) => *tree,
            None => {
                let c_name =
                    CString::new(name.as_str()).map_err(|_| EngineError::unsupported("a name with a zero byte"))?;
                let keys = if table.has_text_keys()? { 0 } else { ffi::MDB_INTEGERKEY };
                writing.open_tree(&c_name, ffi::MDB_CREATE | keys)?
            }
        };
        writing.clear(tree)?;
        // A tree that was made in a transaction is there for others when it has committed.
        writing.commit()?;
        trees.insert(name, tree);
        Ok(())
    }

    /// Names of the tables, and of trees that are none.
    pub(crate) fn names(&self) -> Vec<String> {
        locked(&self.trees).keys().map(|tree| RecordTable::name_in(tree)).collect()
    }
}

impl Drop for LmdbEnvironment {
    fn drop(&mut self) {
        // SAFETY: every transaction held this environment and is over; no other reference is left.
        unsafe { ffi::mdb_env_close(self.raw) };
        locked(&OPEN).get_or_insert_default().remove(&self.file);
    }
}

/// Name as a C string, or null for the main tree.
pub(crate) fn name_or_null(name: Option<&CStr>) -> *const std::ffi::c_char {
    name.map_or(ptr::null(), CStr::as_ptr)
}
