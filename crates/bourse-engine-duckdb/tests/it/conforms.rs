use crate::{folder, has_library, in_memory};
use bourse_engine::Engine as _;
use bourse_engine_duckdb::open;
use bourse_testkit::{conformance, files_conformance, records_conformance};

#[test]
fn memory() {
    for query in ["", "writers=one&lock_timeout=1s"] {
        if let Some(engine) = in_memory("conforms::memory", query) {
            conformance(&engine);
        }
    }
}

#[test]
fn file() {
    if has_library("conforms::file") {
        let folder = folder();
        for (name, query) in [("concurrent", ""), ("one", "&writers=one&lock_timeout=1s")] {
            let path = folder.path().join(name);
            conformance(&open(&format!("duckdb:{}?threads=2{query}", path.display())).unwrap());
        }
    }
}

#[test]
fn records() {
    if let Some(engine) = in_memory("conforms::records", "") {
        assert_eq!(records_conformance(&engine), ["keys are assigned, none twice", "keys can be hashed"]);
    }
}

#[test]
fn what_it_did_not_make_is_left_alone() {
    if has_library("conforms::what_it_did_not_make_is_left_alone") {
        let folder = folder();
        files_conformance(folder.path(), &|path| Box::new(open(&format!("duckdb:{}", path.display())).unwrap()));
    }
}

#[test]
fn it_describes_itself() {
    let Some(engine) = in_memory("conforms::it_describes_itself", "threads=3&memory_limit=512MiB") else { return };
    let description = engine.description().unwrap();
    let setting = |name: &str| description.settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
    assert_eq!((setting("threads"), setting("memory_limit")), ("3".to_owned(), "512.0 MiB".to_owned()));
    assert_eq!(setting("library_sha256").len(), 64);
    assert!(description.version.starts_with(|first: char| first.is_ascii_digit()), "{}", description.version);
    assert!(description.warnings.iter().any(|warning| warning.contains("analytical")));
}
