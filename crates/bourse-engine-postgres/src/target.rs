//! Targets of PostgreSQL's servers.

use crate::engine::Postgres;
use bourse_engine::target::ServerForms;

pub use bourse_engine::target::ServerPlace;

/// Forms of the place in targets of these servers.
pub(crate) static FORMS: ServerForms = ServerForms {
    user: "postgres",
    port: 5_432,
    not_in_database: &['"', '\'', '/', '\\', '\0'],
    bad_database: "its database name has more than 40 bytes, or one of the characters \" ' / \\",
    password_options: &["password", "passwd", "pass", "pwd", "sslpassword"],
    password_instead: "put it into the variable PGPASSWORD, into ~/.pgpass, or into a file that the option 'password_file' names",
};

/// A parsed target.
///
/// ```
/// use bourse_engine_postgres::{ServerPlace, PostgresTarget};
/// let target = PostgresTarget::parse("postgres+private:?ram=on&fsync=off").unwrap();
/// assert_eq!(target.place, ServerPlace::Private { directory: None });
/// assert!(target.options.common.ram && !target.options.fsync);
/// ```
pub type PostgresTarget = bourse_server::ServerTarget<Postgres>;
