//! Libraries with SQLite's C interface, loaded at run time.

use crate::{output, text};
use std::fs;
use std::path::{Path, PathBuf};

/// The library of that name, as a path of its own in the folder; says which test is skipped if it is nowhere.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn copied(name: &str, folder: &Path, to: &str, test: &str) -> Option<PathBuf> {
    match bourse_engine_sqlite_lib::info(Some(name)) {
        Ok(found) => {
            let (_, path) = found.facts.iter().find(|(fact, _)| *fact == "library").expect("it says where it is");
            let copy = folder.join(to);
            fs::copy(path, &copy).expect("a library can be copied");
            Some(copy)
        }
        Err(why) => {
            eprintln!("skipped: {test} ({why})");
            None
        }
    }
}

#[test]
fn two_libraries_are_compared_and_told_apart() {
    let test = "two_libraries_are_compared_and_told_apart";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let name = std::env::var("BOURSE_SYSTEM_SQLITE").unwrap_or_else(|_| "libsqlite3.so.0".to_owned());
    let Some(base) = copied(&name, folder.path(), "base.so", test) else { return };
    let Some(head) = copied(&name, folder.path(), "head.so", test) else { return };
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
