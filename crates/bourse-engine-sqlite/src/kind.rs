//! Registers this build of SQLite as an engine.

use crate::describe::PRAGMAS;
use crate::library::SCHEME;
use crate::{GRAMMAR, SqliteOptions, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcessPlaces {
        file_ending: Some(if cfg!(loaded) { "lib.db" } else { "db" }),
        memory: true,
        variant_of: if cfg!(lean) { Some("sqlite") } else { None },
        is_asked_for: cfg!(loaded),
    }),
    loads_rows_s: Some(700_000),
    prepares_ms: 350,
    available,
    compiled,
    crash_sweeps: Some(&["journal=wal,delete", "sync=full,normal,off"]),
    tunes: &[
        "journal=wal,wal&sync=normal,delete,truncate,persist,memory,off",
        "sync=normal,off",
        "page_size=8192,16384,65536",
        "cache=2MiB,256MiB",
        "mmap=1GiB",
        "autocheckpoint=100,10000",
        "locking=exclusive",
        "temp_store=memory",
        "writers=busy,sqlite,one,busy&begin=deferred",
    ],
    statement: |name, value| PRAGMAS.contains(&name).then(|| format!("PRAGMA {name} = {value};")),
    faults_by_preload: true,
    stays_loaded: cfg!(loaded),
    caches_by_session: true,
    ..EngineKind::new(
        [SCHEME, SUMMARY, EXAMPLE],
        version,
        |scheme| GRAMMAR.help(scheme, &SqliteOptions::FILE),
        |target| Ok(Box::new(open(target)?)),
    )
}];

#[cfg(not(any(lean, loaded)))]
const SUMMARY: &str = "SQLite, built in; in process, on a file or in memory";
#[cfg(not(any(lean, loaded)))]
const EXAMPLE: &str = "sqlite:PATH?journal=wal&sync=full, sqlite::memory:";

#[cfg(lean)]
const SUMMARY: &str = "the same SQLite, built with the options that its authors recommend for speed";
#[cfg(lean)]
const EXAMPLE: &str = "sqlite-lean:PATH?journal=wal&sync=full, sqlite-lean::memory:";

#[cfg(loaded)]
const SUMMARY: &str = "any library with SQLite's C interface, loaded at run time: the system's SQLite, another version or build, SQLCipher";
#[cfg(loaded)]
const EXAMPLE: &str = "sqlite+lib:PATH?library=FILE&journal=wal&sync=full, sqlite+lib::memory:?library=FILE";

#[cfg(not(loaded))]
fn version() -> Result<String, String> {
    info().map(|info| info.version.to_owned()).map_err(|error| error.to_string())
}

/// Version of the library that targets without `library=` use, and further facts that identify it.
#[cfg(loaded)]
fn version() -> Result<String, String> {
    let found = info(None).map_err(|error| error.message().to_owned())?;
    let facts = found.facts.iter().map(|(name, value)| format!("{name} {value}"));
    let facts: Vec<_> = facts.chain([format!("source_id {}", found.source_id)]).collect();
    Ok(format!("the system's is {}: {}", found.version, facts.join(", ")))
}

#[cfg(not(loaded))]
fn available(_: &str) -> Result<(), String> {
    Ok(())
}

#[cfg(loaded)]
fn available(target: &str) -> Result<(), String> {
    open(target).map(drop).map_err(|error| error.to_string())
}

fn compiled() -> Vec<String> {
    #[cfg(not(loaded))]
    let info = info();
    #[cfg(loaded)]
    let info = info(None);
    info.map(|info| info.compile_options).unwrap_or_default()
}
