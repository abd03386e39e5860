//! The engine: a target, the server behind it, its sizes.

use crate::connect::{Connector, connectors, environment, limits};
use crate::copy::{DatabaseCopy, copy_of};
use crate::dialect::DIALECT;
use crate::loader::DatabaseLoader;
use crate::products::PRODUCTS;
use crate::server::{self, DATABASE, Launch};
use crate::target::{Place, Target};
use crate::wire::Connection;
use crate::{describe, hold, ownership, status};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Conflicts, Counter, Description, Dialect, Engine, EngineError, Footprint, Hold, Hosting, Interface,
    IoCounts, Loader, Location, NodeLosses, OwnedServer, Session, SideDatabase, Snapshot, SqlEngine,
};
use bourse_server::client::tls::tls_setting;
use bourse_server::client::{ConflictKinds, NodeSession, Nodes, Product, Reach as _};
use bourse_server::{Servers, check_each};
use std::sync::Arc;

/// A PostgreSQL database under test.
pub struct PostgresEngine {
    target: Target,
    servers: Servers<Connector, Launch, Connection>,
    /// Database of the server that is accessible even if the target's does not exist.
    home: String,
}

/// Conflict codes that are counted separately for a database of several servers.
const KINDS: ConflictKinds = ConflictKinds {
    by_code: &[
        ("40001", "40001 (serialization failure, restart of the transaction)"),
        ("40P01", "40P01 (deadlock)"),
        ("55P03", "55P03 (lock wait timed out)"),
    ],
    interrupted: false,
};

/// Opens a target: parses it; a private server is started at first use.
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

impl PostgresEngine {
    /// Engine of a parsed target.
    pub fn new(target: Target) -> Self {
        Self::with_home(target, None)
    }

    fn with_home(target: Target, home: Option<&str>) -> Self {
        let servers = Servers::new(&target.place, &target.others, target.options.ram);
        let home = home.unwrap_or(servers.database(DATABASE)).to_owned();
        Self { target, servers, home }
    }

    /// Parsed target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// First process of the private server, once started.
    pub fn server_process(&self) -> Option<u32> {
        self.servers.process()
    }

    /// Sets additions to the target's options for later starts of the private server.
    pub fn set_launch(&self, launch: Launch) {
        self.servers.set_launch(launch);
    }

    /// Stops the private server in good order: its files are then complete.
    ///
    /// # Errors
    /// [`ConnectionLost`](bourse_engine::ErrorKind::ConnectionLost) if it has ended before; [`Other`](bourse_engine::ErrorKind::Other) if it does not end in time.
    pub fn stop(&self) -> Result<(), EngineError> {
        self.servers.end_watch();
        self.servers.private().with(|server, _| server::stop(&self.target, server))
    }

    /// Exit status of the private server; `None` while it runs, or if there is none.
    pub fn server_exit(&self) -> Option<std::process::ExitStatus> {
        self.servers.exit()
    }

    fn database(&self) -> &str {
        self.servers.database(DATABASE)
    }

    /// Running servers; `None` for a private target.
    fn running(&self) -> Result<Option<Arc<Nodes<Connector>>>, EngineError> {
        let Target { place, others, options, .. } = &self.target;
        self.servers.running(|| {
            let places: Vec<&Place> = std::iter::once(place).chain(others).collect();
            let connectors = connectors(options, &places, &environment())?;
            Ok(Nodes::new(connectors, self.database().to_owned(), options.spread, KINDS))
        })
    }

    /// Result of `connect` on the server; starts a private one if it does not run yet. If a private server has ended,
    /// the error says so.
    fn reach<T>(&self, connect: impl Fn(&Connector) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.servers.reach(self.running()?, |folder, launch| server::start(&self.target, folder, launch), connect)
    }

    /// Opens a connection to the database; `None` if it does not exist.
    fn if_there(&self) -> Result<Option<Connection>, EngineError> {
        self.reach(|connector| connector.connect_if_there(self.database()))
    }

    /// Runs `ask` on the watcher's connection, which is reopened after an error.
    fn watch<T>(&self, ask: impl FnOnce(&mut Connection) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.servers.watch(|| self.reach(|connector| connector.maintenance(&self.home)), ask)
    }

    /// Refuses more sessions than the servers accept, before the first of them is opened.
    fn check_announced(&self) -> Result<(), EngineError> {
        let Some(wanted) = self.servers.announced() else { return Ok(()) };
        if let Some(nodes) = self.running()? {
            return check_each(&nodes, wanted, |connector| limits(&mut connector.maintenance(&self.home)?));
        }
        let Some(limits) = self.watch(limits)? else { return Ok(()) };
        limits.check(wanted, |enough| format!("`max_connections={}` in the target gives more", enough.max(limits.most)))
    }
}

impl Engine for PostgresEngine {
    fn description(&self) -> Result<Description, EngineError> {
        let mut connection = match self.if_there()? {
            Some(connection) => connection,
            None => self.reach(|connector| connector.maintenance(&self.home))?,
        };
        let mut description = describe::describe(&self.target, &mut connection)?;
        if let Some(nodes) = self.running()? {
            description.warnings.extend(nodes.connector(0).secret.unused.clone());
            description.settings.push(tls_setting(connection.tls()));
            if let Some(product) = Product::of(PRODUCTS, &description.compile_options.concat()) {
                product.describe(&mut description);
            }
            if self.servers.has_several() {
                description.settings.extend(nodes.settings());
            }
        }
        Ok(description)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            // A private server is the process's that started it.
            processes: matches!(self.target.place, Place::Running { .. }),
            ..Capabilities::OF_SQL
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
        if !self.servers.is_started() {
            // A private server begins empty.
            return Ok(false);
        }
        let Some(mut connection) = self.if_there()? else { return Ok(false) };
        let has_tables = !ownership::marked_tables(&mut connection)?.is_empty();
        Ok(has_tables || ownership::foreign(&mut connection, self.database())?.is_some())
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        if !self.servers.is_started() {
            return Ok(None);
        }
        match self.if_there()? {
            Some(mut connection) => ownership::foreign(&mut connection, self.database()),
            None => Ok(None),
        }
    }

    fn hold(&self, holder: &str) -> Result<Hold, EngineError> {
        match self.running()? {
            Some(nodes) => {
                nodes.reach(0, |connector| hold::hold(connector, self.database(), holder)).map(|(_, held)| held)
            }
            None => Ok(Hold::Nothing),
        }
    }

    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        if !self.servers.is_started() {
            return Ok(None);
        }
        let copy = copy_of(self.database());
        let is_left = self.watch(|connection| ownership::is_marked(connection, &copy))? == Some(true);
        Ok(is_left.then(|| format!("database \"{copy}\" was left by a run that did not end, and is replaced")))
    }

    fn location(&self) -> Location {
        self.servers.location()
    }

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.servers.expect_sessions(sessions);
        None
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        let copy = self.reach(|connector| {
            DatabaseCopy::take(connector.clone(), self.database(), Arc::clone(self.servers.watcher()))
        })?;
        Ok(Box::new(copy))
    }

    fn side_database(&self, name: &str) -> Result<SideDatabase, EngineError> {
        let side = format!("{}_bourse_{name}", self.database());
        let is_marked = self.watch(|connection| ownership::is_marked(connection, &side))?;
        if is_marked == Some(false) {
            return Err(EngineError::refused(format!("a database \"{side}\" is there that Bourse did not make")));
        }
        // A pooler knows the databases of its configuration alone.
        if let Err(e) = self.reach(|connector| connector.connect_if_there(&side)) {
            return Err(EngineError::unsupported(format!("a database \"{side}\" cannot be reached: {e}")));
        }
        let engine = Self::with_home(self.target.with_database(&side), Some(self.database()));
        let place = self.reach(|connector| Ok(connector.clone()))?;
        let home = self.database().to_owned();
        let remove = move || ownership::drop_marked(&mut place.maintenance(&home)?, &side);
        Ok(SideDatabase { engine: Box::new(engine), remove: Box::new(remove) })
    }

    /// Runs the server's own extension `amcheck`: on a private server, and on a running one if it is installed in the
    /// database.
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
        let private = self.servers.private().look(|server| (server.folder().data(), server.process_id()));
        if let Some((data, process)) = private {
            footprint.log_bytes = status::log_bytes(&data);
            footprint.server = status::server_use(process);
            footprint.memory_bytes = footprint.server.map_or(0, |server| server.resident_bytes);
        }
        Ok(footprint)
    }

    fn conflicts(&self) -> Vec<Conflicts> {
        self.servers.conflicts()
    }

    fn node_losses(&self) -> Vec<NodeLosses> {
        self.servers.losses()
    }

    /// Counters of a single server; empty for several servers, since one would report a part.
    fn counters(&self) -> Result<Vec<Counter>, EngineError> {
        if !self.servers.is_started() || self.servers.has_several() {
            return Ok(Vec::new());
        }
        let database = self.database();
        self.watch(|connection| status::counters(connection, database))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        if !self.servers.is_started() || self.servers.has_several() {
            return Ok(None);
        }
        self.watch(status::io_counts)
    }
}

impl SqlEngine for PostgresEngine {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>, EngineError> {
        self.check_announced()?;
        if let Some(nodes) = self.running()?.filter(|_| self.servers.has_several()) {
            return Ok(Box::new(NodeSession::new(self.dialect(), nodes)?));
        }
        Ok(Box::new(self.reach(|connector| connector.session(self.database()))?))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        Ok(Box::new(self.reach(|connector| DatabaseLoader::new(connector, self.database(), &self.home))?))
    }
}

impl OwnedServer for PostgresEngine {
    fn kill(&self) -> Result<(), EngineError> {
        self.servers.private().with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<(), EngineError> {
        self.servers.end_watch();
        let launch = self.servers.launch();
        self.servers.private().with(|server, connector| server::restart(&self.target, server, connector, &launch))
    }
}
