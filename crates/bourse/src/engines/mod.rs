//! The engines of this program: from a target's URL to an open engine.
//!
//! Each engine but SQLite is a Cargo feature with a file of its own here. One that is left out of a build is listed all the
//! same, with the feature that has it.

#[cfg(feature = "duckdb")]
mod duckdb;
#[cfg(feature = "fastdb")]
mod fastdb;
#[cfg(feature = "firebird")]
mod firebird;
#[cfg(feature = "fjall")]
mod fjall;
#[cfg(feature = "galera")]
mod galera;
#[cfg(feature = "jdbc")]
mod jdbc;
mod list;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod sqlite;
#[cfg(feature = "sqlite-lean")]
mod sqlite_lean;
#[cfg(feature = "sqlite-lib")]
mod sqlite_lib;
#[cfg(feature = "turso")]
mod turso;

pub(crate) use list::list;

use crate::failure::Failure;
use bourse_engine::target::{Grammar, OptionSpec, Renamed, TargetError};
use bourse_engine::{Engine, Location, SideFileKind, nearest};
use bourse_record::faults::Through;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// An engine that targets can name.
pub(crate) struct EngineKind {
    /// What stands before the colon.
    pub(crate) scheme: &'static str,
    /// Summary, in one line.
    pub(crate) summary: &'static str,
    /// How a target of it is written.
    pub(crate) example: &'static str,
    /// Where its databases can lie, if it works in this process and keeps anything.
    pub(crate) in_process: Option<InProcess>,
    /// What a private server or cluster of it takes to start on two cores, about, in seconds; none of an engine that starts none.
    pub(crate) starts_s: Option<u64>,
    /// The engine, if it is part of this build.
    build: Build,
}

/// Where databases of an engine can lie that works in this process.
pub(crate) struct InProcess {
    /// Ending of its files' names.
    pub(crate) file_ending: &'static str,
    /// Whether they can be in memory, as `:memory:`.
    pub(crate) memory: bool,
    /// The engine that this one is another build of: what it saves is processor time.
    pub(crate) variant_of: Option<&'static str>,
    /// Whether a person has to say which library is meant, so that it is part of a look at all engines alone.
    pub(crate) is_asked_for: bool,
}

/// Name of a database in memory.
const MEMORY: &str = ":memory:";

/// Whether an engine is part of this build.
enum Build {
    /// It is.
    In(Calls),
    /// It is not; this feature of the program's crate has it.
    #[cfg_attr(
        all(
            feature = "duckdb",
            feature = "fastdb",
            feature = "firebird",
            feature = "fjall",
            feature = "galera",
            feature = "jdbc",
            feature = "lmdb",
            feature = "mysql",
            feature = "postgres",
            feature = "redb",
            feature = "rocksdb",
            feature = "sqlite-lean",
            feature = "sqlite-lib",
            feature = "turso"
        ),
        expect(dead_code, reason = "this build has every engine")
    )]
    Out(&'static str),
}

/// What an engine's crate does for the program.
struct Calls {
    /// Its version on this machine, or why it cannot run.
    version: fn() -> Result<String, String>,
    /// Whether what a target needs is on this machine, which the target itself may name: a library, a server.
    available: fn(&str) -> Result<(), String>,
    /// Every option of a target: name, values, default, meaning.
    options: fn() -> Vec<[String; 4]>,
    /// The options it was compiled with, where it is compiled in and tells.
    compiled: fn() -> Vec<String>,
    /// The words of a target that have a new name.
    renamed: fn(&str) -> Vec<Renamed>,
    /// Opens a target.
    open: fn(&str) -> Result<Box<dyn Engine>, Failure>,
    /// Ends and removes the private server that a killed process has left of a target.
    cleanup: fn(&str),
    /// How its databases are crashed, if they are files that a process of ours can work on and that can be copied.
    crashes: Option<Crashes>,
    /// The ways in which its reads, writes and syncs can be made to fail; none where it has no files that could be.
    faults: &'static [Through],
    /// Whether a target loads a library of its own, which stays in the process.
    stays_loaded: bool,
}

/// What the crate of an engine with servers does for targets of servers that run already; those of private ones build on it.
#[cfg(any(feature = "galera", feature = "mysql", feature = "postgres"))]
macro_rules! running_server {
    ($engine:ident, $scheme:literal) => {
        super::Calls {
            version: || Ok("client".to_owned()),
            available: |_| Ok(()),
            options: || super::options_of_scheme(&$engine::GRAMMAR, $scheme, &$engine::Options::DEFAULT),
            compiled: Vec::new,
            renamed: |target| $engine::GRAMMAR.renamed_in(target),
            open: |target| super::opened(target.split(':').next().unwrap_or_default(), $engine::open(target)),
            cleanup: |target| {
                // A target that cannot be read has started no server.
                if let Ok(target) = $engine::Target::parse(target) {
                    $engine::sweep_target(&target);
                }
            },
            crashes: None,
            faults: &[],
            stays_loaded: false,
        }
    };
}
#[cfg(any(feature = "galera", feature = "mysql", feature = "postgres"))]
use running_server;

/// How the databases of an engine are crashed.
pub(crate) struct Crashes {
    /// The copy that is crashed: its name, and what tells that one which is there was left by a process of ours.
    pub(crate) copy: SideFileKind,
    /// What is swept when nothing else is said.
    pub(crate) sweeps: &'static [&'static str],
    /// The setting for a simulated disk that loses what was not synced, if its files can be on one.
    pub(crate) lossy_disk: Option<&'static str>,
    /// Whether its system calls can be recorded.
    pub(crate) can_be_recorded: bool,
    /// Whether the engine locks a file as a side file is locked, so that a copy is left to it without a lock.
    pub(crate) takes_the_lock: bool,
}

/// How a target's database is crashed, if it is in a file and its engine has such crashes.
pub(crate) fn crashes(target: &str) -> Option<&'static Crashes> {
    location(target).ok()?.file()?;
    kind_of(target)?.calls().ok()?.crashes.as_ref()
}

impl EngineKind {
    /// Its version on this machine, or why it cannot run.
    pub(crate) fn version(&self) -> Result<String, String> {
        let calls = self.calls()?;
        if calls.stays_loaded && cfg!(all(unix, target_feature = "crt-static")) {
            return Err(
                "its library is loaded at run time, which this static program cannot do; a dynamic one can".to_owned()
            );
        }
        (calls.version)()
    }

    /// How its targets begin.
    pub(crate) fn beginning(&self) -> String {
        format!("{}:", self.scheme)
    }

    /// A target of it in a file of our own of that name; none if it has no files here.
    pub(crate) fn file_target(&self, name: &str) -> Option<String> {
        let ending = self.in_process.as_ref()?.file_ending;
        Some(format!("{}:{}/{name}.{ending}", self.scheme, crate::tpce::DATA_FOLDER))
    }

    /// Whether its files' names end so.
    pub(crate) fn has_files_of(&self, ending: &str) -> bool {
        self.in_process.as_ref().is_some_and(|it| it.file_ending == ending)
    }

    /// A target of it in memory, if it has any.
    pub(crate) fn memory_target(&self) -> Option<String> {
        self.in_process.as_ref().filter(|it| it.memory).map(|_| format!("{}:{MEMORY}", self.scheme))
    }

    /// A target of it on a private server or cluster, with its data in memory or on a disk; none if it starts none.
    pub(crate) fn private_target(&self, in_memory: bool) -> Option<String> {
        let settings = if in_memory { "?ram=on" } else { "" };
        self.starts_s.map(|_| format!("{}:{settings}", self.scheme))
    }

    /// Its calls, or how to get a build that has them.
    fn calls(&self) -> Result<&Calls, String> {
        match &self.build {
            Build::In(calls) => Ok(calls),
            Build::Out(feature) => {
                Err(format!("left out of this build: `cargo install --path crates/bourse --features {feature}` has it"))
            }
        }
    }
}

/// The calls of an engine if its feature is on, else the feature's name.
macro_rules! if_built {
    ($feature:literal, $calls:expr) => {{
        #[cfg(feature = $feature)]
        let build = Build::In($calls);
        #[cfg(not(feature = $feature))]
        let build = Build::Out($feature);
        build
    }};
}

/// Every engine.
pub(crate) static ENGINES: &[EngineKind] = &[
    EngineKind {
        scheme: "sqlite",
        summary: "SQLite, built in; in process, on a file or in memory",
        example: "sqlite:PATH?journal=wal&sync=full, sqlite::memory:",
        in_process: Some(InProcess { file_ending: "db", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: Build::In(sqlite::CALLS),
    },
    EngineKind {
        scheme: "sqlite-lean",
        summary: "the same SQLite, built with the options that its authors recommend for speed",
        example: "sqlite-lean:PATH?journal=wal&sync=full, sqlite-lean::memory:",
        in_process: Some(InProcess {
            file_ending: "db",
            memory: true,
            variant_of: Some("sqlite"),
            is_asked_for: false,
        }),
        starts_s: None,
        build: if_built!("sqlite-lean", sqlite_lean::CALLS),
    },
    EngineKind {
        scheme: "sqlite+lib",
        summary: "any library with SQLite's C interface, loaded at run time: the system's SQLite, another version or build, SQLCipher",
        example: "sqlite+lib:PATH?library=FILE&journal=wal&sync=full, sqlite+lib::memory:?library=FILE",
        in_process: Some(InProcess { file_ending: "lib.db", memory: true, variant_of: None, is_asked_for: true }),
        starts_s: None,
        build: if_built!("sqlite-lib", sqlite_lib::CALLS),
    },
    EngineKind {
        scheme: "turso",
        summary: "Turso, SQLite's SQL written anew in Rust, built in; in process, on a file or in memory",
        example: "turso:PATH?journal=mvcc&sync=full, turso::memory:",
        in_process: Some(InProcess { file_ending: "turso", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("turso", turso::CALLS),
    },
    EngineKind {
        scheme: "mariadb+private",
        summary: "MariaDB, a private server, started for the run and removed after it",
        example: "mariadb+private:?ram=on, mariadb+private:DIRECTORY?flush_log=2",
        in_process: None,
        starts_s: Some(2),
        build: if_built!("mysql", mysql::PRIVATE_MARIADB),
    },
    EngineKind {
        scheme: "mysql+private",
        summary: "MySQL, a private server, started for the run and removed after it",
        example: "mysql+private:?ram=on&server=PATH",
        in_process: None,
        starts_s: Some(6),
        build: if_built!("mysql", mysql::PRIVATE_MYSQL),
    },
    EngineKind {
        scheme: "mariadb",
        summary: "MariaDB, a running server",
        example: "mariadb://USER@HOST:PORT/DATABASE",
        in_process: None,
        starts_s: None,
        build: if_built!("mysql", mysql::RUNNING),
    },
    EngineKind {
        scheme: "mysql",
        summary: "MySQL, a running server",
        example: "mysql://USER@HOST:PORT/DATABASE, mysql://USER@HOST,HOST/DATABASE",
        in_process: None,
        starts_s: None,
        build: if_built!("mysql", mysql::RUNNING),
    },
    EngineKind {
        scheme: "mariadb+galera",
        summary: "MariaDB Galera, a private cluster on this machine, started for the run and removed after it",
        example: "mariadb+galera:?nodes=3&ram=on, mariadb+galera:DIRECTORY?flush_log=2",
        in_process: None,
        starts_s: Some(10),
        build: if_built!("galera", galera::PRIVATE),
    },
    EngineKind {
        scheme: "galera",
        summary: "MariaDB Galera, a running cluster",
        example: "galera://USER@HOST:PORT,HOST:PORT,HOST:PORT/DATABASE",
        in_process: None,
        starts_s: None,
        build: if_built!("galera", galera::RUNNING),
    },
    EngineKind {
        scheme: "mysql+group",
        summary: "MySQL Group Replication, a private cluster on this machine, started for the run and removed after it",
        example: "mysql+group:?nodes=3&ram=on, mysql+group:DIRECTORY?flush_log=2",
        in_process: None,
        starts_s: Some(20),
        build: if_built!("galera", galera::PRIVATE_GROUP),
    },
    EngineKind {
        scheme: "group",
        summary: "MySQL Group Replication, a running cluster",
        example: "group://USER@HOST:PORT,HOST:PORT,HOST:PORT/DATABASE",
        in_process: None,
        starts_s: None,
        build: if_built!("galera", galera::RUNNING_GROUP),
    },
    EngineKind {
        scheme: "postgres+private",
        summary: "PostgreSQL, a private server, started for the run and removed after it",
        example: "postgres+private:?ram=on, postgres+private:DIRECTORY?synchronous_commit=off",
        in_process: None,
        starts_s: Some(2),
        build: if_built!("postgres", postgres::PRIVATE),
    },
    EngineKind {
        scheme: "postgres",
        summary: "PostgreSQL, a running server",
        example: "postgres://USER@HOST:PORT/DATABASE, postgres://USER@HOST,HOST/DATABASE, postgres://USER@/DATABASE?socket=/run/postgresql",
        in_process: None,
        starts_s: None,
        build: if_built!("postgres", postgres::RUNNING),
    },
    EngineKind {
        scheme: "duckdb",
        summary: "DuckDB, an analytical database in process; its library is loaded at run time",
        example: "duckdb:PATH?library=FILE&writers=one, duckdb::memory:",
        in_process: Some(InProcess { file_ending: "duckdb", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("duckdb", duckdb::CALLS),
    },
    EngineKind {
        scheme: "firebird",
        summary: "Firebird embedded, without a server; its library is loaded at run time; in process, on a file",
        example: "firebird:PATH?sync=full&lock_timeout=1s",
        in_process: Some(InProcess { file_ending: "fdb", memory: false, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("firebird", firebird::CALLS),
    },
    EngineKind {
        scheme: "jdbc+h2",
        summary: "H2, a database in Java, in process; virtual machine and jar are loaded at run time",
        example: "jdbc+h2:PATH?jar=FILE&heap=1GiB, jdbc+h2::memory:",
        in_process: Some(InProcess { file_ending: "h2", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("jdbc", jdbc::H2),
    },
    EngineKind {
        scheme: "jdbc+hsqldb",
        summary: "HSQLDB, a database in Java, in process; virtual machine and jar are loaded at run time",
        example: "jdbc+hsqldb:PATH?jar=FILE&write_delay=0ms, jdbc+hsqldb::memory:",
        in_process: Some(InProcess { file_ending: "hsqldb", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("jdbc", jdbc::HSQLDB),
    },
    EngineKind {
        scheme: "jdbc+derby",
        summary: "Derby, a database in Java, in process; virtual machine and jars are loaded at run time",
        example: "jdbc+derby:PATH?jar=FOLDER, jdbc+derby::memory:",
        in_process: Some(InProcess { file_ending: "derby", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("jdbc", jdbc::DERBY),
    },
    EngineKind {
        scheme: "jdbc+monetdb",
        summary: "MonetDB embedded, an analytical database, by its library for Java; loaded at run time",
        example: "jdbc+monetdb:PATH?jar=FOLDER, jdbc+monetdb::memory:",
        in_process: Some(InProcess { file_ending: "monetdb", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("jdbc", jdbc::MONETDB),
    },
    EngineKind {
        scheme: "fastdb",
        summary: "FastDB, a main-memory key-value store; its library is loaded at run time",
        example: "fastdb:PATH?library=FILE&index=hash&commit=precommit",
        in_process: Some(InProcess { file_ending: "fastdb", memory: false, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("fastdb", fastdb::CALLS),
    },
    EngineKind {
        scheme: "lmdb",
        summary: "LMDB, built in; a key-value store in a memory-mapped file",
        example: "lmdb:PATH?sync=full",
        in_process: Some(InProcess { file_ending: "lmdb", memory: false, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("lmdb", lmdb::CALLS),
    },
    EngineKind {
        scheme: "redb",
        summary: "redb, built in; a key-value store in a file or in memory",
        example: "redb:PATH?durability=immediate, redb::memory:",
        in_process: Some(InProcess { file_ending: "redb", memory: true, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("redb", redb::CALLS),
    },
    EngineKind {
        scheme: "fjall",
        summary: "fjall, built in; a key-value store of log-structured merge trees, in a folder",
        example: "fjall:PATH?persist=sync_data",
        in_process: Some(InProcess { file_ending: "fjall", memory: false, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("fjall", fjall::CALLS),
    },
    EngineKind {
        scheme: "rocksdb",
        summary: "RocksDB, a key-value store of log-structured merge trees, in a folder; its library is loaded at run time",
        example: "rocksdb:PATH?sync=on&bloom=10",
        in_process: Some(InProcess { file_ending: "rocksdb", memory: false, variant_of: None, is_asked_for: false }),
        starts_s: None,
        build: if_built!("rocksdb", rocksdb::CALLS),
    },
    EngineKind {
        scheme: "null",
        summary: "no-op engine, to measure the harness overhead",
        example: "null:",
        in_process: None,
        starts_s: None,
        build: Build::In(Calls {
            version: || Ok(env!("CARGO_PKG_VERSION").to_owned()),
            available: |_| Ok(()),
            options: Vec::new,
            compiled: Vec::new,
            renamed: |_| Vec::new(),
            open: |_| Ok(Box::new(bourse_engine::NullEngine)),
            cleanup: |_| {},
            crashes: None,
            faults: &[],
            stays_loaded: false,
        }),
    },
];

/// The engine that a target names.
fn kind_of(target: &str) -> Option<&'static EngineKind> {
    let (scheme, _) = target.split_once(':')?;
    ENGINES.iter().find(|kind| kind.scheme == scheme)
}

/// Whether a text begins as a target does: with an engine's name and a colon.
pub(crate) fn is_target(text: &str) -> bool {
    kind_of(text).is_some()
}

/// Opens a target.
pub(crate) fn open(target: &str) -> Result<Box<dyn Engine>, Failure> {
    if bourse_serve::Address::is_meant(target) {
        return Err(Failure::usage(format!(
            "{target} is an application server: only `bourse tpce run` can use it"
        ))
        .hint("name the database that the server serves, on its machine; stop the server first if the engine does not allow a second process"));
    }
    let Some(kind) = kind_of(target) else { return Err(no_target(target)) };
    let calls = kind.calls().map_err(|why| Failure::usage(format!("{} is {why}", kind.scheme)))?;
    for renamed in (calls.renamed)(target) {
        warn_once(&renamed);
    }
    (calls.open)(target)
}

/// Where a target's database is, by its text: nothing is opened.
pub(crate) fn location(target: &str) -> Result<Location, Failure> {
    if bourse_serve::Address::is_meant(target) {
        return Ok(Location::RunningServer);
    }
    open(target).map(|engine| engine.location())
}

/// The error of a text that names no engine, with the targets that may have been meant.
fn no_target(text: &str) -> Failure {
    let known = || ENGINES.iter().map(|kind| kind.scheme);
    let examples = "a target is a URL, such as sqlite:PATH or sqlite::memory:; `bourse engines` lists them";
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    if scheme.is_empty() {
        let is_file = std::path::Path::new(text).exists() || text.ends_with(".db");
        let failure = Failure::usage(format!("invalid target '{text}': expected ENGINE:PLACE"));
        return match rest {
            "memory:" => failure.hint("did you mean 'sqlite::memory:'?"),
            _ if is_file => failure.hint(format!("did you mean 'sqlite:{text}'?")),
            _ => match nearest(rest, known()) {
                Some(near) => failure.hint(format!("did you mean '{near}:'?")),
                None => failure,
            },
        }
        .hint(examples);
    }
    let failure = Failure::usage(format!("unknown engine '{scheme}' in target '{text}'"));
    match nearest(scheme, known()) {
        Some(near) => failure.hint(format!("did you mean '{near}:{rest}'?")),
        None => failure,
    }
    .hint(examples)
}

/// Warns of an old word in a target: once in a process, however often the target is opened.
fn warn_once(renamed: &Renamed) {
    static WARNED: Mutex<Vec<Renamed>> = Mutex::new(Vec::new());
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if !warned.contains(renamed) {
        warned.push(*renamed);
        crate::progress::note(&format!("warning: {renamed}"));
    }
}

/// Whether what a target's engine needs is on this machine: its library, its server.
pub(crate) fn is_here(target: &str) -> Result<(), String> {
    kind_of(target).map_or(Ok(()), |kind| (kind.calls()?.available)(target))
}

/// The ways in which a target's reads, writes and syncs can be made to fail.
pub(crate) fn fault_ways(target: &str) -> &'static [Through] {
    kind_of(target).and_then(|kind| kind.calls().ok()).map_or(&[], |calls| calls.faults)
}

/// What the private server of a target takes to start, about, in seconds; nothing where there is none.
pub(crate) fn starts_s(target: &str) -> u64 {
    kind_of(target).and_then(|kind| kind.starts_s).unwrap_or(0)
}

/// Whether a round on a target needs a process of its own, because another's library would be in it.
pub(crate) fn stays_loaded(target: &str) -> bool {
    kind_of(target).and_then(|kind| kind.calls().ok()).is_some_and(|calls| calls.stays_loaded)
}

/// Ends and removes what a process that was killed has left of the target's private server.
pub(crate) fn cleanup(target: &str) {
    if let Some(Ok(calls)) = kind_of(target).map(EngineKind::calls) {
        (calls.cleanup)(target);
    }
}

/// An engine whose targets are read by a grammar, opened or refused.
fn opened<E: Engine + 'static>(scheme: &str, engine: Result<E, TargetError>) -> Result<Box<dyn Engine>, Failure> {
    let hint = format!("`bourse engines {scheme}` explains every option");
    engine
        .map(|engine| Box::new(engine) as Box<dyn Engine>)
        .map_err(|error| Failure::usage(error.to_string()).hint(hint))
}

/// Every option of an engine.
fn options_of<O>(grammar: &Grammar<O>, defaults: &O) -> Vec<[String; 4]> {
    options_of_scheme(grammar, "", defaults)
}

/// The options that targets of a scheme have.
fn options_of_scheme<O>(grammar: &Grammar<O>, scheme: &str, defaults: &O) -> Vec<[String; 4]> {
    let scheme = grammar.schemes.iter().find(|known| known.name == scheme);
    let line = |option: &OptionSpec<O>| {
        [option.name.to_owned(), option.values.to_owned(), (option.show)(defaults), option.meaning.to_owned()]
    };
    let has = |option: &&OptionSpec<O>| scheme.is_none_or(|scheme| scheme.has(option.name));
    grammar.options.iter().filter(has).map(line).collect()
}

/// Refuses an engine that runs no SQL, before anything is made.
pub(crate) fn needs_sql(target: &str, engine: &dyn Engine) -> Result<(), Failure> {
    if engine.capabilities().sql.is_some() {
        return Ok(());
    }
    Err(Failure::usage(format!("{target} cannot run this workload: tpce needs SQL")).hint("for instance sqlite:PATH"))
}

/// Makes the folder that a target's file is to lie in, if that is one of ours.
pub(crate) fn make_folder(target: &str) -> Result<(), Failure> {
    let location = location(target)?;
    let Some(folder) = location.file().and_then(Path::parent) else { return Ok(()) };
    if folder != Path::new(crate::tpce::DATA_FOLDER) {
        if folder.as_os_str().is_empty() || folder.exists() {
            return Ok(());
        }
        return Err(Failure::usage(format!("the folder {} does not exist", folder.display()))
            .hint("make it, or name a place in another folder"));
    }
    std::fs::create_dir_all(crate::tpce::DATA_FOLDER).map_err(|error| {
        Failure::usage("cannot make the folder for databases")
            .detail("folder", crate::tpce::DATA_FOLDER)
            .detail("cause", error.to_string())
    })
}
