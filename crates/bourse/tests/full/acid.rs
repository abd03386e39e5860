//! `bourse tpce acid` on each available engine: every test of atomicity, consistency and isolation passes, and the levels
//! that the engine lacks are those that it declares. Durability of engines with files is tested elsewhere.

use crate::{in_java, printed, private_server};
use bourse_engine_mysql::cluster::ClusterProduct;
use bourse_engine_mysql::{Flavour, SERVER_VARIABLE};
use bourse_record::acid::{AcidCase, AcidFile, AcidVerdict};
use bourse_record::faults::FaultsFile;
use bourse_record::{Document as _, IsolationLevel};
use std::path::Path;

/// Every test except the crashes.
const TESTS: [&str; 13] = ["A1", "A2", "A3", "A4", "C1", "C2", "C3", "C4", "C5", "I1", "I2", "I3", "I4"];

/// Examines a target whose engine gives Trade-Result this level; serializable is demanded.
#[track_caller]
fn keeps(target: &str, trade_result: IsolationLevel) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let size = ["--customers", "1000", "--days", "1", "--only", "A,C,I", "--repeats", "2", "--json"];
    let document = printed(folder.path(), &[&["tpce", "acid", target][..], &size].concat());
    let file: AcidFile = AcidFile::parse(document.as_bytes(), Path::new("stdout")).expect("--json prints the document");
    let ids: Vec<_> = file.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids, TESTS, "{target}");
    for test in &file.tests {
        assert_eq!(test.verdict, AcidVerdict::Passed, "{target}: {} {}: {}", test.id, test.title, test.reason);
        let has_evidence = |case: &AcidCase| case.holds() && !case.findings.is_empty();
        assert!(!test.cases.is_empty() && test.cases.iter().all(has_evidence), "{target}: {test:?}");
    }
    assert_eq!(file.isolation.len(), 12, "{target}: {:?}", file.isolation);
    for it in &file.isolation {
        if it.operation == "Trade-Result" {
            assert_eq!((it.demanded, it.provided), (IsolationLevel::Serializable, trade_result), "{target}");
        } else {
            assert!(it.provided >= it.demanded, "{target}: {it:?}");
        }
    }
}

#[test]
fn postgres_keeps_all() {
    if let Some(target) = private_server("acid::postgres_keeps_all", "postgres+private") {
        keeps(&target, IsolationLevel::Serializable);
    }
}

#[test]
fn mariadb_keeps_all() {
    if let Some(target) = private_server("acid::mariadb_keeps_all", "mariadb+private") {
        keeps(&target, IsolationLevel::Serializable);
    }
}

#[test]
fn mysql_keeps_all() {
    match bourse_engine_mysql::installed(Flavour::Mysql, None) {
        Ok(_) => {
            let settings = "ram=on&innodb_buffer_pool=64MiB&log_file=16MiB";
            keeps(&format!("mysql+private:?{settings}{}", named_server()), IsolationLevel::Serializable);
        }
        Err(why) => bourse_testkit::skipped("acid::mysql_keeps_all", why),
    }
}

/// The server named in the environment, as a setting of a target: the program is started without that environment.
pub(crate) fn named_server() -> String {
    std::env::var(SERVER_VARIABLE).map_or_else(|_| String::new(), |server| format!("&server={server}"))
}

#[test]
fn galera_keeps_all_but_serializable_between_nodes() {
    cluster("acid::galera_keeps_all_but_serializable_between_nodes", ClusterProduct::Galera, "mariadb+galera");
}

#[test]
fn group_replication_keeps_all_but_serializable_between_nodes() {
    cluster("acid::group_replication_keeps_all_but_serializable_between_nodes", ClusterProduct::Group, "mysql+group");
}

fn cluster(test: &str, product: ClusterProduct, scheme: &str) {
    if let Err(why) =
        bourse_engine_mysql::cluster::installed(product, &bourse_engine_mysql::cluster::ClusterOptions::DEFAULT)
    {
        return bourse_testkit::skipped(test, why);
    }
    let server = if product == ClusterProduct::Group { named_server() } else { String::new() };
    let settings = "nodes=2&ram=on&innodb_buffer_pool=128MiB&log_file=64MiB&flush_log=2";
    keeps(&format!("{scheme}:?{settings}{server}"), IsolationLevel::RepeatableRead);
}

#[test]
fn the_systems_sqlite_keeps_all() {
    match bourse_engine_sqlite_lib::info(None) {
        Ok(_) => keeps("sqlite+lib:x.db", IsolationLevel::Serializable),
        Err(why) => bourse_testkit::skipped("acid::the_systems_sqlite_keeps_all", why.message()),
    }
}

#[test]
fn duckdb_keeps_all_but_serializable_unless_writers_wait() {
    match bourse_engine_duckdb::info(None) {
        Ok(found) => {
            let target = format!("duckdb::memory:?library={}", found.path.display());
            keeps(&target, IsolationLevel::RepeatableRead);
            keeps(&format!("{target}&writers=one"), IsolationLevel::Serializable);
        }
        Err(why) => bourse_testkit::skipped("acid::duckdb_keeps_all_but_serializable_unless_writers_wait", why),
    }
}

/// A database file of another engine than SQLite is on the simulated disk, where its calls are seen.
#[test]
fn duckdb_loses_its_power() {
    let name = "acid::duckdb_loses_its_power";
    if let Err(why) = bourse_crash::preload::library() {
        return bourse_testkit::skipped(name, why);
    }
    let library = match bourse_engine_duckdb::info(None) {
        Ok(found) => found.path,
        Err(why) => return bourse_testkit::skipped(name, why),
    };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = format!("duckdb:x.duckdb?library={}", library.display());
    let size = ["--customers", "1000", "--days", "1", "--only", "D", "--demand", "durable", "--json"];
    let document = printed(folder.path(), &[&["tpce", "acid", &target][..], &size].concat());
    let file: AcidFile = AcidFile::parse(document.as_bytes(), Path::new("stdout")).expect("--json prints the document");
    let ids: Vec<_> = file.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids, ["D1", "D2", "D3"]);
    for test in &file.tests {
        assert_eq!(test.verdict, AcidVerdict::Passed, "{}: {}", test.id, test.reason);
        assert!(test.reason.starts_with("0 of "), "{}: {}", test.id, test.reason);
    }
}

/// Faults of engines whose library is loaded at run time: each call is met, and no guarantee is broken.
#[test]
fn libraries_report_faults_or_keep_what_they_acknowledged() {
    let name = "acid::libraries_report_faults_or_keep_what_they_acknowledged";
    if let Err(why) = bourse_crash::preload::library() {
        return bourse_testkit::skipped(name, why);
    }
    let duckdb = bourse_engine_duckdb::info(None).map(|found| format!("duckdb:?library={}", found.path.display()));
    let rocksdb = bourse_engine_rocksdb::info(None).map(|_| "rocksdb:?sync=on".to_owned());
    for target in [duckdb.map_err(|why| why.to_string()), rocksdb.map_err(|why| why.to_string())] {
        let target = match target {
            Ok(target) => target,
            Err(why) => {
                bourse_testkit::skipped(name, why);
                continue;
            }
        };
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let only = ["--only", "write-errors,killed,power", "--times", "1", "--transactions", "20", "--json"];
        let file = printed(folder.path(), &[&["faults", &target][..], &only].concat());
        let file = FaultsFile::parse(file.as_bytes(), Path::new("stdout")).expect("--json prints the document");
        assert_eq!(file.rows.len(), 3, "{target}");
        for row in &file.rows {
            assert!(row.cases.iter().any(|case| case.fired > 0), "{target}: {}: {}", row.fault, row.not_tried);
        }
    }
}

#[test]
fn firebird_keeps_all_but_serializable_unless_tables_are_locked() {
    let test = "acid::firebird_keeps_all_but_serializable_unless_tables_are_locked";
    match bourse_engine_firebird::info(None) {
        Ok(_) => {
            keeps("firebird:x.fdb?sync=off", IsolationLevel::RepeatableRead);
            keeps("firebird:x.fdb?sync=off&serializable=tables", IsolationLevel::Serializable);
        }
        Err(why) => bourse_testkit::skipped(test, why),
    }
}

#[test]
fn turso_keeps_all() {
    keeps("turso::memory:", IsolationLevel::Serializable);
    keeps("turso::memory:?journal=mvcc", IsolationLevel::Serializable);
}

#[test]
fn databases_in_java_keep_all_that_they_declare() {
    for (place, trade_result) in [
        ("jdbc+h2::memory:", IsolationLevel::RepeatableRead),
        ("jdbc+hsqldb::memory:", IsolationLevel::RepeatableRead),
        ("jdbc+derby::memory:", IsolationLevel::Serializable),
    ] {
        if let Some(target) = in_java(place, "", "acid::databases_in_java_keep_all_that_they_declare") {
            keeps(&target, trade_result);
        }
    }
}
