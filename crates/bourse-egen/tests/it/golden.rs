//! Location of the reference data, and access to its records.

use std::path::PathBuf;

use serde_json::Value;

/// File below the folder that `BOURSE_GOLDEN` names; `None`, with a message on the terminal, if it is not set.
pub(crate) fn path(test: &str, file: &str) -> Option<PathBuf> {
    folder(test, "BOURSE_GOLDEN").map(|folder| folder.join(file))
}

/// Folder that a variable names.
pub(crate) fn folder(test: &str, variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        bourse_testkit::skipped(test, format!("{variable} is not set"));
    }
    folder
}

/// The records of a JSON Lines file.
pub(crate) fn records(test: &str, file: &str) -> Option<Vec<Value>> {
    let path = path(test, file)?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a golden line is JSON")).collect())
}

/// An integer, plain or (64-bit states) as a decimal text.
pub(crate) fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not an integer: {value}"))
}

/// A 64-bit state, written as a decimal text.
pub(crate) fn state(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("not a state: {value}"))
}

/// A double.
pub(crate) fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// A text.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

/// The elements of a list.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}
