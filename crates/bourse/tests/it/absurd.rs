//! Every option of every command with absurd values: refused with a message or accepted, never a panic or a hang.

use crate::{bourse, output, text};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const ABSURD: [&str; 10] = [
    "",
    "0",
    "-1",
    "1e308",
    "1e-300",
    "nan",
    "100000000000000000000",
    "18446744073709551615",
    "4294967296",
    "a=\u{1b}[31m☃",
];

/// Calls of each command that end soon for any value of a single option: most name a target, or a name, that is refused once
/// all options are read.
const CALLS: [(&str, &[&str]); 30] = [
    ("tpce run", &["lmdb:none"]),
    ("tpce load", &["null:"]),
    ("tpce gen", &["--output=out", "--tables=none"]),
    ("tpce serve", &["null:"]),
    ("tpce check", &["null:"]),
    ("tpce acid", &["null:"]),
    ("tpce verify", &["null:", "null:"]),
    ("tatp run", &["lmdb:none"]),
    ("tatp load", &["null:"]),
    ("tatp check", &["null:"]),
    ("tatp verify", &["lmdb:none", "lmdb:none"]),
    ("micro list", &["none"]),
    ("micro run", &["point-read", "null:", "--rounds=1", "--for=50ms", "--warmup=0s"]),
    ("crash", &["null:"]),
    ("suite list", &[]),
    ("suite show", &["none"]),
    ("suite run", &["sessions", "--only=none"]),
    ("quick", &["--workloads=none"]),
    ("compare", &["lmdb:none", "lmdb:none"]),
    ("faults", &["null:"]),
    ("report", &["nowhere"]),
    ("engines", &["none"]),
    ("watch", &["none"]),
    ("runs ls", &[]),
    ("runs show", &["none"]),
    ("runs diff", &["none", "none"]),
    ("runs rm", &["none"]),
    ("data ls", &["none"]),
    ("data rm", &["none"]),
    ("data adopt", &["sqlite:none.db"]),
];

#[test]
fn no_value_of_any_option_is_a_panic() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let schema = text(&output(folder.path(), &["schema", "options"]).stdout);
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let commands = schema["oneOf"].as_array().expect("one for each command");
    let mut tried = 0;
    for command in commands {
        let name = command["title"].as_str().expect("each has a name");
        let (_, base) = CALLS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no call of {name}"));
        let properties = command["properties"].as_object().expect("each has properties");
        for (option, property) in properties.iter().filter(|(option, _)| *option != "command") {
            let is_positional = property["positional"] == true;
            if property["type"] == "boolean" || is_positional {
                continue;
            }
            let mine = format!("--{option}=");
            let base = base.iter().copied().filter(|word| !word.starts_with(&mine));
            for value in ABSURD {
                let words: Vec<String> = name.split(' ').chain(base.clone()).map(str::to_owned).collect();
                let words = [words, vec![format!("{mine}{value}")]].concat();
                ends_in_words(folder.path(), &words);
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried} values are not all there are");
}

#[test]
fn no_argument_of_any_command_is_a_panic() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (name, _) in CALLS.iter().filter(|(name, _)| *name != "quick") {
        for value in ABSURD.iter().filter(|value| !value.starts_with('-')) {
            let words: Vec<String> = name.split(' ').chain([*value, *value]).map(str::to_owned).collect();
            ends_in_words(folder.path(), &words);
        }
    }
}

/// Runs the program, which must end soon: well, or with an error message.
fn ends_in_words(folder: &Path, words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut child = bourse(folder, &words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().expect("a child can be killed");
            panic!("{words:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let said = text(&child.wait_with_output().expect("a child can be waited for").stderr);
    let size_text = match status.code() {
        Some(0) => true,
        Some(1..=3) => said.contains("error: ") && !said.contains("internal error"),
        _ => false,
    };
    assert!(size_text && !said.contains("panicked") && !said.contains('\u{1b}'), "{words:?}: {status}: {said}");
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (option, value, expected) in [
        ("--rate", "1e300", "a number of Trade-Results a second from 0.001 to 1000000"),
        ("--rate", "1e-300", "a number of Trade-Results a second from 0.001 to 1000000"),
        ("--rate", "nan", "a number of Trade-Results a second from 0.001 to 1000000"),
        ("--customers", "1000000000", "a multiple of 1,000 from 1,000 to 200,000,000"),
        ("--customers", "1000000000000", "a multiple of 1,000 from 1,000 to 200,000,000"),
        ("--load-threads", "1000000", "an integer from 1 to 10,000"),
        ("--users", "1000000", "an integer from 1 to 10,000"),
        ("--for", "1e308", "a length of time such as"),
    ] {
        let ended = output(folder.path(), &["tpce", "run", "null:", option, value]);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        let start = format!("error: invalid value '{value}' for '{option} <");
        assert!(said.starts_with(&start) && said.contains(&format!(">': expected {expected}")), "{said}");
        let (swept, sweep) = (option.trim_start_matches("--"), format!("{}={value}", option.trim_start_matches("--")));
        if ["rate", "customers", "users"].contains(&swept) {
            let ended = output(folder.path(), &["tpce", "run", "null:", "--sweep", &sweep]);
            let said = text(&ended.stderr);
            let start = format!("error: invalid value '{value}' for '--sweep {swept}': expected {expected}");
            assert!(ended.status.code() == Some(1) && said.starts_with(&start), "{said}");
        }
    }
}
