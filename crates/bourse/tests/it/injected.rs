//! Failing file-system calls while the program works: `bourse faults`, and the commands that measure, which must never end
//! with success then.
#![cfg(target_os = "linux")]

use crate::{bourse, load, output, text};
use bourse_crash::preload::{Call, CallEffect, ControlFile, ProcessFiles, Spec};
use bourse_engine_mysql::Flavour;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Whether the library cannot be preloaded here; the test is then reported as skipped.
fn nothing_preloads(name: &str) -> bool {
    let library = bourse_crash::preload::library();
    if let Err(why) = library {
        bourse_testkit::skipped(name, why);
    }
    library.is_err()
}

/// Runs `bourse faults` and returns its exit code and document.
fn tried(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let ended = output(folder, &[&["faults"], arguments, &["--json"]].concat());
    let said = text(&ended.stderr);
    let file = serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let left = fs::read_dir(folder.join("bourse-data")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "the databases are removed");
    (ended.status.code().expect("it ended by itself"), file)
}

/// The cases of a fault.
fn cases<'f>(file: &'f Value, target: &str, fault: &str) -> &'f [Value] {
    let rows = file["rows"].as_array().expect("a list");
    let is_it = |row: &&Value| row["target"] == target && row["fault"] == fault;
    let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("no row of {target}, {fault}"));
    let cases = row["cases"].as_array().expect("a list");
    assert!(!cases.is_empty() || row["not_tried"] != "", "what was not tried has a reason: {row:#}");
    cases
}

/// Every case of a fault has this of that.
#[track_caller]
fn all(file: &Value, target: &str, fault: &str, name: &str, expected: &[&str]) {
    let cases = cases(file, target, fault);
    assert!(!cases.is_empty(), "{target}: {fault} was not tried");
    for case in cases {
        let found = case[name].as_str().expect("a word");
        assert!(expected.contains(&found), "{target}: {fault}: {name} is {found}: {case:#}");
    }
}

/// Each engine in process, with every fault: faults that must be reported are, and no acknowledged commit is lost without a
/// report.
#[test]
fn engines_tell_of_faults_or_keep_what_they_acknowledged() {
    let name = "injected::engines_tell_of_faults_or_keep_what_they_acknowledged";
    if nothing_preloads(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (wal, journal) = ("sqlite:?journal=wal&sync=full", "sqlite:?journal=delete&sync=full");
    let (lmdb, redb) = ("lmdb:?sync=full&map_size=16MiB", "redb:");
    let arguments = [wal, journal, lmdb, redb, "--times", "2", "--transactions", "40"];
    let (code, file) = tried(folder.path(), &arguments);
    assert_eq!(code, 0, "{file:#}");
    let beds = [wal, journal, lmdb, redb];
    assert_eq!(file["rows"].as_array().map(Vec::len), Some(beds.len() * 16));
    for bed in beds {
        for fault in ["read-error", "write-error", "write-errors", "two-errors", "sync-error", "killed"] {
            all(&file, bed, fault, "left", &["whole"]);
        }
        all(&file, bed, "write-errors", "reaction", &["reported"]);
        all(&file, bed, "killed", "reaction", &["killed"]);
        // A file system in memory guarantees nothing.
        let row = |row: &&Value| row["target"] == bed;
        let class = &file["rows"].as_array().and_then(|rows| rows.iter().find(row)).expect("a row")["class"];
        if class == "durable" {
            for fault in ["sync-error-power", "sync-errors-power", "two-errors-power", "power"] {
                all(&file, bed, fault, "left", &["whole"]);
            }
        }
        // No sync is done after the first that lies: commits acknowledged after it cannot be there.
        all(&file, bed, "lying-disk", "reaction", &["went_on"]);
        all(&file, bed, "lying-disk", "left", &["lost", "corrupted", "unreadable"]);
        all(&file, bed, "lying-disk", "verdict", &["expected"]);
    }
    for bed in [wal, journal] {
        // The system may write less than requested: that is no error, and SQLite continues.
        all(&file, bed, "short-write", "reaction", &["went_on"]);
        all(&file, bed, "disk-full", "reaction", &["reported"]);
    }
    let full = cases(&file, wal, "disk-full");
    assert!(full[0]["errors"][0].as_str().expect("a text").contains("SQLITE_FULL"), "{full:#?}");
    all(&file, lmdb, "map-error", "reaction", &["died"]);
    assert_eq!(cases(&file, lmdb, "map-error")[0]["signal"], 7, "SIGBUS");

    // The evidence alone is enough to draw it again.
    fs::write(folder.path().join("mine.json"), file.to_string()).expect("written");
    let drawn = output(folder.path(), &["report", "mine.json"]);
    assert_eq!(drawn.status.code(), Some(0), "{}", text(&drawn.stderr));
    assert!(text(&drawn.stdout).contains("syncs do nothing, power lost later"), "{}", text(&drawn.stdout));
}

#[test]
fn settings_lose_what_they_do_not_promise() {
    if nothing_preloads("injected::settings_lose_what_they_do_not_promise") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (normal, off) = ("sqlite:?journal=wal&sync=normal", "sqlite:?journal=delete&sync=off");
    let arguments = [normal, off, "--times", "2", "--transactions", "40", "--only", "killed,power,sync-error"];
    let (code, file) = tried(folder.path(), &arguments);
    assert_eq!(code, 0, "{file:#}");
    for target in [normal, off] {
        all(&file, target, "killed", "left", &["whole"]);
        all(&file, target, "power", "verdict", &["expected"]);
    }
    all(&file, normal, "power", "left", &["lost"]);
    // Without syncs no sync can fail, which is reported.
    assert!(cases(&file, off, "sync-error").is_empty(), "{file:#}");
}

/// Allocations that fail: SQLite reports it and rolls back, or the process ends itself (SIGABRT), which loses nothing acknowledged.
#[test]
fn an_allocation_that_fails_is_reported_or_ends_the_process() {
    if nothing_preloads("injected::an_allocation_that_fails_is_reported_or_ends_the_process") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:?journal=wal&sync=full";
    let (code, file) = tried(folder.path(), &[target, "--only", "no-memory", "--times", "100", "--transactions", "10"]);
    assert_eq!(code, 0, "{file:#}");
    all(&file, target, "no-memory", "verdict", &["ok"]);
    all(&file, target, "no-memory", "left", &["whole"]);
    let cases = cases(&file, target, "no-memory");
    let says = |case: &Value| case["errors"][0].as_str().is_some_and(|error| error.contains("out of memory"));
    assert!(cases.iter().any(|case| case["reaction"] == "reported" && says(case)), "{cases:#?}");
    assert!(cases.iter().any(|case| case["reaction"] == "died" && case["signal"] == 6), "{cases:#?}");
}

/// A private server: its process meets the faults, and its end is reported.
#[test]
fn a_server_that_meets_a_fault_ends_or_tells() {
    let name = "injected::a_server_that_meets_a_fault_ends_or_tells";
    if let Err(why) = bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        return bourse_testkit::skipped(name, why);
    }
    if nothing_preloads(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "mariadb+private:?log_file=8MiB&innodb_buffer_pool=16MiB";
    let only = ["--only", "sync-errors-power,killed", "--times", "1", "--transactions", "20"];
    let (code, file) = tried(folder.path(), &[&[target][..], &only].concat());
    assert_eq!(code, 0, "{file:#}");
    all(&file, target, "sync-errors-power", "reaction", &["died", "reported"]);
    all(&file, target, "sync-errors-power", "left", &["whole"]);
    all(&file, target, "killed", "left", &["whole"]);
}

/// PostgreSQL's processes write and sync each other's files: acknowledged commits survive a power loss, or are lost if the
/// settings permit it.
#[test]
fn a_server_of_many_processes_keeps_what_its_settings_promise() {
    let name = "injected::a_server_of_many_processes_keeps_what_its_settings_promise";
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped(name, why);
    }
    if nothing_preloads(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let options = |more: &str| format!("postgres+private:?shared_buffers=1MiB&max_connections=10{more}");
    let (durable, late, never) = (options(""), options("&synchronous_commit=off"), options("&fsync=off"));
    let only = ["--only", "power,sync-errors-power,lying-disk", "--times", "2", "--transactions", "160"];
    let (code, file) = tried(folder.path(), &[&[durable.as_str()][..], &only].concat());
    assert_eq!(code, 0, "{file:#}");
    let bed = durable.as_str();
    for fault in ["power", "sync-errors-power"] {
        all(&file, bed, fault, "left", &["whole"]);
        assert!(cases(&file, bed, fault).iter().any(|case| case["acknowledged"] != 0), "{file:#}");
    }
    all(&file, bed, "power", "reaction", &["killed"]);
    all(&file, bed, "sync-errors-power", "reaction", &["died", "reported"]);
    // The same server loses data on a disk that lies: so the durability above is no accident.
    all(&file, bed, "lying-disk", "left", &["lost", "corrupted", "unreadable"]);
    all(&file, bed, "lying-disk", "verdict", &["expected"]);

    // A commit that is not waited for, and syncs that are never made: what power takes shows, and must.
    let only = ["--only", "power,sync-error", "--times", "2", "--transactions", "80"];
    let (code, file) = tried(folder.path(), &[&[late.as_str(), never.as_str()][..], &only].concat());
    assert_eq!(code, 0, "{file:#}");
    for target in [late.as_str(), never.as_str()] {
        let found = cases(&file, target, "power");
        assert!(
            found.iter().any(|case| case["left"] != "whole" && case["verdict"] == "expected"),
            "{target}: {file:#}"
        );
    }
    // A server that ends itself, as PostgreSQL does after a failed sync, loses what its memory alone had.
    all(&file, &late, "sync-error", "verdict", &["ok", "expected"]);
    assert!(cases(&file, &never, "sync-error").is_empty(), "without syncs no sync can fail: {file:#}");
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (arguments, words) in [
        (&["sqlite:x.db?journal=wal"][..], "it names the place"),
        (&["sqlite:?jornal=wal"], "jornal"),
        (&["sqlite:", "--only", "fire"], "unknown fault 'fire'"),
        (&["sqlite:", "--times", "0"], "invalid value '0' for '--times <N>'"),
    ] {
        let refused = output(folder.path(), &[&["faults"], arguments].concat());
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    }
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
    let (code, file) = tried(folder.path(), &["null:", "--only", "power"]);
    assert_eq!(
        (code, &file["rows"][0]["not_tried"]),
        (1, &"Bourse cannot inject faults into this engine's file operations".into())
    );
}

/// Runs a command on databases below `files` with a fault injected; returns its output and the call that met the fault;
/// empty if none did.
fn with_fault(folder: &Path, fault: Spec, arguments: &[&str]) -> (Output, String) {
    let base = folder.canonicalize().expect("it is there");
    let library = base.join("preload.so");
    let bytes = bourse_crash::preload::library().expect("asked before");
    bourse_crash::preload::write_library(&library, bytes).expect("can be written");
    let places =
        ProcessFiles { control: base.join("control"), files: base.join("files"), image: None, recording: None };
    let control = ControlFile::create(&places.control).expect("can be made");
    control.arm(Some(fault)).expect("can be armed");
    let ended = bourse(folder, arguments).envs(places.preloading(&library)).output().expect("can be started");
    (ended, control.first_hit().expect("can be read"))
}

/// Runs a command that meets a fault: it ends with exit code 2, and no round of it has a figure.
#[track_caller]
fn never_succeeds(folder: &Path, call: Call, nth: u64, effect: CallEffect, arguments: &[&str]) {
    let (ended, met) = with_fault(folder, Spec { call, nth, effect }, arguments);
    if effect == CallEffect::FailOnce && met.ends_with("the folder") {
        // SQLite continues if the sync of a folder fails, and reports nothing; the next call is of a file.
        fs::remove_dir_all(folder.join("bourse-runs")).expect("a run leaves a folder");
        return never_succeeds(folder, call, nth + 1, effect, arguments);
    }
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert!(!met.is_empty(), "{effect:?} of {call:?} {nth} was not met by {arguments:?}: {report}{said}");
    assert_eq!(ended.status.code(), Some(2), "{effect:?} of {call:?} {nth}: {arguments:?}: {report}{said}");
    assert!(said.contains("error: "), "{said}");
    let runs = fs::read_dir(folder.join("bourse-runs")).into_iter().flatten().flatten();
    for run in runs {
        let Ok(json) = fs::read(run.path().join("run.json")) else { continue };
        let file: Value = serde_json::from_slice(&json).expect("JSON");
        for round in file["cases"].as_array().into_iter().flatten().flat_map(|case| case["rounds"].as_array()).flatten()
        {
            assert!(round["void"].is_string() && round["headline"].is_null(), "{effect:?} of {call:?}: {round:#}");
        }
        fs::remove_dir_all(run.path()).expect("can be removed");
    }
}

/// The commands that measure, on engines whose calls fail in the middle of a round.
#[test]
fn a_workload_whose_engine_meets_a_fault_has_no_figure() {
    if nothing_preloads("injected::a_workload_whose_engine_meets_a_fault_has_no_figure") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let rounds = ["--rounds", "1", "--warmup", "0s", "--for", "2s", "-s", "rows=500"];
    for target in [
        "sqlite:files/x?journal=wal&sync=full",
        "sqlite:files/x?journal=delete&sync=full",
        "lmdb:files/x",
        "redb:files/x",
    ] {
        let work = |workload| [&["micro", "run", workload, target][..], &rounds].concat();
        for (workload, call, nth, effect) in [
            ("update", Call::Write, 200, CallEffect::FailOn),
            ("update", Call::Sync, 40, CallEffect::FailOn),
            ("update", Call::Sync, 40, CallEffect::FailOnce),
            ("bulk-load", Call::Grow, 1, CallEffect::Full),
        ] {
            fs::create_dir_all(folder.join("files")).expect("can be made");
            never_succeeds(folder, call, nth, effect, &work(workload));
            fs::remove_dir_all(folder.join("files")).expect("can be removed");
        }
    }
    // A page that cannot be read ends the process of the round, and not the program.
    fs::create_dir_all(folder.join("files")).expect("can be made");
    let arguments = [&["micro", "run", "update", "lmdb:files/x"][..], &rounds].concat();
    never_succeeds(folder, Call::Write, 300, CallEffect::Blind, &arguments);
}

/// The brokerage workload: loading, checking and measuring.
#[test]
fn the_brokerage_workload_does_not_succeed_on_a_disk_that_fails() {
    if nothing_preloads("injected::the_brokerage_workload_does_not_succeed_on_a_disk_that_fails") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::create_dir(folder.join("files")).expect("can be made");
    let target = "sqlite:files/x.db";
    never_succeeds(folder, Call::Grow, 2_000, CallEffect::Full, &["tpce", "load", target, "--days", "1"]);
    assert!(!folder.join("files/x.db").exists(), "what could not be loaded is not there");
    for (load, hint) in [
        (["tpce", "load", target, "--days", "1"], "hint: fewer --customers or --days need less room"),
        (["tatp", "load", target, "--size", "10k"], "hint: a smaller --size needs less room"),
    ] {
        let (full, _) = with_fault(folder, Spec { call: Call::Grow, nth: 20, effect: CallEffect::Full }, &load);
        let said = text(&full.stderr);
        assert!(said.contains("hint: free some space, or name another target") && said.contains(hint), "{said}");
    }
    load(folder, target);
    never_succeeds(folder, Call::Read, 3_000, CallEffect::FailOn, &["tpce", "check", target]);
    let run = ["tpce", "run", target, "--days", "1", "--users", "2", "--warmup", "0s", "--for", "3s"];
    never_succeeds(folder, Call::Sync, 30, CallEffect::FailOn, &run);
    never_succeeds(folder, Call::Write, 500, CallEffect::FailOn, &run);
}
