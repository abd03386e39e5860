//! MariaDB and MySQL: private servers, and servers that run already.

use super::{Calls, options_of_scheme, running_server};
use bourse_engine_mysql::{Flavour, GRAMMAR, Options, Target, installed};
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

pub(super) const RUNNING: Calls = running_server!(bourse_engine_mysql, "mysql");

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
