//! Registers redb as an engine.

use crate::{GRAMMAR, Options, open, open_watched, version};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "redb",
    summary: "redb, built in; a key-value store in a file or in memory",
    example: "redb:PATH?durability=immediate, redb::memory:",
    in_process: Some(InProcess { file_ending: Some("redb"), memory: true, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: None,
    prepares_ms: 250,
    inserts_ms: None,
    version: || Ok(version().to_owned()),
    available: |_| Ok(()),
    options: || GRAMMAR.help("redb", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: None,
    faults: Faults { by_preload: true, on_storage: Some(|target| Ok(Box::new(open_watched(target)?))) },
    stays_loaded: false,
}];
