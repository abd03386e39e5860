//! Runs the same transactions on every SQL engine of this machine, each compared with SQLite and the model.

use crate::cargo;
use std::path::Path;
use std::process::Command;

/// Default number of transactions on each engine.
const TRANSACTIONS: &str = "20000";

/// Engines, each with a target in memory, or in a file without syncs.
const TARGETS: [(&str, &str); 13] = [
    // Without a name, the system's library.
    ("sqlite+lib", "sqlite+lib::memory:"),
    ("turso", "turso::memory:"),
    ("turso", "turso::memory:?journal=mvcc"),
    ("mariadb+private", "mariadb+private:?ram=on"),
    ("mysql+private", "mysql+private:?ram=on"),
    ("mariadb+galera", "mariadb+galera:?nodes=2&ram=on"),
    ("mysql+group", "mysql+group:?nodes=2&ram=on"),
    ("postgres+private", "postgres+private:?ram=on"),
    ("duckdb", "duckdb::memory:"),
    ("firebird", "firebird:target/differential.fdb?sync=off"),
    ("jdbc+h2", "jdbc+h2::memory:"),
    ("jdbc+hsqldb", "jdbc+hsqldb::memory:"),
    ("jdbc+derby", "jdbc+derby::memory:"),
];

/// Compares every output and every row. An engine that is not available is skipped by name. Not part of `cargo xtask ci`: it
/// takes minutes for each engine.
pub(crate) fn compare(root: &Path, transactions: Option<&str>) -> Result<(), String> {
    cargo(&["build", "--release", "--package", "bourse", "--features", "full"])?;
    let program = root.join("target/release/bourse");
    let listed = Command::new(&program).args(["engines", "--json"]).output();
    let listed = listed.map_err(|error| format!("{}: {error}", program.display()))?;
    let engines: serde_json::Value =
        serde_json::from_slice(&listed.stdout).map_err(|error| format!("bourse engines --json: {error}"))?;
    let mut compared = 0;
    let mut unlike = Vec::new();
    for (name, target) in TARGETS {
        let engine = engines.as_array().into_iter().flatten().find(|engine| engine["engine"] == name);
        let engine = engine.ok_or_else(|| format!("bourse engines does not list {name}"))?;
        if engine["version"].is_null() {
            println!("xtask: skipped {name}: {}", engine["unavailable"].as_str().unwrap_or("not there"));
            continue;
        }
        let verify = ["tpce", "verify", "sqlite::memory:", "model:", target, "--reload", "--days", "1", "-n"];
        let status = Command::new(&program).args(verify).arg(transactions.unwrap_or(TRANSACTIONS)).status();
        if !status.map_err(|error| format!("{}: {error}", program.display()))?.success() {
            unlike.push(target);
        }
        compared += 1;
    }
    if compared == 0 {
        return Err("no engine beside SQLite is there to be compared".to_owned());
    }
    if unlike.is_empty() { Ok(()) } else { Err(format!("not alike, or ended before: {}", unlike.join(", "))) }
}
