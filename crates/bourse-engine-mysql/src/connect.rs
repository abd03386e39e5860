//! Connections, each with the settings that every session and loader relies on, and the sources of passwords.

use crate::error::error;
use crate::link::Link;
use crate::options::{MysqlOptions, StorageEngine};
use crate::products::{MYROCKS, MysqlFacts, OWN, PRODUCTS};
use crate::routines;
use crate::session::MysqlSession;
use crate::target::ServerPlace;
use bourse_engine::server_wait::{connect_limit, for_report, within_limit};
use bourse_engine::{Dialect, EngineError, ErrorKind, Result};
use bourse_server::client::passwords::{PasswordSources, Secret, first_line, of_my_cnf};
#[cfg(feature = "tls")]
use bourse_server::client::tls::SslMode;
use bourse_server::client::{ConnectionLimits, NodeConnector, Product, ServerAddress};
use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable as _;
#[cfg(feature = "tls")]
use mysql::{ClientIdentity, DriverError, SslOpts};
use mysql::{Conn, OptsBuilder};

/// Code of the error for an unknown variable.
const UNKNOWN_VARIABLE: u16 = 1193;

/// Everything that a connection needs.
#[derive(Clone)]
pub struct MysqlConnector {
    /// Address of the server.
    pub address: ServerAddress,
    /// The user to log in as.
    pub user: String,
    /// The user's password.
    pub secret: Secret,
    /// Options of the target.
    pub options: MysqlOptions,
    /// Settings of its sessions in addition to the common ones, as `, SESSION x = 1`.
    pub settings: &'static str,
}

impl MysqlConnector {
    /// Opens a connection that uses `database`, or none.
    ///
    /// # Errors
    /// The client's or the server's, with advice where the user can change something.
    pub(crate) fn connect(&self, database: Option<&str>) -> Result<Link> {
        let (this, name) = (self.clone(), database.map(str::to_owned));
        within_limit(&self.server(), move || this.log_in(name.as_deref())).map_err(for_report)
    }

    fn server(&self) -> String {
        format!("the server at {}", self.address)
    }

    fn log_in(&self, database: Option<&str>) -> Result<Link> {
        let lock_seconds = self.options.lock_timeout.as_secs();
        // A table in memory may grow as large as it has to: by default it is full at 16 MiB.
        let storage = match self.options.storage {
            StorageEngine::Innodb => ", SESSION default_storage_engine = InnoDB",
            StorageEngine::Rocksdb => ", SESSION default_storage_engine = ROCKSDB",
            StorageEngine::Aria => ", SESSION default_storage_engine = Aria",
            StorageEngine::Memory => {
                ", SESSION default_storage_engine = MEMORY, SESSION max_heap_table_size = 68719476736"
            }
        };
        let settings = format!(
            "SET SESSION sql_mode = '{}', SESSION innodb_lock_wait_timeout = {lock_seconds},
                SESSION lock_wait_timeout = {lock_seconds}, SESSION foreign_key_checks = {},
                SESSION autocommit = 1{storage}{}",
            OWN.sql_mode,
            u8::from(self.options.foreign_keys),
            self.settings
        );
        let opts = OptsBuilder::new()
            .user(Some(&self.user))
            .pass(self.secret.password.as_ref())
            .db_name(database)
            // What is measured is the way in that was asked for, not one the client finds better.
            .prefer_socket(false)
            // Sessions keep their statements themselves, all of them.
            .stmt_cache_size(0)
            // A change that leaves a row as it was has changed it too, as on every other engine.
            .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
            .read_timeout(Some(self.options.common.answer_timeout))
            .write_timeout(Some(self.options.common.answer_timeout))
            .tcp_connect_timeout(Some(connect_limit()))
            .init(vec![settings]);
        let opts = match &self.address {
            ServerAddress::Socket(path) => opts.socket(Some(path.display().to_string())),
            ServerAddress::Tcp(host, port) => opts.ip_or_hostname(Some(host)).tcp_port(*port),
        };
        self.options.common.tls.check_files()?;
        let mut connection = self.open(opts).map_err(|e| self.explained(error(&e)))?;
        match connection.query_drop(format!(
            "SET SESSION innodb_snapshot_isolation = {}",
            u8::from(self.options.snapshot_isolation)
        )) {
            Err(mysql::Error::MySqlError(e)) if e.code == UNKNOWN_VARIABLE => {}
            other => other.map_err(|e| error(&e))?,
        }
        let mut connection = Link::new(self.server(), connection);
        let sql_mode = facts(&mut connection).sql_mode;
        if sql_mode != OWN.sql_mode {
            connection.query_drop(format!("SET SESSION sql_mode = '{sql_mode}'")).map_err(|e| error(&e))?;
        }
        if let Some((server, session)) = identity(&mut connection) {
            let this = self.clone();
            connection.cancels_by(move || drop(this.kill_query(&server, session)));
        }
        Ok(connection)
    }

    /// Ends the statement that a session of a server executes, unless the address leads to another server now, where the number
    /// may be somebody's.
    fn kill_query(&self, server: &str, session: u64) -> Result<()> {
        let mut other = self.log_in(None)?;
        match identity(&mut other) {
            Some((found, _)) if found == server => {
                other.query_drop(format!("KILL QUERY {session}")).map_err(|e| error(&e))
            }
            _ => Ok(()),
        }
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "a build with TLS asks its options")]
    fn open(&self, opts: OptsBuilder) -> Result<Conn, mysql::Error> {
        Conn::new(opts)
    }

    /// Opens a connection, encrypted if the target requires it; `sslmode=prefer` falls back to an unencrypted one.
    #[cfg(feature = "tls")]
    fn open(&self, opts: OptsBuilder) -> Result<Conn, mysql::Error> {
        let tls = &self.options.common.tls;
        if !tls.is_tried() || matches!(self.address, ServerAddress::Socket(_)) {
            return Conn::new(opts);
        }
        let identity = match (&tls.certificate, &tls.key) {
            (Some(certificate), Some(key)) => Some(ClientIdentity::new(certificate.clone(), key.clone())),
            _ => None,
        };
        let ssl = SslOpts::default()
            .with_client_identity(identity)
            .with_root_cert_path(tls.root.clone().filter(|_| tls.checks_authority()))
            .with_danger_skip_domain_validation(tls.mode != SslMode::VerifyFull)
            .with_danger_accept_invalid_certs(!tls.checks_authority());
        match Conn::new(opts.clone().ssl_opts(Some(ssl))) {
            Err(mysql::Error::DriverError(DriverError::TlsNotSupported)) if !tls.is_required() => Conn::new(opts),
            opened => opened,
        }
    }

    /// Adds advice for the user, or the server's address, to an error.
    fn explained(&self, e: EngineError) -> EngineError {
        const ACCESS_DENIED: [&str; 3] = ["1044", "1045", "1698"];
        let is_denied = e.code().is_some_and(|code| ACCESS_DENIED.contains(&code));
        let hint = match (is_denied, &self.secret) {
            (true, Secret { password: None, unused }) => {
                let unused = unused.iter().map(|why| format!(" ({why})")).collect::<String>();
                format!(
                    "; the variable MYSQL_PWD, the group `client` of ~/.my.cnf, or a file that `password_file` names, gives a \
                     password{unused}"
                )
            }
            _ if e.kind() != ErrorKind::ConnectionLost => return e,
            _ => return EngineError::new(e.kind(), format!("{} ({})", e.message(), self.address)),
        };
        EngineError::new(e.kind(), format!("{}{hint}", e.message())).with_code(e.code().unwrap_or_default())
    }
}

/// Name of a connection's server, and the number of its session there; `None` if the server does not report it.
fn identity(connection: &mut Link) -> Option<(String, u64)> {
    connection.query_first("SELECT concat(@@hostname, ':', @@port), connection_id()").ok().flatten()
}

/// Version text of the server; empty if it reports none.
pub(crate) fn version(connection: &mut Link) -> String {
    connection.query_first("SELECT version()").ok().flatten().unwrap_or_default()
}

/// Differences of a connection's server from MySQL.
pub(crate) fn facts(connection: &mut Link) -> &'static MysqlFacts {
    of_version(&version(connection))
}

fn of_version(version: &str) -> &'static MysqlFacts {
    Product::of(PRODUCTS, version).map_or(&OWN, |product| &product.facts)
}

/// Differences of a server from MySQL, and its SQL as it is configured.
#[derive(Debug, Clone, Copy)]
pub struct KnownServer {
    pub(crate) facts: &'static MysqlFacts,
    pub(crate) dialect: &'static Dialect,
    /// Whether it enforces checks.
    pub(crate) checks: bool,
    /// Whether it is a node of Galera, which another node's commit may make undo a transaction.
    pub(crate) is_galera: bool,
}

impl KnownServer {
    /// A server with its product's default configuration.
    pub(crate) fn of(facts: &'static MysqlFacts, foreign_keys: bool) -> Self {
        Self { facts, dialect: (facts.dialect)(foreign_keys, true), checks: true, is_galera: false }
    }

    /// Reads the configuration from the server of a connection.
    pub(crate) fn ask(connection: &mut Link, options: &MysqlOptions) -> Self {
        let version = version(connection);
        let facts = if options.storage == StorageEngine::Rocksdb { &MYROCKS } else { of_version(&version) };
        // A version without the variable ignores checks too.
        let mut is_on = |variable: &str| {
            connection.query_first::<i64, _>(format!("SELECT @@global.{variable}")).is_ok_and(|it| it == Some(1))
        };
        let checks = facts.checks.is_none_or(&mut is_on);
        let is_galera = version.contains("MariaDB") && is_on("wsrep_on");
        Self { facts, dialect: (facts.dialect)(options.declares_foreign_keys(), checks), checks, is_galera }
    }
}

impl NodeConnector for MysqlConnector {
    type Session = MysqlSession;

    fn session(&self, database: &str) -> Result<MysqlSession> {
        let mut connection = self.connect(Some(database))?;
        if self.options.procedures {
            routines::refuse_without(&mut connection)?;
        }
        let known = KnownServer::ask(&mut connection, &self.options);
        Ok(MysqlSession::new(connection, self.options.procedures).of(known))
    }
}

/// Connectors to a target's running servers, each with its name. Parts that the target does not name come from the
/// user's option file; host, port and socket only if the target has one address.
///
/// # Errors
/// A file with a password cannot be read.
pub(crate) fn connectors(
    options: &MysqlOptions,
    places: &[&ServerPlace],
    settings: &'static str,
    environment: PasswordSources,
) -> Result<Vec<(String, MysqlConnector)>> {
    let client = of_my_cnf(environment.home.as_deref())?;
    let secret = match (&options.password_file, environment.password) {
        (Some(path), _) => first_line(path)?,
        (None, Some(password)) => Secret::known(Some(password)),
        (None, None) => Secret { password: client.password.or(environment.fallback), unused: client.unused },
    };
    let is_alone = places.len() == 1;
    let mut connectors = Vec::with_capacity(places.len());
    for place in places {
        let ServerPlace::Running { host, port, user, named, .. } = place else { continue };
        let named_socket = options.socket.as_deref().or(place.socket()).map(std::path::Path::to_owned);
        let socket = named_socket.or_else(|| client.socket.clone().filter(|_| is_alone && !named.host));
        let host = client.host.as_ref().filter(|_| is_alone && !named.host).unwrap_or(host);
        let port = client.port.filter(|_| is_alone && !named.port).unwrap_or(*port);
        let connector = MysqlConnector {
            address: socket.map_or_else(|| ServerAddress::Tcp(host.clone(), port), ServerAddress::Socket),
            user: client.user.as_ref().filter(|_| !named.user).unwrap_or(user).clone(),
            secret: secret.clone(),
            options: options.clone(),
            settings,
        };
        connectors.push((place.address(), connector));
    }
    Ok(connectors)
}

/// Protocol and cipher of a connection by TCP, as the server reports them; `None` if it is not encrypted.
pub(crate) fn tls(connection: &mut Link) -> Option<String> {
    let sql = "SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version')";
    let said: Vec<(String, String)> = connection.query(sql).ok()?;
    let get = |name: &str| said.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str());
    let cipher = get("Ssl_cipher").filter(|cipher| !cipher.is_empty())?;
    Some(format!("{} {cipher}", get("Ssl_version").unwrap_or_default()))
}

/// Limits of connections that a server reports; `None` if it has none, or does not report them as MySQL does.
pub(crate) fn limits(connection: &mut Link) -> Option<ConnectionLimits> {
    let ask = |connection: &mut Link, sql: &str| connection.query_first::<u64, _>(sql).ok().flatten();
    let of_all = ask(connection, "SELECT @@global.max_connections").filter(|most| *most > 0);
    let of_user = ask(connection, "SELECT @@session.max_user_connections").filter(|most| *most > 0);
    let open = |connection: &mut Link| {
        connection.query_first::<(String, u64), _>("SHOW GLOBAL STATUS LIKE 'Threads_connected'").ok().flatten()
    };
    let all = match (of_all, open(connection)) {
        (Some(most), Some((_, open))) => Some(ConnectionLimits { name: "max_connections", most, reserved: 0, open }),
        _ => None,
    };
    let ours = "SELECT count(*) FROM information_schema.processlist WHERE user = substring_index(user(), '@', 1)";
    let user = of_user.and_then(|most| {
        Some(ConnectionLimits { name: "max_user_connections", most, reserved: 0, open: ask(connection, ours)? })
    });
    let free = |limits: &ConnectionLimits| limits.most.saturating_sub(limits.open);
    all.into_iter().chain(user).min_by_key(free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::MysqlTarget;

    /// Address, user and password of a target's first server, with this option file in the home folder.
    fn reached(target: &str, cnf: &str, password: Option<&str>) -> (String, String, Option<String>) {
        reached_with(target, cnf, [password, None])
    }

    fn reached_with(
        target: &str,
        cnf: &str,
        [password, fallback]: [Option<&str>; 2],
    ) -> (String, String, Option<String>) {
        let home = std::env::temp_dir().join(format!("bourse-my-cnf-{}-{:p}", std::process::id(), &password));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join(".my.cnf"), cnf).unwrap();
        let target = MysqlTarget::parse(target).unwrap();
        let [password, fallback] = [password, fallback].map(|it| it.map(str::to_owned));
        let environment = PasswordSources { password, fallback, file: None, home: Some(home.clone()) };
        let places: Vec<&ServerPlace> = std::iter::once(&target.place).chain(&target.others).collect();
        let mut found = connectors(&target.options, &places, "", environment).unwrap();
        std::fs::remove_dir_all(home).unwrap();
        let (_, connector) = found.swap_remove(0);
        (format!("{:?}", connector.address), connector.user, connector.secret.password)
    }

    #[test]
    fn what_a_target_does_not_name_comes_from_the_option_file() {
        const FILE: &str = "[client]\nuser=ann\npassword=filed\nhost=db.example\nport=3310\n";
        let tcp = |host: &str, port: u16| format!("Tcp({host:?}, {port})");
        let some = |password: &str| Some(password.to_owned());
        assert_eq!(reached("mysql:///d", FILE, None), (tcp("db.example", 3_310), "ann".to_owned(), some("filed")));
        assert_eq!(reached("mysql://bob@h:1/d", FILE, None), (tcp("h", 1), "bob".to_owned(), some("filed")));
        assert_eq!(reached("mysql://h/d", FILE, Some("told")), (tcp("h", 3_310), "ann".to_owned(), some("told")));
        assert_eq!(reached("mysql://h,i/d", FILE, None), (tcp("h", 3_306), "ann".to_owned(), some("filed")));
        // The clients read MYSQL_PWD last.
        let password = |given| reached_with("mysql://h/d", FILE, given).2;
        assert_eq!(password([None, Some("last")]), some("filed"));
        assert_eq!(password([Some("told"), Some("last")]), some("told"));
        assert_eq!(reached_with("mysql://h/d", "", [None, Some("last")]).2, some("last"));
        let socket = "[client-server]\nsocket=/run/s\n";
        assert_eq!(reached("mysql:///d", socket, None).0, "Socket(\"/run/s\")");
        assert_eq!(reached("mysql://h/d", socket, None), (tcp("h", 3_306), "root".to_owned(), None));
        assert_eq!(reached("mysql://%2Frun%2Ft,i/d", socket, None).0, "Socket(\"/run/t\")");
    }
}
