//! The engine: a target, the server behind it, its sizes.

use crate::connect::{Address, Connector, password};
use crate::copy::{DatabaseCopy, copy_of};
use crate::loader::DatabaseLoader;
use crate::server::{self, DATABASE};
use crate::session::PostgresSession;
use crate::target::{Place, Target};
use crate::wire::Connection;
use crate::{describe, ownership, status};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Counter, Description, Dialect, Engine, EngineError, ErrorKind, Footprint, Hosting, Interface,
    IoCounts, Isolation, Loader, Location, OwnedServer, RecordCapabilities, Session, Snapshot, SqlCapabilities,
    SqlEngine,
};
use bourse_private_server::{ServerSlot, parent};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A PostgreSQL database under test.
pub struct PostgresEngine {
    target: Target,
    /// Of a private target, once something needed it.
    server: ServerSlot<Connector>,
    /// A connection for sizes, so that asking for them each second opens none.
    watcher: Mutex<Option<Connection>>,
    /// Sessions that were announced, until it is known whether the server takes as many.
    announced: AtomicUsize,
}

/// Opens a target: reads it; a private server is started at first use.
///
/// # Errors
/// [`TargetError`]: what in the target is wrong, and what is known.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_postgres::open("postgres+private:?ram=on").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_postgres::open("postgres://ann@localhost/x?ram=on").is_err());
/// ```
pub fn open(target: &str) -> Result<PostgresEngine, TargetError> {
    Target::parse(target).map(PostgresEngine::new)
}

impl std::fmt::Debug for PostgresEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresEngine").field("target", &self.target).finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PostgresEngine {
    /// The engine of a target that was read before.
    pub fn new(target: Target) -> Self {
        Self { target, server: ServerSlot::default(), watcher: Mutex::new(None), announced: AtomicUsize::new(0) }
    }

    /// The target as it was read.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The private server's first process, once it has been started.
    pub fn server_process(&self) -> Option<u32> {
        self.server.look(|server| server.process_id())
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
            Place::Running { host, port, user, database } => Ok(Connector {
                address: match &options.socket {
                    Some(folder) => Address::Socket(folder.clone(), *port),
                    None => Address::Tcp(host.clone(), *port),
                },
                user: user.clone(),
                password: password(options, host, *port, database, user)?,
                options: options.clone(),
            }),
            Place::Private { directory } => self.server.connector(|| server::start(&self.target, directory.as_deref())),
        }
    }

    /// What `connect` gives; where that is nothing because a server of ours has ended, that is what is told.
    fn reach<T>(&self, connect: impl FnOnce(&Connector) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.server.explained(connect(&self.connector()?))
    }

    /// A connection to the database; `None` if no such name exists.
    fn if_there(&self) -> Result<Option<Connection>, EngineError> {
        self.reach(|connector| connector.connect_if_there(self.database()))
    }

    fn is_started(&self) -> bool {
        !matches!(self.target.place, Place::Private { .. }) || self.server.is_started()
    }

    /// Runs `ask` on the watcher's connection, which is made anew after an error.
    fn watch<T>(&self, ask: impl FnOnce(&mut Connection) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let mut kept = locked(&self.watcher);
        if kept.is_none() {
            *kept = Some(self.reach(Connector::maintenance)?);
        }
        let asked = ask(kept.as_mut().expect("made just before"));
        if asked.is_err() {
            *kept = None;
        }
        asked
    }

    /// Refuses more sessions than the server takes, before the first of them is made.
    fn check_announced(&self) -> Result<(), EngineError> {
        let wanted = self.announced.swap(0, Ordering::Relaxed);
        if wanted == 0 {
            return Ok(());
        }
        let row = self.watch(|connection| {
            connection.ask(
                "SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int,
                        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')",
            )
        })?;
        let number = |at: usize| row.first().and_then(|row| row.get(at)?.as_ref()?.parse::<usize>().ok()).unwrap_or(0);
        let (most, reserved, open) = (number(0), number(1), number(2));
        let free = most.saturating_sub(reserved).saturating_sub(open);
        if wanted <= free {
            return Ok(());
        }
        let how = match self.target.place {
            Place::Private { .. } => {
                format!("`max_connections={}` in the target gives more", (wanted + reserved + open).max(most))
            }
            Place::Running { .. } => {
                "fewer users, or a larger max_connections in the server's configuration, will do".to_owned()
            }
        };
        Err(EngineError::new(
            ErrorKind::Other,
            format!(
                "{wanted} sessions are too many for the server: its max_connections is {most}, of which {reserved} are reserved and \
                 {open} in use; {how}"
            ),
        ))
    }
}

impl Engine for PostgresEngine {
    fn description(&self) -> Result<Description, EngineError> {
        let mut connection = match self.if_there()? {
            Some(connection) => connection,
            None => self.reach(Connector::maintenance)?,
        };
        describe::describe(&self.target, &mut connection)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
                foreign_keys: true,
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
        let Some(mut connection) = self.if_there()? else { return Ok(false) };
        let has_tables = !ownership::marked_tables(&mut connection)?.is_empty();
        Ok(has_tables || ownership::foreign(&mut connection, self.database())?.is_some())
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        if !self.is_started() {
            return Ok(None);
        }
        match self.if_there()? {
            Some(mut connection) => ownership::foreign(&mut connection, self.database()),
            None => Ok(None),
        }
    }

    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        if !self.is_started() {
            return Ok(None);
        }
        let copy = copy_of(self.database());
        let is_left = self.watch(|connection| ownership::is_marked(connection, &copy))? == Some(true);
        Ok(is_left.then(|| format!("database \"{copy}\" was left by a run that did not end, and is replaced")))
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

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.announced.store(sessions, Ordering::Relaxed);
        None
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        let copy = self.reach(|connector| DatabaseCopy::take(connector.clone(), self.database()))?;
        Ok(Box::new(copy))
    }

    /// By the server's own extension `amcheck`: of a private server, and of a person's where it is installed in the database.
    fn integrity_check(&self) -> Result<Option<Vec<String>>, EngineError> {
        let Some(mut connection) = self.if_there()? else { return Ok(Some(Vec::new())) };
        if matches!(self.target.place, Place::Private { .. })
            && !connection.names("SELECT 1 FROM pg_available_extensions WHERE name = 'amcheck'")?.is_empty()
        {
            connection.run("CREATE EXTENSION IF NOT EXISTS amcheck")?;
        }
        if connection.names("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'")?.is_empty() {
            return Ok(None);
        }
        describe::damages(&mut connection).map(Some)
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let database = self.database();
        let data_bytes = self.watch(|connection| status::database_bytes(connection, database))?;
        let mut footprint = Footprint { data_bytes, ..Footprint::default() };
        let private = self.server.look(|server| (server.folder().data(), server.process_id()));
        if let Some((data, process)) = private {
            footprint.log_bytes = status::log_bytes(&data);
            footprint.server = status::server_use(process);
            footprint.memory_bytes = footprint.server.map_or(0, |server| server.resident_bytes);
        }
        Ok(footprint)
    }

    fn counters(&self) -> Result<Vec<Counter>, EngineError> {
        if !self.is_started() {
            return Ok(Vec::new());
        }
        let database = self.database();
        self.watch(|connection| status::counters(connection, database))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        if !self.is_started() {
            return Ok(None);
        }
        self.watch(status::io_counts)
    }
}

impl SqlEngine for PostgresEngine {
    fn dialect(&self) -> &'static Dialect {
        &bourse_schema::POSTGRES
    }

    fn new_session(&self) -> Result<Box<dyn Session>, EngineError> {
        self.check_announced()?;
        Ok(Box::new(PostgresSession::new(self.reach(|connector| connector.connect(self.database()))?)))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        Ok(Box::new(DatabaseLoader::new(&self.connector()?, self.database())?))
    }
}

impl OwnedServer for PostgresEngine {
    fn kill(&self) -> Result<(), EngineError> {
        self.server.with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<(), EngineError> {
        *locked(&self.watcher) = None;
        self.server.with(|server, connector| server::restart(&self.target, server, connector))
    }
}
