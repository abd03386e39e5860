//! The engines of this program: from a target's URL to an open engine.

use crate::failure::Failure;
use bourse_engine::Engine;
use bourse_engine::target::{Grammar, OptionSpec, TargetError};
use bourse_engine_mysql::{Flavour, Scope};
use std::path::Path;

/// An engine that targets can name.
pub(crate) struct EngineKind {
    /// What stands before the colon.
    pub(crate) scheme: &'static str,
    /// What it is, in a line.
    pub(crate) summary: &'static str,
    /// Its version here, or why it cannot run.
    pub(crate) version: fn() -> Result<String, String>,
    /// How a target of it is written.
    pub(crate) example: &'static str,
    /// Every option of a target: name, values, default, meaning.
    pub(crate) options: fn() -> Vec<[String; 4]>,
    /// What the engine was compiled with, where it is compiled in and tells.
    compiled: fn() -> Vec<String>,
    open: fn(&str) -> Result<Box<dyn Engine>, Failure>,
}

/// Every engine.
pub(crate) static ENGINES: &[EngineKind] = &[
    EngineKind {
        scheme: "sqlite",
        summary: "SQLite, compiled in; in process, on a file or in memory",
        version: || bourse_engine_sqlite::info().map(|info| info.version.to_owned()).map_err(|error| error.to_string()),
        example: "sqlite:PATH?journal=wal&sync=full, sqlite::memory:",
        options: || options_of(&bourse_engine_sqlite::GRAMMAR, &bourse_engine_sqlite::Options::FILE),
        compiled: || bourse_engine_sqlite::info().map(|info| info.compile_options).unwrap_or_default(),
        open: |target| opened("sqlite", bourse_engine_sqlite::open(target)),
    },
    EngineKind {
        scheme: "sqlite-lean",
        summary: "the same SQLite, compiled with the options its authors recommend for speed",
        version: || {
            let here = bourse_engine_sqlite_lean::info().map_err(|error| error.to_string())?;
            Ok(here.version.to_owned())
        },
        example: "sqlite-lean:PATH?journal=wal&sync=full, sqlite-lean::memory:",
        options: || options_of(&bourse_engine_sqlite_lean::GRAMMAR, &bourse_engine_sqlite_lean::Options::FILE),
        compiled: || bourse_engine_sqlite_lean::info().map(|info| info.compile_options).unwrap_or_default(),
        open: |target| opened("sqlite-lean", bourse_engine_sqlite_lean::open(target)),
    },
    EngineKind {
        scheme: "mariadb+private",
        summary: "MariaDB, a server of our own, started and removed with the run",
        version: || mysql_version(Flavour::Mariadb),
        example: "mariadb+private:?ram=on, mariadb+private:DIRECTORY?flush_log=2",
        options: || mysql_options(Scope::Private),
        compiled: Vec::new,
        open: open_mysql,
    },
    EngineKind {
        scheme: "mysql+private",
        summary: "MySQL, a server of our own, started and removed with the run",
        version: || mysql_version(Flavour::Mysql),
        example: "mysql+private:?ram=on&server=PATH",
        options: || mysql_options(Scope::Private),
        compiled: Vec::new,
        open: open_mysql,
    },
    EngineKind {
        scheme: "mariadb",
        summary: "MariaDB, a server that runs already",
        version: || Ok("client".to_owned()),
        example: "mariadb://USER@HOST:PORT/DATABASE",
        options: || mysql_options(Scope::Running),
        compiled: Vec::new,
        open: open_mysql,
    },
    EngineKind {
        scheme: "mysql",
        summary: "MySQL, a server that runs already",
        version: || Ok("client".to_owned()),
        example: "mysql://USER@HOST:PORT/DATABASE",
        options: || mysql_options(Scope::Running),
        compiled: Vec::new,
        open: open_mysql,
    },
    EngineKind {
        scheme: "fastdb",
        summary: "FastDB, a main-memory database with records by key; its library loaded at run time",
        version: || {
            let here = bourse_engine_fastdb::info(None).map_err(|error| error.to_string())?;
            Ok(format!("library {}", here.path.display()))
        },
        example: "fastdb:PATH?library=FILE&index=hash&commit=precommit",
        options: || options_of(&bourse_engine_fastdb::GRAMMAR, &bourse_engine_fastdb::Options::DEFAULT),
        compiled: Vec::new,
        open: |target| opened("fastdb", bourse_engine_fastdb::open(target)),
    },
    EngineKind {
        scheme: "lmdb",
        summary: "LMDB, compiled in; records by key, in a file that is mapped into memory",
        version: || Ok(bourse_engine_lmdb::version()),
        example: "lmdb:PATH?sync=full",
        options: || options_of(&bourse_engine_lmdb::GRAMMAR, &bourse_engine_lmdb::Options::DEFAULT),
        compiled: Vec::new,
        open: |target| opened("lmdb", bourse_engine_lmdb::open(target)),
    },
    EngineKind {
        scheme: "redb",
        summary: "redb, compiled in; records by key, in a file or in memory",
        version: || Ok(bourse_engine_redb::version().to_owned()),
        example: "redb:PATH?durability=immediate, redb::memory:",
        options: || options_of(&bourse_engine_redb::GRAMMAR, &bourse_engine_redb::Options::DEFAULT),
        compiled: Vec::new,
        open: |target| opened("redb", bourse_engine_redb::open(target)),
    },
    EngineKind {
        scheme: "null",
        summary: "does nothing: the harness's own cost",
        version: || Ok(env!("CARGO_PKG_VERSION").to_owned()),
        example: "null:",
        options: Vec::new,
        compiled: Vec::new,
        open: |_| Ok(Box::new(bourse_engine::NullEngine)),
    },
];

/// Whether a text begins as a target does: with an engine's name and a colon.
pub(crate) fn is_target(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| ENGINES.iter().any(|kind| kind.scheme == scheme))
}

/// Where a target's database is as it was written, if it is SQLite's, whichever build: a path, or `:memory:`.
pub(crate) fn sqlite_place(target: &str) -> Option<&str> {
    let place = target.split_once('?').map_or(target, |(place, _)| place);
    ["sqlite:", "sqlite-lean:"].iter().find_map(|scheme| place.strip_prefix(scheme))
}

/// The path of a target's database, if it is SQLite's, whichever build, and lies in a file.
pub(crate) fn sqlite_file(target: &str) -> Option<&str> {
    sqlite_place(target).filter(|place| *place != ":memory:")
}

/// A path as it stands in a target.
pub(crate) fn escaped(path: &Path) -> String {
    path.display().to_string().replace('%', "%25").replace('?', "%3F").replace('#', "%23").replace('&', "%26")
}

/// Opens a target.
pub(crate) fn open(target: &str) -> Result<Box<dyn Engine>, Failure> {
    let scheme = target.split(':').next().unwrap_or_default();
    if bourse_serve::Address::is_meant(target) {
        return Err(Failure::usage(format!(
            "{target} is an application server, and only `bourse tpce run` drives one"
        ))
        .hint("name the target that the server has opened, where it runs; end the server first if others keep out"));
    }
    let kind = ENGINES.iter().find(|kind| kind.scheme == scheme && target.contains(':'));
    let Some(kind) = kind else {
        let known: Vec<_> = ENGINES.iter().map(|kind| kind.example).collect();
        let failure = Failure::usage(format!("{target:?} is not a target: no engine is called {scheme:?}"))
            .hint(format!("targets are URLs: {}", known.join(", ")));
        let is_file = std::path::Path::new(target).exists() || target.ends_with(".db");
        return Err(if is_file { failure.hint(format!("did you mean sqlite:{target}?")) } else { failure });
    };
    (kind.open)(target)
}

/// Whether what a target's engine needs is on this machine: its library, its server.
pub(crate) fn is_here(target: &str) -> Result<(), String> {
    // The library may be named in the target itself.
    if target.contains("library=") {
        return Ok(());
    }
    let kind = ENGINES.iter().find(|kind| Some(kind.scheme) == target.split(':').next());
    kind.map_or(Ok(()), |kind| (kind.version)().map(|_| ()))
}

/// Ends and removes what a process that was killed has left of the target's private server.
pub(crate) fn sweep(target: &str) {
    if let Ok(target) = bourse_engine_mysql::Target::parse(target) {
        bourse_engine_mysql::sweep_target(&target);
    }
}

fn open_mysql(target: &str) -> Result<Box<dyn Engine>, Failure> {
    let engine = bourse_engine_mysql::open(target).map_err(|error| {
        let scheme = target.split(':').next().unwrap_or_default();
        Failure::usage(error.to_string()).hint(format!("`bourse engines {scheme}` explains every option"))
    })?;
    Ok(Box::new(engine))
}

/// Of the server that a private target would start.
fn mysql_version(flavour: Flavour) -> Result<String, String> {
    let installed = bourse_engine_mysql::installed(flavour, None).map_err(|error| error.to_string())?;
    let version = installed.version.split('-').next().unwrap_or_default();
    Ok(version.to_owned())
}

fn mysql_options(scope: Scope) -> Vec<[String; 4]> {
    bourse_engine_mysql::OPTIONS
        .iter()
        .filter(|option| option.scope == scope || option.scope == Scope::Any)
        .map(|option| {
            let default = option.shown(&bourse_engine_mysql::Options::DEFAULT);
            [option.name.to_owned(), option.values.to_owned(), default, option.meaning.to_owned()]
        })
        .collect()
}

/// An engine whose targets are read by a grammar, opened or refused.
fn opened<E: Engine + 'static>(scheme: &str, engine: Result<E, TargetError>) -> Result<Box<dyn Engine>, Failure> {
    let hint = format!("`bourse engines {scheme}` explains every option");
    engine
        .map(|engine| Box::new(engine) as Box<dyn Engine>)
        .map_err(|error| Failure::usage(error.to_string()).hint(hint))
}

fn options_of<O>(grammar: &Grammar<O>, defaults: &O) -> Vec<[String; 4]> {
    let line = |option: &OptionSpec<O>| {
        [option.name.to_owned(), option.values.to_owned(), (option.show)(defaults), option.meaning.to_owned()]
    };
    grammar.options.iter().map(line).collect()
}

/// What can run here; of one engine, all its options.
pub(crate) fn list(engine: Option<&str>) -> Result<String, Failure> {
    let mut text = String::new();
    match engine {
        None => {
            let width = crate::output::terminal_width();
            for kind in ENGINES {
                text.push_str(&entry(kind, (kind.version)(), width));
            }
            text.push_str("\n`bourse engines ENGINE` lists the options of its targets.\n");
        }
        Some(name) => {
            let kind = ENGINES.iter().find(|kind| kind.scheme == name).ok_or_else(|| {
                let known: Vec<_> = ENGINES.iter().map(|kind| kind.scheme).collect();
                Failure::usage(format!("no engine is called {name:?}")).hint(format!("known: {}", known.join(", ")))
            })?;
            text.push_str(&format!("{}: {}\n{}\n", kind.scheme, kind.summary, kind.example));
            for [name, values, default, meaning] in (kind.options)() {
                text.push_str(&format!("\n  {name}={values} [default: {default}]\n      {meaning}\n"));
            }
            let compiled = (kind.compiled)();
            if !compiled.is_empty() {
                text.push_str("\ncompiled with, as it says itself:\n  ");
                write_wrapped(&mut text, &compiled.join(" "), 2, crate::output::terminal_width());
            }
        }
    }
    Ok(text)
}

/// An engine's lines in the list, no wider than `width` where words allow it.
fn entry(kind: &EngineKind, version: Result<String, String>, width: usize) -> String {
    const INDENT: usize = 28;
    // What does not fit the column, as a library's path, goes below like the reason of an engine that is not here.
    let (state, more) = match version {
        Ok(version) if version.chars().count() <= 10 => (version, None),
        Ok(version) => ("here".to_owned(), Some(version)),
        Err(why) => ("not here".to_owned(), Some(why)),
    };
    let mut text = format!("{:<16} {state:<10} ", kind.scheme);
    let below = std::iter::once(kind.example.to_owned()).chain(more);
    for (at, line) in std::iter::once(kind.summary.to_owned()).chain(below).enumerate() {
        if at > 0 {
            text.push_str(&" ".repeat(INDENT));
        }
        write_wrapped(&mut text, &line, INDENT, width);
    }
    text
}

/// Writes words behind `indent` columns, and goes on below where a line would become wider than `width`.
fn write_wrapped(text: &mut String, words: &str, indent: usize, width: usize) {
    let mut column = indent;
    for (nth, word) in words.split_whitespace().enumerate() {
        let wide = word.chars().count();
        if nth > 0 && column + 1 + wide > width {
            text.push_str(&format!("\n{}", " ".repeat(indent)));
            column = indent;
        } else if nth > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += wide;
    }
    text.push('\n');
}

/// Refuses an engine that runs no SQL, before anything is made.
pub(crate) fn needs_sql(target: &str, engine: &dyn Engine) -> Result<(), Failure> {
    if engine.capabilities().sql {
        return Ok(());
    }
    Err(Failure::usage(format!("{target} cannot run this workload: tpce needs SQL")).hint("for instance sqlite:PATH"))
}

/// Makes the folder that a target's file is to lie in, if that is one of ours.
pub(crate) fn make_folder(target: &str) -> Result<(), Failure> {
    let folder = format!("{}/", crate::tpce::DATA_FOLDER);
    if !sqlite_place(target).is_some_and(|place| place.starts_with(&folder)) {
        return Ok(());
    }
    std::fs::create_dir_all(crate::tpce::DATA_FOLDER).map_err(|error| {
        Failure::usage("the folder for databases cannot be made")
            .detail("folder", crate::tpce::DATA_FOLDER)
            .detail("cause", error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_keeps_to_the_terminal() {
        let why = "no library libfastdb.so was found: ".to_owned() + &"looked in many places, ".repeat(20);
        for (version, state) in [(Ok("3.54.1".to_owned()), "3.54.1"), (Err(why), "not here")] {
            let text = entry(&ENGINES[0], version, 100);
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(text.contains(state) && text.ends_with('\n'), "{text}");
        }
    }
}
