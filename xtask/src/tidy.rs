//! Conventions that no other tool checks: links between documents, reasons of dependencies, forbidden words.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Runs every check and reports all that fails.
pub(crate) fn tidy(root: &Path) -> Result<(), String> {
    let files = tracked(root)?;
    let mut faults = Vec::new();
    dependencies_have_reasons(root, &mut faults);
    dependencies_are_used(root, &files, &mut faults);
    crates_read_their_own_folder(root, &files, &mut faults);
    crate::links::check(root, &files, &mut faults);
    for file in &files {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        if file.extension().is_some_and(|ending| ending == "rs") {
            no_unfinished_work(file, &text, &mut faults);
            doc_comments_name_their_subject(file, &text, &mut faults);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// Files under version control; empty without git, as in a source archive.
fn tracked(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let Ok(output) = output else { return Ok(Vec::new()) };
    let text = String::from_utf8(output.stdout).map_err(|error| format!("git ls-files: {error}"))?;
    Ok(text.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

/// Checks that each external dependency in the root manifest has its reason behind it.
fn dependencies_have_reasons(root: &Path, faults: &mut Vec<String>) {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let dependencies = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.contains('=') && !line.starts_with("bourse-"));
    for line in dependencies.filter(|line| !line.contains(" # ")) {
        faults.push(format!("Cargo.toml: a dependency without its reason: {line}"));
    }
}

/// Checks that each dependency of a manifest occurs in its crate's source, and each of the root manifest in a crate's.
///
/// A name that occurs only in a comment passes: this finds what was forgotten, not what was hidden.
fn dependencies_are_used(root: &Path, files: &[PathBuf], faults: &mut Vec<String>) {
    let mut named = BTreeSet::new();
    for manifest in files.iter().filter(|file| file.file_name().is_some_and(|name| name == "Cargo.toml")) {
        let Some(folder) = manifest.parent().filter(|folder| !folder.as_os_str().is_empty()) else { continue };
        let read = |folder: &Path| -> String {
            let sources = files
                .iter()
                .filter(|file| file.starts_with(folder) && file.extension().is_some_and(|ending| ending == "rs"));
            sources.filter_map(|file| std::fs::read_to_string(root.join(file)).ok()).collect()
        };
        let text = std::fs::read_to_string(root.join(manifest)).unwrap_or_default();
        let mut source = read(folder);
        // Two crates may share a source, by a link.
        let links = files.iter().filter(|file| file.starts_with(folder) && root.join(file).is_symlink());
        let shared = links.filter_map(|link| inside(&link.parent()?.join(root.join(link).read_link().ok()?)));
        source.extend(shared.collect::<Vec<_>>().iter().map(|shared| read(shared)));
        for dependency in dependencies(&text) {
            let word = dependency.replace('-', "_");
            if !source.contains(&word) {
                faults.push(format!("{}: the dependency {dependency} is used by no source file", manifest.display()));
            }
            named.insert(dependency);
        }
    }
    let root_manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    for dependency in dependencies(&root_manifest).filter(|dependency| !named.contains(dependency)) {
        faults.push(format!("Cargo.toml: the dependency {dependency} is used by no crate"));
    }
}

/// Checks that no source of a crate, except its tests, names a file outside the crate's folder: each can be packaged by
/// itself.
///
/// A source that two crates share is a link in one of them, which a package has as a file.
fn crates_read_their_own_folder(root: &Path, files: &[PathBuf], faults: &mut Vec<String>) {
    let manifests = files.iter().filter(|file| file.starts_with("crates") && file.ends_with("Cargo.toml"));
    for folder in manifests.filter_map(|manifest| manifest.parent()) {
        let is_source = |file: &&PathBuf| {
            let inner = file.strip_prefix(folder).unwrap_or(Path::new("tests"));
            let ending = file.extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("rs" | "toml")) && !inner.starts_with("tests")
        };
        for file in files.iter().filter(is_source) {
            let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
            for path in named_files(&text) {
                let whole = file.parent().and_then(|parent| inside(&parent.join(path)));
                if !whole.is_some_and(|whole| whole.starts_with(folder)) {
                    faults.push(format!(
                        "{}: {path} is outside the crate's folder, so it cannot be packaged",
                        file.display()
                    ));
                }
            }
        }
    }
}

/// Files that a source includes, and that a manifest builds.
fn named_files(text: &str) -> impl Iterator<Item = &str> {
    let marks = ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \"", "\npath = \"", "\nbuild = \""];
    marks.into_iter().flat_map(move |mark| text.split(mark).skip(1).filter_map(|rest| rest.split('"').next()))
}

/// A path without its `..`; `None` if it leaves the workspace.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !whole.pop() {
                    return None;
                }
            }
            part => whole.push(part),
        }
    }
    Some(whole)
}

/// Names in the tables of dependencies of a manifest.
fn dependencies(manifest: &str) -> impl Iterator<Item = String> {
    let mut inside = false;
    let names = manifest.lines().filter_map(|line| {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]");
            return None;
        }
        let name =
            line.split(['=', '.', ' ']).next().filter(|name| inside && !name.is_empty() && !line.starts_with('#'))?;
        Some(name.to_owned())
    });
    names.collect::<Vec<_>>().into_iter()
}

fn no_unfinished_work(file: &Path, text: &str, faults: &mut Vec<String>) {
    // Written apart so that this file does not find itself.
    for word in [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ign", "ore")] {
        if text.contains(word) {
            faults.push(format!("{}: {word} is work left undone", file.display()));
        }
    }
}

/// First words of a doc comment that leave its subject without a name: relative words, prepositions and pronouns.
const NAMELESS: &str = "what who whom whose whoever whatever whichever where when nobody somebody how why which \
                        of as with those them it they that ours to by from in on at for";

/// Checks that doc comments name their subject, as `docs/style.md` asks.
fn doc_comments_name_their_subject(file: &Path, text: &str, faults: &mut Vec<String>) {
    let mut before = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
        let begin = mark.filter(|_| mark != before).and_then(|mark| line.strip_prefix(mark));
        if let Some(first) = begin.and_then(nameless) {
            faults.push(format!(
                "{}:{number}: a doc comment begins with '{first}': begin with a noun or a verb that names the subject, \
                 as \"Mean queue delay in nanoseconds.\" (docs/style.md)",
                file.display()
            ));
        }
        before = mark;
    }
}

/// The beginning of a comment that names no subject, if it has one. "In-memory" and other compounds name theirs.
fn nameless(comment: &str) -> Option<&str> {
    let comment = comment.trim_start();
    let first = comment.split_whitespace().next()?.trim_end_matches([',', ':', ';', '.', '…']);
    let same = "the same";
    if NAMELESS.split(' ').any(|word| first.eq_ignore_ascii_case(word)) {
        return Some(first);
    }
    comment.get(..same.len()).filter(|begin| begin.eq_ignore_ascii_case(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_way_back() {
        assert_eq!(inside(Path::new("crates/a/src/../../b/src")), Some(PathBuf::from("crates/b/src")));
        assert_eq!(inside(Path::new("a/../../b")), None);
    }

    #[test]
    fn files_that_a_source_names_are_found() {
        let source =
            "[lib]\npath = \"../a.rs\"\n#[path = \"../b.rs\"]\nmod b;\nconst C: &str = include_str!(\"c/d.txt\");";
        assert_eq!(named_files(source).collect::<Vec<_>>(), ["c/d.txt", "../b.rs", "../a.rs"]);
    }

    #[test]
    fn dependencies_are_read_from_every_table_and_from_no_other() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nserde.workspace = true\n# a = 1\nurl = \"2\"\n\n\
                        [target.'cfg(unix)'.dependencies]\nlibc = { version = \"0.2\" }\n[features]\nfull = []\n";
        assert_eq!(dependencies(manifest).collect::<Vec<_>>(), ["serde", "url", "libc"]);
    }

    #[test]
    fn a_doc_comment_begins_with_a_subject() {
        let lines = |source: &str| {
            let mut faults = Vec::new();
            doc_comments_name_their_subject(Path::new("a.rs"), source, &mut faults);
            let line = |fault: &String| fault.split(':').nth(1)?.parse::<u32>().ok();
            faults.iter().map(|fault| line(fault).expect("a fault names its line")).collect::<Vec<_>>()
        };
        // The first line of a block counts, indented or not, of either kind.
        assert_eq!(
            lines("//! Whose turn it is.\n//! Which is next.\n\n    /// The same, sold.\n    fn sell() {}\n"),
            [1, 4]
        );
        assert_eq!(lines("//! A module.\n/// Of a module.\nmod a;\n/// An item.\n/// Where it is.\nmod b;\n"), [2]);
        // Comments inside functions may begin with any word, and so may compounds.
        assert_eq!(lines("// What it is.\n/// In-memory databases.\n/// Whether it is open.\n"), [0_u32; 0]);
        for word in NAMELESS.split(' ').chain(["The same,", "How:"]) {
            assert_eq!(lines(&format!("/// {word} it is.")), [1], "{word}");
        }
    }
}
