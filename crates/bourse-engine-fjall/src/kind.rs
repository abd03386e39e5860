//! Registers fjall as an engine.

use crate::{FjallOptions, GRAMMAR, open, version};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("fjall"),
        memory: false,
        variant_of: None,
        is_asked_for: false,
    }),
    prepares_ms: 1_400,
    ..EngineKind::new(
        [
            "fjall",
            "fjall, built in; a key-value store of log-structured merge trees, in a folder",
            "fjall:PATH?persist=sync_data",
        ],
        || Ok(version().to_owned()),
        |scheme| GRAMMAR.help(scheme, &FjallOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
