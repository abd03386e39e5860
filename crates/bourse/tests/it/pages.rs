//! Pages of the documentation generated from the program's output. `cargo xtask docs` writes them; otherwise they are
//! compared.

mod samples;

use crate::{bourse, output, text};
use bourse_report::{DataTable, data_tables};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Folder of the documentation.
pub(crate) fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Compares a page with its expected content, or writes it if `BOURSE_WRITE_DOCS` is set.
#[track_caller]
fn hold(name: &str, content: &str) {
    let path = docs().join(name);
    if std::env::var_os("BOURSE_WRITE_DOCS").is_some() {
        std::fs::write(path, content).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == content, "docs/{name} is out of date; run: cargo xtask docs");
}

/// The help of a command, its lines without trailing spaces.
fn help(folder: &Path, command: &[&str]) -> String {
    // The help shows the values of variables.
    let mut help = bourse(folder, &[&["help"], command].concat());
    let helped = help.env_remove("BOURSE_VERBOSE").output().expect("it runs");
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
    let all = std::fs::read_dir(docs()).expect("a folder").map(|it| it.expect("an entry").path());
    all.filter(|path| path.extension().is_some_and(|it| it == "md")).collect()
}

/// Output of `bourse help --json`.
fn data(folder: &Path) -> Value {
    let printed = output(folder, &["help", "--json"]);
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    serde_json::from_slice(&printed.stdout).expect("JSON")
}

#[test]
fn the_help_for_programs_has_commands_that_run_and_codes_with_a_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = data(folder);
    let commands = data["commands"].as_array().expect("a list");
    assert!(commands.len() > 30, "{}", commands.len());
    for command in commands {
        let name = command["command"].as_str().expect("a text");
        let arguments: Vec<&str> = name.split(' ').skip(1).chain(["--help"]).collect();
        let helped = output(folder, &arguments);
        assert!(helped.status.success(), "{name}: {}", text(&helped.stderr));
        let helped = text(&helped.stdout);
        for option in command["options"].as_array().expect("a list") {
            let option = option["name"].as_str().expect("a text");
            assert!(option.starts_with("--") && helped.contains(option), "{name}: {option}");
        }
        for code in command["exit_codes"].as_array().expect("a list") {
            assert!(
                data["exit_codes"].as_array().unwrap().iter().any(|it| it["code"] == code["code"]),
                "{name}: {code}"
            );
        }
    }
    let compare = commands.iter().find(|it| it["command"] == "bourse compare").expect("it compares");
    let four = &compare["exit_codes"].as_array().unwrap()[4];
    assert_eq!(four, &json!({ "code": 4, "meaning": "slower by more than --fail-above" }));
    let two = &compare["exit_codes"].as_array().unwrap()[2];
    assert_eq!(two["meaning"], "a target failed, was lost or is in use");
    let for_option = compare["options"].as_array().unwrap().iter().find(|it| it["name"] == "--until-decided").unwrap();
    assert_eq!(for_option["type"], "boolean");
    assert_eq!(for_option["environment"], "BOURSE_UNTIL_DECIDED");

    for question in data["questions"].as_array().expect("a list") {
        let command = question["command"].as_str().expect("a text");
        tried(folder, &data, command).unwrap_or_else(|why| panic!("`{command}`: {why}"));
    }
    let one = output(folder, &["help", "--json", "micro"]);
    let one: Value = serde_json::from_slice(&one.stdout).expect("JSON");
    assert_eq!(one["commands"].as_array().map(Vec::len), Some(3), "list, run and init");
    let unknown = output(folder, &["help", "--json", "nonsense"]);
    assert_eq!(unknown.status.code(), Some(1));
}

#[test]
fn the_tables_of_questions_and_exit_codes_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(folder.path());
    let rows = |list: &str, row: fn(&Value) -> String| -> String {
        data[list].as_array().expect("a list").iter().map(row).collect()
    };
    let questions = rows("questions", |it| {
        format!("| {} | `{}` |\n", it["question"].as_str().unwrap(), it["command"].as_str().unwrap())
    });
    hold_part("agents.md", &format!("| question | command |\n|---|---|\n{questions}"));
    let codes = rows("exit_codes", |it| format!("| {} | {} |\n", it["code"], it["meaning"].as_str().unwrap()));
    hold_part("runs.md", &format!("| exit code | meaning |\n|---:|---|\n{codes}"));
}

/// Compares the generated part of a page, or writes it.
#[track_caller]
pub(crate) fn hold_part(name: &str, part: &str) {
    const BEGIN: &str = "<!-- made by `cargo xtask docs`; do not edit -->\n\n";
    const END: &str = "\n<!-- end of what was made -->";
    let page = std::fs::read_to_string(docs().join(name)).expect("a page");
    let (before, rest) = page.split_once(BEGIN).expect("the part begins with its mark");
    let (_, after) = rest.split_once(END).expect("the part ends with its mark");
    hold(name, &format!("{before}{BEGIN}{part}{END}{after}"));
}

/// Every command in the code blocks of the pages is tried. The command's own options decide: with `--dry-run` it measures or
/// loads, and is planned; without, it ends within a second, and is run in a folder with a stored run and the example files. Those
/// of [`ENDLESS`] wait for other programs or run them, and are parsed.
#[test]
fn commands_in_the_pages_are_commands_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = data(folder);
    copy_examples(folder);
    let mut shown = BTreeSet::new();
    for path in pages().into_iter().chain([docs().join("../README.md")]).filter(|path| !path.ends_with("commands.md")) {
        let page = std::fs::read_to_string(&path).unwrap();
        shown.extend(shown_commands(&page).into_iter().map(|line| (line, path.clone())));
    }
    assert!(shown.len() > 150, "{}", shown.len());
    let shown: Vec<_> = shown.into_iter().collect();
    std::thread::scope(|scope| {
        for part in shown.chunks(shown.len().div_ceil(4)) {
            let data = &data;
            scope.spawn(move || {
                for (line, path) in part {
                    tried(folder, data, line).unwrap_or_else(|why| panic!("{}: `{line}`: {why}", path.display()));
                }
            });
        }
    });
}

/// Lines of code blocks with a command of the program; a line that ends with a backslash goes on in the next.
fn shown_commands(page: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in page.replace("\\\n", " ").lines().map(str::trim) {
        is_inside ^= line.starts_with("```");
        let line = line.trim_start_matches("$ ");
        if is_inside && line.starts_with("bourse ") {
            found.push(line.to_owned());
        }
    }
    found
}

/// Words of the first command of a line, as a shell splits them, up to a comment. What a shell would insert is a placeholder.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        let last = words.last_mut().expect("one at least");
        match (sign, quote) {
            ('$', None | Some('"')) if signs.peek() == Some(&'(') => {
                last.push_str("INSERTED");
                let _ = signs.by_ref().find(|it| *it == ')');
            }
            ('\'' | '"', None) => quote = Some(sign),
            (sign, Some(begun)) if sign == begun => quote = None,
            (' ', None) => words.push(String::new()),
            ('#', None) if last.is_empty() => break,
            (';' | '|' | '>' | '&', None) => break,
            (sign, _) => last.push(sign),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Commands that wait for other programs, or run them.
const ENDLESS: [&str; 5] =
    ["bourse tpce serve", "bourse tatp serve", "bourse tpcc serve", "bourse watch", "bourse record"];

/// Copies the example files that pages name.
fn copy_examples(folder: &Path) {
    for name in ["shop.toml", "shop.sql"] {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        std::fs::copy(example, folder.join(name)).expect("a readable folder");
    }
}

/// A folder of its own for a command that is run, with the example files and the stored run that pages name.
fn readers_folder() -> TempDir {
    const NAMED: &str = "bourse-runs/20261121-101500-tpce";
    static STORED: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let stored = STORED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a readable folder");
        let arguments = ["micro", "run", "point-read", "sqlite::memory:", "--count", "100", "-s", "rows=100"];
        let ended =
            output(folder.path(), &[&arguments[..], &["--rounds", "1", "--warmup", "0s", "--no-wait"]].concat());
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let run = std::fs::read_dir(folder.path().join("bourse-runs"))
            .expect("a readable folder")
            .next()
            .expect("a readable folder")
            .expect("a readable folder")
            .path();
        let files = std::fs::read_dir(run).expect("a readable folder").map(|it| it.expect("a readable folder"));
        files
            .map(|it| {
                (
                    it.file_name().into_string().expect("a readable folder"),
                    std::fs::read(it.path()).expect("a readable folder"),
                )
            })
            .collect()
    });
    let folder = tempfile::tempdir().expect("a readable folder");
    copy_examples(folder.path());
    std::fs::create_dir_all(folder.path().join(NAMED)).expect("a readable folder");
    stored.iter().for_each(|(name, bytes)| {
        std::fs::write(folder.path().join(NAMED).join(name), bytes).expect("a readable folder")
    });
    folder
}

/// Tries a command by the rule of [`commands_in_the_pages_are_commands_of_the_program`]. It passes if only a file is missing that
/// a reader would have, or a part of the program that is left out of this build: its words are understood by then.
fn tried(folder: &Path, data: &Value, line: &str) -> Result<(), String> {
    let mut words = words(line);
    let of_words = |command: &&Value| line_begins(&words, command["command"].as_str().expect("a text"));
    let command = data["commands"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(of_words)
        .max_by_key(|it| it["command"].as_str().map(str::len));
    let mut own = None;
    if let Some(command) = command {
        let has_plan = command["options"].as_array().expect("a list").iter().any(|it| it["name"] == "--dry-run");
        let option = match ENDLESS.contains(&command["command"].as_str().expect("a text")) {
            _ if has_plan => Some("--dry-run"),
            true => Some("--help"),
            false => None,
        };
        own = option.is_none().then(readers_folder);
        if let Some(option) = option.filter(|option| !words.iter().any(|word| word == option)) {
            let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
            words.insert(end, option.to_owned());
        }
    } else if words.get(1).map(String::as_str) != Some("help") {
        return Err("unknown command".to_owned());
    }
    let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let ended = output(own.as_ref().map_or(folder, TempDir::path), &arguments);
    let said = text(&ended.stderr);
    let lacks = [
        "No such file",
        "there is no such file",
        "there is no file or folder",
        "this build",
        "no counter of",
        "there is no git",
    ];
    // The error with its cause, below what was said before it.
    let error: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("error: ")).take(3).collect();
    if ended.status.success() || lacks.iter().any(|it| error.iter().any(|line| line.contains(it))) {
        Ok(())
    } else {
        Err(said)
    }
}

/// Whether words begin with those of a command.
fn line_begins(words: &[String], command: &str) -> bool {
    command.split(' ').eq(words.iter().map(String::as_str).take(command.split(' ').count()))
}
