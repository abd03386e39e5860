//! Every option of every command with absurd values: refused with a message or accepted, never a panic or a hang.

use crate::{bourse, output, text};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const ABSURD: [&str; 10] = [
    "", "0", "-1", "1e308", "1e-300", "nan", "100000000000000000000", "18446744073709551615", "4294967296",
    "a=\u{1b}[31m☃",
];

/// Calls of each command that end soon for any value of a single option: most name a target, or a name, that is refused once
/// all options are read.
const CALLS: [(&str, &[&str]); 43] = [
    ("tpce run", &["lmdb:none"]),
    ("tpce load", &["null:"]),
    ("tpce gen", &["--output=out", "--tables=none"]),
    ("tpce serve", &["null:"]),
    ("tpce check", &["null:"]),
    ("tpce acid", &["null:"]),
    ("tpce verify", &["null:", "null:"]),
    ("tatp run", &["lmdb:none"]),
    ("tatp load", &["null:"]),
    ("tatp serve", &["null:"]),
    ("tatp check", &["null:"]),
    ("tatp verify", &["lmdb:none", "lmdb:none"]),
    ("tpcc run", &["lmdb:none"]),
    ("tpcc load", &["null:"]),
    ("tpcc serve", &["null:"]),
    ("tpcc check", &["null:"]),
    ("tpcc acid", &["lmdb:none"]),
    ("tpcc verify", &["lmdb:none", "lmdb:none"]),
    ("micro list", &["none"]),
    ("micro init", &["--from=none.db"]),
    ("micro run", &["point-read", "null:", "--rounds=1", "--for=50ms", "--warmup=0s"]),
    ("crash", &["null:"]),
    ("isolation", &["null:", "--rounds=1", "--for=50ms", "--warmup=0s", "--set=transactions=400"]),
    ("suite list", &[]),
    ("suite show", &["none"]),
    ("suite run", &["sessions", "--only=none"]),
    ("quick", &["--workloads=none"]),
    ("compare", &["lmdb:none", "lmdb:none"]),
    ("tune", &["lmdb:none"]),
    ("versions", &["none"]),
    ("faults", &["null:"]),
    ("report", &["nowhere"]),
    ("record show", &["nowhere"]),
    ("replay", &["nowhere", "null:"]),
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
    let (mut tried, mut declared) = (0, BTreeSet::new());
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
            // What several commands share is declared once: the others of them get three of the values in turn.
            let is_first = declared.insert((option, property.to_string()));
            for value in ABSURD.iter().cycle().skip(tried).take(if is_first { ABSURD.len() } else { 3 }) {
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

/// Runs the program, which must end soon: well, or with an error message. Returns its exit code and its messages.
fn ends_in_words(folder: &Path, words: &[String]) -> (Option<i32>, String) {
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
    (status.code(), said)
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

/// A file without end, or too large for a document, is refused by its kind or its size: reading it took all memory, or
/// waited.
#[test]
#[cfg(unix)]
fn what_cannot_be_a_document_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs::File;
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a test may do so");
    let at = |name: &str| folder.path().join(name);
    File::create(at("large.json")).expect("a test may do so").set_len(10 << 30).expect("a test may do so");
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a test may do so");
    symlink("/dev/zero", at("endless.json")).expect("a test may do so");
    for (name, words) in [
        ("large.json", "it has 10240 MiB, and at most 256 MiB are read"),
        ("pipe", "it is a FIFO (named pipe), not a file"),
        ("endless.json", "it is a character device, not a file"),
        ("/dev/zero", "it is a character device, not a file"),
    ] {
        for more in [&[][..], &["-o", "x.html"], &["--format", "csv", "-o", "tables"]] {
            let arguments: Vec<_> = [&["report", name], more].concat().into_iter().map(str::to_owned).collect();
            let (code, said) = ends_in_words(folder.path(), &arguments);
            assert!(code == Some(1) && said.contains(words), "{arguments:?}: {said}");
        }
    }
}

/// A FIFO was opened, which waits until another process writes into it, and no signal ended that.
#[test]
#[cfg(target_os = "linux")]
fn a_fifo_in_place_of_a_file_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().expect("a test may do so");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("flat_in")).expect("a test may do so");
    std::fs::write(at("mine.sql"), "--! operation one\nSELECT 1;\n").expect("a test may do so");
    for name in ["pipe", "flat_in/AreaCode.txt"] {
        mknodat(CWD, at(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a test may do so");
    }
    for words in [
        "run pipe",
        "micro run sql pipe sqlite:x.db",
        "micro run sql mine.sql sqlite:x.db --from pipe",
        "micro init --from pipe",
        "micro run ycsb -s file=pipe sqlite:x.db",
        "tpce load sqlite:x.db --flat-in flat_in",
        "tpce run bourse://127.0.0.1:1 --token-file pipe",
        "tpce check postgres://127.0.0.1:1/x?password_file=pipe",
        "tpce check mysql://127.0.0.1:1/x?password_file=pipe",
        "micro run point-read redis://127.0.0.1:1/0?password_file=pipe",
        "micro run point-read fastdb:x.fdb?library=./pipe",
        "replay pipe sqlite:x.db",
        "record show pipe",
        "record --attach pipe",
        "isolation --replay pipe",
        "crash --replay pipe#1",
    ] {
        let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        let (code, said) = ends_in_words(folder.path(), &words);
        assert!(code == Some(1) && said.contains("it is a FIFO (named pipe), not a file"), "{words:?}: {said}");
    }
}

/// A shell names what a command writes by a descriptor.
#[test]
#[cfg(target_os = "linux")]
fn a_secret_is_read_from_what_the_process_was_started_with() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let program = bourse(folder.path(), &[]).get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command
        .current_dir(folder.path())
        .args(["-c", r#"echo short | "$0" tpce run bourse://127.0.0.1:1 --token-file /dev/stdin"#]);
    let said = text(&command.arg(program).output().expect("there is a shell").stderr);
    assert!(said.contains("invalid token in /dev/stdin: 5 bytes are too few, 8 are needed"), "{said}");
}

/// Each of these arguments once ended the program with an internal error.
#[test]
#[cfg(target_os = "linux")]
fn arguments_need_not_be_utf8() {
    use bourse_record::Document as _;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a test may do so");
    let odd = OsStr::from_bytes(b"out\xff");
    let ended = |before: &[&str], after: &[&str]| {
        let ended = bourse(folder.path(), before).arg(odd).args(after).output().expect("a test may do so");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!said.contains("internal error") && !said.contains("panicked"), "{before:?}: {said}");
        (ended.status.code(), said)
    };
    let run =
        ["micro", "run", "point-read", "sqlite::memory:", "-s", "rows=100", "--count", "100", "--warmup", "0s", "-o"];
    assert_eq!(ended(&run, &[]).0, Some(0));
    let written = std::fs::read_dir(folder.path().join(odd))
        .expect("a test may do so")
        .next()
        .expect("a test may do so")
        .expect("a test may do so")
        .path();
    let run = bourse_record::RunFile::read(&written.join("run.json")).expect("a test may do so");
    assert!(run.provenance.command.iter().any(|word| word == "$'out\\377'"), "{:?}", run.provenance.command);
    assert_eq!(ended(&["report"], &[]).0, Some(0));
    assert_eq!(ended(&["runs", "ls", "-o"], &[]).0, Some(0));
    for command in [
        &["micro", "run"][..],
        &["micro", "run", "point-read"],
        &["tpce", "load"],
        &["tpce", "run"],
        &["run"],
        &["data", "rm"],
        &["runs", "show"],
        &[],
    ] {
        let (code, said) = ended(command, &[]);
        assert_eq!(code, Some(1), "{command:?}: {said}");
    }
}
