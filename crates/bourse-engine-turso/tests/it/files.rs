//! Files: made, found again, copied and restored.

use crate::folder;
use bourse_engine::{Access, Checkpoint, Engine as _, ErrorKind, Isolation, Session, path_with_suffix};
use bourse_engine_turso::{TursoEngine, open};
use bourse_testkit::{
    is_opened_once, numbers, rounds_begin_alike, what_is_in_use_is_not_replaced, with_one_number,
    with_one_number_in_a_log,
};
use std::path::Path;

fn at(path: &Path, query: &str) -> TursoEngine {
    open(&format!("turso:{}?{query}", path.display())).unwrap()
}

fn run(session: &mut dyn Session, sql: &str) {
    session.execute_text(sql, &[]).unwrap();
}

#[test]
fn copies_are_the_database_as_it_was() {
    let folder = folder();
    for journal in ["journal=wal", "journal=mvcc"] {
        rounds_begin_alike(&at(&folder.path().join(journal), journal));
        rounds_begin_alike(&open(&format!("turso::memory:?{journal}")).unwrap());
    }
}

/// Regression test: a new file was refused for the empty log that Turso had just made.
#[test]
fn a_new_file_that_is_open_is_not_refused() {
    let folder = folder();
    for journal in ["journal=wal", "journal=mvcc"] {
        let path = folder.path().join(journal);
        let engine = at(&path, journal);
        let mut session = engine.session().unwrap();
        assert_eq!((engine.foreign().unwrap(), engine.exists().unwrap()), (None, false), "{journal}");
        run(&mut *session, "CREATE TABLE numbers (n BIGINT PRIMARY KEY)");
        assert_eq!((engine.foreign().unwrap(), engine.exists().unwrap()), (None, true), "{journal}");
    }
}

/// Regression test: a check after a run could not open the database ("entity not found").
#[test]
fn a_restored_database_is_opened_for_reading() {
    for journal in ["journal=wal", "journal=mvcc"] {
        let folder = folder();
        let path = folder.path().join("x.turso");
        let engine = at(&path, journal);
        with_one_number(&engine);
        engine.snapshot().unwrap().restore().unwrap();
        drop(engine);
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = files();
        let reading = at(&path, journal).for_reading().unwrap().unwrap();
        assert_eq!(numbers(&*reading.engine), [1], "{journal}");
        // Turso panicked here without a log of pages.
        let mut session = reading.engine.session().unwrap();
        session.begin(Isolation::RepeatableRead, Access::Read).unwrap();
        session.query_text("SELECT n FROM numbers", &[], &mut |_| Ok(())).unwrap();
        session.rollback().unwrap();
        drop((session, reading));
        assert_eq!(files(), before, "{journal}: reading makes no file");
    }
}

#[test]
fn a_file_goes_from_one_journal_to_the_other() {
    let folder = folder();
    let path = folder.path().join("x.turso");
    with_one_number(&at(&path, "journal=wal"));
    for (number, journal) in [(2, "mvcc"), (3, "mvcc"), (4, "wal"), (5, "mvcc")] {
        let engine = at(&path, &format!("journal={journal}"));
        run(&mut *engine.session().unwrap(), &format!("INSERT INTO numbers VALUES ({number})"));
        assert_eq!(numbers(&engine), (1..=number).collect::<Vec<_>>(), "{journal}");
    }
    assert!(!folder.path().join("x.db-log").exists(), "the log has the name of its database");
}

/// Regression test: `data rm` removed a database while a person's table was in the log of rows by Turso's name alone.
#[test]
fn a_log_by_tursos_own_name_is_refused() {
    let folder = folder();
    let (path, log) = (folder.path().join("x.turso"), folder.path().join("x.db-log"));
    for journal in ["journal=wal", "journal=mvcc"] {
        with_one_number(&at(&path, journal));
        let loader = at(&path, journal).loader().unwrap();
        std::fs::write(&log, "rows").unwrap();
        let reading = at(&path, journal).for_reading().unwrap().unwrap();
        let refusals = [
            at(&path, journal).exists().map(drop),
            at(&path, journal).session().map(drop),
            reading.engine.session().map(drop),
            loader.finish(),
            // Of a database that is new, or empty but for that log: it was loaded, and could not be opened then.
            at(&folder.path().join("x.new"), journal).loader().map(drop),
        ];
        for refused in refusals {
            let refused = refused.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Refused, "{journal}: {refused}");
            assert!(refused.message().contains("x.db-log may hold rows of"), "{journal}: {refused}");
        }
        assert_eq!(std::fs::read(&log).unwrap(), b"rows", "{journal}");
        std::fs::remove_file(&log).unwrap();
        assert_eq!(numbers(&at(&path, journal)), [1], "{journal}");
    }
}

#[test]
fn a_file_that_is_in_use_is_not_replaced() {
    what_is_in_use_is_not_replaced(&at(&folder().path().join("x.turso"), ""));
}

#[test]
fn a_file_is_opened_once() {
    let folder = folder();
    let path = folder.path().join("x.turso");
    is_opened_once([&at(&path, ""), &at(&path, ""), &at(&path, "sync=off")]);
}

#[test]
fn what_is_written_is_counted_and_a_checkpoint_empties_the_log() {
    let folder = folder();
    for (journal, log) in [("wal", "-wal"), ("mvcc", "-log")] {
        let path = folder.path().join(journal);
        let engine = at(&path, &format!("journal={journal}"));
        let mut session = engine.session().unwrap();
        run(&mut *session, "CREATE TABLE numbers (n BIGINT PRIMARY KEY)");
        let before = engine.io_counts().unwrap().unwrap();
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        run(&mut *session, "INSERT INTO numbers VALUES (1)");
        session.commit().unwrap();
        let counts = engine.io_counts().unwrap().unwrap().since(before);
        assert_eq!((counts.log.syncs, counts.database.syncs), (1, 0), "{journal}: {counts:?}");
        assert!(counts.log.writes > 0 && counts.log.written_bytes > 0, "{journal}: {counts:?}");
        assert!(std::fs::metadata(path_with_suffix(&path, log)).unwrap().len() > 0, "{journal}");
        assert!(engine.footprint().unwrap().log_bytes > 0, "{journal}");
        assert!(session.checkpoint(Checkpoint::Truncate).unwrap(), "{journal}");
        assert_eq!(engine.footprint().unwrap().log_bytes, 0, "{journal}");
        assert_eq!(numbers(&engine), [1]);
    }
}

#[test]
fn reading_leaves_the_file_and_its_log_as_they_are() {
    for (journal, log) in [("wal", "-wal"), ("mvcc", "-log")] {
        let folder = folder();
        let (path, copy) = (folder.path().join("x.turso"), folder.path().join("copy.turso"));
        let engine = at(&path, &format!("journal={journal}"));
        let session = with_one_number_in_a_log(&engine, &|| engine.session().unwrap());
        assert!(engine.for_reading().unwrap().is_none(), "it is open");
        assert_eq!(engine.description().unwrap().version, bourse_engine_turso::version().unwrap());
        // State after a crash: the change is in the log only.
        for suffix in ["", "-wal", "-log"].into_iter().filter(|suffix| path_with_suffix(&path, suffix).exists()) {
            std::fs::copy(path_with_suffix(&path, suffix), path_with_suffix(&copy, suffix)).unwrap();
        }
        drop(session);
        assert!(std::fs::metadata(path_with_suffix(&copy, log)).unwrap().len() > 0, "{journal}");
        let files = || ["", "-wal", "-log"].map(|suffix| std::fs::read(path_with_suffix(&copy, suffix)).ok());
        let before = files();
        at(&copy, "").location().database_files().unwrap().mark().unwrap();
        let reading = at(&copy, &format!("journal={journal}")).for_reading().unwrap().unwrap();
        assert_eq!(numbers(&*reading.engine), [1], "{journal}");
        reading.engine.session().unwrap().execute_text("INSERT INTO numbers VALUES (2)", &[]).unwrap_err();
        (reading.unchanged)().unwrap();
        drop(reading);
        assert!(files() == before, "{journal}: something was written");
        assert_eq!(numbers(&at(&copy, &format!("journal={journal}"))), [1], "{journal}");
        assert!(at(&folder.path().join("absent"), "").for_reading().unwrap().is_none());
    }
}
