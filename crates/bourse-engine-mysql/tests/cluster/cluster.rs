//! A private cluster's life.

use crate::{long_cluster, scheme};
use bourse_engine::{
    Access, Durability, Engine as _, ErrorKind, Isolation, Params, RowExt as _, Session, SessionExt as _, Sql,
};
use bourse_engine_mysql::cluster::{ClusterProduct, open, sweep_target};
use bourse_testkit::server::{abandon, is_alive, open_folder};
use bourse_testkit::{conformance, records_conformance};

static ALL: Sql = Sql::new("SELECT id FROM kept ORDER BY id");
static ADD: Sql = Sql::new("INSERT INTO kept (id) VALUES (?1)");

fn ids(session: &mut dyn Session) -> Vec<i64> {
    session.all(&ALL, &[], |row| row.get(0)).unwrap()
}

/// Runs the seam's conformance tests through one node: sessions at several nodes are not serializable, and the seam does not
/// demand it.
fn promises_are_kept(test: &str, product: ClusterProduct) {
    if let Some(engine) = long_cluster(test, product, "nodes=2&spread=off&lock_timeout=1s") {
        conformance(&engine);
        let left_out = records_conformance(&engine);
        match product {
            ClusterProduct::Galera => assert_eq!(left_out, ["keys are assigned, none twice", "keys can be hashed"]),
            ClusterProduct::Group => assert_eq!(left_out, ["keys can be hashed"]),
        }
    }
}

#[test]
fn promises_are_kept_at_one_node_of_galera() {
    promises_are_kept("cluster::promises_are_kept_at_one_node_of_galera", ClusterProduct::Galera);
}

#[test]
fn promises_are_kept_at_the_primary_of_a_group() {
    promises_are_kept("cluster::promises_are_kept_at_the_primary_of_a_group", ClusterProduct::Group);
}

/// Life of one cluster in a single test, since starting one takes seconds.
#[test]
fn a_cluster_is_described_killed_started_again_and_removed() {
    let test = "cluster::a_cluster_is_described_killed_started_again_and_removed";
    if !cfg!(target_os = "linux") {
        return;
    }
    let Some(engine) = long_cluster(test, ClusterProduct::Galera, "nodes=3&flush_log=1") else { return };
    assert!(!engine.exists().unwrap());
    assert_eq!(engine.node_process(0), None, "a cluster was started for nothing");
    let isolation = engine.capabilities().sql.unwrap().isolation;
    assert!(!isolation.contains(&Isolation::Serializable), "not between nodes");

    let description = engine.description().unwrap();
    let setting = |name: &str| {
        description.settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    for (name, expected) in [
        ("wsrep_cluster_size", "3"),
        ("wsrep_cluster_status", "Primary"),
        ("wsrep_sync_wait", "7"),
        ("wsrep_sst_method", "rsync"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("nodes", "n1, n2, n3"),
        ("sessions", "spread over all nodes"),
    ] {
        assert_eq!(setting(name), Some(expected), "{name}");
    }
    assert_eq!((description.engine.as_str(), description.durability), ("galera", Durability::Volatile));
    let processes = [0, 1, 2].map(|node| engine.node_process(node).unwrap());
    assert!(processes.iter().all(|process| is_alive(*process)), "{processes:?}");
    let footprint = engine.footprint().unwrap();
    assert!(footprint.log_bytes >= 3 * (64 << 20) && footprint.server.unwrap().resident_bytes > 100 << 20);
    assert!(engine.io_counts().unwrap().is_some());

    // The other nodes read a node's commit immediately.
    let mut at = [0, 1, 2].map(|node| engine.session_at(node).unwrap());
    at[0].query_text("CREATE TABLE kept (id BIGINT PRIMARY KEY)", &[], &mut |_| Ok(())).unwrap();
    for id in 1..=30_i64 {
        at[(id % 3) as usize].execute(&ADD, Params::of(&[id.into()])).unwrap();
        assert_eq!(ids(&mut *at[((id + 1) % 3) as usize]).last(), Some(&id));
    }

    // A node is killed: its session continues at another, its transaction does not.
    at[1].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    at[1].execute(&ADD, Params::of(&[31.into()])).unwrap();
    engine.kill_node(1).unwrap();
    assert!(!is_alive(processes[1]));
    assert_eq!(engine.node_process(1), None);
    let lost = at[1].execute(&ADD, Params::of(&[32.into()])).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Conflict, "{lost}");
    assert!(lost.message().contains("node n2 was lost in a transaction, of which nothing was committed"), "{lost}");
    assert_eq!(at[1].execute(&ADD, Params::of(&[32.into()])).unwrap_err().kind(), ErrorKind::Conflict);
    at[1].rollback().unwrap();
    at[1].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    at[1].execute(&ADD, Params::of(&[33.into()])).unwrap();
    at[1].commit().unwrap();
    let expected: Vec<i64> = (1..=30).chain([33]).collect();
    assert_eq!(ids(&mut *at[0]), expected);
    assert!(engine.conflicts().iter().any(|kind| kind.name == "node lost" && kind.count == 1));
    assert!(engine.io_counts().unwrap().is_none(), "a node is away");

    // It comes back with what was committed meanwhile, and its session with it.
    engine.restart_node(1).unwrap();
    assert_ne!(engine.node_process(1), Some(processes[1]));
    assert_eq!(ids(&mut *engine.session_at(1).unwrap()), expected);
    at[1].begin(Isolation::RepeatableRead, Access::Read).unwrap();
    static NODE: Sql = Sql::new("SELECT @@wsrep_node_name");
    assert_eq!(at[1].first(&NODE, &[], |row| row.get::<String>(0)).unwrap().unwrap(), "n2");
    at[1].rollback().unwrap();

    // All nodes are killed: a commit under way is in doubt, and all data is there again after the restart.
    let server = engine.hosting().owned_server().unwrap();
    at[2].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    server.kill().unwrap();
    assert_eq!(at[2].commit().unwrap_err().kind(), ErrorKind::InDoubt);
    assert_eq!(engine.session().map(|_| ()).unwrap_err().kind(), ErrorKind::ConnectionLost);
    server.restart().unwrap();
    for node in 0..3 {
        assert_eq!(ids(&mut *engine.session_at(node).unwrap()), expected, "n{}", node + 1);
    }

    let processes = [0, 1, 2].map(|node| engine.node_process(node).unwrap());
    let folder = engine.location().folder().unwrap().parent().unwrap().to_owned();
    assert!(folder.is_dir() && sweep_target(engine.target()).is_empty(), "a cluster in use was swept");
    drop(engine);
    assert!(!folder.exists() && processes.iter().all(|process| !is_alive(*process)));
}

#[test]
fn what_a_killed_owner_has_left_is_removed_by_the_next() {
    let test = "cluster::what_a_killed_owner_has_left_is_removed_by_the_next";
    for product in [ClusterProduct::Galera, ClusterProduct::Group] {
        if cfg!(target_os = "linux") && long_cluster(test, product, "").is_some() {
            leftovers_are_removed(scheme(product));
        }
    }
}

fn leftovers_are_removed(scheme: &str) {
    let parent = open_folder();
    let folder = parent.path().display();
    let target = format!("{scheme}:{folder}?nodes=2&innodb_buffer_pool=64MiB&log_file=64MiB");
    let engine = open(&target).unwrap();
    engine.session().unwrap();
    let processes = [0, 1].map(|node| engine.node_process(node).unwrap());
    assert!(sweep_target(engine.target()).is_empty(), "its owner lives");
    let folders: Vec<_> = std::fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 2);
    folders.iter().for_each(|folder| abandon(folder));
    let mut swept = sweep_target(engine.target());
    swept.sort();
    let mut expected = folders;
    expected.sort();
    assert_eq!(swept, expected);
    assert!(processes.iter().all(|process| !is_alive(*process)));
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}
