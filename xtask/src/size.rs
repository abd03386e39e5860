//! Limits of the program with its default features: the bytes of the release binary, the number of dependencies.
//!
//! Not part of `cargo xtask ci`, since it needs a release build, which takes minutes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The most bytes that the release binary may have: 25 MB.
const MOST_BYTES: u64 = 25_000_000;
/// Most packages, without Bourse's own, that the program may be linked with or built by.
const MOST_DEPENDENCIES: usize = 170;

/// Builds the program, which is quick if nothing has changed, and checks its limits.
pub(crate) fn size(root: &Path) -> Result<(), String> {
    let built =
        cargo(root, &["build", "--release", "--package", "bourse", "--message-format", "json-render-diagnostics"])?;
    let program = program_of(&built).ok_or("cargo does not say where the program is")?;
    let bytes = std::fs::metadata(&program).map_err(|error| format!("{program}: {error}"))?.len();
    let tree =
        cargo(root, &["tree", "--package", "bourse", "--edges", "normal,build", "--prefix", "none", "--locked"])?;
    let dependencies = dependencies_of(&tree);
    println!("xtask: {program}: {bytes} bytes, at most {MOST_BYTES}");
    println!("xtask: {} dependencies, at most {MOST_DEPENDENCIES}", dependencies.len());
    let mut faults = Vec::new();
    if bytes > MOST_BYTES {
        faults.push(format!("the program has {bytes} bytes, {} too many", bytes - MOST_BYTES));
    }
    if dependencies.len() > MOST_DEPENDENCIES {
        faults.push(format!("the program has {} dependencies, not at most {MOST_DEPENDENCIES}", dependencies.len()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// Standard output of a cargo command.
fn cargo(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {} failed", arguments.join(" ")));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The path of the program in cargo's messages.
fn program_of(messages: &str) -> Option<String> {
    let mut programs = messages.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    programs.next_back().map(str::to_owned)
}

/// Packages of a tree of dependencies by name and version, without Bourse's own.
fn dependencies_of(tree: &str) -> BTreeSet<String> {
    let package = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    let all = tree.lines().filter_map(package).filter(|(name, _)| !name.starts_with("bourse"));
    all.map(|(name, version)| format!("{name} {version}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_counted_once_and_ours_are_not() {
        let tree = "bourse v0.1.0 (/x)\nserde v1.0.1\n  \nserde v1.0.1 (*)\nserde v2.0.0\nbourse-egen v0.1.0 (/x)\n";
        assert_eq!(dependencies_of(tree).into_iter().collect::<Vec<_>>(), ["serde v1.0.1", "serde v2.0.0"]);
    }

    #[test]
    fn the_program_is_named_by_cargo() {
        let messages =
            "{\"executable\":null}\n{\"reason\":\"x\",\"executable\":\"/t/release/bourse\",\"fresh\":true}\n";
        assert_eq!(program_of(messages).as_deref(), Some("/t/release/bourse"));
    }
}
