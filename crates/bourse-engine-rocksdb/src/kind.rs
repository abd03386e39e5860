//! Registers RocksDB as an engine.

use crate::{GRAMMAR, RocksDbOptions, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("rocksdb"),
        memory: false,
        variant_of: None,
        is_asked_for: false,
    }),
    prepares_ms: 900,
    available: |target| {
        let named = GRAMMAR.parse(target, RocksDbOptions::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
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
    stays_loaded: true,
    ..EngineKind::new(
        [
            "rocksdb",
            "RocksDB, a key-value store of log-structured merge trees, in a folder; its library is loaded at run time",
            "rocksdb:PATH?sync=on&bloom=10",
        ],
        || {
            let found = info(None).map_err(|error| error.to_string())?;
            Ok(format!("library {}", found.display()))
        },
        |scheme| GRAMMAR.help(scheme, &RocksDbOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
