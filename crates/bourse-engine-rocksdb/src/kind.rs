//! Registers RocksDB as an engine.

use crate::{GRAMMAR, Options, info, open};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "rocksdb",
    summary: "RocksDB, a key-value store of log-structured merge trees, in a folder; its library is loaded at run time",
    example: "rocksdb:PATH?sync=on&bloom=10",
    in_process: Some(InProcess { file_ending: Some("rocksdb"), memory: false, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: None,
    prepares_ms: 900,
    inserts_ms: None,
    version: || {
        let found = info(None).map_err(|error| error.to_string())?;
        Ok(format!("library {}", found.display()))
    },
    available: |target| {
        let named = GRAMMAR.parse(target, Options::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || GRAMMAR.help("rocksdb", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: None,
    faults: Faults::BY_PRELOAD,
    stays_loaded: true,
}];
