//! SQLite as it comes.

use super::{Calls, Crashes, opened, options_of};
use bourse_engine_sqlite::{GRAMMAR, Options, info, open, side_file_kind};
use bourse_record::faults::Through;

pub(super) const CALLS: Calls = Calls {
    version: || info().map(|info| info.version.to_owned()).map_err(|error| error.to_string()),
    available: |_| Ok(()),
    options: || options_of(&GRAMMAR, &Options::FILE),
    compiled: || info().map(|info| info.compile_options).unwrap_or_default(),
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("sqlite", open(target)),
    cleanup: |_| {},
    crashes: Some(Crashes {
        copy: side_file_kind(".bourse-crash", "a copy that crashes may ruin"),
        sweeps: &["journal=wal,delete", "sync=full,normal,off"],
        lossy_disk: Some("disk=lossy"),
        can_be_recorded: true,
        takes_the_lock: false,
    }),
    faults: &[Through::Preload],
    stays_loaded: false,
};
