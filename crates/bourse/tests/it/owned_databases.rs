//! Databases that commands use and remove: only those that Bourse made, and nothing next to them that it did not make.
#![cfg(unix)]

use crate::owned_files::state;
use crate::waiting::wait_for;
use crate::{bourse, load_tatp, output, text};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

/// The lock file of one database was once the database of another.
#[test]
fn names_next_to_a_database_are_no_targets() {
    let folder = tempfile::tempdir().expect("a test may do so");
    for name in ["z.db.bourse-lock", "z.db-wal", "z.db-shm", "z.db-journal"] {
        for scheme in ["sqlite", "lmdb"] {
            let target = format!("{scheme}:{name}");
            let refused = output(folder.path(), &["micro", "run", "commit", &target, "--count", "20"]);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{target}: {said}");
            assert!(said.contains("has the name of a file that is made next to a database"), "{target}: {said}");
            assert!(!folder.path().join(name).exists() && !folder.path().join(format!("{name}.bourse-lock")).exists());
        }
    }
}

/// SQLite removed a text as an invalid log.
#[test]
fn a_text_beside_a_database_is_kept() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    load_tatp(folder, "sqlite:x.db");
    for name in ["x.db-wal", "x.db-journal"] {
        fs::write(folder.join(name), "dear diary, of more than a few bytes").expect("a test may do so");
        let before = state(folder);
        for command in [
            "tatp run sqlite:x.db --size 1k --for 1s",
            "tatp check sqlite:x.db",
            "tatp load sqlite:x.db --size 1k --reload",
            "data rm x.db",
        ] {
            let refused = output(folder, &command.split(' ').collect::<Vec<_>>());
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command}: {said}");
            assert!(said.contains(&format!("{name} is no file of SQLite")), "{command}: {said}");
            assert!(state(folder) == before, "{command} changed something: {said}");
        }
        fs::remove_file(folder.join(name)).expect("a test may do so");
    }
}

/// A link was once followed, and its target removed.
#[test]
fn a_database_is_not_removed_by_a_link() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    load_tatp(folder, "sqlite:x.db");
    symlink("x.db", folder.join("link.db")).expect("a test may do so");
    let before = state(folder);
    for name in ["link.db", "sqlite:link.db"] {
        let refused = output(folder, &["data", "rm", name]);
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains("link.db is a link"), "{said}");
        assert!(state(folder) == before);
    }
    // A target names a database as well as its path does.
    let removed = output(folder, &["data", "rm", "sqlite:x.db"]);
    assert!(removed.status.success() && !folder.join("x.db").exists(), "{}", text(&removed.stderr));
}

/// Makes the database `x.files`.
const MICRO: [&str; 10] =
    ["micro", "run", "update", "files:x.files", "-s", "rows=100", "--count", "20", "--rounds", "1"];

/// A removal that was killed left a folder without the list of its tables, which every command refused as a person's.
#[test]
fn a_removal_that_was_killed_is_finished() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let [database, left, mark] =
        ["x.files", "x.files.bourse-removed", "x.files.bourse-mark"].map(|name| folder.join(name));
    let micro = || {
        let made = output(folder, &MICRO);
        assert!(made.status.success(), "{}", text(&made.stderr));
    };
    let killed = || {
        micro();
        fs::rename(&database, &left).expect("a test may do so");
        fs::remove_dir_all(left.join("bourse_micro")).expect("the list was removed first");
    };
    killed();
    let listed = text(&output(folder, &["data", "ls", "."]).stdout);
    assert!(listed.contains("x.files.bourse-removed (of a command that runs, or was killed"), "{listed}");
    for name in ["x.files", "files:x.files"] {
        let removed = output(folder, &["data", "rm", name]);
        assert!(removed.status.success(), "{}", text(&removed.stderr));
        assert!(![&database, &left, &mark].into_iter().any(|path| path.exists()), "{name}");
        killed();
    }
    // Regression: a person's file in it made the next removal say that there is no such database.
    fs::create_dir(left.join("mine")).expect("a test may do so");
    fs::write(left.join("mine/notes.txt"), "mine").expect("a test may do so");
    for arguments in [&["data", "rm", "x.files"][..], &["data", "rm", "files:x.files"], &MICRO] {
        let refused = output(folder, arguments);
        let said = text(&refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        let words = ["x.files.bourse-removed is left of a removal", "mine/notes.txt", "move what is yours elsewhere"];
        assert!(refused.status.code() == Some(1) && words.iter().all(|it| said.contains(it)), "{arguments:?}: {said}");
        assert_eq!(fs::read(left.join("mine/notes.txt")).expect("it is kept"), b"mine");
    }
    fs::remove_dir_all(left.join("mine")).expect("a test may do so");
    micro();
    assert!(database.exists() && !left.exists());
}

/// Regression: bulk-load on records without the list of their keys, and a key that got another type in a round, failed as the
/// server's error with exit code 2.
#[test]
fn keys_of_a_redis_that_another_program_changes_are_refused_by_name() {
    use bourse_engine::{Engine as _, KeyEngine as _};
    use bourse_engine_redis::{Product, installed, open};
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    if let Err(why) = installed(Product::Redis, None) {
        let name = "owned_databases::keys_of_a_redis_that_another_program_changes_are_refused_by_name";
        return bourse_testkit::skipped(name, why);
    }
    let memory = if Path::new("/dev/shm").is_dir() { "?ram=on" } else { "" };
    let server = open(&format!("redis+private:{memory}")).expect("a target");
    drop(server.new_records().expect("the server starts"));
    let socket = server.location().folder().expect("its files are here").with_file_name("redis.sock");
    let by_hand = |commands: &str| {
        let mut stream = UnixStream::connect(&socket).expect("the server listens");
        stream.write_all(format!("SELECT 3\r\n{commands}\r\n").as_bytes()).expect("it reads");
        stream.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is text");
        answer
    };
    let target = format!("redis:///3?socket={}", socket.display());
    let folder = tempfile::tempdir().expect("a test may do so");
    let refused = |ended: &std::process::Output, words: &str| {
        let said = text(&ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(ended.status.code() == Some(1) && said.contains(words), "{words}: {said}");
    };
    let loads = ["rows=100 explicit=off per_transaction=1", "rows=100"];
    let load = |options: &str| {
        let options = options.split(' ').flat_map(|it| ["-s", it]).collect::<Vec<_>>();
        output(folder.path(), &[&["micro", "run", "bulk-load", &target, "--rounds", "1"][..], &options].concat())
    };
    for options in loads {
        let loaded = load(options);
        assert_eq!(loaded.status.code(), Some(0), "{}", text(&loaded.stderr));
    }
    by_hand("DEL persons");
    for options in loads.iter().chain(&loads) {
        refused(&load(options), "records of persons are there, and the list of their keys (the key persons)");
    }
    by_hand("DEL :tables");
    refused(&load(loads[0]), "Bourse made none of them");
    by_hand("FLUSHDB");
    // In a round.
    let of_records = "EVAL \"for _,k in ipairs(redis.call('ZRANGE','persons',0,-1)) do redis.call('DEL','persons:'..k) \
                      redis.call('RPUSH','persons:'..k,'theirs') end\" 0";
    for (workload, options, by_another, key) in [
        ("update", "rows=1000", of_records, "there is a key persons:\\x80"),
        (
            "bulk-load",
            "rows=1000000 explicit=off per_transaction=1",
            "SET persons theirs",
            "there is a key persons already",
        ),
    ] {
        let options = options.split(' ').flat_map(|it| ["-s", it]).collect::<Vec<_>>();
        let run = ["micro", "run", workload, &target, "--rounds", "1", "--for", "60s"];
        let mut command = bourse(folder.path(), &[&run[..], &options].concat());
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
        wait_for("records", || {
            let there = by_hand("ZCARD persons");
            there.trim_end().rsplit(':').next()?.parse::<u64>().ok().filter(|there| *there > 500)
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        by_hand(by_another);
        refused(&child.wait_with_output().expect("it ends"), key);
        by_hand("FLUSHDB");
    }
}

/// Runs statements in a SQLite file by other hands than the program's.
fn by_hand(file: &Path, statements: &[&str]) {
    use bourse_engine::Engine as _;
    let target = format!("sqlite:{}?journal=delete", file.display());
    let engine = bourse_engine_sqlite::open(&target).expect("a test may do so");
    let mut session = engine.session().expect("a test may do so");
    for sql in statements {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Objects of a person's in a database that Bourse made, and how each is named.
const BY_HAND: [(&[&str], &str); 4] = [
    (&["CREATE TABLE notes (t TEXT)", "INSERT INTO notes VALUES ('mine')"], "table notes"),
    (&["CREATE VIEW mine AS SELECT 1 AS one"], "view mine"),
    (&["ALTER TABLE bourse_inventory ADD COLUMN secret TEXT"], "definition of table bourse_inventory"),
    (&["CREATE TRIGGER mine AFTER INSERT ON bourse_inventory BEGIN SELECT 1; END"], "trigger mine"),
];

/// The next command replaced the file, and what a person had in it was gone without a word.
#[test]
fn what_a_person_adds_to_a_database_is_kept() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let micro = ["micro", "run", "update", "sqlite:micro.db", "-s", "rows=100", "--count", "20", "--rounds", "1"];
    let made = output(folder, &micro);
    assert!(made.status.success(), "{}", text(&made.stderr));
    load_tatp(folder, "sqlite:tatp.db");
    let pristine = ["micro.db", "tatp.db"].map(|name| fs::read(folder.join(name)).expect("a test may do so"));
    for (statements, name) in BY_HAND {
        for (file, bytes) in ["micro.db", "tatp.db"].into_iter().zip(&pristine) {
            fs::write(folder.join(file), bytes).expect("a test may do so");
            by_hand(&folder.join(file), statements);
        }
        let before = state(folder);
        for command in [
            &micro[..],
            &["micro", "run", "update", "sqlite:tatp.db", "-s", "rows=100", "--count", "20"],
            &["micro", "run", "commit", "sqlite:micro.db", "--count", "20"],
            &["tatp", "load", "sqlite:micro.db", "--size", "1k"],
            &["tatp", "load", "sqlite:tatp.db", "--size", "1k"],
            &["tatp", "load", "sqlite:tatp.db", "--size", "1k", "--reload"],
            &["tatp", "run", "sqlite:tatp.db", "--size", "1k", "--for", "1s"],
            &["tatp", "run", "sqlite:tatp.db", "--size", "1k", "--for", "1s", "--reload"],
            &["tpce", "verify", "sqlite:tatp.db", "model:", "--days", "1", "-n", "5", "--reload"],
            &["tpce", "acid", "sqlite:tatp.db", "--days", "1"],
            &["tatp", "check", "sqlite:tatp.db"],
            &["crash", "sqlite:tatp.db", "--days", "1"],
            &["data", "rm", "micro.db"],
            &["data", "rm", "tatp.db"],
        ] {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains(&format!("it holds what bourse did not make: {name}")), "{command:?}: {said}");
            assert!(said.contains("it is left as it is") && !said.contains("--reload"), "{command:?}: {said}");
            assert!(state(folder) == before, "{command:?} changed something: {said}");
        }
    }
    // A file without a table, copied over the database: its number was lost.
    for (statement, name) in
        [("PRAGMA user_version = 7", "user_version 7"), ("PRAGMA application_id = -9", "application_id -9")]
    {
        let mine = tempfile::tempdir().expect("a test may do so");
        by_hand(&mine.path().join("x.db"), &[statement]);
        for file in ["micro.db", "tatp.db"] {
            fs::copy(mine.path().join("x.db"), folder.join(file)).expect("a test may do so");
        }
        let before = state(folder);
        for command in [
            &micro[..],
            &["micro", "run", "commit", "sqlite:micro.db", "--count", "20"],
            &["tatp", "load", "sqlite:tatp.db", "--size", "1k"],
            &["tatp", "run", "sqlite:tatp.db", "--size", "1k", "--for", "1s", "--reload"],
            &["tatp", "check", "sqlite:tatp.db"],
            &["data", "rm", "micro.db"],
        ] {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains(&format!("it holds what bourse did not make: {name}")), "{command:?}: {said}");
            assert!(state(folder) == before, "{command:?} changed something: {said}");
        }
    }
    for (file, bytes) in ["micro.db", "tatp.db"].into_iter().zip(&pristine) {
        fs::write(folder.join(file), bytes).expect("a test may do so");
    }
    let removed = output(folder, &["data", "rm", "micro.db", "tatp.db"]);
    assert!(removed.status.success(), "{}", text(&removed.stderr));
}

/// A file with Bourse's number in its header and foreign contents was switched to a write-ahead log before it was refused.
#[test]
fn a_refused_database_keeps_its_journal_mode() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    by_hand(&folder.join("x.db"), &["CREATE TABLE notes (t TEXT)", "INSERT INTO notes VALUES ('mine')"]);
    load_tatp(folder, "sqlite:tatp.db?journal=delete");
    let before = state(folder);
    for command in [
        &["micro", "run", "update", "sqlite:x.db", "-s", "rows=100", "--count", "20"][..],
        // Another workload's.
        &["micro", "run", "update", "sqlite:tatp.db", "-s", "rows=100", "--count", "20"],
        &["tatp", "load", "sqlite:x.db", "--size", "1k"],
        &["tatp", "run", "sqlite:x.db", "--size", "1k", "--for", "1s"],
        &["tatp", "run", "sqlite:tatp.db", "--size", "2k", "--for", "1s"],
        &["tpce", "verify", "sqlite:x.db", "model:", "--days", "1", "-n", "5"],
        &["tpce", "acid", "sqlite:x.db", "--days", "1"],
        &["tatp", "check", "sqlite:x.db"],
        &["crash", "sqlite:x.db", "--days", "1"],
        &["data", "rm", "x.db"],
    ] {
        let refused = output(folder, command);
        assert_eq!(refused.status.code(), Some(1), "{command:?}: {}", text(&refused.stderr));
        assert!(state(folder) == before, "{command:?} changed something: {}", text(&refused.stderr));
    }
}

/// A database that was copied or moved has no mark; its own list says whether Bourse made it.
#[test]
fn a_database_that_was_moved_is_adopted_by_its_list() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let micro = |target: &str| {
        let ran = output(folder, &["micro", "run", "update", target, "-s", "rows=100", "--count", "20"]);
        (ran.status.code(), text(&ran.stderr))
    };
    let adopt = |target: &str| {
        let ended = output(folder, &["data", "adopt", target]);
        (ended.status.code(), text(&ended.stderr))
    };
    let engines =
        [("sqlite", "table bourse_inventory"), ("lmdb", "table bourse_micro"), ("redb", "table bourse_micro")];
    for (scheme, listed) in engines {
        let target = |name: &str| format!("{scheme}:{name}.{scheme}");
        let path = |name: &str| folder.join(format!("{name}.{scheme}"));
        assert_eq!(micro(&target("x")).0, Some(0));
        fs::copy(path("x"), path("copy")).expect("a test may do so");
        fs::rename(path("x"), path("moved")).expect("a test may do so");
        for name in ["copy", "moved"] {
            let before = fs::read(path(name)).expect("a test may do so");
            let (code, said) = micro(&target(name));
            assert!(code == Some(1) && said.contains("`bourse data adopt` marks"), "{said}");
            let (code, said) = adopt(&target(name));
            assert!(code == Some(0) && said.contains("lists as made by bourse: ") && said.contains(listed), "{said}");
            assert!(fs::read(path(name)).expect("a test may do so") == before, "adopting changes nothing in it");
            assert!(adopt(&target(name)).1.contains("has Bourse's mark already"));
            assert_eq!(micro(&target(name)).0, Some(0));
        }
        fs::hard_link(path("copy"), path("linked")).expect("a test may do so");
        let (code, said) = adopt(&target("linked"));
        assert!(code == Some(1) && said.contains("several names"), "{said}");
    }
    // A person's own: without a list, with more than the list, and no database at all.
    assert_eq!(micro("sqlite:y.db").0, Some(0));
    by_hand(&folder.join("y.db"), &["CREATE TABLE notes (t TEXT)"]);
    fs::rename(folder.join("y.db"), folder.join("more.db")).expect("a test may do so");
    by_hand(&folder.join("own.db"), &["CREATE TABLE notes (t TEXT)"]);
    fs::remove_file(folder.join("own.db.bourse-mark")).expect("a test may do so");
    fs::write(folder.join("notes.db"), "dear diary").expect("a test may do so");
    let before = state(folder);
    for (name, words) in [
        ("more.db", "it holds what bourse did not make: table notes"),
        ("own.db", "it holds what bourse did not make: table notes"),
        ("notes.db", "cannot adopt sqlite:notes.db"),
        ("absent.db", "nothing is there"),
    ] {
        let (code, said) = adopt(&format!("sqlite:{name}"));
        assert!(code == Some(1) && said.contains(words), "{name}: {said}");
        assert!(state(folder) == before, "{name}: {said}");
    }
}

/// An empty database was left where its side file's name was taken, and the load refused.
#[test]
fn nothing_is_left_where_a_side_file_is_somebody_elses() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    fs::write(folder.join("x.db.bourse-loading"), "mine").expect("a test may do so");
    let before = state(folder);
    for command in [
        &["micro", "run", "update", "sqlite:x.db", "-s", "rows=100", "--count", "20"][..],
        &["micro", "run", "commit", "sqlite:x.db", "--count", "20"],
        &["tatp", "load", "sqlite:x.db", "--size", "1k"],
        &["tatp", "run", "sqlite:x.db", "--size", "1k", "--for", "1s"],
    ] {
        let refused = output(folder, command);
        let said = text(&refused.stderr);
        assert!(
            refused.status.code() == Some(1) && said.contains("x.db.bourse-loading is needed"),
            "{command:?}: {said}"
        );
        assert!(state(folder) == before, "{command:?} left something: {said}");
    }
}

/// Tables that a file of statements makes are Bourse's, those of its operations too.
#[test]
fn what_a_file_of_statements_makes_is_made_anew() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let file = "[[setup]]\nsql = \"CREATE TABLE shop (id INTEGER PRIMARY KEY)\"\n\
                [[setup]]\nsql = \"INSERT INTO shop VALUES (:id)\"\nrepeat = 10\n\
                [[setup]]\nsql = \"CREATE INDEX late ON shop (id)\"\n\
                [parameters]\nid = { unique = 1 }\n\
                [[operation]]\nname = \"make\"\nsql = \"CREATE TABLE IF NOT EXISTS made (id INTEGER)\"\n";
    fs::write(folder.join("own.toml"), file).expect("a test may do so");
    for time in 1..=2 {
        let words =
            ["micro", "run", "sql", "own.toml", "sqlite:x.db", "--count", "5", "--rounds", "2", "--warmup", "0s"];
        let ran = output(folder, &words);
        assert!(ran.status.success(), "{time}: {}", text(&ran.stderr));
    }
    let bulk = ["micro", "run", "bulk-load", "sqlite:x.db", "-s", "rows=100", "-s", "indexes=after", "--rounds", "2"];
    for time in 1..=2 {
        let ran = output(folder, &bulk);
        assert!(ran.status.success(), "{time}: {}", text(&ran.stderr));
    }
}

/// A table of a person's in a key engine's database was removed with it.
#[test]
fn a_key_database_with_a_table_of_others_is_left() {
    use bourse_engine::{Connection, Engine, RecordField, RecordTable, RecordType};
    static NOTES: RecordTable = RecordTable::new(
        "notes",
        RecordField::new("id", RecordType::Int),
        &[RecordField::new("text", RecordType::Text(20))],
    );
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    type Open = fn(&str) -> Box<dyn Engine>;
    let engines: [(&str, Open); 2] = [
        ("lmdb", |target| Box::new(bourse_engine_lmdb::open(target).expect("a test may do so"))),
        ("redb", |target| Box::new(bourse_engine_redb::open(target).expect("a test may do so"))),
    ];
    for (scheme, open) in engines {
        let (name, target) = (format!("x.{scheme}"), format!("{scheme}:x.{scheme}"));
        let update = ["micro", "run", "update", &target, "-s", "rows=100", "--count", "20"];
        let commit = ["micro", "run", "commit", &target, "--count", "20"];
        for command in [&update[..], &commit, &update] {
            let ran = output(folder, command);
            assert!(ran.status.success(), "{command:?}: {}", text(&ran.stderr));
        }
        let engine = open(&format!("{scheme}:{}", folder.join(&name).display()));
        let Ok(Connection::Keys(mut records)) = engine.connect() else { panic!("{scheme} is a key engine") };
        records.create(&[&NOTES]).expect("a test may do so");
        drop(records);
        drop(engine);
        for command in [&update[..], &commit, &["data", "rm", &name]] {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains("it holds what bourse did not make: table notes"), "{command:?}: {said}");
            assert!(said.contains("it is left as it is"), "{command:?}: {said}");
        }
    }
}

/// Regression: a text that was written over a database was an error of the target, with its exit code.
#[test]
fn what_was_written_over_a_database_is_kept() {
    const NOTES: &str = "dear diary, today I wrote over a database ";
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    for scheme in ["sqlite", "lmdb", "redb"] {
        let (name, target) = (folder.join(format!("x.{scheme}")), format!("{scheme}:x.{scheme}"));
        let update = ["micro", "run", "update", &target, "-s", "rows=10", "--count", "5", "--rounds", "1"];
        let ran = output(folder, &update);
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let notes = NOTES.repeat(300);
        fs::write(&name, &notes).expect("a test may do so");
        for command in [&update[..], &["micro", "run", "commit", &target], &["data", "rm", &target]] {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains("it is left as it is"), "{command:?}: {said}");
        }
        assert_eq!(fs::read_to_string(&name).expect("it is there"), notes);
        let below = format!("{target}/below.db");
        let too_long = format!("{scheme}:{}", "x".repeat(300));
        for (target, words) in [(below, "Not a directory"), (too_long, "File name too long")] {
            let refused = output(folder, &["micro", "run", "update", &target]);
            let said = text(&refused.stderr);
            assert!(refused.status.code() == Some(1) && said.contains(words), "{target}: {said}");
        }
    }
}

/// Each name of a file had a lock of its own, so that two commands could use one database at once.
#[test]
fn a_database_with_several_names_is_refused() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    load_tatp(folder, "sqlite:x.db");
    fs::hard_link(folder.join("x.db"), folder.join("y.db")).expect("a test may do so");
    let before = state(folder);
    for name in ["x.db", "y.db"] {
        let target = format!("sqlite:{name}");
        for command in [&["tatp", "check", &target][..], &["tatp", "load", &target, "--reload"], &["data", "rm", name]]
        {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains("the file has several names (hard links)"), "{command:?}: {said}");
            assert!(state(folder) == before, "{command:?} changed something: {said}");
        }
    }
}
