//! MariaDB and MySQL as engines: a running server, or a private one that Bourse starts and removes.
//!
//! | target | what it is |
//! |---|---|
//! | `mysql://user@host:3306/db?lock_timeout=5s`, `mariadb://…` | a running server |
//! | `mariadb+private:?ram=on` | a private MariaDB server, its data in memory |
//! | `mariadb+private:/big/disk?flush_log=1` | the same, its data below `/big/disk` |
//! | `mysql+private:?server=/opt/mysql/bin/mysqld` | a private MySQL server |
//! | `mysql://user@host,host:3307/db` | a database of several servers: sessions over all of them |
//!
//! [`open`] parses a target; [`GRAMMAR`] has the table of all options. Passwords are read from the file that
//! `password_file` names, from a variable or from `~/.my.cnf`, never from the target.
//!
//! # Getting a server
//! Debian and Ubuntu: `apt-get install --no-install-recommends mariadb-server` (whose service need not run). Fedora:
//! `dnf install mariadb-server`. macOS: `brew install mariadb` or `brew install mysql`. Any installation with
//! `mariadbd` and `mariadb-install-db`, or `mysqld`, will do: on `PATH`, in the usual folders, or named by
//! `server=PATH`. Tests that need a server print that they were skipped if none is installed.
//!
//! # A private server
//! A private server listens on a socket in its own folder alone, runs as user `mysql` if this process is root, and is
//! ended and removed with its folder when the engine is dropped. If this process is killed the server stays; the next
//! private server below the same folder ends and removes it first ([`MysqlTarget::sweep`](bourse_server::ServerTarget::sweep)).
//!
//! # Loading
//! A database `NAME` is loaded into `NAME_bourse_loading`. At the end its tables replace those in `NAME` by one statement,
//! which moves the old ones to `NAME_bourse_old`. Every loaded table has the comment `made by bourse as NAME`. A database that
//! contains a table without it, or a view, routine, event or trigger, is never replaced, and neither are databases of those
//! two names unless a loader made them (`ownership`).
//!
//! Rows are sent to MySQL by `LOAD DATA LOCAL INFILE` if its `local_infile` is on, as on private servers, and otherwise
//! by INSERT statements.
//!
//! Files: `options` and `target` (settings), `statement` and `value` (texts and values in the server's notation),
//! `session` and `loader` (the engine interface), `local` (rows for `LOAD DATA LOCAL INFILE`), `ownership` (databases
//! that may be replaced), `products` (differences of products with the protocol), `server` (private ones), `copy`
//! (snapshots of those), `connect`, `link` (a connection whose waits an interruption ends), `hold` (locks of a
//! database), `describe` (description of the server), `kind` (registration), `status` (counters of the server),
//! `routines` (procedures at the server), `error` (codes), [`cluster`] (several servers as one database).

pub mod cluster;
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

pub use bourse_server::private::Launch;
pub use dialect::DIALECT;
pub use engine::{Mysql, MysqlEngine, open};
pub use kind::KINDS;
pub use options::{Flavour, FlushLog, FlushMethod, GRAMMAR, MysqlOptions, StorageEngine};
pub use server::{InstalledMysql, SERVER_VARIABLE, installed};
pub use target::{MysqlTarget, ServerPlace};
