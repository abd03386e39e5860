//! `bourse isolation` on the engines that the default build leaves out: about 10,000 transactions at each level that one has.

use crate::acid::named_server;
use crate::{in_java, printed};
use bourse_engine_mysql::Flavour;

/// Records transactions of a target, which must keep these promises. Options of the command may follow the target.
#[track_caller]
fn keeps(target: &str, promises: &[&str]) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let size = ["--count", "2500", "--rounds", "1", "--warmup", "0s", "--seed", "7", "--json"];
    let run: Vec<&str> = ["isolation"].into_iter().chain(target.split(' ')).chain(size).collect();
    let run = printed(folder.path(), &run);
    let run: serde_json::Value = serde_json::from_str(&run).expect("a run file is JSON");
    let cases = run["cases"].as_array().expect("a list").iter();
    let histories: Vec<_> = cases.map(|case| &case["rounds"][0]["history"]).collect();
    let promised: Vec<_> = histories.iter().filter_map(|it| it["promised"].as_str()).collect();
    assert_eq!(promised, promises, "{target}");
    for history in histories {
        let committed = history["committed"].as_u64();
        assert!(committed > Some(9_000) && history["overlapping"].as_u64() > Some(0), "{target}: {committed:?}");
    }
}

#[test]
fn engines_of_files_keep_what_they_promise() {
    let test = "isolation::engines_of_files_keep_what_they_promise";
    keeps("fjall:x.fjall?persist=buffer", &["serializable"]);
    keeps("sqlite-lean:x.db?sync=off", &["serializable"]);
    keeps("turso:x.turso?sync=off", &["serializable"]);
    keeps("turso:x.turso?journal=mvcc&sync=off", &["snapshot", "serializable"]);
    match bourse_engine_sqlite_lib::info(None) {
        Ok(_) => keeps("sqlite+lib:x.db?sync=off", &["serializable"]),
        Err(why) => bourse_testkit::skipped(test, why.message()),
    }
    match bourse_engine_rocksdb::info(None) {
        Ok(_) => keeps("rocksdb:x.rocks?sync=off", &["snapshot"]),
        Err(why) => bourse_testkit::skipped(test, why),
    }
    match bourse_engine_firebird::info(None) {
        // It does not keep read committed: docs/findings.md.
        Ok(_) => keeps("firebird:x.fdb?sync=off --level repeatable-read", &["snapshot"]),
        Err(why) => bourse_testkit::skipped(test, why),
    }
}

#[test]
fn duckdb_keeps_what_it_promises_where_writers_wait() {
    match bourse_engine_duckdb::info(None) {
        Ok(found) => {
            let target = format!("duckdb::memory:?writers=one&library={}", found.path.display());
            keeps(&target, &["serializable"]);
        }
        Err(why) => bourse_testkit::skipped("isolation::duckdb_keeps_what_it_promises_where_writers_wait", why),
    }
}

#[test]
fn databases_in_java_keep_what_they_promise() {
    // Derby's circles of locks end after a time, which takes minutes.
    for place in ["jdbc+h2::memory:", "jdbc+hsqldb::memory:"] {
        if let Some(target) = in_java(place, "", "isolation::databases_in_java_keep_what_they_promise") {
            keeps(&target, &["read committed", "snapshot"]);
        }
    }
}

#[test]
fn a_private_mysql_keeps_its_three_levels() {
    match bourse_engine_mysql::installed(Flavour::Mysql, None) {
        Ok(_) => {
            let target = format!("mysql+private:?ram=on&innodb_buffer_pool=64MiB&log_file=16MiB{}", named_server());
            keeps(&target, &["read committed", "consistent reads", "serializable"]);
        }
        Err(why) => bourse_testkit::skipped("isolation::a_private_mysql_keeps_its_three_levels", why),
    }
}
