//! Pages of the documentation generated from the program's output. `cargo xtask docs` writes them; otherwise they are
//! compared.

use crate::{output, text};
use bourse_report::{DataTable, data_tables};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compares a page with its expected content, or writes it if `BOURSE_WRITE_DOCS` is set.
#[track_caller]
fn hold(name: &str, content: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("BOURSE_WRITE_DOCS").is_some() {
        std::fs::write(path, content).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == content, "docs/{name} is out of date; run: cargo xtask docs");
}

/// The help of a command, its lines without trailing spaces.
fn help(folder: &Path, command: &[&str]) -> String {
    let helped = output(folder, &[&["help"], command].concat());
    assert!(helped.status.success(), "{command:?}: {}", text(&helped.stderr));
    let lines: Vec<String> = text(&helped.stdout).lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default().lines().take_while(|line| !line.is_empty());
    let name = |line: &str| {
        line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?.split(' ').next().map(str::to_owned)
    };
    listed.filter_map(name).filter(|name| name != "help").collect()
}

/// A section for a command, and for each below it.
fn section(page: &mut String, folder: &Path, command: &[&str]) {
    let help = help(folder, command);
    let depth = "#".repeat(command.len() + 1);
    let name = std::iter::once("bourse").chain(command.iter().copied()).collect::<Vec<_>>().join(" ");
    write!(page, "\n{depth} {name}\n\n```text\n{help}\n```\n").expect("a text takes all");
    for below in commands(&help) {
        section(page, folder, &[command, &[below.as_str()]].concat());
    }
}

#[test]
fn the_command_reference_is_what_the_program_says() {
    // These have other texts in builds with more or fewer engines.
    if cfg!(any(feature = "duckdb", feature = "planted-bug")) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut page = String::from(
        "# Commands\n\nWritten by `cargo xtask docs` from the program's own help; do not edit. `bourse help COMMAND` prints the same.\n",
    );
    let all = help(folder.path(), &[]);
    let names = commands(&all);
    assert!(names.len() > 10 && names.contains(&"tpce".to_owned()), "{names:?}");
    write!(page, "\n```text\n{all}\n```\n").expect("a text takes all");
    for name in &names {
        section(&mut page, folder.path(), &[name]);
    }
    hold("commands.md", &page);
}

#[test]
fn the_list_of_tables_is_what_the_export_declares() {
    let mut page = String::from(
        "# Tables and their columns\n\nWritten by `cargo xtask docs` from their declaration; do not edit. \
         [How to write and read them](data.md).\n",
    );
    for table in data_tables(&[]) {
        let DataTable { name, meaning, columns, .. } = table;
        write!(page, "\n## {name}\n\n{meaning}\n\n| column | kind | |\n|---|---|---|\n").expect("a text takes all");
        for column in columns {
            let meaning = column.meaning.replace('|', "\\|");
            writeln!(page, "| `{}` | {} | {meaning} |", column.name, column.kind.name()).expect("a text takes all");
        }
    }
    hold("data-tables.md", &page);
}

#[test]
fn the_page_of_the_gate_is_what_the_function_says() {
    hold("gate.md", &crate::gate::page());
}

/// The pages of `docs`, the parts of the book.
fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let all = std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    all.filter(|path| path.extension().is_some_and(|it| it == "md")).collect()
}

/// Every command in a page is one that the program knows, with options that it knows.
#[test]
fn commands_in_the_pages_are_commands_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut seen = 0;
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    for path in pages().into_iter().chain([readme]).filter(|path| !path.ends_with("commands.md")) {
        let page = std::fs::read_to_string(&path).unwrap();
        for line in shown_commands(&page) {
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let known = known(folder, &words);
            assert!(known.is_ok(), "{}: `{line}`: {}", path.display(), known.unwrap_err());
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

/// Lines of code blocks with a command of the program, up to a comment sign or a pipe.
fn shown_commands(page: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_inside = !is_inside;
            continue;
        }
        let line = line.trim_start_matches("$ ");
        if is_inside && line.starts_with("bourse ") {
            let command = line.split(" #").next().unwrap_or(line).split([';', '|', '>']).next().unwrap_or(line);
            found.push(command.trim().to_owned());
        }
    }
    found
}

/// Checks that the first words are a command, and the options are options of it.
fn known(folder: &Path, words: &[&str]) -> Result<(), String> {
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex};
    static HELPS: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

    let mut command: Vec<&str> = Vec::new();
    let mut text = of(&HELPS, folder, &command);
    for word in words {
        if commands(&text).iter().any(|name| name == word) {
            command.push(word);
            text = of(&HELPS, folder, &command);
        } else {
            break;
        }
    }
    // `record` is a command of its own, and has others below.
    let is_whole = commands(&text).is_empty() || text.contains("\nArguments:") || words.first() == Some(&"help");
    if command.is_empty() && words.first() != Some(&"help") || !is_whole {
        return Err("unknown command".to_owned());
    }
    return words.iter().filter(|word| word.starts_with("--") && word.len() > 2).try_for_each(|word| {
        let name = word.split('=').next().unwrap_or(word);
        let is_known = text.split_whitespace().any(|it| it.split(['[', ',', '.']).next() == Some(name));
        if is_known { Ok(()) } else { Err(format!("unknown option {name}")) }
    });

    fn of(helps: &Mutex<HashMap<String, String>>, folder: &Path, command: &[&str]) -> String {
        let mut helps = helps.lock().expect("no test holds it when it fails");
        helps.entry(command.join(" ")).or_insert_with(|| help(folder, command)).clone()
    }
}
