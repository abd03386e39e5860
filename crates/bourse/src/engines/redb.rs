//! redb.

use super::{Calls, opened, options_of};
use bourse_engine_redb::{GRAMMAR, Options, open, version};
use bourse_record::faults::Through;

pub(super) const CALLS: Calls = Calls {
    version: || Ok(version().to_owned()),
    available: |_| Ok(()),
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("redb", open(target)),
    cleanup: |_| {},
    crashes: None,
    faults: &[Through::Preload, Through::Storage],
    stays_loaded: false,
};
