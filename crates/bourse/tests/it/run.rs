//! Runs from beginning to end.

use crate::{load, output, text};
use bourse_record::{CheckStatus, Document as _, RunFile};
use std::fs;
use std::path::{Path, PathBuf};

/// The run files below `bourse-runs`, oldest first.
fn run_files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder.join("bourse-runs"))
        .expect("a run leaves a folder")
        .map(|entry| entry.expect("the folder can be read").path().join("run.json"))
        .collect();
    found.sort();
    found
}

/// The twelve transactions.
const TRANSACTIONS: [&str; 12] = [
    "Broker-Volume", "Customer-Position", "Market-Feed", "Market-Watch", "Security-Detail", "Trade-Lookup",
    "Trade-Order", "Trade-Result", "Trade-Status", "Trade-Update", "Data-Maintenance", "Trade-Cleanup",
];

#[test]
fn a_run_in_memory_reports_all_transactions_and_passes_its_checks() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["tpce", "run", "sqlite::memory:", "--days", "1", "--for", "3s", "--warmup", "2s", "--seed", "7"];
    let ended = output(folder.path(), &[&arguments[..], &["--check", "full"]].concat());
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{report}\n{}", text(&ended.stderr));
    for words in TRANSACTIONS.into_iter().chain([
        "TR/s",
        "volatile",
        "not a TPC-E configuration",
        "not comparable with published",
    ]) {
        assert!(report.contains(words), "no {words} in:\n{report}");
    }
    assert!(!report.contains("tpsE"), "the TPC's metric is the TPC's");

    let files = run_files(folder.path());
    let run = RunFile::read(&files[0]).expect("a run file can be read back");
    assert_eq!((run.provenance.seed, run.interrupted), (7, false));
    let round = &run.cases[0].rounds[0];
    assert!(round.headline > 1.0, "{}", round.headline);
    assert!(round.checks.len() > 90, "{} checks", round.checks.len());
    assert!(round.checks.iter().all(|check| check.status == CheckStatus::Passed));
    for (name, words) in [("lockstep sample", "transactions of all kinds"), ("contention sample", "nothing lost")] {
        let sample = round.checks.iter().find(|check| check.name == name).expect("transactions are sampled");
        assert!(sample.evidence.contains(words) && sample.took_s > 0.0, "{sample:#?}");
    }
    for operation in &round.operations {
        let failed = operation.outcomes.iter().filter(|count| count.outcome == bourse_record::Outcome::Failed);
        assert_eq!(failed.map(|count| count.count).sum::<u64>(), 0, "{}", operation.name);
    }

    let page = fs::read_to_string(files[0].with_file_name("report.html")).expect("a run leaves a page");
    assert!(page.contains("<svg") && page.contains("not comparable with published"));
    for (name, words) in [("again.html", "<svg"), ("again.md", "| Trade-Result"), ("again.csv", "Trade-Result")] {
        let run_folder = files[0].parent().expect("a run has a folder").display().to_string();
        let drawn = output(folder.path(), &["report", &run_folder, "-o", name]);
        assert!(drawn.status.success(), "{}", text(&drawn.stderr));
        let content = fs::read_to_string(folder.path().join(name)).expect("the report is written");
        assert!(content.contains(words), "{name} has no {words}");
    }
}

#[test]
fn a_database_is_reused_as_it_was_and_a_different_one_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:a.db?sync=off";
    load(folder.path(), target);
    let quick = ["--days", "1", "--for", "1s", "--warmup", "1s", "--json"];
    // The first run has put it back.
    for _ in 0..2 {
        let ended = output(folder.path(), &[&["tpce", "run", target][..], &quick].concat());
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains("a fresh database"), "{}", text(&ended.stderr));
        RunFile::parse(&ended.stdout, Path::new("stdout")).expect("--json prints the run file");
    }
    let differs = output(folder.path(), &["tpce", "run", target, "--days", "2", "--for", "1s"]);
    assert_eq!(differs.status.code(), Some(1));
    assert!(text(&differs.stderr).contains("initial trade days: 2 wanted, 1 found"), "{}", text(&differs.stderr));

    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    assert!(text(&checked.stdout).contains(" 0 failed"), "{}", text(&checked.stdout));
}

#[test]
fn targets_take_turns_in_one_report() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let targets = ["sqlite:a.db?sync=off", "sqlite:b.db?sync=off&journal=delete"];
    targets.iter().for_each(|target| load(folder.path(), target));
    let short = ["--days", "1", "--for", "1s", "--warmup", "1s", "--rounds", "2"];
    let ended = output(folder.path(), &[&["tpce", "run"], &targets[..], &short].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let run = RunFile::read(&run_files(folder.path())[0]).expect("a run file can be read back");
    assert_eq!(run.cases.len(), 2);
    let offsets: Vec<Vec<f64>> =
        run.cases.iter().map(|case| case.rounds.iter().map(|round| round.offset_s).collect()).collect();
    // Rounds in turn, in either order: both first rounds come before both second ones.
    let (first, second) = (offsets[0][0].max(offsets[1][0]), offsets[0][1].min(offsets[1][1]));
    assert!(first < second, "{offsets:?}");
}
