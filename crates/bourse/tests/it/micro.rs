//! The classic workloads, by the command line.

use crate::{one_line, output, text};
use bourse_record::Document as _;
use std::fs;

fn refused(arguments: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(folder.path(), arguments);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?} says {said:?}, not {word:?}");
    }
    assert!(fs::read_dir(folder.path()).expect("it is still there").next().is_none(), "nothing is left");
}

#[test]
fn every_workload_is_listed_with_its_options() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let all = text(&output(folder.path(), &["micro", "list"]).stdout);
    for spec in bourse_micro::WORKLOADS {
        assert!(all.lines().any(|line| line.starts_with(spec.name)), "{all}");
        let one = text(&output(folder.path(), &["micro", "list", spec.name]).stdout);
        let words = one_line(&one);
        assert!(spec.options.iter().all(|option| words.contains(option.meaning)), "{one}");
        // The example is all that follows the line: its copy once began with an empty one.
        if let Some(example) = spec.example_file() {
            assert_eq!(
                one.split_once("\nThe file that -s file=example runs:\n").map(|it| it.1),
                Some(example),
                "{one}"
            );
        }
    }
}

#[test]
fn what_cannot_work_is_refused_before_anything_runs() {
    refused(&["micro", "run", "point-raed"], &["point-raed", "point-read, bulk-load"]);
    refused(
        &["micro", "run", "point-read", "--set", "row=5"],
        &["unknown option 'row' for point-read; did you mean 'rows'?", "options of point-read: rows, "],
    );
    refused(&["micro", "run", "point-read", "--sweep", "rows"], &["invalid value 'rows' for --sweep", "threads=1,2,4"]);
    refused(&["micro", "run", "point-read", "sqlite:x.db", "--sweep", "journal=wal,wall"], &["wall"]);
    refused(
        &["micro", "run", "index-search", "sqlite:x.db", "--set", "index=hash"],
        &["index=hash needs a hash index"],
    );
    refused(
        &["micro", "run", "update", "--sweep", "per_transaction=1,10", "--set", "explicit=off"],
        &["not 10 in one"],
    );
    refused(
        &["micro", "run", "bulk-load", "--timing", "sampled"],
        &["--timing sampled cannot be used with bulk-load", "not timed in batches"],
    );
    refused(&["micro", "run", "point-read", "--timing", "sampled", "-s", "batch=9"], &["batch=N cannot be used with"]);
    refused(&["micro", "run", "point-read", "--timing", "single", "--rate", "9"], &["--timing", "--rate"]);
    refused(&["micro", "run", "point-read", "--for", "0s"], &["--for 0s leaves nothing to measure", "3s by default"]);
    let search = ["micro", "run", "point-read", "--find-max"];
    refused(&search, &["--limit <QUANTILE=TIME>"]);
    refused(&["micro", "run", "point-read", "--limit", "p99=1ms"], &["--find-max"]);
    refused(
        &[&search[..], &["--limit", "p98=1ms"]].concat(),
        &["expected QUANTILE=TIME", "p50, p90, p95, p99, p99.9, max"],
    );
    refused(&[&search[..], &["--limit", "p99=1ms", "--rate", "5"]].concat(), &["--find-max", "--rate"]);
    refused(
        &[&search[..], &["--limit", "raed:p99=1ms"]].concat(),
        &["unknown operation 'raed' in --limit; did you mean 'read'?", "operations of this workload: read"],
    );
    refused(
        &["micro", "run", "bulk-load", "--find-max", "--limit", "p99=1ms"],
        &["--find-max cannot be used with bulk-load: it ends when its work is done"],
    );
    refused(&["micro", "run", "point-read", "--rounds", "0"], &["'--rounds <N>'", "from 1 to 10,000"]);
}

#[test]
fn a_sweep_over_both_kinds_of_options_is_a_case_each() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(
        folder.path(),
        &[
            "micro", "run", "update", "sqlite:x.db", "--set", "rows=50", "--sweep", "journal=wal,delete", "--sweep",
            "per_transaction=5,50", "--warmup", "50ms", "--count", "100", "--rounds", "3", "--seed", "4", "--json",
        ],
    );
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let run = bourse_record::RunFile::parse(&ended.stdout, "run.json".as_ref()).expect("a run file is printed");
    let labels: Vec<_> = run.cases.iter().map(|case| case.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "sqlite:x.db?journal=wal per_transaction=5",
            "sqlite:x.db?journal=wal per_transaction=50",
            "sqlite:x.db?journal=delete per_transaction=5",
            "sqlite:x.db?journal=delete per_transaction=50",
        ]
    );
    for case in &run.cases {
        assert_eq!(case.rounds.len(), 3);
        for round in &case.rounds {
            assert_eq!(round.operations[0].valid(), 100);
            assert!(round.headline > 0.0 && round.checks.iter().filter(|check| check.is_of_database()).count() == 1);
        }
    }
    // Each case has its round before any has the next.
    let offsets = |round: usize| run.cases.iter().map(move |case| case.rounds[round].offset_s);
    for round in 0..2 {
        assert!(offsets(round).fold(0.0, f64::max) < offsets(round + 1).fold(f64::MAX, f64::min));
    }
}

const SHORT: [&str; 7] = ["--for", "300ms", "--warmup", "50ms", "--seed", "4", "--json"];

#[test]
fn the_highest_rate_within_limits_is_searched() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["micro", "run", "sql", "example", "sqlite::memory:", "--find-max", "--limit", "p50=2s,max=1m"];
    let ended = output(folder.path(), &[&arguments[..], &SHORT].concat());
    let said = text(&ended.stderr);
    let run = bourse_record::RunFile::parse(&ended.stdout, "run.json".as_ref()).expect("a run file is printed");
    let case = &run.cases[0];
    let search = case.search.as_ref().expect("the case is a search's answer");
    // Others on the machine may keep the rounds of full length from their rates.
    assert_eq!(ended.status.code(), Some(if search.confirmed { 0 } else { 2 }), "{said}");
    assert_eq!(search.unit, "operations/s");
    assert_eq!(
        search.limits.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["p50 within 2 s", "max within 60 s"]
    );
    assert!(search.probes.len() >= 2 && search.probes.iter().all(|it| it.reached > 0.0), "{search:?}");
    let asked = case.conditions.requested_rate.expect("the confirming round has a rate");
    assert!(!search.confirmed || search.highest_passing == Some(asked), "{search:?}");
    assert_eq!(case.conditions.arrival_streams, Some(bourse_record::ArrivalStreams::Shared));
    assert!(case.workload.parameters.iter().any(|it| it.name == "arrivals" && it.value == "shared"));
    assert_eq!(case.rounds.len(), 1);
    assert!(case.rounds[0].operations.iter().all(|it| it.by_schedule));
}

#[test]
fn a_limit_that_no_rate_meets_is_told() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["micro", "run", "point-read", "-s", "rows=100", "--find-max", "--limit", "read:p50=1ns"];
    let ended = output(folder.path(), &[&arguments[..], &SHORT].concat());
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("found no rate that meets every response-time limit"), "{said}");
    assert!(said.contains("read: p50 ") && said.contains("limit 1 ns"), "{said}");
    assert!(said.contains("hint: try a higher --limit"), "{said}");
    let run = bourse_record::RunFile::parse(&ended.stdout, "run.json".as_ref()).expect("the search is stored");
    let search = run.cases[0].search.as_ref().expect("with its probes");
    assert!(run.cases[0].rounds.is_empty() && search.probes.len() > 5, "{search:?}");
}

#[test]
fn the_report_says_how_many_were_timed_alone() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(
        folder.path(),
        &[
            "micro", "run", "point-read", "-s", "rows=100", "--count=20000", "--rounds=6", "--timing=sampled",
            "--no-repeat",
        ],
    );
    let report = text(&ended.stdout);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    for words in [" in 6", "timing: sampled", "Response times over 6 rounds, with intervals"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(!report.contains("of batches"), "{report}");
}

#[test]
fn the_report_says_what_was_timed_together() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended =
        output(folder.path(), &["micro", "run", "point-read", "--set", "rows=100", "--for", "200ms", "--rounds", "1"]);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let report = text(&ended.stdout);
    for words in ["reads/s", "volatile", "sqlite::memory:", "are timed in batches"] {
        assert!(report.contains(words), "{report}");
    }
}

#[cfg(feature = "sqlite-lean")]
#[test]
fn both_builds_of_sqlite_run_in_turn_and_are_told_apart() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let short = ["--set", "rows=100", "--count", "100", "--rounds", "2", "--warmup", "0s", "--json"];
    let targets = ["micro", "run", "point-read", "sqlite::memory:", "sqlite-lean::memory:"];
    let ended = output(folder.path(), &[&targets[..], &short[..]].concat());
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let run: bourse_record::RunFile = serde_json::from_slice(&ended.stdout).expect("a run file");
    for (case, name, option) in [(0, "sqlite", "ENABLE_API_ARMOR"), (1, "sqlite-lean", "OMIT_SHARED_CACHE")] {
        let case = &run.cases[case];
        assert_eq!((case.engine.name.as_str(), case.rounds.len()), (name, 2));
        assert!(case.engine.compile_options.iter().any(|found| found == option), "{:?}", case.engine);
    }
    assert_eq!(run.cases[0].engine.version, run.cases[1].engine.version);
}

#[test]
fn a_database_of_somebody_else_is_no_target() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    fs::write(folder.path().join("notes.db"), "dear diary").expect("a file can be written");
    let ended = output(folder.path(), &["micro", "run", "point-read", "sqlite:notes.db"]);
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    assert_eq!(fs::read(folder.path().join("notes.db")).expect("it is still there"), b"dear diary");
}

#[test]
fn own_statements_come_from_a_file_before_the_targets() {
    refused(&["micro", "run", "sql", "sqlite::memory:"], &["needs a file of statements", "FILE.toml TARGET"]);
    refused(&["micro", "run", "sql", "mine.toml"], &["mine.toml: cannot be read"]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mine = "[[setup]]\nsql = \"CREATE TABLE t (a INT)\"\n[[operation]]\nname = \"add\"\nsql = \"INSERT INTO t \
                VALUES (:a)\"\n[parameters]\na = { unique = 1 }\n";
    fs::write(folder.path().join("mine.toml"), mine).expect("a file can be written");
    let arguments =
        ["micro", "run", "sql", "mine.toml", "sqlite::memory:", "sqlite:x.db", "--count", "20", "--rounds", "1"];
    let ended = output(folder.path(), &arguments);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let report = text(&ended.stdout);
    for words in ["operations/s", "By operation", "add", "sqlite:x.db", "file: mine.toml"] {
        assert!(report.contains(words), "{report}");
    }
    fs::write(folder.path().join("mine.toml"), mine.replace("sql = \"CREATE", "sgl = \"CREATE"))
        .expect("a file can be written");
    let ended = output(folder.path(), &arguments);
    assert_eq!(ended.status.code(), Some(1));
    assert!(text(&ended.stderr).contains("mine.toml, line 2: unknown field `sgl`"), "{}", text(&ended.stderr));
    // Statements that the engine refuses, in the second block too, are reported before anything is measured.
    let second = "[[operation]]\nname = \"look\"\nsql = \"SELECT a FROM tt\"\n";
    for (changed, words) in [
        (mine.replace("[parameters]", &format!("{second}[parameters]")), "mine.toml, line 8: no such table: tt"),
        (mine.replace("CREATE TABLE", "CREATE TABEL"), "mine.toml, line 2: near \"TABEL\": syntax error"),
        (
            mine.replace("CREATE TABLE t (a INT)", "PRAGMA journal_mode = delete"),
            "line 2: journal_mode would not be set",
        ),
        (
            mine.replace("INSERT INTO t VALUES (:a)", "ATTACH 'notes.db' AS n"),
            "line 5: not authorized: a workload's statements",
        ),
    ] {
        fs::write(folder.path().join("mine.toml"), changed).expect("a file can be written");
        let ended = output(folder.path(), &arguments);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains(words) && said.contains("statement: "), "{said}");
    }
    assert!(!folder.path().join("notes.db").exists());
}

/// A figure without syncs was once called durable, since one of the operations turned them off.
#[test]
fn an_operation_changes_no_setting() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mine = "--! setup\nCREATE TABLE a (id INTEGER);\n--! operation add weight 9\nINSERT INTO a VALUES (1);\n\
                --! operation pragma\nPRAGMA synchronous = OFF;\n";
    fs::write(folder.path().join("mine.sql"), mine).expect("a file can be written");
    let words = "mine.sql, line 6: not authorized: a workload's statements reach no other database file, and change no \
                 setting that the target makes";
    // A round with a known page cache has an engine that is opened anew.
    for more in [&[][..], &["--cache", "warm"]] {
        let arguments = ["micro", "run", "sql", "mine.sql", "sqlite:x.db", "--count", "200", "--rounds", "1"];
        let ended = output(folder.path(), &[&arguments, more].concat());
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{more:?}: {said}");
    }
}

/// Rows of a temporary table were counted as durable commits, since the settings promise these.
#[test]
fn commits_that_no_sync_was_made_for_are_not_called_durable() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mine = "--! setup\nCREATE TABLE a (id INTEGER);\n--! transaction add\nCREATE TEMP TABLE IF NOT EXISTS t (id INTEGER);\n\
                INSERT INTO t VALUES (1);\n";
    fs::write(folder.path().join("mine.sql"), mine).expect("a file can be written");
    let run = ["micro", "run", "sql", "mine.sql", "sqlite:x.db", "--for", "4s", "--warmup", "0s", "--rounds", "1"];
    let ended = output(folder.path(), &run);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let file = bourse_record::RunFile::read(&newest_run(folder.path())).expect("it can be read");
    let case = &file.cases[0];
    let is_told = |it: &bourse_record::Warning| matches!(it, bourse_record::Warning::NotSynced { .. });
    assert!(case.rounds[0].warnings.iter().any(is_told), "{:?}", case.rounds[0].warnings);
    assert_eq!(case.engine.durability, bourse_record::Durability::Unknown, "{}", case.engine.durability_reason);
}

/// The run file of the one run in a folder.
fn newest_run(folder: &std::path::Path) -> std::path::PathBuf {
    let mut runs = fs::read_dir(folder.join("bourse-runs")).expect("a run was stored");
    runs.next().expect("a run was stored").expect("it can be read").path().join("run.json")
}

#[test]
fn a_place_that_is_full_and_a_file_that_is_missing_are_told_with_what_to_try() {
    let file = ["micro", "run", "sql", "examples/shop.toml", "sqlite::memory:"];
    refused(&file, &["examples/shop.toml: cannot be read", "`bourse micro run sql example TARGET` runs a small shop"]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run =
        ["micro", "run", "update", "lmdb:m.lmdb?map_size=1MiB", "-s", "rows=100000", "--for", "1s", "--rounds", "1"];
    let ended = output(folder.path(), &run);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    for words in ["`map_size=` makes room", "hint: free some space, name another target, or use fewer rows"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn the_logs_curve_stands_in_terminal_and_page() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let sweep = ["--sweep", "autocheckpoint=0,100", "--rounds", "1", "--warmup", "0s"];
    let command =
        ["micro", "run", "log-growth", "sqlite:x.db?journal=wal&sync=off", "--count", "500", "-s", "rows=1000"];
    let ended = output(folder.path(), &[&command[..], &sweep[..]].concat());
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let report = text(&ended.stdout);
    for words in ["log at most", "Write-ahead log over time", " ┤", "█", "autocheckpoint=100"] {
        assert!(report.contains(words), "{report}");
    }
    let run = fs::read_dir(folder.path().join("bourse-runs")).expect("runs are kept").next().expect("there is one");
    let page = fs::read_to_string(run.expect("it can be read").path().join("report.html")).expect("the page is there");
    assert!(page.contains("write-ahead log") && page.contains("log at most"));
}
