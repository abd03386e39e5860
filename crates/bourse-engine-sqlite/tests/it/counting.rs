//! Counts of disk operations, compared with SQLite's documented behaviour.

use bourse_engine::{Access, Engine, IoCounts, Isolation, Params, RowExt as _, SessionExt as _, Sql};

static INSERT: Sql = Sql::new("INSERT INTO thing (size) VALUES (?1)");
static COUNT: Sql = Sql::new("SELECT count(*) FROM thing");

fn counts(engine: &dyn Engine) -> IoCounts {
    engine.io_counts().unwrap().expect("a database in a file is counted")
}

/// Operations of `commits` commits of one small row each, after one that is not counted.
fn of_commits(settings: &str, commits: i64) -> IoCounts {
    let folder = tempfile::tempdir().unwrap();
    let engine =
        bourse_engine_sqlite::open(&format!("sqlite:{}?{settings}", folder.path().join("x.db").display())).unwrap();
    let mut session = engine.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY, size INTEGER)", &[]).unwrap();
    session.execute(&INSERT, Params::of(&[0.into()])).unwrap();
    let before = counts(&engine);
    for size in 0..commits {
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        session.execute(&INSERT, Params::of(&[size.into()])).unwrap();
        session.commit().unwrap();
    }
    let found = session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap();
    assert_eq!(found, Some(commits + 1));
    counts(&engine).since(before)
}

#[track_caller]
fn check(settings: &str, database_syncs: u64, log_syncs: u64, journal_syncs: u64) -> IoCounts {
    const COMMITS: i64 = 10;
    let counts = of_commits(settings, COMMITS);
    let syncs = (counts.database.syncs, counts.log.syncs, counts.journal.syncs);
    let each = |per_commit| per_commit * COMMITS as u64;
    assert_eq!(syncs, (each(database_syncs), each(log_syncs), each(journal_syncs)), "{settings}: {counts:?}");
    counts
}

/// Size of a frame of the log: its header and a page.
const FRAME: u64 = 24 + 4_096;

#[test]
fn a_commit_syncs_as_often_as_its_settings_say() {
    // The log once a commit; a commit writes one page as one frame, header and page apart.
    let wal = check("journal=wal&sync=full", 0, 1, 0);
    assert_eq!(wal.log.written_bytes % FRAME, 0, "{wal:?}");
    assert!(wal.log.written_bytes >= 10 * FRAME, "{wal:?}");
    assert_eq!(wal.database, IoCounts::TIMED.database, "nothing is checkpointed: {wal:?}");
    check("journal=wal&sync=normal", 0, 0, 0);
    check("journal=wal&sync=off", 0, 0, 0);
    // The journal before it is relied on and its header after, the folder with a new one; the database; with extra the
    // folder again after the journal is removed.
    check("journal=delete&sync=full", 1, 0, 3);
    check("journal=delete&sync=extra", 1, 0, 4);
    check("journal=delete&sync=normal", 1, 0, 2);
    check("journal=off&sync=full", 1, 0, 0);
    let off = check("journal=delete&sync=off", 0, 0, 0);
    assert!(off.journal.written_bytes > 10 * 4_096 && off.database.written_bytes >= 10 * 4_096, "{off:?}");
}

#[test]
fn closed_files_keep_their_counts_and_engines_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let open =
        |name: &str| bourse_engine_sqlite::open(&format!("sqlite:{}", folder.path().join(name).display())).unwrap();
    let (one, other) = (open("one.db"), open("other.db"));
    let mut session = one.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY, size INTEGER)", &[]).unwrap();
    let before = counts(&one);
    drop(session);
    let after = counts(&one);
    assert!(after.database.written_bytes > before.database.written_bytes, "the last session checkpoints: {after:?}");
    assert_eq!(counts(&one), after);
    assert_eq!(counts(&other), IoCounts::TIMED);
    let parts = [after.database, after.log, after.journal, after.temporary];
    assert_eq!(after.total().written_bytes, parts.iter().map(|part| part.written_bytes).sum::<u64>());
    // A session may outlive its engine.
    let mut last = one.session().unwrap();
    drop(one);
    last.execute(&INSERT, Params::of(&[1.into()])).unwrap();
}

#[test]
fn syncs_take_their_time_and_no_more_than_all_took() {
    let begun = std::time::Instant::now();
    let full = of_commits("journal=wal&sync=full", 10);
    let all = begun.elapsed().as_nanos() as u64;
    let time = |io: bourse_engine::FileIo| io.sync_ns.unwrap();
    assert!((1..all).contains(&time(full.log)), "{full:?} of {all} ns");
    assert_eq!((time(full.database), time(full.total())), (0, time(full.log)));
    // The folder's syncs, which come with the removal of a journal, are timed too.
    let delete = of_commits("journal=delete&sync=extra", 3);
    assert!(time(delete.journal) > 0 && time(delete.database) > 0, "{delete:?}");
    assert_eq!(time(of_commits("journal=wal&sync=off", 10).total()), 0);
}

#[test]
fn a_database_in_memory_waits_for_no_disk() {
    let engine = bourse_engine_sqlite::open("sqlite::memory:").unwrap();
    let mut session = engine.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY, size INTEGER)", &[]).unwrap();
    session.execute(&INSERT, Params::of(&[1.into()])).unwrap();
    assert_eq!(engine.io_counts().unwrap(), Some(IoCounts::TIMED));
    // SQLite's own kinds of memory may put what they sort into files of which nothing is heard here.
    assert_eq!(bourse_engine_sqlite::open("sqlite::memory:?memory=memdb").unwrap().io_counts().unwrap(), None);
}
