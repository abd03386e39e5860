//! Each workload on each kind of engine that can run it: its checks pass there too.

use crate::support::{TIMING, WHOLE, counted, run};
use bourse_driver::MS;
use bourse_engine::Engine;
use bourse_engine_mysql::Flavour;
use bourse_micro::{RoundExtent, Timing, WORKLOADS, find};

/// Small rounds of every workload: name and options.
const SMALL: &[(&str, &[(&str, &str)])] = &[
    ("point-read", &[("rows", "500"), ("threads", "2")]),
    ("point-read", &[("rows", "500"), ("key", "text"), ("hit_rate", "0.5")]),
    ("bulk-load", &[("rows", "300"), ("tables", "2")]),
    ("bulk-load", &[("rows", "30"), ("per_transaction", "1"), ("explicit", "off")]),
    ("bulk-load", &[("rows", "300"), ("shape", "pairs"), ("indexes", "before")]),
    ("bulk-load", &[("rows", "300"), ("shape", "pairs"), ("key_index", "hash")]),
    ("bulk-load", &[("rows", "300"), ("ids", "assigned"), ("per_transaction", "100")]),
    ("update", &[("rows", "100"), ("per_transaction", "10"), ("compute", "50")]),
    ("update", &[("rows", "100"), ("statements", "parsed"), ("explicit", "off")]),
    ("read-write", &[("rows", "100"), ("readers", "2"), ("write_rate", "1k")]),
    ("index-search", &[("rows", "300"), ("by", "both")]),
    ("index-search", &[("rows", "300"), ("index", "hash")]),
    ("delete", &[("rows", "300"), ("mode", "all")]),
    ("delete", &[("rows", "300"), ("mode", "each"), ("text_index", "off")]),
    ("scan", &[("rows", "200"), ("length", "10")]),
    ("bulk-load", &[("rows", "200"), ("key", "text"), ("per_transaction", "7")]),
    ("ycsb-a", &[("rows", "200"), ("threads", "2")]),
    ("ycsb-b", &[("rows", "200"), ("keys", "uniform")]),
    ("ycsb-c", &[("rows", "200"), ("fields", "1"), ("field_length", "7")]),
    ("ycsb-d", &[("rows", "200"), ("threads", "2")]),
    ("ycsb-e", &[("rows", "200"), ("threads", "2")]),
    ("ycsb-f", &[("rows", "200"), ("threads", "2")]),
    (
        "ycsb",
        &[("rows", "200"), ("threads", "2"), ("mix", "read:0.4+update:0.2+insert:0.2+scan:0.1+read-modify-write:0.1")],
    ),
    ("sql", &[("threads", "2")]),
    ("commit", &[("threads", "2")]),
    ("history", &[("keys", "12"), ("threads", "2")]),
    ("log-growth", &[("rows", "100")]),
    ("log-growth", &[("rows", "100"), ("change", "insert"), ("per_transaction", "all")]),
    ("log-growth", &[("rows", "100"), ("checkpoint", "truncate"), ("checkpoint_every_ms", "1")]),
    ("log-growth", &[("rows", "100"), ("pinned", "on")]),
    ("client-mix", &[("queries", "200"), ("clients", "5"), ("phase", "insert")]),
    ("client-mix", &[("queries", "200"), ("clients", "5"), ("phase", "update")]),
    ("client-mix", &[("queries", "200"), ("clients", "5"), ("phase", "select"), ("statements", "parsed")]),
    ("client-mix", &[("queries", "200"), ("clients", "5"), ("phase", "delete")]),
    ("client-mix", &[("queries", "200"), ("clients", "5"), ("phase", "mixed")]),
];

/// Runs every workload that the engine can, and returns descriptions of the others.
fn every_workload(engine: &dyn Engine) -> Vec<String> {
    assert!(WORKLOADS.iter().all(|spec| SMALL.iter().any(|(name, _)| *name == spec.name)), "each has a small round");
    let mut lacking = Vec::new();
    for (name, options) in SMALL {
        let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
        let missing = case.lacking(&engine.capabilities());
        if !missing.is_empty() {
            lacking.push(format!("{name}: {}", missing.join("; ")));
            continue;
        }
        let ends = case.spec.extent == RoundExtent::Work;
        run(engine, name, options, if ends { WHOLE } else { counted(100) });
    }
    // Its tables stay while others replace them, and time can end it as well.
    run(engine, "update", &[("rows", "20")], Timing { measure_ns: Some(100 * MS), ..TIMING });
    lacking
}

const NO_HASH: [&str; 2] =
    ["bulk-load: key_index=hash needs a hash index", "index-search: index=hash needs a hash index"];
/// Missing capabilities of engines with keys and values only.
const KEYS_ALONE: [&str; 14] = [
    "bulk-load: indexes=before needs indexes beside the key",
    "bulk-load: key_index=hash needs a hash index",
    "bulk-load: ids=assigned needs an engine that assigns keys",
    "update: statements=parsed needs SQL",
    "index-search: searching by text needs indexes beside the key",
    "index-search: index=hash needs a hash index",
    "delete: text_index=on needs indexes beside the key; -s text_index=off does without",
    "sql: it needs SQL",
    "log-growth: checkpoint=truncate needs a write-ahead log",
    "client-mix: it needs SQL",
    "client-mix: it needs SQL",
    "client-mix: it needs SQL",
    "client-mix: it needs SQL",
    "client-mix: it needs SQL",
];
const NO_LOG: [&str; 1] = ["log-growth: checkpoint=truncate needs a write-ahead log"];
const NO_SNAPSHOTS: [&str; 1] = ["log-growth: pinned=on needs readers that leave writers alone"];

#[test]
fn on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let target = |journal| format!("sqlite:{}?journal={journal}&sync=off", path.display());
    for (target, more) in [
        ("sqlite::memory:".to_owned(), vec![]),
        (target("wal"), vec![]),
        (target("delete"), [NO_LOG, NO_SNAPSHOTS].concat()),
    ] {
        let lacking = every_workload(&bourse_engine_sqlite::open(&target).unwrap());
        assert_eq!(lacking, [&NO_HASH[..], &more].concat(), "{target}");
    }
}

#[test]
fn on_redb() {
    let lacking = every_workload(&bourse_engine_redb::open("redb::memory:").unwrap());
    assert_eq!(lacking, KEYS_ALONE);
}

#[test]
fn on_lmdb() {
    let folder = tempfile::tempdir().unwrap();
    let target = format!("lmdb:{}?sync=off", folder.path().join("x.mdb").display());
    let lacking = every_workload(&bourse_engine_lmdb::open(&target).unwrap());
    assert_eq!(lacking, KEYS_ALONE);
}

#[test]
fn on_fjall() {
    let folder = tempfile::tempdir().unwrap();
    let target = format!("fjall:{}?persist=buffer", folder.path().join("x.fjall").display());
    let lacking = every_workload(&bourse_engine_fjall::open(&target).unwrap());
    assert_eq!(lacking, KEYS_ALONE);
}

#[test]
fn on_rocksdb() {
    if let Err(why) = bourse_engine_rocksdb::info(None) {
        bourse_testkit::skipped("on_rocksdb", why);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let target = format!("rocksdb:{}?sync=off", folder.path().join("x.rocksdb").display());
    let lacking = every_workload(&bourse_engine_rocksdb::open(&target).unwrap());
    assert_eq!(lacking, KEYS_ALONE);
}

#[test]
fn on_duckdb() {
    if let Err(why) = bourse_engine_duckdb::info(None) {
        bourse_testkit::skipped("on_duckdb", why);
        return;
    }
    let lacking = every_workload(&bourse_engine_duckdb::open("duckdb::memory:").unwrap());
    let assigned = "bulk-load: ids=assigned needs an engine that assigns keys";
    let mut expected = [&NO_HASH[..], &NO_LOG, &[assigned]].concat();
    expected.sort();
    let mut lacking = lacking;
    lacking.sort();
    assert_eq!(lacking, expected);
}

#[test]
fn on_fastdb() {
    let variable = bourse_engine_fastdb::LIBRARY_VARIABLE;
    if std::env::var_os(variable).is_none() {
        bourse_testkit::skipped("on_fastdb", format!("{variable} names no library"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let target = format!("fastdb:{}?size=256MiB&commit=precommit", folder.path().join("x.fdb").display());
    let lacking = every_workload(&bourse_engine_fastdb::open(&target).unwrap());
    assert!(lacking.iter().all(|words| words.contains("needs")), "{lacking:?}");
    assert!(!lacking.iter().any(|words| words.contains("hash")), "it has hash indexes: {lacking:?}");
}

#[test]
fn on_a_private_mariadb() {
    if let Err(why) = bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        bourse_testkit::skipped("on_a_private_mariadb", why);
        return;
    }
    let memory = if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let target = format!("mariadb+private:?{memory}innodb_buffer_pool=64MiB&log_file=64MiB");
    let lacking = every_workload(&bourse_engine_mysql::open(&target).unwrap());
    assert_eq!(lacking, [&NO_HASH[..], &NO_LOG].concat());
}
