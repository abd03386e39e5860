//! SQLCipher: databases with a key.

use crate::{library, target};
use bourse_engine::{Access, Engine, Isolation, Params, Sql};
use bourse_engine_sqlite_lib::{SqliteEngine, open};
use bourse_testkit::conformance;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn sqlcipher(test: &str) -> Option<PathBuf> {
    library("BOURSE_SQLCIPHER", "libsqlcipher.so.0", test)
}

/// An engine with a database in the folder, encrypted with `key`.
pub(crate) fn with_key(folder: &Path, library: &Path, key: &str, query: &str) -> SqliteEngine {
    let file = folder.join(format!("key-of-{}", key.len()));
    fs::write(&file, format!("{key}\n")).unwrap();
    open(&target(&folder.join("x.db"), library, &format!("key=file:{}&{query}", file.display()))).unwrap()
}

/// Rows of the table `thing`.
fn rows(engine: &SqliteEngine) -> usize {
    let mut rows = 0;
    let mut session = engine.session().unwrap();
    session
        .query_text("SELECT id FROM thing", &[], &mut |_| {
            rows += 1;
            Ok(())
        })
        .unwrap();
    rows
}

#[test]
fn sqlcipher_conforms_with_a_key_and_without() {
    let Some(library) = sqlcipher("sqlcipher_conforms_with_a_key_and_without") else { return };
    // The key itself: one that is derived from a word is derived for each session anew.
    let key = format!("x'{}'", "2d".repeat(32));
    for query in ["journal=wal&sync=normal", "journal=delete&sync=off"] {
        conformance(&with_key(tempfile::tempdir().unwrap().path(), &library, &key, query));
    }
    conformance(&open(&target(&tempfile::tempdir().unwrap().path().join("x.db"), &library, "sync=off")).unwrap());
    conformance(&open(&target(Path::new(":memory:"), &library, "")).unwrap());
}

#[test]
fn a_database_with_a_key_shows_nothing_without_it() {
    let Some(library) = sqlcipher("a_database_with_a_key_shows_nothing_without_it") else { return };
    let folder = tempfile::tempdir().unwrap();
    let engine = with_key(folder.path(), &library, "swordfish", "");
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE secret (text TEXT)").unwrap();
    loader.run("INSERT INTO secret VALUES ('the ships sail at dawn')").unwrap();
    loader.finish().unwrap();
    let bytes = fs::read(folder.path().join("x.db")).unwrap();
    let shows = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(!bytes.is_empty() && !shows("dawn") && !shows("SQLite format 3"));
    assert!(engine.exists().unwrap() && engine.foreign().unwrap().is_none());
    let description = engine.description().unwrap();
    assert!(!format!("{description:?}").contains("swordfish"), "{description:?}");
    let setting = description.settings.iter().find(|setting| setting.name == "key").unwrap();
    assert!(setting.value.starts_with("file:"), "{setting:?}");

    // With another key, or none, it cannot be read, and stays as it is.
    let wrong = with_key(folder.path(), &library, "marlin", "");
    let plain = open(&target(&folder.path().join("x.db"), &library, "")).unwrap();
    for (other, words) in [(&wrong, "cannot be read with this key"), (&plain, "not a database")] {
        for refused in [other.session().map(|_| ()), other.loader().map(|_| ()), other.exists().map(|_| ())] {
            let refused = refused.unwrap_err();
            assert!(refused.message().contains(words), "{refused}");
        }
    }
    assert_eq!(fs::read(folder.path().join("x.db")).unwrap(), bytes);
}

#[test]
fn a_database_without_a_key_is_not_opened_with_one() {
    let Some(library) = sqlcipher("a_database_without_a_key_is_not_opened_with_one") else { return };
    let folder = tempfile::tempdir().unwrap();
    let plain = open(&target(&folder.path().join("x.db"), &library, "")).unwrap();
    plain.session().unwrap().execute_text("CREATE TABLE thing (id INTEGER)", &[]).unwrap();
    let refused = with_key(folder.path(), &library, "swordfish", "").session().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("cannot be read with this key"), "{refused}");
}

#[test]
fn a_snapshot_of_a_database_with_a_key_is_put_back() {
    let Some(library) = sqlcipher("a_snapshot_of_a_database_with_a_key_is_put_back") else { return };
    let folder = tempfile::tempdir().unwrap();
    let engine = with_key(folder.path(), &library, "swordfish", "");
    let run = |sql: &str| engine.session().unwrap().execute_text(sql, &[]).unwrap();
    run("CREATE TABLE thing (id INTEGER)");
    run("INSERT INTO thing VALUES (1)");
    let snapshot = engine.snapshot().unwrap();
    run("INSERT INTO thing VALUES (2)");
    assert_eq!(rows(&engine), 2);
    snapshot.restore().unwrap();
    assert_eq!(rows(&engine), 1);
    let read = engine.for_reading().unwrap().unwrap();
    assert_eq!(read.engine.integrity_check().unwrap(), Some(vec![]));
}

/// A power loss may leave old and new sectors in the first page; the page is then whole in the log or the journal.
#[test]
fn a_first_page_that_was_written_in_part_is_read_from_the_log_or_the_journal() {
    let Some(library) = sqlcipher("a_first_page_that_was_written_in_part_is_read_from_the_log_or_the_journal") else {
        return;
    };
    static ADD: Sql = Sql::new("INSERT INTO thing VALUES (?1, zeroblob(1000))");
    for (query, there) in [("journal=wal&sync=full", 200), ("journal=delete&sync=full&cache=64KiB", 0)] {
        let (folder, crashed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let engine = with_key(folder.path(), &library, "swordfish", query);
        let mut session = engine.session().unwrap();
        session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY, bytes BLOB)", &[]).unwrap();
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        for id in 0..200 {
            session.execute(&ADD, Params::of(&[id.into()])).unwrap();
        }
        if there > 0 {
            session.commit().unwrap();
        }
        // The crash: the files as they are now, with sectors of a first page that was being written.
        for entry in fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != "x.db-shm" {
                fs::copy(entry.path(), crashed.path().join(entry.file_name())).unwrap();
            }
        }
        session.rollback().unwrap();
        drop(session);
        let path = crashed.path().join("x.db");
        let mut bytes = fs::read(&path).unwrap();
        bytes[1_024..1_536].fill(0x55);
        fs::write(&path, bytes).unwrap();

        let files = || {
            let read = |entry: std::io::Result<fs::DirEntry>| {
                let path = entry.unwrap().path();
                (path.clone(), fs::read(path).unwrap())
            };
            let mut files: Vec<_> = fs::read_dir(crashed.path()).unwrap().map(read).collect();
            files.retain(|(path, _)| !["key-of", "mark"].iter().any(|part| path.to_string_lossy().contains(part)));
            files.sort();
            files
        };
        let before = files();
        assert_eq!(before.len(), 2, "{query}: a log or a journal is there");
        let engine = with_key(crashed.path(), &library, "swordfish", query);
        engine.location().database_files().unwrap().mark().unwrap();
        assert_eq!(engine.foreign().unwrap(), None, "{query}");
        assert!(files() == before, "{query}: looking changes nothing");
        assert_eq!(rows(&engine), there, "{query}");
        assert_eq!(engine.integrity_check().unwrap(), Some(vec![]));
    }
}
