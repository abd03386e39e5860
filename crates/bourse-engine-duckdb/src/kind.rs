//! Registers DuckDB as an engine.

use crate::{GRAMMAR, Options, info, open};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "duckdb",
    summary: "DuckDB, an analytical database in process; its library is loaded at run time",
    example: "duckdb:PATH?library=FILE&writers=one, duckdb::memory:",
    in_process: Some(InProcess { file_ending: Some("duckdb"), memory: true, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: Some(370_000),
    prepares_ms: 600,
    inserts_ms: Some(9_500),
    version: || {
        let found = info(None).map_err(|error| error.to_string())?;
        Ok(format!("{}, library {}", found.version, found.path.display()))
    },
    available: |target| {
        let named = GRAMMAR.parse(target, Options::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || GRAMMAR.help("duckdb", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: Some(&[]),
    faults: Faults::BY_PRELOAD,
    stays_loaded: true,
}];
