//! PostgreSQL as a system of servers.

use crate::connect::{PostgresConnector, connectors, environment, limits};
use crate::copy::{DatabaseCopy, copy_of};
use crate::dialect::DIALECT;
use crate::loader::PostgresLoader;
use crate::options::{GRAMMAR, PostgresOptions};
use crate::products::PRODUCTS;
use crate::server::{self, InstalledPostgres, installed};
use crate::target::FORMS;
use crate::wire::WireConnection;
use crate::{describe, hold, ownership, status};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Capabilities, Description, Dialect, EngineError, Footprint, Interface, Loader, Result, SideDatabase,
};
use bourse_server::client::tls::tls_setting;
use bourse_server::client::{ConflictKinds, Product};
use bourse_server::{DATABASE, ServerEngine, ServerSystem, SqlSystem, SystemFacts};
use std::sync::Arc;

/// PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Postgres;

/// A PostgreSQL database under test.
pub type PostgresEngine = ServerEngine<Postgres>;

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
    PostgresEngine::open(target)
}

/// Database of the server that is accessible even if the target's does not exist.
fn accessible_database(engine: &PostgresEngine) -> &str {
    engine.state().as_deref().unwrap_or_else(|| engine.database())
}

/// Opens a connection to the database; `None` if it does not exist.
fn if_there(engine: &PostgresEngine) -> Result<Option<WireConnection>> {
    engine.reach(|connector| connector.connect_if_there(engine.database()))
}

impl ServerSystem for Postgres {
    type Flavour = ();
    type Options = PostgresOptions;
    type Installed = InstalledPostgres;
    type Connector = PostgresConnector;
    type Watcher = WireConnection;
    /// Database that is accessible even if the target's does not exist; the target's if `None`.
    type State = Option<String>;

    const FACTS: &'static SystemFacts<Self> = &FACTS;
}

static FACTS: SystemFacts<Postgres> = SystemFacts {
    grammar: &GRAMMAR,
    forms: &FORMS,
    defaults: PostgresOptions::DEFAULT,
    interface: |engine| Interface::Sql(engine),
    private: |_| &server::KIND,
    check: |_| Ok(()),
    // A short log in small files, so that little work has checkpoints, and creates and renames files.
    watched: (
        &["--min_wal_size=2MB", "--max_wal_size=2MB", "--checkpoint_completion_target=0.1"],
        &["--wal-segsize=1"],
    ),
    conflicts: ConflictKinds {
        by_code: &[
            ("40001", "40001 (serialization failure, restart of the transaction)"),
            ("40P01", "40P01 (deadlock)"),
            ("55P03", "55P03 (lock wait timed out)"),
        ],
        interrupted: false,
    },
    more_connections: |enough| format!("`max_connections={enough}` in the target gives more"),
    flavour: |_| (),
    common: |options| &options.common,
    installed: |target| installed(target.options.server.as_deref()),
    fill: server::fill,
    command: server::command,
    connector: server::connector,
    wait: |_, server, connector, limit| {
        server.wait_until_it_answers(limit, || connector.maintenance(DATABASE))?;
        ownership::create_database(connector, DATABASE, DATABASE)
    },
    // To PostgreSQL it means: end all sessions, write everything, end.
    shut_down: |_, server, _, _| server.interrupt(),
    connectors: |target| connectors(target, &environment()),
    examined: |_, nodes| Ok(nodes),
    watcher: |engine, connector| connector.maintenance(accessible_database(engine)),
    rests: |_| (),
    limits,
    capabilities: |_| Capabilities::OF_SQL,
    description,
    exists,
    foreign,
    leftovers,
    hold: hold::hold,
    snapshot: |engine| {
        let take =
            |it: &PostgresConnector| DatabaseCopy::take(it.clone(), engine.database(), Arc::clone(engine.watcher()));
        Ok(Box::new(engine.reach(take)?))
    },
    side_database,
    integrity_check,
    footprint,
    counters: status::counters,
    io_counts: status::io_counts,
    sessions: Some((
        "SELECT CAST(pid AS bigint) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        "SELECT pg_terminate_backend({})",
    )),
};

impl SqlSystem for Postgres {
    fn dialect(_: &PostgresEngine) -> &'static Dialect {
        &DIALECT
    }

    fn loader(engine: &PostgresEngine) -> Result<Box<dyn Loader>> {
        let load = |it: &PostgresConnector| PostgresLoader::new(it, engine.database(), accessible_database(engine));
        Ok(Box::new(engine.reach(load)?))
    }
}

fn description(engine: &PostgresEngine) -> Result<Description> {
    let mut connection = match if_there(engine)? {
        Some(connection) => connection,
        None => engine.reach(|connector| connector.maintenance(accessible_database(engine)))?,
    };
    let mut description = describe::describe(engine.target(), &mut connection)?;
    if let Some(nodes) = engine.running()? {
        description.warnings.extend(nodes.connector(0).secret.unused.clone());
        description.settings.push(tls_setting(connection.tls()));
        if let Some(product) = Product::of(PRODUCTS, &description.compile_options.concat()) {
            product.describe(&mut description);
        }
    }
    describe::lower_by_tables(&mut description, &mut connection, engine.database())?;
    Ok(description)
}

fn foreign(engine: &PostgresEngine) -> Result<Option<String>> {
    let Some(mut connection) = if_there(engine)? else { return Ok(None) };
    let found = ownership::foreign(&mut connection, engine.database())?;
    if found.is_none() {
        ownership::refuse_unreadable(&mut connection, engine.database())?;
    }
    Ok(found)
}

fn exists(engine: &PostgresEngine) -> Result<bool> {
    let Some(mut connection) = if_there(engine)? else { return Ok(false) };
    let has_tables = !ownership::marked_tables(&mut connection)?.is_empty();
    Ok(has_tables || ownership::foreign(&mut connection, engine.database())?.is_some())
}

fn leftovers(engine: &PostgresEngine) -> Result<Option<String>> {
    let copy = copy_of(engine.database());
    let is_left = engine.watch(|connection| ownership::is_marked(connection, &copy))? == Some(true);
    Ok(is_left.then(|| format!("database \"{copy}\" was left by a run that did not end, and is replaced")))
}

fn side_database(engine: &PostgresEngine, side: String) -> Result<SideDatabase> {
    let is_marked = engine.watch(|connection| ownership::is_marked(connection, &side))?;
    if is_marked == Some(false) {
        return Err(EngineError::refused(format!("a database \"{side}\" is there that Bourse did not make")));
    }
    // A pooler knows the databases of its configuration alone.
    if let Err(e) = engine.reach(|connector| connector.connect_if_there(&side)) {
        return Err(EngineError::unsupported(format!("a database \"{side}\" cannot be reached: {e}")));
    }
    let home = engine.database().to_owned();
    let place = engine.reach(|connector| Ok(connector.clone()))?;
    let engine = PostgresEngine::new(engine.target().with_database(&side), Some(home.clone()));
    let remove = move || ownership::drop_marked(&mut place.maintenance(&home)?, &side);
    Ok(SideDatabase { engine: Box::new(engine), remove: Box::new(remove) })
}

/// Runs the server's own extension `amcheck`: on a private server, and on a running one if it is installed in the
/// database.
fn integrity_check(engine: &PostgresEngine) -> Result<Option<Vec<String>>> {
    let Some(mut connection) = if_there(engine)? else { return Ok(Some(Vec::new())) };
    if engine.target().is_private()
        && !connection.names("SELECT 1 FROM pg_available_extensions WHERE name = 'amcheck'")?.is_empty()
    {
        connection.run("CREATE EXTENSION IF NOT EXISTS amcheck")?;
    }
    if connection.names("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'")?.is_empty() {
        return Ok(None);
    }
    describe::damages(&mut connection).map(Some)
}

fn footprint(engine: &PostgresEngine) -> Result<Footprint> {
    let data_bytes = engine.watch(|connection| status::database_bytes(connection, engine.database()))?;
    let mut footprint = Footprint { data_bytes, ..Footprint::default() };
    if let Some((data, process)) = engine.private_data() {
        footprint.log_bytes = status::log_bytes(&data);
        footprint.server = status::server_use(process);
        footprint.memory_bytes = footprint.server.map_or(0, |server| server.resident_bytes);
    }
    Ok(footprint)
}
