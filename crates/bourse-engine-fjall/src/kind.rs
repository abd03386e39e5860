//! Registers fjall as an engine.

use crate::{GRAMMAR, Options, open, version};
use bourse_engine::{EngineKind, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcess { file_ending: Some("fjall"), memory: false, variant_of: None, is_asked_for: false }),
    prepares_ms: 1_400,
    ..EngineKind::new(
        [
            "fjall",
            "fjall, built in; a key-value store of log-structured merge trees, in a folder",
            "fjall:PATH?persist=sync_data",
        ],
        || Ok(version().to_owned()),
        || GRAMMAR.help("fjall", &Options::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
