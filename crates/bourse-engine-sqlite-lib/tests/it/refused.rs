//! Files that are no library, and libraries that cannot be loaded or lack a function.

use crate::{library, systems, target};
use bourse_engine::{Engine as _, ErrorKind};
use bourse_engine_sqlite_lib::open;
use std::path::Path;

fn refused(target: &str, words: &[&str]) {
    let message = open(target).map(|_| ()).expect_err(target).to_string();
    for word in words {
        assert!(message.contains(word), "{target}: {message}");
    }
}

#[test]
fn what_is_no_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let hint = "`library=` names the file of a library with SQLite's C interface";
    refused(&target(Path::new("x.db"), &path("absent.so"), ""), &["absent.so: there is no such file", hint]);
    refused(&target(Path::new("x.db"), folder.path(), ""), &["there is no such file", hint]);
    std::fs::write(path("notes.so"), "dear diary").unwrap();
    refused(&target(Path::new("x.db"), &path("notes.so"), ""), &["cannot load", "notes.so", hint]);
    refused("sqlite+lib:x.db?library=libno-such-thing.so", &["cannot load libno-such-thing.so", hint]);
}

#[test]
fn a_library_without_sqlites_functions_is_refused() {
    // Loaded by every program here.
    let Ok(_) = std::fs::metadata("/proc/self/maps") else { return };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let Some(libc) =
        maps.lines().filter_map(|line| line.split_whitespace().last()).find(|path| path.contains("/libc.so"))
    else {
        return;
    };
    let lacks = ["does not have SQLite's C interface: it lacks", "sqlite3_open_v2", "sqlite3_step"];
    refused(&target(Path::new("x.db"), Path::new(libc), ""), &lacks);
}

#[test]
fn a_key_stands_in_no_target() {
    let message = open("sqlite+lib:x.db?key=swordfish").map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("must not contain a password") && message.contains("key=env:NAME"), "{message}");
    assert!(!message.contains("swordfish"), "{message}");
}

#[test]
fn a_library_that_does_not_encrypt_has_no_keys() {
    let Some(library) = systems("a_library_that_does_not_encrypt_has_no_keys") else { return };
    refused(&target(Path::new("x.db"), &library, "key=env:HOME"), &["'key' cannot be used with", "no sqlite3_key"]);
    refused(&target(Path::new(":memory:"), &library, "key=env:HOME"), &["a database in memory: it is about files"]);
}

#[test]
fn a_key_that_is_nowhere_is_refused() {
    let Some(library) = library("BOURSE_SQLCIPHER", "libsqlcipher.so.0", "a_key_that_is_nowhere_is_refused") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "\n").unwrap();
    let refused = |key: &str, words: &[&str]| refused(&target(Path::new("x.db"), &library, key), words);
    refused("key=env:BOURSE_NO_SUCH_KEY", &["cannot read the key, key=env:BOURSE_NO_SUCH_KEY", "is not set"]);
    refused("key=file:/no/such/key", &["cannot read the key, key=file:/no/such/key"]);
    refused(&format!("key=file:{}", empty.display()), &["it is empty"]);
}

#[test]
fn a_library_without_concurrent_transactions_says_so() {
    let Some(library) = systems("a_library_without_concurrent_transactions_says_so") else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("x.db");
    for (query, words) in [
        ("begin=concurrent&journal=delete", "it takes journal=wal"),
        ("begin=concurrent&journal=wal", "with writers=queue"),
        ("begin=concurrent&journal=wal&writers=one", "one connection makes all changes"),
    ] {
        refused(&target(&place, &library, query), &[words]);
    }
    let engine = open(&target(&place, &library, "begin=concurrent&journal=wal&writers=sqlite")).unwrap();
    let error = engine.session().err().expect("no stock library has the statement");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.message().contains("a library of SQLite's branch begin-concurrent, and this one has no such"),
        "{error}"
    );
}
