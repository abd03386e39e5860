//! Registers LevelDB as an engine.

use crate::leveldb::LevelDbEngine;
use bourse_engine::EngineKind;

/// Engine of this module.
pub static KINDS: &[EngineKind] = &[EngineKind {
    tunes: &["sync=off", "cache=8MiB,256MiB", "write_buffer=16MiB,64MiB", "bloom=10", "compression=off"],
    faults_by_preload: true,
    ..LevelDbEngine::kind(
        [
            "leveldb",
            "LevelDB, a key-value store of log-structured merge trees, in a folder; its library is loaded at run time",
            "leveldb:PATH?sync=on&bloom=10",
        ],
        Some("leveldb"),
    )
}];
