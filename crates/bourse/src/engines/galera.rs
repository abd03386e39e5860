//! MariaDB Galera: private clusters, and clusters that run already.

use super::{Calls, options_of_scheme, running_server};
use bourse_engine_cluster::{GRAMMAR, Options, Target, installed};

pub(super) const PRIVATE: Calls = Calls {
    version: || {
        let found = installed(&Options::DEFAULT).map_err(|error| error.to_string())?;
        let version = found.server.version.split('-').next().unwrap_or_default();
        Ok(format!("MariaDB {version}, library {}", found.provider.display()))
    },
    available: |target| {
        let target = Target::parse(target).map_err(|error| error.to_string())?;
        installed(&target.options).map(drop).map_err(|error| error.to_string())
    },
    options: || options_of_scheme(&GRAMMAR, "mariadb+galera", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const RUNNING: Calls = running_server!(bourse_engine_cluster, "galera");
