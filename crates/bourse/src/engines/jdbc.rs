//! H2, HSQLDB, Derby and MonetDB: one engine for the databases of the Java virtual machine.

use super::{Calls, opened, options_of_scheme};
use bourse_engine_jdbc::{GRAMMAR, Options, info, open};

pub(super) const H2: Calls = calls(|| version("jdbc+h2"), || options("jdbc+h2"));
pub(super) const HSQLDB: Calls = calls(|| version("jdbc+hsqldb"), || options("jdbc+hsqldb"));
pub(super) const DERBY: Calls = calls(|| version("jdbc+derby"), || options("jdbc+derby"));
pub(super) const MONETDB: Calls = calls(|| version("jdbc+monetdb"), || options("jdbc+monetdb"));

const fn calls(version: fn() -> Result<String, String>, options: fn() -> Vec<[String; 4]>) -> Calls {
    Calls {
        version,
        available: |target| info(target).map(drop).map_err(|error| error.to_string()),
        options,
        compiled: Vec::new,
        renamed: |target| GRAMMAR.renamed_in(target),
        open: |target| opened(target.split(':').next().unwrap_or_default(), open(target)),
        cleanup: |_| {},
        crashes: None,
        faults: &[],
        // There is one virtual machine in a process, which is never unloaded.
        stays_loaded: true,
    }
}

/// Jars and virtual machine of a database: its version is known once it runs.
fn version(scheme: &str) -> Result<String, String> {
    let found = info(&format!("{scheme}:x")).map_err(|error| error.to_string())?;
    let jars: Vec<_> = found.jars.iter().map(|jar| jar.display().to_string()).collect();
    Ok(format!("{}, {}", jars.join(", "), found.machine.display()))
}

fn options(scheme: &str) -> Vec<[String; 4]> {
    options_of_scheme(&GRAMMAR, scheme, &Options::DEFAULT)
}
