//! LMDB.

use super::{Calls, opened, options_of};
use bourse_engine_lmdb::{GRAMMAR, Options, open, version};
use bourse_record::faults::Through;

pub(super) const CALLS: Calls = Calls {
    version: || Ok(version()),
    available: |_| Ok(()),
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("lmdb", open(target)),
    cleanup: |_| {},
    crashes: None,
    faults: &[Through::Preload],
    stays_loaded: false,
};
