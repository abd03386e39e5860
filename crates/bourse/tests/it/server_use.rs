//! Resource usage of a private server in the run file: its own counters, its processor time, its memory.

use crate::{output, text};
use bourse_engine::Engine;
use bourse_engine_mysql::Flavour;
use std::path::Path;

/// A run on each installed server; others are reported as skipped.
#[test]
fn a_run_tells_what_a_private_server_counted_and_used() {
    let mariadb = bourse_engine_mysql::installed(Flavour::Mariadb, None).err().map(|why| why.to_string());
    let postgres = bourse_engine_postgres::installed(None).err().map(|why| why.to_string());
    for (missing, target, counter) in [
        (mariadb, "mariadb+private:?innodb_buffer_pool=64MiB&log_file=16MiB", "Com_commit"),
        (postgres, "postgres+private:?", "xact_commit"),
    ] {
        if let Some(why) = missing {
            let test = "server_use::a_run_tells_what_a_private_server_counted_and_used";
            bourse_testkit::skipped(&format!("{test} on {target}"), why);
            continue;
        }
        let memory = if Path::new("/dev/shm").is_dir() { "&ram=on" } else { "" };
        let target = format!("{target}{memory}").replace("?&", "?");
        tells(target.trim_end_matches('?'), counter);
    }
}

fn tells(target: &str, counter: &str) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // Of a short round on a busy machine there are no counters: they are read too late for it.
    let size = ["-s", "rows=100", "--rate", "300", "--for", "4s", "--warmup", "0s", "--rounds", "1", "--no-wait"];
    let ended = output(folder.path(), &[&["micro", "run", "update", target, "--json"][..], &size].concat());
    assert_eq!(ended.status.code(), Some(0), "{target}: {}", text(&ended.stderr));
    let run: serde_json::Value = serde_json::from_str(&text(&ended.stdout)).expect("a run file is JSON");
    let round = &run["cases"][0]["rounds"][0];
    let counters = round["counters"].as_array().expect("a list");
    let counted = counters.iter().find(|it| it["name"] == counter).and_then(|it| it["count"].as_u64());
    // Each update commits; events before the first reading of the counters are in no difference.
    assert!(counted > Some(0), "{target}: {counters:?}");
    assert_eq!(round["cost_covers"], "client_and_server", "{target}");
    let seconds = |name: &str| round["server"][name].as_f64().expect("the server's process can be looked at");
    assert!(seconds("cpu_user_s") + seconds("cpu_system_s") > 0.0, "{target}: {}", round["server"]);
    assert!(round["io_source"].as_str().is_some_and(|source| source.starts_with("the server (")), "{target}");
    let columns = round["series"]["columns"].as_array().expect("a list");
    let memory = columns.iter().find(|it| it["metric"] == "server_memory_resident_bytes").expect("its memory");
    let values: Vec<f64> = memory["values"].as_array().into_iter().flatten().filter_map(|it| it.as_f64()).collect();
    assert!(values.iter().any(|bytes| *bytes > 1e6), "{target}: {memory}");
}

/// The client's CPU time on a user's server was once reported as the total, if the interval was short.
#[test]
fn the_cost_on_a_persons_server_is_the_clients_and_what_the_server_counts() {
    let test = "server_use::the_cost_on_a_persons_server_is_the_clients_and_what_the_server_counts";
    let memory = if Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    match bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        Err(why) => bourse_testkit::skipped(&format!("{test} on mariadb"), why),
        Ok(_) => {
            let private = format!("mariadb+private:?{memory}innodb_buffer_pool=64MiB&log_file=16MiB");
            let server = bourse_engine_mysql::open(&private).expect("a target");
            costs(&server, |folder| format!("mariadb://root@localhost/mine?socket={}", folder.join("s").display()));
        }
    }
    match bourse_engine_postgres::installed(None) {
        Err(why) => bourse_testkit::skipped(&format!("{test} on postgres"), why),
        Ok(_) => {
            let server = bourse_engine_postgres::open(&format!("postgres+private:?{memory}shared_buffers=64MiB"));
            let server = server.expect("a target");
            costs(&server, |folder| format!("postgres://postgres@localhost/mine?socket={}", folder.display()));
        }
    }
}

fn costs(server: &dyn Engine, target: impl FnOnce(&Path) -> String) {
    drop(server.session().expect("the server starts"));
    let data = server.location().folder().expect("its files are here");
    let target = target(data.parent().expect("its folder"));
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let size = ["-s", "rows=100", "-T", "300ms", "--warmup", "0s", "--rounds", "1", "--no-wait", "-o", "out"];
    let ended = output(folder.path(), &[&["micro", "run", "update", &target][..], &size].concat());
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{target}: {report} {}", text(&ended.stderr));
    assert!(report.contains("\nclient's processor time (the server's is not known)  "), "{target}: {report}");
    assert!(!report.contains("\nwritten  ") && !report.contains("\nread  "), "{target}: {report}");
    let run = std::fs::read_dir(folder.path().join("out")).expect("a folder").next().expect("a run").expect("an entry");
    let run = std::fs::read_to_string(run.path().join("run.json")).expect("its document");
    let run: serde_json::Value = serde_json::from_str(&run).expect("it is JSON");
    let round = &run["cases"][0]["rounds"][0];
    assert_eq!((&round["cost_covers"], &round["server"]), (&"client".into(), &serde_json::Value::Null), "{target}");
}
