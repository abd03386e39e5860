//! DuckDB.

use super::{Calls, Crashes, opened, options_of};
use bourse_engine_duckdb::{GRAMMAR, Options, info, open, side_file_kind};

pub(super) const CALLS: Calls = Calls {
    version: || {
        let found = info(None).map_err(|error| error.to_string())?;
        Ok(format!("{}, library {}", found.version, found.path.display()))
    },
    available: |target| {
        let named = GRAMMAR.parse(target, Options::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("duckdb", open(target)),
    cleanup: |_| {},
    crashes: Some(Crashes {
        copy: side_file_kind(".bourse-crash", "a copy that crashes may ruin"),
        sweeps: &[],
        lossy_disk: None,
        can_be_recorded: false,
        takes_the_lock: false,
    }),
    faults: &[],
    stays_loaded: true,
};
