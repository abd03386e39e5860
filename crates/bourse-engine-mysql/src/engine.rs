//! MariaDB and MySQL as a system of servers.

use crate::connect::{KnownServer, MysqlConnector, connectors, facts, limits, tls, version};
use crate::copy::StoppedCopy;
use crate::error::error;
use crate::link::Link;
use crate::loader::MysqlLoader;
use crate::options::{Flavour, GRAMMAR, MysqlOptions, StorageEngine};
use crate::products::{MYROCKS, PRODUCTS, of_flavour};
use crate::server::{self, InstalledMysql, SOCKET, installed};
use crate::status::{ServerStatus, counters, process_in_pid_file};
use crate::target::{FORMS, ServerPlace};
use crate::{describe, hold, ownership};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Description, Dialect, EngineError, Footprint, Guarantee, Interface, Isolation, Loader, Result,
    ServerProcess, SideDatabase, Snapshot, SqlCapabilities,
};
use bourse_server::client::passwords::PasswordSources;
use bourse_server::client::tls::{SslMode, tls_setting};
use bourse_server::client::{ConflictKinds, Nodes, Product};
use bourse_server::private::processes;
use bourse_server::{ServerEngine, ServerSystem, SqlSystem, SystemFacts};
use mysql::prelude::Queryable as _;
use std::sync::{Arc, OnceLock};

/// MariaDB, MySQL, and products with their protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mysql;

/// A MariaDB or MySQL database under test.
pub type MysqlEngine = ServerEngine<Mysql>;

/// Monitoring connection to a server.
pub struct Watcher {
    pub(crate) connection: Link,
    /// Counters of the server when the connection was opened.
    pub(crate) before: ServerStatus,
}

impl Watcher {
    pub(crate) fn of(connector: &MysqlConnector) -> Result<Self> {
        let mut connection = connector.connect(None)?;
        let before = ServerStatus::read(&mut connection)?;
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
    MysqlEngine::open(target)
}

/// Differences of the server from MySQL, as far as they are known without reaching it.
fn known(engine: &MysqlEngine) -> KnownServer {
    // A private server is set up to enforce checks.
    let own = || {
        let options = &engine.target().options;
        let is_rocksdb = options.storage == StorageEngine::Rocksdb;
        let facts = if is_rocksdb { &MYROCKS } else { of_flavour(engine.target().flavour) };
        KnownServer::of(facts, options.declares_foreign_keys())
    };
    engine.state().get().copied().unwrap_or_else(own)
}

/// Opens a connection to the server that uses no database.
fn connection(engine: &MysqlEngine) -> Result<Link> {
    engine.reach(|connector| connector.connect(None))
}

/// Adds product, encryption and warnings of a running server to a description.
pub(crate) fn describe_way(description: &mut Description, connector: &MysqlConnector, connection: &mut Link) {
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
    if connector.options.common.tls.checks_authority() && connector.options.common.tls.mode != SslMode::VerifyFull {
        description.warnings.push(
            "the client of MySQL accepts certificates of public authorities too, beside that of 'sslrootcert': \
             sslmode=verify-full also asks for the host"
                .to_owned(),
        );
    }
}

/// Places where this process finds passwords of such servers.
pub(crate) fn environment() -> PasswordSources {
    let fallback = std::env::var("MYSQL_PWD").ok();
    PasswordSources { fallback, ..PasswordSources::of_process("BOURSE_MYSQL_PASSWORD", None) }
}

/// Resources of a server's process and its direct children.
fn server_use(process: u32) -> Option<ServerProcess> {
    let mut all = processes::process_use(process, false)?.process;
    for child in processes::children(process) {
        if let Some(used) = processes::process_use(child, false) {
            all += used.process;
        }
    }
    Some(all)
}

/// Damage that the server finds in the connection's database, in the server's words.
///
/// # Errors
/// The server's, if the check cannot run.
pub(crate) fn damage(connection: &mut Link) -> Result<Vec<String>> {
    let tables: Vec<String> = connection
        .query("SELECT table_name FROM information_schema.tables WHERE table_schema = database()")
        .map_err(|e| error(&e))?;
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<_> = tables.iter().map(|table| format!("`{table}`")).collect();
    // Table, operation, kind of message, message: of a table that is whole there is the one message "OK".
    let found: Vec<(String, String, String, String)> = connection
        .query(format!("CHECK TABLE {}", names.join(", ")))
        .map_err(|e| error(&e).with_statement("CHECK TABLE"))?;
    let bad =
        found.into_iter().filter(|(_, _, kind, message)| !(kind == "note" || kind == "status" && message == "OK"));
    Ok(bad.map(|(table, _, kind, message)| format!("{table}: {kind}: {message}")).collect())
}

impl ServerSystem for Mysql {
    type Flavour = Flavour;
    type Options = MysqlOptions;
    type Installed = InstalledMysql;
    type Connector = MysqlConnector;
    type Watcher = Watcher;
    /// Differences of the servers from MySQL, once a running one was reached.
    type State = OnceLock<KnownServer>;

    const FACTS: &'static SystemFacts<Self> = &FACTS;
}

static FACTS: SystemFacts<Mysql> = SystemFacts {
    grammar: &GRAMMAR,
    forms: &FORMS,
    defaults: MysqlOptions::DEFAULT,
    interface: |engine| Interface::Sql(engine),
    private: |_| &server::KIND,
    check: |_| Ok(()),
    watched: (&["--innodb-use-native-aio=0"], &[]),
    conflicts: ConflictKinds {
        by_code: &[
            ("1213", "1213 (another transaction's lock, or another node's commit)"),
            ("1205", "1205 (lock wait timed out)"),
            ("1020", "1020 (row changed since the snapshot)"),
            ("9007", "9007 (write conflict)"),
            ("3101", "3101 (commit refused by the group)"),
            ("1180", "1180 (commit failed)"),
        ],
        interrupted: false,
    },
    more_connections: |enough| format!("`bourse` has its private servers take 2000; {enough} would do"),
    flavour: |scheme| match scheme {
        "mariadb" | "mariadb+private" => Flavour::Mariadb,
        "tidb+private" => Flavour::Tidb,
        "vitess+private" => Flavour::Vitess,
        _ => Flavour::Mysql,
    },
    common: |options| &options.common,
    installed: |target| installed(target.flavour, target.options.server.as_deref()),
    fill: server::fill,
    command: server::command,
    connector: |target, folder| server::connector(folder.path().join(SOCKET), &target.options, ""),
    wait: server::wait_until_it_answers,
    shut_down: server::shut_down,
    connectors: |target| {
        let places: Vec<&ServerPlace> = std::iter::once(&target.place).chain(&target.others).collect();
        connectors(&target.options, &places, "", environment())
    },
    examined,
    watcher: |_, connector| Watcher::of(connector),
    rests: |watcher| watcher.connection.rests(),
    limits: |watcher| Ok(limits(&mut watcher.connection)),
    capabilities,
    description,
    exists: |engine| ownership::exists(&mut connection(engine)?, engine.database()),
    foreign: |engine| ownership::foreign(&mut connection(engine)?, engine.database()),
    leftovers: |engine| ownership::leftovers(&mut connection(engine)?, engine.database()),
    hold: |connector, database, _| hold::hold(connector, database),
    snapshot,
    side_database,
    integrity_check,
    footprint,
    counters: |watcher, _| counters(&mut watcher.connection),
    io_counts: |watcher| Ok(Some(ServerStatus::read(&mut watcher.connection)?.io)),
    sessions: Some((
        "SELECT CAST(id AS SIGNED) FROM information_schema.processlist
          WHERE id <> CONNECTION_ID() AND user = SUBSTRING_INDEX(USER(), '@', 1)",
        "KILL {}",
    )),
};

impl SqlSystem for Mysql {
    fn dialect(engine: &MysqlEngine) -> &'static Dialect {
        // Where the servers differ from the target's product, they are asked. If none can be reached, the next call
        // that needs one reports it.
        let _ = engine.running();
        known(engine).dialect
    }

    fn loader(engine: &MysqlEngine) -> Result<Box<dyn Loader>> {
        Ok(Box::new(engine.reach(|connector| MysqlLoader::new(connector, engine.database()))?))
    }
}

fn examined(engine: &MysqlEngine, nodes: Nodes<MysqlConnector>) -> Result<Nodes<MysqlConnector>> {
    let options = &engine.target().options;
    let (_, known) = nodes.reach(0, |connector| Ok(KnownServer::ask(&mut connector.connect(None)?, options)))?;
    let known = engine.state().get_or_init(|| known);
    Ok(nodes.with_strictest(known.facts.strictest))
}

/// Capabilities of the product; those that it refuses are known once its server was reached.
fn capabilities(engine: &MysqlEngine) -> Capabilities {
    let known = known(engine);
    let storage = engine.target().options.storage;
    let isolation: &[Isolation] = match known.facts.strictest {
        _ if !storage.has_transactions() => &[],
        Isolation::Serializable => SqlCapabilities::ALL.isolation,
        Isolation::ReadCommitted | Isolation::RepeatableRead => &[Isolation::ReadCommitted, Isolation::RepeatableRead],
    };
    let foreign_keys = engine.target().options.declares_foreign_keys();
    let sql = SqlCapabilities { isolation, foreign_keys, checks: known.checks, ..SqlCapabilities::ALL };
    // Of the products MariaDB alone has the option.
    let has_snapshots = engine.target().options.snapshot_isolation && engine.target().flavour == Flavour::Mariadb;
    let repeatable = if has_snapshots || storage == StorageEngine::Rocksdb {
        Guarantee::Snapshot
    } else {
        Guarantee::ConsistentReads
    };
    let strictest = if isolation.len() == 3 { Guarantee::Serializable } else { repeatable };
    let guarantees = [Guarantee::ReadCommitted, repeatable, strictest];
    Capabilities { sql: Some(sql), guarantees, ..Capabilities::OF_SQL }
}

fn description(engine: &MysqlEngine) -> Result<Description> {
    let mut connection = connection(engine)?;
    let mut description = describe::describe(engine.target(), &mut connection)?;
    if let Some(nodes) = engine.running()? {
        describe_way(&mut description, nodes.connector(0), &mut connection);
    }
    describe::lower_by_tables(&mut description, &mut connection, engine.database())?;
    Ok(description)
}

fn snapshot(engine: &MysqlEngine) -> Result<Box<dyn Snapshot>> {
    if !engine.target().is_private() {
        return Err(EngineError::unsupported(
            "no copy of its database can be kept: a server that others run is not stopped for it",
        ));
    }
    let copy = StoppedCopy {
        server: Arc::clone(engine.private()),
        watcher: Arc::clone(engine.watcher()),
        target: engine.target().clone(),
        launch: engine.launch(),
    };
    Ok(Box::new(copy.take()?))
}

fn side_database(engine: &MysqlEngine, side: String) -> Result<SideDatabase> {
    let connector = engine.reach(|connector| Ok(connector.clone()))?;
    ownership::prepare_side(&mut connector.connect(None)?, &side)?;
    let engine = MysqlEngine::new(engine.target().with_database(&side), OnceLock::new());
    let remove = move || ownership::drop_made(&mut connector.connect(None)?, &side);
    Ok(SideDatabase { engine: Box::new(engine), remove: Box::new(remove) })
}

fn integrity_check(engine: &MysqlEngine) -> Result<Option<Vec<String>>> {
    let mut connection = engine.reach(|connector| connector.connect(Some(engine.database())))?;
    if !facts(&mut connection).check_table {
        return Ok(None);
    }
    damage(&mut connection).map(Some)
}

fn footprint(engine: &MysqlEngine) -> Result<Footprint> {
    let status = engine.watch(|watcher| Ok(ServerStatus::read(&mut watcher.connection)?.since(&watcher.before)))?;
    let mut footprint = match engine.has_several() {
        // One server of several: the sum is not known.
        true => Footprint::default(),
        false => Footprint { memory_bytes: status.memory_bytes, locks: status.locks, ..Footprint::default() },
    };
    let private = engine.private_data();
    if let Some((data, process)) = &private {
        footprint.server = server_use(process_in_pid_file(data).unwrap_or(*process));
        footprint.memory_bytes = footprint.server.map_or(footprint.memory_bytes, |it| it.resident_bytes);
    }
    let database = engine.database();
    match private.filter(|_| matches!(engine.target().flavour, Flavour::Mariadb | Flavour::Mysql)) {
        Some((data, _)) => (footprint.data_bytes, footprint.log_bytes) = describe::sizes(&data, database),
        None => {
            footprint.data_bytes = engine.watch(|watcher| describe::table_bytes(&mut watcher.connection, database))?;
        }
    }
    Ok(footprint)
}
