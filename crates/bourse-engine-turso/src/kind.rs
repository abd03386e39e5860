//! Registers Turso as an engine.

use crate::{GRAMMAR, Options, open, version};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "turso",
    summary: "Turso, SQLite's SQL written anew in Rust, built in; in process, on a file or in memory",
    example: "turso:PATH?journal=mvcc&sync=full, turso::memory:",
    in_process: Some(InProcess { file_ending: Some("turso"), memory: true, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: Some(30_000),
    prepares_ms: 400,
    inserts_ms: None,
    version,
    available: |_| Ok(()),
    options: || GRAMMAR.help("turso", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: Some(&["journal=wal,mvcc", "sync=full,normal,off"]),
    faults: Faults::NONE,
    stays_loaded: false,
}];
