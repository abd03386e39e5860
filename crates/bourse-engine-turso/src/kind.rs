//! Registers Turso as an engine.

use crate::{GRAMMAR, TursoOptions, open, version};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces::new(Some("turso"), true)),
    loads_rows_s: Some(30_000),
    prepares_ms: 400,
    tunes: &["journal=mvcc", "sync=normal,off", "cache=2MiB,256MiB", "temp_store=memory"],
    crash_sweeps: Some(&["journal=wal,mvcc", "sync=full,normal,off"]),
    ..EngineKind::new(
        [
            "turso",
            "Turso, SQLite's SQL written anew in Rust, built in; in process, on a file or in memory",
            "turso:PATH?journal=mvcc&sync=full, turso::memory:",
        ],
        version,
        |scheme| GRAMMAR.help(scheme, &TursoOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
