//! `bourse tpcc` on a database with a hundredth of the rows, which the harness loads and the program takes as it is.

use crate::{output, text};
use bourse_oltp::load::{LoadOptions, load};
use bourse_record::acid::{AcidFile, AcidVerdict};
use bourse_record::{CheckStatus, Document as _, Outcome, RunFile};
use bourse_tpcc::{Tpcc, size_of};
use std::ops::ControlFlow;
use std::path::Path;

const TARGET: &str = "sqlite:x.db?sync=off";

fn loaded(folder: &Path) {
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}?sync=off", folder.join("x.db").display()));
    let options = LoadOptions::default();
    let report =
        load(&engine.expect("a target"), &Tpcc, &Tpcc, &size_of(2, 60), &options, &mut |_| ControlFlow::Continue(()));
    report.expect("loads");
}

#[test]
fn a_database_is_run_and_checked() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    loaded(folder);
    let checked = output(folder, &["tpcc", "check", TARGET]);
    let said = text(&checked.stdout);
    assert!(checked.status.success(), "{said}");
    assert!((1..=12).all(|number| said.contains(&format!("passed  C{number} "))), "{said}");

    let short = ["--for", "600ms", "--warmup", "100ms", "--users", "3", "--no-wait", "--seed=1", "--check", "full"];
    let ran = output(folder, &[&["tpcc", "run", TARGET], &short[..]].concat());
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let mut runs = std::fs::read_dir(folder.join("bourse-runs")).expect("there are runs");
    let run = runs.next().expect("there is a run").expect("a folder").path();
    let file = RunFile::read(&run.join("run.json")).expect("a run file");
    let case = &file.cases[0];
    assert!(text(&ran.stdout).contains(" New-Order transactions per minute"), "{}", text(&ran.stdout));
    assert_eq!(case.workload.parameters[0].value, "2", "a database that is there keeps its size");
    assert!(
        case.workload.notice.as_ref().is_some_and(|it| it.contains("not comparable with published TPC Benchmark C"))
    );
    let round = &case.rounds[0];
    let ended: Vec<(&str, u64)> = round.operations.iter().map(|it| (it.name.as_str(), it.ended())).collect();
    assert!(ended.len() == 5 && ended.iter().all(|(_, count)| *count > 0), "{ended:?}");
    let orders = case.rate_of("New-Order").map(|rate| rate.value * round.measured_s);
    assert_eq!(orders.map(f64::round), Some(round.operations[0].valid() as f64));
    let rolled_back = round.operations[0].outcomes.iter().find(|it| it.outcome == Outcome::RolledBack);
    assert!(rolled_back.is_some_and(|it| it.code == 1), "one in a hundred: {:?}", round.operations[0].outcomes);
    let of = |name: &str| round.checks.iter().find(|check| check.name == name).map(|check| check.status);
    let names = ["orders", "deliveries", "pieces supplied", "C10 balances", "lockstep sample", "contention sample"];
    assert_eq!(names.map(of), [Some(CheckStatus::Passed); 6], "{:#?}", round.checks);
    assert!(round.checks.iter().all(|check| check.status != CheckStatus::Failed), "{:#?}", round.checks);
}

#[test]
fn a_size_is_a_number_of_warehouses() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let refused = |arguments: &[&str], words: &str| {
        let refused = output(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    };
    refused(
        &["tpcc", "load", "sqlite:y.db", "--warehouses", "0"],
        "invalid number of warehouses '0': expected 1 to 9,999",
    );
    refused(
        &["tatp", "run", "sqlite:y.db", "--terminals"],
        "--terminals cannot be used with tatp: its users do not pause",
    );
    refused(&["tpcc", "run", "--subscribers", "1000"], "unexpected argument '--subscribers'");
    let compare = ["compare", "sqlite:a.db", "sqlite:b.db", "--workload", "tpcc", "--dry-run"];
    let planned = text(&output(folder.path(), &compare).stdout);
    assert!(planned.contains("1 warehouse"), "{planned}");
}

#[test]
fn acid_tests_pass_and_a_killed_process_loses_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    loaded(folder);
    let only = ["--only", "A,C,I,D1", "--repeats", "1", "--json"];
    let ended = output(folder, &[&["tpcc", "acid", "sqlite:x.db?sync=full"], &only[..]].concat());
    let said = text(&ended.stderr);
    let file = AcidFile::parse(&ended.stdout, "acid.json".as_ref()).expect("a document");
    assert!(file.notice.as_ref().is_some_and(|it| it.contains("TPC-C-derived")), "{:?}", file.notice);
    let ids: Vec<_> = file.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids[..7], ["A1", "A2", "A3", "A4", "C1", "C2", "C3"]);
    assert_eq!(ids[15..], ["C12", "C13", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "D1"]);
    let passed = |test: &&bourse_record::acid::AcidTest| test.verdict == AcidVerdict::Passed;
    assert!(file.tests.iter().all(|test| passed(&test)), "{said}{:#?}", file.tests.iter().find(|test| !passed(test)));
    assert!(file.tests.iter().all(|test| !test.cases.is_empty()), "each has its evidence");
    assert_eq!(ended.status.code(), Some(0), "{said}");

    let refused = output(folder, &["tatp", "acid", "sqlite:y.db"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("tatp has no tests of atomicity"), "{}", text(&refused.stderr));
}
