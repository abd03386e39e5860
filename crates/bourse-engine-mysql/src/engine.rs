//! The engine: a target, the server behind it, its sizes.

use crate::connect::{Connector, Known, connectors, facts, limits, tls, version};
use crate::copy::StoppedCopy;
use crate::describe;
use crate::hold;
use crate::link::Link;
use crate::loader::DatabaseLoader;
use crate::options::Flavour;
use crate::ownership;
use crate::products::{PRODUCTS, of_flavour};
use crate::server::{self, DATABASE, Launch};
use crate::status::{Status, counters, told_process};
use crate::target::{Place, Target};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Conflicts, Counter, Description, Dialect, Engine, EngineError, Footprint, Hold, Hosting, Interface,
    IoCounts, Isolation, Loader, Location, NodeLosses, OwnedServer, ServerProcess, Session, SideDatabase, Snapshot,
    SqlCapabilities, SqlEngine,
};
use bourse_server::client::passwords::Environment;
use bourse_server::client::tls::{SslMode, tls_setting};
use bourse_server::client::{ConflictKinds, Limits, NodeSession, Nodes, Product, Reach as _};
use bourse_server::private::processes;
use bourse_server::{Servers, check_each};
use mysql::prelude::Queryable as _;
use std::sync::{Arc, OnceLock};

/// A MariaDB or MySQL database under test.
pub struct MysqlEngine {
    target: Target,
    servers: Servers<Connector, Launch, Watcher>,
    /// Differences of the servers from MySQL, once a running one was reached.
    known: OnceLock<Known>,
}

/// Conflict codes that are counted separately for a database of several servers.
const KINDS: ConflictKinds = ConflictKinds {
    by_code: &[
        ("1213", "1213 (another transaction's lock, or another node's commit)"),
        ("1205", "1205 (lock wait timed out)"),
        ("1020", "1020 (row changed since the snapshot)"),
        ("9007", "9007 (write conflict)"),
        ("3101", "3101 (commit refused by the group)"),
        ("1180", "1180 (commit failed)"),
    ],
    interrupted: false,
};

/// Monitoring connection to a server.
pub(crate) struct Watcher {
    pub(crate) connection: Link,
    /// Counters of the server when the connection was opened.
    pub(crate) before: Status,
}

impl Watcher {
    pub(crate) fn of(connector: &Connector) -> Result<Self, EngineError> {
        let mut connection = connector.connect(None)?;
        let before = Status::read(&mut connection)?;
        Ok(Self { connection, before })
    }
}

/// Opens a target: parses it; a private server is started at first use.
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

impl MysqlEngine {
    /// Engine of a parsed target.
    pub fn new(target: Target) -> Self {
        let servers = Servers::new(&target.place, &target.others, target.options.ram);
        Self { target, servers, known: OnceLock::new() }
    }

    /// Parsed target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Process of the private server, once started.
    pub fn server_process(&self) -> Option<u32> {
        self.servers.process()
    }

    /// Sets additions to the target's options for later starts of the private server.
    pub fn set_launch(&self, launch: Launch) {
        self.servers.set_launch(launch);
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
            let connectors = connectors(options, &places, "", environment())?;
            let nodes = Nodes::new(connectors, self.database().to_owned(), options.spread, KINDS);
            let (_, known) = nodes.reach(0, |connector| Ok(Known::ask(&mut connector.connect(None)?, options)))?;
            let known = self.known.get_or_init(|| known);
            Ok(nodes.with_strictest(known.facts.strictest))
        })
    }

    /// Result of `connect` on the server; starts a private one if it does not run yet. If a private server has ended,
    /// the error says so.
    fn reach<T>(&self, connect: impl Fn(&Connector) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.servers.reach(self.running()?, |folder, launch| server::start(&self.target, folder, launch), connect)
    }

    /// Differences of the server from MySQL, as far as they are known without reaching it.
    fn known(&self) -> Known {
        // A private server is set up to enforce checks.
        let own = || Known::of(of_flavour(self.target.flavour), self.target.options.foreign_keys);
        self.known.get().copied().unwrap_or_else(own)
    }

    /// Refuses more sessions than the servers accept, before the first of them is opened.
    fn check_announced(&self) -> Result<(), EngineError> {
        let Some(wanted) = self.servers.announced() else { return Ok(()) };
        if let Some(nodes) = self.running()? {
            return check_each(&nodes, wanted, limits_at);
        }
        let advice = |enough| format!("`bourse` has its private servers take 2000; {enough} would do");
        self.reach(limits_at)?.map_or(Ok(()), |limits| limits.check(wanted, advice))
    }

    /// Runs `ask` on the watcher's connection, which is reopened after an error.
    fn watch<T>(&self, ask: impl FnOnce(&mut Watcher) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.servers.watch(
            || self.reach(Watcher::of),
            |watcher| {
                let answer = ask(watcher);
                watcher.connection.rests();
                answer
            },
        )
    }
}

/// Adds product, encryption and warnings of a running server to a description.
pub(crate) fn describe_way(description: &mut Description, connector: &Connector, connection: &mut Link) {
    description.settings.push(tls_setting(tls(connection)));
    if let Some(product) = Product::of(PRODUCTS, &version(connection)) {
        product.describe(description);
        if product.facts.strictest != Isolation::Serializable {
            description.warnings.push(format!(
                "{} refuses serializable transactions, which run at repeatable read: write skew is possible",
                product.name
            ));
        }
    }
    description.warnings.extend(connector.secret.unused.clone());
    if connector.options.tls.checks_authority() && connector.options.tls.mode != SslMode::VerifyFull {
        description.warnings.push(
            "the client of MySQL accepts certificates of public authorities too, beside that of 'sslrootcert': \
             sslmode=verify-full also asks for the host"
                .to_owned(),
        );
    }
}

/// Places where this process finds passwords of such servers.
pub(crate) fn environment() -> Environment {
    Environment::of_process(&["BOURSE_MYSQL_PASSWORD", "MYSQL_PWD"], None)
}

/// Limits of a connector's server.
pub(crate) fn limits_at(connector: &Connector) -> Result<Option<Limits>, EngineError> {
    Ok(limits(&mut connector.connect(None)?))
}

/// Resources of a server's process and its direct children.
fn server_use(process: u32) -> Option<ServerProcess> {
    let mut all = processes::process_use(process, false)?.process;
    for child in processes::children(process) {
        let Some(used) = processes::process_use(child, false) else { continue };
        all.cpu_user_ns += used.process.cpu_user_ns;
        all.cpu_system_ns += used.process.cpu_system_ns;
        all.read_bytes += used.process.read_bytes;
        all.written_bytes += used.process.written_bytes;
        all.resident_bytes += used.process.resident_bytes;
    }
    Some(all)
}

/// Damage that the server finds in the connection's database, in the server's words.
///
/// # Errors
/// The server's, if the check cannot run.
pub(crate) fn damage(connection: &mut Link) -> Result<Vec<String>, EngineError> {
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
        let mut connection = self.reach(|connector| connector.connect(None))?;
        let mut description = describe::describe(&self.target, &mut connection)?;
        if let Some(nodes) = self.running()? {
            describe_way(&mut description, nodes.connector(0), &mut connection);
            if self.servers.has_several() {
                description.settings.extend(nodes.settings());
            }
        }
        Ok(description)
    }

    /// Capabilities of the product; those that it refuses are known once its server was reached.
    fn capabilities(&self) -> Capabilities {
        let known = self.known();
        let isolation: &[Isolation] = match known.facts.strictest {
            Isolation::Serializable => SqlCapabilities::ALL.isolation,
            Isolation::ReadCommitted | Isolation::RepeatableRead => {
                &[Isolation::ReadCommitted, Isolation::RepeatableRead]
            }
        };
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation,
                foreign_keys: self.target.options.foreign_keys,
                checks: known.checks,
                ..SqlCapabilities::ALL
            }),
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
        let mut connection = self.reach(|connector| connector.connect(None))?;
        ownership::exists(&mut connection, self.database())
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        if !self.servers.is_started() {
            return Ok(None);
        }
        ownership::foreign(&mut self.reach(|connector| connector.connect(None))?, self.database())
    }

    fn hold(&self, _: &str) -> Result<Hold, EngineError> {
        match self.running()? {
            Some(nodes) => nodes.reach(0, |connector| hold::hold(connector, self.database())).map(|(_, held)| held),
            None => Ok(Hold::Nothing),
        }
    }

    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        if !self.servers.is_started() {
            return Ok(None);
        }
        ownership::leftovers(&mut self.reach(|connector| connector.connect(None))?, self.database())
    }

    fn location(&self) -> Location {
        self.servers.location()
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        match self.target.place {
            Place::Running { .. } => Err(EngineError::unsupported(
                "no copy of its database can be kept: a server that others run is not stopped for it",
            )),
            Place::Private { .. } => {
                let copy = StoppedCopy {
                    server: Arc::clone(self.servers.private()),
                    watcher: Arc::clone(self.servers.watcher()),
                    target: self.target.clone(),
                    launch: self.servers.launch(),
                };
                Ok(Box::new(copy.take()?))
            }
        }
    }

    fn side_database(&self, name: &str) -> Result<SideDatabase, EngineError> {
        let side = format!("{}_bourse_{name}", self.database());
        let connector = self.reach(|connector| Ok(connector.clone()))?;
        ownership::refuse_side(&mut connector.connect(None)?, &side)?;
        let engine = Self::new(self.target.with_database(&side));
        let remove = move || ownership::drop_made(&mut connector.connect(None)?, &side);
        Ok(SideDatabase { engine: Box::new(engine), remove: Box::new(remove) })
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>, EngineError> {
        let mut connection = self.reach(|connector| connector.connect(Some(self.database())))?;
        if !facts(&mut connection).check_table {
            return Ok(None);
        }
        damage(&mut connection).map(Some)
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let is_part = self.servers.has_several();
        let status = self.watch(|watcher| Ok(Status::read(&mut watcher.connection)?.since(&watcher.before)))?;
        let mut footprint =
            Footprint { memory_bytes: status.memory_bytes, locks: status.locks, ..Footprint::default() };
        if is_part {
            // One server of several: the sum is not known.
            footprint = Footprint::default();
        }
        let private = self.servers.private().look(|server| (server.folder().data(), server.process_id()));
        if let Some((data, process)) = &private {
            footprint.server = server_use(told_process(data).unwrap_or(*process));
            footprint.memory_bytes = footprint.server.map_or(footprint.memory_bytes, |it| it.resident_bytes);
        }
        match private.filter(|_| matches!(self.target.flavour, Flavour::Mariadb | Flavour::Mysql)) {
            Some((data, _)) => (footprint.data_bytes, footprint.log_bytes) = describe::sizes(&data, self.database()),
            None => {
                let database = self.database();
                footprint.data_bytes =
                    self.watch(|watcher| describe::table_bytes(&mut watcher.connection, database))?;
            }
        }
        Ok(footprint)
    }

    fn conflicts(&self) -> Vec<Conflicts> {
        self.servers.conflicts()
    }

    fn node_losses(&self) -> Vec<NodeLosses> {
        self.servers.losses()
    }

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.servers.expect_sessions(sessions);
        None
    }

    /// Counters of a single server; empty for several servers, since one would report a part.
    fn counters(&self) -> Result<Vec<Counter>, EngineError> {
        if !self.servers.is_started() || self.servers.has_several() {
            return Ok(Vec::new());
        }
        self.watch(|watcher| counters(&mut watcher.connection))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        if !self.servers.is_started() || self.servers.has_several() {
            return Ok(None);
        }
        self.watch(|watcher| Ok(Some(Status::read(&mut watcher.connection)?.io)))
    }
}

impl SqlEngine for MysqlEngine {
    /// Dialect of the server. If it cannot be reached now, opening a session reports that.
    fn dialect(&self) -> &'static Dialect {
        let _ = self.running();
        self.known().dialect
    }

    fn new_session(&self) -> Result<Box<dyn Session>, EngineError> {
        self.check_announced()?;
        if let Some(nodes) = self.running()?.filter(|_| self.servers.has_several()) {
            return Ok(Box::new(NodeSession::new(self.dialect(), nodes)?));
        }
        Ok(Box::new(self.reach(|connector| connector.session(self.database()))?))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        Ok(Box::new(self.reach(|connector| DatabaseLoader::new(connector, self.database()))?))
    }
}

impl OwnedServer for MysqlEngine {
    fn kill(&self) -> Result<(), EngineError> {
        self.servers.private().with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<(), EngineError> {
        self.servers.end_watch();
        let launch = self.servers.launch();
        self.servers.private().with(|server, connector| server::restart(&self.target, server, connector, &launch))
    }
}
