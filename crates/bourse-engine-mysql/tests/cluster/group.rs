//! A replication group's life, as far as it differs from Galera's.

use crate::long_cluster;
use bourse_engine::{
    Access, Durability, Engine as _, ErrorKind, Isolation, Params, Result, RowExt as _, Session, SessionExt as _, Sql,
};
use bourse_engine_mysql::cluster::{ClusterEngine, ClusterProduct, open};
use bourse_testkit::server::is_alive;

static ALL: Sql = Sql::new("SELECT id FROM kept ORDER BY id");
static ADD: Sql = Sql::new("INSERT INTO kept (id) VALUES (?1)");
static NODE: Sql = Sql::new("SELECT @@server_id");

fn ids(session: &mut dyn Session) -> Vec<i64> {
    session.all(&ALL, &[], |row| row.get(0)).unwrap()
}

fn server(session: &mut dyn Session) -> i64 {
    session.first(&NODE, &[], |row| row.get(0)).unwrap().unwrap()
}

fn isolation(session: &mut dyn Session) -> String {
    static LEVEL: Sql = Sql::new("SELECT @@session.transaction_isolation");
    session.first(&LEVEL, &[], |row| row.get(0)).unwrap().unwrap()
}

fn setting(engine: &ClusterEngine, name: &str) -> String {
    let description = engine.description().unwrap();
    let found = description.settings.into_iter().find(|setting| setting.name == name);
    found.map_or_else(String::new, |setting| setting.value)
}

/// Target of a running group, derived from a private one: by TCP, as a user without a password.
fn running(private: &ClusterEngine, nodes: usize, query: &str) -> ClusterEngine {
    let mut session = private.session_at(0).unwrap();
    for sql in ["CREATE USER IF NOT EXISTS ann@'127.0.0.1'", "GRANT ALL ON *.* TO ann@'127.0.0.1'"] {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap();
    }
    static PORT: Sql = Sql::new("SELECT @@port");
    let port = |node| private.session_at(node).unwrap().first(&PORT, &[], |row| row.get::<i64>(0)).unwrap().unwrap();
    let addresses: Vec<String> = (0..nodes).map(|node| format!("127.0.0.1:{}", port(node))).collect();
    open(&format!("group://ann@{}/bourse?{query}", addresses.join(","))).unwrap()
}

#[test]
fn a_running_group_is_reached_where_its_mode_allows() {
    let test = "group::a_running_group_is_reached_where_its_mode_allows";
    let Some(many) = long_cluster(test, ClusterProduct::Group, "nodes=2") else { return };
    let Some(single) = long_cluster(test, ClusterProduct::Group, "nodes=2&spread=off") else { return };
    let engine = running(&many, 2, "");
    let mut first = engine.session().unwrap();
    first.query_text("CREATE TABLE kept (id BIGINT PRIMARY KEY)", &[], &mut |_| Ok(())).unwrap();
    let mut second = engine.session().unwrap();
    assert_eq!([server(&mut *first), server(&mut *second)], [1, 2], "in turn");
    add(&mut *first, 7).unwrap();
    assert_eq!(ids(&mut *second), [7], "what the other node has committed");
    assert_eq!(setting(&engine, "group_members_online"), "2");
    let refused = engine.snapshot().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("a cluster that others run is not stopped"), "{refused}");

    let refused = running(&single, 2, "").session().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("`spread=off` sends all sessions there"), "{refused}");
    let engine = running(&single, 2, "spread=off");
    let mut session = engine.session().unwrap();
    session.query_text("CREATE TABLE kept (id BIGINT PRIMARY KEY)", &[], &mut |_| Ok(())).unwrap();
    add(&mut *session, 8).unwrap();
    assert_eq!(ids(&mut *session), [8]);
}

/// Life of one group in a single test, since starting one takes seconds.
#[test]
fn a_group_is_described_killed_and_started_again() {
    let test = "group::a_group_is_described_killed_and_started_again";
    if !cfg!(target_os = "linux") {
        return;
    }
    let Some(engine) = long_cluster(test, ClusterProduct::Group, "nodes=3&flush_log=1") else { return };
    assert!(!engine.exists().unwrap());
    assert_eq!(engine.node_process(0), None, "a group was started for nothing");
    assert!(!engine.capabilities().sql.unwrap().isolation.contains(&Isolation::Serializable), "not between nodes");

    let description = engine.description().unwrap();
    assert_eq!((description.engine.as_str(), description.durability), ("group-replication", Durability::Volatile));
    for (name, expected) in [
        ("group_members_online", "3"),
        ("group_members_primary", "3"),
        ("group_replication_consistency", "BEFORE"),
        ("group_replication_single_primary_mode", "OFF"),
        ("gtid_mode", "ON"),
        ("sync_binlog", "1"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("nodes", "n1, n2, n3"),
    ] {
        assert_eq!(setting(&engine, name), expected, "{name}");
    }
    let processes = [0, 1, 2].map(|node| engine.node_process(node).unwrap());
    assert!(processes.iter().all(|process| is_alive(*process)), "{processes:?}");
    assert!(engine.footprint().unwrap().server.unwrap().resident_bytes > 100 << 20);

    // The other nodes read a node's commit immediately.
    let create = "CREATE TABLE kept (id BIGINT PRIMARY KEY)";
    engine.session_at(0).unwrap().query_text(create, &[], &mut |_| Ok(())).unwrap();
    let mut at = [0, 1, 2].map(|node| engine.session_at(node).unwrap());
    for id in 1..=30_i64 {
        at[(id % 3) as usize].execute(&ADD, Params::of(&[id.into()])).unwrap();
        assert_eq!(ids(&mut *at[((id + 1) % 3) as usize]).last(), Some(&id));
    }

    // A group refuses changes of tables without a key.
    let refused = at[0]
        .query_text("CREATE TABLE without_key (id BIGINT)", &[], &mut |_| Ok(()))
        .and_then(|()| at[0].query_text("INSERT INTO without_key VALUES (1)", &[], &mut |_| Ok(())));
    let refused = refused.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Unsupported, Some("3098")), "{refused}");
    at[1].begin(Isolation::Serializable, Access::Write).unwrap();
    assert_eq!(isolation(&mut *at[1]), "SERIALIZABLE", "the read locks of one node");
    at[1].rollback().unwrap();

    // A node is killed: its session continues at another, its transaction does not.
    at[1].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    at[1].execute(&ADD, Params::of(&[31.into()])).unwrap();
    engine.kill_node(1).unwrap();
    assert!(!is_alive(processes[1]));
    let lost = at[1].execute(&ADD, Params::of(&[32.into()])).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Conflict, "{lost}");
    at[1].rollback().unwrap();
    at[1].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    at[1].execute(&ADD, Params::of(&[33.into()])).unwrap();
    at[1].commit().unwrap();
    let expected: Vec<i64> = (1..=30).chain([33]).collect();
    assert_eq!(ids(&mut *at[0]), expected);

    // It comes back with what was committed meanwhile, and its session with it.
    engine.restart_node(1).unwrap();
    assert_eq!(ids(&mut *engine.session_at(1).unwrap()), expected);
    at[1].begin(Isolation::RepeatableRead, Access::Read).unwrap();
    assert_eq!(server(&mut *at[1]), 2);
    at[1].rollback().unwrap();

    // All are killed: all that was acknowledged is there again, at every node.
    let hosted = engine.hosting().owned_server().unwrap();
    at[2].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    at[2].execute(&ADD, Params::of(&[34.into()])).unwrap();
    at[2].commit().unwrap();
    at[2].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    at[2].execute(&ADD, Params::of(&[35.into()])).unwrap();
    hosted.kill().unwrap();
    assert_eq!(at[2].commit().unwrap_err().kind(), ErrorKind::InDoubt);
    hosted.restart().unwrap();
    let expected: Vec<i64> = (1..=30).chain([33, 34]).collect();
    for node in 0..3 {
        assert_eq!(ids(&mut *engine.session_at(node).unwrap()), expected, "n{}", node + 1);
    }
    drop(engine);
    assert!(processes.iter().all(|process| !is_alive(*process)));
}

fn add(session: &mut dyn Session, id: i64) -> Result<()> {
    session.begin(Isolation::Serializable, Access::Write)?;
    session.execute(&ADD, Params::of(&[id.into()]))?;
    session.commit()
}

/// Failover with `spread=off`: the first node is the primary, which provides serializable isolation; another one takes its
/// place if it is lost.
#[test]
fn a_primary_is_lost_and_another_takes_its_place() {
    let test = "group::a_primary_is_lost_and_another_takes_its_place";
    let Some(engine) = long_cluster(test, ClusterProduct::Group, "nodes=3&spread=off") else { return };
    assert!(engine.capabilities().sql.unwrap().isolation.contains(&Isolation::Serializable));
    assert_eq!(setting(&engine, "group_replication_single_primary_mode"), "ON");
    assert_eq!(setting(&engine, "group_members_primary"), "1");
    let mut session = engine.session().unwrap();
    assert_eq!(server(&mut *session), 1);
    session.query_text("CREATE TABLE kept (id BIGINT PRIMARY KEY)", &[], &mut |_| Ok(())).unwrap();
    add(&mut *session, 1).unwrap();
    assert_eq!(isolation(&mut *session), "SERIALIZABLE", "the primary gives it");
    engine.kill_node(0).unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut refused = 0;
    while let Err(e) = add(&mut *session, 2) {
        assert!(matches!(e.kind(), ErrorKind::Conflict | ErrorKind::ConnectionLost | ErrorKind::InDoubt), "{e}");
        assert!(std::time::Instant::now() < until, "no other node has become the primary: {e}");
        refused += 1;
        session.rollback().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(refused < 1_000, "{refused}");
    assert_ne!(server(&mut *session), 1);
    assert_eq!(ids(&mut *session), [1, 2]);
    engine.restart_node(0).unwrap();
    assert_eq!(ids(&mut *engine.session_at(0).unwrap()), [1, 2]);
}
