//! Plans: the output of `--dry-run`, requests that a workload cannot fulfil, and rounds in processes of their own.

use crate::{bourse, output, text};
use bourse_record::{Document as _, RunFile};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// The plan of a command, which must leave no files.
fn plan(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut command = bourse(folder.path(), &[arguments, &["--dry-run"]].concat());
    let ended = command.env_remove("BOURSE_NO_REPEAT").output().expect("it can be started");
    assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {}", text(&ended.stderr));
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder is still there").collect();
    assert!(left.is_empty(), "{arguments:?} left {left:?}");
    text(&ended.stdout)
}

#[test]
fn a_plan_says_what_will_be_run_and_written() {
    let shown =
        |name: &str, arguments: &[&str]| insta::assert_snapshot!(name, plan(&[arguments, &["--seed", "7"]].concat()));
    shown("tpce_run", &["tpce", "run", "sqlite:x.db", "sqlite::memory:", "--sweep", "users=1,2", "--rounds", "3"]);
    // A fixed number of users, since the default is the number of CPUs.
    shown("tpce_run_default", &["tpce", "run", "--users", "2"]);
    shown("tpce_run_find_max", &["tpce", "run", "--users", "2", "--find-max", "--days", "1", "--require-steady"]);
    let update = ["micro", "run", "update", "sqlite:x.db", "-s", "rows=50", "--sweep", "per_transaction=5,50"];
    shown("micro_run", &[&update[..], &["--count=9"]].concat());
    let search = ["micro", "run", "update", "--find-max", "--limit", "p99=10ms,update:max=1.5s", "--for", "9s"];
    shown("micro_run_find_max", &search);
    shown("compare", &["compare", "sqlite::memory:", "sqlite:x.db", "--workload", "point-read", "-s", "rows=100"]);
    shown("suite_run", &["suite", "run", "sqlite-wal", "--scale", "0.02", "--only", "2a"]);
}

/// A piped plan had lines of any length, whatever `COLUMNS` was.
#[test]
fn a_piped_plan_is_as_wide_as_columns_or_eighty() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let widest = |columns: Option<&str>| {
        let mut command = bourse(folder.path(), &["tpce", "run", "sqlite:x.db", "--dry-run"]);
        let command = command.env_remove("COLUMNS").envs(columns.map(|it| ("COLUMNS", it)));
        let shown = text(&command.output().expect("it can be started").stdout);
        shown.lines().map(|line| line.chars().count()).max().expect(&shown)
    };
    assert!((60..=80).contains(&widest(None)), "{}", widest(None));
    assert!((81..=110).contains(&widest(Some("110"))), "{}", widest(Some("110")));
}

/// `unexpected argument '--dry-run'`, of the commands that take minutes.
#[test]
fn commands_without_rounds_have_a_plan_too() {
    for (arguments, step, about) in [
        (
            &["crash", "--states", "1000"][..],
            "  1. disk states that power losses leave of small databases (SQLite, ",
            "min",
        ),
        (
            &["crash", "sqlite:x.db?sync=full", "--times", "3"],
            "sqlite:x.db?sync=full&journal=wal: 3 crashes of each kind",
            "min",
        ),
        (&["faults", "sqlite:", "--only", "read-error"], "sqlite:: 3 trials of 1 fault, 120 transactions", "s"),
        (
            &["tpce", "load", "sqlite:x.db", "--days", "1"],
            "1000 customers, 1 day of trades, loaded if it does not exist",
            "s",
        ),
        (&["tpce", "verify"], "  3. 100000 transactions on each target, every output compared", "s"),
        (&["tatp", "load", "sqlite:x.db"], "sqlite:x.db: 100000 subscribers", "s"),
        (&["tatp", "verify", "sqlite::memory:", "sqlite:x.db"], "  3. 20000 transactions on each target", "s"),
        (&["tpcc", "load", "sqlite:x.db", "--warehouses", "3"], "sqlite:x.db: 3 warehouses", "s"),
        (&["tpcc", "verify", "model:", "sqlite:x.db"], "sqlite:x.db: 1 warehouse, ", "s"),
        (&["tpce", "check", "sqlite:x.db"], "sqlite:x.db: every check of the database that is there", "unknown"),
        (&["tatp", "check", "sqlite:x.db"], "sqlite:x.db: every check of the database that is there", "unknown"),
        (&["tpce", "acid", "sqlite:x.db", "--only", "C1,D1"], "  2. sqlite:x.db: tests C1, D1", "s"),
    ] {
        let shown = plan(arguments);
        assert!(shown.starts_with(&format!("plan of {}", arguments[0])) && shown.contains(step), "{shown}");
        let time = shown.lines().find(|line| line.starts_with("time     ")).expect(&shown);
        assert!(time.contains(about), "{shown}");
    }
}

/// Trials of planted faults were announced to take no time.
#[test]
fn a_crash_test_announces_the_time_of_its_planted_faults() {
    let of = |target: &str, states: &str, faults: &str| {
        let shown = plan(&["crash", target, "--only", "states", "--states", states, "--faults", faults]);
        shown.lines().find(|line| line.starts_with("time     ")).expect(&shown).to_owned()
    };
    assert_eq!(of("sqlite:?sync=full", "500", "0"), "time     about 10 s");
    assert_eq!(of("sqlite:?sync=full", "500", "2"), "time     about 1 min 10 s");
    assert_eq!(of("sqlite:?sync=full", "all", "2"), "time     unknown");
    assert_eq!(of("mariadb+private:", "100", "0"), "time     about 50 s");
    assert_eq!(of("mariadb+private:", "100", "1"), "time     about 2 min 30 s");
}

#[test]
fn a_plan_says_which_process_a_round_is_in() {
    let of = |arguments: &[&str]| plan(arguments).lines().find(|line| line.starts_with("process ")).map(str::to_owned);
    let own = "process  each round in a process of its own";
    assert_eq!(of(&["tpce", "run", "sqlite:x.db"]), None, "the case says that it is in this process");
    assert_eq!(of(&["micro", "run", "point-read", "sqlite:x.db"]).as_deref(), Some(own));
    if let Err(why) = bourse_engine_sqlite_lib::info(None) {
        return bourse_testkit::skipped("planned::a_plan_says_which_process_a_round_is_in", why.message());
    }
    assert_eq!(of(&["tpce", "run", "sqlite+lib:x.db"]).as_deref(), Some(own));
    let mixed = of(&["tpce", "run", "sqlite+lib:x.db", "sqlite:y.db"]);
    assert_eq!(mixed, Some(format!("{own}, except those of cases marked \"in this process\"")));
}

#[test]
fn a_quick_look_is_taken_of_every_engine_in_this_process() {
    let shown = plan(&["quick", "--workloads", "point-read", "-v"]);
    // Each in a file of its own, so that like is compared with like.
    for engine in
        ["sqlite:bourse-data/tpce-c1000-d10.db", "sqlite:bourse-data/quick-sqlite.", "lmdb:bourse-data/quick-lmdb."]
    {
        assert!(shown.contains(engine), "{engine} is missing in\n{shown}");
    }
    for other in ["null:", "mariadb", "mysql"] {
        assert!(!shown.contains(other), "{other} is in\n{shown}");
    }
}

/// Regression: the plan of `quick` was 100 lines long.
#[test]
fn a_plan_of_many_cases_is_a_line_a_workload_on_one_screen() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut command = bourse(folder.path(), &["quick", "--dry-run"]);
    let command = command.env_remove("BOURSE_VERBOSE").env("COLUMNS", "80");
    let shown = text(&command.output().expect("it can be started").stdout);
    assert!(shown.lines().count() <= 23 && shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains(" update on sqlite, ") && shown.contains("sqlite::memory:"), "{shown}");
    assert!(shown.contains("time     about ") && shown.contains(" min, up to "), "{shown}");
    assert!(shown.contains("-v lists each case and each file"), "{shown}");
    let whole = plan(&["quick", "-v"]);
    assert!(
        whole.contains("update, sqlite::memory:\n") && whole.contains("bourse-data/quick-sqlite.db: created"),
        "{whole}"
    );
}

#[test]
fn a_workload_is_not_asked_for_what_it_cannot() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let targets = ["sqlite::memory:", "sqlite::memory:?memory=memdb"];
    for (arguments, words) in [
        (
            &["--workload", "bulk-load", "--rate", "5"][..],
            "--rate cannot be used with bulk-load: it ends when its work is done",
        ),
        (
            &["--workload", "bulk-load", "--require-steady"],
            "--require-steady cannot be used with bulk-load: it ends when",
        ),
        (
            &["--workload", "point-read", "--users", "2"],
            "--users can only be used with the brokerage workload, not with point-read",
        ),
        (&["--workload", "point-raed"], "point-raed"),
        (&["-s", "rows=5"], "--set, --count and --timing cannot be used with the brokerage workload"),
    ] {
        let ended = output(folder.path(), &[&["compare"], &targets[..], arguments].concat());
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let left = fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn a_market_is_aged_at_the_rate_it_is_told() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let planned = |arguments: &[&str]| {
        let ended = output(folder.path(), &[&["tpce", "run", "--dry-run"], arguments].concat());
        (ended.status.code(), format!("{}{}", text(&ended.stdout), text(&ended.stderr)))
    };
    for (arguments, words) in [
        (&["sqlite::memory:", "--market", "aged", "--rate", "5"][..], "target rate 5 TR/s, market aged at that rate"),
        (&["sqlite::memory:", "--market", "aged=12.5"], "closed loop, market aged at 12.5 TR/s"),
        (&["sqlite::memory:", "--sweep", "market=new,aged=3"], "sqlite::memory: market=aged=3"),
    ] {
        let (code, said) = planned(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    for (arguments, words) in [
        (&["sqlite::memory:", "--market", "aged"][..], "--market aged needs a rate"),
        (&["sqlite::memory:", "--market", "aged", "--rate", "30000"], "invalid rate of 30000 TR/s for an aged market"),
        (&["sqlite::memory:", "--market", "old"], "expected new, aged, or aged=N"),
        (&["bourse://127.0.0.1:1", "--market", "aged=5"], "--market aged cannot be used with a server"),
    ] {
        let (code, said) = planned(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

/// The only run file below `bourse-runs`.
fn run_file(folder: &Path) -> RunFile {
    let mut folders = fs::read_dir(folder.join("bourse-runs")).expect("a run leaves a folder");
    let only = folders.next().expect("a run leaves a folder").expect("it can be read").path();
    RunFile::read(&only.join("run.json")).expect("a run file can be read back")
}

#[test]
fn two_targets_are_compared_by_a_classic_workload() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["compare", "sqlite::memory:", "sqlite::memory:?memory=memdb", "--workload", "point-read"];
    let short =
        ["-s", "rows=100", "--for", "200ms", "--warmup", "50ms", "--rounds", "8", "--no-wait", "--format", "markdown"];
    let ended = output(folder.path(), &[&arguments[..], &short[..]].concat());
    let said = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{said}{}", text(&ended.stderr));
    assert!(said.contains("| reads/s |") && said.contains("(96.1 % interval "), "{said}");
    let file = run_file(folder.path());
    assert!(file.cases.iter().all(|case| case.rounds.len() == 8 && case.workload.name == "point-read"));
    assert!(
        file.provenance.machine.details.iter().any(|fact| fact.name == "harness alone"),
        "the harness is measured first"
    );
}

#[test]
fn a_statement_that_fails_ends_the_run_and_voids_its_figure() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mine = "[[setup]]\nsql = \"CREATE TABLE t (a INTEGER PRIMARY KEY)\"\n[[operation]]\nname = \"add\"\n\
                sql = \"INSERT INTO t VALUES (:a)\"\n[parameters]\na = { uniform = [1, 50] }\n";
    fs::write(folder.path().join("mine.toml"), mine).expect("a file can be written");
    let arguments = ["micro", "run", "sql", "mine.toml", "sqlite::memory:", "--count", "100", "--rounds", "1"];
    let ended = output(folder.path(), &[&arguments[..], &["--warmup", "0s"]].concat());
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("add failed: mine.toml, line 5: UNIQUE constraint failed: t.a"), "{said}");
    let round = &run_file(folder.path()).cases[0].rounds[0];
    assert!(round.void.is_some() && round.headline.is_nan() && round.failed() > 0, "{round:?}");
}

#[test]
fn a_steady_state_can_be_demanded_of_a_classic_workload() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments =
        ["micro", "run", "point-read", "-s", "rows=100", "--for", "200ms", "--rounds", "1", "--require-steady"];
    let ended = output(folder.path(), &arguments);
    assert_eq!(ended.status.code(), Some(5), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("too short"), "{}", text(&ended.stderr));
}

#[test]
fn a_case_waits_for_a_quiet_machine_where_it_is_asked_to() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let short = ["micro", "run", "point-read", "null:", "--for", "50ms", "--rounds", "1", "--json"];
    let ended = output(folder.path(), &[&short[..], &["--wait-quiet", "10ms"]].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(plan(&["micro", "run", "point-read", "--wait-quiet", "9s"]).contains("up to 9 s before each round"));
    let compare = ["compare", "null:", "null:", "--workload", "point-read"];
    assert!(plan(&compare).contains("up to 20 s before each round"));
    assert!(!plan(&[&compare[..], &["--no-wait"]].concat()).contains("background load"));
}

/// Sends a request to a round's process, and returns its answer; the lines before it report the round's progress.
fn asked(folder: &Path, request: &str) -> (Option<i32>, Value, String) {
    let mut command = bourse(folder, &["round"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be started");
    writeln!(child.stdin.take().expect("it was asked for"), "{request}").expect("it reads");
    let ended = child.wait_with_output().expect("it ends");
    let said = text(&ended.stdout);
    let mut lines: Vec<&str> = said.lines().collect();
    let answer = lines.pop().and_then(|answer| serde_json::from_str(answer).ok()).unwrap_or(Value::Null);
    let reported = ["{\"alive\":", "{\"live\":{\"", "{\"progress\":{\""];
    assert!(lines.iter().all(|line| reported.iter().any(|start| line.starts_with(start))), "{said}");
    (ended.status.code(), answer, text(&ended.stderr))
}

fn request(target: &str, job: &Value) -> String {
    json!({ "round": {
        "target": target, "job": job, "seed": 5, "round": 0, "begins_alike": false, "is_first": true, "is_probe": false,
        "history": null, "wait_quiet_ns": null, "call_limit_ns": 300_000_000_000_u64, "statements": false,
        "memory": { "cache": null, "limit": null },
    } })
    .to_string()
}

#[test]
fn a_round_of_either_kind_runs_in_a_process_of_its_own() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let classic = json!({ "classic": {
        "workload": "point-read", "options": [["rows", "50"]], "warm_up_ns": 0, "measure_ns": null, "count": 100,
        "timed": "batched",
    } });
    let (code, answer, said) = asked(folder.path(), &request("sqlite:x.db", &classic));
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert_eq!(answer["Ok"]["workload"]["name"], "point-read");
    assert!(answer["Ok"]["round"]["headline"].as_f64().is_some_and(|rate| rate > 0.0), "{answer}");

    let brokerage = json!({ "brokerage": {
        "database": { "customers": 1_000, "days": 1, "scale_factor": 500, "flat_in": null, "constraints": "full",
                      "threads": null, "reload": false },
        "explicitly_set": { "all": true, "typed": [], "environment": [] },
        "users": 1, "market_users": 1, "rate": null, "arrivals": "poisson", "backlog": null, "find_max": false,
        "market": "new", "puts_back": false,
        "warm_up_ns": 1_000_000_000_u64, "measure_ns": 1_000_000_000_u64, "check": "quick", "served": false,
        "drivers": { "processes": 1, "part": null, "coordinate": null, "token_file": null },
    } });
    let (code, answer, said) = asked(folder.path(), &request("sqlite::memory:", &brokerage));
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert_eq!(answer["Ok"]["workload"]["headline_unit"], "TR/s");
    let checks = answer["Ok"]["round"]["checks"].as_array().expect("a list");
    assert!(checks.len() > 50 && checks.iter().all(|check| check["status"] == "passed"), "{checks:#?}");
}

#[test]
fn a_failure_is_an_answer_of_a_round() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let job = |workload: &str| json!({ "classic": { "workload": workload, "options": [], "warm_up_ns": 0, "measure_ns": null, "count": 1, "timed": "batched" } });
    let (code, answer, _) = asked(folder.path(), &request("sqlite::memory:", &job("point-raed")));
    assert_eq!((code, &answer["Err"]["exit"]), (Some(0), &json!("usage")));
    assert!(answer["Err"]["message"].as_str().is_some_and(|words| words.contains("point-raed")), "{answer}");
    fs::write(folder.path().join("notes.db"), "dear diary").expect("a file can be written");
    let (_, answer, _) = asked(folder.path(), &request("sqlite:notes.db", &job("point-read")));
    assert_eq!(answer["Err"]["message"], "cannot use sqlite:notes.db");
    let (code, answer, said) = asked(folder.path(), "nonsense");
    assert_eq!((code, answer), (Some(1), Value::Null));
    assert!(said.contains("for the program itself alone"), "{said}");
}
