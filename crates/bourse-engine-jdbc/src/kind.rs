//! Registers H2, HSQLDB, Derby and MonetDB: one engine for the databases of the Java virtual machine.

use crate::{GRAMMAR, JdbcOptions, info, open};
use bourse_engine::{EngineKind, InProcessPlaces};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        loads_rows_s: Some(62_000),
        prepares_ms: 1_350,
        ..with_files(
            "h2",
            [
                "jdbc+h2",
                "H2, a database in Java, in process; virtual machine and jar are loaded at run time",
                "jdbc+h2:PATH?jar=FILE&heap=1GiB, jdbc+h2::memory:",
            ],
            || version("jdbc+h2"),
        )
    },
    EngineKind {
        loads_rows_s: Some(14_000),
        prepares_ms: 950,
        ..with_files(
            "hsqldb",
            [
                "jdbc+hsqldb",
                "HSQLDB, a database in Java, in process; virtual machine and jar are loaded at run time",
                "jdbc+hsqldb:PATH?jar=FILE&write_delay=0ms, jdbc+hsqldb::memory:",
            ],
            || version("jdbc+hsqldb"),
        )
    },
    EngineKind {
        loads_rows_s: Some(22_000),
        prepares_ms: 4_000,
        ..with_files(
            "derby",
            [
                "jdbc+derby",
                "Derby, a database in Java, in process; virtual machine and jars are loaded at run time",
                "jdbc+derby:PATH?jar=FOLDER, jdbc+derby::memory:",
            ],
            || version("jdbc+derby"),
        )
    },
    EngineKind {
        prepares_ms: 2_100,
        ..with_files(
            "monetdb",
            [
                "jdbc+monetdb",
                "MonetDB embedded, an analytical database, by its library for Java; loaded at run time",
                "jdbc+monetdb:PATH?jar=FOLDER, jdbc+monetdb::memory:",
            ],
            || version("jdbc+monetdb"),
        )
    },
];

/// An engine whose files have that extension.
const fn with_files(
    file_ending: &'static str,
    texts: [&'static str; 3],
    version: fn() -> Result<String, String>,
) -> EngineKind {
    EngineKind {
        in_process: Some(InProcessPlaces::new(Some(file_ending), true)),
        available: |target| info(target).map(drop).map_err(|error| error.to_string()),
        // There is one virtual machine in a process, which is never unloaded.
        stays_loaded: true,
        ..EngineKind::new(
            texts,
            version,
            |scheme| GRAMMAR.help(scheme, &JdbcOptions::DEFAULT),
            |target| Ok(Box::new(open(target)?)),
        )
    }
}

/// Description of a database's jars and virtual machine: its version is known only once it runs.
fn version(scheme: &str) -> Result<String, String> {
    let found = info(&format!("{scheme}:x")).map_err(|error| error.to_string())?;
    let jars: Vec<_> = found.jars.iter().map(|jar| jar.display().to_string()).collect();
    Ok(format!("{}, {}", jars.join(", "), found.machine.display()))
}
