//! H2, HSQLDB, Derby and MonetDB embedded behind the seam: databases of the Java virtual machine, through JDBC.
//!
//! The machine is a shared library that is loaded into this process at run time; the database's jars are named by the target or
//! the environment. A target such as `jdbc+h2:x.h2?jar=/path/h2.jar` is read by [`open`]; [`GRAMMAR`] has the table of all
//! settings; [`info`] reports whether machine and jars are available, and if not where to get them.
//!
//! The differences between the databases are data: a row of `product`. A call into the machine runs a whole statement: `wire`
//! has the format of parameters and rows, `java/bourse/jdbc/Bridge.java` its other side, which is part of this crate as
//! `Bridge.class`.
//!
//! Files: `options` (settings of a target), `product` (the databases), `machine` (the virtual machine, found and started once),
//! `jars` (class paths), `bridge` (an object in the machine), `connection` (its statements), `wire` (values in, rows out),
//! `error` (kinds of errors), `database` (an open database and its folder), `session`, `loader`, `describe` and `engine` (the
//! seam), `kind` (the engines' registration), `threads` (the machine's own).

mod bridge;
mod connection;
mod database;
mod describe;
mod dialect;
mod engine;
mod error;
mod jars;
mod kind;
mod loader;
mod machine;
mod options;
mod product;
mod session;
mod threads;
mod wire;

pub use engine::{JdbcEngine, open};
pub use jars::{JarsInfo, NotFound, info};
pub use kind::KINDS;
pub use options::{GRAMMAR, JdbcOptions};
