//! Extensions, and other file systems than the default one.
#![cfg(target_os = "linux")]

use crate::files::{engine, load, names};
use bourse_engine::{Durability, Engine as _, RowExt as _, SessionExt as _, Sql};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The extension, compiled.
fn extension(folder: &Path) -> PathBuf {
    let library = folder.join("extension.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/extension.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    assert!(compiled.unwrap().success());
    library
}

#[test]
fn an_extension_gives_each_session_its_functions_and_its_file_system() {
    static TWICE: Sql = Sql::new("SELECT twice(21)");
    let folder = tempfile::tempdir().unwrap();
    let library = extension(folder.path());
    let given = |query: &str| {
        let query = format!("extension={}&{query}", library.display());
        engine(&folder.path().join("x.db"), &query)
    };
    let through = given("vfs=through");
    load(&through, &["NEW"]);
    let mut sessions = [through.session().unwrap(), through.session().unwrap()];
    for session in &mut sessions {
        assert_eq!(session.all(&TWICE, &[], |row| row.get::<i64>(0)).unwrap(), [42]);
    }
    let counts = through.io_counts().unwrap().unwrap();
    assert!(counts.database.reads > 0 && counts.log.written_bytes == 0, "{counts:?}");
    let described = through.description().unwrap();
    assert_eq!(described.durability, Durability::Unknown, "{}", described.durability_reason);
    let setting = |name: &str| described.settings.iter().find(|it| it.name == name).unwrap().value.clone();
    assert_eq!((setting("vfs"), setting("extension")), ("through".to_owned(), library.display().to_string()));
    drop(sessions);
    let usual = given("");
    assert_eq!((names(&usual), usual.description().unwrap().durability), (vec!["NEW".to_owned()], Durability::Durable));
    // No statement loads another one.
    static LOAD: Sql = Sql::new("SELECT load_extension('x')");
    let refused = usual.session().unwrap().all(&LOAD, &[], |row| row.get::<i64>(0)).unwrap_err();
    assert!(refused.message().contains("not authorized"), "{refused}");
}

#[test]
fn file_systems_of_the_library_keep_their_class_and_their_locks() {
    let folder = tempfile::tempdir().unwrap();
    for (name, is_alone) in [("unix-excl", false), ("unix-none&journal=truncate", true)] {
        let engine = engine(&folder.path().join(format!("{name}.db")), &format!("vfs={name}"));
        load(&engine, &["NEW"]);
        assert_eq!(names(&engine), ["NEW"]);
        assert_eq!(engine.description().unwrap().durability, Durability::Durable, "{name}");
        assert_eq!(engine.capabilities().one_session, is_alone, "{name}");
    }
}

#[test]
fn what_cannot_be_loaded_or_is_no_file_system_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (query, expected) in [
        ("extension=/nowhere/x.so", "the extension /nowhere/x.so cannot be loaded: /nowhere/x.so"),
        ("extension=/nowhere/x.so&vfs=x", "the extension /nowhere/x.so cannot be loaded: /nowhere/x.so"),
        ("vfs=nosuch", "no such vfs: nosuch"),
    ] {
        let error = engine(&folder.path().join("x.db"), query).session().err().unwrap();
        assert!(error.message().contains(expected), "{query}: {error}");
    }
}
