//! A private cluster: nodes in folders of their own on this machine, started, killed and started again.

use crate::find::{Installed, installed};
use crate::nodes::{KINDS, Nodes};
use crate::target::Target;
use bourse_client::passwords::Secret;
use bourse_engine::{EngineError, ErrorKind, ServerProcess};
use bourse_engine_mysql::parts::{
    Address, Connector, DATABASE, SOCKET, datadir_argument, error, fill_command, server_command, told_process,
};
use bourse_engine_mysql::{Launch, Place, Target as ServerTarget};
use bourse_private_server::{Kind, PrivateServer, ServerFolder, free_ports, processes, sweep_below};
use mysql::prelude::Queryable as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What nodes have of their own as private servers.
static KIND: Kind =
    Kind { prefix: "bourse-galera-", folders: &["tmp"], socket: SOCKET, account: "mysql", serves, after_kill: |_| {} };

/// The server, and what it starts to get its state from another node: a script, and a daemon that receives files.
fn serves(process: u32, data: &Path) -> bool {
    let state_transfer = data.join("rsync_sst.conf").display().to_string();
    processes::has_argument(process, &datadir_argument(data)) || processes::has_argument(process, &state_transfer)
}

/// Ends and removes what a target's private cluster has left whose owner was killed, and returns the folders.
pub fn sweep_target(target: &Target) -> Vec<PathBuf> {
    match &target.server.place {
        Place::Private { directory } => sweep_below(&KIND, directory.as_deref(), target.options.server.ram),
        Place::Running { .. } => Vec::new(),
    }
}

/// Settings of every session that waits for what other nodes have committed.
pub(crate) const CAUSAL: &str = ", SESSION wsrep_sync_wait = 7";

/// The argument for the first node of a cluster.
const NEW_CLUSTER: &str = "--wsrep-new-cluster";

/// The argument of a server that says where its data ends, and ends.
const RECOVER: &str = "--wsrep-recover";

/// Files of a node that are no part of its state: what it keeps for others, and whom it met.
const NO_STATE: &[&str] = &["galera.cache", "gvwstate.dat", "server.pid"];

/// Bytes of changes that a node keeps for others that were away.
const KEPT_CHANGES: &str = "128M";

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A cluster of our own; ended and removed with its folders when dropped.
pub(crate) struct PrivateCluster {
    server: ServerTarget,
    installed: Installed,
    nodes: Vec<PrivateNode>,
    ports: Vec<Ports>,
    causal: bool,
}

/// A node of it.
struct PrivateNode {
    /// Locked as long as it is started or killed.
    server: Mutex<PrivateServer>,
    data: PathBuf,
    socket: PathBuf,
    /// What its earlier processes had used when they were killed.
    earlier: Mutex<ServerProcess>,
}

/// What nodes are started from.
struct Plan<'a> {
    server: &'a ServerTarget,
    installed: &'a Installed,
    ports: &'a [Ports],
}

/// Ports of the loopback address that a node listens on.
#[derive(Debug, Clone, Copy)]
struct Ports {
    group: u16,
    changes: u16,
    state: u16,
}

impl PrivateCluster {
    /// Starts a target's cluster, and waits until every node has all that was committed.
    pub(crate) fn start(target: &Target) -> Result<Self, EngineError> {
        let installed = installed(&target.options)?;
        let started = Self::start_once(target, &installed);
        match started {
            // Another program may have taken a port meanwhile.
            Err(e) if e.kind() == ErrorKind::ConnectionLost => Self::start_once(target, &installed),
            done => done,
        }
    }

    fn start_once(target: &Target, installed: &Installed) -> Result<Self, EngineError> {
        let options = &target.options.server;
        let Place::Private { directory } = &target.server.place else {
            return Err(EngineError::unsupported("the cluster is not ours to start"));
        };
        let until = Instant::now() + options.start_timeout;
        let folders = (0..target.options.nodes)
            .map(|_| ServerFolder::make(&KIND, directory.as_deref(), options.ram))
            .collect::<Result<Vec<_>, _>>()?;
        let ports = ports(folders.len())?;
        let plan = Plan { server: &target.server, installed, ports: &ports };
        let mut folders = folders.into_iter().enumerate();
        let (_, first) = folders.next().expect("a cluster has a node at least");
        first.fill(fill_command(&installed.server, &first), until)?;
        let command = plan.command(0, &first, &[NEW_CLUSTER]);
        let first = PrivateNode::start(first, command)?;
        first.wait(options, until)?;
        first.end_with_database(options, until)?;
        // A cold copy: a node with a position in the history joins without a transfer of all state.
        let folders = folders.collect::<Vec<_>>();
        folders.iter().try_for_each(|(_, folder)| folder.copy_data_of(locked(&first.server).folder(), NO_STATE))?;
        let mut nodes = vec![first];
        nodes[0].start_again(&plan, 0, &[NEW_CLUSTER])?;
        nodes[0].wait(options, until)?;
        for (at, folder) in folders {
            let command = plan.command(at, &folder, &[]);
            let node = PrivateNode::start(folder, command)?;
            // One after the other: two that join at once find each other after ten seconds.
            node.wait(options, until)?;
            nodes.push(node);
        }
        let (server, installed) = (target.server.clone(), installed.clone());
        Ok(Self { server, installed, nodes, ports, causal: target.options.causal })
    }

    /// Its nodes, as sessions reach them.
    pub(crate) fn nodes(&self, spread: bool) -> Nodes {
        let settings = if self.causal { CAUSAL } else { "" };
        let node = |(at, node): (usize, &PrivateNode)| (node_name(at), node.connector(&self.server.options, settings));
        Nodes::new(self.nodes.iter().enumerate().map(node).collect(), DATABASE.to_owned(), spread, KINDS)
    }

    /// The data directory of each node.
    pub(crate) fn data(&self) -> impl Iterator<Item = &Path> {
        self.nodes.iter().map(|node| node.data.as_path())
    }

    /// The process of a node's server; none while it does not run.
    pub(crate) fn process(&self, node: usize) -> Option<u32> {
        let server = self.nodes.get(node)?;
        let process = told_process(&server.data)?;
        serves(process, &server.data).then_some(process)
    }

    /// What the nodes' servers have used, those that were killed too.
    pub(crate) fn process_use(&self) -> Option<ServerProcess> {
        let mut sum: Option<ServerProcess> = None;
        for at in 0..self.nodes.len() {
            let used = self.process(at).and_then(|process| processes::process_use(process, false));
            let parts = [used.map(|used| used.process), Some(*locked(&self.nodes[at].earlier))];
            for part in parts.into_iter().flatten() {
                add(sum.get_or_insert_default(), &part);
            }
        }
        sum
    }

    /// Ends a node as a crash would; its data stays.
    pub(crate) fn kill(&self, node: usize) -> Result<(), EngineError> {
        let server = self.node(node)?;
        if let Some(used) = self.process(node).and_then(|process| processes::process_use(process, false)) {
            add(&mut locked(&server.earlier), &ServerProcess { resident_bytes: 0, ..used.process });
        }
        locked(&server.server).kill()
    }

    /// Starts a node that was killed on the data that it has, and waits until it has what was committed meanwhile.
    pub(crate) fn restart(&self, node: usize) -> Result<(), EngineError> {
        let this = self.node(node)?;
        // With its position it is sent what it lacks; without, all there is.
        let position = self.recovered(node)?.map(|(history, sequence)| start_position(&history, sequence));
        this.start_again(&self.plan(), node, &position.iter().map(String::as_str).collect::<Vec<_>>())?;
        this.wait(&self.server.options, self.until())
    }

    /// Starts all nodes again after a kill of all: first the one that has most.
    pub(crate) fn restart_all(&self) -> Result<(), EngineError> {
        let positions = (0..self.nodes.len()).map(|at| self.recovered(at)).collect::<Result<Vec<_>, _>>()?;
        let latest = |at: &usize| positions[*at].as_ref().map(|(_, sequence)| *sequence);
        let first = (0..positions.len()).max_by_key(latest).expect("a cluster has a node at least");
        let Some((history, sequence)) = &positions[first] else {
            return Err(EngineError::new(ErrorKind::Other, "no node of the cluster tells where its data ends"));
        };
        let node = &self.nodes[first];
        locked(&node.server).folder().write_data(POSITION, &may_be_first(history, *sequence))?;
        node.start_again(&self.plan(), first, &[NEW_CLUSTER, &start_position(history, *sequence)])?;
        node.wait(&self.server.options, self.until())?;
        (0..self.nodes.len()).filter(|at| *at != first).try_for_each(|at| self.restart(at))
    }

    /// How each node's server has ended; none while it runs.
    pub(crate) fn exits(&self) -> Vec<Option<ExitStatus>> {
        self.nodes.iter().map(|node| locked(&node.server).exit()).collect()
    }

    fn node(&self, node: usize) -> Result<&PrivateNode, EngineError> {
        self.nodes.get(node).ok_or_else(|| {
            EngineError::unsupported(format!("there is no node {}: the cluster has {}", node + 1, self.nodes.len()))
        })
    }

    fn until(&self) -> Instant {
        Instant::now() + self.server.options.start_timeout
    }

    fn plan(&self) -> Plan<'_> {
        Plan { server: &self.server, installed: &self.installed, ports: &self.ports }
    }

    /// Where the data of a node that does not run ends, as its server finds it: the history, and the number of the last change.
    fn recovered(&self, node: usize) -> Result<Option<(String, i64)>, EngineError> {
        let server = locked(&self.nodes[node].server);
        let command = self.plan().command(node, server.folder(), &[RECOVER]);
        let said = server.folder().look_at_data(command, self.until())?;
        Ok(said.lines().rev().find_map(position_in))
    }
}

impl Plan<'_> {
    fn command(&self, at: usize, folder: &ServerFolder, more: &[&str]) -> Command {
        let Ports { group, changes, state } = self.ports[at];
        let others = self.ports.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<_> = others.map(|(_, ports)| format!("127.0.0.1:{}", ports.group)).collect();
        let mut arguments = vec![
            "--binlog-format=ROW".to_owned(),
            "--innodb-autoinc-lock-mode=2".to_owned(),
            "--wsrep-on=ON".to_owned(),
            format!("--wsrep-provider={}", self.installed.provider.display()),
            "--wsrep-cluster-name=bourse".to_owned(),
            format!("--wsrep-cluster-address=gcomm://{}", others.join(",")),
            format!("--wsrep-node-name={}", node_name(at)),
            format!("--wsrep-node-address=127.0.0.1:{group}"),
            format!(
                "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{changes};\
                 gcache.size={KEPT_CHANGES};pc.recovery=false;pc.announce_timeout=PT0.5S"
            ),
            "--wsrep-sst-method=rsync".to_owned(),
            format!("--wsrep-sst-receive-address=127.0.0.1:{state}"),
            "--wsrep-slave-threads=2".to_owned(),
        ];
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let launch = Launch { environment: Vec::new(), arguments };
        server_command(&self.installed.server.server, self.server, folder, &launch)
    }
}

impl PrivateNode {
    fn start(folder: ServerFolder, command: Command) -> Result<Self, EngineError> {
        let (data, socket) = (folder.data(), folder.path().join(SOCKET));
        let server = Mutex::new(PrivateServer::start(folder, command)?);
        Ok(Self { server, data, socket, earlier: Mutex::default() })
    }

    fn start_again(&self, plan: &Plan<'_>, at: usize, more: &[&str]) -> Result<(), EngineError> {
        let mut server = locked(&self.server);
        // The old one's socket and process number are no sign of the new one.
        let _ = std::fs::remove_file(&self.socket);
        let _ = std::fs::remove_file(self.data.join("server.pid"));
        let command = plan.command(at, server.folder(), more);
        server.start_again(command)
    }

    /// Makes the database, has the server end by itself, and waits for that.
    fn end_with_database(&self, options: &bourse_engine_mysql::Options, until: Instant) -> Result<(), EngineError> {
        let mut connection = self.connector(options, "").connect(None)?;
        let create = format!("CREATE DATABASE IF NOT EXISTS {DATABASE}");
        connection.query_drop(create).and_then(|()| connection.query_drop("SHUTDOWN")).map_err(|e| error(&e))?;
        let mut server = locked(&self.server);
        while server.exit().is_none() {
            if Instant::now() > until {
                return Err(EngineError::new(ErrorKind::ConnectionLost, "the private server does not end in time"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn connector(&self, options: &bourse_engine_mysql::Options, settings: &'static str) -> Connector {
        Connector {
            address: Address::Socket(self.socket.clone()),
            user: "root".to_owned(),
            secret: Secret::default(),
            options: options.clone(),
            settings,
        }
    }

    /// Waits until the node takes part and has all that was committed.
    fn wait(&self, options: &bourse_engine_mysql::Options, until: Instant) -> Result<(), EngineError> {
        let connector = self.connector(options, "");
        locked(&self.server).wait_until_it_answers(until, || {
            let mut connection = connector.connect(None)?;
            let state: Vec<(String, String)> = connection
                .query("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')")
                .map_err(|e| error(&e))?;
            let is = |name: &str, value: &str| state.iter().any(|it| it.0 == name && it.1 == value);
            if is("wsrep_ready", "ON") && is("wsrep_local_state_comment", "Synced") {
                return Ok(());
            }
            Err(EngineError::new(ErrorKind::ConnectionLost, "the node has not all that was committed yet"))
        })
    }
}

/// The name of a node, counted from 0.
pub(crate) fn node_name(at: usize) -> String {
    format!("n{}", at + 1)
}

fn ports(nodes: usize) -> Result<Vec<Ports>, EngineError> {
    let ports = free_ports(3 * nodes)
        .map_err(|e| EngineError::new(ErrorKind::Other, format!("no free port of this machine was found: {e}")))?;
    let (of_node, _) = ports.as_chunks::<3>();
    Ok(of_node
        .iter()
        .map(|[group, changes, state]| Ports { group: *group, changes: *changes, state: *state })
        .collect())
}

/// The file that tells a node where its data ends.
const POSITION: &str = "grastate.dat";

/// That file of a node that may be the first of a cluster.
fn may_be_first(history: &str, sequence: i64) -> String {
    format!("# GALERA saved state\nversion: 2.1\nuuid:    {history}\nseqno:   {sequence}\nsafe_to_bootstrap: 1\n")
}

fn start_position(history: &str, sequence: i64) -> String {
    format!("--wsrep-start-position={history}:{sequence}")
}

/// `WSREP: Recovered position: HISTORY:SEQUENCE` of a server's log.
fn position_in(line: &str) -> Option<(String, i64)> {
    let (_, told) = line.split_once("Recovered position: ")?;
    let (history, sequence) = told.trim().split_once(':')?;
    // Where the server has a binary log, its own position follows.
    let sequence = sequence.split(',').next()?.parse().ok()?;
    (sequence >= 0).then(|| (history.to_owned(), sequence))
}

fn add(sum: &mut ServerProcess, part: &ServerProcess) {
    sum.cpu_user_ns += part.cpu_user_ns;
    sum.cpu_system_ns += part.cpu_system_ns;
    sum.resident_bytes += part.resident_bytes;
    sum.read_bytes += part.read_bytes;
    sum.written_bytes += part.written_bytes;
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
