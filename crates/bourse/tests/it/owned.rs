//! Files that commands write and remove: only those that carry Bourse's mark, whatever else occupies a path.
#![cfg(unix)]

use crate::{bourse, load, output, text};
use bourse_record::Document as _;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Makes a short run of point reads in a folder of its own below `bourse-runs`; returns that folder.
fn read_some(folder: &Path) -> String {
    let words = ["micro", "run", "point-read", "sqlite::memory:", "-s", "rows=100", "--count", "100", "--warmup", "0s"];
    let ran = output(folder, &words);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let run = fs::read_dir(folder.join("bourse-runs"))
        .expect("a test may do so")
        .next()
        .expect("a test may do so")
        .expect("a test may do so")
        .file_name();
    format!("bourse-runs/{}", run.into_string().expect("a test may do so"))
}

/// Inode, owner, permissions and bytes of the file at a path, or of every file below a folder.
fn state(path: &Path) -> Vec<(String, u64, u32, u32, Vec<u8>)> {
    let Ok(found) = fs::symlink_metadata(path) else { return Vec::new() };
    let bytes = match found.file_type() {
        kind if kind.is_file() => fs::read(path).expect("a test may do so"),
        kind if kind.is_symlink() => {
            fs::read_link(path).expect("a test may do so").into_os_string().into_encoded_bytes()
        }
        _ => Vec::new(),
    };
    let name = path.display().to_string();
    let mut all = vec![(name, found.ino(), found.uid(), found.mode(), bytes)];
    if found.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)
            .expect("a test may do so")
            .map(|entry| entry.expect("a test may do so").path())
            .collect();
        entries.sort();
        all.extend(entries.iter().flat_map(|entry| state(entry)));
    }
    all
}

/// Kinds of files at a path that a command wants to write.
const KINDS: [&str; 8] =
    ["foreign", "folder", "link", "dangling", "pipe", "marked and read-only", "marked by another user", "hard link"];

/// Puts something of that kind at a path; `marked` is a file of Bourse's for this place. `false` if it cannot be made.
fn put(kind: &str, path: &Path, marked: &[u8]) -> bool {
    let other = path.with_file_name("other");
    match kind {
        "foreign" => fs::write(path, "thesis").expect("a test may do so"),
        "folder" => fs::create_dir(path).expect("a test may do so"),
        "link" => {
            fs::write(&other, marked).expect("a test may do so");
            symlink("other", path).expect("a test may do so");
        }
        "dangling" => symlink("nowhere", path).expect("a test may do so"),
        "pipe" => {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a test may do so");
        }
        "marked and read-only" => {
            fs::write(path, marked).expect("a test may do so");
            fs::set_permissions(path, fs::Permissions::from_mode(0o444)).expect("a test may do so");
        }
        "marked by another user" => {
            fs::write(path, marked).expect("a test may do so");
            // Only root can give a file away.
            return std::os::unix::fs::chown(path, Some(65_534), None).is_ok();
        }
        "hard link" => {
            fs::write(&other, "thesis").expect("a test may do so");
            fs::hard_link(&other, path).expect("a test may do so");
        }
        kind => unreachable!("{kind} is no kind"),
    }
    true
}

/// A command that writes a file at a given path: its arguments, the file, and a neighbour that carries its mark if it has
/// one.
struct Writes {
    words: Vec<String>,
    file: &'static str,
    lists: bool,
}

fn writes(run: &str) -> Vec<Writes> {
    let of = |words: &str, file, lists| Writes {
        words: words.split(' ').map(|word| if word == "RUN" { run } else { word }.to_owned()).collect(),
        file,
        lists,
    };
    vec![
        of("report RUN -o DIR/page.html", "page.html", false),
        of("report RUN -o DIR/page.md", "page.md", false),
        of("report RUN -o DIR/page.csv", "page.csv", false),
        of("report bourse-runs -o DIR/index.html", "index.html", false),
        of("engines sqlite -o DIR/engines.html", "engines.html", false),
        of("report RUN --format csv -o DIR", "cases.csv", true),
        of("report RUN --format ndjson -o DIR", "rounds.ndjson", true),
        of("report RUN --format bencher -o DIR", "bencher.json", true),
        of("tpce gen -w 1 --tables sector,exchange -o DIR", "Sector.txt", true),
        of("tpce gen -w 1 --tables sector,exchange --format csv -o DIR", "Exchange.csv", true),
        of("man DIR", "bourse-runs.1", true),
    ]
}

#[test]
fn only_files_with_a_mark_are_replaced() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let run = read_some(folder);
    for (number, Writes { words, file, lists }) in writes(&run).into_iter().enumerate() {
        let made = folder.join(format!("made-{number}"));
        let ended = |directory: &Path, more: &[&str]| {
            let directory = directory.display().to_string();
            let words: Vec<String> = words.iter().map(|word| word.replace("DIR", &directory)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
            let ended = output(folder, &words);
            (ended.status.code(), text(&ended.stderr), words.join(" "))
        };
        // A missing file is made, and Bourse's own is replaced, except CSV, which has no mark.
        fs::create_dir(&made).expect("a test may do so");
        for time in 1..=2 {
            let (code, said, words) = ended(&made, &[]);
            let is_refused = time == 2 && file == "page.csv";
            assert_eq!(code, Some(i32::from(is_refused)), "{words}: {said}");
        }
        let marked = fs::read(made.join(file)).expect("a test may do so");
        for kind in KINDS {
            let place = folder.join(format!("place-{number}-{}", kind.replace(' ', "-")));
            fs::create_dir(&place).expect("a test may do so");
            if lists && !matches!(kind, "foreign" | "hard link") {
                // The list of what Bourse made names the file: only its kind, its owner or its permissions keep it.
                fs::copy(made.join(".bourse-files"), place.join(".bourse-files")).expect("a test may do so");
            }
            if !put(kind, &place.join(file), &marked) {
                continue;
            }
            let before = state(&place);
            let (code, said, words) = ended(&place, &[]);
            assert_eq!(code, Some(1), "{kind}: {words}: {said}");
            assert!(said.contains(file) && said.contains("it is left as it is"), "{kind}: {words}: {said}");
            assert!(state(&place) == before, "{kind}: {words} changed something: {said}");
            // --overwrite replaces any regular file; another name of the file retains its bytes.
            let (code, said, words) = ended(&place, &["--overwrite"]);
            let is_file = !matches!(kind, "folder" | "link" | "dangling" | "pipe");
            assert_eq!(code, Some(i32::from(!is_file)), "{kind}: {words}: {said}");
            if kind == "hard link" {
                assert_eq!(fs::read(place.join("other")).expect("a test may do so"), b"thesis");
            }
            if !is_file {
                assert!(state(&place) == before, "{kind}: {words} changed something: {said}");
            }
        }
    }
}

/// Generating files once removed a user's files whose names looked like those of its unfinished ones.
#[test]
fn a_generation_leaves_what_lies_in_its_folder() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    fs::create_dir(folder.join("out")).expect("a test may do so");
    for name in ["Trade.txt.partial", "Trade.my-partial-notes", "Sector.txt.partial.3"] {
        fs::write(folder.join("out").join(name), "mine").expect("a test may do so");
    }
    let before = state(&folder.join("out"));
    let generated = output(folder, &["tpce", "gen", "-w", "1", "--tables", "sector,trade_type", "-o", "out"]);
    assert!(generated.status.success(), "{}", text(&generated.stderr));
    let after = state(&folder.join("out"));
    assert!(before.iter().skip(1).all(|file| after.contains(file)));
    assert_eq!(after.len(), before.len() + 3, "two tables and the list: {after:?}");
}

#[test]
fn only_results_of_runs_are_removed() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let run = read_some(folder);
    let results = folder.join("bourse-runs");
    let copy = |name: &str| {
        fs::create_dir(results.join(name)).expect("a test may do so");
        for file in ["run.json", "report.html"] {
            fs::copy(folder.join(&run).join(file), results.join(name).join(file)).expect("a test may do so");
        }
    };
    symlink(folder.join(&run), results.join("link")).expect("a test may do so");
    fs::create_dir(results.join("of-others")).expect("a test may do so");
    fs::write(results.join("of-others/run.json"), "{\"laps\": 12}").expect("a test may do so");
    copy("page");
    fs::write(results.join("page/report.html"), "<p>thesis</p>").expect("a test may do so");
    copy("linked");
    fs::remove_file(results.join("linked/report.html")).expect("a test may do so");
    symlink("run.json", results.join("linked/report.html")).expect("a test may do so");
    copy("more");
    fs::write(results.join("more/notes.txt"), "mine").expect("a test may do so");
    let before = state(&results);
    for (name, words) in [
        ("link", "it is a link"),
        ("of-others", "JSON but not a run file"),
        ("page", "report.html is no page of Bourse"),
        ("linked", "report.html is no file of a run's results"),
        ("more", "notes.txt is no file of a run's results"),
    ] {
        let refused = output(folder, &["runs", "rm", name]);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains(words) && said.contains("it is left as it is"), "{name}: {said}");
        assert!(state(&results) == before, "{name}: {said}");
    }
    // Another name of a file retains its bytes.
    let kept = folder.join("kept.json");
    fs::hard_link(folder.join(&run).join("run.json"), &kept).expect("a test may do so");
    let bytes = fs::read(&kept).expect("a test may do so");
    let removed = output(folder, &["runs", "rm", &run]);
    assert!(removed.status.success(), "{}", text(&removed.stderr));
    assert!(!folder.join(&run).exists() && fs::read(&kept).expect("a test may do so") == bytes);
}

/// A link was once followed, and its target removed.
#[test]
fn a_database_is_not_removed_by_a_link() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    load(folder, "sqlite:x.db");
    symlink("x.db", folder.join("link.db")).expect("a test may do so");
    let before = state(folder);
    let refused = output(folder, &["data", "rm", "link.db"]);
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("link.db is a link"), "{said}");
    assert!(state(folder) == before);
}

#[test]
fn a_folder_before_the_first_run_has_none() {
    let folder = tempfile::tempdir().expect("a test may do so");
    for words in [["data", "ls"], ["runs", "ls"]] {
        let listed = output(folder.path(), &words);
        assert!(listed.status.success() && text(&listed.stdout).starts_with("none: bourse-"), "{words:?}");
        let json = output(folder.path(), &[words[0], words[1], "--json"]);
        assert!(json.status.success() && text(&json.stdout) == "[]\n", "{words:?}");
    }
}

/// A file without end, or too large for a document, is refused by its kind or its size: reading it took all memory, or
/// waited.
#[test]
fn what_cannot_be_a_document_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().expect("a test may do so");
    let at = |name: &str| folder.path().join(name);
    fs::File::create(at("large.json")).expect("a test may do so").set_len(10 << 30).expect("a test may do so");
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a test may do so");
    symlink("/dev/zero", at("endless.json")).expect("a test may do so");
    for (name, words) in [
        ("large.json", "it has 10240 MiB, and at most 256 MiB are read"),
        ("pipe", "it is no regular file"),
        ("endless.json", "it is no regular file"),
        ("/dev/zero", "it is no regular file"),
    ] {
        for more in [&[][..], &["-o", "x.html"], &["--format", "csv", "-o", "tables"]] {
            let arguments = [&["report", name], more].concat();
            let mut child = bourse(folder.path(), &arguments).stderr(Stdio::piped()).spawn().expect("a test may do so");
            let start = Instant::now();
            while child.try_wait().expect("a test may do so").is_none() {
                if start.elapsed() > Duration::from_secs(60) {
                    child.kill().expect("a test may do so");
                    panic!("{arguments:?} did not end within a minute");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            let ended = child.wait_with_output().expect("a test may do so");
            let said = text(&ended.stderr);
            assert!(ended.status.code() == Some(1) && said.contains(words), "{arguments:?}: {said}");
        }
    }
}

/// Each of these arguments once ended the program with an internal error.
#[test]
#[cfg(target_os = "linux")]
fn arguments_need_not_be_utf8() {
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
    let written = fs::read_dir(folder.path().join(odd))
        .expect("a test may do so")
        .next()
        .expect("a test may do so")
        .expect("a test may do so")
        .path();
    let run = bourse_record::RunFile::read(&written.join("run.json")).expect("a test may do so");
    assert_eq!(run.provenance.command.last().map(String::as_str), Some("out\u{fffd}"));
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
