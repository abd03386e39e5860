//! Instructions counted instead of timed.

use crate::{output, text};
use bourse_record::{Document as _, RunFile};
use std::path::Path;

/// Whether instructions can be counted here; a test that is skipped says so.
fn can_count(test: &str) -> bool {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let planned = ["micro", "run", "point-read", "null:", "--instructions", "--dry-run"];
    let ended = output(folder.path(), &planned);
    let said = text(&ended.stderr);
    if ended.status.success() {
        assert!(text(&ended.stdout).contains("count    instructions of each case after its rounds, twice, by "));
        return true;
    }
    assert!(
        said.contains("this machine has no counter of instructions") && said.contains("install valgrind"),
        "{said}"
    );
    bourse_testkit::skipped(test, "neither the processor nor valgrind counts instructions");
    false
}

/// Options of rounds that are as short as can be.
const SHORT: [&str; 10] = ["-s", "rows=100", "--count", "200", "--rounds", "1", "--warmup", "0s", "--seed", "7"];

fn refused(arguments: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(folder.path(), arguments);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
}

#[test]
fn what_cannot_be_counted_is_refused_with_the_reason() {
    let compare = |more: &[&'static str]| [&["compare", "sqlite:a.db", "sqlite:b.db", "--instructions"], more].concat();
    refused(
        &compare(&[]),
        &["cannot be used with tpce", "not for a fixed number of operations", "--workload point-read"],
    );
    refused(&compare(&["--workload", "tatp"]), &["cannot be used with tatp"]);
    refused(&compare(&["--workload", "update", "-s", "threads=2"]), &["several users", "-s threads=1"]);
    refused(&compare(&["--workload", "read-write"]), &["cannot be used with read-write: several users"]);
    refused(&compare(&["--workload", "delete"]), &["cannot be used with delete: it has no end on the null engine"]);
    refused(&compare(&["--workload", "update", "--until-decided"]), &["--until-decided", "cannot be used with"]);
    let server = ["micro", "run", "point-read", "postgres+private:", "--instructions"];
    refused(&server, &["cannot be used with postgres+private:", "its work is in another process"]);
    refused(&["micro", "run", "point-read", "sqlite::memory:", "--profile"], &["--instructions"]);
}

/// Compares two targets, and returns exit code, output, and the stored run.
fn compared(folder: &Path, base: &str, head: &str, more: &[&str]) -> (Option<i32>, String, RunFile) {
    let asked = ["compare", base, head, "--workload", "point-read", "--instructions", "-o", "runs"];
    let ended = output(folder, &[&asked[..], &SHORT, more].concat());
    // Without the ends of lines.
    let said = text(&ended.stdout) + &text(&ended.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let newest = std::fs::read_dir(folder.join("runs")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let newest = newest.map(|entry| entry.expect("an entry").path()).max().expect("a run");
    let run = std::fs::read(newest.join("run.json")).expect("a run file");
    (ended.status.code(), said, RunFile::parse(&run, &newest).expect("a run file"))
}

#[test]
fn one_target_twice_is_not_shown_to_differ_and_another_engine_is() {
    if !can_count("one_target_twice_is_not_shown_to_differ_and_another_engine_is") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (code, said, run) = compared(folder.path(), "sqlite:a.db", "sqlite:bb.db", &["--fail-above", "0.5%"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("B is not shown to differ in instructions, surely by no more than 0.5 %: "), "{said}");
    assert!(said.contains("; time is not judged") && said.contains("reads/s"), "{said}");
    let [base, head] = [0, 1].map(|at| run.cases[at].instructions.clone().expect("they were counted"));
    assert!(base.is_like(&head) && base.operations == 200 && base.counts.len() == 2, "{base:?}");
    assert!(base.harness > 0 && base.middle().expect("a count") > 100.0, "{base:?}");
    let stored = run.comparison.expect("it was decided");
    assert!(stored.by_instructions && stored.level == Some(0.999) && stored.interval.is_some(), "{stored:?}");
    // LMDB takes a sixth more in a build without optimization; the gate, the stored run and its functions say so.
    let more = ["--fail-above", "0.1%", "--profile"];
    let (code, said, run) = compared(folder.path(), "sqlite:a.db", "lmdb:bb.lmdb", &more);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("B executes more instructions, by more than 0.1 %: +"), "{said}");
    assert!(
        said.contains("more instructions than --fail-above tolerates") && said.contains("that differ most"),
        "{said}"
    );
    let counted = run.cases[0].instructions.as_ref().expect("they were counted");
    let of_functions: u64 = counted.functions.iter().map(|it| it.count).sum();
    assert!(of_functions <= counted.counts[0] && of_functions > counted.counts[0] / 2, "{counted:?}");
    // The stored run is compared with itself, and with one of another counter.
    let path = folder.path().join("one.json");
    let store = |run: &RunFile| std::fs::write(&path, run.to_json()).expect("it can be written");
    let mut one = RunFile { cases: vec![run.cases[0].clone()], comparison: None, ..run };
    store(&one);
    std::fs::copy(&path, folder.path().join("two.json")).expect("it can be copied");
    let stored = ["compare", "one.json", "two.json", "--instructions", "--fail-above", "1%"];
    let ended = output(folder.path(), &stored);
    let said = text(&ended.stdout) + &text(&ended.stderr);
    assert!(ended.status.success() && said.contains("not shown to differ in instructions"), "{said}");
    one.cases[0].instructions.as_mut().expect("a count").counted_by = "processor".to_owned();
    store(&one);
    let ended = output(folder.path(), &stored);
    let said = text(&ended.stdout) + &text(&ended.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ended.status.code() == Some(6) && said.contains("counted by different counters"), "{said}");
}

#[test]
fn a_report_has_the_instructions_of_an_operation() {
    if !can_count("a_report_has_the_instructions_of_an_operation") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let asked = ["micro", "run", "point-read", "redb::memory:", "--instructions", "--profile"];
    let ended = output(folder.path(), &[&asked[..], &SHORT].concat());
    let said = text(&ended.stdout) + &text(&ended.stderr);
    assert!(ended.status.success() && said.contains("instructions of an operation"), "{said}");
    assert!(said.contains("instructions/op") && said.contains("Functions with the most"), "{said}");
}
