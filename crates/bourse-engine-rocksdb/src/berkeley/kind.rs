//! Registers Berkeley DB as an engine.

use crate::berkeley::BerkeleyEngine;
use bourse_engine::EngineKind;

/// Engine of this module.
pub static KINDS: &[EngineKind] = &[EngineKind {
    tunes: &["sync=off", "cache=16MiB,256MiB"],
    faults_by_preload: true,
    ..BerkeleyEngine::kind(
        [
            "berkeleydb",
            "Berkeley DB by its own interface, B-trees with a log and page locks, in a folder; its library is loaded at run time",
            "berkeleydb:PATH?sync=on",
        ],
        Some("bdb"),
    )
}];
