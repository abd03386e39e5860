//! Conformance of engines with private servers, and helpers of their tests.

use bourse_engine::{
    Access, Engine, ErrorKind, Hosting, Isolation, Loader, OwnedServer, Params, RowExt as _, SessionExt as _, Sql,
};
use bourse_schema::tables::StatusType;
use bourse_schema::{Rows, TableRow as _, Text, create_table};
use std::fs;
use std::path::{Path, PathBuf};

static ONE: Sql = Sql::new("SELECT 1");

/// Loads `names` into the one table, up to the finish.
pub fn begin_load(engine: &dyn Engine, names: &[&str]) -> Box<dyn Loader> {
    let row = |name: &&str| StatusType { st_id: Text::cut(name), st_name: Text::cut(name) };
    let mut loader = engine.loader().unwrap();
    loader.run(&create_table(StatusType::table(), engine.sql().unwrap().dialect(), true)).unwrap();
    loader.insert(&Rows(names.iter().map(row).collect())).unwrap();
    loader
}

/// Names in the one table, in order.
pub fn names(engine: &dyn Engine) -> Vec<String> {
    static ALL: Sql = Sql::new("SELECT st_id FROM status_type ORDER BY st_id");
    engine.session().unwrap().all(&ALL, &[], |row| row.get(0)).unwrap()
}

/// Checks that a commit is refused whose transaction a statement in it has ended, prepared or as a text, and that the next
/// transaction of the session is committed.
pub fn refuses_to_commit_what_has_ended(engine: &dyn Engine) {
    static COMMIT: Sql = Sql::new("COMMIT");
    let mut session = engine.session().unwrap();
    session.execute_text("CREATE TABLE ended (a INT)", &[]).unwrap();
    for is_prepared in [false, true] {
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        session.execute_text("INSERT INTO ended VALUES (1)", &[]).unwrap();
        match is_prepared {
            true => session.execute(&COMMIT, Params::NONE).unwrap(),
            false => session.execute_text("ROLLBACK", &[]).unwrap(),
        };
        let refused = session.commit().unwrap_err();
        assert!(refused.message().contains("a statement in it has ended it"), "{refused}");
        session.rollback().unwrap();
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        session.execute_text("INSERT INTO ended VALUES (2)", &[]).unwrap();
        session.commit().unwrap();
    }
}

/// Whether the process with that number is alive.
pub fn is_alive(process: u32) -> bool {
    // One that has ended and waits for its parent to ask has no arguments any more.
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// Folder that another user, such as a server's account, can pass through.
pub fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

/// Every path below a folder, with the contents of files and the targets of links.
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A running server makes and removes files.
        let Ok(kind) = path.symlink_metadata().map(|found| found.file_type()) else { continue };
        let bytes = match kind {
            kind if kind.is_file() => fs::read(&path).unwrap_or_default(),
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            _ => Vec::new(),
        };
        if kind.is_dir() {
            found.extend(contents(&path));
        }
        found.push((path, bytes));
    }
    found.sort();
    found
}

/// Makes a private server's folder look as if its owner had been killed: the owner's file is there, and no process has it
/// locked.
pub fn abandon(folder: &Path) {
    let owner = folder.join("owner");
    let mark = fs::read(&owner).unwrap();
    fs::remove_file(&owner).unwrap();
    fs::write(&owner, mark).unwrap();
}

fn owned(engine: &dyn Engine) -> &dyn OwnedServer {
    assert!(matches!(engine.hosting(), Hosting::OwnedServer(_)));
    engine.hosting().owned_server().unwrap()
}

/// Checks that a server ended by `kill` is a lost connection to its sessions, and to any caller that wants a new one.
pub fn dies_as_a_lost_connection(engine: &dyn Engine, kill: &dyn Fn()) {
    let mut session = engine.session().unwrap();
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    session.all(&ONE, &[], |_| Ok(())).unwrap();
    kill();
    let lost = session.all(&ONE, &[], |_| Ok(())).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::ConnectionLost, "{lost}");
    assert_eq!(lost.statement(), Some("SELECT 1"));
    assert_eq!(session.rollback().unwrap_err().kind(), ErrorKind::ConnectionLost);
    let lost = engine.session().map(|_| ()).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::ConnectionLost, "{lost}");
    assert!(lost.message().contains("has ended (signal: 9"), "{lost}");
}

/// Checks that a killed server is restarted as another process, with the committed rows and no others.
pub fn comes_back_with_what_was_committed(engine: &dyn Engine, process: &dyn Fn() -> Option<u32>) {
    static ADD: Sql = Sql::new("INSERT INTO kept (id) VALUES (?1)");
    static ALL: Sql = Sql::new("SELECT id FROM kept ORDER BY id");
    let server = owned(engine);
    assert_eq!(server.kill().unwrap_err().kind(), ErrorKind::Unsupported, "none was started yet");
    let mut session = engine.session().unwrap();
    session.query_text("CREATE TABLE kept (id BIGINT PRIMARY KEY)", &[], &mut |_| Ok(())).unwrap();
    for id in 1..=2_i64 {
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        session.execute(&ADD, Params::of(&[id.into()])).unwrap();
        if id == 1 {
            session.commit().unwrap();
        }
    }
    let first = process();
    server.kill().unwrap();
    assert_eq!(session.execute(&ADD, Params::of(&[3.into()])).unwrap_err().kind(), ErrorKind::ConnectionLost);
    assert_eq!(engine.session().err().map(|error| error.kind()), Some(ErrorKind::ConnectionLost));
    server.restart().unwrap();
    assert_ne!(process(), first);
    let ids = engine.session().unwrap().all(&ALL, &[], |row| row.get::<i64>(0)).unwrap();
    assert_eq!(ids, [1], "what was committed is there, what was not is not");
}

/// Checks that the server and the folder of a killed owner are removed: `sweep` cleans up the target's leftovers, and its
/// folder is from [`open_folder`].
pub fn is_removed_after_its_owner(
    engine: &dyn Engine,
    process: &dyn Fn() -> Option<u32>,
    sweep: &dyn Fn() -> Vec<PathBuf>,
) {
    engine.session().unwrap();
    let process = process().unwrap();
    let folder = engine.location().folder().unwrap().parent().unwrap().to_owned();
    assert!(sweep().is_empty(), "its owner lives");
    abandon(&folder);
    assert_eq!(sweep(), std::slice::from_ref(&folder));
    assert!(!folder.exists());
    let lost = engine.session().map(|_| ()).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::ConnectionLost);
    assert!(!is_alive(process));
}
