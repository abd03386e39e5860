//! `bourse versions`: libraries of versions, built once and measured in turn. A compiler and a cargo that only copy stand for the
//! real ones, which take minutes.
#![cfg(unix)]

use crate::{bourse, text};
use bourse_record::{Document as _, RunFile};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

/// Runs the program with the compiler and the cargo of the folder.
fn versions(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = bourse(folder, &[&["versions"], arguments].concat());
    command
        .env("CC", folder.join("cc"))
        .env("CARGO", folder.join("cargo"))
        .output()
        .expect("the program can be started")
}

/// Writes a script.
fn script(path: &Path, lines: &str) {
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).expect("a script can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
}

/// A package of SQLite's source, the cargo that has it, and a compiler that copies a library; `None` without a library.
fn tools(folder: &Path, test: &str) -> Option<()> {
    let name = std::env::var("BOURSE_SYSTEM_SQLITE").unwrap_or_else(|_| "libsqlite3.so.0".to_owned());
    let found = match bourse_engine_sqlite_lib::info(Some(&name)) {
        Ok(found) => found,
        Err(why) => {
            bourse_testkit::skipped(test, why);
            return None;
        }
    };
    let (_, library) = found.facts.iter().find(|(fact, _)| *fact == "library").expect("it says where it is");
    fs::create_dir_all(folder.join("package/sqlite3")).expect("there is room for a folder");
    let source = "/* SQLite */\n#define SQLITE_VERSION \"3.50.2\" /* or \"3.54.1\" */\n";
    fs::write(folder.join("package/sqlite3/sqlite3.c"), source).expect("a file can be written");
    let manifest = folder.join("package/Cargo.toml");
    let metadata = serde_json::json!({ "packages": [{ "name": "libsqlite3-sys", "manifest_path": manifest }] });
    script(&folder.join("cargo"), &format!("cat <<'END'\n{metadata}\nEND"));
    let copies = format!("while [ \"$1\" != -o ]; do shift; done\ncp {library} \"$2\"");
    script(&folder.join("cc"), &format!("[ \"$1\" = --version ] && echo copier && exit\n{copies}"));
    Some(())
}

#[test]
fn libraries_are_built_once_and_measured_in_turn() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let Some(()) = tools(folder.path(), "libraries_are_built_once_and_measured_in_turn") else { return };
    let short = ["--libraries", "libs", "--from", "3.50", "--against", "3.54", "-s", "rows=100", "--count", "100"];
    let asked =
        [&["sqlite:x.db", "--workload", "point-read", "--rounds", "2", "--plans", "-o", "runs"], &short[..]].concat();
    let planned = versions(folder.path(), &[&asked[..], &["--dry-run"]].concat());
    let said = text(&planned.stdout) + &text(&planned.stderr);
    assert!(planned.status.success() && said.contains("libsqlite3-sys 0.39.1 is downloaded by cargo"), "{said}");
    assert!(said.contains("-DSQLITE_ENABLE_STAT4") && said.contains("about 2 min before the rounds"), "{said}");
    assert!(!folder.path().join("libs").exists() && !folder.path().join("runs").exists(), "nothing is written");
    let ended = versions(folder.path(), &asked);
    let said = text(&ended.stdout) + &text(&ended.stderr);
    assert!(ended.status.success() && said.contains("building SQLite 3.50.2, 2 of 2"), "{said}");
    let libraries: Vec<_> = fs::read_dir(folder.path().join("libs")).expect("a folder").collect();
    assert_eq!(libraries.len(), 4, "each library with its sum, and nothing else: {libraries:?}");
    let run = fs::read_dir(folder.path().join("runs")).expect("runs").next().expect("one").expect("a folder").path();
    let file = RunFile::parse(&fs::read(run.join("run.json")).expect("a run file"), &run).expect("a run file");
    let labels: Vec<&str> = file.cases.iter().map(|case| case.label.as_str()).collect();
    assert_eq!((file.name.as_str(), labels), ("versions", vec!["SQLite 3.54.1", "SQLite 3.50.2"]));
    for case in &file.cases {
        assert!(
            case.engine.target.contains(&format!("x-v{}.db?library=libs/sqlite-v", case.varied[0].value)),
            "{case:?}"
        );
        assert!(!case.engine.compile_options.is_empty() && case.rounds.len() == 2);
    }
    assert!(said.contains("library") && said.contains(" MB"), "the size of the library: {said}");
    let page = fs::read_to_string(run.join("report.html")).expect("a page");
    assert!(page.contains("Result by version") && page.contains(">3.50.2</text>"), "a chart by version");
    let again = versions(folder.path(), &[&asked[..], &["--dry-run"]].concat());
    assert!(text(&again.stdout).contains("nothing is downloaded or built"), "{}", text(&again.stdout));
}

#[test]
fn what_cannot_be_built_is_said_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let Some(()) = tools(folder.path(), "what_cannot_be_built_is_said_and_leaves_nothing") else { return };
    let refused = |arguments: &[&str], words: &[&str]| {
        let more = ["--workload", "point-read", "--libraries", "libs"];
        let ended = versions(folder.path(), &[arguments, &more].concat());
        let said = text(&ended.stderr);
        assert!(matches!(ended.status.code(), Some(1 | 2)), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        let left = fs::read_dir(folder.path().join("libs")).map_or(0, Iterator::count);
        assert!(left == 0 && !folder.path().join("bourse-runs").exists(), "nothing is left");
    };
    refused(&["sqlite", "--from", "3.55"], &["unknown version from 3.55 of SQLite", "known are 3.17.0, 3.24.0"]);
    refused(&["redb"], &["versions of 'redb' are not known", "two revisions of Bourse"]);
    refused(&["sqlite", "-s", "rows=x"], &["rows"]);
    refused(&["sqlite", "--from", "3.46", "--to", "3.46"], &["is not the source of SQLite 3.46.0"]);
    script(&folder.path().join("cc"), "[ \"$1\" = --version ] && echo copier && exit\necho no room >&2\nexit 3");
    refused(&["sqlite", "--from", "3.54"], &["cc failed: exit status: 3", "said: no room"]);
    script(&folder.path().join("cargo"), "echo could not connect >&2\nexit 101");
    refused(&["sqlite", "--from", "3.54"], &["cargo failed", "could not connect", "it needs its registry"]);
    fs::remove_file(folder.path().join("cc")).expect("it is there");
    refused(&["sqlite", "--from", "3.54"], &["cannot start", "install a C compiler"]);
}
