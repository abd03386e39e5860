//! The program with every engine: those that a build leaves out unless it is told to have them all.
#![allow(missing_docs, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

/// The program in a folder of its own, without settings from the environment.
fn output(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bourse"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("BOURSE_NO_REPEAT", "true");
    command.output().expect("the program can be started")
}

/// What a command printed, which must have ended well.
#[track_caller]
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let ended = output(folder, arguments);
    let [out, errors] = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {out}{errors}");
    out
}

#[test]
fn no_engine_is_left_out() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let listed = printed(folder.path(), &["engines", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("it is JSON");
    let listed = listed.as_array().expect("a list");
    let left_out = |engine: &&serde_json::Value| {
        engine["unavailable"].as_str().is_some_and(|why| why.contains("left out of this build"))
    };
    assert!(listed.iter().any(|engine| engine["engine"] == "fjall" && engine["version"].is_string()), "{listed:?}");
    assert_eq!(listed.iter().find(left_out), None);
}

/// Runs a writing and a reading workload on a target, twice each, so that the second finds what the first has made.
fn every_workload_runs(target: &str) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for workload in ["update", "point-read", "scan"] {
        for _ in 0..2 {
            let size = ["--rounds", "2", "--count", "50", "-s", "rows=100", "--warmup", "0s", "--json"];
            let run = printed(folder.path(), &[&["micro", "run", workload, target][..], &size].concat());
            let run: serde_json::Value = serde_json::from_str(&run).expect("a run file is JSON");
            let shown = run.to_string();
            let durability = &run["cases"][0]["engine"]["durability"];
            assert!(durability.is_string(), "{workload} on {target}: {shown}");
        }
    }
}

/// Where DuckDB's library is not, the test's name is printed.
#[expect(clippy::print_stderr, reason = "a skipped test says so by name")]
#[test]
fn duckdb_runs() {
    let library = match bourse_engine_duckdb::info(None) {
        Ok(found) => found.path,
        Err(why) => return eprintln!("skipped: duckdb_runs ({why})"),
    };
    every_workload_runs(&format!("duckdb:x.duckdb?library={}", library.display()));
    every_workload_runs(&format!("duckdb::memory:?library={}", library.display()));
}

/// Where a cluster cannot be had, the test's name is printed.
#[expect(clippy::print_stderr, reason = "a skipped test says so by name")]
#[test]
fn galera_runs() {
    if let Err(why) = bourse_engine_galera::installed(&bourse_engine_galera::Options::DEFAULT) {
        return eprintln!("skipped: galera_runs ({why})");
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "mariadb+galera:?nodes=2&ram=on&innodb_buffer_pool=128MiB&log_file=64MiB&flush_log=2";
    let size = ["--customers", "1000", "--days", "1", "--users", "4", "--check", "quick"];
    let length = ["--rounds", "1", "--warmup", "1s", "-T", "5s", "--no-wait", "--json"];
    let run = printed(folder.path(), &[&["tpce", "run", target][..], &size, &length].concat());
    let run: serde_json::Value = serde_json::from_str(&run).expect("a run file is JSON");
    let case = &run["cases"][0];
    assert_eq!(case["engine"]["name"], "galera");
    let round = &case["rounds"][0];
    let checks = round["checks"].as_array().expect("a list");
    assert!(checks.len() > 20 && checks.iter().all(|check| check["status"] != "failed"), "{checks:?}");
    let counters = round["counters"].as_array().expect("a list");
    assert!(
        counters.iter().any(|it| it["name"] == "wsrep_replicated" && it["count"].as_u64() > Some(0)),
        "{counters:?}"
    );
    let isolation = case["conditions"]["isolation"].as_array().expect("a list");
    let result = isolation.iter().find(|it| it["operation"] == "Trade-Result").expect("it is listed");
    assert_ne!(result["demanded"], result["provided"], "serializable is not given between nodes");
}

#[test]
fn fjall_runs() {
    every_workload_runs("fjall:x.fjall");
    theirs_is_left_alone("fjall");
}

#[test]
fn rocksdb_runs() {
    if let Err(why) = bourse_engine_rocksdb::info(None) {
        #[expect(clippy::print_stderr, reason = "a skipped test says so by name")]
        {
            eprintln!("skipped: rocksdb_runs ({why})");
        }
        return;
    }
    every_workload_runs("rocksdb:x.rocksdb");
    theirs_is_left_alone("rocksdb");
}

/// Where jars or a Java virtual machine are not, the test's name is printed.
#[expect(clippy::print_stderr, reason = "a skipped test says so by name")]
#[test]
fn databases_in_java_run() {
    for scheme in ["jdbc+h2", "jdbc+hsqldb", "jdbc+derby"] {
        let jars = match bourse_engine_jdbc::info(&format!("{scheme}:x")) {
            Ok(found) => std::env::join_paths(found.jars).expect("they came from such a list"),
            Err(why) => {
                eprintln!("skipped: databases_in_java_run on {scheme} ({why})");
                continue;
            }
        };
        every_workload_runs(&format!("{scheme}:x.java?jar={}", jars.display()));
    }
}

/// Checks that a folder without the mark stays as it is.
fn theirs_is_left_alone(scheme: &str) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    std::fs::create_dir(folder.path().join("theirs")).expect("a folder can be made");
    std::fs::write(folder.path().join("theirs/notes"), "dear diary").expect("a file can be written");
    let ended = output(folder.path(), &["micro", "run", "update", &format!("{scheme}:theirs"), "--count", "10"]);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    assert!(errors.contains("without Bourse's mark"), "{errors}");
    let names: Vec<_> = std::fs::read_dir(folder.path().join("theirs")).expect("it is there").collect();
    assert_eq!(names.len(), 1, "nothing is added: {names:?}");
}

/// Names of the files in a folder, each of which begins and ends as Parquet files do.
fn parquet_files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = entries
        .map(|path| {
            let bytes = std::fs::read(&path).expect("a file");
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{}", path.display());
            path.file_name().expect("a name").to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn runs_and_generated_tables_are_written_as_parquet() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let size = ["--rounds", "1", "--for", "300ms", "-s", "rows=100", "--warmup", "0s"];
    printed(folder, &[&["micro", "run", "point-read", "sqlite::memory:"][..], &size].concat());
    printed(folder, &["report", "bourse-runs", "--format", "parquet", "-o", "tables"]);
    let names = parquet_files(&folder.join("tables"));
    assert!(names.len() == 19 && names.contains(&"cases.parquet".to_owned()), "{names:?}");
    printed(
        folder,
        &["tpce", "gen", "--format", "parquet", "-w", "1", "--tables", "trade,customer", "-o", "generated"],
    );
    assert_eq!(parquet_files(&folder.join("generated")), ["Customer.parquet", "Trade.parquet"]);
}
