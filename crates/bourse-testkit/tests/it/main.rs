//! The example engine does what every engine must, and the page that quotes it is its source.

mod files;

use bourse_engine::{Engine as _, ErrorKind, Location};
use bourse_testkit::example_engine::open;
use bourse_testkit::records_conformance;

// --- conformance ---
#[test]
fn promises_are_kept() {
    let engine = open("example::memory:").unwrap();
    let left_out = records_conformance(&engine);
    assert_eq!(left_out, ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"]);
}
// --- end ---

#[test]
fn it_is_a_key_engine_in_memory() {
    let engine = open("example::memory:").unwrap();
    assert_eq!(engine.location(), Location::Memory);
    assert!(!engine.exists().unwrap());
    assert_eq!(engine.session().err().unwrap().kind(), ErrorKind::Unsupported);
    assert!(open("example::memory:?cache=1").unwrap_err().to_string().contains("unknown option 'cache'"));
}

/// The part of a source between its mark and the next.
fn part<'s>(source: &'s str, name: &str) -> &'s str {
    let mark = format!("// --- {name} ---\n");
    let (_, behind) = source.split_once(&mark).unwrap_or_else(|| panic!("the source has no part {name}"));
    behind.split_once("// --- ").expect("a part ends with a mark").0
}

#[test]
fn the_page_quotes_the_source() {
    let page = include_str!("../../../../docs/adding-an-engine.md");
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let (source, tests) = (include_str!("../../src/example_engine.rs"), include_str!("main.rs"));
    let parts = ["target", "engine", "tables", "records", "kind"].map(|name| part(source, name));
    let expected: Vec<&str> = parts.into_iter().chain([part(tests, "conformance")]).collect();
    assert_eq!(blocks.len(), expected.len(), "the page has each part once");
    for (block, part) in blocks.into_iter().zip(expected) {
        assert_eq!(
            block, part,
            "docs/adding-an-engine.md differs from the example: copy the part of the source into the page"
        );
    }
}
