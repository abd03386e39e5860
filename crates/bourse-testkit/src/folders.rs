//! Conformance of key engines whose database is a folder and whose writers work on snapshots.

use bourse_engine::{
    Access, Durability, Engine, ErrorKind, IndexKind, Key, KeyEngine, RecordField, RecordTable, RecordType,
    RowExt as _, Value,
};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Table with one field.
pub static ITEMS: RecordTable =
    RecordTable::new("items", RecordField::new("id", RecordType::Int), &[RecordField::new("price", RecordType::Int)]);
/// Table with an indexed field.
pub static INDEXED: RecordTable = RecordTable::new(
    "indexed",
    RecordField::new("id", RecordType::Int),
    &[RecordField::new("price", RecordType::Int).indexed(IndexKind::Tree)],
);

/// Folder in memory where the system has one: there a commit does not wait for a disk.
pub fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Checks that a database is found again with its committed records after its engine is closed, and that a second engine is
/// refused while the first has it open, with an error that contains `busy`.
pub fn is_found_again<E: Engine + KeyEngine>(engine: &dyn Fn() -> E, busy: &str) {
    let first = engine();
    assert!(!first.exists().unwrap());
    let mut records = first.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    records.begin(Access::Write).unwrap();
    (0..1_000).for_each(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(id)]).unwrap());
    records.commit().unwrap();
    assert!(first.exists().unwrap());
    let size = first.footprint().unwrap();
    let is_folder = first.location().database_files().is_some_and(|files| files.path().is_dir());
    assert!(if is_folder { size.log_bytes.min(size.memory_bytes) } else { size.data_bytes } > 8_000, "{size:?}");
    let refused = engine().new_records().err().expect("two engines must not have one database");
    assert!(refused.message().contains(busy), "{refused}");
    drop(records);
    drop(first);
    let second = engine();
    assert!(second.exists().unwrap());
    let mut records = second.new_records().unwrap();
    assert_eq!(records.count(&ITEMS).unwrap(), 1_000);
    assert_eq!(records.delete_all(&ITEMS).unwrap(), 1_000);
    drop(records);
    drop(second);
    assert_eq!(engine().new_records().unwrap().count(&ITEMS).unwrap(), 0);
}

/// Environment variables with the folder and the options of the process that is killed.
const KILLED_IN: &str = "BOURSE_TEST_KILLED_IN";
const KILLED_WITH: &str = "BOURSE_TEST_KILLED_WITH";

/// Checks that every transaction a process acknowledged survives its kill, and that any other one is whole or absent.
///
/// The process is this test program again, running only the test of that name, which calls this function and nothing else.
pub fn keeps_what_a_killed_process_acknowledged<E: Engine + KeyEngine>(
    test: &str,
    queries: &[&str],
    engine: &dyn Fn(&Path, &str) -> E,
) {
    const ENOUGH: i64 = 300;
    /// Distance between the keys of a transaction's two records.
    const APART: i64 = 1 << 40;
    if let (Ok(folder), Ok(query)) = (std::env::var(KILLED_IN), std::env::var(KILLED_WITH)) {
        let mut records = engine(Path::new(&folder), &query).new_records().unwrap();
        records.create(&[&ITEMS]).unwrap();
        // Ends by an error once the parent no longer reads.
        for id in 0.. {
            records.begin(Access::Write).unwrap();
            records.insert(&ITEMS, Key::Int(id), &[Value::Int(id)]).unwrap();
            records.insert(&ITEMS, Key::Int(APART + id), &[Value::Int(-id)]).unwrap();
            records.commit().unwrap();
            let mut stdout = std::io::stdout();
            writeln!(stdout, "\nacknowledged {id}").and_then(|()| stdout.flush()).unwrap();
        }
    }
    for query in queries {
        let folder = in_memory();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(KILLED_IN, folder.path())
            .env(KILLED_WITH, query)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut acknowledged = None;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            // A line that was cut short has no number, or an earlier one.
            let number = line.unwrap().strip_prefix("acknowledged ").and_then(|number| number.parse::<i64>().ok());
            acknowledged = acknowledged.max(number);
            if number == Some(ENOUGH) {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let acknowledged = acknowledged.unwrap_or(-1);
        assert!(acknowledged >= ENOUGH, "{query}: it ended by itself after {acknowledged}");
        let mut records = engine(folder.path(), query).new_records().unwrap();
        let mut value = |id: i64| {
            let mut found = None;
            records.get(&ITEMS, Key::Int(id), &mut |row| row.get::<i64>(1).map(|value| found = Some(value))).unwrap();
            found
        };
        for id in 0..=acknowledged {
            assert_eq!(
                (value(id), value(APART + id)),
                (Some(id), Some(-id)),
                "{query}: {id} of {acknowledged} is lost"
            );
        }
        // One more may be there, since it was killed before it could say so.
        for id in acknowledged + 1..acknowledged + 5 {
            assert_eq!(value(id).is_some(), value(APART + id).is_some(), "{query}: half of {id} is there");
        }
    }
}

/// Checks that what is at an engine's place, which Bourse did not make, is not opened for a reason that contains `words`, and that
/// nothing in `folder` changes.
#[track_caller]
pub fn is_left_alone(engine: &(impl Engine + KeyEngine), folder: &Path, words: &str) {
    let before = crate::server::contents(folder);
    let why = engine.foreign().unwrap().expect("it is not ours");
    assert!(why.contains(words), "{why}");
    assert_eq!(engine.exists().unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(engine.new_records().err().unwrap().kind(), ErrorKind::Refused);
    assert_eq!(engine.description().unwrap_err().kind(), ErrorKind::Refused);
    assert!(crate::server::contents(folder) == before, "{words}");
}

/// Checks that the second of two transactions that write one record is refused at its commit with the engine's `code`, that
/// writers of different records both commit, and that a transaction that only reads commits as well.
pub fn tells_the_second_of_two_writers(engine: &(impl Engine + KeyEngine), code: &str) {
    let (mut first, mut second) = (engine.new_records().unwrap(), engine.new_records().unwrap());
    first.create(&[&ITEMS]).unwrap();
    (1..=2).for_each(|id| first.insert(&ITEMS, Key::Int(id), &[Value::Int(0)]).unwrap());
    first.begin(Access::Write).unwrap();
    second.begin(Access::Write).unwrap();
    assert!(first.add(&ITEMS, Key::Int(1), 0, 1).unwrap() && second.add(&ITEMS, Key::Int(1), 0, 1).unwrap());
    first.commit().unwrap();
    let conflict = second.commit().unwrap_err();
    assert_eq!((conflict.kind(), conflict.code()), (ErrorKind::Conflict, Some(code)));
    first.begin(Access::Write).unwrap();
    second.begin(Access::Write).unwrap();
    assert!(first.add(&ITEMS, Key::Int(1), 0, 1).unwrap() && second.add(&ITEMS, Key::Int(2), 0, 1).unwrap());
    first.commit().unwrap();
    second.commit().unwrap();
    first.begin(Access::Write).unwrap();
    second.begin(Access::Read).unwrap();
    assert!(first.add(&ITEMS, Key::Int(1), 0, 1).unwrap());
    first.commit().unwrap();
    assert_eq!(second.count(&ITEMS).unwrap(), 2);
    second.commit().unwrap();
}

/// Checks that all records of a table can be deleted inside a transaction, and that a rollback restores them.
pub fn takes_all_records_away(engine: &(impl Engine + KeyEngine)) {
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    (1..=10).for_each(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(0)]).unwrap());
    for keeps in [true, false] {
        records.begin(Access::Write).unwrap();
        records.insert(&ITEMS, Key::Int(11), &[Value::Int(0)]).unwrap();
        assert_eq!(records.delete_all(&ITEMS).unwrap(), 11);
        assert_eq!(records.count(&ITEMS).unwrap(), 0);
        if keeps {
            records.rollback().unwrap()
        } else {
            records.commit().unwrap()
        }
        assert_eq!(records.count(&ITEMS).unwrap(), if keeps { 10 } else { 0 });
    }
}

/// Checks that indexed fields, keys of another type, writes in a read-only transaction, and SQL's loader are refused.
pub fn refuses_what_it_cannot(engine: &(impl Engine + KeyEngine)) {
    let mut records = engine.new_records().unwrap();
    let refused = records.create(&[&INDEXED]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("price of indexed"), "{refused}");
    records.create(&[&ITEMS]).unwrap();
    assert!(records.get(&ITEMS, Key::Text("a"), &mut |_| Ok(())).unwrap_err().message().contains("no key of items"));
    records.begin(Access::Read).unwrap();
    let refused = records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap_err();
    assert_eq!(refused.message(), "a transaction begun for reading cannot write");
    assert!(engine.loader().is_err());
}

/// Checks the reported durability class: `durable` if commits are synced, `consistent` if not; a database in memory is
/// `volatile` whatever the settings, with a warning.
pub fn tells_its_class<E: Engine>(engine: &dyn Fn(&Path, &str) -> E, on_disk: &Path, synced: &str, unsynced: &str) {
    let told = |query: &str| engine(on_disk, query).description().unwrap();
    assert_eq!(told("").durability, Durability::Durable);
    assert_eq!(told(synced).durability, Durability::Durable);
    let buffered = told(unsynced);
    assert_eq!(buffered.durability, Durability::Consistent);
    assert!(buffered.may_lose.is_some() && buffered.warnings.is_empty());
    if Path::new("/dev/shm").is_dir() {
        let folder = in_memory();
        let told = engine(folder.path(), "").description().unwrap();
        assert_eq!((told.durability, told.warnings.len()), (Durability::Volatile, 1), "{}", told.durability_reason);
    }
}
