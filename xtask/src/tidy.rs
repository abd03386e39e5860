//! What no other tool checks: links between documents, reasons of dependencies, words that must not be there.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs every check and reports all that fails.
pub(crate) fn tidy(root: &Path) -> Result<(), String> {
    let files = tracked(root)?;
    let mut faults = Vec::new();
    dependencies_have_reasons(root, &mut faults);
    for file in &files {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("md") => links_lead_somewhere(root, file, &text, &mut faults),
            Some("rs") => no_unfinished_work(file, &text, &mut faults),
            _ => {}
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// Files under version control; without git (a source archive) there is nothing to hold against.
fn tracked(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let Ok(output) = output else { return Ok(Vec::new()) };
    let text = String::from_utf8(output.stdout).map_err(|error| format!("git ls-files: {error}"))?;
    Ok(text.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

/// In the root manifest each dependency from outside has its reason behind it.
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

/// Relative links in Markdown name files that exist.
fn links_lead_somewhere(root: &Path, file: &Path, text: &str, faults: &mut Vec<String>) {
    let folder = root.join(file).parent().map(Path::to_owned).unwrap_or_default();
    for piece in text.split("](").skip(1) {
        let target = piece.split(')').next().unwrap_or_default().split('#').next().unwrap_or_default();
        let local = !target.is_empty() && !target.contains("://") && !target.contains(' ');
        if local && !folder.join(target).exists() {
            faults.push(format!("{}: a link to {target}, which is not there", file.display()));
        }
    }
}

fn no_unfinished_work(file: &Path, text: &str, faults: &mut Vec<String>) {
    // Written apart so that this file does not find itself.
    for word in [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ign", "ore")] {
        if text.contains(word) {
            faults.push(format!("{}: {word} is work left undone", file.display()));
        }
    }
}
