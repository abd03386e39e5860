//! Registers FastDB as an engine.

use crate::{FastDbOptions, GRAMMAR, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("fastdb"),
        memory: false,
        variant_of: None,
        is_asked_for: false,
    }),
    prepares_ms: 500,
    available: |target| {
        let named = GRAMMAR.parse(target, FastDbOptions::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    stays_loaded: true,
    ..EngineKind::new(
        [
            "fastdb",
            "FastDB, a main-memory key-value store; its library is loaded at run time",
            "fastdb:PATH?library=FILE&index=hash&commit=precommit",
        ],
        || {
            let found = info(None).map_err(|error| error.to_string())?;
            Ok(format!("library {}", found.display()))
        },
        |scheme| GRAMMAR.help(scheme, &FastDbOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
