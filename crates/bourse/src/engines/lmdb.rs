//! LMDB.

use super::{Calls, opened, options_of};
use bourse_engine_lmdb::{GRAMMAR, Options, open, version};

pub(super) const CALLS: Calls = Calls {
    version: || Ok(version()),
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("lmdb", open(target)),
    cleanup: |_| {},
};
