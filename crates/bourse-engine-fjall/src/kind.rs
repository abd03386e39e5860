//! Registers fjall as an engine.

use crate::{GRAMMAR, Options, open, version};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "fjall",
    summary: "fjall, built in; a key-value store of log-structured merge trees, in a folder",
    example: "fjall:PATH?persist=sync_data",
    in_process: Some(InProcess { file_ending: Some("fjall"), memory: false, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: None,
    prepares_ms: 1_400,
    inserts_ms: None,
    version: || Ok(version().to_owned()),
    available: |_| Ok(()),
    options: || GRAMMAR.help("fjall", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: None,
    faults: Faults::NONE,
    stays_loaded: false,
}];
