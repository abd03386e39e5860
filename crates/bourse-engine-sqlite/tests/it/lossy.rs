//! Simulated disk that loses unsynced data: `disk=lossy`.

use bourse_engine::{Engine as _, ErrorKind, RowExt as _, SessionExt as _, Sql};
use bourse_engine_sqlite::{SqliteEngine, open};
use std::path::Path;

const ROWS: usize = 200;
const LENGTH: usize = 1_000;

fn file(folder: &Path, options: &str) -> SqliteEngine {
    open(&format!("sqlite:{}?{options}", folder.join("x.db").display())).unwrap()
}

/// Commits rows on the lossy disk, and returns the files that a power loss would leave: their state outside of this
/// process.
fn image_of(sync: &str) -> tempfile::TempDir {
    let (folder, image) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let create = "CREATE TABLE thing (name TEXT)";
    file(folder.path(), "journal=delete").session().unwrap().execute_text(create, &[]).unwrap();
    let engine = file(folder.path(), &format!("journal=delete&sync={sync}&disk=lossy"));
    let mut session = engine.session().unwrap();
    let name = "Q".repeat(LENGTH);
    for _ in 0..ROWS {
        session.execute_text("INSERT INTO thing VALUES (?1)", &[name.as_str().into()]).unwrap();
    }
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), image.path().join(entry.file_name())).unwrap();
    }
    drop(session);
    image
}

#[test]
fn commits_that_were_synced_survive_a_loss_of_power_and_others_do_not() {
    static COUNT: Sql = Sql::new("SELECT count(*) FROM thing WHERE length(name) = 1000");
    // The removal of the last commit's journal is synced by `extra` alone: with `full` that commit may be undone.
    for (sync, fewest) in [("extra", ROWS), ("full", ROWS - 1)] {
        let synced = image_of(sync);
        let mut session = file(synced.path(), "journal=delete").session().unwrap();
        let found = session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap().unwrap();
        assert!((fewest..=ROWS).contains(&(found as usize)), "{sync}: {found} of {ROWS} rows");
    }
    // Such a disk writes an eighth early, so some bytes are there.
    let image = std::fs::read(image_of("off").path().join("x.db")).unwrap();
    let there = image.iter().filter(|byte| **byte == b'Q').count();
    assert!(there < ROWS * LENGTH / 2, "{there} bytes of {} are in the durable image", ROWS * LENGTH);
}

#[test]
fn nothing_is_loaded_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let refused = open(&format!("sqlite:{}?disk=lossy", path.display())).unwrap().loader().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert!(!path.exists(), "nothing was made");
}
