//! MariaDB Galera: private clusters, and clusters that run already.

use super::{Calls, opened, options_of_scheme};
use bourse_engine_galera::{GRAMMAR, Options, Target, installed, open, sweep_target};

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

pub(super) const RUNNING: Calls = Calls {
    version: || Ok("client".to_owned()),
    available: |_| Ok(()),
    options: || options_of_scheme(&GRAMMAR, "galera", &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened(target.split(':').next().unwrap_or_default(), open(target)),
    cleanup: |target| {
        // A target that cannot be read has started no cluster.
        if let Ok(target) = Target::parse(target) {
            sweep_target(&target);
        }
    },
    crashes: None,
    faults: &[],
    stays_loaded: false,
};
