//! System calls: observed in the order in which SQLite makes them, and made to fail.

use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Params, RowExt as _, Sql};
use bourse_engine_sqlite::open;
use bourse_engine_sqlite::syscalls::{Call, Decision, DeclaredDevice, Observer, observe_process, observe_thread};
use std::path::Path;
use std::sync::{Arc, Mutex};

static CREATE: Sql = Sql::new("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)");
static INSERT: Sql = Sql::new("INSERT INTO t (b) VALUES ('a row')");
static COUNT: Sql = Sql::new("SELECT count(*) FROM t");

/// Records each call on a file of the folder as a word, and fails the selected ones.
#[derive(Default)]
struct Noted {
    calls: Mutex<Vec<String>>,
    fails: Mutex<Option<(&'static str, i32)>>,
    device: Option<DeclaredDevice>,
}

fn in_words(call: &Call<'_>) -> Option<String> {
    let file = call.path().file_name()?.to_string_lossy().into_owned();
    if !file.starts_with("x.db") || file.ends_with("-shm") {
        return None;
    }
    let what = match call {
        Call::Open { creates: false, .. } | Call::Read { .. } => return None,
        Call::Open { .. } => "create",
        Call::Write { .. } => "write",
        Call::Truncate { .. } => "truncate",
        Call::Sync { .. } => "sync",
        Call::SyncDirectory { .. } => "sync the directory of",
        Call::Unlink { .. } => "unlink",
        Call::Rename { .. } => "rename",
    };
    Some(format!("{what} {file}"))
}

impl Observer for Noted {
    fn before(&self, call: &Call<'_>) -> Decision {
        if matches!(call, Call::Sync { .. }) {
            self.note(call);
        }
        match (*self.fails.lock().unwrap(), in_words(call)) {
            (Some((what, number)), Some(words)) if words == what => Decision::Fail(number),
            _ => Decision::Proceed,
        }
    }

    fn after(&self, call: &Call<'_>) {
        if !matches!(call, Call::Sync { .. }) {
            self.note(call);
        }
    }

    fn device(&self) -> Option<DeclaredDevice> {
        self.device
    }
}

impl Noted {
    fn note(&self, call: &Call<'_>) {
        if let Some(words) = in_words(call) {
            let mut calls = self.calls.lock().unwrap();
            // A run of writes is one word.
            if calls.last() != Some(&words) {
                calls.push(words);
            }
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

fn target(folder: &Path, options: &str) -> String {
    format!("sqlite:{}/x.db?{options}", folder.display())
}

/// The calls of one committed transaction.
fn calls_of_a_commit(options: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let noted = Arc::new(Noted::default());
    let observation = observe_thread(Arc::clone(&noted) as Arc<dyn Observer>).unwrap();
    let engine = open(&target(folder.path(), options)).unwrap();
    let mut session = engine.session().unwrap();
    session.execute(&CREATE, Params::NONE).unwrap();
    noted.take();
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    session.execute(&INSERT, Params::NONE).unwrap();
    session.commit().unwrap();
    let calls = noted.take();
    drop(session);
    drop(observation);
    calls
}

#[test]
fn a_commit_with_a_journal_is_seen_in_full() {
    let all = [
        "create x.db-journal",
        "write x.db-journal",
        "sync x.db-journal",
        "sync the directory of x.db-journal",
        "write x.db-journal",
        "sync x.db-journal",
        "write x.db",
        "sync x.db",
        "unlink x.db-journal",
        "sync the directory of x.db-journal",
    ];
    assert_eq!(calls_of_a_commit("journal=delete&sync=extra"), all);
    assert_eq!(calls_of_a_commit("journal=delete&sync=full"), all[..9], "the deletion is not made to last");
    let without: Vec<_> = all[..9].iter().filter(|call| !call.starts_with("sync")).copied().collect();
    assert_eq!(
        calls_of_a_commit("journal=delete&sync=off"),
        [without[0], without[1], without[3], without[4]],
        "nothing is synced, so the journal is written in one go"
    );
}

#[test]
fn a_commit_with_a_log_is_seen_in_full() {
    assert_eq!(calls_of_a_commit("journal=wal&sync=full"), ["write x.db-wal", "sync x.db-wal"]);
    assert_eq!(calls_of_a_commit("journal=wal&sync=normal"), ["write x.db-wal"]);
}

#[test]
fn other_threads_are_not_seen_unless_the_process_is() {
    let folder = tempfile::tempdir().unwrap();
    let (of_thread, of_process) = (Arc::new(Noted::default()), Arc::new(Noted::default()));
    let first = observe_thread(Arc::clone(&of_thread) as Arc<dyn Observer>).unwrap();
    let elsewhere = || {
        let engine = open(&target(folder.path(), "journal=delete")).unwrap();
        engine.session().unwrap().execute(&CREATE, Params::NONE).unwrap();
    };
    std::thread::scope(|scope| scope.spawn(elsewhere).join().unwrap());
    assert_eq!(of_thread.take(), Vec::<String>::new());
    std::fs::remove_file(folder.path().join("x.db")).unwrap();
    let second = observe_process(Arc::clone(&of_process) as Arc<dyn Observer>).unwrap();
    std::thread::scope(|scope| scope.spawn(elsewhere).join().unwrap());
    assert!(of_process.take().contains(&"sync x.db".to_owned()));
    assert_eq!(of_thread.take(), Vec::<String>::new());
    drop((first, second));
}

#[test]
fn a_call_that_fails_fails_the_commit() {
    let full = rustix::io::Errno::NOSPC.raw_os_error();
    let broken = rustix::io::Errno::IO.raw_os_error();
    for (what, number, kind) in [
        ("write x.db-journal", full, ErrorKind::Full),
        ("sync x.db-journal", broken, ErrorKind::ConnectionLost),
        ("sync x.db", broken, ErrorKind::ConnectionLost),
        ("unlink x.db-journal", broken, ErrorKind::ConnectionLost),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let noted = Arc::new(Noted::default());
        let observation = observe_thread(Arc::clone(&noted) as Arc<dyn Observer>).unwrap();
        let engine = open(&target(folder.path(), "journal=delete&sync=full")).unwrap();
        let mut session = engine.session().unwrap();
        session.execute(&CREATE, Params::NONE).unwrap();
        *noted.fails.lock().unwrap() = Some((what, number));
        let refused = session
            .begin(Isolation::Serializable, Access::Write)
            .and_then(|()| session.execute(&INSERT, Params::NONE))
            .and_then(|_| session.commit())
            .expect_err(what);
        assert_eq!(refused.kind(), kind, "{what}: {refused}");
        *noted.fails.lock().unwrap() = None;
        drop(session);
        let mut again = engine.session().unwrap();
        let mut rows = 0;
        again
            .query(&COUNT, Params::NONE, &mut |row| {
                rows = row.get::<i64>(0)?;
                Ok(())
            })
            .unwrap();
        assert_eq!(rows, 0, "{what}: what failed is undone");
        drop(again);
        drop(observation);
    }
}

#[test]
fn a_device_that_overwrites_unsafely_has_whole_sectors_journaled() {
    let folder = tempfile::tempdir().unwrap();
    let device = Some(DeclaredDevice { sector_bytes: 4_096, powersafe_overwrite: false });
    let noted = Arc::new(Noted { device, ..Noted::default() });
    let observation = observe_thread(Arc::clone(&noted) as Arc<dyn Observer>).unwrap();
    let engine = open(&target(folder.path(), "journal=persist&page_size=512")).unwrap();
    let mut session = engine.session().unwrap();
    session.execute(&CREATE, Params::NONE).unwrap();
    session.execute(&INSERT, Params::NONE).unwrap();
    drop(session);
    drop(observation);
    // The journal's header fills a sector; two pages of 512 bytes follow, each with its number and a checksum.
    let journal = std::fs::metadata(folder.path().join("x.db-journal")).unwrap();
    assert_eq!(journal.len(), 4_096 + 2 * 520);
}
