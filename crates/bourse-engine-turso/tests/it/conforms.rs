use crate::folder;
use bourse_engine::{Durability, Engine as _};
use bourse_engine_turso::open;
use bourse_testkit::{conformance, files_conformance, records_conformance};

/// Short patience, since sessions of one thread wait for each other in vain.
const BUSY_TIMEOUT: &str = "busy_timeout=100ms";

#[test]
fn memory() {
    for journal in ["wal", "mvcc"] {
        conformance(&open(&format!("turso::memory:?{BUSY_TIMEOUT}&journal={journal}")).unwrap());
    }
}

#[test]
fn file() {
    let folder = folder();
    for query in ["journal=wal", "journal=mvcc&checkpoint_threshold=64KiB", "sync=off&foreign_keys=off&checks=off"] {
        let path = folder.path().join(query.split('&').next().unwrap());
        conformance(&open(&format!("turso:{}?{BUSY_TIMEOUT}&{query}", path.display())).unwrap());
    }
}

#[test]
fn records() {
    for journal in ["wal", "mvcc"] {
        let engine = open(&format!("turso::memory:?journal={journal}")).unwrap();
        assert_eq!(records_conformance(&engine), ["keys can be hashed"], "{journal}");
    }
}

#[test]
fn what_it_did_not_make_is_left_alone() {
    let folder = folder();
    files_conformance(folder.path(), &|path| Box::new(open(&format!("turso:{}", path.display())).unwrap()));
}

#[test]
fn it_describes_itself() {
    let engine =
        open("turso::memory:?journal=mvcc&sync=normal&cache=8MiB&checkpoint_threshold=2MiB&temp_store=memory").unwrap();
    let description = engine.description().unwrap();
    let setting = |name: &str| description.settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
    assert_eq!([setting("journal_mode"), setting("synchronous"), setting("cache_size")], ["mvcc", "normal", "-8192"]);
    assert_eq!([setting("mvcc_checkpoint_threshold"), setting("busy_timeout")], ["2097152", "10s"]);
    assert_eq!(setting("temp_store"), "memory");
    assert_eq!(description.durability, Durability::Volatile);
    assert_eq!(description.version, bourse_engine_turso::version().unwrap());
    assert!(description.warnings.iter().any(|warning| warning.contains("beta")));
}
