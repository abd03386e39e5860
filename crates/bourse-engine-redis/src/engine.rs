//! The engine: what a Redis server is to the seam.

use crate::connection::{Item, RedisConnection, RedisConnector};
use crate::describe::{durability, info, settings};
use crate::options::{GRAMMAR, RedisOptions};
use crate::server::{Product, SOCKET, command, installed};
use crate::session::{RedisSession, TABLES};
use bourse_engine::target::{ServerForms, ServerPlace, TargetError};
use bourse_engine::{
    Capabilities, Counter, Description, Durability, Engine, EngineError, Footprint, Hold, Hosting, Interface,
    KeyEngine, Location, OwnedServer, Records, Result, Setting, WriterWait, locked, lost_with_machine,
    memory_file_system,
};
use bourse_server::client::ServerAddress;
use bourse_server::client::passwords::{PasswordSources, Secret, first_line};
use bourse_server::private::{Launch, PrivateServer, ServerFolder, ServerSlot, processes, sweep_below};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

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

/// The Redis or Valkey database under test.
pub struct RedisEngine {
    text: String,
    product: Product,
    place: ServerPlace,
    database: u32,
    options: RedisOptions,
    private: ServerSlot<RedisConnector>,
    launch: Mutex<Launch>,
    /// Connection for sizes and counters.
    watcher: Mutex<Option<RedisConnection>>,
}

impl std::fmt::Debug for RedisEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisEngine").field("text", &self.text).finish_non_exhaustive()
    }
}

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
    let split = GRAMMAR.split(target)?;
    let is_private = split.scheme.name.ends_with("+private");
    let place = ServerPlace::read(&GRAMMAR, &FORMS, split, is_private)?;
    let parsed = GRAMMAR.read(target, split, String::new(), RedisOptions::DEFAULT)?;
    place.check_memory(parsed.options.common.ram)?;
    let database = match &place {
        ServerPlace::Running { database, .. } => database.parse().map_err(|_| TargetError::Place {
            engine: GRAMMAR.engine,
            why: FORMS.bad_database,
            forms: GRAMMAR.forms,
        })?,
        ServerPlace::Private { .. } => 0,
    };
    Ok(RedisEngine {
        text: parsed.text,
        product: Product::of_scheme(split.scheme.name),
        place,
        database,
        options: parsed.options,
        private: ServerSlot::default(),
        launch: Mutex::default(),
        watcher: Mutex::default(),
    })
}

impl RedisEngine {
    /// Checks that the server of a private target is installed.
    ///
    /// # Errors
    /// What was not found, and how to install it.
    pub fn available(&self) -> Result<()> {
        match self.place {
            ServerPlace::Private { .. } => installed(self.product, self.options.server.as_deref()).map(drop),
            ServerPlace::Running { .. } => Ok(()),
        }
    }

    /// Ends and removes private servers at the target's place whose owners were killed.
    pub fn sweep(&self) -> Vec<PathBuf> {
        let ServerPlace::Private { directory } = &self.place else { return Vec::new() };
        sweep_below(self.product.private(), directory.as_deref(), self.options.common.ram)
    }

    /// Process of the private server, once started.
    pub fn server_process(&self) -> Option<u32> {
        self.private.look(|server| server.process_id())
    }

    fn is_started(&self) -> bool {
        matches!(self.place, ServerPlace::Running { .. }) || self.private.is_started()
    }

    fn connector(&self, address: ServerAddress, user: &str, secret: Secret) -> RedisConnector {
        let answer_timeout = self.options.common.answer_timeout;
        RedisConnector { address, user: user.to_owned(), secret, database: self.database, answer_timeout }
    }

    fn connect(&self) -> Result<RedisConnection> {
        let ServerPlace::Running { host, port, user, .. } = &self.place else {
            let connector = self.private.connector(|| self.start())?;
            return self.private.explained(connector.connect());
        };
        let secret = match &self.options.password_file {
            Some(path) => first_line(path)?,
            None => Secret::known(PasswordSources::of_process(&["REDISCLI_AUTH"], None).password),
        };
        let socket = self.options.socket.clone().map(ServerAddress::Socket);
        self.connector(socket.unwrap_or_else(|| ServerAddress::Tcp(host.clone(), *port)), user, secret).connect()
    }

    /// Starts the private server, and waits until it answers.
    fn start(&self) -> Result<(PrivateServer, RedisConnector)> {
        let ServerPlace::Private { directory } = &self.place else {
            return Err(EngineError::unsupported("the server's address is not known"));
        };
        let common = &self.options.common;
        let installed = installed(self.product, self.options.server.as_deref())?;
        let folder = ServerFolder::make(self.product.private(), directory.as_deref(), common.ram)?;
        let launch = locked(&self.launch);
        if let Some(data) = &launch.data {
            folder.use_data(data)?;
        }
        let socket = ServerAddress::Socket(folder.path().join(SOCKET));
        let connector = self.connector(socket, FORMS.user, Secret::default());
        let command = command(&installed.server, &self.options, &folder, &launch);
        let mut server = PrivateServer::start(folder, command)?;
        self.wait(&mut server, &connector)?;
        Ok((server, connector))
    }

    /// Waits until a private server has loaded its data and answers.
    fn wait(&self, server: &mut PrivateServer, connector: &RedisConnector) -> Result<()> {
        let until = Instant::now() + self.options.common.start_timeout;
        server.wait_until_it_answers(until, || {
            let mut connection = connector.connect()?;
            connection.command(&[b"DBSIZE"]);
            connection.run()
        })
    }

    /// Runs `ask` on the connection for sizes, which is opened again after an error.
    fn watch<T>(&self, ask: impl FnOnce(&mut RedisConnection) -> Result<T>) -> Result<T> {
        let mut place = locked(&self.watcher);
        let mut connection = place.take().map_or_else(|| self.connect(), Ok)?;
        let answer = ask(&mut connection)?;
        *place = Some(connection);
        Ok(answer)
    }

    /// Numbers of keys in the database, and of Bourse's tables; zero before a private server is started.
    fn sizes(&self) -> Result<[i64; 2]> {
        if !self.is_started() {
            return Ok([0; 2]);
        }
        self.watch(|connection| {
            connection.command(&[b"DBSIZE"]);
            connection.command(&[b"SCARD", TABLES]);
            let mut sizes = [0; 2];
            connection.exchange(&mut |at, item| {
                if let Item::Int(number) = item {
                    sizes[at] = number;
                }
                Ok(())
            })?;
            Ok(sizes)
        })
    }

    /// Whether the server is on this machine.
    fn is_here(&self) -> bool {
        match &self.place {
            ServerPlace::Running { host, .. } if self.options.socket.is_none() => {
                host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
            }
            _ => true,
        }
    }
}

fn number(facts: &BTreeMap<String, String>, name: &str) -> u64 {
    facts.get(name).and_then(|value| value.parse().ok()).unwrap_or(0)
}

impl Engine for RedisEngine {
    fn description(&self) -> Result<Description> {
        let (facts, settings) = self.watch(|connection| Ok((info(connection)?, settings(connection)?)))?;
        let (mut durability, mut may_lose, mut durability_reason) = durability(settings.as_ref());
        let settings = settings.unwrap_or_default();
        let get = |name: &str| settings.get(name).map_or("", String::as_str);
        let mut warnings = Vec::new();
        let folder = Some(Path::new(get("dir"))).filter(|folder| self.is_here() && folder.is_absolute());
        if let Some(name) = folder.and_then(memory_file_system).filter(|_| durability > Durability::Volatile) {
            (durability, may_lose) = (Durability::Volatile, None);
            durability_reason = format!("the server's folder is on {name}, which is memory");
            warnings.push(lost_with_machine("the server's folder", name));
        }
        if !matches!(get("maxmemory"), "" | "0") && get("maxmemory-policy") != "noeviction" {
            let (limit, policy) = (get("maxmemory"), get("maxmemory-policy"));
            warnings.push(format!("the server may evict records: maxmemory is {limit}, maxmemory-policy {policy}"));
        }
        let version = |name: &str| facts.get(name).cloned();
        let (engine, version) = match version("valkey_version") {
            Some(version) => ("valkey", version),
            None => ("redis", version("redis_version").unwrap_or_default()),
        };
        Ok(Description {
            engine: engine.to_owned(),
            version,
            target: self.text.clone(),
            durability,
            may_lose,
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings: settings.into_iter().map(|(name, value)| Setting { name, value }).collect(),
            compile_options: Vec::new(),
            warnings,
        })
    }

    fn capabilities(&self) -> Capabilities {
        // A reader sees each change that others commit; its transaction then fails at its end.
        let processes = matches!(self.place, ServerPlace::Running { .. });
        Capabilities { concurrent_writers: true, snapshots: false, processes, ..Capabilities::OF_KEYS }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Keys(self)
    }

    fn location(&self) -> Location {
        let started = self.private.look(|server| server.folder().data());
        bourse_server::location(&self.place, self.options.common.ram, started)
    }

    fn hosting(&self) -> Hosting<'_> {
        match self.place {
            ServerPlace::Running { .. } => Hosting::External,
            ServerPlace::Private { .. } => Hosting::OwnedServer(self),
        }
    }

    fn exists(&self) -> Result<bool> {
        self.sizes().map(|[keys, _]| keys > 0)
    }

    fn foreign(&self) -> Result<Option<String>> {
        let [keys, tables] = self.sizes()?;
        let why = || format!("database {} of the server has {keys} keys, and Bourse made none of them", self.database);
        Ok((keys > 0 && tables == 0).then(why))
    }

    fn hold(&self, _: &str) -> Result<Hold> {
        Ok(match self.place {
            ServerPlace::Running { .. } => Hold::Cannot("Redis has no lock that ends with its session".to_owned()),
            ServerPlace::Private { .. } => Hold::Nothing,
        })
    }

    fn footprint(&self) -> Result<Footprint> {
        if !self.is_started() {
            return Ok(Footprint::default());
        }
        let facts = self.watch(info)?;
        let process = self.server_process().and_then(|process| processes::process_use(process, false));
        Ok(Footprint {
            data_bytes: number(&facts, "used_memory_dataset"),
            log_bytes: number(&facts, "aof_current_size"),
            memory_bytes: number(&facts, "used_memory"),
            server: process.map(|used| used.process),
            ..Footprint::default()
        })
    }

    fn counters(&self) -> Result<Vec<Counter>> {
        if !self.is_started() {
            return Ok(Vec::new());
        }
        let facts = self.watch(info)?;
        let known = COUNTERS.iter().filter(|name| facts.contains_key(**name));
        Ok(known.map(|name| Counter { name: (*name).to_owned(), value: number(&facts, name) }).collect())
    }
}

impl KeyEngine for RedisEngine {
    fn new_records(&self) -> Result<Box<dyn Records>> {
        let connection = self.connect()?;
        match self.foreign()? {
            Some(why) => Err(EngineError::refused(why)),
            None => Ok(Box::new(RedisSession::new(connection))),
        }
    }

    fn tables(&self) -> Result<Vec<String>> {
        if !self.is_started() {
            return Ok(Vec::new());
        }
        self.watch(|connection| {
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

impl OwnedServer for RedisEngine {
    fn kill(&self) -> Result<()> {
        self.private.with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<()> {
        *locked(&self.watcher) = None;
        self.private.with(|server, connector| {
            // The old one's socket is no sign of the new one.
            let _ = std::fs::remove_file(server.folder().path().join(SOCKET));
            let installed = installed(self.product, self.options.server.as_deref())?;
            let command = command(&installed.server, &self.options, server.folder(), &locked(&self.launch));
            server.start_again(command)?;
            self.wait(server, connector)
        })
    }

    fn use_data(&self, data: &Path) -> Result<()> {
        *locked(&self.launch) = Launch { data: Some(data.to_owned()), ..Launch::default() };
        Ok(())
    }

    fn stop(&self) -> Result<()> {
        *locked(&self.watcher) = None;
        self.private.with(|server, _| {
            server.interrupt()?;
            server.wait_until_it_ends(Instant::now() + self.options.common.start_timeout)
        })
    }
}
