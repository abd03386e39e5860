//! PostgreSQL: private servers, and servers that run already.

use super::{Calls, options_of_scheme, running_server};
use bourse_engine_postgres::{GRAMMAR, Options, Target, installed};
use bourse_record::faults::Through;

pub(super) const PRIVATE: Calls = Calls {
    faults: &[Through::Preload],
    version: || installed(None).map(|installed| installed.version).map_err(|error| error.to_string()),
    available: |target| {
        let target = Target::parse(target).map_err(|error| error.to_string())?;
        installed(target.options.server.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || options_of_scheme(&GRAMMAR, "postgres+private", &Options::DEFAULT),
    ..RUNNING
};

pub(super) const RUNNING: Calls = running_server!(bourse_engine_postgres, "postgres");
