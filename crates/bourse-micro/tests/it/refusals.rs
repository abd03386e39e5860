//! Impossible requests are refused before anything runs, with an explanation.

use bourse_driver::RealClock;
use bourse_engine::{Capabilities, Engine as _, RecordCapabilities};
use bourse_micro::{TimedOperations, Timing, WORKLOADS, find, run_round};
use std::sync::atomic::AtomicBool;

fn refused(name: &str, options: &[(&str, &str)]) -> String {
    find(name).unwrap().plan(options.iter().copied()).err().expect("must be refused").to_string()
}

#[test]
fn combinations_that_contradict_each_other() {
    let check = |name, options: &[(&str, &str)], expected: &str| assert_eq!(refused(name, options), expected);
    check(
        "update",
        &[("explicit", "off"), ("per_transaction", "10")],
        "update: explicit=off makes each update a transaction: not 10 in one",
    );
    check("bulk-load", &[("shape", "pairs"), ("tables", "2")], "bulk-load: shape=pairs has one table");
    check("bulk-load", &[("key_index", "hash")], "bulk-load: key_index=hash goes with shape=pairs");
    check(
        "bulk-load",
        &[("explicit", "off")],
        "bulk-load: explicit=off makes each row a transaction: not 100000 in one",
    );
    check(
        "delete",
        &[("per_transaction", "5")],
        "delete: mode=all is one transaction: per_transaction=5 goes with mode=each",
    );
    assert!(
        refused("point-read", &[("row", "5")])
            .starts_with("unknown option 'row' for point-read; did you mean 'rows'?\noptions of point-read: rows, ")
    );
}

#[test]
fn what_an_engine_cannot_do_is_said() {
    let sqlite = bourse_engine_sqlite::open("sqlite::memory:").unwrap().capabilities();
    let keys = Capabilities {
        sql: None,
        records: Some(RecordCapabilities {
            text_keys: false,
            ordered_scans: false,
            indexed_fields: false,
            ..RecordCapabilities::OVER_SQL
        }),
        ..sqlite.clone()
    };
    let nothing = Capabilities { records: None, ..keys.clone() };
    let check = |capabilities: &Capabilities, name, options: &[(&str, &str)], expected: &[&str]| {
        let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
        assert_eq!(case.lacking(capabilities), expected);
    };
    check(&sqlite, "index-search", &[("index", "hash")], &["index=hash needs a hash index"]);
    check(&keys, "index-search", &[], &[]);
    check(&keys, "index-search", &[("by", "both")], &["searching by text needs indexes beside the key"]);
    check(&keys, "point-read", &[("key", "text")], &["key=text needs keys that are texts"]);
    check(&keys, "scan", &[], &["it needs records in the order of their keys"]);
    check(&keys, "point-read", &[("statements", "parsed")], &["statements=parsed needs SQL"]);
    check(&keys, "bulk-load", &[("indexes", "after")], &["indexes=after needs SQL"]);
    check(&nothing, "point-read", &[], &["it needs records by key"]);
}

#[test]
fn a_database_of_somebody_else_is_left_alone() {
    let engine = bourse_engine_sqlite::open("sqlite::memory:").unwrap();
    engine.session().unwrap().execute_text("CREATE TABLE precious (id INTEGER PRIMARY KEY)", &[]).unwrap();
    let case = find("point-read").unwrap().plan([("rows", "10")]).unwrap();
    let timing = Timing {
        warm_up_ns: 0,
        measure_ns: None,
        count: Some(1),
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    };
    let never = AtomicBool::new(false);
    let run = || run_round(&case, &engine, &timing, 1, &RealClock::start(), &never, &mut |_| {});
    let refused = run().unwrap_err().to_string();
    assert_eq!(refused, "looking for a database: it holds what bourse did not make: table precious");
    let mut rows = 0;
    let mut session = engine.session().unwrap();
    session
        .query_text("SELECT 1 FROM sqlite_schema WHERE name = 'precious'", &[], &mut |_| {
            rows += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn every_option_takes_its_own_default() {
    for spec in WORKLOADS {
        let defaults = spec.options.iter().map(|option| (option.name, option.default));
        let case = spec.plan(defaults).unwrap();
        assert_eq!(case.options.effective().count(), spec.options.len(), "{}: an option stands twice", spec.name);
        assert!(case.threads() >= 1 && case.unit().ends_with("/s"));
        for text in [spec.summary, spec.tables, spec.needs] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", spec.name);
        }
    }
}
