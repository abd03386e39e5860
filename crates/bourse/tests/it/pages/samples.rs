//! Outputs that the pages show. `cargo xtask docs` makes those again whose form is no longer the program's, on the machine that
//! it runs on, with the pictures of their pages; otherwise the form is compared.
#![cfg(target_os = "linux")]

use super::{docs, words};
use crate::{bourse, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Pages with samples.
const PAGES: [&str; 2] = ["../README.md", "tutorial.md"];

/// Columns of the terminal that samples are made for.
const COLUMNS: &str = "110";

/// Beginning of the line above a sample; the rest names day and machine.
const MARK: &str = "Sample of ";

/// Beginnings of rows and columns that only long enough rounds have, or wide enough terminals.
const OF_LONG_ROUNDS: [&str; 9] =
    ["response ", "processor time", "ratio ", "p50", "p90", "p99", "max", "CPU/op", "bytes written/op"];

/// Beginnings of lines that every run has.
const LINES: [&str; 6] = ["verdict:", "A:", "B:", "checks:", "again:", "report:"];

/// Pictures, each with the beginning of the sample's command and the file of its page.
const PICTURES: [(&str, &str, &str); 2] = [
    ("compare.png", "bourse compare 'sqlite:delete.db", "comparison.html"),
    ("durability.png", "bourse micro run commit", "report.html"),
];

/// Beginning of the line below a table that names columns without room.
const LEFT_OUT: &str = "with -v and in the report: ";

/// A sample in a page.
struct Sample {
    command: String,
    /// Bytes of the page with the mark's line and the output.
    range: std::ops::Range<usize>,
    shown: String,
}

/// Samples of a page: each a command's block, the line with the mark, and the block with the output.
fn samples(page: &str) -> Vec<Sample> {
    let mark = format!("\n{MARK}");
    let marks = page.match_indices(&mark).map(|(at, _)| at + 1);
    marks
        .map(|at| {
            let command = page[..at].lines().rfind(|line| line.starts_with("bourse ")).expect("a command is above");
            let begin = at + page[at..].find("```text\n").expect("an output is below") + "```text\n".len();
            let end = begin + page[begin..].find("```").expect("the block ends");
            Sample { command: command.to_owned(), range: at..end, shown: page[begin..end].to_owned() }
        })
        .collect()
}

/// Form of an output: the beginnings of its lines, the columns of its table, and the names of its rows; figures, targets and remarks
/// apart.
fn form(shown: &str) -> Vec<String> {
    let cells = |line: &str| line.split("  ").map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let (mut form, mut is_in_table) = (Vec::new(), false);
    for line in shown.lines() {
        let words = line.trim_start();
        // The rest of a filled line is indented by four.
        let is_begun = line.len() - words.len() <= 2;
        let begins = LINES.iter().find(|begin| is_begun && words.starts_with(**begin));
        if line.starts_with("metric ") || line.starts_with("case ") {
            is_in_table = true;
            let heads: Vec<String> = cells(line);
            form.extend(heads.into_iter().map(|head| format!("column {head}")));
        } else if line.is_empty() || begins.is_some() || line.starts_with(LEFT_OUT) {
            is_in_table = false;
        } else if is_in_table {
            let row: Vec<String> = cells(line);
            form.extend(row.into_iter().next().map(|name| format!("row {name}")));
        }
        form.extend(begins.map(|begin| (*begin).to_owned()));
    }
    form
}

/// Whether a sample has the form of today's output of short rounds.
fn is_current(sample: &str, today: &str) -> bool {
    let of_all = |form: &[String]| -> Vec<String> {
        let is_of_all = |part: &&String| {
            let name = part.split_once(' ').map_or("", |(_, name)| name);
            !OF_LONG_ROUNDS.iter().any(|begin| name.starts_with(begin))
        };
        // The fastest case is the first row.
        let mut form: Vec<String> = form.iter().filter(is_of_all).cloned().collect();
        form.sort();
        form
    };
    let (sample, today) = (form(sample), form(today));
    of_all(&sample) == of_all(&today)
        && today.iter().filter(|part| part.starts_with("row ")).all(|row| sample.contains(row))
}

/// Part of an output that a page shows: the README up to its first table, others all; long lines are filled.
fn excerpt(page: &str, printed: &str) -> String {
    let mut lines: Vec<&str> = printed.lines().collect();
    if page.ends_with("README.md") {
        let head = lines.iter().position(|line| line.starts_with("metric ") || line.starts_with("case "));
        let head = head.expect("a table");
        let rows = lines[head..].iter().take_while(|line| {
            !line.is_empty() && !line.starts_with(' ') && !LINES.iter().any(|begin| line.starts_with(begin))
        });
        lines.truncate(head + rows.count());
    }
    let filled = lines.iter().map(|line| match line.split_once(' ') {
        Some((first, _)) if first.starts_with("again") => format!("{line}\n"),
        _ => {
            let indent = line.len() - line.trim_start().len();
            let wide = line.chars().count() > 118;
            if wide {
                " ".repeat(indent) + &bourse_report::fill(line, 116, indent + 2) + "\n"
            } else {
                format!("{line}\n")
            }
        }
    });
    filled.collect()
}

/// The libraries that a sample compares: SQLite's source as this workspace has it, with optimization and without.
fn libraries(folder: &Path, levels: [&str; 2]) {
    // Packages of other platforms need not be there.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut metadata = Command::new(env!("CARGO"));
    metadata
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let metadata = metadata.output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let package = packages.iter().find(|it| it["name"] == "libsqlite3-sys").expect("the engine is built of it");
    let source = Path::new(package["manifest_path"].as_str().expect("a path")).with_file_name("sqlite3/sqlite3.c");
    for (name, level) in ["old", "new"].into_iter().zip(levels) {
        std::fs::create_dir_all(folder.join(name)).expect("there is room for a folder");
        let to = folder.join(name).join("libsqlite3.so");
        let first = folder.join("old/libsqlite3.so");
        if to != first && levels[0] == levels[1] {
            std::fs::copy(first, to).expect("there is room for a folder");
            continue;
        }
        let compiled = Command::new("cc").args([level, "-shared", "-fPIC", "-o"]).args([&to, &source]).status();
        assert!(compiled.expect("a C compiler is needed").success());
    }
}

/// Arguments of a command as the page has it, or with one short round.
fn arguments(command: &str, is_short: bool) -> Vec<String> {
    let mut arguments: Vec<String> = words(command).into_iter().skip(1).collect();
    arguments.extend(is_short.then(|| "--no-wait".to_owned()));
    for (option, value) in [("-T", "200ms"), ("--rounds", "1"), ("--warmup", "0s")].into_iter().filter(|_| is_short) {
        match arguments.iter().position(|it| it == option) {
            Some(at) => arguments[at + 1] = value.to_owned(),
            None => arguments.extend([option, value].map(str::to_owned)),
        }
    }
    arguments
}

/// A folder on a disk: the temporary folder may be in memory, which is another durability class.
fn folder_on_disk() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room for a folder")
}

/// The program as it is released.
fn released() -> PathBuf {
    let build = ["build", "--release", "--package", "bourse", "--locked"];
    assert!(Command::new(env!("CARGO")).args(build).status().expect("cargo runs").success());
    let debug = Path::new(env!("CARGO_BIN_EXE_bourse")).parent().expect("a folder");
    debug.with_file_name("release").join("bourse")
}

/// Runs a command as a reader does: what it printed, the words of its day and machine, and its result folder.
fn made(program: &Path, folder: &Path, command: &str) -> (String, String, PathBuf) {
    let run = |arguments: &[String]| {
        let mut run = Command::new(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
            run.env_remove(name);
        }
        run.arg0("bourse").args(arguments).current_dir(folder).env("NO_COLOR", "1").env("COLUMNS", COLUMNS);
        let ended = run.output().expect("it can be started");
        text(&ended.stdout)
    };
    let printed = run(&arguments(command, false));
    let runs: Value = serde_json::from_str(&run(&["runs", "ls", "--json"].map(str::to_owned))).expect("JSON");
    let last = runs.as_array().and_then(|all| all.last()).expect("a run");
    let field = |name: &str| last[name].as_str().expect("a text");
    let of = format!("{} on {}", &field("started_at")[..10], field("machine"));
    (printed, of, folder.join("bourse-runs").join(field("folder")))
}

/// Draws the top of a page as a picture.
fn draw(page: &Path, picture: &Path) {
    let size = "--window-size=1120,750";
    let quiet = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size];
    let to = format!("--screenshot={}", picture.display());
    let of = format!("file://{}", page.display());
    let drawn = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(|name| {
        Command::new(name).args(quiet).args([&to, &of]).output().ok().filter(|it| it.status.success())
    });
    assert!(drawn.is_some(), "{} needs Chromium", picture.display());
}

#[test]
fn samples_have_the_form_of_the_programs_output() {
    let is_written = std::env::var_os("BOURSE_WRITE_DOCS").is_some();
    let folder = folder_on_disk();
    libraries(folder.path(), ["-O0", "-O0"]);
    let (mut today, mut program) = (BTreeMap::new(), None);
    let mut anew: BTreeMap<String, (String, String)> = BTreeMap::new();
    for name in PAGES {
        let path = docs().join(name);
        let mut page = std::fs::read_to_string(&path).unwrap();
        let all = samples(&page);
        assert!(all.len() >= 3, "{name}: {} samples", all.len());
        // From the end, so that earlier places stay.
        for Sample { command, range, shown } in all.into_iter().rev() {
            let short: &String = today.entry(command.clone()).or_insert_with(|| {
                let arguments = arguments(&command, true);
                let mut run = bourse(folder.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
                let ended =
                    run.env_remove("BOURSE_VERBOSE").env("COLUMNS", COLUMNS).output().expect("it can be started");
                assert!(!ended.stdout.is_empty(), "{command}: {}", text(&ended.stderr));
                text(&ended.stdout)
            });
            if is_current(&shown, &excerpt(name, short)) {
                continue;
            }
            assert!(
                is_written,
                "docs/{name}: the output of `{command}` has another form now; run: cargo xtask docs\n{:?}, shown\n{:?}, today\n{short}",
                form(&shown),
                form(&excerpt(name, short))
            );
            let (printed, of) = anew.entry(command.clone()).or_insert_with(|| {
                let (program, folder) = (program.get_or_insert_with(released), folder_on_disk());
                libraries(folder.path(), ["-O2", "-O0"]);
                let (printed, of, run) = made(program, folder.path(), &command);
                for (picture, _, page) in PICTURES.iter().filter(|(_, of, _)| command.starts_with(of)) {
                    draw(&run.join(page), &docs().join("pictures").join(picture));
                }
                (printed, of)
            });
            let mark = format!("{MARK}{of}, made by `cargo xtask docs`:\n\n```text\n");
            page.replace_range(range, &(mark + &excerpt(name, printed)));
        }
        if is_written {
            std::fs::write(path, page).unwrap();
        }
    }
}

#[test]
fn a_sample_of_an_older_form_is_found() {
    let sample = "verdict: B is faster\n  A: a\n\nmetric  A  B\nupdates/s  1  2\nresponse p50  1  2\n\nagain: bourse\n";
    let short = "verdict: inconclusive\n  A: a\n\nmetric  A  B\nupdates/s  3  4\n\n  note: x\nagain: bourse\n";
    assert!(is_current(sample, short));
    for older in ["metric  A  B  interval", "metric  A"] {
        assert!(!is_current(&sample.replace("metric  A  B", older), short));
    }
    assert!(!is_current(&sample.replace("updates/s  1  2\n", ""), short));
    assert!(!is_current(&sample.replace("again: bourse\n", ""), short));
    assert!(!is_current("", short));
}
