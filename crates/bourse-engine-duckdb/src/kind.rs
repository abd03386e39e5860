//! Registers DuckDB as an engine.

use crate::{DuckDbOptions, GRAMMAR, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces::new(Some("duckdb"), true)),
    loads_rows_s: Some(370_000),
    prepares_ms: 600,
    inserts_ms: Some(9_500),
    available: |target| {
        let named = GRAMMAR.parse(target, DuckDbOptions::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    crash_sweeps: Some(&[]),
    tunes: &["writers=one", "threads=1", "checkpoint_threshold=1MiB,256MiB"],
    faults_by_preload: true,
    stays_loaded: true,
    ..EngineKind::new(
        [
            "duckdb",
            "DuckDB, an analytical database in process; its library is loaded at run time",
            "duckdb:PATH?library=FILE&writers=one, duckdb::memory:",
        ],
        || {
            let found = info(None).map_err(|error| error.to_string())?;
            Ok(format!("{}, library {}", found.version, found.path.display()))
        },
        |scheme| GRAMMAR.help(scheme, &DuckDbOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
