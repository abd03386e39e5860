use bourse_engine::target::TargetError;
use bourse_engine_sqlite::{
    GRAMMAR, Sets, SqliteJournal, SqliteOptions, SqlitePlace, SqliteSync, SqliteTarget, SqliteWriters,
};
use proptest::prelude::*;
use std::time::Duration;

#[track_caller]
fn refused(target: &str, expected: &str) {
    let message = SqliteTarget::parse(target).expect_err(target).to_string();
    assert!(message.contains(expected), "{target}: {message}");
}

#[track_caller]
fn check(target: &str, expected: SqliteOptions) {
    assert_eq!(SqliteTarget::parse(target).unwrap().options, expected, "{target}");
}

#[test]
fn a_target_is_a_path_and_its_settings() {
    check("sqlite:x.db", SqliteOptions::FILE);
    check("sqlite::memory:", SqliteOptions::MEMORY);
    check(
        "sqlite:x.db?journal=delete&sync=extra&cache=1GiB&busy_timeout=250ms&writers=busy",
        SqliteOptions {
            journal: SqliteJournal::Delete,
            sync: SqliteSync::Extra,
            cache_bytes: 1 << 30,
            is_cache_given: true,
            busy_timeout: Duration::from_millis(250),
            writers: SqliteWriters::Busy,
            ..SqliteOptions::FILE
        },
    );
    // Wherever it stands, what is said beside it holds.
    let sets = Sets::of(&["journal", "defaults"]);
    let sqlite = SqliteOptions { journal: SqliteJournal::Wal, sets, ..SqliteOptions::SQLITE_FILE };
    check("sqlite:x.db?defaults=sqlite&journal=wal", sqlite);
    check("sqlite:x.db?journal=wal&defaults=sqlite", sqlite);
    let sets = Sets::of(&["defaults"]);
    check(
        "sqlite::memory:?defaults=sqlite",
        SqliteOptions { journal: SqliteJournal::Memory, sets, ..SqliteOptions::SQLITE_MEMORY },
    );
    let place = |target| SqliteTarget::parse(target).unwrap().place;
    assert_eq!(place("sqlite:///a/b.db"), SqlitePlace::File("/a/b.db".into()));
    assert_eq!(place("sqlite:a%3Fb%25.db?sync=off"), SqlitePlace::File("a?b%.db".into()));
}

#[test]
fn every_setting_is_read_as_it_is_shown() {
    // One is about memory alone.
    for option in GRAMMAR.options.iter().filter(|option| option.name != "memory") {
        let shown = (option.show)(&SqliteOptions::FILE);
        let expected = SqliteOptions { is_cache_given: option.name == "cache", ..SqliteOptions::FILE };
        check(&format!("sqlite:x.db?{}={shown}", option.name), expected);
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_is_known() {
    refused("postgres:x", "invalid SQLite target 'postgres:x': expected sqlite:PATH");
    refused("sqlite:", "names no place");
    refused("sqlite:x.db?jornal=wal", "known options:\n  journal (wal, delete");
    refused("sqlite:x.db?busytimeout=1s", "did you mean 'busy_timeout'?");
    refused("sqlite:x.db?journal=wall", "invalid value 'wall' for 'journal': expected wal, delete");
    refused("sqlite:x.db?page_size=1000", "out of range; expected");
    refused("sqlite:x.db?page_size=128KiB", "out of range; expected");
    refused("sqlite:x.db?cache=99999999999999TiB", "out of range; expected");
    refused("sqlite:x.db?cache=64MB", "invalid value '64MB'");
    refused("sqlite:x.db?busy_timeout=5", "expected a time");
    refused("sqlite:x.db?sync=off&sync=full", "given twice");
    refused("sqlite:x.db?sync", "expected OPTION=VALUE");
    refused("sqlite:x%zz.db", "'%25'");
    refused("sqlite:x%00.db", "invalid '%' in 'x%00.db'");
    refused("sqlite::memory:?memory=memdb&journal=wal", "'journal=wal' cannot be used with a database in memory");
    refused("sqlite::memory:?sync=full", "it is about files");
    refused("sqlite:x.db?journal=delete&autocheckpoint=5", "nothing to checkpoint");
    refused("sqlite:x.db?shared_cache=on&locking=exclusive", "shared by several sessions");
    refused("sqlite::memory:?shared_cache=on&journal=wal", "'journal=wal' cannot be used with a database in memory");
    refused("sqlite::memory:?shared_cache=on&memory=memdb", "'memory=memdb' cannot be used with shared_cache=on");
    refused("sqlite::memory:?memory=private&journal=wal", "only memory=ram has files");
    refused("sqlite:x.db?memory=memdb", "'memory=memdb' cannot be used with a database in a file");
    refused("sqlite:x.db?begin=deferred", "'begin=deferred' cannot be used with writers=queue");
    refused(
        "sqlite:x.db?begin=concurrent&writers=sqlite",
        "'begin=concurrent' cannot be used with this target: it takes a library",
    );
    refused("sqlite:x.db?writers=one&locking=exclusive", "'writers=one' cannot be used with locking=exclusive");
    refused("sqlite::memory:?writers=one&memory=private", "'writers=one' cannot be used with memory=private");
    refused("sqlite:x.db?writers=one&shared_cache=on", "'writers=one' cannot be used with a shared cache");
    refused("sqlite:x.db?index=hash", "'index' cannot be used with SQLite: it finds rows by trees alone; did you mean");
    assert!(matches!(SqliteTarget::parse("sqlite:x?a=b"), Err(TargetError::UnknownOption { .. })));
}

/// Texts similar to targets: the right scheme and words about half of the time, settings right and wrong.
fn targets() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        prop::sample::select(vec!["journal", "sync", "cache", "memory", "writers", "busy_timeout", "locking", "mmap"]),
        Just("nothing"),
        Just(""),
    ];
    let value = prop_oneof![
        prop::sample::select(vec![
            "wal",
            "delete",
            "full",
            "off",
            "64MiB",
            "1e3",
            "-1",
            "private",
            "5s",
            "18446744073709551616KiB"
        ])
        .prop_map(str::to_owned),
        ".{0,8}",
    ];
    let setting = (name, "=?", value).prop_map(|(name, equals, value)| format!("{name}{equals}{value}"));
    let place = prop_oneof![Just(":memory:".to_owned()), Just("x.db".to_owned()), ".{0,12}"];
    (prop_oneof![Just("sqlite:"), Just("sqlite"), Just("")], place, prop::collection::vec(setting, 0..4)).prop_map(
        |(scheme, place, settings)| match settings.as_slice() {
            [] => format!("{scheme}{place}"),
            settings => format!("{scheme}{place}?{}", settings.join("&")),
        },
    )
}

proptest! {
    /// Property: any text is a target or is refused in a readable line; the order of settings does not matter.
    #[test]
    fn any_text_is_a_target_or_refused(text in targets()) {
        match SqliteTarget::parse(&text) {
            Ok(target) => {
                prop_assert!(text.starts_with("sqlite:"), "{text}");
                if let Some((place, settings)) = text.split_once('?') {
                    let turned: Vec<&str> = settings.split('&').rev().collect();
                    let again = SqliteTarget::parse(&format!("{place}?{}", turned.join("&")));
                    prop_assert_eq!(again.map(|it| it.options).ok(), Some(target.options));
                }
            }
            Err(refused) => prop_assert!(!refused.to_string().is_empty(), "{}", text),
        }
    }
}
