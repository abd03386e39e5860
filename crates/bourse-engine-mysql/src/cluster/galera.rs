//! MariaDB Galera: arguments of its nodes, and the positions of their data.

use crate::Flavour;
use crate::cluster::life::PrivateCluster;
use crate::cluster::plan::{ClusterPlan, node_name};
use crate::cluster::product::{ClusterFacts, Role};
use crate::error::error;
use crate::link::Link;
use crate::server::{SOCKET, datadir_argument};
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::DATABASE;
use bourse_server::client::ConflictKinds;
use bourse_server::private::{ServerFolder, ServerKind, StartLimit, processes};
use mysql::prelude::Queryable as _;
use std::path::Path;

pub(crate) static FACTS: ClusterFacts = ClusterFacts {
    name: "galera",
    flavour: Flavour::Mariadb,
    running: "galera",
    waiting: ", SESSION wsrep_sync_wait = 7",
    not_waiting: "",
    conflicts: ConflictKinds {
        by_code: &[
            ("1213", "1213 (another transaction's lock, or another node's commit)"),
            ("1205", "1205 (lock wait, or wait for another node's commits, timed out)"),
            ("1020", "1020 (row changed since the snapshot)"),
            ("1317", "1317 (statement interrupted for another node's commit)"),
        ],
        // Some statements fail with this code when their transaction must yield to another node's commit.
        interrupted: true,
    },
    described: &[
        "SHOW SESSION VARIABLES WHERE Variable_name IN (
            'wsrep_sync_wait', 'wsrep_slave_threads', 'wsrep_sst_method', 'wsrep_retry_autocommit', 'wsrep_certify_nonPK',
            'wsrep_trx_fragment_size', 'wsrep_osu_method')",
        "SHOW GLOBAL STATUS WHERE Variable_name IN (
            'wsrep_cluster_size', 'wsrep_cluster_status', 'wsrep_provider_version', 'wsrep_protocol_version')",
    ],
    private: ServerKind {
        prefix: "bourse-galera-",
        folders: &["tmp"],
        socket: SOCKET,
        account: "mysql",
        serves,
        after_kill: |_| {},
    },
    // For the group, for changes that a node lacks, and for all of its state.
    ports: 3,
    // Cached changes for other nodes, and the last membership.
    not_copied: &["galera.cache", "gvwstate.dat", "server.pid"],
    first: &[NEW_CLUSTER],
    may_be_first: allow_first,
    // Two nodes that join concurrently find each other only after ten seconds.
    runs_before_joining: false,
    arguments,
    prepare: |connection, _| connection.query_drop(format!("CREATE DATABASE IF NOT EXISTS {DATABASE}")),
    joined,
};

/// Argument for the first node of a cluster.
const NEW_CLUSTER: &str = "--wsrep-new-cluster";

/// Argument that makes a server report the position of its data and exit.
const RECOVER: &str = "--wsrep-recover";

/// Size of the cache of changes for nodes that were away.
const KEPT_CHANGES: &str = "128M";

/// Name of the file with the position of a node's data.
const POSITION: &str = "grastate.dat";

/// Whether a process is a node's server, or a program that it starts to get its state from another node: a script, or a daemon
/// that receives files.
fn serves(process: u32, data: &Path) -> bool {
    let state_transfer = data.join("rsync_sst.conf").display().to_string();
    processes::has_argument(process, &datadir_argument(data)) || processes::has_argument(process, &state_transfer)
}

fn arguments(plan: &ClusterPlan<'_>, node: usize) -> Vec<String> {
    let port = |node: usize, which: usize| plan.identity.ports(node)[which];
    let (group, changes, state) = (port(node, 0), port(node, 1), port(node, 2));
    let others = (0..plan.identity.nodes()).filter(|other| *other != node);
    let others: Vec<_> = others.map(|other| format!("127.0.0.1:{}", port(other, 0))).collect();
    let provider = plan.installed.provider.as_deref().unwrap_or(Path::new("none"));
    vec![
        "--binlog-format=ROW".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", provider.display()),
        "--wsrep-cluster-name=bourse".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{}", others.join(",")),
        format!("--wsrep-node-name={}", node_name(node)),
        format!("--wsrep-node-address=127.0.0.1:{group}"),
        format!(
            "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{changes};\
             gcache.size={KEPT_CHANGES};pc.recovery=false;pc.announce_timeout=PT0.5S"
        ),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{state}"),
        "--wsrep-slave-threads=2".to_owned(),
    ]
}

/// Checks whether a node has joined; its arguments alone make it join.
fn joined(connection: &mut Link, _: &ClusterPlan<'_>, _: Role) -> Result<()> {
    let state: Vec<(String, String)> = connection
        .query("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')")
        .map_err(|e| error(&e))?;
    let is = |name: &str, value: &str| state.iter().any(|it| it.0 == name && it.1 == value);
    if is("wsrep_ready", "ON") && is("wsrep_local_state_comment", "Synced") {
        return Ok(());
    }
    Err(EngineError::new(ErrorKind::ConnectionLost, "the node has not all that was committed yet"))
}

/// Restarts a killed node: with its position it receives only the missing changes, without it all data.
pub(crate) fn restart(cluster: &PrivateCluster, node: usize, limit: StartLimit) -> Result<()> {
    let position = recovered(cluster, node, limit)?.map(|(history, sequence)| start_position(&history, sequence));
    cluster.start_node(node, &position.iter().map(String::as_str).collect::<Vec<_>>())?;
    cluster.join(node, Role::Joiner, limit.renewed())
}

/// Restarts all nodes after a kill of all, beginning with the most advanced one.
pub(crate) fn restart_all(cluster: &PrivateCluster, limit: StartLimit) -> Result<()> {
    let nodes = 0..cluster.len();
    let positions =
        nodes.clone().map(|node| recovered(cluster, node, limit.renewed())).collect::<Result<Vec<_>, _>>()?;
    let latest = |node: &usize| positions[*node].as_ref().map(|(_, sequence)| *sequence);
    let first = nodes.clone().max_by_key(latest).expect("a cluster has a node at least");
    let Some((history, sequence)) = &positions[first] else {
        return Err(EngineError::new(ErrorKind::Other, "no node of the cluster tells where its data ends"));
    };
    cluster.with_folder(first, |folder| folder.write_data(POSITION, &may_be_first(history, *sequence)))?;
    cluster.start_node(first, &[NEW_CLUSTER, &start_position(history, *sequence)])?;
    cluster.join(first, Role::First, limit.renewed())?;
    nodes.filter(|node| *node != first).try_for_each(|node| restart(cluster, node, limit.renewed()))
}

/// Position of the data of a stopped node, as its server finds it: the history, and the number of the last change.
fn recovered(cluster: &PrivateCluster, node: usize, limit: StartLimit) -> Result<Option<(String, i64)>> {
    let said = cluster
        .with_folder(node, |folder| folder.look_at_data(cluster.plan().command(node, folder, &[RECOVER]), limit))?;
    Ok(said.lines().rev().find_map(position_in))
}

/// Allows a stopped node to start a cluster: only the node that was stopped last may do so by itself.
fn allow_first(folder: &ServerFolder) -> Result<()> {
    let path = folder.data().join(POSITION);
    let text = std::fs::read_to_string(&path).map_err(|e| EngineError::io("read", &path, &e))?;
    folder.write_data(POSITION, &text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"))
}

/// Position file of a node that may start a cluster.
fn may_be_first(history: &str, sequence: i64) -> String {
    format!("# GALERA saved state\nversion: 2.1\nuuid:    {history}\nseqno:   {sequence}\nsafe_to_bootstrap: 1\n")
}

fn start_position(history: &str, sequence: i64) -> String {
    format!("--wsrep-start-position={history}:{sequence}")
}

/// Position in a line of a server's log: `WSREP: Recovered position: HISTORY:SEQUENCE`.
fn position_in(line: &str) -> Option<(String, i64)> {
    let (_, told) = line.split_once("Recovered position: ")?;
    let (history, sequence) = told.trim().split_once(':')?;
    // Where the server has a binary log, its own position follows.
    let sequence = sequence.split(',').next()?.parse().ok()?;
    (sequence >= 0).then(|| (history.to_owned(), sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_from_a_servers_log() {
        let line =
            "2026-01-05  9:00:00 0 [Note] WSREP: Recovered position: 6e5c1a5e-0000-11ef-8000-0123456789ab:1234,0-1-5";
        assert_eq!(position_in(line).map(|(_, sequence)| sequence), Some(1_234), "the server's own position follows");
        let line = "2026-01-05  9:00:00 0 [Note] WSREP: Recovered position: 6e5c1a5e-0000-11ef-8000-0123456789ab:1234";
        assert_eq!(position_in(line), Some(("6e5c1a5e-0000-11ef-8000-0123456789ab".to_owned(), 1_234)));
        assert_eq!(position_in("Recovered position: 00000000-0000-0000-0000-000000000000:-1"), None);
    }
}
