//! Registers FastDB as an engine.

use crate::FastDbEngine;
use bourse_engine::EngineKind;

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    prepares_ms: 500,
    ..FastDbEngine::kind(
        [
            "fastdb",
            "FastDB, a main-memory key-value store; its library is loaded at run time",
            "fastdb:PATH?library=FILE&index=hash&commit=precommit",
        ],
        Some("fastdb"),
    )
}];
