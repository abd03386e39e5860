//! Registers Firebird embedded as an engine.

use crate::{GRAMMAR, Options, info, open};
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    scheme: "firebird",
    summary: "Firebird embedded, without a server; its library is loaded at run time; in process, on a file",
    example: "firebird:PATH?sync=full&lock_timeout=1s",
    in_process: Some(InProcess { file_ending: Some("fdb"), memory: false, variant_of: None, is_asked_for: false }),
    starts_s: None,
    loads_rows_s: Some(85_000),
    prepares_ms: 1_300,
    inserts_ms: None,
    version: || {
        let found = info(None).map_err(|error| error.to_string())?;
        Ok(format!("{}, library {}", found.version, found.path.display()))
    },
    available: |target| {
        let named = GRAMMAR.parse(target, Options::DEFAULT).map_err(|error| error.to_string())?.options.library;
        info(named.as_deref()).map(drop).map_err(|error| error.to_string())
    },
    options: || GRAMMAR.help("firebird", &Options::DEFAULT),
    compiled: Vec::new,
    open: |target| Ok(Box::new(open(target)?)),
    cleanup: |_| {},
    crash_sweeps: Some(&["sync=full,off"]),
    faults: Faults::NONE,
    stays_loaded: true,
}];
