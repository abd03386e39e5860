//! Registers MariaDB, MySQL and products with their protocol as engines: private servers, and running servers.

use crate::engine::Mysql;
use crate::{Flavour, GRAMMAR, MysqlOptions, installed, open};
use bourse_engine::EngineKind;
use bourse_server::{available, cleanup};

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        scheme: "mariadb+private",
        summary: "MariaDB, a private server, started for the run and removed after it",
        example: "mariadb+private:?ram=on, mariadb+private:DIRECTORY?flush_log=2",
        starts_s: Some(2),
        version: || version(Flavour::Mariadb),
        available: available::<Mysql>,
        faults_by_preload: true,
        tunes: TUNES,
        ..RUNNING
    },
    EngineKind {
        scheme: "mysql+private",
        summary: "MySQL, a private server, started for the run and removed after it",
        example: "mysql+private:?ram=on&server=PATH",
        starts_s: Some(6),
        version: || version(Flavour::Mysql),
        available: available::<Mysql>,
        faults_by_preload: true,
        tunes: TUNES,
        ..RUNNING
    },
    EngineKind {
        scheme: "tidb+private",
        summary: "TiDB on its built-in storage, a private server, started for the run and removed after it",
        example: "tidb+private:, tidb+private:?server=PATH",
        starts_s: Some(4),
        version: || version(Flavour::Tidb),
        available: available::<Mysql>,
        ..RUNNING
    },
    EngineKind {
        scheme: "vitess+private",
        summary: "Vitess in one process with a MySQL server, private, started for the run and removed after it",
        example: "vitess+private:, vitess+private:?server=PATH",
        starts_s: Some(8),
        version: || version(Flavour::Vitess),
        available: available::<Mysql>,
        ..RUNNING
    },
    EngineKind {
        scheme: "mariadb",
        summary: "MariaDB, a running server",
        example: "mariadb://USER@HOST:PORT/DATABASE",
        ..RUNNING
    },
    RUNNING,
];

/// Options of a private server that `tune` varies.
const TUNES: &[&str] = &[
    "flush_log=0,2",
    "flush_method=fsync,o_direct",
    "doublewrite=off",
    "innodb_buffer_pool=128MiB",
    "log_file=64MiB,1GiB",
];

/// A server that already runs.
const RUNNING: EngineKind = EngineKind {
    loads_rows_s: Some(70_000),
    cleanup: cleanup::<Mysql>,
    ..EngineKind::new(
        ["mysql", "MySQL, a running server", "mysql://USER@HOST:PORT/DATABASE, mysql://USER@HOST,HOST/DATABASE"],
        || Ok("client".to_owned()),
        |scheme| GRAMMAR.help(scheme, &MysqlOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
};

/// Version of the server that a private target would start.
fn version(flavour: Flavour) -> Result<String, String> {
    let installed = installed(flavour, None).map_err(|error| error.to_string())?;
    let version = installed.version.split('-').next().unwrap_or_default();
    Ok(version.to_owned())
}
