//! Registers LevelDB as an engine.

use crate::leveldb::{GRAMMAR, LevelDbOptions, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// LevelDB.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some("leveldb"),
        memory: false,
        variant_of: None,
        is_asked_for: false,
    }),
    available: |target| {
        let named = GRAMMAR.parse(target, LevelDbOptions::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    tunes: &["sync=off", "cache=8MiB,256MiB", "write_buffer=16MiB,64MiB", "bloom=10", "compression=off"],
    faults_by_preload: true,
    stays_loaded: true,
    ..EngineKind::new(
        [
            "leveldb",
            "LevelDB, a key-value store of log-structured merge trees, in a folder; its library is loaded at run time",
            "leveldb:PATH?sync=on&bloom=10",
        ],
        || {
            let (path, version) = info(None).map_err(|error| error.to_string())?;
            Ok(format!("{version}, library {}", path.display()))
        },
        |scheme| GRAMMAR.help(scheme, &LevelDbOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
}];
