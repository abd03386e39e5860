//! Snapshots of a cluster's data: each restore gives every node the same data, even if one was lost meanwhile.

use crate::{long_cluster, scheme};
use bourse_engine::{Engine as _, RowExt as _, Session};
use bourse_engine_mysql::cluster::{ClusterProduct, open};
use bourse_testkit::server::open_folder;

fn rows(session: &mut dyn Session) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    session
        .query_text("SELECT id, balance FROM account ORDER BY id", &[], &mut |row| {
            found.push((row.get(0)?, row.get(1)?));
            Ok(())
        })
        .unwrap();
    found
}

fn rounds_begin_alike(test: &str, product: ClusterProduct) {
    if long_cluster(test, product, "").is_none() {
        return;
    }
    let parent = open_folder();
    let folder = parent.path().display();
    let target = format!("{}:{folder}?nodes=3&innodb_buffer_pool=64MiB&log_file=64MiB&flush_log=2", scheme(product));
    let engine = open(&target).unwrap();
    let run = |node: usize, sql: &str| {
        engine.session_at(node).unwrap().query_text(sql, &[], &mut |_| Ok(())).unwrap();
    };
    run(0, "CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)");
    run(1, "INSERT INTO account VALUES (1, 10), (2, 20)");
    let copy = engine.snapshot().unwrap();
    assert!(copy.method().contains("while no node ran"), "{}", copy.method());
    let loaded = [(1, 10), (2, 20)];
    for round in 0..2 {
        for node in 0..3 {
            assert_eq!(rows(&mut *engine.session_at(node).unwrap()), loaded, "round {round}, n{}", node + 1);
        }
        assert!(!engine.counters().unwrap().is_empty(), "each node is asked, and none counts as lost");
        run(0, "INSERT INTO account VALUES (3, 30)");
        run(1, "UPDATE account SET balance = balance + 1");
        run(2, "DELETE FROM account WHERE id = 1");
        // A node that is away when a round ends is there when the next one begins.
        engine.kill_node(round).unwrap();
        assert_eq!(rows(&mut *engine.session_at(2).unwrap()), [(2, 21), (3, 31)]);
        copy.restore().unwrap();
    }
    assert!((0..3).all(|node| engine.node_process(node).is_some()));
    for node in 0..3 {
        assert_eq!(rows(&mut *engine.session_at(node).unwrap()), loaded, "n{}", node + 1);
    }
    // No node was sent the state of another one: all had it.
    let mut logs = 0;
    for entry in std::fs::read_dir(parent.path()).unwrap() {
        let log =
            String::from_utf8_lossy(&std::fs::read(entry.unwrap().path().join("server.log")).unwrap()).into_owned();
        assert!(!log.contains("SST complete") && !log.contains("Clone process"), "{log}");
        logs += 1;
    }
    assert_eq!(logs, 3);
}

#[test]
fn galera() {
    rounds_begin_alike("snapshot::galera", ClusterProduct::Galera);
}

#[test]
fn group() {
    rounds_begin_alike("snapshot::group", ClusterProduct::Group);
}
