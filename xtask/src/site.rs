//! The documentation as a site, by mdBook: `docs` with the pages of the workspace's folder, and the stored results as pages
//! of the program.

use crate::links::links;
use crate::scaling::program;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages of the workspace's folder that are chapters too.
const ABOVE: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Builds the site into `target/site/book`, and checks each of its links. `BOURSE_PROGRAM` names the program that draws the
/// samples; otherwise a release build is made.
pub(crate) fn build(root: &Path) -> Result<(), String> {
    let program = std::env::var("BOURSE_MDBOOK").unwrap_or_else(|_| "mdbook".to_owned());
    let found = Command::new(&program).arg("--version").output();
    let found = found.map_err(|error| {
        format!("{program} could not be started ({error}); install it with `cargo install mdbook`, or name it in BOURSE_MDBOOK")
    })?;
    println!("xtask: {}", String::from_utf8_lossy(&found.stdout).trim());
    let site = root.join("target/site");
    if site.exists() {
        std::fs::remove_dir_all(&site).map_err(|error| format!("{}: {error}", site.display()))?;
    }
    let samples = samples(root, &site.join("src").join(SAMPLES))?;
    copy(&root.join("docs"), &site.join("src"), &samples)?;
    std::fs::rename(site.join("src/book.toml"), site.join("book.toml"))
        .map_err(|error| format!("book.toml: {error}"))?;
    for name in ABOVE {
        page(&root.join(name), &site.join("src").join(name), &samples)?;
    }
    let status = Command::new(&program).arg("build").arg(&site).status().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("{program} build failed"));
    }
    for_programs(&site).map_err(|error| format!("pages for programs: {error}"))?;
    let pages = held(&site.join("book"))?;
    println!("xtask: {pages} pages in {}", site.join("book").display());
    Ok(())
}

/// Adds what programs read: each page as Markdown beside its HTML, and `llms.txt`, which lists them by chapter.
fn for_programs(site: &Path) -> std::io::Result<()> {
    let (pages, book) = (site.join("src"), site.join("book"));
    for entry in std::fs::read_dir(&pages)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            std::fs::copy(&path, book.join(path.file_name().unwrap_or_default()))?;
        }
    }
    let chapters = std::fs::read_to_string(pages.join("SUMMARY.md"))?.replace("\n# ", "\n## ");
    let chapters = chapters.trim_start_matches("# Summary\n");
    std::fs::write(
        book.join("llms.txt"),
        format!(
            "# Bourse\n\n> A benchmark for embedded and in-memory databases. `bourse help --json` prints its commands as \
             data, agents.md says what to run for which question.\n{chapters}"
        ),
    )
}

/// Folder of the sample reports, below the site's pages.
const SAMPLES: &str = "samples";

/// Samples of short runs that are made with the site: name of the page, and command. Minutes, mostly of the settings' race.
const MADE: [(&str, &str); 4] = [
    ("compare", "compare sqlite:a.db sqlite:b.db?journal=truncate --workload update"),
    ("isolation", "isolation sqlite:a.db sqlite:b.db?journal=delete --rounds 1 --for 1s"),
    ("suite", "suite run wordpress --scale 0.1"),
    ("tune", "tune sqlite:a.db --workload point-read --set rows=100k --sweep mmap=256MiB --for 100ms --states 100"),
];

/// Draws a page into `folder` of each file of the newest stored results of a machine and of each run made for it, and returns
/// the names of the pages.
fn samples(root: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let program = program(root, &[])?;
    let run = |arguments: &[&str], within: &Path| {
        println!("xtask: bourse {}", arguments.join(" "));
        std::fs::create_dir_all(within).map_err(|error| format!("{}: {error}", within.display()))?;
        // Pages have the command as a reader types it.
        let mut command = Command::new(&program);
        let status = command.arg0("bourse").args(arguments).current_dir(within).status();
        status.map_err(|error| format!("{}: {error}", program.display()))
    };
    let mut names = Vec::new();
    for file in newest_results(&root.join("results")) {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        let page = format!("{name}.html");
        if !run(&["report", &file.to_string_lossy(), "-o", &page], folder)?.success() {
            return Err(format!("bourse report {} failed", file.display()));
        }
        names.push(name);
    }
    for (name, command) in MADE {
        // Also a verdict that the run leaves open, or a level refuted, is a page.
        let work = root.join("target/site/made").join(name);
        let _ = run(&command.split(' ').collect::<Vec<_>>(), &work)?;
        let mut pages = Vec::new();
        collect(&work, &mut pages);
        // A comparison's page stands before the report of its rounds.
        pages.sort_by_key(|page| page.file_name().map(ToOwned::to_owned));
        let page = pages.first().ok_or_else(|| format!("bourse {command} made no page"))?;
        std::fs::copy(page, folder.join(name).with_extension("html"))
            .map_err(|error| format!("{}: {error}", page.display()))?;
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Files of the last day's first machine: `results/DATE/MACHINE/*`.
fn newest_results(results: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let mut found: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
        found.sort();
        found
    };
    let day = entries(results).into_iter().rfind(|path| path.is_dir());
    let machine = day.and_then(|day| entries(&day).into_iter().next());
    machine.map(|machine| entries(&machine)).unwrap_or_default()
}

/// Copies a folder, with the links of Markdown rewritten.
fn copy(from: &Path, to: &Path, samples: &[String]) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for entry in std::fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target, samples)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            page(&path, &target, samples)?;
        } else {
            std::fs::copy(&path, &target).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

fn page(from: &Path, to: &Path, samples: &[String]) -> Result<(), String> {
    let text = std::fs::read_to_string(from).map_err(|error| format!("{}: {error}", from.display()))?;
    std::fs::write(to, turned(&text, samples)).map_err(|error| format!("{}: {error}", to.display()))
}

/// A page whose links lead within the site. A link to anything else is replaced by its text.
fn turned(text: &str, samples: &[String]) -> String {
    let mut out = text.to_owned();
    let targets: Vec<&str> = links(text).filter(|link| !link.contains("://")).collect();
    for link in targets {
        let (path, anchor) =
            link.split_once('#').map_or((link, String::new()), |(path, rest)| (path, format!("#{rest}")));
        let inner = path.strip_prefix("docs/").or(path.strip_prefix("../").filter(|above| ABOVE.contains(above)));
        // The list of chapters is part of every page.
        let is_page = inner.is_none_or(|inner| inner != "SUMMARY.md");
        if let Some(inner) = inner.filter(|_| is_page) {
            out = out.replace(&format!("]({link})"), &format!("]({inner}{anchor})"));
        } else if !is_page
            || ["../", "crates/", "examples/"].iter().any(|folder| path.starts_with(folder))
            || matches!(path, "fuzz" | "xtask" | "LICENSE-APACHE" | "LICENSE-MIT")
        {
            out = without_link(&out, link);
        }
    }
    // The sample reports are pages of the site alone.
    for name in samples {
        out = out.replace(&format!("`{SAMPLES}/{name}.html`"), &format!("[{name}]({SAMPLES}/{name}.html)"));
    }
    out
}

/// A text in which links to that target are replaced by their text.
fn without_link(text: &str, link: &str) -> String {
    let end = format!("]({link})");
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&end) {
        let (before, after) = (&rest[..at], &rest[at + end.len()..]);
        match before.rfind('[') {
            Some(begin) => {
                out.push_str(&before[..begin]);
                out.push_str(&before[begin + 1..]);
            }
            None => out.push_str(before),
        }
        rest = after;
    }
    out + rest
}

/// Checks each relative link of the pages, and returns their number.
fn held(book: &Path) -> Result<usize, String> {
    let mut pages = Vec::new();
    collect(book, &mut pages);
    let mut faults = Vec::new();
    for path in &pages {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let folder = path.parent().unwrap_or(book);
        for mark in ["href=\"", "src=\""] {
            for rest in text.split(mark).skip(1) {
                let link = rest.split('"').next().unwrap_or_default();
                let plain = link.split(['#', '?']).next().unwrap_or_default();
                let is_elsewhere = plain.is_empty() || link.contains(':') || link.starts_with('/');
                if !is_elsewhere && !folder.join(plain).exists() {
                    faults.push(format!("{}: a link to {link}, which is not there", path.display()));
                }
            }
        }
    }
    if faults.is_empty() { Ok(pages.len()) } else { Err(faults.join("\n  ")) }
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "html") {
            pages.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_each_page_and_a_list() {
        let site = std::env::temp_dir().join(format!("bourse-site-{}", std::process::id()));
        for folder in ["src", "book"] {
            std::fs::create_dir_all(site.join(folder)).unwrap();
        }
        std::fs::write(site.join("src/SUMMARY.md"), "# Summary\n\n[Bourse](README.md)\n\n# Do\n\n- [Tune](tune.md)\n")
            .unwrap();
        std::fs::write(site.join("src/tune.md"), "# Tune\n").unwrap();
        for_programs(&site).unwrap();
        let read = |name: &str| std::fs::read_to_string(site.join("book").join(name)).unwrap();
        let (list, page) = (read("llms.txt"), read("tune.md"));
        std::fs::remove_dir_all(&site).unwrap();
        assert_eq!(page, "# Tune\n");
        assert!(list.starts_with("# Bourse\n\n> A benchmark"), "{list}");
        assert!(list.ends_with("\n\n[Bourse](README.md)\n\n## Do\n\n- [Tune](tune.md)\n"), "{list}");
    }

    #[test]
    fn links_lead_within_the_site() {
        let page = "[a](../README.md#x) [b](docs/c.md) [`d`](../crates/e/src) [f](g.md) [h](https://i) [j](docs/SUMMARY.md) \
             `samples/sweep.html`";
        assert_eq!(
            turned(page, &["sweep".to_owned()]),
            "[a](README.md#x) [b](c.md) `d` [f](g.md) [h](https://i) j [sweep](samples/sweep.html)"
        );
    }
}
