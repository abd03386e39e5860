//! Bad input: a clear error, exit code 1, nothing half-written.

use crate::{output, text};
use std::fs;

/// Runs the program and expects a refusal with these words.
fn refused(arguments: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(folder.path(), arguments);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?} says {said:?}, not {word:?}");
    }
    assert!(!said.contains("panicked"), "{said}");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder is still there").collect();
    assert!(left.is_empty(), "{arguments:?} left {left:?}");
}

/// A pipe's other end was waited for, for ever.
#[test]
#[cfg(unix)]
fn files_that_are_pipes() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for name in ["a.sql", "a.trace", "a.toml", "a.properties", "a.json"] {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, folder.path().join(name), FileType::Fifo, mode, 0).expect("a FIFO can be made");
    }
    for command in [
        "record show a.trace",
        "replay a.trace sqlite::memory:",
        "run a.toml",
        "micro run sql a.sql sqlite::memory:",
        "micro run ycsb a.properties sqlite::memory:",
        "isolation --replay a.json",
        "report a.json",
    ] {
        let ended = output(folder.path(), &command.split(' ').collect::<Vec<_>>());
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{command}: {said}");
        assert!(said.contains("a FIFO (named pipe)"), "{command}: {said}");
    }
}

/// A program that is not installed was found after the calibration, and after the loads of other targets.
#[test]
fn an_engine_that_is_missing_is_found_first() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let targets = ["micro", "run", "commit", "sqlite::memory:", "postgres+private:?server=/nowhere"];
    let ended = output(folder.path(), &targets);
    let said = text(&ended.stderr);
    assert!(ended.status.code() == Some(1) && said.contains("/nowhere is no PostgreSQL server"), "{said}");
    assert!(!said.contains("calibrating"), "{said}");
}

/// A terminal obeyed the control characters of a target.
#[test]
fn plans_show_what_was_typed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for command in ["micro run commit T", "tpce load T", "crash T"] {
        let words: Vec<_> = command.split(' ').map(|it| if it == "T" { "sqlite:a\u{1b}[2J.db" } else { it }).collect();
        let ended = output(folder.path(), &[&words[..], &["--dry-run"]].concat());
        let shown = text(&ended.stdout);
        assert!(ended.status.success() && shown.contains("a\\u{1b}[2J.db"), "{shown}{}", text(&ended.stderr));
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}

#[test]
fn targets_that_are_none() {
    refused(
        &["tpce", "run", "sqlite:x.db?jornal=wal"],
        &["unknown option 'jornal' for SQLite; did you mean 'journal'?", "hint:"],
    );
    refused(&["tpce", "run", "sqlite:x.db?journal=wall"], &["wall", "wal, delete"]);
    refused(&["tpce", "run", "sqlite:x.db?procedures=on"], &["unknown option 'procedures' for SQLite"]);
    for target in ["sqlite:none/x.db", "mariadb+private:none", "postgres+private:none"] {
        refused(&["tpce", "run", target], &["none does not exist", "hint: make it"]);
    }
    refused(&["tpce", "run", "lmdb:x.mdb?sink=off"], &["sink", "`bourse engines lmdb` explains"]);
    #[cfg(feature = "sqlite-lean")]
    refused(
        &["micro", "run", "point-read", "sqlite-lean:x.db?shared_cache=on&journal=delete"],
        &["'shared_cache=on' cannot be used with SQLite (lean build)", "compiled without shared caches"],
    );
    for target in ["sqlite::memory:?memory=private", "sqlite:x.db?locking=exclusive"] {
        refused(&["tpce", "run", target], &[target, "a session each, and this target allows one at a time"]);
        let threads = ["micro", "run", "point-read", target, "--set", "threads=2"];
        refused(&threads, &[target, "its 2 threads need a session each"]);
        refused(&["micro", "run", "log-growth", target, "--set", "pinned=on"], &[target, "pinned=on needs readers"]);
    }
    refused(&["micro", "run", "point-read", "sqlite::memory:?shared_cache=on&journal=wal"], &["journal=wal"]);
    refused(&["tpce", "run", "oracle:x"], &["unknown engine 'oracle' in target 'oracle:x'", "sqlite:PATH"]);
    refused(&["tpce", "run", "tidb://root@h/d"], &["unknown engine 'tidb'", "'mysql://root@h/d', as of TiDB"]);
    refused(&["tpce", "run", "sqlte:x.db"], &["unknown engine 'sqlte'", "did you mean 'sqlite:x.db'?"]);
    refused(&["tpce", "run", ":memory:"], &["invalid target ':memory:'", "did you mean 'sqlite::memory:'?"]);
    refused(&["engines", "radb"], &["unknown engine 'radb'; did you mean 'redb'?"]);
    for command in ["crash", "isolation"] {
        refused(
            &[command, "--trace", "t"],
            &["'--trace ", "every value that its own transactions write", "tune --trace"],
        );
    }
    refused(&["tpce", "load", "x.db"], &["did you mean 'sqlite:x.db'?"]);
    for (target, place) in [
        ("sqlite::memory:", "in memory"),
        ("postgres+private:.", "on a private server"),
        ("mariadb+private:", "on a private server"),
    ] {
        let words = [target, &format!("a database {place} ends with this command"), "name a file or a running server"];
        refused(&["tatp", "load", target], &words);
    }
    refused(&["tpce", "run", "lmdb:x"], &["lmdb:x", "needs SQL"]);
    refused(&["crash", "lmdb:x"], &["lmdb:x", "a crash under load needs SQL", "`--only states`"]);
    // Options of a part that does not run were ignored, and the answer was one of another question.
    for option in ["--profile lying-cache", "--states 200", "--faults 1"] {
        let words = [&["crash", "sqlite:x.db"], &option.split(' ').collect::<Vec<_>>()[..]].concat();
        let name = words[2];
        let alone =
            [&format!("{name} cannot be used here"), "with a TARGET only load runs", "use --only states, or leave out"];
        refused(&words, &alone);
        refused(&[&words[..], &["--only", "load"]].concat(), &[name, "--only load leaves them out"]);
    }
    for option in [
        "--times 1", "--samples 1", "--sweep sync=off", "--customers 1000", "--days 1", "--scale-factor 500",
        "--flat-in .", "--constraints full", "--load-threads 1", "--reload",
    ] {
        let words = [&["crash", "--only", "states"], &option.split(' ').collect::<Vec<_>>()[..]].concat();
        refused(
            &words,
            &[&format!("{} cannot be used here", words[3]), "--only states leaves them out", "use --only load"],
        );
    }
    refused(&["crash", "sqlite:x.db", "--cases", "all"], &["--cases", "cannot be used with"]);
    // A state was rebuilt on the profile of its name, whatever other was named.
    for (state, typed) in [
        ("wal-full/12:one-3", &["--profile", "lying-cache"][..]),
        ("wal-full/12:one-3", &["--dry-run"]),
        ("t.bin#7", &["--seed", "2"]),
    ] {
        let words = [&["crash", "--replay", state], typed].concat();
        refused(&words, &[&format!("{} cannot be used with --replay", typed[0]), "wal-full@ext4-ordered/"]);
    }
    for more in [&[][..], &["--dry-run"]] {
        refused(&[&["crash", "--profile", "foo"], more].concat(), &["unknown profile 'foo'", "any-order: "]);
    }
    for (arguments, why) in [
        (&["micro", "run", "point-read", "lmdb:x.lmdb"][..], "it has records and no SQL"),
        (&["tpce", "run", "bourse://127.0.0.1:4780"], "its statements are run by the server"),
        (&["tatp", "run", "sqlite:x.db", "--processes", "2"], "its statements are run by several processes"),
    ] {
        refused(&[arguments, &["--statements"]].concat(), &["--statements cannot be used with", why]);
    }
    for target in ["sqlite::memory:", "sqlite::memory:?memory=memdb"] {
        let words = [target, "--processes cannot be used with", "in the memory of one process", "sqlite:PATH"];
        refused(&["tpce", "run", target, "--processes", "2"], &words);
    }
    let exclusive = "sqlite:x.db?locking=exclusive";
    refused(&["tpce", "run", exclusive, "--processes", "2"], &[exclusive, "allows one at a time"]);
    for target in ["redb:x.redb", "lmdb:x.lmdb"] {
        refused(&["tpce", "run", target, "--processes", "2"], &[target, "needs SQL"]);
    }
    refused(&["tpce", "run", "bourse://127.0.0.1:1", "--processes", "2"], &["--processes", "--part K/N"]);
    let two = ["tpce", "run", "sqlite:x.db", "--processes", "2"];
    refused(&[&two[..], &["--users", "1"]].concat(), &["too few users for 2 processes: 1"]);
    refused(&[&two[..], &["--market", "aged=5"]].concat(), &["--market aged cannot be used with --processes"]);
    refused(&[&two[..], &["--history"]].concat(), &["a history cannot be recorded in several processes"]);
    let coordinated = ["tpce", "run", "sqlite:x.db", "--history", "--coordinate", "127.0.0.1:1", "--part", "1/2"];
    refused(&coordinated, &["a history cannot be recorded in several processes"]);
    refused(&["tpce", "run", "bourse://127.0.0.1:1", "--history"], &["--history cannot be used with a server"]);
    refused(&[&two[..], &["--latency"]].concat(), &["--latency cannot be used with --processes"]);
    refused(&[&two[..], &["--until-steady", "1m"]].concat(), &["--until-steady cannot be used with --processes"]);
    refused(&["tpce", "run", "sqlite:x.db", "--processes", "0"], &["--processes", "1 to 64"]);
    let classic = ["compare", "sqlite:x.db", "sqlite:y.db", "--workload", "point-read", "--processes", "2"];
    refused(&classic, &["--processes can only be used with the brokerage workload, not with point-read"]);
    refused(
        &["tpce", "run", "bourse://somewhere"],
        &["invalid server address", "the port is missing", "bourse://HOST:PORT"],
    );
    refused(&["tpce", "run", "bourse://127.0.0.1:1", "--reload"], &["--reload", "start it again with --reload"]);
    let server = "bourse://127.0.0.1:1";
    for (option, value) in [("--sweep", "journal=wal,delete"), ("--sweep", "customers=1000,2000")] {
        let words =
            [value.split('=').next().expect("a name"), server, "has already opened its database", "on its own port"];
        refused(&["tpce", "run", "sqlite:x.db", server, option, value], &words);
    }
    let tatp = ["tatp", "run", server, "--sweep"];
    for sweep in ["size=1000,2000", "subscribers=1000", "journal=wal"] {
        refused(&[&tatp[..], &[sweep]].concat(), &["sizes and settings cannot be swept through a server", server]);
    }
    let own = "--sweep takes options of the target, and users, processes, rate, size";
    refused(&["tatp", "run", "sqlite:x.db", "--sweep", "foo=1,2"], &["unknown option 'foo' for SQLite", own]);
    refused(&["micro", "run", "update", "--sweep", "foo=1,2"], &["unknown option 'foo'", "and rows, "]);
    let search = ["tatp", "run", "--find-max", "--limit", "update-location:max=1us"];
    let unknown = "unknown operation 'update-location' in --limit; did you mean 'Update-Location'?";
    refused(&search, &[unknown, "operations of this workload: Get-Subscriber-Data, "]);
    refused(&[&search[..], &["--dry-run"]].concat(), &[unknown]);
    refused(&["tpce", "run", server, "--find-max", "--part", "1/2"], &["--find-max", "driver 1/2", "without --part"]);
    refused(
        &["tpce", "verify", "sqlite:x.db", server],
        &[server, "only `bourse tpce run` and `bourse tatp run` can use it"],
    );
    refused(&["tpce", "acid", server], &[server, "name the database that the server serves"]);
    refused(
        &["quick", "--workloads", "point-read,sql"],
        &["unknown workload 'sql' in --workloads", "workloads: point-read"],
    );
    refused(&["tpce", "run", "sqlite:x.db", "--part", "1/2"], &["is not a server", "bourse tpce serve"]);
    refused(&["tpce", "run", "bourse://127.0.0.1:1", "--part", "3/2"], &["3/2", "as 1/3"]);
    refused(&["tpce", "serve", "sqlite:x.db", "--listen", "0.0.0.0:0"], &["no token", "BOURSE_TOKEN"]);
    refused(&["tpce", "serve", "sqlite:x.db", "--listen", "nowhere"], &["--listen", "HOST:PORT", "unix:PATH"]);
    refused(&["tpce", "serve", "sqlite:x.db", "--listen", "unix:"], &["--listen", "the socket's path is missing"]);
    refused(
        &["tpce", "run", "bourse+unix:"],
        &["invalid server address", "the socket's path is missing", "bourse+unix:PATH"],
    );
    refused(&["tpce", "acid", "null:"], &["null:", "needs SQL"]);
    refused(&["crash", "null:"], &["null:", "needs SQL"]);
    refused(&["crash", "sqlite:x.db", "--sweep", "sync=never"], &["never", "off, normal, full, extra"]);
    refused(&["tpce", "acid", "--only", "A9"], &["A9", "tests: A1, A2"]);
    refused(&["tpce", "acid", "sqlite:x.db?read_uncommitted=on"], &["read_uncommitted=on", "shared cache"]);
}

#[test]
fn options_that_newcomers_try() {
    refused(&["micro", "run", "point-read", "--threads", "0"], &["expected an integer from 1 to 1,024"]);
    refused(&["report", "x", "--format", "markdown"], &["-o FILE.md writes a report as Markdown"]);
    refused(&["compare", "a", "b", "--fail-above", "-5%"], &["expected a share from 0 to less than 100 percent"]);
}

#[test]
fn sizes_that_no_database_has() {
    refused(&["tpce", "run", "--customers", "1500"], &["1500", "multiple of 1,000"]);
    refused(&["tpce", "run", "--days", "0"], &["invalid value '0' for '--days <N>'", "from 1 to 10,000"]);
    refused(&["tpce", "run", "--scale-factor", "7"], &["7"]);
    refused(&["tpce", "gen", "-o", "out", "-b", "5"], &["first customer 5", "1001"]);
    refused(
        &["tpce", "gen", "-o", "out", "--tables", "trade,trad"],
        &["unknown table 'trad' in --tables; did you mean 'trade'?", "trade_history"],
    );
    refused(&["tpce", "run", "--users", "0"], &["users"]);
    refused(&["tpce", "run", "--rounds", "0"], &["invalid value '0' for '--rounds <N>'", "from 1 to 10,000"]);
    refused(&["tpce", "run", "--rate", "0"], &["rate"]);
    refused(&["tpce", "run", "--rate", "5", "--find-max"], &["--find-max", "--rate"]);
    refused(&["tpce", "run", "--sweep", "users"], &["users", "threads=1,2,4"]);
    refused(&["tpce", "run", "--sweep", "users=1,two"], &["two", "users"]);
    refused(&["tpce", "run", "--sweep", "jornal=wal"], &["jornal", "journal", "market-users, processes, rate"]);
    refused(&["tpce", "run", "--for", "100ms"], &["expected 1s or more"]);
    refused(&["tpce", "run", "--for", "fast"], &["fast", "30s"]);
    refused(&["tpce", "run", "--for", "-5s"], &["invalid value '-5s' for '--for <TIME>'", "30s"]);
    refused(&["tpce", "run", "--users", "-1"], &["invalid value '-1' for '--users <N>'", "from 1 to 10,000"]);
}

#[test]
fn input_files_that_are_broken() {
    refused(&["tpce", "gen", "-o", "out", "--flat-in", "nowhere"], &["nowhere", "--flat-in"]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    fs::create_dir(folder.path().join("in")).expect("a folder can be made");
    for name in bourse_egen::inputs::FILES {
        let content = bourse_egen::builtin::file(name).expect("each input file is built in");
        let content = if name == "AreaCode" { "8\t212\nfive\t416\n".to_owned() } else { content };
        fs::write(folder.path().join(format!("in/{name}.txt")), content).expect("a file can be written");
    }
    let ended = output(folder.path(), &["tpce", "gen", "-o", "out", "--flat-in", "in"]);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("AreaCode") && said.contains("line 2") && said.contains("five"), "{said}");
    assert!(!folder.path().join("out").exists(), "nothing is written");
}

#[test]
fn a_database_of_somebody_else_is_left_alone() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("notes.db");
    fs::write(&path, "dear diary").expect("a file can be written");
    let ended = output(folder.path(), &["tpce", "run", "sqlite:notes.db", "--days", "1", "--reload"]);
    assert!(!ended.status.success());
    assert!(text(&ended.stderr).contains("notes.db"), "{}", text(&ended.stderr));
    assert_eq!(fs::read(&path).expect("it is still there"), b"dear diary");
}

#[test]
fn runs_that_cannot_be_read() {
    refused(&["report", "nowhere"], &["nowhere", "run.json"]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    fs::write(folder.path().join("run.json"), "{\"schema_version\": 999}").expect("a file can be written");
    let ended = output(folder.path(), &["report", "run.json"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(text(&ended.stderr).contains("999"), "{}", text(&ended.stderr));
}

#[test]
fn help_version_and_lists_are_fine() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (arguments, words) in [
        (&["--help"][..], "Commands:"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
        (&["tpce", "--help"], "not comparable with published TPC Benchmark E"),
        (&["engines"], "sqlite"),
        (&["engines", "sqlite"], "journal="),
        (&["engines", "sqlite"], "THREADSAFE=1"),
        (&["engines", "sqlite+lib"], "key of an encrypted database"),
        (&["completions", "bash"], "point-read bulk-load update"),
        (&["completions", "zsh"], "sqlite-wal"),
        (&["completions", "zsh"], "lmdb"),
        (&["completions", "bash"], "sqlite+lib "),
        (&["completions", "bash"], "rows="),
        (&["completions", "bash"], "complete -F _bourse_stored"),
        (&["tpce", "acid", "sqlite:x.db", "--dry-run"], "time     about 23 s"),
        (&["tpcc", "acid", "sqlite:x.db", "--dry-run"], "time     about "),
        (&["help", "compare", "--json"], "\"bourse compare\""),
        (&["tpce", "gen", "-o", "flat", "--dry-run", "--tables", "trade"], "flat: Trade.txt"),
        (&["micro", "list", "--json"], "\"name\": \"point-read\""),
        (&["micro", "list", "commit", "--json"], "\"default\": "),
        (&["suite", "list", "--json"], "\"cells\": "),
        (&["tpce", "run", "-h"], "Examples:"),
        (&["schema"], "schema_version"),
        (&["schema", "acid"], "not_applicable"),
        (&["schema", "crash"], "acknowledged"),
        (&["schema", "options"], "\"const\": \"tpce run\""),
    ] {
        let ended = output(folder.path(), arguments);
        assert!(ended.status.success(), "{arguments:?}: {}", text(&ended.stderr));
        assert!(text(&ended.stdout).contains(words), "{arguments:?} prints {}", text(&ended.stdout));
    }
}
