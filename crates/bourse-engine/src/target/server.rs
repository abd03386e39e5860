//! Targets of engines with a server: a running one, `SCHEME://USER@HOST:PORT/DATABASE`, or a private one,
//! `SCHEME+private:` with a folder or without.

use super::percent::unescape;
use super::{Grammar, Scheme, SplitTarget, TargetError};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Part of the name of each database that Bourse makes beside another, and drops.
const SIDE_DATABASE: &str = "_bourse_";

/// Address of a server: a running one, or a private one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPlace {
    /// A server that already runs.
    Running {
        /// The host's name or address.
        host: String,
        /// TCP port, for some engines also a part of a Unix socket's name.
        port: u16,
        /// The user to log in as.
        user: String,
        /// The database that is loaded and used.
        database: String,
        /// The parts that the target names.
        named: NamedParts,
    },
    /// A private server, started at first use.
    Private {
        /// The folder that the server's folder is made in; the system's folder for temporary files if none is named.
        directory: Option<PathBuf>,
    },
}

/// Parts of a server's address that a target names; the others have the engine's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NamedParts {
    /// The host.
    pub host: bool,
    /// The port.
    pub port: bool,
    /// The user.
    pub user: bool,
}

/// Differences between the targets of engines with servers.
#[derive(Debug, Clone, Copy)]
pub struct ServerForms {
    /// The user where none is named.
    pub user: &'static str,
    /// The port where none is named.
    pub port: u16,
    /// Characters that no database's name may have.
    pub not_in_database: &'static [char],
    /// Description of an invalid database name, for the error.
    pub bad_database: &'static str,
    /// Options that other tools have for a password.
    pub password_options: &'static [&'static str],
    /// Safe place for a password, instead of the target.
    pub password_instead: &'static str,
}

impl Scheme {
    /// Scheme of servers that already run, which lack the options `without`.
    pub const fn running_server(name: &'static str, without: &'static [&'static str]) -> Self {
        Self { name, kind: "a running server", without, because: "it belongs to the server's own configuration" }
    }

    /// Scheme of private servers, which lack the options `without`.
    pub const fn private_server(name: &'static str, without: &'static [&'static str]) -> Self {
        Self { name, kind: "a private server", without, because: "we start the server, and know how to reach it" }
    }
}

impl ServerPlace {
    /// Parses the place of a target, after refusing a password in its options: before any error repeats a part of the
    /// text.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, and what was expected. No part of the place is repeated: it may contain a
    /// password.
    pub fn read<O>(
        grammar: &Grammar<O>,
        forms: &ServerForms,
        split: SplitTarget<'_>,
        is_private: bool,
    ) -> Result<Self, TargetError> {
        forms.refuse_password(split)?;
        let invalid = invalid(grammar);
        if is_private {
            let path = decoded(split.place.strip_prefix("//").unwrap_or(split.place)).map_err(invalid)?;
            return Ok(Self::Private { directory: (!path.is_empty()).then(|| path.into()) });
        }
        let mut nodes = forms.running(split.place, &invalid)?;
        match (nodes.pop(), nodes.is_empty()) {
            (Some(node), true) => Ok(node),
            _ => Err(invalid("it names several servers")),
        }
    }

    /// Parses the place of a target that may name several running servers; the second value has the further ones.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_several<O>(
        grammar: &Grammar<O>,
        forms: &ServerForms,
        split: SplitTarget<'_>,
        is_private: bool,
    ) -> Result<(Self, Vec<Self>), TargetError> {
        if is_private {
            return Ok((Self::read(grammar, forms, split, true)?, Vec::new()));
        }
        let mut servers = Self::read_nodes(grammar, forms, split)?.into_iter();
        let first = servers.next().ok_or_else(|| invalid(grammar)("it names no server"))?;
        Ok((first, servers.collect()))
    }

    /// Replaces the name of the database; a private server has a database of its own and stays unchanged.
    #[must_use]
    pub fn with_database(&self, name: &str) -> Self {
        let mut place = self.clone();
        if let Self::Running { database, .. } = &mut place {
            name.clone_into(database);
        }
        place
    }

    /// Whether the server is on this machine, by its host's name.
    pub fn is_of_this_machine(&self) -> bool {
        match self {
            Self::Running { host, .. } => {
                host == "localhost"
                    || host.starts_with('/')
                    || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
            }
            Self::Private { .. } => true,
        }
    }

    /// Unix socket, or its folder: a host that is a path.
    pub fn socket(&self) -> Option<&Path> {
        match self {
            Self::Running { host, .. } if host.starts_with('/') => Some(Path::new(host)),
            _ => None,
        }
    }

    /// Host and port of a running server, or its socket, for a person; empty for a private one.
    pub fn address(&self) -> String {
        match self {
            Self::Running { host, .. } if host.starts_with('/') => host.clone(),
            Self::Running { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Running { host, port, .. } => format!("{host}:{port}"),
            Self::Private { .. } => String::new(),
        }
    }

    /// Parses the place of a target of a cluster: `USER@HOST:PORT,HOST:PORT,…/DATABASE`, a running server for each
    /// address.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_nodes<O>(
        grammar: &Grammar<O>,
        forms: &ServerForms,
        split: SplitTarget<'_>,
    ) -> Result<Vec<Self>, TargetError> {
        forms.refuse_password(split)?;
        forms.running(split.place, invalid(grammar))
    }

    /// Refuses an option that needs a single server if the target names several.
    ///
    /// # Errors
    /// [`TargetError::Impossible`]
    pub fn check_alone(others: &[Self], option: &str, is_given: bool) -> Result<(), TargetError> {
        if is_given && !others.is_empty() {
            let why = "it belongs to one server";
            return Err(TargetError::Impossible { what: option.to_owned(), with: "several addresses", why });
        }
        Ok(())
    }

    /// Refuses a folder for data that is to be in memory.
    ///
    /// # Errors
    /// [`TargetError::Impossible`]
    pub fn check_memory(&self, in_memory: bool) -> Result<(), TargetError> {
        if in_memory && matches!(self, Self::Private { directory: Some(_) }) {
            let why = "the data directory is either in memory or in that folder";
            return Err(TargetError::Impossible { what: "ram=on".to_owned(), with: "a folder", why });
        }
        Ok(())
    }
}

/// Error for a place that cannot be parsed; repeats nothing of it.
fn invalid<O>(grammar: &Grammar<O>) -> impl Fn(&'static str) -> TargetError {
    |why| TargetError::Place { engine: grammar.engine, why, forms: grammar.forms }
}

impl ServerForms {
    fn refuse_password(&self, split: SplitTarget<'_>) -> Result<(), TargetError> {
        let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        let is_password = |pair: &str| self.password_options.contains(&name(pair).as_str());
        if split.query.split(['&', '?', ';']).any(is_password) { Err(self.password()) } else { Ok(()) }
    }

    fn password(&self) -> TargetError {
        TargetError::Password { instead: self.password_instead }
    }

    /// Parses `//user@host:port,host:port/database`: a server for each address.
    fn running(
        &self,
        text: &str,
        invalid: impl Fn(&'static str) -> TargetError,
    ) -> Result<Vec<ServerPlace>, TargetError> {
        let text = text.strip_prefix("//").ok_or_else(|| invalid("its scheme is not followed by '//'"))?;
        let (authority, database) = text.split_once('/').ok_or_else(|| invalid("it names no database"))?;
        // The last `@`: one within a password that is in the wrong place anyway must not make it a part of the host.
        let (named_user, addresses) = match authority.rsplit_once('@') {
            Some((user, addresses)) => (Some(user), addresses),
            None => (None, authority),
        };
        let user = named_user.unwrap_or(self.user);
        if user.contains(':') {
            return Err(self.password());
        }
        let addresses: Vec<(String, u16, NamedParts)> =
            addresses.split(',').map(|address| self.address(address).map_err(&invalid)).collect::<Result<_, _>>()?;
        let database = decoded(database).map_err(&invalid)?;
        if database.is_empty() {
            return Err(invalid("it names no database"));
        }
        if database.contains(self.not_in_database) || database.len() > 40 {
            return Err(invalid(self.bad_database));
        }
        if database.to_ascii_lowercase().contains(SIDE_DATABASE) {
            return Err(invalid("'_bourse_' in a database's name belongs to those that Bourse makes and drops itself"));
        }
        let user = decoded(user).map_err(&invalid)?;
        if user.is_empty() {
            return Err(invalid("no user stands before the '@'"));
        }
        let place = |(host, port, named)| {
            let (user, database) = (user.clone(), database.clone());
            ServerPlace::Running {
                host,
                port,
                user,
                database,
                named: NamedParts { user: named_user.is_some(), ..named },
            }
        };
        Ok(addresses.into_iter().map(place).collect())
    }

    /// Parses `host:port`.
    fn address(&self, text: &str) -> Result<(String, u16, NamedParts), &'static str> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or("no port follows the ']'")?)),
            None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let named = NamedParts { host: !host.is_empty(), port: port.is_some(), user: false };
        let port = match port {
            None => self.port,
            Some(digits) => digits.parse().map_err(|_| "its port is not a number from 0 to 65535")?,
        };
        let host = if host.is_empty() { "127.0.0.1".to_owned() } else { decoded(host)? };
        Ok((host, port, named))
    }
}

fn decoded(text: &str) -> Result<String, &'static str> {
    unescape(text)
        .ok_or("it has a '%' that is not followed by the two hexadecimal digits of a character (a '%' itself is '%25')")
}

#[cfg(test)]
mod tests {
    use super::*;

    static FORMS: ServerForms = ServerForms {
        user: "root",
        port: 3_306,
        not_in_database: &['`', '/'],
        bad_database: "its database name has one of the characters ` /",
        password_options: &["password", "pwd"],
        password_instead: "put it into a file",
    };
    static GRAMMAR: Grammar<()> = Grammar {
        engine: "Example",
        schemes: &[Scheme::running_server("ex", &[]), Scheme::private_server("ex+private", &[])],
        forms: "ex://USER@HOST/DATABASE",
        options: &[],
    };

    fn read(text: &str) -> Result<ServerPlace, TargetError> {
        let split = GRAMMAR.split(text)?;
        ServerPlace::read(&GRAMMAR, &FORMS, split, split.scheme.name.ends_with("+private"))
    }

    #[track_caller]
    fn runs(text: &str, expected: (&str, u16, &str, &str)) {
        let ServerPlace::Running { host, port, user, database, .. } = read(text).unwrap() else { panic!("{text}") };
        assert_eq!((host.as_str(), port, user.as_str(), database.as_str()), expected, "{text}");
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let message = read(text).expect_err(text).to_string();
        assert!(message.contains(expected), "{text}: {message}");
        assert!(!message.contains("secret"), "{text}: {message}");
    }

    #[test]
    fn a_server_is_a_user_a_host_a_port_and_a_database() {
        runs("ex://ann@db.example:3307/tpce", ("db.example", 3_307, "ann", "tpce"));
        runs("ex://localhost/x", ("localhost", 3_306, "root", "x"));
        runs("ex://ann%40home@[::1]:3310/x", ("::1", 3_310, "ann@home", "x"));
        runs("ex://ann@/x", ("127.0.0.1", 3_306, "ann", "x"));
        runs("ex://ann@%2Frun%2Fs/x", ("/run/s", 3_306, "ann", "x"));
        let socket = read("ex://ann@%2Frun%2Fs/x").unwrap();
        assert_eq!((socket.socket(), &*socket.address()), (Some(Path::new("/run/s")), "/run/s"));
        assert!(socket.is_of_this_machine() && read("ex://h/x").unwrap().socket().is_none());
        assert_eq!(read("ex+private:?a=b").unwrap(), ServerPlace::Private { directory: None });
        let place = read("ex+private:/big%20disk").unwrap();
        assert_eq!(place, ServerPlace::Private { directory: Some("/big disk".into()) });
        assert!(place.check_memory(false).is_ok());
        assert!(place.check_memory(true).unwrap_err().to_string().contains("either in memory or in that folder"));
    }

    #[test]
    fn a_cluster_is_several_servers() {
        let nodes = |text: &str| ServerPlace::read_nodes(&GRAMMAR, &FORMS, GRAMMAR.split(text).unwrap());
        let node = |host: &str, port, is_named| ServerPlace::Running {
            host: host.to_owned(),
            port,
            user: "ann".to_owned(),
            database: "d".to_owned(),
            named: NamedParts { host: true, port: is_named, user: true },
        };
        let three = [node("a", 3_306, false), node("b", 7, true), node("::1", 8, true)];
        assert_eq!(nodes("ex://ann@a,b:7,[::1]:8/d?x=y").unwrap(), three);
        assert_eq!(nodes("ex://ann@a/d").unwrap(), [node("a", 3_306, false)]);
        let several = |text: &str, is_private| {
            let split = GRAMMAR.split(text).unwrap();
            ServerPlace::read_several(&GRAMMAR, &FORMS, split, is_private).unwrap()
        };
        let (first, others) = several("ex://ann@a,b:7,[::1]:8/d?x=y", false);
        assert_eq!((first.address().as_str(), others.as_slice()), ("a:3306", &three[1..]));
        assert_eq!(several("ex+private:", true), (ServerPlace::Private { directory: None }, Vec::new()));
        let ServerPlace::Running { named, .. } = read("ex:///d").unwrap() else { panic!("it is no private server") };
        assert_eq!(named, NamedParts::default());
        assert!(nodes("ex://ann@a,b:x/d").unwrap_err().to_string().contains("not a number"));
        assert!(matches!(nodes("ex://ann@a,b/d?pwd=secret"), Err(TargetError::Password { .. })));
        refused("ex://ann@a,b/d", "it names several servers");
    }

    #[test]
    fn what_is_no_server_is_refused_with_what_was_expected() {
        refused("ex:x", "not followed by '//'");
        refused("ex://u@h", "names no database");
        refused("ex://u@h/", "names no database");
        refused("ex://u@h:x/d", "its port is not a number");
        refused("ex://u@[::1]3/d", "no port follows");
        refused("ex://@h/d", "no user stands before");
        refused("ex://u@h/a`b", "one of the characters");
        refused("ex+private:/a%zz", "'%25'");
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for text in [
            "ex://ann:secret@h/d",
            "ex://ann:se@cret@h/d",
            "ex://ann@h/d?Password=secret",
            "ex://ann@h/d?ram&pwd=secret",
        ] {
            assert!(matches!(read(text), Err(TargetError::Password { .. })), "{text}");
            refused(text, "must not contain a password: put it into a file");
        }
        // What may be one is not repeated either.
        for text in ["ex://ann:secret/d?x", "ex:/ann:secret@h/d", "ex://ann%secret@h/d"] {
            refused(text, "invalid Example target");
        }
    }
}
