//! Skipped tests: listed at the end, since the output of passing tests is hidden.

use std::path::PathBuf;

/// Environment variable with the file that tests write skips to.
pub(crate) const VARIABLE: &str = "BOURSE_SKIPPED";

/// The file, which has no other writer.
pub(crate) fn file() -> PathBuf {
    crate::root().join("target/skipped-tests.txt")
}

/// Runs the work with an empty file, and prints the skipped tests, also if it fails.
pub(crate) fn with_list(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let file = file();
    if file.exists() {
        std::fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let folder = file.parent().expect("it lies in the workspace");
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let outcome = work();
    let lines = std::fs::read_to_string(&file).unwrap_or_default();
    print!("{}", listed(&lines));
    outcome
}

/// Each test once, with their number.
fn listed(lines: &str) -> String {
    let tests: std::collections::BTreeSet<&str> = lines.lines().collect();
    let count = match tests.len() {
        0 => return "xtask: no test was skipped\n".to_owned(),
        1 => "1 test was skipped".to_owned(),
        count => format!("{count} tests were skipped"),
    };
    tests.into_iter().fold(format!("xtask: {count}:\n"), |text, test| text + "  " + test + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_is_listed_once() {
        let lines = "b tpce::on_h2: no jar\na on_x: no library\nb tpce::on_h2: no jar\n";
        let expected = "xtask: 2 tests were skipped:\n  a on_x: no library\n  b tpce::on_h2: no jar\n";
        assert_eq!(listed(lines), expected);
        assert_eq!(listed("a on_x: no library\n"), "xtask: 1 test was skipped:\n  a on_x: no library\n");
        assert_eq!(listed(""), "xtask: no test was skipped\n");
    }
}
