//! `--cache` and `--memory`: rounds that begin cold or warm, and rounds whose memory is limited.
#![cfg(target_os = "linux")]

use crate::waiting::wait_for;
use crate::{bourse, load, output, start, text};
use bourse_record::{Case, Document as _, PageCache, PhaseKind, Round, RunFile};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder on a disk: that for temporary files may be in memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room for a folder")
}

#[track_caller]
fn case_of(folder: &Path, arguments: &[&str]) -> Case {
    let ran = output(folder, &[arguments, &["--json"]].concat());
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let mut run = RunFile::parse(&ran.stdout, "run.json".as_ref()).expect("a run");
    run.cases.remove(0)
}

fn page_cache(round: &Round) -> &str {
    &round.facts.iter().find(|it| it.name == "page cache").expect("it is noted").value
}

const READS: [&str; 10] =
    ["micro", "run", "point-read", "sqlite:x.db", "-s", "rows=50000", "--count", "500", "--rounds", "2"];

#[test]
fn a_cold_round_begins_with_nothing_in_memory_and_a_warm_one_with_all() {
    let folder = folder();
    let cold = case_of(folder.path(), &[&READS[..], &["--cache", "cold"]].concat());
    assert_eq!((cold.conditions.page_cache, cold.label.as_str()), (Some(PageCache::Cold), "sqlite:x.db --cache cold"));
    for round in &cold.rounds {
        let held = page_cache(round);
        assert!(held.starts_with("cold: 0.") && round.void.is_none(), "{held} {:?}", round.void);
        assert!(round.read_bytes > 100_000 && round.misses() > 100, "{} {}", round.read_bytes, round.misses());
        assert!(round.phases.iter().all(|phase| phase.kind != PhaseKind::WarmUp), "{:?}", round.phases);
    }
    let warm = case_of(folder.path(), &[&READS[..], &["--cache", "warm", "--warmup", "0s"]].concat());
    assert_eq!(warm.conditions.page_cache, Some(PageCache::Warm));
    for round in &warm.rounds {
        assert!(page_cache(round).starts_with("warm: 100.0 %"), "{}", page_cache(round));
        // SQLite's own cache is empty as well.
        assert!(round.read_bytes == 0 && round.misses() > 100, "{} {}", round.read_bytes, round.misses());
    }
    let usual = case_of(folder.path(), &[&READS[..], &["--warmup", "0s"]].concat());
    assert!(usual.conditions.page_cache.is_none() && usual.label == "sqlite:x.db");
    assert!(usual.rounds.iter().all(|round| round.facts.iter().all(|it| it.name != "page cache")));

    // Two stored runs of unlike conditions are compared with a word about it.
    let mut runs: Vec<PathBuf> = fs::read_dir(folder.path().join("bourse-runs"))
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    runs.sort_by_key(|run| fs::metadata(run).and_then(|it| it.modified()).expect("it is there"));
    let runs: Vec<&str> = runs.iter().map(|run| run.to_str().expect("plain")).collect();
    for (other, words) in [(runs[1], "cold page cache and warm page cache"), (runs[2], "cold page cache and as it was")]
    {
        let compared = text(&output(folder.path(), &["compare", runs[0], other]).stdout);
        assert!(compared.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{compared}");
    }
    let shown = text(&output(folder.path(), &["report", runs[0]]).stdout);
    assert!(shown.contains("· cold page cache") && shown.contains("page cache misses "), "{shown}");
}

#[test]
fn rounds_of_transactions_begin_cold_too() {
    let folder = folder();
    load(folder.path(), "sqlite:a.db?sync=off");
    let run = ["tpce", "run", "sqlite:a.db?sync=off", "--days", "1", "--for", "1s", "--rounds", "2", "--cache", "cold"];
    let case = case_of(folder.path(), &run);
    for round in &case.rounds {
        assert!(page_cache(round).starts_with("cold: 0.") && round.void.is_none(), "{:?}", round.void);
        assert!(round.read_bytes > 1_000_000, "{}", round.read_bytes);
    }
}

#[test]
fn what_has_no_page_cache_of_its_own_is_refused_with_the_reason() {
    let folder = folder();
    let cold = ["--cache", "cold", "--dry-run"];
    for (arguments, words) in [
        (&["micro", "run", "point-read"][..], "on sqlite::memory:: its database is in memory, and has no files"),
        (&["tpce", "run", "mariadb://a@localhost/x"], "the caches and the files of its server are out of reach"),
        (&["tpce", "run", "postgres+private:"], "the caches of its server end with the server"),
        (&["tpce", "run", "sqlite:x.db", "--processes", "2"], "its users are in several processes"),
        (&["tpce", "run", "sqlite:x.db", "--find-max"], "--find-max cannot be used with --cache cold"),
        (&["tpce", "run", "sqlite:x.db", "--market", "aged=5"], "--market aged cannot be used with --cache cold"),
        (
            &["micro", "run", "update", "sqlite:x.db", "--require-steady"],
            "--require-steady cannot be used with --cache",
        ),
        (&["micro", "run", "update", "sqlite:/dev/shm/x.db"], "its files are on a file system in memory"),
        (&["micro", "run", "update", "sqlite:x.db", "--warmup", "1s"], "--warmup cannot be used with --cache cold"),
        (&["micro", "run", "update", "sqlite:x.db", "--instructions"], "--instructions cannot be used with --cache"),
        (&["tune", "sqlite:x.db"], "--cache and --memory cannot be used with tune"),
        (&["micro", "run", "update", "--memory", "1M"], "expected bytes from 8M to 16T"),
    ] {
        let refused = output(folder.path(), &[arguments, &cold].concat());
        let told = text(&refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        if told.contains("left out of this build") {
            bourse_testkit::skipped(&format!("memory: {arguments:?}"), "this build leaves the engine out");
            continue;
        }
        let code = refused.status.code();
        assert!(matches!(code, Some(1 | 2)) && told.contains(words), "{arguments:?}: {code:?} {told}");
    }
    let limited = ["tpce", "run", "mariadb://a@localhost/x", "--memory", "64M", "--dry-run"];
    let told = text(&output(folder.path(), &limited).stderr);
    assert!(told.contains("--memory cannot be used") || told.contains("left out of this build"), "{told}");
}

/// Whether this machine lets the tests make groups with limited memory; a test that needs them is skipped by its name.
fn has_groups(test: &str, folder: &Path) -> bool {
    let tried =
        output(folder, &["micro", "run", "point-read", "null:", "--memory", "1G", "--count", "1", "--rounds", "1"]);
    let told = text(&tried.stderr);
    if told.contains("--memory cannot be used here") {
        bourse_testkit::skipped(&format!("memory::{test}"), told);
        return false;
    }
    assert!(tried.status.success(), "{told}");
    true
}

/// Groups that a process has made.
fn groups(maker: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let below = entries.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink());
        for path in below {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(&format!("bourse-memory-{maker}-")) {
                found.push(path.clone());
            }
            folders.push(path);
        }
    }
    found
}

#[test]
fn a_database_that_outgrows_its_memory_is_read_from_storage() {
    let folder = folder();
    if !has_groups("a_database_that_outgrows_its_memory_is_read_from_storage", folder.path()) {
        return;
    }
    let reads = [
        "micro",
        "run",
        "point-read",
        "sqlite:x.db?sync=off&cache=2MiB",
        "-s",
        "rows=1M",
        "--for",
        "1s",
        "--rounds",
        "1",
    ];
    let read_by = |memory: &str| {
        let case = case_of(folder.path(), &[&reads[..], &["--memory", memory]].concat());
        let round = &case.rounds[0];
        (round.read_bytes as f64 / round.headline_valid(&case.workload) as f64, case.conditions.memory_limit_bytes)
    };
    let [(small, limit), (large, _)] = ["48M", "2G"].map(read_by);
    assert_eq!(limit, Some(48 << 20));
    assert!(small > 500.0 && large < 10.0, "{small} and {large} bytes read by an operation");
}

#[test]
fn a_round_that_needs_more_memory_than_it_may_have_is_told_as_such() {
    let folder = folder();
    if !has_groups("a_round_that_needs_more_memory_than_it_may_have_is_told_as_such", folder.path()) {
        return;
    }
    let run = ["micro", "run", "point-read", "sqlite::memory:", "-s", "rows=2M", "--rounds", "1", "--memory", "32M"];
    let ended = output(folder.path(), &run);
    let told = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("needed more memory than --memory 32MiB") && told.contains("the kernel ended 1"), "{told}");
}

#[test]
fn groups_are_removed_also_after_an_interruption_and_after_a_killed_command() {
    let folder = folder();
    if !has_groups("groups_are_removed_also_after_an_interruption_and_after_a_killed_command", folder.path()) {
        return;
    }
    let long = ["micro", "run", "point-read", "sqlite:x.db", "-s", "rows=1000", "--memory", "1G", "--for", "100s"];
    // A command also makes an empty group, to see whether it may.
    let has_process =
        |group: &PathBuf| fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|processes| !processes.is_empty());
    let made =
        |run: &std::process::Child| wait_for("a group with a round", || groups(run.id()).into_iter().find(has_process));
    let mut interrupted = start(folder.path(), &long);
    let group = made(&interrupted);
    let kill = std::process::Command::new("kill").args(["-INT", &interrupted.id().to_string()]).status();
    assert!(kill.expect("there is a program for it").success());
    interrupted.wait().expect("it ends");
    assert!(!group.exists(), "{group:?}");

    let mut killed = start(folder.path(), &long);
    let group = made(&killed);
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    // The round ends with the command that started it.
    wait_for("the round to end", || fs::read_to_string(group.join("cgroup.procs")).ok().filter(|it| it.is_empty()));
    let next = bourse(
        folder.path(),
        &["micro", "run", "point-read", "null:", "--memory", "1G", "--count", "1", "--rounds", "1"],
    );
    assert!({ next }.output().expect("it can be started").status.success());
    assert!(!group.exists(), "{group:?}");
}
