//! Registers H2, HSQLDB, Derby and MonetDB: one engine for the databases of the Java virtual machine.

use crate::{GRAMMAR, Options, info, open};
use bourse_engine::target::OptionHelp;
use bourse_engine::{EngineKind, Faults, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        scheme: "jdbc+h2",
        summary: "H2, a database in Java, in process; virtual machine and jar are loaded at run time",
        example: "jdbc+h2:PATH?jar=FILE&heap=1GiB, jdbc+h2::memory:",
        version: || version("jdbc+h2"),
        options: || options("jdbc+h2"),
        loads_rows_s: Some(62_000),
        prepares_ms: 1_350,
        inserts_ms: None,
        ..with_files("h2")
    },
    EngineKind {
        scheme: "jdbc+hsqldb",
        summary: "HSQLDB, a database in Java, in process; virtual machine and jar are loaded at run time",
        example: "jdbc+hsqldb:PATH?jar=FILE&write_delay=0ms, jdbc+hsqldb::memory:",
        version: || version("jdbc+hsqldb"),
        options: || options("jdbc+hsqldb"),
        loads_rows_s: Some(14_000),
        prepares_ms: 950,
        inserts_ms: None,
        ..with_files("hsqldb")
    },
    EngineKind {
        scheme: "jdbc+derby",
        summary: "Derby, a database in Java, in process; virtual machine and jars are loaded at run time",
        example: "jdbc+derby:PATH?jar=FOLDER, jdbc+derby::memory:",
        version: || version("jdbc+derby"),
        options: || options("jdbc+derby"),
        loads_rows_s: Some(22_000),
        prepares_ms: 4_000,
        inserts_ms: None,
        ..with_files("derby")
    },
    EngineKind {
        scheme: "jdbc+monetdb",
        summary: "MonetDB embedded, an analytical database, by its library for Java; loaded at run time",
        example: "jdbc+monetdb:PATH?jar=FOLDER, jdbc+monetdb::memory:",
        version: || version("jdbc+monetdb"),
        options: || options("jdbc+monetdb"),
        ..with_files("monetdb")
    },
];

/// Properties common to all of them, with that extension of their files.
const fn with_files(file_ending: &'static str) -> EngineKind {
    EngineKind {
        scheme: "",
        summary: "",
        example: "",
        in_process: Some(InProcess {
            file_ending: Some(file_ending),
            memory: true,
            variant_of: None,
            is_asked_for: false,
        }),
        starts_s: None,
        loads_rows_s: None,
        prepares_ms: 2_100,
        inserts_ms: None,
        version: || Ok(String::new()),
        available: |target| info(target).map(drop).map_err(|error| error.to_string()),
        options: Vec::new,
        compiled: Vec::new,
        open: |target| Ok(Box::new(open(target)?)),
        cleanup: |_| {},
        crash_sweeps: None,
        faults: Faults::NONE,
        // There is one virtual machine in a process, which is never unloaded.
        stays_loaded: true,
    }
}

/// Description of a database's jars and virtual machine: its version is known only once it runs.
fn version(scheme: &str) -> Result<String, String> {
    let found = info(&format!("{scheme}:x")).map_err(|error| error.to_string())?;
    let jars: Vec<_> = found.jars.iter().map(|jar| jar.display().to_string()).collect();
    Ok(format!("{}, {}", jars.join(", "), found.machine.display()))
}

fn options(scheme: &str) -> Vec<OptionHelp> {
    GRAMMAR.help(scheme, &Options::DEFAULT)
}
