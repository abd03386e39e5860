//! `bourse bisect`: the first commit that changed plans or speed, in a repository of the test's own.
#![cfg(unix)]

use crate::{bourse, output, text};
use bourse_record::{BisectOutcome, Document as _, RunFile};
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"]);
    let ended =
        command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
    assert!(ended.status.success(), "{arguments:?}: {}", text(&ended.stderr));
    text(&ended.stdout)
}

/// Commits a file of statements, with an index for its query or without, and a script that builds it or fails.
fn commit(folder: &Path, subject: &str, has_index: bool, builds: bool) {
    let index = if has_index { "CREATE INDEX by_kind ON item (kind);" } else { "" };
    let statements = format!(
        "--! parameter next sequential 1 2000\n--! parameter kind uniform 1 2000\n--! setup\n\
         CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL);\n{index}\n\
         --! setup repeat 2000\nINSERT INTO item (id, kind) VALUES (:next, :next);\n\
         --! operation look\nSELECT id FROM item WHERE kind = :kind;\n"
    );
    let script = if builds { "cp look.txt look.sql" } else { "echo it is broken >&2; exit 1" };
    for (name, content) in [("look.txt", statements.as_str()), ("build.sh", script), ("subject", subject)] {
        fs::write(folder.join(name), content).expect("a file can be written");
    }
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", subject]);
}

/// Options of rounds that are as short as can be.
const SHORT: [&str; 12] = [
    "--target", "sqlite::memory:", "--workload", "sql", "-s", "file={tree}/look.sql", "-T", "100ms", "--warmup", "0s",
    "-o", "../runs",
];

/// Exit code, what was printed, and the document of the newest run.
fn bisect(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, Option<RunFile>) {
    let asked = [&["bisect"], arguments, &SHORT[..], &["--", "sh", "build.sh"]].concat();
    let ended = output(folder, &asked);
    let runs = fs::read_dir(folder.join("../runs")).into_iter().flatten().map(|it| it.expect("an entry").path());
    let newest = runs.max().and_then(|run| fs::read(run.join("run.json")).ok());
    let file = newest.map(|it| RunFile::parse(&it, Path::new("run.json")).expect("a run file"));
    (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr), file)
}

#[test]
fn the_commit_that_changed_a_plan_or_the_speed_is_found() {
    let parent = tempfile::tempdir().expect("there is room for a folder");
    let folder = &parent.path().join("repository");
    fs::create_dir(folder).expect("there is room for a folder");
    let (code, said, _) = bisect(folder, &["A", "B", "--dry-run"]);
    assert!(code == Some(1) && said.contains("there is no git repository here"), "{said}");
    git(folder, &["init", "--quiet"]);
    for nth in 0..=8 {
        commit(folder, &format!("commit {nth}"), nth < 5, nth != 6);
    }
    fs::write(folder.join("build.sh"), "exit 1").expect("a file can be written");
    let before = git(folder, &["status", "--short", "--branch"]);

    let (code, said, _) = bisect(folder, &["HEAD~8", "HEAD", "--dry-run"]);
    let planned = "decided by speed: 5 intervals at most, each at 99.00 %, which hold together at 95 %";
    assert!(code == Some(0) && said.contains(planned) && said.contains("12 rounds in turn"), "{said}");
    for (arguments, words) in [
        (&["HEAD", "HEAD~8"][..], "HEAD is no ancestor of HEAD~8"),
        (&["HEAD~8", "nonsense"], "there is no git commit 'nonsense'"),
        (&["HEAD~8", "HEAD", "--rounds", "7"], "--rounds 7 are too few: 5 intervals that hold together need 8"),
        (&["HEAD~8", "HEAD", "--plans", "--instructions"], "cannot be used together"),
    ] {
        let (code, said, _) = bisect(folder, arguments);
        assert!(code == Some(1) && said.contains(words), "{said}");
    }
    assert!(!parent.path().join("runs").exists(), "nothing was measured");

    let (code, said, file) = bisect(folder, &["HEAD~8", "HEAD", "--plans"]);
    let found = file.and_then(|it| it.bisection).expect("a search");
    let first = |found: &bourse_record::Bisection| found.first.iter().map(|it| it.subject.clone()).collect::<Vec<_>>();
    assert_eq!((code, first(&found)), (Some(0), vec!["commit 5".to_owned()]), "{said}");
    let skipped: Vec<_> = found.steps.iter().filter(|it| it.outcome == BisectOutcome::Skipped).collect();
    assert!(skipped.len() == 1 && skipped[0].why.contains("it is broken") && found.steps.len() == 5, "{found:?}");
    assert!(said.contains("is the first that changed") && said.contains("1 of 1 plans differ"), "{said}");
    assert!(said.contains("of 8 commits are left") && said.contains("building "), "{said}");
    let asked = [&["bisect", "HEAD~4", "HEAD~3", "--plans"][..], &SHORT, &["--", "sh", "build.sh"]].concat();
    let brief = bourse(folder, &asked).env_remove("BOURSE_VERBOSE").output().expect("it runs");
    let said = text(&brief.stderr);
    assert!(brief.status.success() && !said.contains("building ") && !said.contains(" …"), "findings alone: {said}");
    let (code, said, file) = bisect(folder, &["HEAD~6", "HEAD~5", "--plans"]);
    assert!(code == Some(6) && said.contains("no difference between the ends shown"), "{said}");
    assert!(said.contains("with equal plans the speed may differ"), "{said}");
    let lacking =
        ["bisect", "HEAD~6", "HEAD~5", "--target", "sqlite:{tree}/x.db", "--workload", "sql", "-o", "../lacking"];
    for file in ["file=look.sql", "file={tree}/look.sql"] {
        let ended = output(folder, &[&lacking[..], &["-s", file, "--", "true"]].concat());
        let said = text(&ended.stderr);
        assert!(ended.status.code() == Some(1) && said.contains("look.sql: cannot be read"), "{said}");
        assert_eq!(said.contains("building"), file.contains("{tree}"), "{said}");
    }
    assert!(file.and_then(|it| it.bisection).is_some_and(|it| it.first.is_empty() && it.change.is_none()));
    let (code, said, _) = bisect(folder, &["HEAD~3", "HEAD~2", "--plans"]);
    assert!(code == Some(2) && said.contains("it is broken"), "an end must be built: {said}");

    let (code, said, file) = bisect(folder, &["HEAD~5", "HEAD~3", "--rounds", "7"]);
    let file = file.expect("a run");
    // On a machine that stands still for a whole round nothing is decided.
    if code == Some(0) {
        let found = file.bisection.expect("a search");
        assert_eq!(first(&found), ["commit 5"], "{said}");
    }
    assert_eq!(git(folder, &["status", "--short", "--branch"]), before, "the checkout is as it was");
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
}
