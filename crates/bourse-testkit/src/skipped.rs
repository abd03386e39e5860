//! Tests that were skipped, and the reasons.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Environment variable that names a file with a line for each skipped test: the output of a test that passes is hidden.
const FILE_VARIABLE: &str = "BOURSE_SKIPPED";

/// Reports that a test was skipped: on stderr, and in the file that `BOURSE_SKIPPED` names.
///
/// # Panics
/// If that file cannot be written.
#[expect(clippy::print_stderr, reason = "a skipped test says so by name")]
pub fn skipped(test: &str, why: impl Display) {
    eprintln!("skipped: {test} ({why})");
    if let Some(file) = std::env::var_os(FILE_VARIABLE) {
        // Cargo sets it for tests that it runs.
        let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
        note(file.as_ref(), &package, test, &why.to_string());
    }
}

/// Appends a line; test programs may do so concurrently.
fn note(file: &Path, package: &str, test: &str, why: &str) {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{package} {test}: {why}\n");
    OpenOptions::new().create(true).append(true).open(file).unwrap().write_all(line.as_bytes()).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_skipped_test_has_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skipped");
        note(&file, "bourse-engine-x", "conforms::on_x", "no library:\n  looked in /usr/lib");
        note(&file, "bourse-engine-y", "tpce::on_y", "no server");
        let expected = "bourse-engine-x conforms::on_x: no library: looked in /usr/lib\n\
                        bourse-engine-y tpce::on_y: no server\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    }
}
