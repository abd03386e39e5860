//! Recordings of one database.

use bourse_crash::{BLOCK_BYTES, Device, Operation, Selection, StateId, points, state_at};
use bourse_engine::{Access, Engine as _, Isolation, Params, Sql};
use bourse_engine_sqlite::open;
use bourse_engine_sqlite::power::{Recording, Scope};
use std::fs;
use std::path::Path;

static CREATE: Sql = Sql::new("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)");
static INSERT: Sql = Sql::new("INSERT INTO t (b) VALUES ('a row')");

fn work(path: &Path, sql: &'static Sql, commits: u64, acknowledge: impl Fn(u64)) {
    let engine = open(&format!("sqlite:{}?journal=wal", path.display())).expect("a target that exists");
    let mut session = engine.session().expect("it can be opened");
    for number in 1..=commits {
        session.begin(Isolation::Serializable, Access::Write).expect("it begins");
        session.execute(sql, Params::NONE).expect("it is done");
        session.commit().expect("it is committed");
        acknowledge(number);
    }
}

#[test]
fn a_recorded_database_is_as_it_lies_on_the_disk_and_others_are_left_out() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (path, other) = (folder.path().join("x.db"), folder.path().join("x.db-other"));
    work(&path, &CREATE, 1, |_| {});
    let before = fs::metadata(&path).expect("it is there").len();
    let recording = Recording::of_database(&path, Device::POWERSAFE, Scope::Thread).expect("it can be recorded");
    let (acknowledge, bytes) = (recording.acknowledge(), recording.bytes_written());
    work(&path, &INSERT, 100, acknowledge);
    let written = bytes();
    work(&other, &CREATE, 1, |_| {});
    assert_eq!(bytes(), written, "another database's bytes do not count");
    let trace = recording.finish();

    assert_eq!(trace.base.files.keys().collect::<Vec<_>>(), ["db"]);
    assert_eq!(trace.base.files["db"].size(), before);
    let created = trace.operations.iter().filter_map(|operation| match operation {
        Operation::Create { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(created.collect::<Vec<_>>(), ["db-wal"]);
    let bytes_of = |operation: &Operation| match operation {
        Operation::Write { bytes, .. } => bytes.len() as u64,
        _ => 0,
    };
    assert_eq!(trace.operations.iter().map(bytes_of).sum::<u64>(), written);

    let last = StateId { point: points(&trace).len() - 1, selection: Selection::All };
    let (state, acknowledged) = state_at(&trace, Device::POWERSAFE, 1, last).expect("the end is a state");
    assert_eq!(acknowledged, 100);
    let (main, disk) = (state.files["db"].to_bytes(), fs::read(&path).expect("it is there"));
    assert_eq!(main.len(), disk.len());
    let changed = trace.blocks_changed(0, before);
    assert!(!changed.is_empty(), "the log was moved into it when it was closed");
    for block in changed {
        let start = block as usize * BLOCK_BYTES;
        let end = disk.len().min(start + BLOCK_BYTES);
        assert!(main[start..end] == disk[start..end], "block {block}");
    }
}
