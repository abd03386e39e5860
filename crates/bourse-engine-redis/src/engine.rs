//! The engine: what a Redis server is to the seam.

use crate::connection::{Item, RedisConnection, RedisConnector};
use crate::describe::{durability, info, settings};
use crate::hold::hold;
use crate::options::{GRAMMAR, RedisOptions};
use crate::server::{InstalledServer, Product, SOCKET, command, installed};
use crate::session::{RedisSession, TABLES, WRONG_TYPE, made_by_another};
use bourse_engine::target::{ServerForms, ServerPlace, TargetError};
use bourse_engine::{
    Capabilities, Counter, Description, Durability, Engine as _, EngineError, Footprint, Interface, Records, Result,
    Setting, lost_with_machine, memory_file_system,
};
use bourse_server::client::passwords::{PasswordSources, Secret, first_line};
use bourse_server::client::{ConflictKinds, ServerAddress};
use bourse_server::private::{PrivateServer, processes};
use bourse_server::{KeySystem, ServerEngine, ServerSystem, ServerTarget, SystemFacts};
use std::collections::BTreeMap;
use std::path::Path;

/// Forms of a running server's address. A database is a number.
static FORMS: ServerForms = ServerForms {
    user: "default",
    port: 6_379,
    not_in_database: &['/'],
    bad_database: "its database is not a number, as 0",
    password_options: &["password", "pwd", "auth"],
    password_instead: "put it into the variable REDISCLI_AUTH or into a file that `password_file` names",
};

/// Counters of a server that grow, by its own names.
const COUNTERS: &[&str] =
    &["total_commands_processed", "evicted_keys", "expired_keys", "aof_delayed_fsync", "aof_rewrites", "rdb_saves"];

/// Redis and Valkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redis;

/// The Redis or Valkey database under test.
pub type RedisEngine = ServerEngine<Redis>;

/// Parses a target; a private server is started at first use.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_redis::open("redis+private:?appendfsync=everysec").unwrap();
/// assert!(!engine.exists().unwrap(), "its server was not started");
/// let refused = bourse_engine_redis::open("redis://localhost/zero").unwrap_err();
/// assert!(refused.to_string().contains("not a number"));
/// ```
pub fn open(target: &str) -> Result<RedisEngine, TargetError> {
    RedisEngine::open(target)
}

impl ServerSystem for Redis {
    type Flavour = Product;
    type Options = RedisOptions;
    type Installed = InstalledServer;
    type Connector = RedisConnector;
    type Watcher = RedisConnection;
    type State = ();

    const FACTS: &'static SystemFacts<Self> = &FACTS;
}

static FACTS: SystemFacts<Redis> = SystemFacts {
    grammar: &GRAMMAR,
    forms: &FORMS,
    defaults: RedisOptions::DEFAULT,
    interface: |engine| Interface::Keys(engine),
    private: |target| target.flavour.private(),
    check,
    watched: (&[], &[]),
    conflicts: ConflictKinds { by_code: &[], interrupted: false },
    more_connections: |_| String::new(),
    flavour: Product::of_scheme,
    common: |options| &options.common,
    installed: |target| installed(target.flavour, target.options.server.as_deref()),
    fill: |_, _, _, _, _| Ok(()),
    command: |target, installed, folder, launch| command(&installed.server, &target.options, folder, launch),
    connector: |target, folder| {
        let socket = ServerAddress::Socket(folder.path().join(SOCKET));
        let log = Some(folder.path().join(PrivateServer::OUTPUT));
        RedisConnector { log, ..connector(target, socket, FORMS.user, Secret::default()) }
    },
    wait: |_, server, connector, limit| {
        server.wait_until_it_answers(limit, || {
            let mut connection = connector.connect()?;
            connection.command(&[b"DBSIZE"]);
            connection.run()
        })
    },
    shut_down: |_, server, _, _| server.interrupt(),
    connectors,
    examined: |_, nodes| Ok(nodes),
    watcher: |_, connector| connector.connect(),
    rests: |_| (),
    limits: |_| Ok(None),
    capabilities: |_| Capabilities { concurrent_writers: true, snapshots: false, ..Capabilities::OF_KEYS },
    description,
    exists: |engine| sizes(engine).map(|[keys, _]| keys > 0),
    foreign: |engine| {
        let ([keys, tables], database) = (sizes(engine)?, database(engine.target()));
        let why = || format!("database {database} of the server has {keys} keys, and Bourse made none of them");
        Ok((keys > 0 && tables == 0).then(why))
    },
    leftovers: |_| Ok(None),
    hold: |connector, _, holder| hold(connector, holder),
    snapshot: |_| Err(EngineError::unsupported("no copy of its database can be kept")),
    side_database: |_, _| Err(EngineError::unsupported("databases of Redis have numbers, and nobody owns a number")),
    integrity_check: |_| Ok(None),
    footprint,
    counters: |connection, _| {
        let facts = info(connection)?;
        let known = COUNTERS.iter().filter(|name| facts.contains_key(**name));
        Ok(known.map(|name| Counter { name: (*name).to_owned(), value: number(&facts, name) }).collect())
    },
    io_counts: |_| Ok(None),
    sessions: None,
};

fn check(target: &ServerTarget<Redis>) -> Result<(), TargetError> {
    let why = match &target.place {
        ServerPlace::Running { database, .. } if database.parse::<u32>().is_err() => FORMS.bad_database,
        _ if !target.others.is_empty() => "it names several servers",
        _ => return Ok(()),
    };
    Err(TargetError::Place { engine: GRAMMAR.engine, why, forms: GRAMMAR.forms })
}

/// Number of the database; 0 at a private server.
fn database(target: &ServerTarget<Redis>) -> u32 {
    match &target.place {
        ServerPlace::Running { database, .. } => database.parse().unwrap_or_default(),
        ServerPlace::Private { .. } => 0,
    }
}

fn connector(target: &ServerTarget<Redis>, address: ServerAddress, user: &str, secret: Secret) -> RedisConnector {
    let answer_timeout = target.common().answer_timeout;
    RedisConnector { address, user: user.to_owned(), secret, database: database(target), answer_timeout, log: None }
}

fn connectors(target: &ServerTarget<Redis>) -> Result<Vec<(String, RedisConnector)>> {
    let ServerPlace::Running { host, port, user, .. } = &target.place else { return Ok(Vec::new()) };
    let secret = match &target.options.password_file {
        Some(path) => first_line(path)?,
        None => Secret::known(PasswordSources::of_process("REDISCLI_AUTH", None).password),
    };
    let socket = target.options.socket.clone().map(ServerAddress::Socket);
    let address = socket.unwrap_or_else(|| ServerAddress::Tcp(host.clone(), *port));
    Ok(vec![(target.place.address(), connector(target, address, user, secret))])
}

fn description(engine: &RedisEngine) -> Result<Description> {
    let (facts, settings) = engine.watch(|connection| Ok((info(connection)?, settings(connection)?)))?;
    let (mut durability, mut may_lose, mut reason) = durability(settings.as_ref());
    let settings = settings.unwrap_or_default();
    let get = |name: &str| settings.get(name).map_or("", String::as_str);
    let mut warnings = Vec::new();
    let options = &engine.target().options;
    let is_here = options.socket.is_some() || engine.target().place.is_of_this_machine();
    let folder = Some(Path::new(get("dir"))).filter(|folder| is_here && folder.is_absolute());
    if let Some(name) = folder.and_then(memory_file_system).filter(|_| durability > Durability::Volatile) {
        (durability, may_lose) = (Durability::Volatile, None);
        reason = format!("the server's folder is on {name}, which is memory");
        warnings.push(lost_with_machine("the server's folder", name));
    }
    if !matches!(get("maxmemory"), "" | "0") && get("maxmemory-policy") != "noeviction" {
        let (limit, policy) = (get("maxmemory"), get("maxmemory-policy"));
        warnings.push(format!(
            "the server may evict records, and the list without which Bourse refuses the database as another program's: \
             maxmemory is {limit}, maxmemory-policy {policy}"
        ));
    }
    let version = |name: &str| facts.get(name).cloned();
    let (name, version) = match version("valkey_version") {
        Some(version) => ("valkey", version),
        None => (
            "redis",
            version("redis_version").unwrap_or_else(|| "unknown: the account may not read it (INFO)".to_owned()),
        ),
    };
    let settings = settings.into_iter().map(|(name, value)| Setting::new(name, value)).collect();
    let placed = (durability, reason, None);
    Ok(Description { may_lose, warnings, ..Description::new(name, version, &engine.target().text, placed, settings) })
}

/// Numbers of keys in the database, and of Bourse's tables; zero before a private server is started.
fn sizes(engine: &RedisEngine) -> Result<[i64; 2]> {
    if !engine.is_started() {
        return Ok([0; 2]);
    }
    engine.watch(|connection| {
        connection.command(&[b"DBSIZE"]);
        connection.command(&[b"SCARD", TABLES]);
        let mut sizes = [0; 2];
        let done = connection.exchange(&mut |at, item| {
            if let Item::Int(number) = item {
                sizes[at] = number;
            }
            Ok(())
        });
        match done {
            Err(e) if e.code() == Some(WRONG_TYPE) => Err(made_by_another(TABLES)),
            done => done.map(|()| sizes),
        }
    })
}

fn number(facts: &BTreeMap<String, String>, name: &str) -> u64 {
    facts.get(name).and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn footprint(engine: &RedisEngine) -> Result<Footprint> {
    if !engine.is_started() {
        return Ok(Footprint::default());
    }
    let facts = engine.watch(info)?;
    let process = engine.server_process().and_then(|process| processes::process_use(process, false));
    Ok(Footprint {
        data_bytes: number(&facts, "used_memory_dataset"),
        log_bytes: number(&facts, "aof_current_size"),
        memory_bytes: number(&facts, "used_memory"),
        server: process.map(|used| used.process),
        ..Footprint::default()
    })
}

impl KeySystem for Redis {
    fn records(engine: &RedisEngine) -> Result<Box<dyn Records>> {
        let connection = engine.reach(RedisConnector::connect)?;
        match engine.foreign()? {
            Some(why) => Err(EngineError::refused(why)),
            None => Ok(Box::new(RedisSession::new(connection))),
        }
    }

    fn tables(engine: &RedisEngine) -> Result<Vec<String>> {
        engine.watch(|connection| {
            connection.command(&[b"SMEMBERS", TABLES]);
            let mut names = Vec::new();
            connection.exchange(&mut |_, item| {
                if let Item::Bytes(name) = item {
                    names.push(String::from_utf8_lossy(name).into_owned());
                }
                Ok(())
            })?;
            Ok(names)
        })
    }
}
