//! Registers RocksDB as an engine.

use crate::RocksDbEngine;
use bourse_engine::EngineKind;

/// Engines of this crate, but those of its modules.
pub static KINDS: &[EngineKind] = &[EngineKind {
    prepares_ms: 900,
    tunes: &[
        "sync=off",
        "wal=off",
        "cache=8MiB,256MiB",
        "write_buffer=16MiB,256MiB",
        "bloom=10",
        "compression=none,lz4,zstd",
        "jobs=1,4",
    ],
    faults_by_preload: true,
    ..RocksDbEngine::kind(
        [
            "rocksdb",
            "RocksDB, a key-value store of log-structured merge trees, in a folder; its library is loaded at run time",
            "rocksdb:PATH?sync=on&bloom=10",
        ],
        Some("rocksdb"),
    )
}];
