use bourse_engine::{Engine as _, ErrorKind, Isolation};
use bourse_engine_firebird::{info, open};

#[test]
fn what_a_target_cannot_mean_is_refused_with_what_it_can() {
    for (target, expected) in [
        ("firebird:", "firebird:PATH"),
        ("firebird:x?sync=normal", "expected full, off"),
        ("firebird:x?page_size=1KiB", "expected 4KiB, 8KiB, 16KiB"),
        ("firebird:x?cache=1KiB", "from 1MiB to 1TiB"),
        ("firebird:x?lock_timeout=5", "whole seconds from 0s to 3600s"),
        ("firebird:x?serializable=yes", "expected snapshot, tables"),
        ("firebird:x?pagesize=4KiB", "did you mean"),
    ] {
        let refused = open(target).unwrap_err().to_string();
        assert!(refused.contains(expected), "{target}: {refused}");
    }
}

#[test]
fn a_target_tells_what_the_engine_can() {
    let levels = |target: &str| open(target).unwrap().capabilities().sql.unwrap().isolation;
    assert!(!levels("firebird:x").contains(&Isolation::Serializable));
    assert!(levels("firebird:x?serializable=tables").contains(&Isolation::Serializable));
    assert_eq!(open("firebird:no-such.fdb").unwrap().location().file(), Some("no-such.fdb".as_ref()));
}

#[test]
fn a_library_that_is_absent_is_told_with_where_to_have_it() {
    let absent = info(Some("/no/such/libfbclient.so.2".as_ref())).unwrap_err().to_string();
    for expected in [
        "cannot load /no/such/libfbclient.so.2",
        "libfbclient2",
        "firebird3.0-server-core",
        "$BOURSE_FIREBIRD",
        "`library=`",
    ] {
        assert!(absent.contains(expected), "{absent}");
    }
    let folder = crate::folder();
    let engine = crate::at(&folder.path().join("x.fdb"), "library=/no/such/libfbclient.so.2");
    assert_eq!(engine.session().err().unwrap().kind(), ErrorKind::Unsupported);
    assert!(!folder.path().join("x.fdb").exists(), "nothing is made");
}
