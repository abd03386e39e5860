//! Registers LMDB as an engine.

use crate::LmdbEngine;
use bourse_engine::EngineKind;

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    prepares_ms: 150,
    tunes: &["sync=meta,off", "writemap=on"],
    faults_by_preload: true,
    caches_by_session: true,
    ..LmdbEngine::kind(
        ["lmdb", "LMDB, built in; a key-value store in a memory-mapped file", "lmdb:PATH?sync=full"],
        Some("lmdb"),
    )
}];
