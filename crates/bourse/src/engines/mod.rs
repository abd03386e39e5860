//! The engines of this program: from a target's URL to an open engine.
//!
//! Each engine is described in its crate, in a list `KINDS`. Each crate but SQLite's is a Cargo feature and a line of
//! [`CRATES`]. A crate that is left out of a build is listed all the same, with the feature that includes it.

use crate::failure::{Failure, Result};
use crate::tpce::DATA_FOLDER;
use bourse_driver::SECOND;
use bourse_engine::target::TargetError;
use bourse_engine::{Capabilities, Engine, EngineKind, Location, nearest};
#[cfg(feature = "example")]
use bourse_testkit::example_engine;
use std::path::Path;

/// A crate with engines.
struct EngineCrate {
    /// Cargo feature of the crate; `None` if every build has it.
    feature: Option<&'static str>,
    /// URL schemes of its engines, also known to builds that leave the crate out.
    schemes: &'static [&'static str],
    /// Its engines, if it is part of this build.
    kinds: Option<&'static [EngineKind]>,
}

/// The line of a crate: its feature, its name, the schemes of its engines in their order.
macro_rules! engines {
    ($feature:literal, $($engine:ident)::+, $schemes:expr) => {
        EngineCrate {
            feature: Some($feature),
            schemes: &$schemes,
            #[cfg(feature = $feature)]
            kinds: Some($($engine)::+::KINDS),
            #[cfg(not(feature = $feature))]
            kinds: None,
        }
    };
    ($engine:ident, $schemes:expr) => {
        EngineCrate { feature: None, schemes: &$schemes, kinds: Some($engine::KINDS) }
    };
}

/// Every engine. The first is the default engine.
static CRATES: &[EngineCrate] = &[
    engines!(bourse_engine_sqlite, ["sqlite"]),
    engines!("sqlite-lean", bourse_engine_sqlite_lean, ["sqlite-lean"]),
    engines!("sqlite-lib", bourse_engine_sqlite_lib, ["sqlite+lib"]),
    engines!("turso", bourse_engine_turso, ["turso"]),
    engines!(
        "mysql",
        bourse_engine_mysql,
        ["mariadb+private", "mysql+private", "tidb+private", "vitess+private", "mariadb", "mysql"]
    ),
    engines!("mysql", bourse_engine_mysql::cluster, ["mariadb+galera", "galera", "mysql+group", "group"]),
    engines!("postgres", bourse_engine_postgres, ["postgres+private", "postgres"]),
    engines!("duckdb", bourse_engine_duckdb, ["duckdb"]),
    engines!("firebird", bourse_engine_firebird, ["firebird"]),
    engines!("jdbc", bourse_engine_jdbc, ["jdbc+h2", "jdbc+hsqldb", "jdbc+derby", "jdbc+monetdb"]),
    engines!("fastdb", bourse_engine_fastdb, ["fastdb"]),
    engines!("lmdb", bourse_engine_lmdb, ["lmdb"]),
    engines!("redb", bourse_engine_redb, ["redb"]),
    engines!("fjall", bourse_engine_fjall, ["fjall"]),
    engines!("redis", bourse_engine_redis, ["redis+private", "valkey+private", "redis", "valkey"]),
    engines!("rocksdb", bourse_engine_rocksdb, ["rocksdb"]),
    engines!("rocksdb", bourse_engine_rocksdb::leveldb, ["leveldb"]),
    engines!("rocksdb", bourse_engine_rocksdb::berkeley, ["berkeleydb"]),
    // Proof in a test that an engine takes one line; useless to users.
    #[cfg(feature = "example")]
    engines!("example", example_engine, ["example"]),
    engines!(bourse_engine, ["files", "null"]),
];

impl EngineCrate {
    /// Instruction for a build that includes it.
    fn left_out(&self) -> String {
        let feature = self.feature.unwrap_or_default();
        format!("left out of this build: `cargo install --path crates/bourse --features {feature}` has it")
    }
}

/// URL schemes of targets, without the colon, including those of engines that this build leaves out.
pub(crate) fn schemes() -> impl Iterator<Item = &'static str> {
    CRATES.iter().flat_map(|it| it.schemes).copied()
}

/// The engines of this build.
pub(crate) fn kinds() -> impl Iterator<Item = &'static EngineKind> {
    CRATES.iter().filter_map(|it| it.kinds).flatten()
}

/// The engine of a scheme, or the instruction for a build that has it; `None` if there is no such engine.
pub(crate) fn of_scheme(scheme: &str) -> Option<Result<&'static EngineKind, String>> {
    let of = CRATES.iter().find(|it| it.schemes.contains(&scheme))?;
    let kind = of.kinds.into_iter().flatten().find(|kind| kind.scheme == scheme);
    Some(kind.ok_or_else(|| of.left_out()))
}

/// The engine that a target names, if this build has it.
pub(crate) fn kind_of(target: &str) -> Option<&'static EngineKind> {
    of_scheme(target.split_once(':')?.0)?.ok()
}

/// Engines that this build leaves out, by crate, with the instruction for a build that includes them.
pub(crate) fn left_out() -> impl Iterator<Item = String> {
    CRATES.iter().filter(|it| it.kinds.is_none()).map(|it| format!("{}: {}", it.schemes.join(", "), it.left_out()))
}

/// Its version on this machine, or the reason why it cannot run.
pub(crate) fn version(kind: &EngineKind) -> Result<String, String> {
    if kind.stays_loaded && cfg!(all(unix, target_feature = "crt-static")) {
        return Err(
            "its library is loaded at run time, which this static program cannot do; a dynamic one can".to_owned()
        );
    }
    (kind.version)()
}

/// Target of the default engine with this name in the folder for databases.
pub(crate) fn usual_target(name: &str) -> String {
    let usual = kinds().next().and_then(|kind| kind.file_target(DATA_FOLDER, name));
    usual.expect("the first engine is part of every build, and has files")
}

/// Crash methods for a target's database, if it is in a file and its engine has such methods; a database that is a folder
/// has none.
pub(crate) fn crash_sweeps(target: &str) -> Option<&'static [&'static str]> {
    location(target).ok()?.file().filter(|path| !path.is_dir())?;
    kind_of(target)?.crash_sweeps
}

/// Options of a target's engine that `tune` varies, each with its values.
pub(crate) fn tunes(target: &str) -> &'static [&'static str] {
    kind_of(target).map_or(&[], |kind| kind.tunes)
}

/// Statement that puts a setting of a target's engine into force; `None` if there is none.
pub(crate) fn statement(target: &str, name: &str, value: &str) -> Option<String> {
    (kind_of(target)?.statement)(name, value)
}

/// Whether a text begins like a target: with an engine's name and a colon.
pub(crate) fn is_target(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| schemes().any(|known| known == scheme))
}

/// Opens a target.
pub(crate) fn open(target: &str) -> Result<Box<dyn Engine>> {
    if bourse_serve::Address::has_scheme(target) {
        return Err(Failure::usage(format!(
            "{target} is an application server: only `bourse tpce run` and `bourse tatp run` can use it"
        ))
        .hint("name the database that the server serves, on its machine; stop the server first if the engine does not allow a second process"));
    }
    let kind = named(target)?;
    (kind.open)(target).map_err(|error| refused(kind, &error))
}

/// The engine that a target names; a failure if it is not part of this build.
fn named(target: &str) -> Result<&'static EngineKind> {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    match of_scheme(scheme) {
        Some(found) => found.map_err(|why| Failure::usage(format!("{scheme} is {why}"))),
        None => Err(no_target(target)),
    }
}

/// The error of a target that its engine cannot read.
fn refused(kind: &EngineKind, error: &TargetError) -> Failure {
    Failure::usage(error.to_string()).hint(format!("`bourse engines {}` explains every option", kind.scheme))
}

/// Location of a target's database, by its text: nothing is opened.
pub(crate) fn location(target: &str) -> Result<Location> {
    if bourse_serve::Address::has_scheme(target) {
        return Ok(Location::RunningServer);
    }
    open(target).map(|engine| engine.location())
}

/// The error of a text that names no engine, with the targets that may have been meant.
fn no_target(text: &str) -> Failure {
    let examples = "a target is a URL, such as sqlite:PATH or sqlite::memory:; `bourse engines` lists them";
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    if scheme.is_empty() {
        let path = std::path::Path::new(text);
        let is_file = path.exists() || text.ends_with(".db");
        let failure = Failure::usage(format!("invalid target '{text}': expected ENGINE:PLACE"));
        return match rest {
            _ if path.is_dir() && bourse_trace::files(path).is_ok_and(|it| !it.is_empty()) => {
                failure.hint(format!("it is a recording: `bourse replay {text} TARGET…` executes it on a target"))
            }
            "memory:" => failure.hint("did you mean 'sqlite::memory:'?"),
            _ if is_file => failure.hint(format!("did you mean 'sqlite:{text}'?")),
            _ => match nearest(rest, schemes()) {
                Some(near) => failure.hint(format!("did you mean '{near}:'?")),
                None => failure,
            },
        }
        .hint(examples);
    }
    let failure = Failure::usage(format!("unknown engine '{scheme}' in target '{text}'"));
    let is_server = rest.starts_with("//");
    let servers = kinds().filter(|kind| kind.example.contains("://")).map(|kind| kind.scheme);
    let near = if is_server { nearest(scheme, servers) } else { nearest(scheme, schemes()) };
    match near {
        Some(near) => failure.hint(format!("did you mean '{near}:{rest}'?")),
        None if is_server => failure.hint(format!(
            "a server with the protocol of another is named by that: 'mysql:{rest}', as of TiDB, or 'postgres:{rest}', as of CockroachDB"
        )),
        None => failure,
    }
    .hint(examples)
}

/// Whether the library or server that a target's engine needs is on this machine.
pub(crate) fn is_here(target: &str) -> Result<(), String> {
    match target.split_once(':').and_then(|(scheme, _)| of_scheme(scheme)) {
        Some(kind) => (kind?.available)(target),
        None => Ok(()),
    }
}

/// Refuses a target whose engine [is not here](is_here).
pub(crate) fn refuse_missing(target: &str) -> Result<()> {
    is_here(target).map_err(|why| Failure::usage(format!("cannot run on {target}")).detail("cause", why))
}

/// Whether a target's reads, writes and syncs can be made to fail.
pub(crate) fn takes_faults(target: &str) -> bool {
    kind_of(target).is_some_and(|kind| kind.faults_by_preload)
}

/// Approximate time that the private server of a target takes to start, in seconds; 0 without one.
pub(crate) fn starts_s(target: &str) -> u64 {
    kind_of(target).and_then(|kind| kind.starts_s).unwrap_or(0)
}

/// Approximate time that about so many disk states of a target take with so many trials of its planted faults, in nanoseconds.
pub(crate) fn states_ns(target: &str, states: u64, trials: u32) -> u64 {
    // Faults that are rare take most of a trial; of a server, which each state starts, few states are tried.
    let (state_ns, of_trial) = match starts_s(target) {
        0 => (SECOND / 50, 1_500),
        _ => (SECOND / 2, states.saturating_mul(2).min(1_500)),
    };
    state_ns.saturating_mul(states.saturating_add(of_trial * u64::from(trials)))
}

/// Approximate time that a target's engine takes to load so many rows, in nanoseconds; 0 for engines without tables.
pub(crate) fn loading_ns(target: &str, rows: u64) -> u64 {
    let rows_s = kind_of(target).and_then(|kind| kind.loads_rows_s);
    rows_s.map_or(0, |rows_s| rows.saturating_mul(SECOND) / rows_s)
}

/// Approximate time that a round of a microbenchmark takes in addition to warm-up and interval, in milliseconds.
pub(crate) fn prepares_ms(target: &str) -> u64 {
    kind_of(target).map_or(500, |kind| kind.prepares_ms)
}

/// [`prepares_ms`] for a round whose work is to insert rows.
pub(crate) fn inserts_ms(target: &str) -> u64 {
    kind_of(target).and_then(|kind| kind.inserts_ms).unwrap_or_else(|| prepares_ms(target))
}

/// Whether a round on a target needs a process of its own, because another engine's library would be in this one.
pub(crate) fn stays_loaded(target: &str) -> bool {
    kind_of(target).is_some_and(|kind| kind.stays_loaded)
}

/// Ends and removes the private servers of this target whose owners were killed.
pub(crate) fn cleanup(target: &str) {
    if let Some(kind) = kind_of(target) {
        (kind.cleanup)(target);
    }
}

/// Refuses an engine that runs no SQL, before anything is made.
pub(crate) fn needs_sql(target: &str, engine: &dyn Engine, workload: &str) -> Result<()> {
    if engine.capabilities().sql.is_some() {
        return Ok(());
    }
    Err(Failure::usage(format!("{target} cannot run this workload: {workload} needs SQL"))
        .hint("for instance sqlite:PATH"))
}

/// Refuses an engine that cannot run the brokerage workload, before anything is created.
pub(crate) fn needs_tpce(target: &str, engine: &dyn Engine) -> Result<()> {
    needs(target, engine, bourse_tpce::users::needs)
}

/// Refuses an engine that lacks what a workload needs, before anything is made.
pub(crate) fn needs(target: &str, engine: &dyn Engine, needs: fn(&Capabilities) -> Vec<String>) -> Result<()> {
    let lacking = needs(&engine.capabilities());
    if lacking.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!("{target} cannot run this workload: {}", lacking.join("; ")))
        .hint("for instance sqlite:PATH or sqlite::memory:"))
}

/// Makes the folder for a target's file or server, if that is Bourse's folder for databases.
pub(crate) fn make_folder(target: &str) -> Result<()> {
    let location = location(target)?;
    let folder = match &location {
        Location::ServerFolder(folder) => Some(folder.as_path()),
        _ => location.file().and_then(Path::parent),
    };
    let Some(folder) = folder else { return Ok(()) };
    if folder != Path::new(DATA_FOLDER) {
        if folder.as_os_str().is_empty() || folder.exists() {
            return Ok(());
        }
        return Err(Failure::usage(format!("the folder {} does not exist", folder.display()))
            .hint("make it, or name a place in another folder"));
    }
    std::fs::create_dir_all(DATA_FOLDER).map_err(|error| {
        Failure::usage("cannot make the folder for databases")
            .detail("folder", DATA_FOLDER)
            .detail("cause", error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A build without a crate knows its schemes by the line alone, so the line is compared with the crate in builds that
    /// have it.
    #[test]
    fn each_line_names_the_schemes_of_its_crate() {
        for it in CRATES {
            let of_crate: Option<Vec<_>> = it.kinds.map(|kinds| kinds.iter().map(|kind| kind.scheme).collect());
            assert!(of_crate.is_none_or(|of_crate| of_crate == it.schemes), "{:?}", it.schemes);
        }
        let mut all: Vec<_> = schemes().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), schemes().count(), "a scheme stands twice");
    }

    #[test]
    fn what_is_said_of_an_engine_is_so() {
        for kind in kinds() {
            let scheme = kind.scheme;
            let beginning = format!("{scheme}:");
            assert!(
                kind.example.split(", ").all(|target| target.starts_with(&beginning)),
                "{scheme}: {}",
                kind.example
            );
            assert!((kind.options)(kind.scheme).iter().all(|option| !option.meaning.is_empty()), "{scheme}");
            for text in kind.tunes {
                let (name, values) = text.split_once('=').expect("an option with its values");
                let options = (kind.options)(kind.scheme);
                assert!(!values.is_empty() && options.iter().any(|option| option.name == name), "{scheme}: {text}");
            }
            let file = kind.file_target("data", "x");
            for target in file.iter().cloned().chain(kind.memory_target()).chain(kind.private_target(true)) {
                // Its library or server may be missing here.
                let Ok(engine) = (kind.open)(&target) else { continue };
                assert_eq!(engine.location().file().is_some(), Some(&target) == file.as_ref(), "{target}");
                assert!(is_target(&target));
            }
        }
    }
}
