use bourse_engine::{
    Access, DatabaseFiles, Durability, Engine, ErrorKind, Isolation, Params, Result, RowExt as _, SessionExt as _, Sql,
};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_schema::tables::StatusType;
use bourse_schema::{Rows, TableRow as _, Text, create_table};
use std::fs;
use std::path::Path;

pub(crate) fn engine(path: &Path, query: &str) -> SqliteEngine {
    open(&format!("sqlite:{}?{query}", path.display())).unwrap()
}

fn statuses(names: &[&str]) -> Rows<StatusType> {
    let row = |name: &&str| StatusType { st_id: Text::cut(name), st_name: Text::cut(name) };
    Rows(names.iter().map(row).collect())
}

/// Loads `names` into the one table, up to the finish.
fn begin_load(engine: &dyn Engine, names: &[&str]) -> Result<Box<dyn bourse_engine::Loader>> {
    let mut loader = engine.loader()?;
    loader.run(&create_table(StatusType::table(), engine.sql()?.dialect(), true))?;
    loader.insert(&statuses(names))?;
    Ok(loader)
}

pub(crate) fn load(engine: &dyn Engine, names: &[&str]) {
    begin_load(engine, names).unwrap().finish().unwrap();
}

pub(crate) fn names(engine: &dyn Engine) -> Vec<String> {
    static ALL: Sql = Sql::new("SELECT st_id FROM status_type ORDER BY st_id");
    engine.session().unwrap().all(&ALL, &[], |row| row.get(0)).unwrap()
}

fn files(directory: &Path) -> Vec<String> {
    let mut found: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.retain(|name| !name.ends_with(".bourse-mark"));
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
fn what_a_killed_process_left_is_removed_by_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let engine = engine(&path("x.db"), "");
    load(&engine, &["OLD"]);
    // A database of ours, cut off somewhere behind its header, is what a load or a copy leaves.
    let half = fs::read(path("x.db")).unwrap()[..5_000].to_vec();
    fs::remove_file(path("x.db")).unwrap();
    for name in ["x.db.bourse-loading", "x.db.bourse-loading-wal", "x.db.bourse-snapshot", "x.db.bourse-restored"] {
        fs::write(path(name), &half).unwrap();
        if !name.ends_with("-wal") {
            DatabaseFiles::at(path(name), engine.location().database_files().unwrap().format()).mark().unwrap();
        }
    }
    assert!(!engine.exists().unwrap(), "a half load was taken for a database");
    let said = engine.leftovers().unwrap().unwrap();
    for name in ["x.db.bourse-loading, ", "x.db.bourse-snapshot, ", "x.db.bourse-restored"] {
        assert!(said.contains(name), "{said}");
    }
    load(&engine, &["NEW"]);
    assert_eq!(names(&engine), ["NEW"]);
    assert_eq!(files(directory.path()), ["x.db"]);
    assert_eq!(engine.leftovers().unwrap(), None);
}

/// Regression: `load` took `x.db-loading` and removed `x.db-journal`, `-wal` and `-shm` without checking what they
/// were.
#[test]
fn files_of_the_person_are_kept() {
    let all = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        files(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
    };
    for name in ["x.db.bourse-loading", "x.db.bourse-loading-wal", "x.db-journal", "x.db-wal", "x.db-shm"] {
        for is_empty in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(name), "notes of mine").unwrap();
            if is_empty {
                fs::write(directory.path().join("x.db"), "").unwrap();
            }
            let before = all(directory.path());
            let engine = engine(&directory.path().join("x.db"), "");
            let refused = engine.loader().map(|_| ()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
            assert!(refused.message().contains(name), "{refused}");
            assert_eq!(all(directory.path()), before, "{name}");
            if !name.contains("bourse") {
                assert!(engine.foreign().unwrap().is_some_and(|why| why.contains(name)));
                assert_eq!(engine.session().map(|_| ()).unwrap_err().kind(), ErrorKind::Refused);
                assert_eq!(all(directory.path()), before, "{name}");
            }
        }
    }
    // Beside a database of ours they are ours, but for names that only look so.
    let directory = tempfile::tempdir().unwrap();
    let engine = engine(&directory.path().join("x.db"), "");
    load(&engine, &["OLD"]);
    for name in ["x.db-loading", "x.db-snapshot", "x.db.bourse-snapshot", "x.db.bourse-restored"] {
        fs::write(directory.path().join(name), "notes of mine").unwrap();
    }
    let before = all(directory.path());
    assert_eq!(engine.snapshot().map(|_| ()).unwrap_err().kind(), ErrorKind::Refused);
    fs::remove_file(directory.path().join("x.db.bourse-snapshot")).unwrap();
    assert_eq!(engine.snapshot().unwrap().restore().unwrap_err().kind(), ErrorKind::Refused);
    load(&engine, &["NEW"]);
    let kept = |(name, _): &&(String, Vec<u8>)| name != "x.db" && name != "x.db.bourse-snapshot";
    let after = all(directory.path());
    assert_eq!(after.iter().filter(kept).collect::<Vec<_>>(), before.iter().filter(kept).collect::<Vec<_>>());
}

/// Regression: examining a foreign database changed its journal mode permanently, and left a `-shm` file next to it.
#[test]
fn a_foreign_database_is_not_even_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    // What is made by ours, without its mark: journal=delete and its pages are as anybody's.
    load(&engine(&path, "journal=delete"), &["THEIRS"]);
    let bytes = fs::read(&path).unwrap();
    let engine = engine(&path, "");
    engine.location().database_files().unwrap().unmark();
    let why = engine.foreign().unwrap().unwrap();
    assert!(why.contains("has no mark of Bourse's") && why.contains("`bourse data adopt`"), "{why}");
    type Deed = fn(&SqliteEngine) -> Result<()>;
    let deeds: [(&str, Deed); 6] = [
        ("exists", |engine| engine.exists().map(|_| ())),
        ("connect", |engine| engine.session().map(|_| ())),
        ("description", |engine| engine.description().map(|_| ())),
        ("loader", |engine| engine.loader().map(|_| ())),
        ("snapshot", |engine| engine.snapshot().map(|_| ())),
        ("integrity check", |engine| engine.integrity_check().map(|_| ())),
    ];
    for (name, deed) in deeds {
        assert_eq!(deed(&engine).unwrap_err().kind(), ErrorKind::Refused, "{name}");
        assert!(fs::read(&path).unwrap() == bytes, "{name} changed it");
        assert_eq!(files(directory.path()), ["x.db"], "{name} left something");
    }
    assert!(engine.for_reading().unwrap().is_none());
    // Somebody's file that comes while a load runs is not replaced at its end.
    fs::remove_file(&path).unwrap();
    let loader = begin_load(&engine, &["NEW"]).unwrap();
    fs::write(&path, &bytes).unwrap();
    assert_eq!(loader.finish().unwrap_err().kind(), ErrorKind::Refused);
    assert!(fs::read(&path).unwrap() == bytes);
    assert_eq!(files(directory.path()), ["x.db"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays_a_link() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    fs::write(directory.path().join("data/real.db"), "").unwrap();
    std::os::unix::fs::symlink("data/real.db", directory.path().join("x.db")).unwrap();
    let engine = engine(&directory.path().join("x.db"), "");
    load(&engine, &["ONE"]);
    let snapshot = engine.snapshot().unwrap();
    snapshot.restore().unwrap();
    drop(snapshot);
    assert_eq!(names(&engine), ["ONE"]);
    assert!(fs::symlink_metadata(directory.path().join("x.db")).unwrap().is_symlink());
    assert_eq!(files(&directory.path().join("data")), ["real.db"]);
    assert_eq!(
        engine.footprint().unwrap().data_bytes,
        3 * 4_096,
        "its head, a table, and the list of what Bourse made"
    );
}

#[test]
fn a_copy_whose_bytes_have_changed_is_not_put_back() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine(&directory.path().join("x.db"), "journal=delete");
    load(&engine, &["OLD"]);
    let snapshot = engine.snapshot().unwrap();
    let copy = directory.path().join("x.db.bourse-snapshot");
    let mut bytes = fs::read(&copy).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&copy, &bytes).unwrap();
    let error = snapshot.restore().unwrap_err();
    assert!(error.message().contains("is not what it was when it was made"), "{error}");
    assert_eq!(names(&engine), ["OLD"], "the database stays as it is");
    bytes[last] ^= 1;
    fs::write(&copy, &bytes).unwrap();
    snapshot.restore().unwrap();
    drop(snapshot);
    assert_eq!(files(directory.path()), ["x.db"]);
}

/// Regression: a database that was only read was switched to another journal mode, and its log written back.
#[test]
fn a_database_that_is_read_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x %?#é.db");
    let target = format!("sqlite:{}", path.display().to_string().replace('%', "%25").replace('?', "%3F"));
    for (query, with_log) in [("journal=delete", false), ("journal=persist", false), ("", false), ("", true)] {
        let engine = open(&format!("{target}?{query}")).unwrap();
        load(&engine, &["ONE"]);
        let session = with_log.then(|| {
            let mut session = engine.session().unwrap();
            session.execute_text("INSERT INTO status_type VALUES ('TWO', 'two')", &[]).unwrap();
            session
        });
        if let Some(session) = session {
            // As a process leaves it that is killed: with its log.
            let left = ["", "-wal"].map(|suffix| {
                let path = bourse_engine::path_with_suffix(&path, suffix);
                (fs::read(&path).unwrap(), path)
            });
            drop(session);
            left.into_iter().for_each(|(bytes, path)| fs::write(path, bytes).unwrap());
        } else if query == "journal=persist" {
            engine.session().unwrap().execute_text("INSERT INTO status_type VALUES ('TWO', 'two')", &[]).unwrap();
        }
        let all = || -> Vec<_> {
            let folder = directory.path();
            files(folder).into_iter().map(|name| (fs::read(folder.join(&name)).unwrap(), name)).collect()
        };
        let before = all();
        // Whatever the target says, nothing of it is put in force.
        let reading = open(&format!("{target}?journal=truncate")).unwrap().for_reading().unwrap().unwrap();
        assert_eq!(reading.copied.is_some(), with_log, "{query}");
        let expected: &[&str] = if with_log || query == "journal=persist" { &["ONE", "TWO"] } else { &["ONE"] };
        assert_eq!(names(&*reading.engine), expected, "{query}");
        assert!(reading.engine.exists().unwrap());
        assert_eq!(reading.engine.integrity_check().unwrap(), Some(Vec::new()));
        if !with_log {
            let write = reading.engine.session().unwrap().execute_text("DELETE FROM status_type", &[]);
            assert_eq!(write.unwrap_err().code(), Some("SQLITE_READONLY"));
        }
        (reading.unchanged)().unwrap();
        let copy = reading.copied.as_deref().and_then(|words| words.rsplit(", ").next()).map(std::path::PathBuf::from);
        assert!(copy.as_deref().is_none_or(Path::exists));
        drop(reading);
        assert!(copy.is_none_or(|copy| !copy.exists() && !copy.parent().unwrap().exists()), "the copy is removed");
        assert!(all() == before, "{query}: reading changed something: {:?}", files(directory.path()));
    }
}

#[test]
fn what_a_full_disk_left_of_a_log_is_no_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let engine = engine(&path, "");
    load(&engine, &["ONE"]);
    // An index that could not be made larger, of a log that has nothing.
    let left =
        [("-wal", ""), ("-shm", "abc")].map(|(suffix, text)| (bourse_engine::path_with_suffix(&path, suffix), text));
    left.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    for reading in [engine.for_inspection(), engine.for_reading()] {
        let reading = reading.unwrap().unwrap();
        assert_eq!((names(&*reading.engine), &reading.copied), (vec!["ONE".to_owned()], &None));
        (reading.unchanged)().unwrap();
    }
    left.iter().for_each(|(path, text)| assert_eq!(fs::read_to_string(path).unwrap(), *text));
}

#[test]
fn a_database_that_is_changed_while_it_is_read_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine(&directory.path().join("x.db"), "");
    load(&engine, &["ONE"]);
    let reading = engine.for_reading().unwrap().unwrap();
    let session = engine.session().unwrap();
    assert_eq!((reading.unchanged)().unwrap_err().kind(), ErrorKind::Conflict);
    drop(session);
    load(&engine, &["TWO"]);
    assert_eq!((reading.unchanged)().unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn files_that_are_not_its_own_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::files_conformance(folder.path(), &|path| {
        Box::new(open(&format!("sqlite:{}", path.display())).unwrap())
    });
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
        let mut session = engine.session().unwrap();
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
    assert!(engine.foreign().unwrap().unwrap().contains("has no mark of Bourse's"));
    assert_eq!(engine.session().map(|_| ()).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(engine.exists().unwrap_err().kind(), ErrorKind::Refused);
    assert!(engine.description().is_err());
    assert_eq!(engine.loader().map(|_| ()).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(fs::read_to_string(&path).unwrap().len(), 40);
}

#[test]
fn a_path_that_cannot_be_written_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for path in [directory.path().join("no/such/directory/x.db"), directory.path().to_owned()] {
        let engine = engine(&path, "");
        let refused = engine.session().map(|_| ()).unwrap_err();
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
    let _session = engine.session().unwrap();
    let footprint = engine.footprint().unwrap();
    assert_eq!(footprint.data_bytes, 3 * 8_192);
    assert!(footprint.memory_bytes > 0);
}

/// Regression: a library compiled to enforce foreign keys was measured without them where nothing was to be set, and
/// likewise its other defaults.
#[test]
fn with_the_librarys_defaults_nothing_is_set_that_the_target_does_not_name() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let setting = |query: &str, name: &str| {
        let engine = engine(&directory.path().join(format!("{}.db", query.len())), query);
        load(&engine, &["ONE"]);
        // Of a session that was opened after a load, and of a connection that is opened to look.
        let mut session = engine.session().unwrap();
        let [first, second] = [session.settings().unwrap(), engine.description().unwrap().settings]
            .map(|all| all.into_iter().find(|setting| setting.name == name).unwrap().value);
        assert_eq!(first, second, "{query}: {name}");
        first
    };
    // What `libsqlite3-sys` compiles into the library; SQLite's own default is off.
    assert!(bourse_engine_sqlite::info().unwrap().compile_options.contains(&"DEFAULT_FOREIGN_KEYS".to_owned()));
    assert_eq!(setting("defaults=sqlite", "foreign_keys"), "on");
    assert_eq!(setting("defaults=sqlite&foreign_keys=off", "foreign_keys"), "off");
    assert_eq!(setting("defaults=sqlite", "journal_mode"), "delete");
    assert_eq!(setting("defaults=sqlite", "cache_size"), "-2000");
    assert_eq!(setting("defaults=sqlite&sync=off", "synchronous"), "off");
    let capabilities = |query: &str| engine(&directory.path().join("c.db"), query).capabilities().sql.unwrap();
    assert!(capabilities("defaults=sqlite").foreign_keys, "the library enforces them");
    assert!(!capabilities("defaults=sqlite&foreign_keys=off").foreign_keys);
    // Of one connection that a load and sessions have in turn.
    let private = open("sqlite::memory:?defaults=sqlite").unwrap();
    load(&private, &["ONE"]);
    let settings = private.session().unwrap().settings().unwrap();
    assert!(settings.iter().any(|it| it.name == "foreign_keys" && it.value == "on"), "{settings:?}");
}

/// Regression: a file of statements could empty any other database file of the user.
#[test]
fn sessions_that_are_confined_reach_no_other_file() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let theirs = directory.path().join("theirs.db");
    let other = open(&format!("sqlite:{}", theirs.display())).unwrap();
    load(&other, &["ONE"]);
    drop(other);
    let before = fs::read(&theirs).unwrap();
    for query in ["", "memory=private", "writers=one"] {
        let engine = match query {
            "memory=private" => open("sqlite::memory:?memory=private").unwrap(),
            query => engine(&directory.path().join("x.db"), query),
        };
        load(&engine, &["ONE"]);
        let attach = format!("ATTACH '{}' AS theirs", theirs.display());
        if query.is_empty() {
            let mut session = engine.session().unwrap();
            session.execute_text(&attach, &[]).unwrap();
        }
        engine.sql().unwrap().confine();
        let mut session = engine.session().unwrap();
        let vacuum = format!("VACUUM INTO '{}'", directory.path().join("copy.db").display());
        for sql in [&*attach, "ATTACH 'file:x?vfs=unix' AS o", &*vacuum] {
            let refused = session.execute_text(sql, &[]).unwrap_err();
            assert!(refused.to_string().contains("reach no other database file"), "{sql}: {refused}");
        }
        let path = bourse_engine::Value::Text(theirs.to_str().unwrap());
        session.execute_text("ATTACH ?1 AS theirs", &[path]).unwrap_err();
        for sql in ["ATTACH ':memory:' AS m", "DETACH m", "PRAGMA application_id = 7"] {
            session.execute_text(sql, &[]).unwrap();
        }
        for sql in ["PRAGMA synchronous = off", "PRAGMA main.Synchronous(0)", "PRAGMA journal_mode = off"] {
            let refused = session.execute_text(sql, &[]).unwrap_err();
            assert!(refused.to_string().contains("change no setting that the target makes"), "{sql}: {refused}");
        }
        // A question changes nothing.
        session.query_text("PRAGMA synchronous", &[], &mut |_| Ok(())).unwrap();
        if query.is_empty() {
            session.execute_text("VACUUM", &[]).unwrap();
        }
        drop(session);
        let mut loader = engine.loader().unwrap();
        assert!(loader.run(&attach).unwrap_err().to_string().contains("reach no other"));
    }
    assert_eq!(fs::read(&theirs).unwrap(), before);
    assert!(!directory.path().join("copy.db").exists());
}

/// A statement without end once went on until the program was ended.
#[test]
fn statements_of_confined_sessions_are_interrupted() {
    const ENDLESS: &str = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r";
    for target in ["sqlite::memory:", "sqlite::memory:?memory=private", "sqlite::memory:?writers=one"] {
        let engine = open(target).unwrap();
        load(&engine, &["ONE"]);
        bourse_testkit::interrupts_statements(&engine, &[], ENDLESS, "SELECT 1");
    }
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
fn a_file_in_memory_is_volatile_whatever_its_settings() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        bourse_testkit::skipped("a_file_in_memory_is_volatile_whatever_its_settings", "no /dev/shm");
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
    let mut session = engine.session().unwrap();
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
            let mut session = engine.session().unwrap();
            session.begin(Isolation::Serializable, Access::Write).unwrap();
            session.execute(&ADD, Params::NONE).unwrap();
            session.commit().unwrap();
            drop(session);
            assert_eq!(names(&engine), ["NEW", "OLD"], "{target}");
            snapshot.restore().unwrap();
            assert_eq!(names(&engine), ["OLD"], "{target}, {}", snapshot.method());
        }
    }
    assert_eq!(files(directory.path()), ["delete.db", "wal.db"], "a snapshot that is dropped leaves nothing");
}
