//! Links of the documentation: each must lead to an existing file and heading.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Checks every relative link of these Markdown files.
pub(crate) fn check(root: &Path, files: &[PathBuf], faults: &mut Vec<String>) {
    let mut anchors = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")) {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        for link in links(&text) {
            if let Some(fault) = fault(root, file, link, &mut anchors) {
                faults.push(format!("{}: {fault}", file.display()));
            }
        }
    }
    in_the_book(root, files, faults);
}

/// Fault of a link; `None` if it is right.
fn fault(root: &Path, file: &Path, link: &str, known: &mut BTreeMap<PathBuf, BTreeSet<String>>) -> Option<String> {
    if link.is_empty() || link.contains("://") || link.contains(' ') {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let folder = root.join(file).parent().map(Path::to_owned).unwrap_or_default();
    let target = if path.is_empty() { root.join(file) } else { folder.join(path) };
    if !target.exists() {
        return Some(format!("a link to {link}, which is not there"));
    }
    let anchor = anchor.filter(|_| target.extension().is_some_and(|ending| ending == "md"))?;
    let anchors =
        known.entry(target.clone()).or_insert_with(|| anchors(&std::fs::read_to_string(&target).unwrap_or_default()));
    (!anchors.contains(anchor)).then(|| format!("a link to {link}: there is no such heading"))
}

/// Every page of `docs` is a chapter of the book, once.
fn in_the_book(root: &Path, files: &[PathBuf], faults: &mut Vec<String>) {
    let Ok(summary) = std::fs::read_to_string(root.join("docs/SUMMARY.md")) else {
        faults.push("docs/SUMMARY.md: is not there".to_owned());
        return;
    };
    let chapters: Vec<&str> = links(&summary).collect();
    let pages = files.iter().filter_map(|file| file.strip_prefix("docs").ok()?.to_str());
    for page in pages.filter(|page| page.ends_with(".md") && *page != "SUMMARY.md") {
        let times = chapters.iter().filter(|chapter| **chapter == page).count();
        if times != 1 {
            faults.push(format!("docs/SUMMARY.md: has {page} {times} times, expected once"));
        }
    }
}

/// Targets of the links and pictures of a text, outside code.
pub(crate) fn links(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| {
        // Every second piece is code.
        let outside = line.split('`').step_by(2);
        outside.flat_map(|piece| piece.split("](").skip(1).filter_map(|rest| rest.split(')').next()))
    })
}

/// Lines outside blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    })
}

/// Names of a page's headings, as sites derive them: lower case, words joined by hyphens, without other signs; repeated ones
/// are numbered.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let names = headings.map(|heading| {
        let name: String = heading
            .chars()
            .filter_map(|sign| match sign {
                ' ' => Some('-'),
                '-' | '_' => Some(sign),
                sign => sign.is_alphanumeric().then_some(sign),
            })
            .flat_map(char::to_lowercase)
            .collect();
        let before = times.entry(name.clone()).or_default();
        *before += 1;
        if *before == 1 { name } else { format!("{name}-{}", *before - 1) }
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stand_in_prose_alone() {
        let text = "[a](b.md#c) and ![d](e.png), `[f](g)`\n```\n[h](i)\n```\n[j](#k) [l](https://m)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["b.md#c", "e.png", "#k", "https://m"]);
    }

    #[test]
    fn headings_are_named_as_sites_name_them() {
        let names =
            anchors("# The run: `run.json`\n## A\n```\n# no\n```\n## A\n### Any library with SQLite's C interface\n");
        let expected = ["a", "a-1", "any-library-with-sqlites-c-interface", "the-run-runjson"];
        assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_link_to_nothing_is_a_fault() {
        let folder = std::env::temp_dir().join(format!("bourse-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.md"), "# Head\n").unwrap();
        let found = ["a.md", "a.md#head", "#here", "b.md", "a.md#tail", "https://x/y"]
            .map(|link| fault(&folder, Path::new("a.md"), link, &mut BTreeMap::new()).is_some());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [false, false, true, true, true, false]);
    }
}
