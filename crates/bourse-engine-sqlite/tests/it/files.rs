use bourse_engine::{Access, Durability, Engine, EngineError, ErrorKind, Isolation, RowExt as _, SessionExt as _, Sql};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_schema::tables::StatusType;
use bourse_schema::{Rows, TableRow as _, Text, create_table};
use std::fs;
use std::path::Path;

fn engine(path: &Path, query: &str) -> SqliteEngine {
    open(&format!("sqlite:{}?{query}", path.display())).unwrap()
}

fn statuses(names: &[&str]) -> Rows<StatusType> {
    let row = |name: &&str| StatusType { st_id: Text::cut(name), st_name: Text::cut(name) };
    Rows(names.iter().map(row).collect())
}

/// Loads `names` into the one table, up to the finish.
fn begin_load(engine: &dyn Engine, names: &[&str]) -> Result<Box<dyn bourse_engine::Loader>, EngineError> {
    let mut loader = engine.loader()?;
    loader.run(&create_table(StatusType::table(), engine.dialect(), true))?;
    loader.insert(&statuses(names))?;
    Ok(loader)
}

pub(crate) fn load(engine: &dyn Engine, names: &[&str]) {
    begin_load(engine, names).unwrap().finish().unwrap();
}

pub(crate) fn names(engine: &dyn Engine) -> Vec<String> {
    static ALL: Sql = Sql::new("SELECT st_id FROM status_type ORDER BY st_id");
    engine.connect().unwrap().all(&ALL, &[], |row| row.get(0)).unwrap()
}

fn files(directory: &Path) -> Vec<String> {
    let mut found: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    found
}

#[test]
fn a_load_replaces_the_database_when_it_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    for query in ["", "journal=delete", "journal=persist", "sync=off&page_size=8192"] {
        let engine = engine(&directory.path().join("x.db"), query);
        load(&engine, &["OLD"]);
        assert_eq!(names(&engine), ["OLD"]);
        let unfinished = begin_load(&engine, &["NEW"]).unwrap();
        assert_eq!(names(&engine), ["OLD"], "{query}: an unfinished load was seen");
        drop(unfinished);
        assert_eq!(names(&engine), ["OLD"]);
        assert_eq!(files(directory.path()), ["x.db"], "{query}: a dropped load left something");
        load(&engine, &["NEW"]);
        assert_eq!(names(&engine), ["NEW"]);
        assert!(engine.exists().unwrap());
    }
}

#[test]
fn what_a_killed_load_left_is_removed_by_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine(&directory.path().join("x.db"), "");
    for name in ["x.db-loading", "x.db-loading-journal", "x.db-loading-wal"] {
        fs::write(directory.path().join(name), "half").unwrap();
    }
    assert!(!engine.exists().unwrap(), "a half load was taken for a database");
    load(&engine, &["NEW"]);
    assert_eq!(names(&engine), ["NEW"]);
    assert_eq!(files(directory.path()), ["x.db"]);
}

#[test]
fn two_loads_of_one_target_do_not_mix() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine(&directory.path().join("x.db"), "");
    let first = begin_load(&engine, &["ONE"]).unwrap();
    let refused = engine.loader().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    first.finish().unwrap();
    assert_eq!(names(&engine), ["ONE"]);
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    for query in ["busy_timeout=50ms", "busy_timeout=50ms&journal=delete"] {
        let engine = engine(&directory.path().join("x.db"), query);
        load(&engine, &["OLD"]);
        let mut session = engine.connect().unwrap();
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        let refused = begin_load(&engine, &["NEW"]).unwrap().finish().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert!(refused.message().contains("in use"), "{refused}");
        session.commit().unwrap();
        drop(session);
        assert_eq!(names(&engine), ["OLD"]);
        assert_eq!(files(directory.path()), ["x.db"]);
    }
}

#[test]
fn a_file_that_is_no_database_is_an_error_and_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("thesis.txt");
    fs::write(&path, "years of work, and not a database at all").unwrap();
    let engine = engine(&path, "");
    assert_eq!(engine.connect().map(|_| ()).unwrap_err().code(), Some("SQLITE_NOTADB"));
    assert_eq!(engine.exists().unwrap_err().code(), Some("SQLITE_NOTADB"));
    assert!(engine.description().is_err());
    let refused = engine.loader().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("will not be replaced"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap().len(), 40);
}

#[test]
fn a_path_that_cannot_be_written_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for path in [directory.path().join("no/such/directory/x.db"), directory.path().to_owned()] {
        let engine = engine(&path, "");
        let refused = engine.connect().map(|_| ()).unwrap_err();
        assert!(refused.message().contains(path.to_str().unwrap()), "{refused}");
        assert!(engine.loader().and_then(bourse_engine::Loader::finish).is_err());
    }
}

#[test]
fn settings_are_read_back() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let engine = engine(
        &directory.path().join("x.db"),
        "cache=1MiB&sync=normal&foreign_keys=off&threading=fullmutex&page_size=8192",
    );
    load(&engine, &["ONE"]);
    let description = engine.description().unwrap();
    let setting = |name: &str| {
        description.settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    for (name, expected) in [
        ("journal_mode", "wal"),
        ("synchronous", "normal"),
        ("cache_size", "-1024"),
        ("page_size", "8192"),
        ("foreign_keys", "off"),
        ("ignore_check_constraints", "off"),
        ("threading", "fullmutex"),
        ("busy_timeout", "10s"),
    ] {
        assert_eq!(setting(name), Some(expected), "{name}");
    }
    assert_eq!(description.durability, Durability::Consistent, "{}", description.durability_reason);
    assert!(description.compile_options.iter().any(|option| option == "THREADSAFE=1"));
    assert_eq!(description.warnings, Vec::<String>::new());
    let _session = engine.connect().unwrap();
    let footprint = engine.footprint().unwrap();
    assert_eq!(footprint.data_bytes, 2 * 8_192);
    assert!(footprint.memory_bytes > 0);
}

#[test]
fn the_usual_cache_is_divided_among_many_sessions() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (settings, sessions, expected) in [
        ("sync=off", 32, "-65536"),
        ("sync=off", 33, "-63550"),
        ("sync=off", 1_003, "-2090"),
        ("sync=off", 1_000_000, "-2"),
        ("sync=off&cache=64MiB", 1_003, "-65536"),
    ] {
        let engine = engine(&directory.path().join("x.db"), settings);
        let told = engine.expect_sessions(sessions);
        assert_eq!(told.is_some(), expected != "-65536", "{told:?}");
        assert!(told.is_none_or(|words| words.contains(&format!("{} KiB", &expected[1..]))));
        let description = engine.description().unwrap();
        let cache = description.settings.iter().find(|setting| setting.name == "cache_size").unwrap();
        assert_eq!(cache.value, expected, "{sessions} sessions, {settings}");
    }
}

#[test]
fn a_page_size_that_cannot_be_had_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    load(&engine(&path, ""), &["ONE"]);
    let warnings = engine(&path, "page_size=8192").description().unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("pages have 4096 bytes, not 8192")), "{warnings:?}");
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_file_in_memory_is_volatile_whatever_its_settings() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: a_file_in_memory_is_volatile_whatever_its_settings (no /dev/shm)");
        return;
    };
    let engine = engine(&directory.path().join("x.db"), "journal=wal&sync=full");
    load(&engine, &["ONE"]);
    let description = engine.description().unwrap();
    assert_eq!(description.durability, Durability::Volatile);
    assert_eq!(description.warnings.len(), 1, "{:?}", description.warnings);
}

#[test]
fn a_full_database_is_told_from_other_errors() {
    let engine = open("sqlite::memory:").unwrap();
    load(&engine, &["ONE"]);
    let mut session = engine.connect().unwrap();
    session.query_text("PRAGMA max_page_count = 3", &[], &mut |_| Ok(())).unwrap();
    let refused = session
        .query_text(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
             INSERT INTO status_type SELECT i, hex(zeroblob(2000)) FROM n",
            &[],
            &mut |_| Ok(()),
        )
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Full, "{refused}");
    session.rollback().unwrap();
    assert_eq!(names(&engine), ["ONE"]);
}

#[test]
fn a_snapshot_brings_back_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, query: &str| format!("sqlite:{}?{query}", directory.path().join(name).display());
    let targets = [
        file("wal.db", "journal=wal"),
        file("delete.db", "journal=delete&sync=extra"),
        "sqlite::memory:".to_owned(),
        "sqlite::memory:?memory=memdb".to_owned(),
        "sqlite::memory:?memory=shared".to_owned(),
        "sqlite::memory:?memory=private".to_owned(),
    ];
    static ADD: Sql = Sql::new("INSERT INTO status_type VALUES ('NEW', 'New')");
    for target in targets {
        let engine = open(&target).unwrap();
        load(&engine, &["OLD"]);
        let snapshot = engine.snapshot().unwrap();
        for _ in 0..2 {
            let mut session = engine.connect().unwrap();
            session.begin(Isolation::Serializable, Access::Write).unwrap();
            session.execute(&ADD, &[]).unwrap();
            session.commit().unwrap();
            drop(session);
            assert_eq!(names(&engine), ["NEW", "OLD"], "{target}");
            snapshot.restore().unwrap();
            assert_eq!(names(&engine), ["OLD"], "{target}, {}", snapshot.how());
        }
    }
    assert_eq!(files(directory.path()), ["delete.db", "wal.db"], "a snapshot that is dropped leaves nothing");
}
