//! MariaDB and MySQL: servers of our own, and such as run already.

use super::Calls;
use crate::failure::Failure;
use bourse_engine::Engine;
use bourse_engine_mysql::{Flavour, OPTIONS, Options, Scope, Target, installed, open, sweep_target};

pub(super) const PRIVATE_MARIADB: Calls =
    Calls { version: || version(Flavour::Mariadb), options: || options(Scope::Private), ..RUNNING };

pub(super) const PRIVATE_MYSQL: Calls =
    Calls { version: || version(Flavour::Mysql), options: || options(Scope::Private), ..RUNNING };

pub(super) const RUNNING: Calls = Calls {
    version: || Ok("client".to_owned()),
    options: || options(Scope::Running),
    compiled: Vec::new,
    open: opened,
    cleanup: |target| {
        // A target that cannot be read has started no server.
        if let Ok(target) = Target::parse(target) {
            sweep_target(&target);
        }
    },
    crashes: None,
};

fn opened(target: &str) -> Result<Box<dyn Engine>, Failure> {
    let engine = open(target).map_err(|error| {
        let scheme = target.split(':').next().unwrap_or_default();
        Failure::usage(error.to_string()).hint(format!("`bourse engines {scheme}` explains every option"))
    })?;
    Ok(Box::new(engine))
}

/// The version of the server that a private target would start.
fn version(flavour: Flavour) -> Result<String, String> {
    let installed = installed(flavour, None).map_err(|error| error.to_string())?;
    let version = installed.version.split('-').next().unwrap_or_default();
    Ok(version.to_owned())
}

fn options(scope: Scope) -> Vec<[String; 4]> {
    OPTIONS
        .iter()
        .filter(|option| option.scope == scope || option.scope == Scope::Any)
        .map(|option| {
            let default = option.shown(&Options::DEFAULT);
            [option.name.to_owned(), option.values.to_owned(), default, option.meaning.to_owned()]
        })
        .collect()
}
