//! Connections, each with the settings that every session and loader relies on, and where passwords come from.

use crate::options::Options;
use crate::wire::{Connection, Stream};
use bourse_engine::{EngineError, ErrorKind};
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long reaching a server may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The server has no database of that name.
const NO_DATABASE: &str = "3D000";

/// Where a server is, and who we are there.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    /// A socket of this machine, in that folder and with that number.
    Socket(PathBuf, u16),
    /// Host and port.
    Tcp(String, u16),
}

/// All that a connection takes.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) address: Address,
    pub(crate) user: String,
    /// Never shown: this type has no `Debug`.
    pub(crate) password: Option<String>,
    pub(crate) options: Options,
}

impl Connector {
    /// A connection that uses `database`.
    pub(crate) fn connect(&self, database: &str) -> Result<Connection, EngineError> {
        let opened = self.open().map_err(|e| self.unreachable(&e))?;
        let options = &self.options;
        let mut settings = vec![
            ("search_path", "public".to_owned()),
            ("TimeZone", "UTC".to_owned()),
            ("lock_timeout", format!("{}s", options.lock_timeout.as_secs())),
            ("plan_cache_mode", options.plan_cache.setting().to_owned()),
        ];
        settings.extend(options.synchronous_commit.map(|value| ("synchronous_commit", value.word().to_owned())));
        Connection::start(opened, &self.user, self.password.as_deref(), database, &settings)
    }

    /// A connection to the database, or to none in particular if it does not exist: then `None`.
    pub(crate) fn connect_if_there(&self, database: &str) -> Result<Option<Connection>, EngineError> {
        match self.connect(database) {
            Ok(connection) => Ok(Some(connection)),
            Err(e) if e.code() == Some(NO_DATABASE) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// A connection for what concerns the server, to a database that every server has unless it was removed.
    pub(crate) fn maintenance(&self) -> Result<Connection, EngineError> {
        match self.connect_if_there("postgres")? {
            Some(connection) => Ok(connection),
            None => self.connect("template1"),
        }
    }

    fn open(&self) -> io::Result<Stream> {
        let stream = match &self.address {
            #[cfg(unix)]
            Address::Socket(folder, number) => {
                Stream::Unix(std::os::unix::net::UnixStream::connect(folder.join(format!(".s.PGSQL.{number}")))?)
            }
            #[cfg(not(unix))]
            Address::Socket(..) => return Err(io::ErrorKind::Unsupported.into()),
            Address::Tcp(host, port) => {
                let mut tried = Err(io::Error::other("the name has no address"));
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    tried = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT);
                    if tried.is_ok() {
                        break;
                    }
                }
                let stream = tried?;
                // A statement is one message, which is to leave at once.
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
        };
        stream.set_timeout(self.options.answer_timeout)?;
        Ok(stream)
    }

    fn unreachable(&self, e: &io::Error) -> EngineError {
        let place = match &self.address {
            Address::Socket(folder, number) => {
                format!("socket {}", folder.join(format!(".s.PGSQL.{number}")).display())
            }
            Address::Tcp(host, port) => format!("{host}, port {port}"),
        };
        EngineError::new(ErrorKind::ConnectionLost, format!("no server answers at {place}: {e}"))
    }
}

/// The password of a target: from the file that is named, the environment, or the file of passwords.
pub(crate) fn password(
    options: &Options,
    host: &str,
    port: u16,
    database: &str,
    user: &str,
) -> Result<Option<String>, EngineError> {
    if let Some(path) = &options.password_file {
        let text = std::fs::read_to_string(path).map_err(|e| EngineError::io("read", path, &e))?;
        return Ok(text.lines().next().map(str::to_owned));
    }
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let Some(path) = named.or_else(|| Some(std::env::home_dir()?.join(".pgpass"))) else { return Ok(None) };
    if !is_private(&path) {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).map_err(|e| EngineError::io("read", &path, &e))?;
    let host = if options.socket.is_some() { "localhost" } else { host };
    Ok(text.lines().find_map(|line| matching(line, [host, &port.to_string(), database, user])))
}

/// Whether a file is there that nobody else can read: a file of passwords that others can read is not used, as libpq has it.
fn is_private(path: &Path) -> bool {
    let Ok(found) = path.metadata() else { return false };
    #[cfg(unix)]
    let is_private = {
        use std::os::unix::fs::MetadataExt as _;
        found.mode() & 0o077 == 0
    };
    #[cfg(not(unix))]
    let is_private = true;
    found.is_file() && is_private
}

/// The password of a line `host:port:database:user:password` if it is for these; `*` is any, `\` takes the next character as
/// it is.
fn matching(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let is_last = fields.len() > wanted.len();
        match character {
            '\\' => fields.last_mut()?.extend(characters.next()),
            ':' if !is_last => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    let is_for = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
    (fields.len() == wanted.len() + 1 && fields.iter().zip(wanted).all(is_for)).then(|| fields.pop())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_passwords_is_read() {
        let wanted = ["db.example", "5432", "tpce", "ann"];
        for (line, expected) in [
            ("db.example:5432:tpce:ann:secret", Some("secret")),
            ("*:*:*:ann:se\\:cr\\\\et", Some("se:cr\\et")),
            ("*:*:*:*:with:colons", Some("with:colons")),
            ("other:5432:tpce:ann:secret", None),
            ("#*:*:*:*:secret", None),
            ("*:*:*", None),
            ("", None),
        ] {
            assert_eq!(matching(line, wanted).as_deref(), expected, "{line}");
        }
    }
}
