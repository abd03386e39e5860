//! Documents, tables and results that commands write and remove: only those that carry Bourse's mark, whatever else
//! occupies a path.
#![cfg(unix)]

use crate::{load_tatp, output, text};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

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
pub(crate) fn state(path: &Path) -> Vec<(String, u64, u32, u32, Vec<u8>)> {
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

/// The files of a folder were written below what a link led to.
#[test]
fn a_folder_that_is_a_link_is_left() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    fs::create_dir(folder.join("mine")).expect("a test may do so");
    symlink("mine", folder.join("link")).expect("a test may do so");
    for words in ["tpce gen -w 1 --tables sector -o link", "man link"] {
        let refused = output(folder, &words.split(' ').collect::<Vec<_>>());
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains("link is a link"), "{words}: {said}");
        assert!(folder.join("mine").read_dir().expect("it is there").next().is_none(), "{words}");
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
    fs::create_dir(results.join("told")).expect("a test may do so");
    fs::write(results.join("told/live.ndjson"), "{\"laps\": 12}\n").expect("a test may do so");
    copy("more");
    fs::write(results.join("more/notes.txt"), "mine").expect("a test may do so");
    let before = state(&results);
    for (name, words) in [
        ("link", "it is a link"),
        ("of-others", "run.json is not a run: it has no schema_version"),
        ("page", "report.html is not as Bourse writes it"),
        ("told", "live.ndjson is not as Bourse writes it"),
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

/// Results of another user's, and read-only ones, were removed where the folder let it be.
#[test]
fn what_belongs_to_others_is_left() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let run = read_some(folder);
    load_tatp(folder, "sqlite:x.db");
    let micro = ["micro", "run", "update", "lmdb:m.lmdb", "-s", "rows=100", "--count", "20", "--rounds", "1"];
    assert!(output(folder, &micro).status.success());
    let mode = |path: &str, mode| {
        fs::set_permissions(folder.join(path), fs::Permissions::from_mode(mode)).expect("a test may do so");
    };
    let run_file = format!("{run}/run.json");
    let commands: [(&[&str], &str); 5] = [
        (&["data", "rm", "x.db"], "it"),
        (&["tatp", "load", "sqlite:x.db", "--size", "1k", "--reload"], "the database"),
        (&["data", "rm", "m.lmdb"], "it"),
        (&micro, "the database"),
        (&["runs", "rm", &run], "run.json"),
    ];
    let refused = |why: &str| {
        let before = state(folder);
        for (command, what) in commands {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(
                said.contains(&format!("{what} {why}")) && said.contains("it is left as it is"),
                "{command:?}: {said}"
            );
            assert!(state(folder) == before, "{command:?}: {said}");
        }
    };
    let files = ["x.db", "m.lmdb", run_file.as_str()];
    files.iter().for_each(|path| mode(path, 0o444));
    refused("is read-only");
    files.iter().for_each(|path| mode(path, 0o644));
    // Only root can give a file away.
    if files.iter().all(|path| std::os::unix::fs::chown(folder.join(path), Some(65_534), None).is_ok()) {
        refused("belongs to another user");
    }
}

#[test]
fn a_lock_that_is_a_link_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (folder, thesis) = (folder.path(), folder.path().join("thesis"));
    let run = ["micro", "run", "point-read", "files:x.files", "-s", "rows=50", "-T", "50ms", "--rounds", "1"];
    assert_eq!(output(folder, &run).status.code(), Some(0));
    let lock = folder.join("x.files/lock");
    for is_hard in [false, true] {
        fs::write(&thesis, "mine").expect("a test may do so");
        fs::remove_file(&lock).expect("it was made");
        if is_hard { fs::hard_link(&thesis, &lock) } else { symlink(&thesis, &lock) }.expect("a test may do so");
        let refused = output(folder, &run);
        assert_eq!(refused.status.code(), Some(1), "{}", crate::text(&refused.stderr));
        assert_eq!(fs::read_to_string(&thesis).expect("it is there"), "mine");
    }
}

/// Regression: a text that was written over a record was removed with the table.
#[test]
fn a_text_written_over_a_record_is_kept() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    for layout in ["flat", "tree"] {
        let (name, target) = (format!("{layout}.files"), format!("files:{layout}.files?layout={layout}"));
        let run = ["micro", "run", "point-read", &target, "-s", "rows=500", "-T", "50ms", "--rounds", "1"];
        assert_eq!(output(folder, &run).status.code(), Some(0));
        let record = if layout == "flat" { "persons/000300" } else { "persons/00/03/00" };
        let path = folder.join(&name).join(record);
        let mine = fs::read(&path).expect("it is a record");
        fs::write(&path, "mine").expect("a test may do so");
        for command in [&run[..], &["data", "rm", &name]] {
            let refused = output(folder, command);
            let said = crate::text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains(&format!("it holds what bourse did not make: {record}")), "{command:?}: {said}");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), "mine");
        }
        fs::write(&path, mine).expect("a test may do so");
        let removed = output(folder, &["data", "rm", &name]);
        assert_eq!(removed.status.code(), Some(0), "{}", crate::text(&removed.stderr));
    }
}
