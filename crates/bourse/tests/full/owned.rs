//! Databases that are folders, and what a person put into them.

use crate::{output, printed};
use bourse_engine::{Connection, Engine as _, RecordField, RecordTable, RecordType};
use std::fs;
use std::path::{Path, PathBuf};

/// Paths of all files below a folder, with their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("it is a folder").map(|entry| entry.expect("it can be read").path()).collect();
    entries.sort();
    let of = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![(path.clone(), bytes(&path))] };
    entries.into_iter().flat_map(of).collect()
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).expect("it can be read")
}

/// Checks that a command ends with code 1, names what it refuses for, and changes no file of the database.
fn is_refused(folder: &Path, words: &[&str], database: &Path, named: &str) {
    let before = files(database);
    let refused = output(folder, words);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words:?}: {errors}");
    assert!(errors.contains(&format!("it holds what bourse did not make: {named}\n")), "{words:?}: {errors}");
    assert!(files(database) == before, "{words:?} changed something");
}

/// A person's files in the folder of a database were removed with it.
#[test]
fn files_of_a_person_in_a_database_are_left() {
    for scheme in ["fjall", "rocksdb", "jdbc+h2", "jdbc+derby", "jdbc+hsqldb"] {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let folder = folder.path();
        let name = format!("x.{}", scheme.trim_start_matches("jdbc+"));
        let (target, database) = (format!("{scheme}:{name}"), folder.join(&name));
        let run = ["micro", "run", "update", &target, "-s", "rows=2000", "--count", "50", "--rounds", "2"];
        if !output(folder, &run).status.success() {
            bourse_testkit::skipped("files of a person in a database are left", &format!("{scheme} is not here"));
            continue;
        }
        fs::write(database.join("notes.txt"), "mine").expect("it can be written");
        fs::create_dir(database.join("pictures")).expect("it can be made");
        fs::write(database.join("pictures/cat"), "mine").expect("it can be written");
        is_refused(folder, &["data", "rm", &name], &database, "notes.txt, pictures/cat");
        fs::remove_file(database.join("notes.txt")).expect("it can be removed");
        fs::remove_dir_all(database.join("pictures")).expect("it can be removed");
        printed(folder, &["data", "rm", &name]);
        assert!(!database.exists(), "{scheme}");
    }
}

/// A person's keyspace was removed with the database.
#[test]
fn a_keyspace_of_a_person_is_left() {
    static NOTES: RecordTable = RecordTable::new(
        "notes",
        RecordField::new("id", RecordType::Int),
        &[RecordField::new("text", RecordType::Text(20))],
    );
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (folder, database) = (folder.path(), folder.path().join("x.fjall"));
    for workload in ["update", "commit"] {
        printed(folder, &["micro", "run", workload, "fjall:x.fjall", "--count", "20"]);
    }
    let engine = bourse_engine_fjall::open(&format!("fjall:{}", database.display())).expect("it is a target");
    let Ok(Connection::Keys(mut records)) = engine.connect() else { panic!("it is a key engine") };
    records.create(&[&NOTES]).expect("it can be made");
    drop((records, engine));
    let refused = output(folder, &["data", "rm", "x.fjall"]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("it holds what bourse did not make: table notes\n"), "{errors}");
    assert!(database.exists());
}
