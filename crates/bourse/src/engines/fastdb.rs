//! FastDB.

use super::{Calls, opened, options_of};
use bourse_engine_fastdb::{GRAMMAR, Options, info, open};

pub(super) const CALLS: Calls = Calls {
    version: || {
        let found = info(None).map_err(|error| error.to_string())?;
        Ok(format!("library {}", found.path.display()))
    },
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("fastdb", open(target)),
    cleanup: |_| {},
};
