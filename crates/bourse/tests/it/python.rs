//! The Python module of the wheel, by its own tests. What they skip is reported by name.

use crate::text;
use std::path::Path;
use std::process::Command;

#[test]
fn the_module_of_the_wheel_passes_its_tests() {
    let python = std::env::var("BOURSE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/python");
    let new_enough = ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"];
    if !Command::new(&python).args(new_enough).status().is_ok_and(|status| status.success()) {
        bourse_testkit::skipped(
            "python::the_module_of_the_wheel_passes_its_tests",
            "there is no Python of 3.9 or newer",
        );
        return;
    }
    let mut tests = Command::new(&python);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
        tests.env_remove(name);
    }
    tests.args(["-B", "-m", "unittest", "-v", "-b", "test_bourse"]).current_dir(module.join("tests"));
    tests.env("PYTHONPATH", &module).env("BOURSE_PROGRAM", env!("CARGO_BIN_EXE_bourse"));
    let ended = tests.output().expect("it was started before");
    let said = text(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    for line in said.lines() {
        if let Some((test, why)) = line.split_once(" ... skipped ") {
            let test = test.split(' ').next().unwrap_or_default();
            bourse_testkit::skipped(&format!("python::{test}"), why.trim_matches('\''));
        }
    }
    assert!(said.contains("test_the_gate_passes_fails_and_skips_by_the_exit_code"), "{said}");
}
