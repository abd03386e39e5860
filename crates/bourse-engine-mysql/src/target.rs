//! Targets, checked whole before anything is started or reached.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::options::{Flavour, OPTIONS, OptionSpec, Options, Scope};
use bourse_engine::target::Wanted;
use std::path::PathBuf;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// It runs already.
    Running {
        /// Name or address.
        host: String,
        /// TCP port.
        port: u16,
        /// Who we are there.
        user: String,
        /// The database that is loaded and used.
        database: String,
    },
    /// Ours, started at first use.
    Private {
        /// Its folder is made in this one; the system's for temporary files if none is named.
        directory: Option<PathBuf>,
    },
}

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was given; it has no password.
    pub text: String,
    /// The server that the scheme names.
    pub flavour: Flavour,
    /// Where.
    pub place: Place,
    /// Settings, with their defaults where nothing was said.
    pub options: Options,
}

const FORMS: &str = "`mysql://user@host/db`, `mariadb://user@host/db`, `mariadb+private:` or `mysql+private:`, each with `?key=value&…`";

/// Why a target is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not ours.
    #[error("`{target}` is not a MariaDB or MySQL target: wanted {FORMS}")]
    Scheme {
        /// As given.
        target: String,
    },
    /// A part is missing or malformed. The target is not repeated where it may hold a password.
    #[error("the target {why}: wanted {FORMS}")]
    Malformed {
        /// What is wrong.
        why: &'static str,
    },
    /// A password where everybody can read it.
    #[error(
        "the target holds a password: put it into the variable BOURSE_MYSQL_PASSWORD or into a file that `password_file` names"
    )]
    Password,
    /// `%` without two hexadecimal digits, or bytes that are no text.
    #[error("`{text}` has a `%` that is not followed by the two digits of a character; a `%` itself is `%25`")]
    Escape {
        /// The part in question.
        text: String,
    },
    /// Not `key=value`.
    #[error("`{text}` is not of the form `key=value`")]
    NotAPair {
        /// The part in question.
        text: String,
    },
    /// An unknown key.
    #[error("MariaDB and MySQL targets have no option `{name}`{}\nknown options:\n{}", near(name), known())]
    UnknownOption {
        /// The key.
        name: String,
    },
    /// A key given twice.
    #[error("option `{name}` is given twice")]
    Twice {
        /// The key.
        name: &'static str,
    },
    /// A value that is none.
    #[error("`{value}` is no value of option `{name}`{}: wanted {values}", if *wanted == Wanted::InRange { " (out of range)" } else { "" })]
    BadValue {
        /// The key.
        name: &'static str,
        /// The value as given.
        value: String,
        /// What was wrong.
        wanted: Wanted,
        /// The values the option takes.
        values: &'static str,
    },
    /// A setting that this target cannot have.
    #[error("`{name}` cannot be had with {with}: {why}")]
    Impossible {
        /// The setting.
        name: &'static str,
        /// What it clashes with.
        with: &'static str,
        /// Why.
        why: &'static str,
    },
}

fn known() -> String {
    let line = |option: &OptionSpec| {
        let scope = match option.scope {
            Scope::Any => "",
            Scope::Running => "; servers that run already",
            Scope::Private => "; private servers",
        };
        format!("  {} ({}{scope}): {}", option.name, option.values, option.meaning)
    };
    OPTIONS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// `; did you mean …` where a known option has most of the letters.
fn near(name: &str) -> String {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(name);
    let is_near = |option: &&OptionSpec| {
        let candidate = plain(option.name);
        wanted.len() >= 3 && (candidate.contains(&wanted) || wanted.contains(&candidate))
    };
    OPTIONS.iter().find(is_near).map_or_else(String::new, |option| format!("; did you mean `{}`?", option.name))
}

impl Target {
    /// Reads a target.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what is known.
    ///
    /// ```
    /// use bourse_engine_mysql::{Flavour, Place, Target};
    /// let target = Target::parse("mariadb+private:?ram=on&flush_log=2").unwrap();
    /// assert_eq!(target.flavour, Flavour::Mariadb);
    /// assert_eq!(target.place, Place::Private { directory: None });
    /// assert!(target.options.ram);
    /// ```
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        let (flavour, is_private) = match scheme {
            "mysql" => (Flavour::Mysql, false),
            "mariadb" => (Flavour::Mariadb, false),
            "mysql+private" => (Flavour::Mysql, true),
            "mariadb+private" => (Flavour::Mariadb, true),
            _ => return Err(TargetError::Scheme { target: text.to_owned() }),
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let place = if is_private { private(place)? } else { running(place)? };
        let (options, given) = parse_options(query)?;
        check_together(&place, &options, &given)?;
        Ok(Self { text: text.to_owned(), flavour, place, options })
    }
}

fn parse_options(query: &str) -> Result<(Options, Vec<&'static OptionSpec>), TargetError> {
    let mut options = Options::DEFAULT;
    let mut given: Vec<&'static OptionSpec> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| TargetError::NotAPair { text: pair.to_owned() })?;
        if matches!(name, "password" | "pass" | "pwd") {
            return Err(TargetError::Password);
        }
        let option = OPTIONS
            .iter()
            .find(|option| option.name == name)
            .ok_or_else(|| TargetError::UnknownOption { name: name.to_owned() })?;
        if given.iter().any(|other| other.name == name) {
            return Err(TargetError::Twice { name: option.name });
        }
        let value = decode(value)?;
        (option.set)(&mut options, &value).map_err(|wanted| TargetError::BadValue {
            name: option.name,
            value,
            wanted,
            values: option.values,
        })?;
        given.push(option);
    }
    Ok((options, given))
}

fn private(path: &str) -> Result<Place, TargetError> {
    let path = decode(path.strip_prefix("//").unwrap_or(path))?;
    Ok(Place::Private { directory: (!path.is_empty()).then(|| path.into()) })
}

/// `//user@host:port/database`
fn running(text: &str) -> Result<Place, TargetError> {
    let malformed = |why| TargetError::Malformed { why };
    let text = text.strip_prefix("//").ok_or_else(|| malformed("has no `//` behind its scheme"))?;
    let (authority, database) = text.split_once('/').ok_or_else(|| malformed("names no database"))?;
    // The last `@`: one within a password that is in the wrong place anyway must not make it a part of the host.
    let (user, address) = authority.rsplit_once('@').unwrap_or(("root", authority));
    if user.contains(':') {
        return Err(TargetError::Password);
    }
    let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(|| malformed("has no port behind `]`"))?)),
        None => address.split_once(':').map_or((address, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => 3_306,
        Some(digits) => digits.parse().map_err(|_| malformed("has a port that is no number"))?,
    };
    let database = decode(database)?;
    if database.is_empty() {
        return Err(malformed("names no database"));
    }
    if database.contains(['`', '/', '\\', '.']) || database.len() > 40 {
        return Err(malformed("names a database with one of `/\\. or more than 40 bytes"));
    }
    let user = decode(user)?;
    if user.is_empty() {
        return Err(malformed("names no user before `@`"));
    }
    let host = if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host)? };
    Ok(Place::Running { host, port, user, database })
}

fn check_together(place: &Place, options: &Options, given: &[&'static OptionSpec]) -> Result<(), TargetError> {
    let clash = |scope| given.iter().find(|option| option.scope == scope).map(|option| option.name);
    match place {
        Place::Running { .. } => clash(Scope::Private).map_or(Ok(()), |name| {
            Err(TargetError::Impossible {
                name,
                with: "a server that runs already",
                why: "it is for the server's own configuration",
            })
        }),
        Place::Private { directory } => {
            if let Some(name) = clash(Scope::Running) {
                let why = "we start it, and know how to reach it";
                return Err(TargetError::Impossible { name, with: "a private server", why });
            }
            if directory.is_some() && options.ram {
                let why = "the data directory is either in memory or in that folder";
                return Err(TargetError::Impossible { name: "ram", with: "a folder", why });
            }
            Ok(())
        }
    }
}

fn decode(text: &str) -> Result<String, TargetError> {
    bourse_engine::target::unescape(text).ok_or_else(|| TargetError::Escape { text: text.to_owned() })
}
