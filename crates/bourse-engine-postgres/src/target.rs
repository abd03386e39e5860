//! Targets, checked whole before anything is started or reached.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::options::{GRAMMAR, Options};
use bourse_engine::target::TargetError;
use std::path::PathBuf;

/// The place of the server: one that runs, or a private one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A server that runs already.
    Running {
        /// The host's name or address.
        host: String,
        /// TCP port, and the number in the name of the Unix socket.
        port: u16,
        /// The user to log in as.
        user: String,
        /// The database that is loaded and used.
        database: String,
    },
    /// A private server, started at first use.
    Private {
        /// The folder that the server's folder is made in; the system's folder for temporary files if none is named.
        directory: Option<PathBuf>,
    },
}

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The target as it was typed; it has no password.
    pub text: String,
    /// The server's place.
    pub place: Place,
    /// The options, with defaults for those that were not given.
    pub options: Options,
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what was expected.
    ///
    /// ```
    /// use bourse_engine_postgres::{Place, Target};
    /// let target = Target::parse("postgres+private:?ram=on&fsync=off").unwrap();
    /// assert_eq!(target.place, Place::Private { directory: None });
    /// assert!(target.options.ram && !target.options.fsync);
    /// ```
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let split = GRAMMAR.split(text)?;
        // Before any error repeats a part of the text.
        if split.query.split(['&', '?', ';']).any(holds_password) {
            return Err(PASSWORD);
        }
        let is_private = split.scheme.name.ends_with("+private");
        let place = if is_private { private(split.place)? } else { running(split.place)? };
        let parsed = GRAMMAR.read(text, split, split.place.to_owned(), Options::DEFAULT)?;
        if matches!(place, Place::Private { directory: Some(_) }) && parsed.options.ram {
            let why = "the data directory is either in memory or in that folder";
            return Err(TargetError::Impossible { what: "ram=on".to_owned(), with: "a folder", why });
        }
        Ok(Self { text: parsed.text, place, options: parsed.options })
    }
}

const PASSWORD: TargetError = TargetError::Password {
    instead: "put it into the variable PGPASSWORD, into ~/.pgpass, or into a file that the option 'password_file' names",
};

/// Whether `pair` is an option that other tools have for a password.
fn holds_password(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default();
    ["password", "passwd", "pass", "pwd", "sslpassword"].iter().any(|word| name.eq_ignore_ascii_case(word))
}

fn private(path: &str) -> Result<Place, TargetError> {
    let path = decoded(path.strip_prefix("//").unwrap_or(path))?;
    Ok(Place::Private { directory: (!path.is_empty()).then(|| path.into()) })
}

/// Reads `//user@host:port/database`.
fn running(text: &str) -> Result<Place, TargetError> {
    let invalid = |why| TargetError::Place { engine: GRAMMAR.engine, why, forms: GRAMMAR.forms };
    let text = text.strip_prefix("//").ok_or_else(|| invalid("its scheme is not followed by '//'"))?;
    let (authority, database) = text.split_once('/').ok_or_else(|| invalid("it names no database"))?;
    // The last `@`: one within a password that is in the wrong place anyway must not make it a part of the host.
    let (user, address) = authority.rsplit_once('@').unwrap_or(("postgres", authority));
    if user.contains(':') {
        return Err(PASSWORD);
    }
    let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(|| invalid("no port follows the ']'"))?)),
        None => address.split_once(':').map_or((address, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => 5_432,
        Some(digits) => digits.parse().map_err(|_| invalid("its port is not a number from 0 to 65535"))?,
    };
    let database = decoded(database)?;
    if database.is_empty() {
        return Err(invalid("it names no database"));
    }
    if database.contains(['"', '\'', '/', '\\', '\0']) || database.len() > 40 {
        return Err(invalid("its database name has more than 40 bytes, or one of the characters \" ' / \\"));
    }
    let user = decoded(user)?;
    if user.is_empty() {
        return Err(invalid("no user stands before the '@'"));
    }
    let host = if host.is_empty() { "127.0.0.1".to_owned() } else { decoded(host)? };
    Ok(Place::Running { host, port, user, database })
}

fn decoded(text: &str) -> Result<String, TargetError> {
    // Not repeated: a password may stand in the wrong place.
    let why = "it has a '%' that is not followed by the two hexadecimal digits of a character (a '%' itself is '%25')";
    let invalid = TargetError::Place { engine: GRAMMAR.engine, why, forms: GRAMMAR.forms };
    bourse_engine::target::unescape(text).ok_or(invalid)
}
