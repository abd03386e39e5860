//! Registers fjall as an engine.

use crate::FjallEngine;
use bourse_engine::EngineKind;

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    prepares_ms: 1_400,
    ..FjallEngine::kind(
        [
            "fjall",
            "fjall, built in; a key-value store of log-structured merge trees, in a folder",
            "fjall:PATH?persist=sync_data",
        ],
        Some("fjall"),
    )
}];
