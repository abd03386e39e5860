//! Registers redb as an engine.

use crate::{GRAMMAR, RedbOptions, open, version};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("redb"),
        memory: true,
        variant_of: None,
        is_asked_for: false,
    }),
    prepares_ms: 250,
    tunes: &["durability=none", "two_phase=on", "cache=64MiB"],
    faults_by_preload: true,
    ..EngineKind::new(
        [
            "redb",
            "redb, built in; a key-value store in a file or in memory",
            "redb:PATH?durability=immediate, redb::memory:",
        ],
        || Ok(version().to_owned()),
        |scheme| GRAMMAR.help(scheme, &RedbOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
