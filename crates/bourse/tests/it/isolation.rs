//! `bourse isolation` from outside: histories of real engines, stored ones examined again, and refusals.

use crate::{output, text};
use bourse_engine_mysql::Flavour;
use std::fs;

/// Records so many transactions of each of four users at each level of a target, which must keep its promise; returns the report.
/// Options of the command may follow the target.
fn kept(target: &str, count: &str, promises: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run = ["isolation", "--count", count, "--rounds", "1", "--warmup", "0s", "--seed", "7"];
    let ended = output(folder.path(), &run.into_iter().chain(target.split(' ')).collect::<Vec<_>>());
    let (said, shown) = (text(&ended.stderr), text(&ended.stdout));
    assert!(ended.status.success(), "{target}: {said}{shown}");
    for promise in promises {
        assert!(shown.lines().any(|line| line.contains(promise) && line.contains("  kept  ")), "{promise}: {shown}");
    }
    assert_eq!(shown.matches("  kept  ").count(), promises.len() + 1, "one is the column's head: {shown}");
    shown
}

#[test]
fn engines_in_this_process_keep_what_they_promise() {
    let serializable = [
        "sqlite:x.db?journal=wal&sync=off",
        "sqlite:x.db?writers=busy&sync=off",
        "sqlite:x.db?writers=sqlite&sync=off",
        "sqlite:x.db?writers=one&sync=off",
        "sqlite:x.db?journal=delete&sync=off",
        "sqlite:x.db?shared_cache=on&sync=off",
        "sqlite:x.db?sync=off --processes 2",
        "redb:x.redb?durability=none",
        "lmdb:x.lmdb?sync=off",
        "lmdb:x.lmdb?sync=off --processes 2",
    ];
    for target in serializable {
        kept(target, "2500", &["serializable"]);
    }
    // The table breaks "read uncommitted" into two lines.
    let shown = kept("sqlite:x.db?shared_cache=on&read_uncommitted=on&sync=off", "2500", &["read"]);
    assert!(shown.contains("found and allowed: "), "reads of what is not committed: {shown}");
}

#[test]
fn a_private_postgres_keeps_its_three_levels() {
    let test = "isolation::a_private_postgres_keeps_its_three_levels";
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped(test, why);
    }
    let shown = kept("postgres+private:?ram=on", "1000", &["read committed", "snapshot", "serializable"]);
    assert!(shown.contains("found and allowed: "), "read committed allows it: {shown}");
}

#[test]
fn a_private_mariadb_keeps_its_three_levels() {
    let test = "isolation::a_private_mariadb_keeps_its_three_levels";
    if let Err(why) = bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        return bourse_testkit::skipped(test, why);
    }
    kept("mariadb+private:?ram=on", "1000", &["read committed", "snapshot", "serializable"]);
}

#[test]
fn several_processes_record_no_more_transactions_than_one() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run = ["isolation", "lmdb:x.lmdb?sync=off", "--rounds", "1", "--for", "1m", "--warmup", "0s", "--json"];
    let ended = output(folder.path(), &[&run[..], &["-s", "transactions=2000", "--processes", "2"]].concat());
    let run: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("a run file is JSON");
    let committed = run["cases"][0]["rounds"][0]["history"]["committed"].as_u64();
    assert!(committed > Some(1_000) && committed <= Some(2_000), "{committed:?}: {}", text(&ended.stderr));
}

/// Runs with faults: the promise is kept, and nothing that was acknowledged is lost; returns the report.
fn kept_with_faults(target: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run = ["isolation", target, "--faults", "--rounds", "1", "--seed", "7", "--no-repeat", "-v"];
    let ended = output(folder.path(), &[&run[..], arguments].concat());
    let (said, shown) = (text(&ended.stderr), text(&ended.stdout));
    assert!(ended.status.success(), "{target}: {said}{shown}");
    assert!(shown.lines().any(|line| line.contains("serializable") && line.contains("  kept  ")), "{shown}");
    shown
}

#[test]
fn a_killed_process_takes_nothing_with_it_that_was_acknowledged() {
    for target in ["sqlite:x.db?journal=wal&sync=off", "sqlite:y.db?journal=delete&sync=off", "lmdb:x.lmdb?sync=off"] {
        let shown = kept_with_faults(target, &["--for", "1s", "--warmup", "0s"]);
        assert!(shown.contains(" of 3 was killed "), "{target}: {shown}");
    }
}

#[test]
fn a_private_postgres_that_is_killed_has_all_that_was_acknowledged() {
    let test = "isolation::a_private_postgres_that_is_killed_has_all_that_was_acknowledged";
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped(test, why);
    }
    let shown = kept_with_faults("postgres+private:", &["--for", "6s", "--warmup", "0s", "--level", "serializable"]);
    assert!(shown.contains("server killed and started again: "), "{shown}");
}

#[test]
fn a_stored_history_is_examined_again() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run = ["isolation", "sqlite:x.db?sync=off", "--count", "300", "--rounds", "1", "--warmup", "0s", "--seed", "7"];
    let ended = output(folder.path(), &[&run[..], &["--history", "h", "-s", "kind=append"]].concat());
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let again = output(folder.path(), &["isolation", "--replay", "h/sqlite-serializable-7.json"]);
    let shown = text(&again.stdout);
    assert!(shown.contains("not refuted: strict serializable"), "{shown}{}", text(&again.stderr));
    assert!(
        fs::read_to_string(folder.path().join("h/sqlite-serializable-7.edn"))
            .is_ok_and(|text| text.contains(":append"))
    );
    for (file, words) in
        [("nowhere", "nowhere"), ("x.db", "x.db"), ("h/sqlite-serializable-7.edn", "sqlite-serializable-7.edn")]
    {
        let refused = output(folder.path(), &["isolation", "--replay", file]);
        assert_eq!(refused.status.code(), Some(1), "{file}");
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    }
}

#[test]
fn what_cannot_be_examined_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (arguments, words) in [
        (&["isolation"][..], "TARGET"),
        (&["isolation", "sqlite:x.db", "--level", "snapshot"], "repeatable-read"),
        (&["isolation", "sqlite::memory:", "-s", "keys=2"], "keys=2 must not be below hot=6"),
        (&["isolation", "sqlite:x.db", "-s", "kind=lists"], "register"),
        (&["isolation", "redb:x.redb", "--faults"], "one process at a time can have its database open"),
        (&["isolation", "postgres+private:", "--processes", "2"], "its server belongs to one process"),
        (&["isolation", "sqlite:x.db", "--processes", "5"], "processes=5 must not be above threads=4"),
        (&["micro", "run", "history", "sqlite:x.db", "-s", "faults=on"], "processes=2 or more"),
        (&["isolation", "sqlite:x.db", "--replay", "x"], "--replay"),
        (&["isolation", "fastdb:x?index=hash"], "records in the order of their keys"),
    ] {
        let refused = output(folder.path(), arguments);
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains(words), "{arguments:?}: {said}");
    }
}
