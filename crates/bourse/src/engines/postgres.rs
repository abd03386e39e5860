//! PostgreSQL: private servers, and servers that run already.

use super::{Calls, opened, options_of_scheme};
use bourse_engine_postgres::{GRAMMAR, Options, Target, installed, open, sweep_target};

pub(super) const PRIVATE: Calls = Calls {
    version: || installed(None).map(|installed| installed.version).map_err(|error| error.to_string()),
    available: |target| {
        let target = Target::parse(target).map_err(|error| error.to_string())?;
        installed(target.options.server.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || options_of_scheme(&GRAMMAR, "postgres+private", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const RUNNING: Calls = Calls {
    version: || Ok("client".to_owned()),
    available: |_| Ok(()),
    options: || options_of_scheme(&GRAMMAR, "postgres", &Options::DEFAULT),
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
