//! Results of earlier runs: listed, shown, compared, removed; databases that retain their own size.
#![cfg(target_os = "linux")]

use crate::{load, load_tatp, output, text};
use std::path::Path;

/// Makes a short run of point reads with its results in `bourse-runs`; returns the name of its folder.
fn read_some(folder: &Path, revision: &str) -> String {
    let words =
        ["micro", "run", "point-read", "sqlite::memory:", "-s", "rows=1000", "--for", "300ms", "--warmup", "0s"];
    let ran = output(folder, &[&words[..], &["--revision", revision]].concat());
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let results = folder.join("bourse-runs");
    let mut names: Vec<_> = std::fs::read_dir(&results)
        .expect("the run has made it")
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("names are plain"))
        .collect();
    names.sort_by_key(|name| std::fs::metadata(results.join(name)).and_then(|it| it.modified()).expect("it is there"));
    names.pop().expect("there is a run")
}

#[test]
fn stored_runs_are_listed_shown_compared_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [first, second] = ["abc1", "abc2"].map(|revision| read_some(folder, revision));
    assert_ne!(first, second);

    let listed = output(folder, &["runs", "ls"]);
    let out = text(&listed.stdout);
    assert!(listed.status.success() && out.contains(&first) && out.contains(&second), "{out}");
    assert!(out.contains("sqlite::memory:") && out.contains("2 result folders, "), "{out}");

    let json: serde_json::Value =
        serde_json::from_slice(&output(folder, &["runs", "ls", "bourse-runs", "--json"]).stdout).unwrap();
    let runs = json.as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!((&runs[0]["folder"], &runs[0]["revision"]), (&first.clone().into(), &"abc1".into()));
    assert!(runs[1]["figures"][0]["value"].as_f64().unwrap() > 0.0, "{json:#}");

    let shown = text(&output(folder, &["runs", "show"]).stdout);
    let drawn = text(&output(folder, &["report", &format!("bourse-runs/{second}"), "-v"]).stdout);
    assert!(shown == drawn && shown.contains("point-read"), "{shown}");

    let twice = output(folder, &["runs", "diff", "last", "last"]);
    assert!(twice.status.code() == Some(1) && text(&twice.stderr).contains("the same run twice"), "{twice:?}");
    let compared = output(folder, &["runs", "diff", &first, "last"]);
    let out = text(&compared.stdout);
    assert!(compared.status.success() && out.contains("reads/s") && out.contains("not attributable"), "{out}");

    let index = output(folder, &["report", "bourse-runs", "-o", "index.html"]);
    assert!(index.status.success(), "{}", text(&index.stderr));
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("new: abc2"), "{page}");
    // Links once were those of a page among the runs, wherever the page was.
    std::fs::create_dir(folder.join("my pages")).unwrap();
    for (place, to) in
        [("index.html", "bourse-runs/"), ("my pages/x.html", "../bourse-runs/"), ("bourse-runs/x.html", "")]
    {
        let index = output(folder, &["report", "bourse-runs", "-o", place]);
        assert!(index.status.success(), "{}", text(&index.stderr));
        let page = std::fs::read_to_string(folder.join(place)).unwrap();
        assert!(page.contains(&format!("href=\"{to}{second}/report.html\"")), "{place}: {page}");
    }

    // A foreign file in a run's folder is not removed, and so neither is the run.
    let foreign = folder.join("bourse-runs").join(&first).join("notes.txt");
    std::fs::write(&foreign, "mine").unwrap();
    let refused = output(folder, &["runs", "rm", &second, &first]);
    let out = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && out.contains("notes.txt is no file of a run's results"), "{out}");
    assert!(foreign.exists() && folder.join("bourse-runs").join(&second).exists());

    std::fs::remove_file(&foreign).unwrap();
    let removed = output(folder, &["runs", "rm", &first]);
    assert!(removed.status.success(), "{}", text(&removed.stderr));
    assert!(!folder.join("bourse-runs").join(&first).exists() && folder.join("bourse-runs").join(&second).exists());

    let unknown = output(folder, &["runs", "show", &second.replace("micro", "mikro")]);
    let out = text(&unknown.stderr);
    assert!(unknown.status.code() == Some(1) && out.contains(&format!("did you mean '{second}'?")), "{out}");
}

#[test]
fn figures_of_earlier_runs_of_the_same_case_and_revision_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |revision| {
        let run = read_some(folder.path(), revision);
        text(&output(folder.path(), &["runs", "show", &run]).stdout)
    };
    let [first, second, other] = ["abc1", "abc1", "abc2"].map(shown);
    assert!(second.contains("2 runs here: "), "{second}");
    assert!(!first.contains("runs here") && !other.contains("runs here"), "{first}\n{other}");
}

#[test]
fn databases_are_listed_and_removed_if_they_are_ours() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("bourse-data")).unwrap();
    load(&folder.join("bourse-data"), "sqlite:x.db");
    std::fs::write(folder.join("bourse-data/other.db"), "somebody else's").unwrap();
    std::fs::create_dir(folder.join("bourse-data/pictures.db")).unwrap();
    std::fs::write(folder.join("bourse-data/pictures.db/cat"), "somebody else's").unwrap();

    let listed = text(&output(folder, &["data", "ls"]).stdout);
    assert!(listed.contains("sqlite:bourse-data/x.db") && listed.contains("1 database in bourse-data"), "{listed}");
    assert!(!listed.contains("other.db") && !listed.contains("pictures.db"), "{listed}");

    for theirs in ["bourse-data/other.db", "bourse-data/pictures.db"] {
        let refused = output(folder, &["data", "rm", "bourse-data/x.db", theirs]);
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
        assert!(folder.join("bourse-data/x.db").exists() && folder.join(theirs).exists());
    }
    assert!(folder.join("bourse-data/pictures.db/cat").exists());

    let removed = output(folder, &["data", "rm", "bourse-data/x.db"]);
    assert!(removed.status.success(), "{}", text(&removed.stderr));
    assert!(!folder.join("bourse-data/x.db").exists() && folder.join("bourse-data/other.db").exists());
}

/// A process that is killed leaves a file that is empty and a log with all rows: it was in no list.
#[test]
fn a_database_that_is_in_its_log_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    load_tatp(folder.path(), "sqlite:x.db");
    std::fs::File::create(&path).unwrap();
    for (log, count) in [(&b""[..], "0 databases"), (b"\x37\x7f\x06\x82 and rows", "1 database")] {
        std::fs::write(path.with_extension("db-wal"), log).unwrap();
        let listed = text(&output(folder.path(), &["data", "ls", "."]).stdout);
        assert!(listed.contains(count), "{listed}");
    }
}

/// Regression: the hint for a database of Redis was a statement of SQL.
#[test]
fn the_hint_for_a_servers_databases_is_in_its_own_words() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (target, words) in [("redis://localhost/3", "FLUSHDB"), ("postgres://localhost/x", "DROP DATABASE NAME")] {
        for command in ["ls", "rm"] {
            let refused = output(folder.path(), &["data", command, target]);
            let said = text(&refused.stderr);
            assert!(refused.status.code() == Some(1) && said.contains(words), "{said}");
        }
    }
}

#[test]
fn a_database_that_is_there_keeps_its_own_size() {
    let folder = tempfile::tempdir().unwrap();
    load_tatp(folder.path(), "sqlite:x.db");
    // The database has a thousand subscribers; the default is a hundred thousand.
    let run = ["tatp", "run", "sqlite:x.db", "--for", "1s", "--warmup", "0s", "--users", "1"];
    let ran = output(folder.path(), &run);
    assert!(ran.status.success(), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
    let asked = output(folder.path(), &[&run[..], &["--size", "2k"]].concat());
    let out = text(&asked.stderr);
    assert!(asked.status.code() == Some(1) && out.contains("--reload"), "{out}");
}

#[test]
fn a_folder_before_the_first_run_has_none() {
    let folder = tempfile::tempdir().expect("a test may do so");
    for words in [["data", "ls"], ["runs", "ls"]] {
        let listed = output(folder.path(), &words);
        assert!(listed.status.success() && text(&listed.stdout).starts_with("none: bourse-"), "{words:?}");
        assert_eq!(text(&listed.stdout).contains("`bourse data ls .`"), words[0] == "data", "where else to look");
        let json = output(folder.path(), &[words[0], words[1], "--json"]);
        assert!(json.status.success() && text(&json.stdout) == "[]\n", "{words:?}");
    }
}
