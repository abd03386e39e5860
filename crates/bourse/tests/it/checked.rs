//! A run on a database that has changed since it was loaded is refused before anything is measured; a run that loses its
//! database has no figure.

use crate::{bourse, load, load_tatp, mark, output, text};
use bourse_engine::Engine as _;
use bourse_record::{CheckStatus, Document as _, RunFile};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const RUN: [&str; 7] = ["--days", "1", "--for", "1s", "--warmup", "1s", "--json"];

fn change(file: &Path, statements: &[&str]) {
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}?sync=off", file.display())).expect("a valid target");
    let mut session = engine.session().expect("connects");
    for sql in statements {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Runs on and checks a copy of a database after changes; both must report the changes, in these words.
fn is_refused(folder: &Path, statements: &[&str], words: &[&str]) {
    fs::copy(folder.join("whole.db"), folder.join("x.db")).expect("copies");
    mark(&format!("sqlite:{}", folder.join("x.db").display()));
    change(&folder.join("x.db"), statements);
    let ran = output(folder, &[&["tpce", "run", "sqlite:x.db?sync=off"][..], &RUN].concat());
    let checked = output(folder, &["tpce", "check", "sqlite:x.db?sync=off"]);
    assert_eq!((ran.status.code(), checked.status.code()), (Some(3), Some(3)), "{}", text(&ran.stderr));
    assert!(!folder.join("bourse-runs").exists(), "nothing was measured");
    for word in words {
        assert!(text(&ran.stderr).contains(word), "no {word:?} in:\n{}", text(&ran.stderr));
        assert!(text(&checked.stdout).contains(word), "no {word:?} in:\n{}", text(&checked.stdout));
    }
}

#[test]
fn a_database_that_is_not_as_it_was_loaded_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, "sqlite:whole.db?sync=off&journal=delete");
    is_refused(
        folder,
        &["DROP INDEX trade_by_account", "CREATE INDEX extra ON trade (t_exec_name)"],
        &["index trade_by_account of trade is missing", "index extra of trade is not declared"],
    );
    is_refused(
        folder,
        &["UPDATE daily_market SET dm_close = dm_close + 1 WHERE dm_date = (SELECT min(dm_date) FROM daily_market)"],
        &["contents of daily_market"],
    );
    is_refused(
        folder,
        &["DELETE FROM watch_item WHERE wi_wl_id = (SELECT min(wl_id) FROM watch_list)"],
        &["contents of watch_item"],
    );

    // Pages that belong to nothing: a run finds them in the end, and then has no figure.
    fs::copy(folder.join("whole.db"), folder.join("x.db")).expect("copies");
    mark(&format!("sqlite:{}", folder.join("x.db").display()));
    change(
        &folder.join("x.db"),
        &[
            "CREATE INDEX extra ON trade (t_exec_name)",
            "PRAGMA writable_schema = ON",
            "DELETE FROM sqlite_schema WHERE name = 'extra'",
        ],
    );
    let ran = output(folder, &[&["tpce", "run", "sqlite:x.db?sync=off"][..], &RUN].concat());
    assert_eq!(ran.status.code(), Some(3), "{}", text(&ran.stderr));
    let file = RunFile::parse(&ran.stdout, Path::new("stdout")).expect("a run file");
    let failed: Vec<_> =
        file.cases[0].rounds[0].checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
    assert!(failed.len() == 1 && failed[0].name == "integrity", "{failed:#?}");
    assert!(failed[0].evidence.contains("never used"), "{failed:#?}");
}

#[test]
fn a_round_that_is_lost_has_no_figure_and_is_not_compared() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::create_dir(folder.join("gone")).expect("a folder can be made");
    let target = "sqlite:gone/x.db?journal=delete&sync=off";
    load_tatp(folder, target);
    let arguments = ["tatp", "run", target, "--size", "1k", "--for", "60s", "--warmup", "1s"];
    let mut command = bourse(folder, &arguments);
    let program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    // Journals come and go with the transactions of the round.
    let start = Instant::now();
    while !folder.join("gone/x.db-journal").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no transaction in a minute");
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(Duration::from_millis(1_500));
    fs::rename(folder.join("gone"), folder.join("moved")).expect("a folder can be moved");
    let ended = program.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(2), "{}", text(&ended.stderr));
    assert!(text(&ended.stdout).contains("VOID"), "{}", text(&ended.stdout));

    let run: PathBuf = fs::read_dir(folder.join("bourse-runs"))
        .expect("a folder")
        .next()
        .expect("a run")
        .expect("it can be read")
        .path();
    let file = RunFile::read(&run.join("run.json")).expect("a run file");
    let round = &file.cases[0].rounds[0];
    assert!(round.headline.is_nan(), "{}", round.headline);
    let why = round.void.as_deref().expect("it has no figure");
    assert!(why.starts_with("the round was ended: "), "{why}");

    fs::create_dir(folder.join("copy")).expect("a folder can be made");
    fs::copy(run.join("run.json"), folder.join("copy/run.json")).expect("it can be copied");
    let compared = output(folder, &["compare", &run.display().to_string(), "copy"]);
    assert_eq!(compared.status.code(), Some(2), "{}", text(&compared.stderr));
    let words = format!("{target}, round 1 of 1 is void: the round was ended");
    assert!(text(&compared.stderr).contains(&words), "{}", text(&compared.stderr));
}
