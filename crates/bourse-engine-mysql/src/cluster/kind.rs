//! Registers MariaDB Galera and MySQL Group Replication: private clusters, and clusters that run already.

use crate::cluster::{ClusterOptions, ClusterProduct, ClusterTarget, GRAMMAR, installed, open, sweep_target};
use bourse_engine::EngineKind;

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        scheme: "mariadb+galera",
        summary: "MariaDB Galera, a private cluster on this machine, started for the run and removed after it",
        example: "mariadb+galera:?nodes=3&ram=on, mariadb+galera:DIRECTORY?flush_log=2",
        starts_s: Some(10),
        version: || version(ClusterProduct::Galera),
        available,
        ..RUNNING
    },
    RUNNING,
    EngineKind {
        scheme: "mysql+group",
        summary: "MySQL Group Replication, a private cluster on this machine, started for the run and removed after it",
        example: "mysql+group:?nodes=3&ram=on, mysql+group:DIRECTORY?flush_log=2",
        starts_s: Some(20),
        version: || version(ClusterProduct::Group),
        available,
        ..RUNNING
    },
    EngineKind {
        scheme: "group",
        summary: "MySQL Group Replication, a running cluster",
        example: "group://USER@HOST:PORT,HOST:PORT,HOST:PORT/DATABASE",
        ..RUNNING
    },
];

/// Properties of clusters that run already.
const RUNNING: EngineKind = EngineKind {
    loads_rows_s: Some(70_000),
    prepares_ms: 1_500,
    cleanup: |target| {
        // A target that cannot be read has started no server.
        if let Ok(target) = ClusterTarget::parse(target) {
            sweep_target(&target);
        }
    },
    ..EngineKind::new(
        ["galera", "MariaDB Galera, a running cluster", "galera://USER@HOST:PORT,HOST:PORT,HOST:PORT/DATABASE"],
        || Ok("client".to_owned()),
        |scheme| GRAMMAR.help(scheme, &ClusterOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
};

/// Version of the servers that a private cluster would start.
fn version(product: ClusterProduct) -> Result<String, String> {
    let found = installed(product, &ClusterOptions::DEFAULT).map_err(|error| error.to_string())?;
    let version = found.server.version.split('-').next().unwrap_or_default();
    Ok(match found.provider {
        Some(library) => format!("{version}, library {}", library.display()),
        None => version.to_owned(),
    })
}

/// Checks whether the software of a private cluster is installed.
fn available(target: &str) -> Result<(), String> {
    let target = ClusterTarget::parse(target).map_err(|error| error.to_string())?;
    installed(target.product, &target.options).map(drop).map_err(|error| error.to_string())
}
