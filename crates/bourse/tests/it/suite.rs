//! The published experiments, rerun by the program.

use crate::{bourse, one_line, output, start, text};
use bourse_record::Document as _;
use bourse_verdict::suite::{CellState, SuiteFile};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn document(folder: &Path) -> PathBuf {
    let run = fs::read_dir(folder.join("bourse-runs")).expect("a run leaves a folder").next();
    run.expect("there is one").expect("it can be read").path()
}

#[test]
fn every_suite_is_listed_and_shown() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let all = text(&output(folder.path(), &["suite", "list"]).stdout);
    for suite in bourse_verdict::suite::all().expect("they are whole") {
        assert!(all.lines().any(|line| line.starts_with(&suite.name)), "{all}");
        let one = text(&output(folder.path(), &["suite", "show", &suite.name]).stdout);
        for finding in &suite.findings {
            assert!(one_line(&one).contains(&one_line(&finding.claim)), "{one}");
        }
    }
}

/// Every case of every suite is accepted by its workload, at every scale.
#[test]
fn every_case_of_every_suite_can_be_planned() {
    for suite in bourse_verdict::suite::all().expect("they are whole") {
        for scale in [1.0, 0.1, 0.01] {
            let plan = bourse_verdict::suite::CellPlan::new(&suite, scale, None, &[]).expect("the scale is one");
            for case in plan.cases.iter().filter(|case| !["tpce", "tatp"].contains(&case.workload.as_str())) {
                let options = case.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let planned = bourse_micro::find(&case.workload).and_then(|spec| spec.plan(options));
                assert!(planned.is_ok(), "{}: {case:?}: {:?}", suite.name, planned.err());
            }
        }
    }
}

#[test]
fn what_cannot_work_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (arguments, words) in [
        (&["suite", "run", "sqlite-basic"][..], "suites: sqlite-basics, "),
        (&["suite", "show", "sqlite-basic"], "did you mean 'sqlite-basics'?"),
        (&["suite", "run", "sqlite-basics", "--scale", "2"], "above 0 and up to 1"),
        (&["suite", "run", "sqlite-basics", "--rounds", "0"], "from 1 to 10,000"),
        (&["suite", "run", "sqlite-basics", "--only", "9z"], "tables: 1a, 1b, 1c"),
    ] {
        let ended = output(folder.path(), arguments);
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains(words), "{arguments:?}: {}", text(&ended.stderr));
    }
}

#[test]
fn a_table_is_run_and_drawn_again() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["suite", "run", "sqlite-wal", "--only", "2a", "--scale", "0.002", "--rounds", "3", "--seed", "7"];
    let ended = output(folder.path(), &arguments);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let report = text(&ended.stdout);
    for words in
        ["scale 0.002", "179.9", "61.30", "ours | published | ratio", "WAL commits single updates", "durability class"]
    {
        assert!(report.contains(words), "{words:?} is missing in\n{report}");
    }
    let run = document(folder.path());
    let file = SuiteFile::read(&run.join("suite.json")).expect("it is a document");
    assert!(file.tables[0].cells.iter().all(|cell| cell.state == CellState::Measured && cell.rounds.len() == 3));
    assert!(file.tables[0].cells.iter().all(|cell| cell.rounds.iter().all(|round| round.done == 20)));
    for name in ["report.html", "tables.md", "tables.csv", "run.json"] {
        assert!(run.join(name).exists(), "{name}");
    }
    assert!(!folder.path().join("bourse-data").exists(), "the databases are removed");
    let again = output(folder.path(), &["report", &run.display().to_string()]);
    assert_eq!(text(&again.stdout), report);
}

#[test]
fn cells_without_their_engine_say_why() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["suite", "run", "fastdb-sqlite", "--only", "3d", "--scale", "0.001", "--rounds", "1"];
    let ended = output(folder.path(), &arguments);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let report = text(&ended.stdout);
    assert!(report.contains("not run: the variable BOURSE_FASTDB_DISKLESS is not set"), "{report}");
    assert!(report.contains("4 of 8 cells measured"), "{report}");
}

#[test]
fn an_interrupted_suite_keeps_what_it_measured() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["suite", "run", "sqlite-wal", "--only", "2a", "--scale", "0.002", "--rounds", "10000"];
    let mut child = start(folder.path(), &arguments);
    let data = folder.path().join("bourse-data");
    let begin = Instant::now();
    // Both databases exist: a round of one case has ended, in either order.
    let is_there = || {
        let both = |folder: &Path| ["wal.db", "delete.db"].iter().all(|name| folder.join(name).exists());
        fs::read_dir(&data).is_ok_and(|mut all| all.any(|it| it.is_ok_and(|it| both(&it.path()))))
    };
    while !is_there() {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited in vain for the second case");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    assert_eq!(child.wait().expect("it has ended").code(), Some(130));
    let file = SuiteFile::read(&document(folder.path()).join("suite.json")).expect("it is a document");
    assert!(file.interrupted && file.has_figures());
    assert!(!data.exists(), "the databases are removed");
    let shown = bourse(folder.path(), &["report"]).arg(document(folder.path())).output().expect("it can be started");
    let shown = text(&shown.stdout);
    assert!(shown.contains("interrupted") && shown.contains(" of 10,000 rounds each"), "{shown}");
}
