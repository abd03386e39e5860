//! Registers MariaDB, MySQL and products with their protocol as engines: private servers, and running servers.

use crate::{Flavour, GRAMMAR, Options, Target, installed, open, sweep_target};
use bourse_engine::EngineKind;

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        scheme: "mariadb+private",
        summary: "MariaDB, a private server, started for the run and removed after it",
        example: "mariadb+private:?ram=on, mariadb+private:DIRECTORY?flush_log=2",
        starts_s: Some(2),
        version: || version(Flavour::Mariadb),
        available: |target| available(Flavour::Mariadb, target),
        options: || GRAMMAR.help("mariadb+private", &Options::DEFAULT),
        faults_by_preload: true,
        ..RUNNING
    },
    EngineKind {
        scheme: "mysql+private",
        summary: "MySQL, a private server, started for the run and removed after it",
        example: "mysql+private:?ram=on&server=PATH",
        starts_s: Some(6),
        version: || version(Flavour::Mysql),
        available: |target| available(Flavour::Mysql, target),
        options: || GRAMMAR.help("mysql+private", &Options::DEFAULT),
        faults_by_preload: true,
        ..RUNNING
    },
    EngineKind {
        scheme: "tidb+private",
        summary: "TiDB on its built-in storage, a private server, started for the run and removed after it",
        example: "tidb+private:, tidb+private:?server=PATH",
        starts_s: Some(4),
        version: || version(Flavour::Tidb),
        available: |target| available(Flavour::Tidb, target),
        options: || GRAMMAR.help("tidb+private", &Options::DEFAULT),
        ..RUNNING
    },
    EngineKind {
        scheme: "vitess+private",
        summary: "Vitess in one process with a MySQL server, private, started for the run and removed after it",
        example: "vitess+private:, vitess+private:?server=PATH",
        starts_s: Some(8),
        version: || version(Flavour::Vitess),
        available: |target| available(Flavour::Vitess, target),
        options: || GRAMMAR.help("vitess+private", &Options::DEFAULT),
        ..RUNNING
    },
    EngineKind {
        scheme: "mariadb",
        summary: "MariaDB, a running server",
        example: "mariadb://USER@HOST:PORT/DATABASE",
        options: || GRAMMAR.help("mariadb", &Options::DEFAULT),
        ..RUNNING
    },
    RUNNING,
];

/// A server that already runs.
const RUNNING: EngineKind = EngineKind {
    loads_rows_s: Some(70_000),
    cleanup: |target| {
        // A target that cannot be read has started no server.
        if let Ok(target) = Target::parse(target) {
            sweep_target(&target);
        }
    },
    ..EngineKind::new(
        ["mysql", "MySQL, a running server", "mysql://USER@HOST:PORT/DATABASE, mysql://USER@HOST,HOST/DATABASE"],
        || Ok("client".to_owned()),
        || GRAMMAR.help("mysql", &Options::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
};

/// Whether the server that a private target would start is installed.
fn available(flavour: Flavour, target: &str) -> Result<(), String> {
    let target = Target::parse(target).map_err(|error| error.to_string())?;
    installed(flavour, target.options.server.as_deref()).map(drop).map_err(|error| error.to_string())
}

/// Version of the server that a private target would start.
fn version(flavour: Flavour) -> Result<String, String> {
    let installed = installed(flavour, None).map_err(|error| error.to_string())?;
    let version = installed.version.split('-').next().unwrap_or_default();
    Ok(version.to_owned())
}
