//! `--from`: runs on a copy of a person's own database, and the file that they begin with.

use super::{bourse, output, text};
use bourse_engine::{Access, Engine as _, Isolation, Session};
use bourse_record::{Document as _, RunFile};
use std::fs;
use std::path::Path;

/// A session on a database of a person's own.
fn session(path: &Path, options: &str) -> (impl bourse_engine::Engine + use<>, Box<dyn Session>) {
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}?{options}", path.display())).expect("a target");
    let session = engine.session().expect("it can be opened");
    (engine, session)
}

fn execute(session: &mut dyn Session, statements: &[&str]) {
    for statement in statements {
        session.execute_text(statement, &[]).expect(statement);
    }
}

/// A shop in a file that no process has open.
fn shop(folder: &Path) {
    let (_engine, mut session) = session(&folder.join("shop.db"), "journal=delete&sync=off");
    execute(
        session.as_mut(),
        &[
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)",
            "WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 100) \
             INSERT INTO item SELECT value, 'item ' || value FROM numbers",
        ],
    );
}

/// Every file of a folder whose name begins so, with its content.
fn files(folder: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there"));
    let mut files: Vec<_> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|it| it.starts_with(name)))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
        .collect();
    files.sort();
    files
}

const SHORT: [&str; 8] = ["--count", "50", "--warmup", "0s", "--rounds", "2", "--json", "--seed"];

fn run_shop<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["micro", "run", "sql", "shop.sql"], more, &["--from", "shop.db"], &SHORT, &["3"]].concat()
}

#[test]
fn a_file_is_written_and_runs_and_the_database_is_as_it_was() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    shop(folder.path());
    let before = files(folder.path(), "shop.db");
    let init = ["micro", "init", "--from", "shop.db"];
    let printed = output(folder.path(), &init);
    let start = text(&printed.stdout);
    assert!(printed.status.success() && start.contains("--! operation read item weight 1 rows 1\n"), "{start}");
    let written = output(folder.path(), &[&init[..], &["-o", "shop.sql"]].concat());
    let said = text(&written.stderr);
    assert!(written.status.success() && said.contains("shop.sql: 2 operations\n"), "{said}");
    assert!(said.contains("hint: bourse micro run sql shop.sql sqlite:run.db --from shop.db"), "{said}");
    assert_eq!(
        fs::read_to_string(folder.path().join("shop.sql")).expect("it was written"),
        start.replace("start.sql", "shop.sql")
    );
    let again = output(folder.path(), &[&init[..], &["-o", "shop.sql"]].concat());
    assert!(again.status.code() == Some(1) && text(&again.stderr).contains("--overwrite"), "{}", text(&again.stderr));
    assert!(output(folder.path(), &[&init[..], &["-o", "shop.sql", "--overwrite"]].concat()).status.success());
    let ran = output(folder.path(), &run_shop(&["sqlite:run.db", "sqlite::memory:?page_size=8192"]));
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let run = RunFile::parse(&ran.stdout, "run.json".as_ref()).expect("a run");
    assert_eq!(run.cases.len(), 2);
    for case in &run.cases {
        assert!(case.workload.parameters.iter().any(|it| it.name == "from" && it.value == "shop.db"));
        assert!(case.rounds.iter().all(|round| round.facts.iter().any(|it| it.value == "100 rows, loaded anew")));
    }
    assert!(files(folder.path(), "shop.db") == before, "bytes and names");
}

/// A program that writes has committed rows in the log alone, and a transaction of its own open.
#[test]
fn a_database_in_use_is_copied_as_committed_and_left_alone() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("shop.db");
    let (engine, mut writer) = session(&path, "journal=wal&autocheckpoint=0");
    execute(writer.as_mut(), &["CREATE TABLE item (id INTEGER PRIMARY KEY)", "INSERT INTO item VALUES (1), (2), (3)"]);
    assert!(files(folder.path(), "shop.db")[0].1.len() <= 4_096, "the rows are in the log");
    writer.begin(Isolation::Serializable, Access::Write).expect("no other writes");
    execute(writer.as_mut(), &["INSERT INTO item VALUES (4)"]);
    let kept = |name: &str| files(folder.path(), name);
    let before = (kept("shop.db"), kept("shop.db-wal"));
    let sql = "--! parameter id row item.id\n--! operation read rows 1\nSELECT id FROM item WHERE id = :id;\n\
               --! check equals 3\nSELECT count(*) FROM item;\n";
    fs::write(folder.path().join("shop.sql"), sql).expect("there is room");
    let ran = output(folder.path(), &run_shop(&["sqlite:run.db"]));
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let after = (kept("shop.db"), kept("shop.db-wal"));
    let without_index = |files: &[(String, Vec<u8>)]| -> Vec<(String, Vec<u8>)> {
        files.iter().filter(|(name, _)| !name.ends_with("-shm")).cloned().collect()
    };
    assert!(without_index(&after.0) == without_index(&before.0) && after.1 == before.1);
    writer.commit().expect("it is still the writer");
    drop(writer);
    drop(engine);
    // Closed, a database with a log has the one file, and still has.
    let (closed, left) =
        (kept("shop.db"), |files: &[(String, Vec<u8>)]| files.iter().map(|it| it.0.clone()).collect::<Vec<_>>());
    let ran = output(folder.path(), &run_shop(&["sqlite:run.db"]));
    assert_eq!(ran.status.code(), Some(3), "there are four rows now: {}", text(&ran.stderr));
    assert!(kept("shop.db") == closed, "{:?}", left(&kept("shop.db")));
    assert!(!left(&closed).contains(&"shop.db-wal".to_owned()), "{:?}", left(&closed));
}

#[test]
fn a_log_that_a_killed_program_left_is_read_and_stays() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (original, path) = (folder.path().join("original.db"), folder.path().join("shop.db"));
    let (_engine, mut writer) = session(&original, "journal=wal&autocheckpoint=0");
    execute(writer.as_mut(), &["CREATE TABLE item (id INTEGER PRIMARY KEY)", "INSERT INTO item VALUES (1), (2), (3)"]);
    fs::copy(&original, &path).expect("there is room");
    fs::copy(folder.path().join("original.db-wal"), folder.path().join("shop.db-wal")).expect("there is room");
    let kept =
        || [fs::read(&path).expect("it is there"), fs::read(folder.path().join("shop.db-wal")).expect("it is there")];
    let before = kept();
    let printed = output(folder.path(), &["micro", "init", "--from", "shop.db"]);
    assert!(text(&printed.stdout).contains("-- table item: 3 rows;"), "{}", text(&printed.stderr));
    assert!(kept() == before);
}

#[test]
fn a_database_that_cannot_be_copied_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    shop(folder.path());
    fs::write(folder.path().join("shop.sql"), "--! operation count\nSELECT count(*) FROM item;\n")
        .expect("there is room");
    fs::write(folder.path().join("not.db"), "x".repeat(5_000)).expect("there is room");
    let mut newer = fs::read(folder.path().join("shop.db")).expect("it is there");
    // Schema format: 4 is the highest that is known.
    newer[47] = 9;
    fs::write(folder.path().join("newer.db"), newer).expect("there is room");
    fs::write(folder.path().join("empty.db"), "").expect("there is room");
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        let ended = output(folder.path(), arguments);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        assert!(!folder.path().join("run.db").exists());
    };
    let init = |name| ["micro", "init", "--from", name];
    refused(&init("none.db"), 1, &["cannot copy none.db", "No such file"]);
    refused(&init("not.db"), 1, &["cannot copy not.db", "file is not a database (SQLITE_NOTADB)", "encrypted"]);
    refused(&init("newer.db"), 1, &["cannot copy newer.db", "unsupported file format", "reads it with SQLite 3."]);
    refused(&init("empty.db"), 1, &["there is nothing to start from in empty.db", "needs a table with a row"]);
    let other = ["micro", "init", "--from", "shop.db", "-o", "shop.toml"];
    refused(&other, 1, &["cannot write shop.toml", "ends in .sql"]);
    let run = |from| ["micro", "run", "sql", "shop.sql", "sqlite:run.db", "--from", from];
    refused(&run("not.db"), 1, &["cannot copy not.db", "SQLITE_NOTADB"]);
    let same = ["micro", "run", "sql", "shop.sql", "sqlite:./shop.db?journal=wal", "--from", "shop.db"];
    refused(&same, 1, &["is the database of --from, which is only read"]);
    refused(&["micro", "run", "point-read", "--from", "shop.db"], 1, &["unknown option 'from' for point-read"]);
    let (_engine, mut writer) = session(&folder.path().join("shop.db"), "journal=delete");
    execute(writer.as_mut(), &["PRAGMA locking_mode = EXCLUSIVE"]);
    writer.begin(Isolation::Serializable, Access::Write).expect("no other writes");
    execute(writer.as_mut(), &["UPDATE item SET name = 'x'"]);
    writer.commit().expect("no other writes");
    refused(
        &run("shop.db"),
        2,
        &["cannot copy shop.db", "database is locked (SQLITE_BUSY)", "another program has it locked"],
    );
}

/// A dry run opens no database, and a copy does not outlive its command.
#[test]
fn copies_are_made_once_and_removed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let copies = folder.path().join("tmp");
    fs::create_dir(&copies).expect("there is room");
    shop(folder.path());
    fs::write(folder.path().join("shop.sql"), "--! operation count rows 1\nSELECT count(*) FROM item;\n")
        .expect("there is room");
    let ended = |more: &[&str]| {
        let mut command = bourse(folder.path(), &run_shop(&[&["sqlite:run.db"], more].concat()));
        let ended = command.env("TMPDIR", &copies).output().expect("the program can be started");
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        assert!(fs::read_dir(&copies).expect("it is there").next().is_none());
    };
    ended(&[]);
    fs::remove_file(folder.path().join("shop.db")).expect("it is there");
    ended(&["--dry-run"]);
}

#[test]
fn a_property_file_of_ycsb_stands_before_the_targets() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    fs::write(folder.path().join("w"), "recordcount=50\noperationcount=9\nreadproportion=1\nupdateproportion=0\n")
        .expect("there is room");
    let run = ["micro", "run", "ycsb"];
    for (more, parameter) in [(&["w", "sqlite::memory:"][..], ("rows", "50")), (&["sqlite::memory:"], ("file", "none"))]
    {
        let ran = output(folder.path(), &[&run[..], more, &SHORT, &["3"]].concat());
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let printed = output(folder.path(), &[&run[..], more, &SHORT[..6]].concat());
        assert_eq!(
            text(&printed.stdout).contains("operationcount=9: time ends"),
            more.len() == 2,
            "{}",
            text(&printed.stdout)
        );
        let run = RunFile::parse(&ran.stdout, "run.json".as_ref()).expect("a run");
        let parameters = &run.cases[0].workload.parameters;
        assert!(parameters.iter().any(|it| (it.name.as_str(), it.value.as_str()) == parameter), "{parameters:?}");
    }
    let missing = output(folder.path(), &[&run[..], &["nowhere"]].concat());
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("nowhere: cannot be read"), "{}", text(&missing.stderr));
}

#[test]
fn a_file_of_the_same_name_with_other_contents_is_other_work() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    shop(folder.path());
    let contents = |statement: &str| {
        let file = format!("--! operation read\n{statement};\n");
        fs::write(folder.path().join("shop.sql"), file).expect("it can be written");
        let ran = output(folder.path(), &run_shop(&["sqlite:run.db"]));
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let run = RunFile::parse(&ran.stdout, "run.json".as_ref()).expect("a run");
        let parameters = &run.cases[0].workload.parameters;
        parameters.iter().find(|it| it.name == "contents").expect("it is listed").value.clone()
    };
    let [one, same, other] = ["SELECT 1", "SELECT 1", "SELECT 2"].map(contents);
    assert!(one == same && one != other, "{one} {same} {other}");
    let (_engine, mut session) = session(&folder.path().join("shop.db"), "journal=delete&sync=off");
    execute(session.as_mut(), &["DELETE FROM item WHERE id = 7"]);
    drop((session, _engine));
    assert_ne!(contents("SELECT 1"), one, "other rows");
}

#[test]
fn what_init_would_destroy_or_cannot_use_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    shop(folder.path());
    fs::rename(folder.path().join("shop.db"), folder.path().join("shop.sql")).expect("it can be renamed");
    let init = ["micro", "init", "--from", "shop.sql", "-o", "./shop.sql", "--overwrite"];
    let refused = output(folder.path(), &init);
    assert!(
        refused.status.code() == Some(1) && text(&refused.stderr).contains("only read"),
        "{}",
        text(&refused.stderr)
    );
    assert!(fs::read(folder.path().join("shop.sql")).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3")));
    let made = output(folder.path(), &["micro", "run", "point-read", "sqlite:made.db", "--count", "9", "-s", "rows=9"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let refused = output(folder.path(), &["micro", "init", "--from", "made.db"]);
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("made.db was made by Bourse"), "{said}");
    let (_engine, mut session) = session(&folder.path().join("empty.db"), "journal=delete&sync=off");
    execute(session.as_mut(), &["CREATE TABLE item (id INTEGER PRIMARY KEY)"]);
    drop((session, _engine));
    let refused = output(folder.path(), &["micro", "init", "--from", "empty.db"]);
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("in empty.db: no table of it has rows"), "{said}");
}

#[test]
fn a_private_mariadb_keeps_keys_of_zero_and_trailing_spaces() {
    let test = "own_data::a_private_mariadb_keeps_keys_of_zero_and_trailing_spaces";
    if let Err(why) = bourse_engine_mysql::installed(bourse_engine_mysql::Flavour::Mariadb, None) {
        return bourse_testkit::skipped(test, why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (_engine, mut session) = session(&folder.path().join("shop.db"), "journal=delete&sync=off");
    execute(
        session.as_mut(),
        &[
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
            "INSERT INTO item VALUES (0, 'a'), (1, 'a '), (2, 'b')",
        ],
    );
    drop((session, _engine));
    let file = "--! parameter id row item.id\n--! parameter name distinct item.name\n\
                --! operation by key rows 1\nSELECT * FROM item WHERE id = :id;\n\
                --! operation by name rows 1\nSELECT * FROM item WHERE name = :name;\n\
                --! check equals 0\nSELECT min(id) FROM item;\n--! check equals 3\nSELECT count(*) FROM item;\n";
    fs::write(folder.path().join("shop.sql"), file).expect("it can be written");
    let ran = output(folder.path(), &run_shop(&["mariadb+private:?ram=on"]));
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
}
