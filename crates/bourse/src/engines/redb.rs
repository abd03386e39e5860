//! redb.

use super::{Calls, opened, options_of};
use bourse_engine_redb::{GRAMMAR, Options, open, version};

pub(super) const CALLS: Calls = Calls {
    version: || Ok(version().to_owned()),
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("redb", open(target)),
    cleanup: |_| {},
};
