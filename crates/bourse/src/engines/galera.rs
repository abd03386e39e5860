//! MariaDB Galera and MySQL Group Replication: private clusters, and clusters that run already.

use super::{Calls, options_of_scheme, running_server};
use bourse_engine_cluster::{GRAMMAR, Options, Product, Target, installed};

pub(super) const PRIVATE: Calls = Calls {
    version: || version(Product::Galera),
    available,
    options: || options_of_scheme(&GRAMMAR, "mariadb+galera", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const PRIVATE_GROUP: Calls = Calls {
    version: || version(Product::Group),
    available,
    options: || options_of_scheme(&GRAMMAR, "mysql+group", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const RUNNING_GROUP: Calls = running_server!(bourse_engine_cluster, "group");

/// The version of the servers that a private cluster would start.
fn version(product: Product) -> Result<String, String> {
    let found = installed(product, &Options::DEFAULT).map_err(|error| error.to_string())?;
    let version = found.server.version.split('-').next().unwrap_or_default();
    Ok(match found.provider {
        Some(library) => format!("MariaDB {version}, library {}", library.display()),
        None => format!("MySQL {version}"),
    })
}

/// Whether what a private cluster would start is installed.
fn available(target: &str) -> Result<(), String> {
    let target = Target::parse(target).map_err(|error| error.to_string())?;
    installed(target.product, &target.options).map(drop).map_err(|error| error.to_string())
}

pub(super) const RUNNING: Calls = running_server!(bourse_engine_cluster, "galera");
