use bourse_engine::{Engine as _, Location};
use bourse_engine_turso::{GRAMMAR, TursoOptions, open};
use bourse_testkit::every_option_is_read_as_it_is_shown;

#[test]
fn what_a_target_cannot_mean_is_refused_with_what_it_can() {
    for (target, expected) in [
        ("turso:", "turso:PATH or turso::memory:"),
        ("turso:x?journal=delete", "expected wal, mvcc"),
        ("turso:x?sync=extra", "expected off, normal, full"),
        ("turso:x?cache=1", "from 64KiB to 1TiB"),
        ("turso:x?busy_timeout=2h", "a time up to 1h"),
        ("turso:x?jurnal=wal", "did you mean"),
    ] {
        let refused = open(target).unwrap_err().to_string();
        assert!(refused.contains(expected), "{target}: {refused}");
    }
}

#[test]
fn options_are_read_as_they_are_shown() {
    let read = |text: &str| GRAMMAR.parse(text, TursoOptions::DEFAULT).map(|parsed| parsed.options);
    every_option_is_read_as_it_is_shown(&GRAMMAR, &TursoOptions::DEFAULT, |_| ":x", read);
}

#[test]
fn a_target_tells_what_the_engine_can() {
    let writers = |target: &str| open(target).unwrap().capabilities().concurrent_writers;
    assert!(writers("turso:x?journal=mvcc") && !writers("turso:x"));
    assert_eq!(open("turso::memory:").unwrap().location(), Location::Memory);
    assert_eq!(open("turso:no-such.turso").unwrap().location().file(), Some("no-such.turso".as_ref()));
}
