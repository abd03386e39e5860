//! Sizes that no change may let grow unseen: lines of production code, crates, packages that the program is linked with, and
//! the bytes of the release binary.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Upper bound of lines of production code: neither blank nor comments, tests and benchmarks excepted.
const MOST_LINES: usize = 129_821;
/// Upper bound of the workspace's crates below `crates/`. Of the last four, `bourse-isolation` checks histories and knows
/// neither what records nor what shows them, `bourse-trace` is the format between what records a program and what replays it,
/// `bourse-preload` builds every library that is loaded into other programs, and `bourse-engine-redis` is an engine with a protocol
/// of its own.
const MOST_CRATES: usize = 38;
/// Upper bound of packages, Bourse's own excepted, that the program is linked with or built by.
const MOST_DEPENDENCIES: usize = 185;
/// Upper bound of the release binary in bytes.
const MOST_BYTES: u64 = 33_500_000;

/// Compares the sources with their limits.
pub(crate) fn sources(root: &Path) -> Result<(), String> {
    let crates = root.join("crates");
    let listed = std::fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let crates: Vec<_> = listed.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let lines = crates.iter().map(|path| lines_below(&path.join("src"))).sum::<usize>()
        + ["fuzz/src", "xtask/src"].iter().map(|path| lines_below(&root.join(path))).sum::<usize>();
    let tree = ["tree", "--package", "bourse", "--edges", "normal,build", "--prefix", "none", "--locked"];
    let dependencies = dependencies_of(&cargo(root, &tree)?).len();
    within(&[
        ("lines of production code", lines as u64, MOST_LINES as u64),
        ("crates", crates.len() as u64, MOST_CRATES as u64),
        ("dependencies", dependencies as u64, MOST_DEPENDENCIES as u64),
    ])
}

/// Compares the sources and the release binary, which is built first, with their limits.
pub(crate) fn size(root: &Path) -> Result<(), String> {
    sources(root)?;
    let built =
        cargo(root, &["build", "--release", "--package", "bourse", "--message-format", "json-render-diagnostics"])?;
    let program = program_of(&built).ok_or("cargo does not say where the program is")?;
    let bytes = std::fs::metadata(&program).map_err(|error| format!("{program}: {error}"))?.len();
    within(&[("bytes of the program", bytes, MOST_BYTES)])
}

/// Prints each size next to its limit; an error names those beyond.
fn within(sizes: &[(&str, u64, u64)]) -> Result<(), String> {
    sizes.iter().for_each(|(what, size, most)| println!("xtask: {size} {what}, at most {most}"));
    let beyond: Vec<_> = sizes
        .iter()
        .filter(|(_, size, most)| size > most)
        .map(|(what, size, most)| format!("{size} {what}, {} too many", size - most))
        .collect();
    if beyond.is_empty() { Ok(()) } else { Err(beyond.join("\n  ")) }
}

/// Lines of production code in the Rust files of a folder and its folders. Sources that another crate shares by a link are
/// counted there.
fn lines_below(path: &Path) -> usize {
    if path.is_symlink() {
        return 0;
    }
    if path.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        return entries.map(|entry| lines_below(&entry.path())).sum();
    }
    match path.extension().is_some_and(|ending| ending == "rs") {
        true => std::fs::read_to_string(path).map_or(0, |text| lines_of(&text)),
        false => 0,
    }
}

/// Lines of a file that are code, up to its tests, which may be the whole file.
fn lines_of(text: &str) -> usize {
    let lines =
        text.lines().map(str::trim).take_while(|line| !line.ends_with("mod tests {") && *line != "#![cfg(test)]");
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
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
    fn lines_of_code_are_neither_blank_nor_comments_nor_tests() {
        for tests in ["mod tests {", "pub(crate) mod tests {", "#![cfg(test)]"] {
            assert_eq!(lines_of(&format!("//! A\n\nfn a() {{}} // b\n    /// c\n    x\n{tests}\n    y\n}}\n")), 2);
        }
        assert!(within(&[("lines", 2, 2)]).is_ok());
        assert_eq!(within(&[("lines", 2, 2), ("crates", 5, 3)]).unwrap_err(), "5 crates, 2 too many");
    }

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
