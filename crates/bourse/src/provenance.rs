//! The head of every document that this program writes.

use bourse_record::{Build, Machine, Provenance};

/// The head of a document that begins now, on this machine.
pub(crate) fn provenance(seed: u64) -> Provenance {
    Provenance {
        started_at: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        command: std::env::args().collect(),
        seed,
        build: Build::of(env!("CARGO_PKG_VERSION")),
        machine: Machine::this(),
    }
}
