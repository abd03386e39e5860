//! MariaDB and MySQL behind the seam: a person's server, or a private one that is started and removed here.
//!
//! | target | what it is |
//! |---|---|
//! | `mysql://user@host:3306/db?lock_timeout=5s`, `mariadb://…` | a server that runs already |
//! | `mariadb+private:?ram=on` | a MariaDB server of our own, its data in memory |
//! | `mariadb+private:/big/disk?flush_log=1` | the same, its data below `/big/disk` |
//! | `mysql+private:?server=/opt/mysql/bin/mysqld` | a MySQL server of our own |
//! | `mysql://user@host,host:3307/db` | a database of several servers: sessions over all of them |
//!
//! [`open`] reads a target; [`GRAMMAR`] has the table of all options. Passwords come from the file that `password_file` names,
//! from a variable or from `~/.my.cnf`, never from the target.
//!
//! # Getting a server
//! Debian and Ubuntu: `apt-get install --no-install-recommends mariadb-server` (whose service need not run). Fedora:
//! `dnf install mariadb-server`. macOS: `brew install mariadb` or `brew install mysql`. Anything else that has `mariadbd`
//! and `mariadb-install-db`, or `mysqld`, will do: on `PATH`, in the usual folders, or named by `server=PATH`. The tests
//! that need a server say that they were skipped where there is none.
//!
//! # A private server
//! listens on a socket in its own folder and nowhere else, runs as user `mysql` where we are root, and is ended and removed
//! with its folder when the engine is dropped. If we are killed it stays; the next private server below the same folder
//! ends and removes it first ([`sweep_target`]).
//!
//! # Loading
//! into `NAME_bourse_loading`, beside the database; finished, its tables take the places of those in `NAME` by one
//! statement, by way of `NAME_bourse_old`. Every table that is loaded so has the comment `made by bourse`. A database with a
//! table without it, or with a view, routine, event or trigger, is never replaced, and neither is one beside it that no
//! loader made (`ownership`).
//!
//! Rows go to MySQL by `LOAD DATA LOCAL INFILE` where its `local_infile` is on, as on private servers, and by INSERT statements
//! elsewhere.
//!
//! Files: `options` and `target` (what was asked for), `statement` and `value` (texts and values in the server's notation),
//! `session` and `loader` (the seam), `local` (rows for `LOAD DATA LOCAL INFILE`), `ownership` (what may be replaced), `products` (what others that speak the protocol lack), `server` (private ones), `copy` (snapshots of those),
//! `connect`, `link` (a connection whose waits an interruption ends), `describe` (what was run on), `kind` (what a program is told of it), `status`
//! (what the server counts and uses), `routines` (procedures in the server), `error` (codes).

mod connect;
mod copy;
mod describe;
mod dialect;
mod engine;
mod error;
mod hold;
mod kind;
mod link;
mod loader;
mod local;
mod options;
mod ownership;
mod products;
mod routines;
mod server;
mod session;
mod statement;
mod status;
mod target;
mod value;

pub use dialect::DIALECT;
pub use engine::{MysqlEngine, open};
pub use kind::KINDS;
pub use options::{Flavour, FlushLog, FlushMethod, GRAMMAR, Options, Storage};
pub use server::{Installed, Launch, SERVER_VARIABLE, installed, sweep_target};
pub use target::{Place, Target};

/// Parts of this engine that an engine of several such servers is made of.
pub mod parts {
    pub use crate::connect::{Address, Connector, connectors};
    pub use crate::describe::{describe, sizes, table_bytes};
    pub use crate::engine::{check_each, damage, describe_way, environment};
    pub use crate::error::error;
    pub use crate::hold::hold;
    pub use crate::link::Link;
    pub use crate::loader::DatabaseLoader;
    pub use crate::options::{OPTIONS, PRIVATE_ONLY, RUNNING_ONLY};
    pub use crate::ownership::{drop_made, exists, foreign, leftovers, refuse_side};
    pub use crate::server::{DATABASE, SOCKET, datadir_argument, fill_command, server_command};
    pub use crate::session::MysqlSession;
    pub use crate::status::{Status, counters, told_process};
    pub use crate::target::FORMS;
}
