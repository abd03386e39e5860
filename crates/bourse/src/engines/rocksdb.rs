//! RocksDB.

use super::{Calls, opened, options_of};
use bourse_engine_rocksdb::{GRAMMAR, Options, info, open};

pub(super) const CALLS: Calls = Calls {
    version: || {
        let found = info(None).map_err(|error| error.to_string())?;
        Ok(format!("library {}", found.path.display()))
    },
    available: |target| {
        let named = GRAMMAR.parse(target, Options::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("rocksdb", open(target)),
    cleanup: |_| {},
    crashes: None,
    faults: &[],
    stays_loaded: true,
};
