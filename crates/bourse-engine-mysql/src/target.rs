//! Targets of MariaDB's and MySQL's servers.

use crate::engine::Mysql;
use bourse_engine::target::ServerForms;

pub use bourse_engine::target::ServerPlace;

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
///
/// ```
/// use bourse_engine_mysql::{Flavour, ServerPlace, MysqlTarget};
/// let target = MysqlTarget::parse("mariadb+private:?ram=on&flush_log=2").unwrap();
/// assert_eq!(target.flavour, Flavour::Mariadb);
/// assert_eq!(target.place, ServerPlace::Private { directory: None });
/// assert!(target.options.common.ram);
/// ```
pub type MysqlTarget = bourse_server::ServerTarget<Mysql>;
