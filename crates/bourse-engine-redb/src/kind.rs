//! Registers redb as an engine.

use crate::RedbEngine;
use bourse_engine::EngineKind;

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    prepares_ms: 250,
    tunes: &["durability=none", "two_phase=on", "cache=64MiB"],
    faults_by_preload: true,
    ..RedbEngine::kind(
        [
            "redb",
            "redb, built in; a key-value store in a file or in memory",
            "redb:PATH?durability=immediate, redb::memory:",
        ],
        Some("redb"),
    )
}];
