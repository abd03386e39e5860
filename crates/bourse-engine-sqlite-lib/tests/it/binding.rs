//! A process in which the names of another copy of SQLite are global, as `LD_PRELOAD` makes them: this test program,
//! started again.

use crate::other::compiled;
use crate::{info, open, systems, target};
use bourse_engine::Engine as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the variables that the parent sets for the process.
const LIBRARY: &str = "BOURSE_TEST_BOUND_LIBRARY";
const EXPECTED: &str = "BOURSE_TEST_BOUND_EXPECTED";

/// Runs one test of this program with libraries preloaded, and returns its output.
fn again(test: &str, preloaded: &[&Path], variables: &[(&str, &str)]) -> String {
    let preloaded: Vec<_> = preloaded.iter().map(|path| path.display().to_string()).collect();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("LD_PRELOAD", preloaded.join(" "))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{test}: {said}");
    said
}

/// Source of a library that detects from inside whose `sqlite3_sourceid` it calls: `THREADSAFE=0` if not its own.
const ASKS: &str = "const char *sqlite3_sourceid(void) { return \"own\"; }
    int sqlite3_threadsafe(void) { return sqlite3_sourceid()[0] == 'o'; }";

/// Body of the tests below, run in a process with preloaded libraries; run alone it checks nothing.
#[test]
fn in_such_a_process() {
    let Ok(library) = std::env::var(LIBRARY).map(PathBuf::from) else { return };
    let expected = std::env::var(EXPECTED).unwrap();
    let opened = open(&target(Path::new(":memory:"), &library, "memory=memdb"));
    if let Some(words) = expected.strip_prefix("refused: ") {
        let message = opened.map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("whose names are global in this process"), "{message}");
        return;
    }
    assert!(!opened.unwrap().capabilities().one_session, "it calls another copy's function");
    let facts = info(library.to_str()).unwrap().facts;
    let binding =
        facts.into_iter().find(|(name, _)| *name == "library_binding").map_or_else(String::new, |fact| fact.1);
    assert_eq!(binding.is_empty(), expected.is_empty(), "{binding}");
    assert!(binding.contains(&expected), "{binding}");
}

#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn a_library_that_would_call_another_one_is_bound_to_its_own_names() {
    let folder = tempfile::tempdir().unwrap();
    let test = "a_library_that_would_call_another_one_is_bound_to_its_own_names";
    let made = |name: &str, functions: &str, linked: &[&Path]| compiled(folder.path(), test, name, functions, linked);
    let Some(systems) = systems(test) else { return };
    let Some(library) = made("asks", ASKS, &[&systems]) else { return };
    let taken = made("taken", "const char *sqlite3_sourceid(void) { return \"taken\"; }", &[]).unwrap();
    // Global, but of no function that the library calls.
    let other = made("other", "int sqlite3_libversion_number(void) { return 3000000; }", &[]).unwrap();
    let check = |preloaded: &[&Path], expected: &str| {
        let library = library.to_str().unwrap();
        again("binding::in_such_a_process", preloaded, &[(LIBRARY, library), (EXPECTED, expected)]);
    };
    check(&[], "");
    check(&[&other], "");
    check(&[&taken], "taken.so");
    // It is there already and stays as it is.
    check(&[&taken, &library], "refused: taken.so");
}

#[test]
fn a_library_works_beside_another_one_that_is_preloaded() {
    let test = "a_library_works_beside_another_one_that_is_preloaded";
    let Some(library) = systems(test) else { return };
    again("each_library_reads_what_the_other_wrote", &[&library], &[]);
}
