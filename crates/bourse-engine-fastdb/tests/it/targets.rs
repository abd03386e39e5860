use bourse_engine::Engine as _;
use bourse_engine_fastdb::{Commit, FastDbIndex, FastDbOptions, GRAMMAR, info, open};
use std::path::Path;

#[track_caller]
fn refused(target: &str, expected: &str) {
    let Err(error) = open(target) else { panic!("{target} was opened") };
    let message = error.to_string();
    assert!(message.contains(expected), "{target}: {message}");
}

#[test]
fn settings_are_read() {
    let parsed = GRAMMAR
        .parse("fastdb:x.fdb?library=/a/b.so&index=hash&commit=precommit&unique=off&size=2GiB", FastDbOptions::DEFAULT)
        .unwrap();
    let expected = FastDbOptions {
        library: Some("/a/b.so".into()),
        index: FastDbIndex::Hash,
        commit: Commit::Precommit,
        unique: false,
        size_bytes: 2 << 30,
    };
    assert_eq!(parsed.options, expected);
    for option in GRAMMAR.options.iter().filter(|option| option.name != "library") {
        let shown = GRAMMAR.written(option.name, &FastDbOptions::DEFAULT);
        assert_eq!(
            GRAMMAR.parse(&format!("fastdb:x?{shown}"), FastDbOptions::DEFAULT).unwrap().options,
            FastDbOptions::DEFAULT
        );
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_is_known() {
    refused("fastdb:", "names no place");
    refused("fastdb:x?commit=half", "expected full, precommit");
    refused("fastdb:x?size=64MiB", "out of range; expected");
    refused("fastdb:x?comit=full", "known options:\n  library");
    refused("fastdb:a%25b", "a format of printf");
}

#[test]
fn files_that_are_not_its_own_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::refuses_what_is_not_its_own(folder.path(), &|path| {
        Box::new(open(&format!("fastdb:{}", path.display())).unwrap())
    });
}

#[test]
fn an_absent_library_is_explained() {
    let absent = info(Some(Path::new("/nowhere/libfastdb_r.so.2"))).unwrap_err().to_string();
    for part in
        ["cannot load /nowhere/libfastdb_r.so.2", "in no package registry", "DEBUG=0", "$BOURSE_FASTDB", "`library=`"]
    {
        assert!(absent.contains(part), "{part:?} in {absent}");
    }
    let engine = open("fastdb:x.fdb?library=/nowhere/libfastdb_r.so.2").unwrap();
    assert!(!engine.exists().unwrap(), "looking for a file needs no library");
    let refused = engine.connect().err().expect("no library").to_string();
    assert!(refused.contains("cannot load"), "{refused}");
    assert!(!Path::new("x.fdb").exists(), "nothing is made");
}
