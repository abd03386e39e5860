//! The head of every document that this program writes.

use bourse_record::{Build, Machine, Provenance};
use std::sync::OnceLock;

/// Commit of these sources, as the build script found it.
const COMMIT: &str = env!("BOURSE_COMMIT");
/// Placeholder if the sources are not in a repository of Bourse.
const UNKNOWN: &str = "unknown";

/// Version and commit of this program, as `--version` prints them.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("BOURSE_COMMIT"), ")");

/// Revision of the measured software, if one was given.
static REVISION: OnceLock<Option<String>> = OnceLock::new();

/// Stores the given revision, for every document of this process.
pub(crate) fn set_revision(revision: Option<String>) {
    // A file of options is read after the command line, which wins.
    let _ = REVISION.set(revision.filter(|it| !it.is_empty()));
}

/// The head of a document that begins now, on this machine.
pub(crate) fn provenance(seed: u64) -> Provenance {
    Provenance {
        started_at: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        seed,
        build: Build { commit: (COMMIT != UNKNOWN).then(|| COMMIT.to_owned()), ..Build::of(env!("CARGO_PKG_VERSION")) },
        machine: Machine::this(),
        revision: REVISION.get().cloned().flatten(),
    }
}
