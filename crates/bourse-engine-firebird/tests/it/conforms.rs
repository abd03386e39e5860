use crate::{at, folder, is_there};
use bourse_engine::{Durability, Engine as _};
use bourse_testkit::{conformance, files_conformance, records_conformance};

#[test]
fn promises_are_kept() {
    if !is_there("conforms::promises_are_kept") {
        return;
    }
    let folder = folder();
    // Sessions of one thread wait for each other in vain, so patience is short.
    for (name, query) in [
        ("no-wait", "lock_timeout=0s"),
        ("waits", "lock_timeout=1s&page_size=4KiB&sync=off"),
        ("tables", "lock_timeout=0s&serializable=tables&page_size=16KiB&cache=4MiB"),
    ] {
        conformance(&at(&folder.path().join(name), query));
    }
}

#[test]
fn records() {
    if is_there("conforms::records") {
        let folder = folder();
        assert_eq!(records_conformance(&at(&folder.path().join("records"), "")), ["keys can be hashed"]);
    }
}

#[test]
fn what_it_did_not_make_is_left_alone() {
    if is_there("conforms::what_it_did_not_make_is_left_alone") {
        let folder = folder();
        files_conformance(folder.path(), &|path| Box::new(at(path, "")));
    }
}

#[test]
fn it_describes_itself() {
    if !is_there("conforms::it_describes_itself") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.fdb");
    for (sync, forced, page_size, class) in [
        ("full", "1", "4096", [Durability::Durable, Durability::Volatile]),
        // The page size of a file is permanent, its setting for waiting on the disk is not.
        ("off", "0", "4096", [Durability::Process, Durability::Volatile]),
    ] {
        let engine = at(&path, &format!("page_size={}KiB&cache=8MiB&sync={sync}", if forced == "1" { 4 } else { 8 }));
        let description = engine.description().unwrap();
        let setting =
            |name: &str| description.settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
        assert_eq!([setting("forced_writes"), setting("page_size")], [forced, page_size], "{sync}");
        assert_eq!([setting("page_buffers"), setting("lock_timeout")], ["2048", "1s"], "{sync}");
        assert!(class.contains(&description.durability), "{sync}: {description:?}");
        assert!(description.version.starts_with(|first: char| first.is_ascii_digit()), "{}", description.version);
        assert!(setting("library").contains("fbclient") && setting("library_sha256").len() == 64);
    }
}
