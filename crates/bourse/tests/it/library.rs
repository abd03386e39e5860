//! Libraries with SQLite's C interface, loaded at run time.

use crate::bourse;
use crate::{load_tatp, output, text};
#[cfg(target_os = "linux")]
use bourse_record::Document as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Copies the library of that name into the folder, and returns its path; reports the test as skipped if there is no such
/// library.
fn copied(name: &str, folder: &Path, to: &str, test: &str) -> Option<PathBuf> {
    match bourse_engine_sqlite_lib::info(Some(name)) {
        Ok(found) => {
            let (_, path) = found.facts.iter().find(|(fact, _)| *fact == "library").expect("it says where it is");
            let copy = folder.join(to);
            fs::copy(path, &copy).expect("a library can be copied");
            Some(copy)
        }
        Err(why) => {
            bourse_testkit::skipped(test, why);
            None
        }
    }
}

/// Copies the system's library, or the one named in the environment, into the folder, and returns its path.
fn systems(folder: &Path, to: &str, test: &str) -> Option<PathBuf> {
    let name = std::env::var("BOURSE_SYSTEM_SQLITE").unwrap_or_else(|_| "libsqlite3.so.0".to_owned());
    copied(&name, folder, to, test)
}

#[test]
fn two_libraries_are_compared_and_told_apart() {
    let test = "two_libraries_are_compared_and_told_apart";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let Some(base) = systems(folder.path(), "base.so", test) else { return };
    let Some(head) = systems(folder.path(), "head.so", test) else { return };
    let target = |file: &str, library: &Path| format!("sqlite+lib:{file}?library={}", library.display());
    let (base_target, head_target) = (target("base.db", &base), target("head.db", &head));
    let short = ["--workload", "point-read", "-s", "rows=100", "--count", "100", "--rounds", "2", "--warmup", "0s"];
    let arguments = [&["compare", &base_target, &head_target, "--no-wait"], &short[..], &["-o", "runs"]].concat();
    let ended = output(folder.path(), &arguments);
    assert!(ended.status.success(), "{}\n{}", text(&ended.stdout), text(&ended.stderr));
    let run = fs::read_dir(folder.path().join("runs")).expect("runs").next().expect("one").expect("a folder").path();
    let run = fs::read(run.join("run.json")).expect("a run file");
    let run: bourse_record::RunFile = serde_json::from_slice(&run).expect("a run file");
    for (case, library) in run.cases.iter().zip([&base, &head]) {
        let setting = |name: &str| {
            let found = case.engine.settings.iter().find(|setting| setting.name == name);
            found.unwrap_or_else(|| panic!("{name} in {:?}", case.engine)).value.clone()
        };
        assert_eq!((case.engine.name.as_str(), case.rounds.len()), ("sqlite+lib", 2));
        assert_eq!(Path::new(&setting("library")), library.canonicalize().expect("it is there"));
        assert_eq!(setting("library_sha256").len(), 64);
        assert!(!setting("source_id").is_empty() && !case.engine.compile_options.is_empty());
    }
}

/// The process of the program with a database in its care.
#[cfg(target_os = "linux")]
fn keeper_of(program: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{program}/task/{program}/children")).ok()?;
    children.split_whitespace().find_map(|id| id.parse().ok())
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_ends_its_process_while_it_loads_is_a_lost_target() {
    let test = "a_library_that_ends_its_process_while_it_loads_is_a_lost_target";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let Some(library) = systems(folder.path(), "base.so", test) else { return };
    let target = format!("sqlite+lib:x.db?library={}", library.display());
    let mut command = bourse(folder.path(), &["tpce", "run", &target, "--for", "1s", "--warmup", "0s"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let program = command.spawn().expect("the program can be started");
    let start = std::time::Instant::now();
    while !folder.path().join("x.db.bourse-loading").exists() {
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "nothing is loaded");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let keeper = keeper_of(program.id()).expect("the database is loaded by a process of its own");
    let sent =
        std::process::Command::new("kill").args(["-KILL", &keeper.to_string()]).status().expect("kill can be run");
    assert!(sent.success(), "{keeper} is gone already");
    let ended = program.wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("the process that prepares the database of") && said.contains("signal: 9"), "{said}");
}

#[test]
fn rounds_with_a_library_begin_from_a_copy_that_is_removed_with_the_run() {
    let test = "rounds_with_a_library_begin_from_a_copy_that_is_removed_with_the_run";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let Some(library) = systems(folder.path(), "base.so", test) else { return };
    load_tatp(folder.path(), "sqlite:x.db");
    let target = format!("sqlite+lib:x.db?sync=off&library={}", library.display());
    let length = ["--for", "1s", "--warmup", "0s", "--rounds", "2", "--json"];
    let ended = output(folder.path(), &[&["tatp", "run", &target][..], &length].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let run = bourse_record::RunFile::parse(&ended.stdout, Path::new("stdout")).expect("--json prints the run file");
    let of_round = |round: usize| {
        let facts = &run.cases[0].rounds[round].facts;
        facts.iter().find(|fact| fact.name == "database").expect("it says what it began from").value.clone()
    };
    assert!(of_round(0).contains("snapshot for further rounds taken in "), "{}", of_round(0));
    assert!(of_round(1).starts_with("restored in "), "{}", of_round(1));
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("it is there").map(|it| it.expect("it is").file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("bourse-snapshot")), "{left:?}");
}

#[test]
fn a_key_gets_into_no_file_and_no_message() {
    const SECRET: &str = "swordfish-1899";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(folder.path(), &["micro", "run", "point-read", &format!("sqlite+lib:x.db?key={SECRET}")]);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("must not contain a password") && !said.contains(SECRET), "{said}");
    let name = std::env::var("BOURSE_SQLCIPHER").unwrap_or_else(|_| "libsqlcipher.so.0".to_owned());
    let test = "a_key_gets_into_no_file_and_no_message";
    let Some(library) = copied(&name, folder.path(), "cipher.so", test) else { return };
    fs::create_dir(folder.path().join("keys")).expect("there is room");
    fs::write(folder.path().join("keys/key"), SECRET).expect("there is room");
    let target = format!("sqlite+lib:x.db?library={}&key=file:keys/key", library.display());
    let short = ["--set", "rows=100", "--count", "100", "--rounds", "1", "--warmup", "0s", "-o", "runs"];
    let ended = output(folder.path(), &[&["micro", "run", "update", &target][..], &short[..]].concat());
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    for said in [&ended.stdout, &ended.stderr] {
        assert!(!text(said).contains(SECRET), "{}", text(said));
    }
    let mut files = vec![folder.path().join("runs"), folder.path().join("x.db")];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.exists() {
            let bytes = fs::read(&path).expect("a file");
            assert!(!bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes()), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 2, "the run file and the report");
}
