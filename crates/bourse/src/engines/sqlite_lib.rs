//! Libraries with SQLite's C interface, loaded at run time.

use super::{Calls, Crashes, opened, options_of};
use bourse_engine_sqlite_lib::{GRAMMAR, Info, Options, info, open, side_file_kind};
use bourse_record::faults::Through;

pub(super) const CALLS: Calls = Calls {
    version: || {
        let found = systems()?;
        let facts = found.facts.iter().map(|(name, value)| format!("{name} {value}"));
        let facts: Vec<_> = facts.chain([format!("source_id {}", found.source_id)]).collect();
        Ok(format!("the system's is {}: {}", found.version, facts.join(", ")))
    },
    available: |target| open(target).map(drop).map_err(|error| error.to_string()),
    options: || options_of(&GRAMMAR, &Options::FILE),
    compiled: || systems().map(|info| info.compile_options).unwrap_or_default(),
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("sqlite+lib", open(target)),
    cleanup: |_| {},
    crashes: Some(Crashes {
        copy: side_file_kind(".bourse-crash", "a copy that crashes may ruin"),
        sweeps: &["journal=wal,delete", "sync=full,normal,off"],
        lossy_disk: Some("disk=lossy"),
        can_be_recorded: false,
        takes_the_lock: false,
    }),
    faults: &[Through::Preload],
    stays_loaded: true,
};

/// The library that targets have which name none.
fn systems() -> Result<Info, String> {
    info(None).map_err(|error| error.message().to_owned())
}
