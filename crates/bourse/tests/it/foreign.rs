//! Files of the user: every command refuses them immediately, and leaves their bytes and their neighbours unchanged.
#![cfg(unix)]

use crate::{bourse, load_tatp, output, text};
use bourse_engine::{Engine, Key, KeyEngine as _, RecordField, RecordTable, RecordType, Value};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Every command that opens a target. `T` is the target; no other argument has one letter.
const COMMANDS: &[&str] = &[
    "tpce load T --days 1",
    "tpce load T --days 1 --reload --load-threads 2",
    "tpce check T",
    "tpce check T --json",
    "tpce run T --days 1 --for 1s --rounds 2",
    "tpce run T --days 1 --for 1s --reload",
    "tpce run sqlite::memory: T --days 1 --for 1s",
    "tpce verify T model: --days 1 -n 10",
    "tpce verify model: T --days 1 -n 10 --reload",
    "tpce acid T --days 1",
    "tpce acid T --days 1 --reload --only D",
    "tpce acid-load T --seed 1",
    "tpce serve T --days 1 --listen 127.0.0.1:0",
    "crash T --days 1",
    "crash T --days 1 --reload",
    "compare T sqlite::memory: --days 1 --for 1s",
    "compare sqlite::memory: T --days 1 --for 1s",
    "micro run point-read T --rounds 1 --for 100ms",
    "micro run point-read T --rounds 1 --for 100ms -s rows=1000",
    "micro run update T --count 10",
    "micro run bulk-load T",
    "micro run commit T --count 10",
    "micro run sql T -s file=example --count 10",
    "micro run client-mix T -s queries=400",
];

/// Child processes of commands: they report their events on stdout, and end well.
const INTERNAL: &[&str] = &["fault-work T --seed 1 --transactions 5", "fault-work T --seed 1 --transactions 5 --look"];

/// State of a folder that any access would change: name, modification time, inode and bytes of each file.
type Files = Vec<(String, i64, i64, u64, Vec<u8>)>;

fn files(folder: &Path) -> Files {
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("it can be read");
        let found = fs::symlink_metadata(entry.path()).expect("it is there");
        let bytes = if found.is_file() { fs::read(entry.path()).expect("it can be read") } else { Vec::new() };
        let name = entry.file_name().into_string().expect("our names are text");
        (name, found.mtime(), found.mtime_nsec(), found.ino(), bytes)
    };
    let mut files: Vec<_> = fs::read_dir(folder).expect("the folder is there").map(entry).collect();
    files.sort();
    files
}

/// Runs the program in a folder of its own, for a minute at most: exit code and output.
fn ended(arguments: &[String]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = bourse(folder.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let start = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().expect("it can be killed");
            panic!("{arguments:?} did not end within a minute");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().expect("it has ended");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder is there").flatten().collect();
    assert!(left.is_empty(), "{arguments:?} left {left:?}");
    (ended.status.code(), text(&ended.stderr))
}

/// Passes a target to every command, and expects each to refuse it and to leave `folder` unchanged.
fn every_command_refuses(target: &str, folder: &Path, words: &str) {
    let before = files(folder);
    for command in COMMANDS.iter().chain(INTERNAL) {
        let arguments: Vec<String> =
            command.split(' ').map(|word| if word == "T" { target } else { word }.to_owned()).collect();
        let (code, said) = ended(&arguments);
        assert!(!said.contains("panicked"), "{said}");
        if !INTERNAL.contains(command) {
            assert_eq!(code, Some(1), "{arguments:?}: {said}");
            let needs_sql = said.contains("needs SQL") || said.contains("cannot run");
            assert!(said.contains(words) || needs_sql, "{arguments:?}: {said}");
        }
        assert!(files(folder) == before, "{arguments:?} changed something: {said}");
    }
}

/// A file in the target's URL.
fn target(scheme: &str, path: &Path) -> String {
    format!("{scheme}:{}", path.display())
}

/// Makes a foreign SQLite database with one table.
fn make_sqlite(path: &Path, journal: &str) {
    let engine =
        bourse_engine_sqlite::open(&format!("{}?journal={journal}", target("sqlite", path))).expect("a target");
    let mut loader = engine.loader().expect("a place for it");
    loader.run("CREATE TABLE notes (x INTEGER PRIMARY KEY, y TEXT)").expect("a table");
    loader.finish().expect("a database");
    engine.session().expect("a session").execute_text("INSERT INTO notes VALUES (1, 'mine')", &[]).expect("a row");
    unmark(path);
}

/// Removes Bourse's mark of a database, as if it had been made elsewhere.
fn unmark(path: &Path) {
    fs::remove_file(format!("{}.bourse-mark", path.display())).expect("it was made");
}

/// Opening a foreign database once switched it to a write-ahead log permanently, and left files next to it.
#[test]
fn a_sqlite_database_of_somebody_else_is_left_alone() {
    let scheme = "sqlite";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = |name: &str| folder.path().join(name);
    make_sqlite(&path("delete.db"), "delete");
    make_sqlite(&path("wal.db"), "wal");
    // A log with changes that its file lacks, as after a crash.
    make_sqlite(&path("log.db"), "wal");
    fs::write(path("log.db-wal"), "frames that only their owner may write back").expect("a file can be written");
    // A hot journal: opening the database rolls it back and removes it.
    make_sqlite(&path("journal.db"), "delete");
    fs::write(path("journal.db-journal"), [0xd9, 0xd5, 5, 0xf9, 0x20, 0xa1, 0x63, 0xd7]).expect("a file");
    fs::write(path("notes.txt"), "dear diary").expect("a file can be written");
    for suffix in ["-loading", "-snapshot", "-restored", "-acid", ".bourse-loading"] {
        fs::write(path(&format!("delete.db{suffix}")), "notes of mine").expect("a file can be written");
    }
    let names = ["delete.db", "wal.db", "log.db", "journal.db", "notes.txt"];
    // The first gets every command, the others those that open a file each in their own way.
    every_command_refuses(&target(scheme, &path(names[0])), folder.path(), "delete.db has no mark of Bourse's");
    for name in &names[1..] {
        let before = files(folder.path());
        for command in ["tpce load T --days 1", "tpce check T", "tpce run T --days 1 --for 1s", "micro run update T"] {
            let whole = target(scheme, &path(name));
            let arguments: Vec<String> =
                command.split(' ').map(|word| if word == "T" { &whole } else { word }.to_owned()).collect();
            let (code, said) = ended(&arguments);
            assert_eq!(code, Some(1), "{arguments:?}: {said}");
            assert!(said.contains(name) && said.contains("it is left as it is"), "{arguments:?}: {said}");
            assert!(files(folder.path()) == before, "{arguments:?} changed something: {said}");
        }
    }
}

#[test]
fn databases_of_key_engines_of_somebody_else_are_left_alone() {
    static NOTES: RecordTable = RecordTable::new("notes", RecordField::new("id", RecordType::Int), &[]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = |name: &str| folder.path().join(name);
    let theirs = redb::Database::create(path("theirs.redb")).expect("a database");
    let writing = theirs.begin_write().expect("a transaction");
    writing.open_table(redb::TableDefinition::<u64, u64>::new("notes")).expect("a table");
    writing.commit().expect("a commit");
    drop(theirs);
    let lmdb = bourse_engine_lmdb::open(&target("lmdb", &path("theirs.mdb"))).expect("a target");
    let mut records = lmdb.new_records().expect("a connection");
    records.create(&[&NOTES]).expect("a table");
    records.insert(&NOTES, Key::Int(1), &[] as &[Value<'_>]).expect("a record");
    drop(records);
    drop(lmdb);
    unmark(&path("theirs.mdb"));
    fs::remove_file(path("theirs.mdb-lock")).expect("LMDB has made one");
    fs::write(path("theirs.fdb"), "an image of memory").expect("a file can be written");
    for (scheme, name) in [("lmdb", "theirs.mdb"), ("redb", "theirs.redb"), ("fastdb", "theirs.fdb")] {
        every_command_refuses(&target(scheme, &path(name)), folder.path(), "has no mark of Bourse's");
    }
}

/// A database that a command has made has the mark: it is used again, and an empty file may be filled.
#[test]
fn what_a_command_has_made_it_finds_again() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for name in ["a.db", "a.mdb", "a.redb"] {
        fs::write(folder.path().join(name), "").expect("a file can be written");
    }
    let made = ["sqlite:a.db", "sqlite:a.db?journal=delete", "lmdb:a.mdb", "redb:a.redb"];
    for target in made {
        for workload in ["point-read", "commit"] {
            let arguments = [
                "micro", "run", workload, target, "--rounds", "2", "--count", "20", "-s", "rows=100", "--warmup", "0s",
            ];
            let arguments = if workload == "commit" { &arguments[..8] } else { &arguments[..] };
            let ended = output(folder.path(), arguments);
            assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {}", text(&ended.stderr));
        }
    }
}

/// Opening a FIFO once waited for its other end, deaf to signals; a device and a dangling link were replaced by a file.
#[test]
fn what_is_no_file_is_refused_before_it_is_opened() {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = |name: &str| folder.path().join(name);
    let may_write = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, path("fifo"), FileType::Fifo, may_write, 0).expect("a FIFO can be made");
    std::os::unix::fs::symlink("nothing", path("dangling")).expect("a link can be made");
    std::os::unix::fs::symlink("fifo", path("link")).expect("a link can be made");
    fs::create_dir(path("directory")).expect("a directory can be made");
    let mut cases = vec![
        ("fifo", "is a FIFO (named pipe), not a file"),
        ("link", "is a FIFO (named pipe), not a file"),
        ("dangling", "is a link that leads nowhere"),
        ("directory", "is a directory, not a file"),
    ];
    // A node of our own for the device that forgets everything; only root may make one.
    if mknodat(CWD, path("device"), FileType::CharacterDevice, may_write, makedev(1, 3)).is_ok() {
        cases.push(("device", "is a character device, not a file"));
    }
    for (name, words) in cases {
        if name == "fifo" || name == "dangling" {
            every_command_refuses(&target("sqlite", &path(name)), folder.path(), words);
        }
        let before = files(folder.path());
        for scheme in ["sqlite", "lmdb", "redb", "fastdb"] {
            for command in ["micro run update T --count 10", "tpce load T --days 1"] {
                let whole = target(scheme, &path(name));
                let arguments: Vec<String> =
                    command.split(' ').map(|word| if word == "T" { &whole } else { word }.to_owned()).collect();
                let (code, said) = ended(&arguments);
                assert_eq!(code, Some(1), "{arguments:?}: {said}");
                assert!(said.contains(words) || said.contains("needs SQL"), "{arguments:?}: {said}");
                assert!(files(folder.path()) == before, "{arguments:?} changed something: {said}");
            }
        }
    }
    let found = fs::symlink_metadata(path("dangling")).expect("it is still there");
    assert!(found.is_symlink() && !path("nothing").exists());
}

/// `quick` chooses its own file names, which may be taken by foreign files.
#[test]
fn quick_leaves_a_database_of_somebody_else_alone() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let data = folder.path().join("bourse-data");
    fs::create_dir(&data).expect("a folder can be made");
    make_sqlite(&data.join("tpce-c1000-d1.db"), "delete");
    let before = files(&data);
    let ended = output(folder.path(), &["quick", "--days", "1", "--for", "1s", "--workloads", "point-read"]);
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("has no mark of Bourse's"), "{}", text(&ended.stderr));
    assert!(files(&data) == before);
}

/// `check` once switched the journal mode of the checked database, wrote its log back, and failed on a read-only one.
#[test]
fn a_database_that_is_checked_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load_tatp(folder.path(), "sqlite:a.db?journal=delete");
    let checked = |target: &str, words: &str| {
        let before = files(folder.path());
        let ended = output(folder.path(), &["tatp", "check", target]);
        let (shown, said) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(ended.status.code(), Some(0), "{shown}{said}");
        assert!(shown.contains(" checks passed, 0 failed") && said.contains(words), "{shown}{said}");
        assert!(files(folder.path()) == before, "{target} is changed: {said}");
    };
    checked("sqlite:a.db", "");
    // A log, as a killed process leaves it.
    let path = folder.path().join("a.db");
    let engine =
        bourse_engine_sqlite::open(&format!("{}?autocheckpoint=0", target("sqlite", &path))).expect("a target");
    let mut session = engine.session().expect("a session");
    // SQLite writes no page that stays the same: a change, and back.
    for location in ["vlr_location + 1", "vlr_location - 1"] {
        session.execute_text(&format!("UPDATE subscriber SET vlr_location = {location}"), &[]).expect("a change");
    }
    let left = ["a.db", "a.db-wal"].map(|name| (folder.path().join(name), fs::read(folder.path().join(name))));
    drop(session);
    checked("sqlite:a.db", "");
    for (path, bytes) in left {
        fs::write(path, bytes.expect("it was there")).expect("it is ours to write");
    }
    checked("sqlite:a.db", "a.db-wal is there, so part of the database may be in it alone: a copy of both is read");
}
