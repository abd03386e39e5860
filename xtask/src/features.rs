//! Each feature of the program alone: no engine may depend on another engine's feature.

use crate::{cargo, cargo_with};
use std::path::Path;

/// Features that are sets of others, or plant bugs.
const NOT_ALONE: [&str; 3] = ["default", "full", "planted-bug"];

/// Checks the program without any feature, and with each alone. Not part of `cargo xtask ci`: it compiles the program as
/// often as there are engines.
pub(crate) fn alone(root: &Path) -> Result<(), String> {
    let manifest = root.join("crates/bourse/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let names = features(&text);
    if names.is_empty() {
        return Err(format!("{} names no feature", manifest.display()));
    }
    for feature in std::iter::once("").chain(names.iter().copied()) {
        let program = ["clippy", "--package", "bourse", "--bins", "--no-default-features", "--features", feature];
        cargo(&[&program[..], &["--", "--deny", "warnings"]].concat())?;
    }
    Ok(())
}

/// Checks and tests the program with no other feature than the engine of `docs/adding-an-engine.md`: proof of that page, and
/// that SQLite needs nothing of another engine.
pub(crate) fn least(lints: &[(&str, &str)]) -> Result<(), String> {
    // --workspace, since a choice of packages would have other features, and compile their dependencies once more.
    let least = ["test", "--workspace", "--no-default-features", "--features", "bourse/example", "--test", "example"];
    cargo_with(&least, lints)
}

/// Names in a manifest's table of features.
fn features(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let table = lines.take_while(|line| !line.starts_with('['));
    table.filter_map(|line| Some(line.split_once('=')?.0.trim())).filter(|name| !NOT_ALONE.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_from_their_table_alone() {
        let manifest =
            "[package]\nname = \"x\"\n\n[features]\ndefault = [\"a\"]\na = []\nb-c = [\"a\"] # why\n\n[lints]\nd = 1\n";
        assert_eq!(features(manifest), ["a", "b-c"]);
    }
}
