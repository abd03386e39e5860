//! Registers Firebird embedded as an engine.

use crate::{FirebirdOptions, GRAMMAR, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces::new(Some("fdb"), false)),
    loads_rows_s: Some(85_000),
    prepares_ms: 1_300,
    available: |target| {
        let named = GRAMMAR.parse(target, FirebirdOptions::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    crash_sweeps: Some(&["sync=full,off"]),
    stays_loaded: true,
    ..EngineKind::new(
        [
            "firebird",
            "Firebird embedded, without a server; its library is loaded at run time; in process, on a file",
            "firebird:PATH?sync=full&lock_timeout=1s",
        ],
        || {
            let found = info(None).map_err(|error| error.to_string())?;
            Ok(format!("{}, library {}", found.version, found.path.display()))
        },
        |scheme| GRAMMAR.help(scheme, &FirebirdOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
