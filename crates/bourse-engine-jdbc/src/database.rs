//! An open database, in a folder or in memory, and connections to it.
//!
//! A folder that Bourse made contains the database in a folder of its own, `db`, and next to it the folders for loads and
//! snapshots. Engines of one process on one folder share the database.

use crate::bridge::Bridge;
use crate::connection::JdbcConnection;
use crate::error::machine_failed;
use crate::jars::jars;
use crate::machine::{BridgeMethod, BridgeRef, JavaMachine, machine};
use crate::options::JdbcOptions;
use crate::product::{CloseMethod, JdbcProduct};
use bourse_engine::{DatabaseFiles, EngineError, ErrorKind, FolderParts, Interruptible, Result, locked};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Files of a product's database at a path.
pub(crate) fn files_at(path: &Path, product: &'static JdbcProduct) -> DatabaseFiles {
    DatabaseFiles::at(path, &product.format)
}

/// Parts of a database's folder.
pub(crate) fn parts(root: &Path, product: &'static JdbcProduct) -> FolderParts {
    FolderParts::of(files_at(root, product), is_open)
}

/// Open database; closed when its last user drops it.
pub(crate) struct JdbcDatabase {
    product: &'static JdbcProduct,
    machine: &'static JavaMachine,
    options: JdbcOptions,
    jars: Vec<PathBuf>,
    url: String,
    /// Folder of the database; `None` in memory.
    folder: Option<PathBuf>,
    /// Connection that holds the database open between sessions.
    keeper: Mutex<JdbcConnection>,
    /// Connections of all sessions.
    sessions: Mutex<Vec<BridgeRef>>,
}

/// Databases in folders that this process has open.
type OpenDatabases = Vec<(PathBuf, Weak<JdbcDatabase>)>;

fn open_folders() -> MutexGuard<'static, OpenDatabases> {
    static OPEN: Mutex<OpenDatabases> = Mutex::new(Vec::new());
    let mut open = locked(&OPEN);
    open.retain(|(_, database)| database.strong_count() > 0);
    open
}

/// Whether this process has the database in that folder open.
fn is_open(folder: &Path) -> bool {
    open_folders().iter().any(|(open, _)| open == folder)
}

/// Everything needed to open a database.
#[derive(Clone)]
pub(crate) struct JdbcDriver {
    pub(crate) product: &'static JdbcProduct,
    machine: &'static JavaMachine,
    options: JdbcOptions,
    jars: Vec<PathBuf>,
}

impl JdbcDriver {
    /// Finds jars and machine.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`]: what is missing, and where to get it.
    pub(crate) fn find(product: &'static JdbcProduct, options: &JdbcOptions) -> Result<Self> {
        let jars = jars(product, options).map_err(|e| EngineError::unsupported(e.to_string()))?;
        let machine = machine(options).map_err(|e| EngineError::unsupported(e.to_string()))?;
        Ok(Self { product, machine, options: options.clone(), jars })
    }
}

impl JdbcDatabase {
    /// Opens a new database in memory.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn in_memory(driver: &JdbcDriver) -> Result<Arc<Self>> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let url = (driver.product.memory_url)(number, &driver.options);
        Self::open(driver, url, None).map(Arc::new)
    }

    /// Opens the database in a folder, which is made if it does not exist.
    ///
    /// # Errors
    /// The driver's; [`ErrorKind::Conflict`] if it is open with other settings, or in another process.
    pub(crate) fn in_folder(driver: &JdbcDriver, folder: &Path) -> Result<Arc<Self>> {
        let mut open = open_folders();
        let known = open.iter().find(|(known, _)| known == folder).and_then(|(_, database)| database.upgrade());
        if let Some(database) = known {
            // The database dropped below may be the last reference, whose drop locks the list too.
            drop(open);
            if database.options == driver.options && database.product.scheme == driver.product.scheme {
                return Ok(database);
            }
            let words = format!("{} is open in this process with other settings", folder.display());
            return Err(EngineError::new(ErrorKind::Conflict, words));
        }
        fs::create_dir_all(folder).map_err(|e| EngineError::io("create", folder, &e))?;
        let url = (driver.product.file_url)(folder, &driver.options);
        let database = Arc::new(Self::open(driver, url, Some(folder.to_owned()))?);
        open.push((folder.to_owned(), Arc::downgrade(&database)));
        Ok(database)
    }

    fn open(driver: &JdbcDriver, url: String, folder: Option<PathBuf>) -> Result<Self> {
        let JdbcDriver { product, machine, ref options, ref jars } = *driver;
        let mut keeper = connect(product, machine, options, jars, &url)?;
        for statement in (product.on_open)(options, folder.is_none()) {
            keeper.execute_text(&statement)?;
        }
        let (options, jars) = (options.clone(), jars.clone());
        Ok(Self {
            product,
            machine,
            options,
            jars,
            url,
            folder,
            keeper: Mutex::new(keeper),
            sessions: Mutex::default(),
        })
    }

    pub(crate) fn product(&self) -> &'static JdbcProduct {
        self.product
    }

    pub(crate) fn machine(&self) -> &'static JavaMachine {
        self.machine
    }

    pub(crate) fn jars(&self) -> &[PathBuf] {
        &self.jars
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn connect(&self) -> Result<JdbcConnection> {
        connect(self.product, self.machine, &self.options, &self.jars, &self.url)
    }

    /// Lets [`Self::interrupt_statements`] interrupt those of a session's connection, until that is
    /// [removed](Self::remove_session).
    pub(crate) fn add_session(&self, connection: &JdbcConnection) {
        locked(&self.sessions).push(connection.object());
    }

    /// Removes a session's connection, which is about to be closed.
    pub(crate) fn remove_session(&self, connection: &JdbcConnection) {
        locked(&self.sessions).retain(|known| *known != connection.object());
    }

    /// Connection that is open as long as the database is.
    pub(crate) fn keeper(&self) -> MutexGuard<'_, JdbcConnection> {
        locked(&self.keeper)
    }

    /// Bytes of the heap in use, by everything in the machine.
    pub(crate) fn heap_bytes(&self) -> Result<u64> {
        let bytes = self.keeper().bridge().number(BridgeMethod::Heap).ok_or_else(machine_failed)?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    /// Closes the database, unless it was opened again meanwhile.
    fn end(&self) -> Result<()> {
        match if self.folder.is_some() { self.product.end } else { self.product.memory_end } {
            CloseMethod::LastConnection => Ok(()),
            CloseMethod::Statement(sql) => self.keeper().execute_text(sql).map(|_| ()),
            CloseMethod::Url(what, by) => {
                let url = self.url.replace(what, by);
                let mut bridge = Bridge::new(self.machine, self.product)?;
                put_connect(&mut bridge, &self.options, &self.jars, &url)?;
                // The driver reports success by an error.
                bridge.send(BridgeMethod::ConnectToEnd, [0; 2]).map(|_| ())
            }
        }
    }
}

impl Interruptible for JdbcDatabase {
    fn interrupt_statements(&self) {
        // A connection is removed, which the lock forbids now, before it is released.
        for session in locked(&self.sessions).iter() {
            let _ = self.machine.call(session, BridgeMethod::Interrupt, [0; 2]);
        }
    }
}

impl Drop for JdbcDatabase {
    fn drop(&mut self) {
        // Locked until the database is closed, so that no session opens it meanwhile.
        let open = self.folder.as_ref().map(|folder| (folder, open_folders()));
        let is_open_anew = open.as_ref().is_some_and(|(folder, open)| open.iter().any(|(known, _)| known == *folder));
        if !is_open_anew {
            // A database that cannot be closed is left as after a crash, and recovered when it is opened next.
            let _ = self.end();
        }
        // A database that ends with its last connection is closed before others may look at its files.
        let _ = self.keeper().bridge().call(BridgeMethod::Close, [0; 2]);
    }
}

/// Writes the parameters of a connection to the bridge's message.
fn put_connect(bridge: &mut Bridge, options: &JdbcOptions, jars: &[PathBuf], url: &str) -> Result<()> {
    let product = bridge.product();
    let paths = jars.iter().map(|path| {
        let utf8 = path.to_str().ok_or_else(|| EngineError::unsupported(format!("{} is not UTF-8", path.display())));
        utf8.map(str::to_owned)
    });
    let paths = paths.collect::<Result<Vec<_>, _>>()?.join("\n");
    let system = (product.system)(options);
    let message = bridge.message();
    for text in [&paths, product.driver, &system, url, product.properties] {
        crate::wire::put_bytes(message, text.as_bytes());
    }
    message.push(u8::from(product.has_java_time));
    Ok(())
}

fn connect(
    product: &'static JdbcProduct,
    machine: &'static JavaMachine,
    options: &JdbcOptions,
    jars: &[PathBuf],
    url: &str,
) -> Result<JdbcConnection> {
    let mut bridge = Bridge::new(machine, product)?;
    put_connect(&mut bridge, options, jars, url)?;
    bridge.send(BridgeMethod::Connect, [0; 2])?;
    Ok(JdbcConnection::new(bridge))
}
