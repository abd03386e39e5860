//! Connections, each with the settings that every session and loader relies on, and the sources of passwords.

use crate::message;
use crate::options::PostgresOptions;
use crate::routines;
use crate::session::PostgresSession;
use crate::target::{PostgresTarget, ServerPlace};
use crate::wire::WireConnection;
use bourse_engine::server_wait::{connect_limit, for_report, within_limit};
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::client::passwords::{PasswordSources, Secret, first_line, of_pgpass};
#[cfg(feature = "tls")]
use bourse_server::client::tls::SecuredStream;
use bourse_server::client::{ConnectionLimits, NodeConnector, ServerAddress, ServerStream};
use std::io::{Read as _, Write as _};

/// Code of the error for a database that does not exist.
pub(crate) const NO_DATABASE: &str = "3D000";

/// Code of a pooler's error for a database that is not in its configuration.
pub(crate) const UNKNOWN_TO_POOLER: &str = "08P01";

/// Codes of errors about one database only, where another may be accessible: it does not exist, a pooler does not know
/// it, the right to connect is missing, or the server's rules for hosts and databases exclude it.
const CLOSED: [&str; 4] = [NO_DATABASE, UNKNOWN_TO_POOLER, "42501", "28000"];

/// Whether an error means that one database is inaccessible, while another may be accessible.
pub(crate) fn is_closed(e: &EngineError) -> bool {
    e.code().is_some_and(|code| CLOSED.contains(&code))
}

/// Has a server cancel what the session with that key executes.
fn cancel(address: &ServerAddress, key: [u8; 8]) -> Result<()> {
    let (mut stream, _) = ServerStream::open(address, connect_limit())?;
    // The server ends the connection once the session has been signalled.
    let sent = stream.write_all(&message::cancel(key)).and_then(|()| stream.read(&mut [0]));
    sent.map(drop).map_err(|e| crate::error::io(&e))
}

/// Everything that a connection needs.
#[derive(Clone)]
pub struct PostgresConnector {
    pub(crate) address: ServerAddress,
    pub(crate) user: String,
    pub(crate) secret: Secret,
    pub(crate) options: PostgresOptions,
}

impl PostgresConnector {
    /// Opens a connection that uses `database`.
    pub(crate) fn connect(&self, database: &str) -> Result<WireConnection> {
        let (this, name) = (self.clone(), database.to_owned());
        within_limit(&self.server(), move || this.log_in(&name)).map_err(for_report)
    }

    fn server(&self) -> String {
        format!("the server at {}", self.address)
    }

    fn log_in(&self, database: &str) -> Result<WireConnection> {
        let (stream, awaited) = ServerStream::open(&self.address, self.options.common.answer_timeout)?;
        #[cfg(feature = "tls")]
        let stream = self.secured(stream)?;
        let address = self.address.clone();
        let cancel = move |key| drop(cancel(&address, key));
        let mut connection = WireConnection::start(stream, awaited, cancel, &self.user, &self.secret, database)?;
        connection.run(&self.settings())?;
        Ok(connection)
    }

    /// Statements that set a session's settings. Poolers would refuse them as parameters of the start message.
    fn settings(&self) -> String {
        let options = &self.options;
        let mut settings = format!(
            "SET search_path = public; SET TimeZone = 'UTC'; SET lock_timeout = '{}s'; SET plan_cache_mode = {}",
            options.lock_timeout.as_secs(),
            options.plan_cache.setting()
        );
        if let Some(value) = options.synchronous_commit {
            settings.push_str(&format!("; SET synchronous_commit = {}", value.word()));
        }
        settings
    }

    /// Opens a connection to the database; `None` if it does not exist.
    pub(crate) fn connect_if_there(&self, database: &str) -> Result<Option<WireConnection>> {
        match self.connect(database) {
            Ok(connection) => Ok(Some(connection)),
            Err(e) if e.code() == Some(NO_DATABASE) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Opens a connection for tasks of the whole server: to the database that every server has unless it was removed,
    /// or if that is inaccessible to another one, of which `own` is known to be accessible if it exists.
    pub(crate) fn maintenance(&self, own: &str) -> Result<WireConnection> {
        let mut closed = None;
        for database in ["postgres", own, "template1"] {
            match self.connect(database) {
                Err(e) if is_closed(&e) => closed = closed.or(Some(e)),
                reached => return reached,
            }
        }
        Err(closed.expect("each was tried, and closed"))
    }

    /// Encrypts the stream, if the target requires it.
    #[cfg(feature = "tls")]
    fn secured(&self, stream: ServerStream) -> Result<ServerStream> {
        let tls = &self.options.common.tls;
        let (mut plain, host) = match (stream, &self.address) {
            (ServerStream::Tcp(plain), ServerAddress::Tcp(host, _)) if tls.is_tried() => (plain, host),
            (other, _) => return Ok(other),
        };
        let mut answer = [0];
        // The answer is one byte, and what follows is encrypted already: no more may be read.
        let asked = plain.write_all(&message::ENCRYPTION).and_then(|()| plain.read_exact(&mut answer));
        asked.map_err(|e| crate::error::io(&e))?;
        match (answer[0], tls.is_required()) {
            (b'S', _) => Ok(ServerStream::Tls(SecuredStream::start(plain, host, tls)?)),
            (_, false) => Ok(ServerStream::Tcp(plain)),
            (_, true) => Err(EngineError::unsupported(format!(
                "the server does not offer TLS, which sslmode={} asks for: set ssl = on there, or use sslmode=prefer",
                tls.mode.word()
            ))),
        }
    }
}

impl NodeConnector for PostgresConnector {
    type Session = PostgresSession;

    fn session(&self, database: &str) -> Result<PostgresSession> {
        let mut connection = self.connect(database)?;
        if self.options.procedures {
            routines::refuse_without(&mut connection)?;
        }
        Ok(PostgresSession::new(connection, self.options.pipeline, self.options.procedures))
    }
}

/// Places where this process finds passwords of such servers.
pub(crate) fn environment() -> PasswordSources {
    PasswordSources::of_process("PGPASSWORD", Some("PGPASSFILE"))
}

/// Connectors to a target's running servers, each with its name.
pub(crate) fn connectors(
    target: &PostgresTarget,
    environment: &PasswordSources,
) -> Result<Vec<(String, PostgresConnector)>> {
    let options = &target.options;
    let mut connectors = Vec::new();
    for place in std::iter::once(&target.place).chain(&target.others) {
        let ServerPlace::Running { host, port, user, database, .. } = place else { continue };
        let connector = PostgresConnector {
            address: match options.socket.as_deref().or(place.socket()) {
                Some(folder) => ServerAddress::Socket(folder.join(format!(".s.PGSQL.{port}"))),
                None => ServerAddress::Tcp(host.clone(), *port),
            },
            user: user.clone(),
            secret: secret(options, [host, &port.to_string(), database, user], environment)?,
            options: options.clone(),
        };
        connectors.push((place.address(), connector));
    }
    Ok(connectors)
}

/// Password for host, port, database and user: from the file that is named, the environment, or the password file.
fn secret(
    options: &PostgresOptions,
    [host, port, database, user]: [&str; 4],
    from: &PasswordSources,
) -> Result<Secret> {
    if let Some(path) = &options.password_file {
        return first_line(path);
    }
    if from.password.is_some() {
        return Ok(Secret::known(from.password.clone()));
    }
    let own = || Some(from.home.as_ref()?.join(".pgpass"));
    let Some(path) = from.file.clone().or_else(own) else { return Ok(Secret::default()) };
    let host = if options.socket.is_some() || host.starts_with('/') { "localhost" } else { host };
    of_pgpass(&path, [host, port, database, user])
}

/// Limit of connections that a server reports, the one with the fewest free; `None` if it does not report them as
/// PostgreSQL does.
pub(crate) fn limits(connection: &mut WireConnection) -> Result<Option<ConnectionLimits>> {
    let asked = connection.ask(
        "SELECT 'max_connections', current_setting('max_connections')::int,
                current_setting('superuser_reserved_connections')::int
                    + coalesce(current_setting('reserved_connections', true)::int, 0),
                (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
         UNION ALL
         SELECT 'CONNECTION LIMIT of the user', rolconnlimit, 0,
                (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user AND backend_type = 'client backend')
           FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0",
    );
    let rows = match asked {
        Err(e) if e.kind() == ErrorKind::ConnectionLost => return Err(e),
        Err(_) => return Ok(None),
        Ok(rows) => rows,
    };
    let limits = rows.iter().filter_map(|row| {
        let number = |at: usize| row.get(at)?.as_ref()?.parse::<u64>().ok();
        let is_of_all = row.first()?.as_deref() == Some("max_connections");
        let name = if is_of_all { "max_connections" } else { "CONNECTION LIMIT of the user" };
        Some(ConnectionLimits { name, most: number(1)?, reserved: number(2)?, open: number(3)? })
    });
    Ok(limits.min_by_key(|limits| limits.most.saturating_sub(limits.reserved).saturating_sub(limits.open)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_password_comes_from_the_first_place_that_has_one() {
        let home = std::env::temp_dir().join(format!("bourse-pgpass-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let write = |name: &str, text: &str| {
            let path = home.join(name);
            std::fs::write(&path, text).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            path
        };
        write(".pgpass", "localhost:7:d:ann:of the socket\na:7:*:ann:of a\nb:*:*:*:of b\n");
        let (other, own) = (write("other", "*:*:*:*:of the other file\n"), write("own", "of the target\n"));
        let found = |target: &str, password: Option<&str>, file: Option<&PathBuf>| {
            let target = PostgresTarget::parse(target).unwrap();
            let from = PasswordSources {
                password: password.map(str::to_owned),
                fallback: None,
                file: file.cloned(),
                home: Some(home.clone()),
            };
            let found = connectors(&target, &from).unwrap();
            found.into_iter().map(|(_, it)| it.secret.password.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(found("postgres://ann@a:7,b,c/d", None, None), ["of a", "of b", ""]);
        assert_eq!(found("postgres://ann@%2Frun:7,b/d", None, None), ["of the socket", "of b"]);
        assert_eq!(found("postgres://ann@:7/d?socket=/run", None, None), ["of the socket"]);
        assert_eq!(found("postgres://ann@a/d", None, Some(&other)), ["of the other file"]);
        assert_eq!(found("postgres://ann@a,b/d", Some("told"), Some(&other)), ["told", "told"]);
        let named = format!("postgres://ann@a/d?password_file={}", own.display());
        assert_eq!(found(&named, Some("told"), Some(&other)), ["of the target"]);
        std::fs::remove_dir_all(home).unwrap();
    }
}
