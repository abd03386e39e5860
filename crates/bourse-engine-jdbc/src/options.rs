//! Settings of a JDBC target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::option_spec;
use bourse_engine::target::{ExpectedValue, Grammar, OptionSpec, Scheme, parse_bytes, parse_number, show_bytes};
use std::path::PathBuf;
use std::time::Duration;

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `jar`: files and folders, as they are written.
    pub jar: Option<String>,
    /// `java`: the folder of a Java runtime.
    pub java: Option<PathBuf>,
    /// `heap`, in bytes; the machine's own default if none.
    pub heap_bytes: Option<u64>,
    /// `lock_timeout`, whole seconds.
    pub lock_timeout: Duration,
    /// `write_delay`; the database's own default if none.
    pub write_delay: Option<Duration>,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self =
        Self { jar: None, java: None, heap_bytes: None, lock_timeout: Duration::from_secs(10), write_delay: None };
}

/// Grammar of JDBC targets.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "JDBC",
    schemes: &[
        Scheme::plain("jdbc+h2"),
        Scheme {
            name: "jdbc+hsqldb",
            kind: "HSQLDB",
            without: &["lock_timeout"],
            because: "its transactions fail at once, or wait until no conflict is possible",
        },
        Scheme {
            name: "jdbc+derby",
            kind: "Derby",
            without: &["write_delay"],
            because: "it syncs its log at each commit",
        },
        Scheme {
            name: "jdbc+monetdb",
            kind: "MonetDB",
            without: &["write_delay", "lock_timeout"],
            because: "it has no such setting",
        },
    ],
    forms: "jdbc+h2:PATH or jdbc+h2::memory:, and likewise jdbc+hsqldb, jdbc+derby and jdbc+monetdb",
    options: &[
        OptionSpec {
            name: "jar",
            values: "a path, or several with the system's separator between them",
            meaning: "the database's jars, or folders of jars [without it: $BOURSE_JDBC_H2_JAR, $BOURSE_JDBC_HSQLDB_JAR, $BOURSE_JDBC_DERBY_JAR or $BOURSE_JDBC_MONETDB_JAR, then the usual folders]",
            set: |options, text| match text {
                "" => Err(ExpectedValue::Listed),
                text => {
                    options.jar = Some(text.to_owned());
                    Ok(())
                }
            },
            show: |options| options.jar.clone().unwrap_or_default(),
        },
        option_spec!("java" => java: path,
            "folder of the Java runtime, 11 or later [without it: $JAVA_HOME, then the one that the program java belongs to]"),
        OptionSpec {
            name: "heap",
            values: "bytes, as 1GiB, from 16MiB to 16TiB",
            meaning: "heap of the virtual machine, all of it from the start [without it: up to a quarter of the machine's memory]",
            set: |options, text| parse_bytes(text, 16 << 20, 1 << 44).map(|bytes| options.heap_bytes = Some(bytes)),
            show: |options| options.heap_bytes.map_or_else(String::new, show_bytes),
        },
        option_spec!("lock_timeout" => lock_timeout: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
            "how long a transaction waits for another one before it fails with a conflict"),
        OptionSpec {
            name: "write_delay",
            values: "a time in milliseconds from 0ms to 10000ms",
            meaning: "how long after a commit its changes are written at the latest; 0ms: at the commit [without it: 500ms]",
            set: |options, text| {
                let digits = text.strip_suffix("ms").ok_or(ExpectedValue::Listed)?;
                parse_number(digits, 0, 10_000).map(|ms| options.write_delay = Some(Duration::from_millis(ms)))
            },
            show: |options| options.write_delay.map_or_else(String::new, |delay| format!("{}ms", delay.as_millis())),
        },
    ],
};
