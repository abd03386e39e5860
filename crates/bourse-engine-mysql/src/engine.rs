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
    Capabilities, Conflicts, Counter, Description, Dialect, Engine, EngineError, ErrorKind, Footprint, Hold, Hosting,
    Interface, IoCounts, Isolation, Loader, Location, NodeLosses, OwnedServer, RecordCapabilities, ServerProcess,
    Session, SideDatabase, Snapshot, SqlCapabilities, SqlEngine,
};
use bourse_server::client::passwords::Environment;
use bourse_server::client::tls::{SslMode, tls_setting};
use bourse_server::client::{Announced, ConflictKinds, NodeSession, Nodes, Product, Reach as _};
use bourse_server::private::{PrivateServer, ServerSlot, parent, processes};
use mysql::prelude::Queryable as _;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A MariaDB or MySQL database under test.
pub struct MysqlEngine {
    target: Target,
    /// Server of a private target, once started.
    server: Arc<ServerSlot<Connector>>,
    /// Running servers, once needed.
    running: Mutex<Option<Arc<Nodes<Connector>>>>,
    /// Additions to the target's options for starting the private server.
    launch: Mutex<Launch>,
    /// Differences of the servers from MySQL, once a running one was reached.
    known: OnceLock<Known>,
    /// Connection for sizes, so that reading them each second opens none.
    watcher: Arc<Mutex<Option<Watcher>>>,
    announced: Announced,
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

pub(crate) struct Watcher {
    connection: Link,
    /// Counters of the server at the first reading.
    before: Status,
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

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MysqlEngine {
    /// Engine of a parsed target.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            server: Arc::default(),
            running: Mutex::default(),
            launch: Mutex::default(),
            known: OnceLock::new(),
            watcher: Arc::default(),
            announced: Announced::default(),
        }
    }

    /// Parsed target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Process of the private server, once started.
    pub fn server_process(&self) -> Option<u32> {
        self.server.look(|server| server.process_id())
    }

    /// Sets additions to the target's options for later starts of the private server.
    pub fn set_launch(&self, launch: Launch) {
        *locked(&self.launch) = launch;
    }

    /// Exit status of the private server; `None` while it runs, or if there is none.
    pub fn server_exit(&self) -> Option<std::process::ExitStatus> {
        self.server.look(PrivateServer::exit).flatten()
    }

    fn database(&self) -> &str {
        match &self.target.place {
            Place::Running { database, .. } => database,
            Place::Private { .. } => DATABASE,
        }
    }

    /// Running servers; `None` for a private target.
    fn running(&self) -> Result<Option<Arc<Nodes<Connector>>>, EngineError> {
        let Target { place, others, options, .. } = &self.target;
        let Place::Running { database, .. } = place else { return Ok(None) };
        let mut running = locked(&self.running);
        if let Some(nodes) = &*running {
            return Ok(Some(nodes.clone()));
        }
        let places: Vec<&Place> = std::iter::once(place).chain(others).collect();
        let connectors = connectors(options, &places, "", environment())?;
        let nodes = Nodes::new(connectors, database.clone(), options.spread, KINDS);
        let (_, known) = nodes.reach(0, |connector| Ok(Known::ask(&mut connector.connect(None)?, options)))?;
        let known = self.known.get_or_init(|| known);
        Ok(Some(running.insert(Arc::new(nodes.with_strictest(known.facts.strictest))).clone()))
    }

    /// Result of `connect` on the server; starts a private one if it does not run yet. If a private server has ended,
    /// the error says so.
    fn reach<T>(&self, connect: impl Fn(&Connector) -> Result<T, EngineError>) -> Result<T, EngineError> {
        match (self.running()?, &self.target.place) {
            (Some(nodes), _) => nodes.reach(0, connect).map(|(_, reached)| reached),
            (None, Place::Private { directory }) => {
                let start = || server::start(&self.target, directory.as_deref(), &locked(&self.launch));
                let connector = self.server.connector(start)?;
                self.server.explained(connect(&connector))
            }
            (None, Place::Running { .. }) => Err(EngineError::unsupported("the server's address is not known")),
        }
    }

    /// Differences of the server from MySQL, as far as they are known without reaching it.
    fn known(&self) -> Known {
        // A private server is set up to enforce checks.
        let own = || Known::of(of_flavour(self.target.flavour), self.target.options.foreign_keys);
        self.known.get().copied().unwrap_or_else(own)
    }

    fn has_several(&self) -> bool {
        !self.target.others.is_empty()
    }

    /// Refuses more sessions than the servers accept, before the first of them is opened.
    fn check_announced(&self) -> Result<(), EngineError> {
        let Some(wanted) = self.announced.take() else { return Ok(()) };
        let Some(nodes) = self.running()? else {
            return self.reach(|connector| check(connector, wanted, "`bourse` has its private servers take 2000"));
        };
        check_each(&nodes, wanted)
    }

    fn is_started(&self) -> bool {
        !matches!(self.target.place, Place::Private { .. }) || self.server.is_started()
    }

    /// Runs `ask` on the watcher's connection, which is reopened after an error.
    fn watch<T>(&self, ask: impl FnOnce(&mut Watcher) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let mut kept = locked(&self.watcher);
        if kept.is_none() {
            let mut connection = self.reach(|connector| connector.connect(None))?;
            let before = Status::read(&mut connection)?;
            *kept = Some(Watcher { connection, before });
        }
        let watcher = kept.as_mut().expect("made just before");
        let asked = ask(watcher);
        watcher.connection.rests();
        if asked.is_err() {
            *kept = None;
        }
        asked
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

/// Refuses more sessions than a server accepts, if it reports its limits.
fn check(connector: &Connector, wanted: usize, advice: &str) -> Result<(), EngineError> {
    match limits(&mut connector.connect(None)?) {
        Some(limits) => limits.check(wanted, |enough| format!("{advice}; {enough} would do")),
        None => Ok(()),
    }
}

/// Refuses more sessions than the nodes accept together, an equal share each; one that cannot be reached is marked as
/// down.
///
/// # Errors
/// An error with the server's numbers and advice.
pub(crate) fn check_each(nodes: &Nodes<Connector>, wanted: usize) -> Result<(), EngineError> {
    let share = if nodes.spread() { wanted.div_ceil(nodes.len()) } else { wanted };
    for node in 0..nodes.len() {
        let advice = "fewer users, or a larger limit in the server's configuration, is what to try";
        match check(nodes.connector(node), share, advice) {
            Err(e) if e.kind() == ErrorKind::ConnectionLost && nodes.len() > 1 => nodes.set_up(node, false),
            checked => checked?,
        }
    }
    Ok(())
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
            if self.has_several() {
                description.settings.extend(nodes.settings());
            }
        }
        Ok(description)
    }

    /// Capabilities of the product; those that it refuses are known once its server was reached.
    fn capabilities(&self) -> Capabilities {
        let known = self.known();
        let isolation: &[Isolation] = match known.facts.strictest {
            Isolation::Serializable => &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
            Isolation::ReadCommitted | Isolation::RepeatableRead => {
                &[Isolation::ReadCommitted, Isolation::RepeatableRead]
            }
        };
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation,
                foreign_keys: self.target.options.foreign_keys,
                checks: known.checks,
                row_conflicts: true,
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
        let mut connection = self.reach(|connector| connector.connect(None))?;
        ownership::exists(&mut connection, self.database())
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        if !self.is_started() {
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
        if !self.is_started() {
            return Ok(None);
        }
        ownership::leftovers(&mut self.reach(|connector| connector.connect(None))?, self.database())
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

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        match self.target.place {
            Place::Running { .. } => Err(EngineError::unsupported(
                "no copy of its database can be kept: a server that others run is not stopped for it",
            )),
            Place::Private { .. } => {
                let copy = StoppedCopy {
                    server: Arc::clone(&self.server),
                    watcher: Arc::clone(&self.watcher),
                    target: self.target.clone(),
                    launch: locked(&self.launch).clone(),
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
        let is_part = self.has_several();
        let status = self.watch(|watcher| Ok(Status::read(&mut watcher.connection)?.since(&watcher.before)))?;
        let mut footprint =
            Footprint { memory_bytes: status.memory_bytes, locks: status.locks, ..Footprint::default() };
        if is_part {
            // One server of several: the sum is not known.
            footprint = Footprint::default();
        }
        let private = self.server.look(|server| (server.folder().data(), server.process_id()));
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
        match self.running() {
            Ok(Some(nodes)) if self.has_several() => nodes.conflicts(),
            _ => Vec::new(),
        }
    }

    fn node_losses(&self) -> Vec<NodeLosses> {
        match self.running() {
            Ok(Some(nodes)) if self.has_several() => nodes.losses(),
            _ => Vec::new(),
        }
    }

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.announced.note(sessions);
        None
    }

    /// Counters of a single server; empty for several servers, since one would report a part.
    fn counters(&self) -> Result<Vec<Counter>, EngineError> {
        if !self.is_started() || self.has_several() {
            return Ok(Vec::new());
        }
        self.watch(|watcher| counters(&mut watcher.connection))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        if !self.is_started() || self.has_several() {
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
        if let Some(nodes) = self.running()?.filter(|_| self.has_several()) {
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
        self.server.with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<(), EngineError> {
        *locked(&self.watcher) = None;
        let launch = locked(&self.launch).clone();
        self.server.with(|server, connector| server::restart(&self.target, server, connector, &launch))
    }
}
