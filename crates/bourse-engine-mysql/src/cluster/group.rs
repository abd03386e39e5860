//! MySQL Group Replication: arguments of its nodes, joining, and the choice of the first node after all were killed.

use crate::cluster::life::PrivateCluster;
use crate::cluster::plan::ClusterPlan;
use crate::cluster::product::{ClusterFacts, Role};
use crate::connect::MysqlConnector;
use crate::error::error;
use crate::link::Link;
use crate::server::{SOCKET, datadir_argument};
use crate::{Flavour, FlushLog};
use bourse_engine::{EngineError, ErrorKind, Isolation, Result};
use bourse_server::DATABASE;
use bourse_server::client::ConflictKinds;
use bourse_server::private::{ServerKind, StartLimit, processes};
use mysql::prelude::Queryable as _;
use std::time::{Duration, Instant};

pub(crate) static FACTS: ClusterFacts = ClusterFacts {
    name: "group-replication",
    flavour: Flavour::Mysql,
    running: "group",
    waiting: ", SESSION group_replication_consistency = 'BEFORE'",
    not_waiting: ", SESSION group_replication_consistency = 'EVENTUAL'",
    conflicts: ConflictKinds {
        by_code: &[
            ("3101", "3101 (commit refused: another node's was first)"),
            ("1180", "1180 (commit undone for another node's)"),
            ("1213", "1213 (another transaction's lock, or another node's commit)"),
            ("1205", "1205 (lock wait timed out)"),
        ],
        interrupted: false,
    },
    described: &[
        "SHOW SESSION VARIABLES WHERE Variable_name IN (
            'group_replication_consistency', 'group_replication_single_primary_mode',
            'group_replication_enforce_update_everywhere_checks', 'group_replication_communication_stack',
            'group_replication_flow_control_mode', 'group_replication_paxos_single_leader',
            'group_replication_member_expel_timeout', 'group_replication_unreachable_majority_timeout',
            'group_replication_message_cache_size', 'gtid_mode', 'binlog_row_image', 'replica_parallel_workers',
            'replica_preserve_commit_order')",
        "SELECT 'group_members', CAST(count(*) AS CHAR) FROM performance_schema.replication_group_members
          UNION ALL
         SELECT 'group_members_online', CAST(count(*) AS CHAR) FROM performance_schema.replication_group_members
          WHERE member_state = 'ONLINE'
          UNION ALL
         SELECT 'group_members_primary', CAST(count(*) AS CHAR) FROM performance_schema.replication_group_members
          WHERE member_role = 'PRIMARY'",
    ],
    private: ServerKind {
        prefix: "bourse-group-",
        folders: &["tmp"],
        socket: SOCKET,
        account: "mysql",
        serves: |process, data| processes::has_argument(process, &datadir_argument(data)),
        after_kill: |_| {},
    },
    // For replicas, and for the group.
    ports: 2,
    // Each server has its own UUID.
    not_copied: &["auto.cnf", "server.pid"],
    first: &[],
    may_be_first: |_| Ok(()),
    runs_before_joining: true,
    arguments,
    prepare,
    joined,
};

/// Size in bytes of the cache of messages for nodes that were away: the smallest allowed.
const KEPT_MESSAGES: u64 = 128 << 20;

/// User as which nodes fetch missing changes from each other.
const NODE_USER: &str = "bourse_node";

/// Channel of changes that were made at other nodes.
const APPLIER: &str = "group_replication_applier";

fn arguments(plan: &ClusterPlan<'_>, node: usize) -> Vec<String> {
    let place = |node: usize| format!("127.0.0.1:{}", plan.identity.ports(node)[1]);
    let (client, group) = (plan.identity.ports(node)[0], place(node));
    let seeds: Vec<_> = (0..plan.identity.nodes()).map(place).collect();
    let switch = |is_on: bool| if is_on { "ON" } else { "OFF" };
    // A commit is as durable in the binary log as it is in the redo log.
    let is_synced = plan.server.options.flush_log == FlushLog::AtCommit;
    vec![
        // Nodes get from each other's port for clients what they lack.
        "--skip-networking=OFF".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--port={client}"),
        "--report-host=127.0.0.1".to_owned(),
        format!("--report-port={client}"),
        format!("--server-id={}", node + 1),
        "--log-bin=binlog".to_owned(),
        "--relay-log=relay".to_owned(),
        format!("--sync-binlog={}", u8::from(is_synced)),
        "--gtid-mode=ON".to_owned(),
        "--enforce-gtid-consistency=ON".to_owned(),
        "--plugin-load-add=group_replication.so".to_owned(),
        "--loose-group-replication-start-on-boot=OFF".to_owned(),
        format!("--loose-group-replication-group-name={}", plan.identity.name),
        format!("--loose-group-replication-local-address={group}"),
        format!("--loose-group-replication-group-seeds={}", seeds.join(",")),
        "--loose-group-replication-ip-allowlist=127.0.0.1/8".to_owned(),
        "--loose-group-replication-recovery-get-public-key=ON".to_owned(),
        format!("--loose-group-replication-message-cache-size={KEPT_MESSAGES}"),
        "--loose-group-replication-unreachable-majority-timeout=10".to_owned(),
        "--loose-group-replication-exit-state-action=READ_ONLY".to_owned(),
        format!("--loose-group-replication-single-primary-mode={}", switch(!plan.spread)),
        // They refuse serializable transactions; without them those have the read locks of their node, as in Galera.
        "--loose-group-replication-enforce-update-everywhere-checks=OFF".to_owned(),
    ]
}

/// Makes the database and the nodes' user. They are not part of the group's history, so that each node can have them from the
/// beginning.
fn prepare(connection: &mut Link, plan: &ClusterPlan<'_>) -> Result<(), mysql::Error> {
    connection.query_drop("SET SESSION sql_log_bin = 0")?;
    connection.query_drop(format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))?;
    let password = &plan.identity.password;
    connection.query_drop(format!("CREATE USER '{NODE_USER}'@'127.0.0.1' IDENTIFIED BY '{password}'"))?;
    connection.query_drop(format!("GRANT REPLICATION SLAVE ON *.* TO '{NODE_USER}'@'127.0.0.1'"))
}

/// Makes a node join by a statement. A node that was refused tries again: the group may not have noticed yet that it was away.
fn joined(connection: &mut Link, plan: &ClusterPlan<'_>, role: Role) -> Result<()> {
    const STATE: &str =
        "SELECT member_state FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid";
    let state: Option<String> = connection.query_first(STATE).map_err(|e| error(&e))?;
    let mut run = |sql: &str| connection.query_drop(sql).map_err(|e| error(&e));
    match state.as_deref() {
        Some("ONLINE") => return Ok(()),
        Some("RECOVERING") => {}
        Some("ERROR") => run("STOP GROUP_REPLICATION")?,
        _ => {
            let password = &plan.identity.password;
            let start = format!("START GROUP_REPLICATION USER = '{NODE_USER}', PASSWORD = '{password}'");
            let begins = |is_on: &str| format!("SET GLOBAL group_replication_bootstrap_group = {is_on}");
            if role == Role::First {
                run(&begins("ON"))?;
            }
            let started = run(&start);
            if role == Role::First {
                run(&begins("OFF"))?;
            }
            started?;
        }
    }
    Err(EngineError::new(ErrorKind::ConnectionLost, "the node has not all that was committed yet"))
}

/// Restarts a killed node; others send it the missing changes. It does not join before they have noticed that it was away: a
/// join that comes too early is not answered, and repeated after a minute.
pub(crate) fn restart(cluster: &PrivateCluster, node: usize, limit: StartLimit) -> Result<()> {
    cluster.start_node(node, &[])?;
    let uuid: Option<String> =
        cluster.connection(node, limit)?.query_first("SELECT @@server_uuid").map_err(|e| error(&e))?;
    let others = (0..cluster.len()).filter(|other| *other != node && cluster.process(*other).is_some());
    for other in others {
        while is_member(cluster, other, uuid.as_deref().unwrap_or_default(), limit)? && Instant::now() < limit.until() {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    cluster.join(node, Role::Joiner, limit.renewed())
}

/// Whether a node regards the server with that UUID as a member.
fn is_member(cluster: &PrivateCluster, node: usize, uuid: &str, limit: StartLimit) -> Result<bool> {
    let mut connection = cluster.connection(node, limit.renewed())?;
    let sql = "SELECT count(*) FROM performance_schema.replication_group_members WHERE member_id = ?";
    let found: Option<i64> = connection.exec_first(sql, (uuid,)).map_err(|e| error(&e))?;
    Ok(found.is_some_and(|found| found > 0))
}

/// Restarts all nodes after a kill of all: the group starts from the most advanced one.
pub(crate) fn restart_all(cluster: &PrivateCluster, limit: StartLimit) -> Result<()> {
    let nodes = 0..cluster.len();
    nodes.clone().try_for_each(|node| cluster.start_node(node, &[]))?;
    let mut connections = nodes.clone().map(|node| cluster.connection(node, limit)).collect::<Result<Vec<_>, _>>()?;
    let certified = connections.iter_mut().map(certified).collect::<Result<Vec<_>, _>>()?;
    let first = with_most(&mut connections[0], &certified)?;
    drop(connections);
    cluster.join(first, Role::First, limit)?;
    nodes.filter(|node| *node != first).try_for_each(|node| cluster.join(node, Role::Joiner, limit))
}

/// GTIDs that a node has executed, and those received and not executed yet, which it executes before it takes part.
fn certified(connection: &mut Link) -> Result<[String; 2]> {
    let made: Option<String> = connection.query_first("SELECT @@global.gtid_executed").map_err(|e| error(&e))?;
    let received: Option<String> = connection
        .query_first(format!(
            "SELECT received_transaction_set FROM performance_schema.replication_connection_status
              WHERE channel_name = '{APPLIER}'"
        ))
        .map_err(|e| error(&e))?;
    Ok([made.unwrap_or_default(), received.unwrap_or_default()])
}

/// Number of the first node that has all changes of any node; each acknowledged change is in at least one.
fn with_most(connection: &mut Link, certified: &[[String; 2]]) -> Result<usize> {
    let sets: Vec<String> = certified.iter().map(|sets| sets.join(",")).collect();
    for (node, set) in sets.iter().enumerate() {
        let mut has_all = true;
        for other in &sets {
            let sql = "SELECT gtid_subset(?, ?)";
            let is_in: Option<i64> = connection.exec_first(sql, (other, set)).map_err(|e| error(&e))?;
            has_all &= is_in == Some(1);
        }
        if has_all {
            return Ok(node);
        }
    }
    let message = "after the kill of all nodes each has commits that no single other one has: the group cannot go on";
    Err(EngineError::new(ErrorKind::Other, message))
}

/// Strictest isolation that a running group supports. Refuses a group whose mode does not allow sessions at the nodes that the
/// target chose, before anything is loaded.
pub(crate) fn check_mode(connector: &MysqlConnector, spread: bool) -> Result<Isolation> {
    let mut connection = MysqlConnector { settings: "", ..connector.clone() }.connect(None)?;
    let variables: Vec<(String, String)> = connection
        .query(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN (
                'group_replication_single_primary_mode', 'group_replication_enforce_update_everywhere_checks')",
        )
        .map_err(|e| error(&e))?;
    let is_on = |name: &str| variables.iter().any(|it| it.0.ends_with(name) && it.1 == "ON");
    if variables.is_empty() {
        return Err(EngineError::unsupported(
            "the server has no Group Replication: its plugin group_replication is not loaded; a MySQL server alone is \
             `mysql://…`",
        ));
    }
    if spread && is_on("single_primary_mode") {
        return Err(EngineError::unsupported(
            "the group is in single-primary mode, where the primary alone takes changes: `spread=off` sends all sessions \
             there",
        ));
    }
    Ok(if is_on("update_everywhere_checks") { Isolation::RepeatableRead } else { Isolation::Serializable })
}

/// Note in the report on a group that refuses serializable transactions.
pub(crate) const REFUSES_SERIALIZABLE: &str = "group_replication_enforce_update_everywhere_checks=ON: the group refuses \
    serializable transactions, which run at repeatable read; one of two that change the same row at one node may then fail or \
    be overwritten";
