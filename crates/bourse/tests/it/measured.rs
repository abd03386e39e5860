//! Rates, rounds, sweeps, searches and steadiness, by the command line.

use crate::{bourse, load, output, text};
use bourse_record::{Document as _, Operation, Outcome, RunFile, Warning};
use std::fs;
use std::path::Path;

/// The only run file below `bourse-runs`.
fn run_file(folder: &Path) -> RunFile {
    let mut folders = fs::read_dir(folder.join("bourse-runs")).expect("a run leaves a folder");
    let only = folders.next().expect("a run leaves a folder").expect("it can be read").path();
    assert!(folders.next().is_none(), "there is one run");
    RunFile::read(&only.join("run.json")).expect("a run file can be read back")
}

fn run(arguments: &[&str]) -> (RunFile, String) {
    let (code, file, report) = ended(arguments);
    assert_eq!(code, Some(0), "{report}");
    (file, report)
}

/// A file, since one that is loaded can be copied.
const TARGET: &str = "sqlite:x.db?sync=off";

/// Exit code of a short run, its file, and all that it says.
fn ended(arguments: &[&str]) -> (Option<i32>, RunFile, String) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), TARGET);
    let quick = ["tpce", "run", TARGET, "--days", "1", "--warmup", "1s", "--seed", "7"];
    let ended = output(folder.path(), &[&quick, arguments].concat());
    let said = text(&ended.stdout) + &text(&ended.stderr);
    let page = fs::read_dir(folder.path().join("bourse-runs")).expect("a run leaves a folder").next();
    let page = page.expect("a run leaves a folder").expect("it can be read").path().join("report.html");
    let page = fs::read_to_string(page).expect("a run leaves a page");
    (ended.status.code(), run_file(folder.path()), said + &page)
}

#[test]
fn a_rate_is_kept_and_what_became_of_it_told() {
    let (file, report) = run(&["--rate", "5", "--arrivals", "constant", "--for", "2s"]);
    let arrivals = file.cases[0].rounds[0].arrivals.expect("a rate has arrivals");
    // 5 × 8.9 transactions a second, for two seconds.
    assert!((87..=91).contains(&arrivals.due), "{arrivals:?}");
    assert_eq!(arrivals.due, arrivals.started + arrivals.dropped + arrivals.unstarted);
    assert!(report.contains("transactions were due by the schedule"), "{report}");
    assert!(report.contains("5 Trade-Results a second asked for"), "{report}");
}

#[test]
fn more_than_the_users_manage_is_dropped_by_name() {
    let (file, report) = run(&["--rate", "1e6", "--backlog", "10", "--for", "1s"]);
    let round = &file.cases[0].rounds[0];
    let dropped = |operation: &Operation| {
        let all = operation.outcomes.iter().filter(|it| it.outcome == Outcome::Dropped);
        all.map(|it| it.count).sum::<u64>()
    };
    let sum: u64 = round.operations.iter().map(dropped).sum();
    assert!(sum > 100_000, "{sum}");
    assert_eq!(Some(sum), round.arrivals.map(|arrivals| arrivals.dropped));
    assert!(report.contains("were dropped: the backlog was full"), "{report}");
}

#[test]
fn rounds_of_a_sweep_begin_on_the_same_database() {
    let (file, report) = run(&["--sweep", "users=1,2", "--rounds", "2", "--for", "1s"]);
    let users: Vec<&str> = file.cases.iter().map(|case| case.varied[0].value.as_str()).collect();
    assert_eq!(users, ["1", "2"]);
    assert!(file.cases.iter().all(|case| case.rounds.len() == 2));
    // The order of the cases is drawn.
    let mut rounds: Vec<_> = file.cases.iter().flat_map(|case| &case.rounds).collect();
    rounds.sort_by(|one, other| one.offset_s.total_cmp(&other.offset_s));
    let found = rounds[0].facts[0].value.as_str();
    assert!(found.contains("snapshot for further rounds taken in "), "{found}");
    for round in &rounds[1..] {
        assert!(round.facts[0].value.contains("restored in"), "{}", round.facts[0].value);
        // Pending orders of the round before would be canceled first.
        let cleaned = round.facts.iter().find(|fact| fact.name == "Trade-Cleanup");
        let cleaned = &cleaned.expect("every round tells of its cleaning").value;
        assert!(cleaned.contains("0 pending and 0 submitted"), "{cleaned}");
    }
    assert!(report.contains("Result by users"), "a curve of the sweep");
}

#[test]
fn a_search_answers_with_a_rate_and_its_bracket() {
    let (code, file, report) = ended(&["--find-max", "--users", "1", "--for", "2s"]);
    let search = file.cases[0].search.as_ref().expect("the case is a search's answer");
    assert!(search.probes.len() >= 2, "{search:?}");
    // The confirming run may fail on a busy machine; then the search reports that.
    if let Some(undetermined) = search.undetermined() {
        // Of the rarest transactions two seconds have fewer than a 90th percentile takes.
        assert!(undetermined.contains(" operations are too few for a p90 (100 needed); try --for "), "{undetermined}");
        assert!(report.contains("no rate is shown to meet every limit"), "{report}");
        assert_eq!((code, search.confirmed), (Some(6), false), "{report}");
        return;
    }
    assert_eq!(code, Some(0), "{report}");
    match search.highest_passing {
        Some(found) if search.confirmed => {
            assert!(search.lowest_failing.is_none_or(|refuted| refuted > found), "{search:?}");
            let asked = found.to_string();
            assert!(report.contains(&format!("repeat it with --rate {asked}")), "{report}");
        }
        Some(_) => assert!(report.contains("the highest rate is between "), "{report}"),
        None => assert!(!search.confirmed && report.contains("no rate met every limit"), "{search:?}"),
    }
}

#[test]
fn a_steady_state_can_be_demanded() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), TARGET);
    let short = ["tpce", "run", TARGET, "--days", "1", "--for", "2s", "--warmup", "1s", "--require-steady"];
    let ended = output(folder.path(), &short);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(5), "{said}");
    assert!(said.contains("too short") && said.contains("hint: --until-steady 5m"), "{said}");
    assert!(!run_file(folder.path()).cases.is_empty(), "what was measured is written");
}

#[test]
fn options_stand_in_a_file_and_in_the_environment() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), TARGET);
    let content = format!(
        "command = \"tpce run\"\ntargets = [\"{TARGET}\"]\ndays = 1\nfor = \"1s\"\nwarmup = \"1s\"\nusers = 1\n"
    );
    fs::write(folder.path().join("run.toml"), content).expect("a file can be written");
    // Typed options win over the file, the file over the environment.
    let mut command = bourse(folder.path(), &["run", "run.toml", "--seed", "5", "--users=2"]);
    let ended = command.env("BOURSE_USERS", "3").env("BOURSE_MARKET_USERS", "2").output().expect("it can be started");
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let file = run_file(folder.path());
    let conditions = &file.cases[0].conditions;
    assert_eq!((file.provenance.seed, conditions.users, conditions.further_users), (5, Some(2), Some(2)));

    fs::write(folder.path().join("bad.toml"), "command = \"tpce run\"\nuser = 1\n").expect("a file can be written");
    let ended = output(folder.path(), &["run", "bad.toml"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(text(&ended.stderr).contains("unknown option 'user' for tpce run"), "{}", text(&ended.stderr));
}

#[test]
fn a_quick_look_has_both_kinds_of_workloads_in_one_report() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(
        folder.path(),
        &["quick", "--for", "1s", "--rounds", "1", "--days", "1", "--workloads", "update,point-read"],
    );
    assert_eq!(ended.status.code(), Some(0), "{}{}", text(&ended.stdout), text(&ended.stderr));
    let file = run_file(folder.path());
    let of = |name: &str| file.cases.iter().filter(|case| case.workload.name == name).count();
    // On a busy machine cases are left out, by name.
    let late = |name: &str| {
        let is_late = |it: &&Warning| matches!(it, Warning::OutOfTime { work } if work.contains(name));
        file.warnings.iter().filter(is_late).count()
    };
    let planned = |name: &str| of(name) + late(name);
    assert_eq!((planned("tpce"), planned("bulk-load")), (1, 0), "{:?}", file.warnings);
    assert!(planned("point-read") >= 2 && planned("update") >= 2, "{:?}", file.warnings);
    assert!(file.cases.iter().all(|case| case.rounds.len() == 1), "as many rounds as were asked for");
    let mut labels: Vec<&str> = file.cases.iter().map(|case| case.label.as_str()).collect();
    let all = labels.len();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), all, "labels tell cases apart");
}
