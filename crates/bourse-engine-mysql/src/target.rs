//! Targets, checked completely before anything is started or connected to.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::options::{Flavour, GRAMMAR, Options};
use bourse_engine::target::{ServerForms, TargetError};

pub use bourse_engine::target::ServerPlace as Place;

/// Forms of the place in targets of these servers.
pub(crate) static FORMS: ServerForms = ServerForms {
    user: "root",
    port: 3_306,
    not_in_database: &['`', '/', '\\', '.'],
    bad_database: "its database name has more than 40 bytes, or one of the characters ` / \\ .",
    password_options: &["password", "passwd", "pass", "pwd"],
    password_instead: "put it into the variable MYSQL_PWD, into ~/.my.cnf, or into a file that the option 'password_file' names",
};

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The target as it was typed; it has no password.
    pub text: String,
    /// Server that the scheme names.
    pub flavour: Flavour,
    /// Place of the server; of several, the first one's.
    pub place: Place,
    /// Further running servers of the same database.
    pub others: Vec<Place>,
    /// The options, with defaults for those that were not given.
    pub options: Options,
}

impl Target {
    /// Parses a target.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what was expected.
    ///
    /// ```
    /// use bourse_engine_mysql::{Flavour, Place, Target};
    /// let target = Target::parse("mariadb+private:?ram=on&flush_log=2").unwrap();
    /// assert_eq!(target.flavour, Flavour::Mariadb);
    /// assert_eq!(target.place, Place::Private { directory: None });
    /// assert!(target.options.ram);
    /// ```
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let split = GRAMMAR.split(text)?;
        let flavour = match split.scheme.name {
            "mariadb" | "mariadb+private" => Flavour::Mariadb,
            "tidb+private" => Flavour::Tidb,
            "vitess+private" => Flavour::Vitess,
            _ => Flavour::Mysql,
        };
        let (place, others) = Place::read_several(&GRAMMAR, &FORMS, split, split.scheme.name.ends_with("+private"))?;
        let parsed = GRAMMAR.read(text, split, split.place.to_owned(), Options::DEFAULT)?;
        place.check_memory(parsed.options.ram)?;
        parsed.options.tls.check(parsed.options.socket.is_some())?;
        Place::check_alone(&others, "socket", parsed.options.socket.is_some())?;
        Ok(Self { text: parsed.text, flavour, place, others, options: parsed.options })
    }

    /// A copy of the target with another database of its servers.
    pub fn with_database(&self, name: &str) -> Self {
        let renamed = |place: &Place| place.with_database(name);
        Self { place: renamed(&self.place), others: self.others.iter().map(renamed).collect(), ..self.clone() }
    }
}
