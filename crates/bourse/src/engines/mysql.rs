//! MariaDB and MySQL: private servers, and servers that run already.

use super::{Calls, opened, options_of_scheme};
use bourse_engine_mysql::{Flavour, GRAMMAR, Options, Target, installed, open, sweep_target};
use bourse_record::faults::Through;

pub(super) const PRIVATE_MARIADB: Calls = Calls {
    version: || version(Flavour::Mariadb),
    available: |target| available(Flavour::Mariadb, target),
    faults: &[Through::Preload],
    options: || options_of_scheme(&GRAMMAR, "mariadb+private", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const PRIVATE_MYSQL: Calls = Calls {
    version: || version(Flavour::Mysql),
    available: |target| available(Flavour::Mysql, target),
    faults: &[Through::Preload],
    options: || options_of_scheme(&GRAMMAR, "mysql+private", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const RUNNING: Calls = Calls {
    version: || Ok("client".to_owned()),
    available: |_| Ok(()),
    options: || options_of_scheme(&GRAMMAR, "mysql", &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened(target.split(':').next().unwrap_or_default(), open(target)),
    cleanup: |target| {
        // A target that cannot be read has started no server.
        if let Ok(target) = Target::parse(target) {
            sweep_target(&target);
        }
    },
    crashes: None,
    faults: &[],
    stays_loaded: false,
};

/// Whether the server that a private target would start is installed.
fn available(flavour: Flavour, target: &str) -> Result<(), String> {
    let target = Target::parse(target).map_err(|error| error.to_string())?;
    installed(flavour, target.options.server.as_deref()).map(drop).map_err(|error| error.to_string())
}

/// The version of the server that a private target would start.
fn version(flavour: Flavour) -> Result<String, String> {
    let installed = installed(flavour, None).map_err(|error| error.to_string())?;
    let version = installed.version.split('-').next().unwrap_or_default();
    Ok(version.to_owned())
}
