//! Redis and Valkey through the seam.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine::{
    Access, Durability, Engine, EngineKind, ErrorKind, FieldChange, Hold, Key, KeyEngine as _, MayLose, Records,
    Result, RowExt as _, Value,
};
use bourse_engine_redis::{GRAMMAR, KINDS, RedisEngine, RedisOptions, open};
use bourse_testkit::folders::{self, ITEMS};
use bourse_testkit::records_conformance;
use bourse_testkit::server::{abandon, is_alive, open_folder};
use std::io::Write as _;
use std::os::unix::net::UnixStream;

/// Private servers of the products that are installed, each with its data in memory; the others are skipped by name.
fn servers(test: &str, query: &str) -> Vec<RedisEngine> {
    let memory = if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let open = |scheme: &str| {
        let engine = open(&format!("{scheme}:?{memory}{query}")).unwrap();
        engine.target().available().map_err(|why| bourse_testkit::skipped(test, why)).ok().map(|()| engine)
    };
    ["redis+private", "valkey+private"].into_iter().filter_map(open).collect()
}

/// Sends commands to an engine's private server as another program would.
fn by_hand(engine: &RedisEngine, commands: &str) {
    let socket = engine.location().folder().unwrap().with_file_name("redis.sock");
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(commands.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    // The server has carried out all before it closes.
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}

#[test]
fn promises_are_kept() {
    for engine in servers("promises_are_kept", "appendfsync=no") {
        let left_out = records_conformance(&engine);
        assert_eq!(
            left_out,
            ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"]
        );
        folders::tells_the_second_of_two_writers(&engine, "WATCH");
        folders::takes_all_records_away(&engine);
        folders::refuses_what_it_cannot(&engine);
    }
}

#[test]
fn a_scan_in_a_transaction_sees_its_own_changes_and_meets_others() {
    for engine in servers("a_scan_in_a_transaction_sees_its_own_changes_and_meets_others", "appendonly=off") {
        let (mut records, mut other) = (engine.new_records().unwrap(), engine.new_records().unwrap());
        records.create(&[&ITEMS]).unwrap();
        (1..=5).for_each(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(id)]).unwrap());
        let seen = |records: &mut Box<dyn bourse_engine::Records>| {
            let mut seen = Vec::new();
            records.scan(&ITEMS, Key::Int(2), 3, &mut |row| row.get::<i64>(0).map(|id| seen.push(id))).unwrap();
            seen
        };
        records.begin(Access::Write).unwrap();
        records.delete(&ITEMS, Key::Int(3)).unwrap();
        records.insert(&ITEMS, Key::Int(7), &[Value::Int(7)]).unwrap();
        assert_eq!(seen(&mut records), [2, 4, 5]);
        assert_eq!(records.count(&ITEMS).unwrap(), 5);
        other.insert(&ITEMS, Key::Int(6), &[Value::Int(6)]).unwrap();
        assert_eq!(records.commit().unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(seen(&mut records), [2, 3, 4]);
        assert_eq!(records.count(&ITEMS).unwrap(), 6);
    }
}

#[test]
fn a_key_of_another_with_a_tables_name_is_left() {
    for engine in servers("a_key_of_another_with_a_tables_name_is_left", "appendonly=off") {
        let mut records = engine.new_records().unwrap();
        by_hand(&engine, "ZADD items 10 alice\r\n");
        let refused = records.create(&[&ITEMS]).unwrap_err();
        assert!(refused.kind() == ErrorKind::Refused && refused.message().contains("key items already"), "{refused}");
        by_hand(&engine, "DEL items\r\n");
        records.create(&[&ITEMS]).unwrap();
        records.create(&[&ITEMS]).unwrap();
        // Regression: a key of another type was an error of the server's.
        by_hand(&engine, "SET items theirs\r\n");
        let refused = records.create(&[&ITEMS]).unwrap_err();
        assert!(refused.kind() == ErrorKind::Refused && refused.message().contains("key items already"), "{refused}");
        by_hand(&engine, "SET :tables theirs\r\n");
        let refused = engine.foreign().unwrap_err();
        assert!(refused.kind() == ErrorKind::Refused && refused.message().contains("key :tables already"), "{refused}");
    }
}

/// A call on a table or one of its records.
type Call = (&'static str, fn(&mut dyn Records) -> Result<()>);

/// Calls that insert the record of key 1.
const INSERTING: [Call; 3] = [
    ("load", |it| it.load(&ITEMS, &mut |add| add(&[Value::Int(1), Value::Int(1)]))),
    ("insert", |it| it.insert(&ITEMS, Key::Int(1), &[Value::Int(1)])),
    ("insert in a transaction", |it| {
        it.begin(Access::Write)?;
        let inserted = it.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]);
        it.rollback()?;
        inserted
    }),
];

/// Regression: records that a table's list of keys no longer has were duplicates without a word of what to do.
#[test]
fn records_without_the_list_of_their_keys_are_refused() {
    for engine in servers("records_without_the_list_of_their_keys_are_refused", "appendonly=off") {
        let mut records = engine.new_records().unwrap();
        records.create(&[&ITEMS]).unwrap();
        INSERTING[0].1(&mut *records).unwrap();
        for (name, insert) in INSERTING {
            assert_eq!(insert(&mut *records).unwrap_err().kind(), ErrorKind::Duplicate, "{name}");
        }
        by_hand(&engine, "DEL items\r\n");
        for (name, insert) in INSERTING.iter().chain(&INSERTING) {
            let refused = insert(&mut *records).unwrap_err();
            let words = "the list of their keys (the key items) does not have them";
            assert!(refused.kind() == ErrorKind::Refused && refused.message().contains(words), "{name}: {refused}");
            assert!(refused.message().contains("FLUSHDB"), "{name}: {refused}");
        }
        // One that its own transaction has made is no such record.
        records.begin(Access::Write).unwrap();
        records.insert(&ITEMS, Key::Int(2), &[Value::Int(2)]).unwrap();
        assert_eq!(records.insert(&ITEMS, Key::Int(2), &[Value::Int(2)]).unwrap_err().kind(), ErrorKind::Duplicate);
        records.rollback().unwrap();
    }
}

/// Calls that read a record's key, and those that read the list of keys.
const READING_RECORDS: [Call; 4] = [
    ("get", |it| it.get(&ITEMS, Key::Int(1), &mut |_| Ok(())).map(drop)),
    ("change", |it| it.change(&ITEMS, Key::Int(1), FieldChange::Add(0, 1)).map(drop)),
    ("scan", |it| it.scan(&ITEMS, Key::Int(0), 9, &mut |_| Ok(())).map(drop)),
    ("get in a transaction", |it| {
        it.begin(Access::Write)?;
        let found = it.get(&ITEMS, Key::Int(1), &mut |_| Ok(()));
        it.rollback()?;
        found.map(drop)
    }),
];
const READING_LISTS: [Call; 6] = [
    ("insert", |it| it.insert(&ITEMS, Key::Int(2), &[Value::Int(2)])),
    ("load", |it| it.load(&ITEMS, &mut |add| add(&[Value::Int(2), Value::Int(2)]))),
    ("delete", |it| it.delete(&ITEMS, Key::Int(3)).map(drop)),
    ("scan", |it| it.scan(&ITEMS, Key::Int(0), 9, &mut |_| Ok(())).map(drop)),
    ("count", |it| it.count(&ITEMS).map(drop)),
    ("delete_all", |it| it.delete_all(&ITEMS).map(drop)),
];

/// Regression: a key that another program gave another type was an error of the server's, which named no key.
#[test]
fn a_key_that_gets_another_type_is_refused_by_its_name() {
    for engine in servers("a_key_that_gets_another_type_is_refused_by_its_name", "appendonly=off") {
        let refused = |calls: &[Call], command: &str, key: &str| {
            for (name, call) in calls {
                let mut records = engine.new_records().unwrap();
                by_hand(&engine, "DEL items\r\n");
                records.create(&[&ITEMS]).unwrap();
                by_hand(
                    &engine,
                    "EVAL \"for _,k in ipairs(redis.call('KEYS','items:*')) do redis.call('DEL',k) end\" 0\r\n",
                );
                records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
                by_hand(&engine, command);
                let refused = call(&mut *records).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Refused, "{name}: {refused}");
                assert!(refused.message().starts_with(&format!("there is a key {key} already")), "{name}: {refused}");
            }
        };
        let of_records = "EVAL \"for _,k in ipairs(redis.call('KEYS','items:*')) do redis.call('DEL',k) \
                          redis.call('RPUSH',k,'theirs') end\" 0\r\n";
        refused(&READING_RECORDS, of_records, "items:\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x01");
        refused(&READING_LISTS, "SET items theirs\r\n", "items");
    }
}

#[test]
fn the_class_is_that_of_the_settings_in_force() {
    for (query, class, lost) in [
        ("", Durability::Durable, None),
        ("?appendfsync=everysec", Durability::Consistent, Some(MayLose::LastSecondInMemory)),
        ("?appendonly=off&save=on", Durability::Consistent, Some(MayLose::SinceCheckpoint)),
        ("?appendonly=off", Durability::Volatile, None),
    ] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let engine = open(&format!("redis+private:{}{query}", folder.path().display())).unwrap();
        if let Err(why) = engine.target().available() {
            return bourse_testkit::skipped("the_class_is_that_of_the_settings_in_force", why);
        }
        let told = engine.description().unwrap();
        assert_eq!((told.durability, told.may_lose), (class, lost), "{query}: {}", told.durability_reason);
        assert!(told.engine == "redis" && told.version.contains('.') && told.warnings.is_empty(), "{told:?}");
    }
    for engine in servers("the_class_is_that_of_the_settings_in_force", "") {
        let told = engine.description().unwrap();
        assert_eq!((told.durability, told.warnings.len()), (Durability::Volatile, 1), "{}", told.durability_reason);
        by_hand(&engine, "CONFIG SET maxmemory 100mb\r\nCONFIG SET maxmemory-policy allkeys-lru\r\n");
        assert!(engine.description().unwrap().warnings[1].contains("may evict records"));
    }
}

/// Regression: a round had the class of settings that another client had changed in it.
#[test]
fn settings_that_another_client_changes_are_seen() {
    for engine in servers("settings_that_another_client_changes_are_seen", "") {
        let mut records = engine.new_records().unwrap();
        let before = records.settings().unwrap();
        assert_eq!(before, engine.description().unwrap().settings);
        by_hand(&engine, "CONFIG SET appendfsync no\r\n");
        let after = records.settings().unwrap();
        let changed: Vec<_> = before.iter().zip(&after).filter(|(was, is)| was != is).collect();
        assert!(changed.len() == 1 && changed[0].1.name == "appendfsync" && changed[0].1.value == "no", "{changed:?}");
    }
}

#[test]
fn a_killed_server_keeps_what_was_committed() {
    for engine in servers("a_killed_server_keeps_what_was_committed", "appendfsync=no") {
        let server = engine.hosting().owned_server().unwrap();
        assert_eq!(server.kill().unwrap_err().kind(), ErrorKind::Unsupported, "none was started yet");
        let mut records = engine.new_records().unwrap();
        records.create(&[&ITEMS]).unwrap();
        records.begin(Access::Write).unwrap();
        (1..=2).for_each(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(id)]).unwrap());
        records.commit().unwrap();
        records.begin(Access::Write).unwrap();
        records.insert(&ITEMS, Key::Int(3), &[Value::Int(3)]).unwrap();
        let first = engine.server_process();
        server.kill().unwrap();
        assert_eq!(records.commit().unwrap_err().kind(), ErrorKind::ConnectionLost);
        let lost = engine.new_records().err().unwrap();
        assert!(lost.kind() == ErrorKind::ConnectionLost && lost.message().contains("has ended (signal: 9"), "{lost}");
        server.restart().unwrap();
        assert_ne!(engine.server_process(), first);
        assert_eq!(engine.new_records().unwrap().count(&ITEMS).unwrap(), 2);
        server.stop().unwrap();
    }
}

#[test]
fn a_server_is_removed_after_its_owner() {
    for engine in servers("a_server_is_removed_after_its_owner", "") {
        engine.new_records().unwrap();
        let (process, folder) =
            (engine.server_process().unwrap(), engine.location().folder().unwrap().parent().unwrap().to_owned());
        assert!(engine.target().sweep().is_empty(), "its owner lives");
        abandon(&folder);
        assert_eq!(engine.target().sweep(), std::slice::from_ref(&folder));
        assert!(!folder.exists() && !is_alive(process));
    }
}

#[test]
fn keys_of_others_and_passwords_are_minded() {
    let folder = open_folder();
    for server in servers("keys_of_others_and_passwords_are_minded", "") {
        server.new_records().unwrap();
        let socket = server.location().folder().unwrap().with_file_name("redis.sock");
        let running = |query: &str| open(&format!("redis:///3?socket={}{query}", socket.display())).unwrap();
        let engine = running("");
        assert!(!engine.exists().unwrap() && engine.foreign().unwrap().is_none() && engine.capabilities().processes);
        // Regression: a person's own connection counted as a holder.
        let mut theirs = UnixStream::connect(&socket).unwrap();
        theirs.write_all(b"CLIENT SETNAME bourse:3:mine\r\n").unwrap();
        std::io::Read::read_exact(&mut theirs, &mut [0; 5]).unwrap();
        let held = engine.hold("process 7 since 2026-11-30 14:49: a test on this").unwrap();
        assert!(matches!(held, Hold::Held(_)) && matches!(engine.hold("it again").unwrap(), Hold::Nothing));
        by_hand(&server, "CONFIG SET timeout 19\r\n");
        let refused = engine.hold("process 7 since now").err().unwrap();
        assert!(refused.kind() == ErrorKind::Unsupported && refused.message().contains("timeout 0"), "{refused}");
        by_hand(&server, "CONFIG SET timeout 20\r\n");
        let elsewhere = open(&format!("redis:///4?socket={}", socket.display())).unwrap();
        assert!(matches!(elsewhere.hold("this test").unwrap(), Hold::Held(_)));
        by_hand(&server, "SELECT 3\r\nSET theirs 1\r\n");
        assert!(engine.foreign().unwrap().unwrap().contains("database 3 of the server has 1 keys"));
        assert_eq!(engine.new_records().err().unwrap().kind(), ErrorKind::Refused);
        by_hand(&server, "SELECT 3\r\nFLUSHDB\r\nCONFIG SET requirepass secret\r\n");
        let refused = running("").new_records().err().unwrap();
        assert!(refused.kind() == ErrorKind::Denied && refused.message().contains("REDISCLI_AUTH"), "{refused}");
        let file = folder.path().join("password");
        std::fs::write(&file, "secret\n").unwrap();
        let engine = running(&format!("&password_file={}", file.display()));
        let mut records = engine.new_records().unwrap();
        records.create(&[&ITEMS]).unwrap();
        records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
        assert_eq!(engine.tables().unwrap(), ["items"]);
        let size = engine.footprint().unwrap();
        assert!(size.data_bytes > 0 && size.memory_bytes > size.data_bytes && size.log_bytes > 0, "{size:?}");
        assert!(engine.counters().unwrap().iter().any(|it| it.name == "total_commands_processed" && it.value > 0));
        by_hand(&server, "AUTH secret\r\nACL SETUSER plain on >secret ~* +@all -info\r\n");
        let at = |place: &str| {
            let socket = format!("socket={}&password_file={}", socket.display(), file.display());
            open(&format!("redis://{place}?{socket}")).unwrap()
        };
        let plain = at("plain@localhost/3");
        let version = plain.description().unwrap().version;
        assert!(version.contains("may not read it (INFO)"), "{version}");
        assert!(plain.counters().unwrap().is_empty() && plain.footprint().unwrap().data_bytes == 0);
        let refused = at("localhost/99").new_records().err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
        assert!(refused.message().contains("the server has no database 99"), "{refused}");
        // Regression: without a password the user of a target was ignored.
        by_hand(&server, "AUTH secret\r\nACL SETUSER free on nopass ~* +@all -info\r\nCONFIG SET requirepass \"\"\r\n");
        let without = |user: &str| open(&format!("redis://{user}@localhost/3?socket={}", socket.display())).unwrap();
        let version = without("free").description().unwrap().version;
        assert!(version.contains("may not read it (INFO)"), "{version}");
        let refused = without("plain").new_records().err().unwrap();
        assert!(refused.kind() == ErrorKind::Denied && refused.message().contains("REDISCLI_AUTH"), "{refused}");
    }
}

#[test]
fn targets_are_read_or_refused() {
    for (target, expected) in [
        ("redis:", "not followed by '//'"),
        ("redis://localhost", "names no database"),
        ("redis://localhost/a", "not a number"),
        ("redis://me:secret@localhost/0", "must not contain a password"),
        ("redis://localhost/0?appendfsync=no", "cannot be used with a running server"),
        ("redis+private:?socket=/x", "cannot be used with a private server"),
        ("redis+private:?appendfsync=never", "expected always, everysec, no"),
        ("valkey+private:/x?ram=on", "either in memory or in that folder"),
    ] {
        let message = open(target).unwrap_err().to_string();
        assert!(message.contains(expected) && !message.contains("secret"), "{target}: {message}");
    }
    let lost = open("redis://127.0.0.1:1/0").unwrap().new_records().err().unwrap();
    assert_eq!(lost.kind(), ErrorKind::ConnectionLost);
    let absent = open("valkey+private:?server=/nowhere/valkey-server").unwrap().target().available().unwrap_err();
    assert_eq!(absent.message(), "/nowhere/valkey-server is no valkey-server that can be run");
    let schemes: Vec<&str> = KINDS.iter().map(|EngineKind { scheme, .. }| *scheme).collect();
    assert_eq!(schemes, GRAMMAR.schemes.iter().map(|scheme| scheme.name).collect::<Vec<_>>());
    assert_eq!(GRAMMAR.written("appendfsync", &RedisOptions::DEFAULT), "appendfsync=always");
}
