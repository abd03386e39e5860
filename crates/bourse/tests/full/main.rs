//! The program with every engine, including those that the default build leaves out.
#![allow(missing_docs, reason = "tests")]

mod acid;
mod isolation;
mod owned;

use bourse_engine_mysql::cluster::ClusterProduct;
use bourse_record::Document as _;
use std::path::Path;
use std::process::{Command, Output};

/// The program in a folder of its own, without settings from the environment.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bourse"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("BOURSE_NO_REPEAT", "true");
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the program can be started")
}

/// Standard output of a command, which must succeed.
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

/// Each missing engine is reported with the way to get it: the program runs without anything that the environment names.
#[test]
fn an_engine_that_is_unavailable_is_told_with_what_has_it() {
    const GOT_BY: &[(&str, &[&str])] = &[
        ("sqlite+lib", &["libsqlite3-0"]),
        ("mariadb+private", &["mariadb-server"]),
        ("mysql+private", &["mysql-server-core"]),
        ("mariadb+galera", &["mariadb-server", "galera-4", "the package rsync", "the packages lsof"]),
        ("mysql+group", &["mysql-server-core"]),
        ("postgres+private", &["postgresql"]),
        ("duckdb", &["@duckdb/node-bindings-linux-x64"]),
        ("firebird", &["firebird3.0-server-core"]),
        // A package of the system may have put the jar in its usual place.
        ("jdbc+h2", &["com.h2database:h2", "openjdk-17-jre-headless"]),
        ("jdbc+hsqldb", &["org.hsqldb:hsqldb", "openjdk-17-jre-headless"]),
        ("jdbc+derby", &["org.apache.derby:derby", "openjdk-17-jre-headless"]),
        ("jdbc+monetdb", &["monetdb:monetdb-java-lite"]),
        ("jdbc+monetdb", &["openjdk-17-jre-headless"]),
        ("rocksdb", &["librocksdb"]),
        ("leveldb", &["libleveldb1d"]),
        ("berkeleydb", &["libdb5.3"]),
        ("redis+private", &["redis-server"]),
        ("valkey+private", &["valkey-server"]),
        ("tidb+private", &["TiDB's packages"]),
        ("vitess+private", &["Vitess' packages"]),
        ("fastdb", &["github.com/gavioto/fastdb"]),
    ];
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut command = command(folder.path(), &["engines", "--json"]);
    let ended = command.env("PATH", "/nonexistent").env_remove("JAVA_HOME").output().expect("it can be started");
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let listed: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("it is JSON");
    let listed = listed.as_array().expect("a list");
    let mut missing = Vec::new();
    for engine in listed {
        let Some(why) = engine["unavailable"].as_str() else { continue };
        let got_by: Vec<_> = GOT_BY.iter().filter(|(name, _)| engine["engine"] == *name).collect();
        assert!(!got_by.is_empty(), "nobody knows what has {engine:#}");
        let is_told = got_by.iter().all(|(_, by)| by.iter().any(|name| why.contains(name)));
        assert!(is_told, "{got_by:?} is not in: {why}");
        missing.push(&engine["engine"]);
    }
    // Nothing puts its jars in a usual place.
    assert!(missing.iter().any(|engine| **engine == "jdbc+monetdb"), "{missing:?}");
}

/// Runs a writing and two reading workloads on a target, twice each, so that the second run finds the first one's database.
fn workloads_run(target: &str) {
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

/// Prints the test's name if DuckDB's library is missing.
#[test]
fn duckdb_runs() {
    let library = match bourse_engine_duckdb::info(None) {
        Ok(found) => found.path,
        Err(why) => return bourse_testkit::skipped("duckdb_runs", why),
    };
    workloads_run(&format!("duckdb:x.duckdb?library={}", library.display()));
    workloads_run(&format!("duckdb::memory:?library={}", library.display()));
}

/// Prints the test's name if Firebird's library is missing.
#[test]
fn firebird_runs() {
    if let Err(why) = bourse_engine_firebird::info(None) {
        return bourse_testkit::skipped("firebird_runs", why);
    }
    workloads_run("firebird:x.fdb");
    workloads_run("firebird:y.fdb?sync=off&serializable=tables");
}

#[test]
fn turso_runs() {
    workloads_run("turso:x.turso");
    workloads_run("turso:x.turso?journal=mvcc");
    workloads_run("turso::memory:?journal=mvcc");
    ours_is_listed_and_removed("turso");
}

#[test]
fn private_servers_run() {
    for engine in ["mariadb+private", "postgres+private"] {
        if let Some(target) = private_server("private_servers_run", engine) {
            workloads_run(&target);
        }
    }
}

/// A target of a private server in memory; if it is not installed, the test is reported as skipped.
fn private_server(test: &str, engine: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let listed: serde_json::Value =
        serde_json::from_str(&printed(folder.path(), &["engines", engine, "--json"])).expect("it is JSON");
    if listed["version"].is_null() {
        bourse_testkit::skipped(&format!("{test} on {engine}"), &listed["unavailable"]);
        return None;
    }
    let small = if engine.starts_with("mariadb") { "&innodb_buffer_pool=64MiB&log_file=16MiB" } else { "" };
    Some(format!("{engine}:?ram=on{small}"))
}

#[test]
fn galera_runs() {
    cluster_runs("galera_runs", ClusterProduct::Galera, "mariadb+galera", "galera", "wsrep_replicated");
}

#[test]
fn group_replication_runs() {
    let sent = "Gr_data_messages_sent_count";
    cluster_runs("group_replication_runs", ClusterProduct::Group, "mysql+group", "group-replication", sent);
}

/// Runs two rounds on a cluster, the second of which begins as the first did. Prints the test's name if the cluster is not
/// available.
fn cluster_runs(test: &str, product: ClusterProduct, scheme: &str, name: &str, counter: &str) {
    if let Err(why) =
        bourse_engine_mysql::cluster::installed(product, &bourse_engine_mysql::cluster::ClusterOptions::DEFAULT)
    {
        return bourse_testkit::skipped(test, why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // The program is started without settings from the environment.
    let server = std::env::var(bourse_engine_mysql::SERVER_VARIABLE).ok().filter(|_| product == ClusterProduct::Group);
    let server = server.map_or_else(String::new, |server| format!("&server={server}"));
    let target = format!("{scheme}:?nodes=2&ram=on&innodb_buffer_pool=128MiB&log_file=64MiB&flush_log=2{server}");
    let size = ["--customers", "1000", "--days", "1", "--users", "4", "--check", "quick"];
    let length = ["--rounds", "2", "--warmup", "1s", "-T", "5s", "--no-wait", "--json"];
    let run = printed(folder.path(), &[&["tpce", "run", &target][..], &size, &length].concat());
    let run: serde_json::Value = serde_json::from_str(&run).expect("a run file is JSON");
    let case = &run["cases"][0];
    assert_eq!(case["engine"]["name"], name);
    let rounds = case["rounds"].as_array().expect("a list");
    assert_eq!(rounds.len(), 2);
    for round in rounds {
        let checks = round["checks"].as_array().expect("a list");
        assert!(checks.len() > 20 && checks.iter().all(|check| check["status"] != "failed"), "{checks:?}");
        let counters = round["counters"].as_array().expect("a list");
        let is_counted = counters.iter().any(|it| it["name"] == counter && it["count"].as_u64() > Some(0));
        assert!(is_counted, "{counters:?}");
    }
    let isolation = case["conditions"]["isolation"].as_array().expect("a list");
    let result = isolation.iter().find(|it| it["operation"] == "Trade-Result").expect("it is listed");
    assert_ne!(result["demanded"], result["provided"], "serializable is not given between nodes");
}

#[test]
fn fjall_runs() {
    workloads_run("fjall:x.fjall");
    theirs_is_left_alone("fjall");
    ours_is_listed_and_removed("fjall");
}

#[test]
fn rocksdb_runs() {
    if let Err(why) = bourse_engine_rocksdb::info(None) {
        bourse_testkit::skipped("rocksdb_runs", why);
        return;
    }
    workloads_run("rocksdb:x.rocksdb");
    theirs_is_left_alone("rocksdb");
    ours_is_listed_and_removed("rocksdb");
}

#[test]
fn leveldb_runs() {
    if let Err(why) = bourse_engine_rocksdb::leveldb::info(None) {
        bourse_testkit::skipped("leveldb_runs", why);
        return;
    }
    workloads_run("leveldb:x.leveldb");
    theirs_is_left_alone("leveldb");
    ours_is_listed_and_removed("leveldb");
}

#[test]
fn berkeley_db_runs() {
    if let Err(why) = bourse_engine_rocksdb::berkeley::info(None) {
        bourse_testkit::skipped("berkeley_db_runs", why);
        return;
    }
    workloads_run("berkeleydb:x.bdb");
    theirs_is_left_alone("berkeleydb");
}

#[test]
fn databases_in_java_run() {
    for place in ["jdbc+h2:x.java", "jdbc+hsqldb:x.java", "jdbc+derby:x.java"] {
        if let Some(target) = in_java(place, "", "databases_in_java_run") {
            workloads_run(&target);
        }
    }
}

/// The virtual machine's own threads are reported apart from the users': a machine that has just begun compiles the code
/// that it runs.
#[cfg(target_os = "linux")]
#[test]
fn a_virtual_machines_own_threads_are_in_the_run_file() {
    let test = "a_virtual_machines_own_threads_are_in_the_run_file";
    let Some(target) = in_java("jdbc+h2::memory:", "", test) else { return };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let length = ["--rounds", "1", "--for", "2s", "--warmup", "0s", "-s", "rows=1000", "--no-wait", "--json"];
    let run = printed(folder.path(), &[&["micro", "run", "update", &target][..], &length].concat());
    let run = bourse_record::RunFile::parse(run.as_bytes(), Path::new("stdout")).expect("--json prints the run file");
    let threads = &run.cases[0].rounds[0].engine_threads;
    let works: Vec<_> = threads.iter().map(|it| it.work.as_str()).collect();
    assert_eq!(works, ["garbage collection", "JIT compiler", "VM thread"]);
    assert!(threads[1].cpu_s > 0.0 && threads.iter().all(|it| it.cpu_s >= 0.0), "{threads:?}");
}

/// Target with the paths of its jars; prints the test's name if they or a Java virtual machine are missing.
fn in_java(target: &str, settings: &str, test: &str) -> Option<String> {
    match bourse_engine_jdbc::info(target) {
        Ok(found) => {
            let jars = std::env::join_paths(found.jars).expect("they came from such a list");
            Some(format!("{target}?jar={}{settings}", jars.display()))
        }
        Err(why) => {
            bourse_testkit::skipped(&format!("{test} on {target}"), why);
            None
        }
    }
}

/// Checks that a target was lost, with these words in the message.
#[track_caller]
fn is_lost(ended: &Output, words: &[&str]) {
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{errors}");
    for word in words {
        assert!(errors.contains(word), "{word:?} is not in:\n{errors}");
    }
}

/// The process of a program's round, once it contains a virtual machine.
#[cfg(target_os = "linux")]
fn round_with_machine(program: u32) -> Option<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{program}/task")).ok()?.flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let ids: Vec<u32> =
        children.flat_map(|ids| ids.split(' ').filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect();
    let has_machine =
        |id: &u32| std::fs::read_to_string(format!("/proc/{id}/maps")).is_ok_and(|maps| maps.contains("libjvm"));
    ids.into_iter().find(has_machine)
}

#[cfg(target_os = "linux")]
#[test]
fn a_virtual_machine_that_is_killed_is_a_lost_target() {
    let Some(target) = in_java("jdbc+h2::memory:", "", "a_virtual_machine_that_is_killed_is_a_lost_target") else {
        return;
    };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let length = ["--rounds", "1", "--for", "60s", "--warmup", "0s", "-s", "rows=100", "--no-wait"];
    let mut command = command(folder.path(), &[&["micro", "run", "point-read", &target][..], &length].concat());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let program = command.spawn().expect("the program can be started");
    let start = std::time::Instant::now();
    let round = loop {
        if let Some(round) = round_with_machine(program.id()) {
            break round;
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "no virtual machine is started");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let sent = Command::new("kill").args(["-KILL", &round.to_string()]).status().expect("kill can be run");
    assert!(sent.success(), "{round} is gone already");
    let ended = program.wait_with_output().expect("it ends");
    is_lost(&ended, &["a round of point-read on jdbc+h2::memory:", "was lost", "signal: 9"]);
}

/// A function of the database exits the virtual machine, and the process with it, with exit code 0.
#[test]
fn a_virtual_machine_that_exits_is_a_lost_target() {
    let Some(target) = in_java("jdbc+h2::memory:", "", "a_virtual_machine_that_exits_is_a_lost_target") else { return };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let script = "[[setup]]\nsql = \"CREATE ALIAS quit FOR 'java.lang.System.exit'\"\n\
                  [[operation]]\nname = \"quit\"\nsql = \"CALL quit(0)\"\n";
    std::fs::write(folder.path().join("quit.toml"), script).expect("a file can be written");
    let length = ["--rounds", "1", "--count", "10", "--warmup", "0s", "--no-wait"];
    let ended = output(folder.path(), &[&["micro", "run", "sql", "quit.toml", &target][..], &length].concat());
    is_lost(&ended, &["was lost", "gave no answer: exit status: 0"]);
}

#[test]
fn a_heap_that_is_full_is_told_with_what_makes_it_larger() {
    let name = "a_heap_that_is_full_is_told_with_what_makes_it_larger";
    let Some(target) = in_java("jdbc+h2::memory:", "&heap=16MiB", name) else { return };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let length = ["--rounds", "1", "--count", "10", "-s", "rows=1000000", "--warmup", "0s", "--no-wait"];
    let ended = output(folder.path(), &[&["micro", "run", "point-read", &target][..], &length].concat());
    is_lost(&ended, &["Java virtual machine", "`heap=` makes it larger"]);
}

/// Checks that a folder without the mark is not changed.
fn theirs_is_left_alone(scheme: &str) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    std::fs::create_dir(folder.path().join("theirs")).expect("a folder can be made");
    std::fs::write(folder.path().join("theirs/notes"), "dear diary").expect("a file can be written");
    let ended = output(folder.path(), &["micro", "run", "update", &format!("{scheme}:theirs"), "--count", "10"]);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    assert!(errors.contains("has no mark of Bourse's"), "{errors}");
    let names: Vec<_> = std::fs::read_dir(folder.path().join("theirs")).expect("it is there").collect();
    assert_eq!(names.len(), 1, "nothing is added: {names:?}");
}

/// Makes a database that is a folder, next to a foreign folder with a similar name, and lists and removes it.
fn ours_is_listed_and_removed(scheme: &str) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let [ours, theirs] = ["ours", "theirs"].map(|name| format!("bourse-data/{name}.{scheme}"));
    std::fs::create_dir_all(folder.path().join(&theirs)).expect("a folder can be made");
    std::fs::write(folder.path().join(&theirs).join("notes"), "dear diary").expect("a file can be written");
    printed(folder.path(), &["micro", "run", "update", &format!("{scheme}:{ours}"), "--count", "10", "-s", "rows=100"]);
    let listed: serde_json::Value =
        serde_json::from_str(&printed(folder.path(), &["data", "ls", "--json"])).expect("it is JSON");
    let targets: Vec<_> = listed.as_array().expect("a list").iter().map(|it| it["target"].clone()).collect();
    assert_eq!(targets, [format!("{scheme}:{ours}")], "{listed}");
    assert!(listed[0]["bytes"].as_u64() > Some(0), "{listed}");
    let refused = output(folder.path(), &["data", "rm", &ours, &theirs]);
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(folder.path().join(&ours).exists() && folder.path().join(&theirs).join("notes").exists());
    printed(folder.path(), &["data", "rm", &ours]);
    assert!(!folder.path().join(&ours).exists() && folder.path().join(&theirs).join("notes").exists());
}

/// Names of the files in a folder, each of which must begin and end like a Parquet file; the list of them is hidden.
fn parquet_files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_list = |path: &std::path::PathBuf| path.ends_with(".bourse-files");
    let mut names: Vec<String> = entries
        .filter(|path| !is_list(path))
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
    assert!(names.len() > 18 && names.contains(&"cases.parquet".to_owned()), "{names:?}");
    printed(
        folder,
        &["tpce", "gen", "--format", "parquet", "-w", "1", "--tables", "trade,customer", "-o", "generated"],
    );
    assert_eq!(parquet_files(&folder.join("generated")), ["Customer.parquet", "Trade.parquet"]);
}
