//! Turso.

use super::{Calls, Crashes, opened, options_of};
use bourse_engine_turso::{GRAMMAR, Options, open, side_file_kind, version};

pub(super) const CALLS: Calls = Calls {
    version,
    available: |_| Ok(()),
    options: || options_of(&GRAMMAR, &Options::DEFAULT),
    compiled: Vec::new,
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("turso", open(target)),
    cleanup: |_| {},
    crashes: Some(Crashes {
        copy: side_file_kind(".bourse-crash", "a copy that crashes may ruin"),
        sweeps: &["journal=wal,mvcc", "sync=full,normal,off"],
        lossy_disk: None,
        can_be_recorded: false,
        takes_the_lock: false,
    }),
    faults: &[],
    stays_loaded: false,
};
