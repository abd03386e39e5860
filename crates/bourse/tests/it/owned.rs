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
    load(folder, "sqlite:x.db");
    let micro = ["micro", "run", "update", "lmdb:m.lmdb", "-s", "rows=100", "--count", "20", "--rounds", "1"];
    assert!(output(folder, &micro).status.success());
    let mode = |path: &str, mode| {
        fs::set_permissions(folder.join(path), fs::Permissions::from_mode(mode)).expect("a test may do so");
    };
    let run_file = format!("{run}/run.json");
    let commands: [(&[&str], &str); 5] = [
        (&["data", "rm", "x.db"], "it"),
        (&["tpce", "load", "sqlite:x.db", "--days", "1", "--reload"], "the database"),
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

/// The lock file of one database was once the database of another.
#[test]
fn names_next_to_a_database_are_no_targets() {
    let folder = tempfile::tempdir().expect("a test may do so");
    for name in ["z.db.bourse-lock", "z.db-wal", "z.db-shm", "z.db-journal"] {
        for scheme in ["sqlite", "lmdb"] {
            let target = format!("{scheme}:{name}");
            let refused = output(folder.path(), &["micro", "run", "commit", &target, "--count", "20"]);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{target}: {said}");
            assert!(said.contains("has the name of a file that is made next to a database"), "{target}: {said}");
            assert!(!folder.path().join(name).exists() && !folder.path().join(format!("{name}.bourse-lock")).exists());
        }
    }
}

/// A link was once followed, and its target removed.
#[test]
fn a_database_is_not_removed_by_a_link() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    load(folder, "sqlite:x.db");
    symlink("x.db", folder.join("link.db")).expect("a test may do so");
    let before = state(folder);
    for name in ["link.db", "sqlite:link.db"] {
        let refused = output(folder, &["data", "rm", name]);
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains("link.db is a link"), "{said}");
        assert!(state(folder) == before);
    }
    // A target names a database as well as its path does.
    let removed = output(folder, &["data", "rm", "sqlite:x.db"]);
    assert!(removed.status.success() && !folder.join("x.db").exists(), "{}", text(&removed.stderr));
}

/// Runs statements in a SQLite file by other hands than the program's.
fn by_hand(file: &Path, statements: &[&str]) {
    use bourse_engine::Engine as _;
    let target = format!("sqlite:{}?journal=delete", file.display());
    let engine = bourse_engine_sqlite::open(&target).expect("a test may do so");
    let mut session = engine.session().expect("a test may do so");
    for sql in statements {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Objects of a person's in a database that Bourse made, and how each is named.
const BY_HAND: [(&[&str], &str); 4] = [
    (&["CREATE TABLE notes (t TEXT)", "INSERT INTO notes VALUES ('mine')"], "table notes"),
    (&["CREATE VIEW mine AS SELECT 1 AS one"], "view mine"),
    (&["ALTER TABLE bourse_inventory ADD COLUMN secret TEXT"], "definition of table bourse_inventory"),
    (&["CREATE TRIGGER mine AFTER INSERT ON bourse_inventory BEGIN SELECT 1; END"], "trigger mine"),
];

/// The next command replaced the file, and what a person had in it was gone without a word.
#[test]
fn what_a_person_adds_to_a_database_is_kept() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let micro = ["micro", "run", "update", "sqlite:micro.db", "-s", "rows=100", "--count", "20", "--rounds", "1"];
    let made = output(folder, &micro);
    assert!(made.status.success(), "{}", text(&made.stderr));
    load(folder, "sqlite:tpce.db");
    let pristine = ["micro.db", "tpce.db"].map(|name| fs::read(folder.join(name)).expect("a test may do so"));
    for (statements, name) in BY_HAND {
        for (file, bytes) in ["micro.db", "tpce.db"].into_iter().zip(&pristine) {
            fs::write(folder.join(file), bytes).expect("a test may do so");
            by_hand(&folder.join(file), statements);
        }
        let before = state(folder);
        for command in [
            &micro[..],
            &["micro", "run", "update", "sqlite:tpce.db", "-s", "rows=100", "--count", "20"],
            &["micro", "run", "commit", "sqlite:micro.db", "--count", "20"],
            &["tpce", "load", "sqlite:micro.db", "--days", "1"],
            &["tpce", "load", "sqlite:tpce.db", "--days", "1"],
            &["tpce", "load", "sqlite:tpce.db", "--days", "1", "--reload"],
            &["tpce", "run", "sqlite:tpce.db", "--days", "1", "--for", "1s"],
            &["tpce", "run", "sqlite:tpce.db", "--days", "1", "--for", "1s", "--reload"],
            &["tpce", "verify", "sqlite:tpce.db", "model:", "--days", "1", "-n", "5", "--reload"],
            &["tpce", "acid", "sqlite:tpce.db", "--days", "1"],
            &["tpce", "check", "sqlite:tpce.db"],
            &["crash", "sqlite:tpce.db", "--days", "1"],
            &["data", "rm", "micro.db"],
            &["data", "rm", "tpce.db"],
        ] {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains(&format!("it holds what bourse did not make: {name}")), "{command:?}: {said}");
            assert!(said.contains("it is left as it is") && !said.contains("--reload"), "{command:?}: {said}");
            assert!(state(folder) == before, "{command:?} changed something: {said}");
        }
    }
    for (file, bytes) in ["micro.db", "tpce.db"].into_iter().zip(&pristine) {
        fs::write(folder.join(file), bytes).expect("a test may do so");
    }
    let removed = output(folder, &["data", "rm", "micro.db", "tpce.db"]);
    assert!(removed.status.success(), "{}", text(&removed.stderr));
}

/// A file with Bourse's number in its header and foreign contents was switched to a write-ahead log before it was refused.
#[test]
fn a_refused_database_keeps_its_journal_mode() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    by_hand(&folder.join("x.db"), &["CREATE TABLE notes (t TEXT)", "INSERT INTO notes VALUES ('mine')"]);
    load(folder, "sqlite:tpce.db?journal=delete");
    let before = state(folder);
    for command in [
        &["micro", "run", "update", "sqlite:x.db", "-s", "rows=100", "--count", "20"][..],
        // Another workload's.
        &["micro", "run", "update", "sqlite:tpce.db", "-s", "rows=100", "--count", "20"],
        &["tpce", "load", "sqlite:x.db", "--days", "1"],
        &["tpce", "run", "sqlite:x.db", "--days", "1", "--for", "1s"],
        &["tpce", "run", "sqlite:tpce.db", "--days", "2", "--for", "1s"],
        &["tpce", "verify", "sqlite:x.db", "model:", "--days", "1", "-n", "5"],
        &["tpce", "acid", "sqlite:x.db", "--days", "1"],
        &["tpce", "check", "sqlite:x.db"],
        &["crash", "sqlite:x.db", "--days", "1"],
        &["data", "rm", "x.db"],
    ] {
        let refused = output(folder, command);
        assert_eq!(refused.status.code(), Some(1), "{command:?}: {}", text(&refused.stderr));
        assert!(state(folder) == before, "{command:?} changed something: {}", text(&refused.stderr));
    }
}

/// A database that was copied or moved has no mark; its own list says whether Bourse made it.
#[test]
fn a_database_that_was_moved_is_adopted_by_its_list() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let micro = |target: &str| {
        let ran = output(folder, &["micro", "run", "update", target, "-s", "rows=100", "--count", "20"]);
        (ran.status.code(), text(&ran.stderr))
    };
    let adopt = |target: &str| {
        let ended = output(folder, &["data", "adopt", target]);
        (ended.status.code(), text(&ended.stderr))
    };
    let engines =
        [("sqlite", "table bourse_inventory"), ("lmdb", "table bourse_micro"), ("redb", "table bourse_micro")];
    for (scheme, listed) in engines {
        let target = |name: &str| format!("{scheme}:{name}.{scheme}");
        let path = |name: &str| folder.join(format!("{name}.{scheme}"));
        assert_eq!(micro(&target("x")).0, Some(0));
        fs::copy(path("x"), path("copy")).expect("a test may do so");
        fs::rename(path("x"), path("moved")).expect("a test may do so");
        for name in ["copy", "moved"] {
            let before = fs::read(path(name)).expect("a test may do so");
            let (code, said) = micro(&target(name));
            assert!(code == Some(1) && said.contains("`bourse data adopt` marks"), "{said}");
            let (code, said) = adopt(&target(name));
            assert!(code == Some(0) && said.contains("lists as made by bourse: ") && said.contains(listed), "{said}");
            assert!(fs::read(path(name)).expect("a test may do so") == before, "adopting changes nothing in it");
            assert!(adopt(&target(name)).1.contains("has Bourse's mark already"));
            assert_eq!(micro(&target(name)).0, Some(0));
        }
        fs::hard_link(path("copy"), path("linked")).expect("a test may do so");
        let (code, said) = adopt(&target("linked"));
        assert!(code == Some(1) && said.contains("several names"), "{said}");
    }
    // A person's own: without a list, with more than the list, and no database at all.
    assert_eq!(micro("sqlite:y.db").0, Some(0));
    by_hand(&folder.join("y.db"), &["CREATE TABLE notes (t TEXT)"]);
    fs::rename(folder.join("y.db"), folder.join("more.db")).expect("a test may do so");
    by_hand(&folder.join("own.db"), &["CREATE TABLE notes (t TEXT)"]);
    fs::remove_file(folder.join("own.db.bourse-mark")).expect("a test may do so");
    fs::write(folder.join("notes.db"), "dear diary").expect("a test may do so");
    let before = state(folder);
    for (name, words) in [
        ("more.db", "it holds what bourse did not make: table notes"),
        ("own.db", "it holds what bourse did not make: table notes"),
        ("notes.db", "cannot adopt sqlite:notes.db"),
        ("absent.db", "nothing is there"),
    ] {
        let (code, said) = adopt(&format!("sqlite:{name}"));
        assert!(code == Some(1) && said.contains(words), "{name}: {said}");
        assert!(state(folder) == before, "{name}: {said}");
    }
}

/// An empty database was left where its side file's name was taken, and the load refused.
#[test]
fn nothing_is_left_where_a_side_file_is_somebody_elses() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    fs::write(folder.join("x.db.bourse-loading"), "mine").expect("a test may do so");
    let before = state(folder);
    for command in [
        &["micro", "run", "update", "sqlite:x.db", "-s", "rows=100", "--count", "20"][..],
        &["micro", "run", "commit", "sqlite:x.db", "--count", "20"],
        &["tpce", "load", "sqlite:x.db", "--days", "1"],
        &["tpce", "run", "sqlite:x.db", "--days", "1", "--for", "1s"],
    ] {
        let refused = output(folder, command);
        let said = text(&refused.stderr);
        assert!(
            refused.status.code() == Some(1) && said.contains("x.db.bourse-loading is needed"),
            "{command:?}: {said}"
        );
        assert!(state(folder) == before, "{command:?} left something: {said}");
    }
}

/// Tables that a file of statements makes are Bourse's, those of its operations too.
#[test]
fn what_a_file_of_statements_makes_is_made_anew() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    let file = "[[setup]]\nsql = \"CREATE TABLE shop (id INTEGER PRIMARY KEY)\"\n\
                [[setup]]\nsql = \"INSERT INTO shop VALUES (:id)\"\nrepeat = 10\n\
                [[setup]]\nsql = \"CREATE INDEX late ON shop (id)\"\n\
                [parameters]\nid = { unique = 1 }\n\
                [[operation]]\nname = \"make\"\nsql = \"CREATE TABLE IF NOT EXISTS made (id INTEGER)\"\n";
    fs::write(folder.join("own.toml"), file).expect("a test may do so");
    for time in 1..=2 {
        let words =
            ["micro", "run", "sql", "own.toml", "sqlite:x.db", "--count", "5", "--rounds", "2", "--warmup", "0s"];
        let ran = output(folder, &words);
        assert!(ran.status.success(), "{time}: {}", text(&ran.stderr));
    }
    let bulk = ["micro", "run", "bulk-load", "sqlite:x.db", "-s", "rows=100", "-s", "indexes=after", "--rounds", "2"];
    for time in 1..=2 {
        let ran = output(folder, &bulk);
        assert!(ran.status.success(), "{time}: {}", text(&ran.stderr));
    }
}

/// A table of a person's in a key engine's database was removed with it.
#[test]
fn a_key_database_with_a_table_of_others_is_left() {
    use bourse_engine::{Connection, Engine, RecordField, RecordTable, RecordType};
    static NOTES: RecordTable = RecordTable::new(
        "notes",
        RecordField::new("id", RecordType::Int),
        &[RecordField::new("text", RecordType::Text(20))],
    );
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    type Open = fn(&str) -> Box<dyn Engine>;
    let engines: [(&str, Open); 2] = [
        ("lmdb", |target| Box::new(bourse_engine_lmdb::open(target).expect("a test may do so"))),
        ("redb", |target| Box::new(bourse_engine_redb::open(target).expect("a test may do so"))),
    ];
    for (scheme, open) in engines {
        let (name, target) = (format!("x.{scheme}"), format!("{scheme}:x.{scheme}"));
        let update = ["micro", "run", "update", &target, "-s", "rows=100", "--count", "20"];
        let commit = ["micro", "run", "commit", &target, "--count", "20"];
        for command in [&update[..], &commit, &update] {
            let ran = output(folder, command);
            assert!(ran.status.success(), "{command:?}: {}", text(&ran.stderr));
        }
        let engine = open(&format!("{scheme}:{}", folder.join(&name).display()));
        let Ok(Connection::Keys(mut records)) = engine.connect() else { panic!("{scheme} is a key engine") };
        records.create(&[&NOTES]).expect("a test may do so");
        drop(records);
        drop(engine);
        for command in [&update[..], &commit, &["data", "rm", &name]] {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains("it holds what bourse did not make: table notes"), "{command:?}: {said}");
            assert!(said.contains("it is left as it is"), "{command:?}: {said}");
        }
    }
}

/// Each name of a file had a lock of its own, so that two commands could use one database at once.
#[test]
fn a_database_with_several_names_is_refused() {
    let folder = tempfile::tempdir().expect("a test may do so");
    let folder = folder.path();
    load(folder, "sqlite:x.db");
    fs::hard_link(folder.join("x.db"), folder.join("y.db")).expect("a test may do so");
    let before = state(folder);
    for name in ["x.db", "y.db"] {
        let target = format!("sqlite:{name}");
        for command in [&["tpce", "check", &target][..], &["tpce", "load", &target, "--reload"], &["data", "rm", name]]
        {
            let refused = output(folder, command);
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{command:?}: {said}");
            assert!(said.contains("the file has several names (hard links)"), "{command:?}: {said}");
            assert!(state(folder) == before, "{command:?} changed something: {said}");
        }
    }
}

#[test]
fn a_folder_before_the_first_run_has_none() {
    let folder = tempfile::tempdir().expect("a test may do so");
    for words in [["data", "ls"], ["runs", "ls"]] {
        let listed = output(folder.path(), &words);
        assert!(listed.status.success() && text(&listed.stdout).starts_with("none: bourse-"), "{words:?}");
        assert_eq!(text(&listed.stdout).contains("`bourse data ls .`"), words[0] == "data", "where else to look");
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
