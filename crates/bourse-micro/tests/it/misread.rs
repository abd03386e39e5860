//! Rows that are returned wrong are noticed, on every engine: each read examines every byte.

use crate::support::counted;
use bourse_driver::RealClock;
use bourse_engine::Engine;
use bourse_micro::{find, run_round};
use bourse_record::Outcome;
use bourse_testkit::{HitStatements, MisreadingEngine, ReadDefect};
use std::sync::atomic::AtomicBool;

const ALL: [ReadDefect; 6] = [
    ReadDefect::Neighbour,
    ReadDefect::Truncated,
    ReadDefect::OneByte,
    ReadDefect::Swapped,
    ReadDefect::Number,
    ReadDefect::NoValues,
];

/// Number of failed reads among two hundred, each alone in its sample, if every 50th row that is read is wrong.
fn failures(engine: impl Engine, what: ReadDefect, name: &str, options: &[(&str, &str)]) -> u64 {
    let engine = MisreadingEngine::new(engine, HitStatements::Every(50), what);
    let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
    let never = AtomicBool::new(false);
    let result = run_round(&case, &engine, &counted(200), 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
    let outcomes = result.round.operations.iter().flat_map(|operation| &operation.outcomes);
    outcomes.filter(|it| it.outcome == Outcome::Failed).map(|it| it.count).sum()
}

/// Checks that each kind of wrong row fails exactly the reads that returned one.
fn check<E: Engine>(open: impl Fn() -> E, name: &str, options: &[(&str, &str)], kinds: &[ReadDefect], expected: u64) {
    let options = [options, &[("batch", "1"), ("rows", "300")]].concat();
    for &what in kinds {
        assert_eq!(failures(open(), what, name, &options), expected, "{name} {options:?}: {what:?}");
    }
}

fn everywhere(name: &str, options: &[(&str, &str)], kinds: &[ReadDefect], expected: u64) {
    let folder = tempfile::tempdir().unwrap();
    let lmdb = format!("lmdb:{}?sync=off", folder.path().join("x.mdb").display());
    check(|| bourse_engine_lmdb::open(&lmdb).unwrap(), name, options, kinds, expected);
    check(|| bourse_engine_redb::open("redb::memory:").unwrap(), name, options, kinds, expected);
    let fjall = format!("fjall:{}?persist=buffer", folder.path().join("x.fjall").display());
    check(|| bourse_engine_fjall::open(&fjall).unwrap(), name, options, kinds, expected);
    if bourse_engine_rocksdb::info(None).is_ok() {
        let rocksdb = format!("rocksdb:{}?sync=off", folder.path().join("x.rocksdb").display());
        check(|| bourse_engine_rocksdb::open(&rocksdb).unwrap(), name, options, kinds, expected);
    } else {
        bourse_testkit::skipped(&format!("{name} on RocksDB"), "its library is not installed");
    }
    check(|| bourse_engine_sqlite::open("sqlite::memory:").unwrap(), name, options, kinds, expected);
}

#[test]
fn a_point_read_notices_a_wrong_row() {
    everywhere("point-read", &[], &ALL, 4);
    everywhere("point-read", &[("key", "text"), ("width", "7")], &ALL, 4);
}

#[test]
fn the_reads_of_ycsb_notice_a_wrong_row() {
    // A record has no number.
    let kinds =
        [ReadDefect::Neighbour, ReadDefect::Truncated, ReadDefect::OneByte, ReadDefect::Swapped, ReadDefect::NoValues];
    let folder = tempfile::tempdir().unwrap();
    let lmdb = format!("lmdb:{}?sync=off", folder.path().join("x.mdb").display());
    for what in kinds {
        for name in ["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"] {
            let options = [("rows", "300")];
            assert!(failures(bourse_engine_lmdb::open(&lmdb).unwrap(), what, name, &options) > 0, "{name}: {what:?}");
            let sqlite = bourse_engine_sqlite::open("sqlite::memory:").unwrap();
            assert!(failures(sqlite, what, name, &options) > 0, "{name}: {what:?}");
        }
    }
}

#[test]
fn a_reader_beside_a_writer_notices_wrong_texts() {
    // A row without values would also end the check of the updates.
    let texts = [ReadDefect::Neighbour, ReadDefect::Truncated, ReadDefect::OneByte, ReadDefect::Swapped];
    everywhere("read-write", &[("writes", "1")], &texts, 4);
}

#[test]
fn a_scan_notices_a_wrong_row() {
    everywhere("scan", &[("length", "1")], &ALL, 4);
}

#[test]
fn a_search_notices_a_wrong_pair() {
    let kinds =
        [ReadDefect::Neighbour, ReadDefect::Truncated, ReadDefect::OneByte, ReadDefect::Swapped, ReadDefect::NoValues];
    everywhere("index-search", &[], &kinds, 4);
    check(|| bourse_engine_sqlite::open("sqlite::memory:").unwrap(), "index-search", &[("by", "text")], &kinds, 4);
}
