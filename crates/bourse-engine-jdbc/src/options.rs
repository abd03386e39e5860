//! Settings of a JDBC target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::options;
use bourse_engine::target::{ExpectedValue, Grammar, Scheme, parse_number};
use std::path::PathBuf;
use std::time::Duration;

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JdbcOptions;

    /// `jar`: files and folders, as they are written.
    jar: Option<String> = None =>
        [OptionSpec {
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
        }];

    /// `java`: the folder of a Java runtime.
    java: Option<PathBuf> = None => ["java": path,
        "folder of the Java runtime, 11 or later [without it: $JAVA_HOME, then the one that the program java belongs to]"];

    /// `heap`, in bytes; the machine's own default if none.
    heap_bytes: Option<u64> = None =>
        ["heap": optional_bytes(16 << 20, 1 << 44), "bytes, as 1GiB, from 16MiB to 16TiB",
        "heap of the virtual machine, all of it from the start [without it: up to a quarter of the machine's memory]"];

    /// `lock_timeout`, whole seconds.
    lock_timeout: Duration = Duration::from_secs(10) =>
        ["lock_timeout": seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "how long a transaction waits for another one before it fails with a conflict"];

    /// `write_delay`; the database's own default if none.
    write_delay: Option<Duration> = None =>
        [OptionSpec {
            name: "write_delay",
            values: "a time in milliseconds from 0ms to 10000ms",
            meaning: "how long after a commit its changes are written at the latest; 0ms: at the commit [without it: 500ms]",
            set: |options, text| {
                let digits = text.strip_suffix("ms").ok_or(ExpectedValue::Listed)?;
                parse_number(digits, 0, 10_000).map(|ms| options.write_delay = Some(Duration::from_millis(ms)))
            },
            show: |options| options.write_delay.map_or_else(String::new, |delay| format!("{}ms", delay.as_millis())),
        }];

    /// `nio`.
    nio: bool = true => ["nio": switch, "map the data file into memory (`hsqldb.nio_data_file`)"];
}

/// Grammar of JDBC targets.
pub static GRAMMAR: Grammar<JdbcOptions> = Grammar {
    engine: "JDBC",
    schemes: &[
        Scheme { name: "jdbc+h2", kind: "H2", without: &["nio"], because: "it maps no file" },
        Scheme {
            name: "jdbc+hsqldb",
            kind: "HSQLDB",
            without: &["lock_timeout"],
            because: "its transactions fail at once, or wait until no conflict is possible",
        },
        Scheme {
            name: "jdbc+derby",
            kind: "Derby",
            without: &["write_delay", "nio"],
            because: "it syncs its log at each commit, and maps no file",
        },
        Scheme {
            name: "jdbc+monetdb",
            kind: "MonetDB",
            without: &["write_delay", "lock_timeout", "nio"],
            because: "it has no such setting",
        },
    ],
    forms: "jdbc+h2:PATH or jdbc+h2::memory:, and likewise jdbc+hsqldb, jdbc+derby and jdbc+monetdb",
    options: OPTIONS,
};
