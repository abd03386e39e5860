//! Registers LMDB as an engine.

use crate::{GRAMMAR, LmdbOptions, open, version};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("lmdb"),
        memory: false,
        variant_of: None,
        is_asked_for: false,
    }),
    prepares_ms: 150,
    tunes: &["sync=meta,off", "writemap=on"],
    faults_by_preload: true,
    caches_by_session: true,
    ..EngineKind::new(
        ["lmdb", "LMDB, built in; a key-value store in a memory-mapped file", "lmdb:PATH?sync=full"],
        || Ok(version()),
        |scheme| GRAMMAR.help(scheme, &LmdbOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
