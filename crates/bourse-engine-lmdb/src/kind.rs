//! Registers LMDB as an engine.

use crate::{GRAMMAR, Options, open, version};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "lmdb",
    summary: "LMDB, built in; a key-value store in a memory-mapped file",
    example: "lmdb:PATH?sync=full",
    in_process: Some(InProcess { file_ending: Some("lmdb"), memory: false, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: None,
    prepares_ms: 150,
    inserts_ms: None,
    version: || Ok(version()),
    available: |_| Ok(()),
    options: || GRAMMAR.help("lmdb", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: None,
    faults: Faults::BY_PRELOAD,
    stays_loaded: false,
}];
