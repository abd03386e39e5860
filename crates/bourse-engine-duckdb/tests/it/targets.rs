use bourse_engine::{Engine as _, Isolation, Location};
use bourse_engine_duckdb::{info, open};

#[test]
fn what_a_target_cannot_mean_is_refused_with_what_it_can() {
    for (target, expected) in [
        ("duckdb:", "duckdb:PATH or duckdb::memory:"),
        ("duckdb:x?threads=0", "expected 1 to 1024"),
        ("duckdb:x?threads=two", "expected 1 to 1024"),
        ("duckdb:x?writers=many", "expected concurrent, one"),
        ("duckdb:x?memory_limit=1KiB", "from 16MiB to 16TiB"),
        ("duckdb:x?lock_timeout=5", "whole seconds from 1s to 3600s"),
        ("duckdb:x?thread=2", "did you mean"),
    ] {
        let refused = open(target).unwrap_err().to_string();
        assert!(refused.contains(expected), "{target}: {refused}");
    }
}

#[test]
fn a_target_tells_what_the_engine_can() {
    let levels = |target: &str| open(target).unwrap().capabilities().sql.unwrap().isolation;
    assert!(!levels("duckdb:x").contains(&Isolation::Serializable));
    assert!(levels("duckdb:x?writers=one").contains(&Isolation::Serializable));
    assert_eq!(open("duckdb::memory:").unwrap().location(), Location::Memory);
    assert_eq!(open("duckdb:no-such.duckdb").unwrap().location().file(), Some("no-such.duckdb".as_ref()));
}

#[test]
fn a_library_that_is_absent_is_told_with_where_to_have_it() {
    let absent = info(Some("/no/such/libduckdb.so".as_ref())).unwrap_err().to_string();
    for expected in ["cannot load /no/such/libduckdb.so", "npm", "$BOURSE_DUCKDB", "`library=`"] {
        assert!(absent.contains(expected), "{absent}");
    }
    let engine = open("duckdb::memory:?library=/no/such/libduckdb.so").unwrap();
    assert_eq!(engine.session().err().unwrap().kind(), bourse_engine::ErrorKind::Unsupported);
}
