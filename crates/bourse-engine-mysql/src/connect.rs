//! Connections, each with the settings that every session and loader relies on.

use crate::error::error;
use crate::options::{Options, Storage};
use bourse_engine::{EngineError, ErrorKind};
use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder};
use std::path::PathBuf;

/// How long reaching a server may take.
const CONNECT_SECONDS: u64 = 10;

/// The server does not know a variable.
const UNKNOWN_VARIABLE: u16 = 1193;

/// The SQL that statements are written in: texts of standard SQL, and no value that is quietly made to fit.
const SQL_MODE: &str = "STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,ANSI_QUOTES,NO_ZERO_IN_DATE,NO_ZERO_DATE,NO_ENGINE_SUBSTITUTION";

/// Where a server is, and who we are there.
#[derive(Debug, Clone)]
pub enum Address {
    /// A socket of this machine.
    Socket(PathBuf),
    /// Host and port.
    Tcp(String, u16),
}

/// All that a connection takes.
#[derive(Clone)]
pub struct Connector {
    /// Where the server is.
    pub address: Address,
    /// The user to log in as.
    pub user: String,
    /// The user's password.
    pub password: Option<String>,
    /// The options of its target.
    pub options: Options,
    /// Settings of its sessions beside those that all have, as `, SESSION x = 1`.
    pub settings: &'static str,
}

impl Connector {
    /// A connection that uses `database`, or none.
    ///
    /// # Errors
    /// The client's or the server's, with what a person may have to do.
    pub fn connect(&self, database: Option<&str>) -> Result<Conn, EngineError> {
        let lock_seconds = self.options.lock_timeout.as_secs();
        // A table in memory may grow as large as it has to: by default it is full at 16 MiB.
        let storage = match self.options.storage {
            Storage::Innodb => ", SESSION default_storage_engine = InnoDB",
            Storage::Memory => ", SESSION default_storage_engine = MEMORY, SESSION max_heap_table_size = 68719476736",
        };
        let settings = format!(
            "SET SESSION sql_mode = '{SQL_MODE}', SESSION innodb_lock_wait_timeout = {lock_seconds},
                SESSION lock_wait_timeout = {lock_seconds}, SESSION foreign_key_checks = {},
                SESSION autocommit = 1{storage}{}",
            u8::from(self.options.foreign_keys),
            self.settings
        );
        let opts = OptsBuilder::new()
            .user(Some(&self.user))
            .pass(self.password.as_ref())
            .db_name(database)
            // What is measured is the way in that was asked for, not one the client finds better.
            .prefer_socket(false)
            // Sessions keep their statements themselves, all of them.
            .stmt_cache_size(0)
            // A change that leaves a row as it was has changed it too, as on every other engine.
            .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
            .read_timeout(Some(self.options.answer_timeout))
            .write_timeout(Some(self.options.answer_timeout))
            .tcp_connect_timeout(Some(std::time::Duration::from_secs(CONNECT_SECONDS)))
            .init(vec![settings]);
        let opts = match &self.address {
            Address::Socket(path) => opts.socket(Some(path.display().to_string())),
            Address::Tcp(host, port) => opts.ip_or_hostname(Some(host)).tcp_port(*port),
        };
        let mut connection = Conn::new(opts).map_err(|e| self.explained(error(&e)))?;
        match connection.query_drop(format!(
            "SET SESSION innodb_snapshot_isolation = {}",
            u8::from(self.options.snapshot_isolation)
        )) {
            Err(mysql::Error::MySqlError(e)) if e.code == UNKNOWN_VARIABLE => {}
            other => other.map_err(|e| error(&e))?,
        }
        Ok(connection)
    }

    /// With what a person may have to do.
    fn explained(&self, e: EngineError) -> EngineError {
        const ACCESS_DENIED: [&str; 3] = ["1044", "1045", "1698"];
        let is_denied = e.code().is_some_and(|code| ACCESS_DENIED.contains(&code));
        let hint = match (is_denied, &self.password) {
            (true, None) => {
                "; the variable BOURSE_MYSQL_PASSWORD, or a file that `password_file` names, gives a password"
            }
            _ if e.kind() != ErrorKind::ConnectionLost => return e,
            _ => match &self.address {
                Address::Socket(path) => {
                    let message = format!("{} (socket {})", e.message(), path.display());
                    return EngineError::new(e.kind(), message);
                }
                Address::Tcp(host, port) => {
                    let message = format!("{} ({host}, port {port})", e.message());
                    return EngineError::new(e.kind(), message);
                }
            },
        };
        EngineError::new(e.kind(), format!("{}{hint}", e.message())).with_code(e.code().unwrap_or_default())
    }
}
