//! Registers Berkeley DB as an engine.

use crate::berkeley::{BerkeleyOptions, GRAMMAR, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Berkeley DB.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("bdb"),
        memory: false,
        variant_of: None,
        is_asked_for: false,
    }),
    available: |target| {
        let named = GRAMMAR.parse(target, BerkeleyOptions::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    tunes: &["sync=off", "cache=16MiB,256MiB"],
    faults_by_preload: true,
    stays_loaded: true,
    ..EngineKind::new(
        [
            "berkeleydb",
            "Berkeley DB by its own interface, B-trees with a log and page locks, in a folder; its library is loaded at run time",
            "berkeleydb:PATH?sync=on",
        ],
        || {
            let (path, version) = info(None).map_err(|error| error.to_string())?;
            Ok(format!("{version}, library {}", path.display()))
        },
        |scheme| GRAMMAR.help(scheme, &BerkeleyOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
