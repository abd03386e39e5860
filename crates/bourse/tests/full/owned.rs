//! Databases that are folders, and what a person put into them.

use crate::{in_java, output, printed};
use bourse_engine::{Connection, Engine, RecordField, RecordTable, RecordType};
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
            bourse_testkit::skipped("files of a person in a database are left", format!("{scheme} is not here"));
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

/// The engine of a target, of those whose databases list what Bourse made.
fn opened(target: &str) -> Box<dyn Engine> {
    let is_one = "it is a target";
    match target.split(':').next() {
        Some("turso") => Box::new(bourse_engine_turso::open(target).expect(is_one)),
        Some("duckdb") => Box::new(bourse_engine_duckdb::open(target).expect(is_one)),
        Some("firebird") => Box::new(bourse_engine_firebird::open(target).expect(is_one)),
        _ => Box::new(bourse_engine_jdbc::open(target).expect(is_one)),
    }
}

/// A person's table in a database of Turso's was removed with it, if its name began with two underscores.
#[test]
fn a_table_of_a_person_is_left() {
    let test = "owned::a_table_of_a_person_is_left";
    let mut targets = vec!["turso:x.turso".to_owned(), "turso:x.turso?journal=mvcc".to_owned()];
    match bourse_engine_duckdb::info(None) {
        Ok(found) => targets.push(format!("duckdb:x.duckdb?library={}", found.path.display())),
        Err(why) => bourse_testkit::skipped(test, why),
    }
    match bourse_engine_firebird::info(None) {
        Ok(_) => targets.push("firebird:x.fdb".to_owned()),
        Err(why) => bourse_testkit::skipped(test, why),
    }
    targets.extend(
        ["jdbc+h2:x.h2", "jdbc+hsqldb:x.hsqldb", "jdbc+derby:x.derby"].iter().filter_map(|it| in_java(it, "", test)),
    );
    for target in targets {
        let name = if target.starts_with("turso") { "__notes" } else { "notes" };
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let folder = folder.path();
        let micro = ["micro", "run", "update", &target, "-s", "rows=100", "--count", "20", "--rounds", "1"];
        printed(folder, &micro);
        let at = target.replacen(":x", &format!(":{}/x", folder.display()), 1);
        let (_, path) = target.split_once(':').expect("it has a scheme");
        let path = path.split('?').next().expect("it has a path");
        // What the session makes is listed by nothing.
        let run = |sql: &str| opened(&at).session().expect("it opens").execute_text(sql, &[]).expect("it runs");
        let quoted = if target.starts_with("turso") { name } else { "\"notes\"" };
        run(&format!("CREATE TABLE {quoted} (id INTEGER)"));
        let load = ["tpce", "load", &target, "--days", "1", "--reload"];
        for words in [&micro[..], &load, &["data", "rm", path]] {
            let refused = output(folder, words);
            let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(1), "{target}: {words:?}: {errors}");
            let named = format!("it holds what bourse did not make: table {name}\n");
            assert!(errors.contains(&named), "{target}: {words:?}: {errors}");
        }
        assert_eq!(run(&format!("INSERT INTO {quoted} VALUES (1)")), 1, "{target}: it is there");
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
