//! fjall.

use super::{Calls, opened, options_of};
use bourse_engine_fjall::{GRAMMAR, Options, open, version};

pub(super) const CALLS: Calls = Calls {
    version: || Ok(version().to_owned()),
    available: |_| Ok(()),
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("fjall", open(target)),
    cleanup: |_| {},
    crashes: None,
    faults: &[],
    stays_loaded: false,
};
