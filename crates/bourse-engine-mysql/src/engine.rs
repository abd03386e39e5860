//! The engine: a target, the server behind it, its sizes.

use crate::connect::{Address, Connector};
use crate::describe;
use crate::loader::DatabaseLoader;
use crate::ownership;
use crate::server::{self, DATABASE, Launch};
use crate::session::MysqlSession;
use crate::status::{Status, counters, told_process};
use crate::target::{Place, Target};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Counter, Description, Dialect, Engine, EngineError, ErrorKind, Footprint, Hosting, Interface,
    IoCounts, Isolation, Loader, Location, OwnedServer, RecordCapabilities, Session, SqlCapabilities, SqlEngine,
};
use bourse_private_server::{PrivateServer, ServerSlot, parent, processes};
use mysql::Conn;
use mysql::prelude::Queryable as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A MariaDB or MySQL database under test.
pub struct MysqlEngine {
    target: Target,
    /// Of a private target, once something needed it.
    server: ServerSlot<Connector>,
    /// What it is started with beside what the target says.
    launch: Mutex<Launch>,
    /// A connection for sizes, so that asking for them each second opens none.
    watcher: Mutex<Option<Watcher>>,
}

struct Watcher {
    connection: Conn,
    /// What the server had counted before us.
    before: Status,
}

/// Opens a target: reads it; a private server is started at first use.
///
/// # Errors
/// [`TargetError`]: what in the target is wrong, and what is known.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_mysql::open("mariadb+private:?ram=on").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_mysql::open("mysql://root@localhost/x?ram=on").is_err());
/// ```
pub fn open(target: &str) -> Result<MysqlEngine, TargetError> {
    Target::parse(target).map(MysqlEngine::new)
}

impl std::fmt::Debug for MysqlEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MysqlEngine").field("target", &self.target).finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MysqlEngine {
    /// The engine of a target that was read before.
    pub fn new(target: Target) -> Self {
        Self { target, server: ServerSlot::default(), launch: Mutex::default(), watcher: Mutex::new(None) }
    }

    /// The target as it was read.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The private server's process, once it has been started.
    pub fn server_process(&self) -> Option<u32> {
        self.server.look(|server| server.process_id())
    }

    /// What the private server is started with from now on, beside what the target says.
    pub fn set_launch(&self, launch: Launch) {
        *locked(&self.launch) = launch;
    }

    /// How the private server has ended; `None` while it runs, or if there is none.
    pub fn server_exit(&self) -> Option<std::process::ExitStatus> {
        self.server.look(PrivateServer::exit).flatten()
    }

    fn database(&self) -> &str {
        match &self.target.place {
            Place::Running { database, .. } => database,
            Place::Private { .. } => DATABASE,
        }
    }

    /// How to reach the server; starts it if it is ours and does not run yet.
    fn connector(&self) -> Result<Connector, EngineError> {
        let options = &self.target.options;
        match &self.target.place {
            Place::Running { host, port, user, .. } => Ok(Connector {
                address: match &options.socket {
                    Some(path) => Address::Socket(path.clone()),
                    None => Address::Tcp(host.clone(), *port),
                },
                user: user.clone(),
                password: password(&self.target)?,
                options: options.clone(),
                settings: "",
            }),
            Place::Private { directory } => {
                let start = || server::start(&self.target, directory.as_deref(), &locked(&self.launch));
                self.server.connector(start)
            }
        }
    }

    /// A connection; where there is none because a server of ours has ended, that is what is told.
    fn reach(&self, database: Option<&str>) -> Result<Conn, EngineError> {
        self.server.explained(self.connector()?.connect(database))
    }

    fn is_started(&self) -> bool {
        !matches!(self.target.place, Place::Private { .. }) || self.server.is_started()
    }

    /// Runs `ask` on the watcher's connection, which is made anew after an error.
    fn watch<T>(&self, ask: impl FnOnce(&mut Watcher) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let mut kept = locked(&self.watcher);
        if kept.is_none() {
            let mut connection = self.reach(None)?;
            let before = Status::read(&mut connection)?;
            *kept = Some(Watcher { connection, before });
        }
        let watcher = kept.as_mut().expect("made just before");
        let asked = ask(watcher);
        if asked.is_err() {
            *kept = None;
        }
        asked
    }
}

/// The password of a target: from the file that is named, or the environment.
///
/// # Errors
/// The file cannot be read.
pub fn password(target: &Target) -> Result<Option<String>, EngineError> {
    match &target.options.password_file {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|e| EngineError::new(ErrorKind::Other, format!("cannot read {}: {e}", path.display())))?;
            Ok(text.lines().next().map(str::to_owned))
        }
        None => Ok(std::env::var("BOURSE_MYSQL_PASSWORD").ok()),
    }
}

/// What the server finds damaged in the database that a connection uses, in its words.
///
/// # Errors
/// The server's, if it cannot even look.
pub fn damage(connection: &mut Conn) -> Result<Vec<String>, EngineError> {
    let tables: Vec<String> = connection
        .query("SELECT table_name FROM information_schema.tables WHERE table_schema = database()")
        .map_err(|e| crate::error::error(&e))?;
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<_> = tables.iter().map(|table| format!("`{table}`")).collect();
    // Table, operation, kind of message, message: of a table that is whole there is the one message "OK".
    let found: Vec<(String, String, String, String)> = connection
        .query(format!("CHECK TABLE {}", names.join(", ")))
        .map_err(|e| crate::error::error(&e).with_statement("CHECK TABLE"))?;
    let bad =
        found.into_iter().filter(|(_, _, kind, message)| !(kind == "note" || kind == "status" && message == "OK"));
    Ok(bad.map(|(table, _, kind, message)| format!("{table}: {kind}: {message}")).collect())
}

impl Engine for MysqlEngine {
    fn description(&self) -> Result<Description, EngineError> {
        let mut connection = self.reach(None)?;
        describe::describe(&self.target, &mut connection)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
                foreign_keys: self.target.options.foreign_keys,
                checks: true,
            }),
            concurrent_writers: true,
            snapshots: true,
            checkpoints: false,
            one_session: false,
            // A private server is the process's that started it.
            processes: matches!(self.target.place, Place::Running { .. }),
            records: Some(RecordCapabilities::OVER_SQL),
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        match self.target.place {
            Place::Private { .. } => Hosting::OwnedServer(self),
            Place::Running { .. } => Hosting::External,
        }
    }

    fn exists(&self) -> Result<bool, EngineError> {
        if !self.is_started() {
            // A private server begins empty.
            return Ok(false);
        }
        let mut connection = self.reach(None)?;
        ownership::exists(&mut connection, self.database())
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        if !self.is_started() {
            return Ok(None);
        }
        ownership::foreign(&mut self.reach(None)?, self.database())
    }

    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        if !self.is_started() {
            return Ok(None);
        }
        ownership::leftovers(&mut self.reach(None)?, self.database())
    }

    fn location(&self) -> Location {
        match &self.target.place {
            Place::Running { .. } => Location::RunningServer,
            Place::Private { directory } => {
                let started = self.server.look(|server| server.folder().data());
                let planned = || parent(directory.as_deref(), self.target.options.ram);
                Location::ServerFolder(started.or_else(|| planned().ok()).unwrap_or_else(std::env::temp_dir))
            }
        }
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>, EngineError> {
        damage(&mut self.reach(Some(self.database()))?).map(Some)
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let status = self.watch(|watcher| Ok(Status::read(&mut watcher.connection)?.since(&watcher.before)))?;
        let mut footprint =
            Footprint { memory_bytes: status.memory_bytes, locks: status.locks, ..Footprint::default() };
        let private = self.server.look(|server| (server.folder().data(), server.process_id()));
        match private {
            Some((data, process)) => {
                (footprint.data_bytes, footprint.log_bytes) = describe::sizes(&data, self.database());
                let process = told_process(&data).unwrap_or(process);
                footprint.server = processes::process_use(process, false).map(|used| used.process);
                footprint.memory_bytes = footprint.server.map_or(footprint.memory_bytes, |it| it.resident_bytes);
            }
            None => {
                let database = self.database();
                footprint.data_bytes =
                    self.watch(|watcher| describe::table_bytes(&mut watcher.connection, database))?;
            }
        }
        Ok(footprint)
    }

    fn counters(&self) -> Result<Vec<Counter>, EngineError> {
        if !self.is_started() {
            return Ok(Vec::new());
        }
        self.watch(|watcher| counters(&mut watcher.connection))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        if !self.is_started() {
            return Ok(None);
        }
        self.watch(|watcher| Ok(Some(Status::read(&mut watcher.connection)?.io)))
    }
}

impl SqlEngine for MysqlEngine {
    fn dialect(&self) -> &'static Dialect {
        &bourse_schema::MYSQL
    }

    fn new_session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(MysqlSession::new(self.reach(Some(self.database()))?)))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        Ok(Box::new(DatabaseLoader::new(&self.connector()?, self.database())?))
    }
}

impl OwnedServer for MysqlEngine {
    fn kill(&self) -> Result<(), EngineError> {
        self.server.with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<(), EngineError> {
        *locked(&self.watcher) = None;
        let launch = locked(&self.launch).clone();
        self.server.with(|server, connector| server::restart(&self.target, server, connector, &launch))
    }
}
