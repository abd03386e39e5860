//! A private cluster: nodes in folders of their own on this machine, started, killed, copied and started again.

use crate::cluster::find::{InstalledCluster, installed};
use crate::cluster::plan::{ClusterPlan, Identity, node_name};
use crate::cluster::product::{ClusterProduct, Role, SharedNodes};
use crate::cluster::target::ClusterTarget;
use crate::cluster::{galera, group};
use crate::connect::MysqlConnector;
use crate::error::error;
use crate::link::Link;
use crate::server::{SOCKET, connector, fill_command};
use crate::status::process_in_pid_file;
use crate::{MysqlOptions, MysqlTarget, ServerPlace};
use bourse_engine::{EngineError, ErrorKind, Result, ServerProcess, locked};
use bourse_server::private::{PrivateServer, ServerFolder, StartLimit, processes, sweep_below};
use bourse_server::{CommonServerOptions, DATABASE};
use mysql::prelude::Queryable as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Stops orphaned nodes of a target's private clusters (owner process dead), removes their folders and returns them.
pub fn sweep_target(target: &ClusterTarget) -> Vec<PathBuf> {
    match &target.server.place {
        ServerPlace::Private { directory } => {
            sweep_below(&target.product.facts().private, directory.as_deref(), target.options.server.common.ram)
        }
        ServerPlace::Running { .. } => Vec::new(),
    }
}

/// Cluster started by Bourse; stopped and removed with its folders when dropped.
pub(crate) struct PrivateCluster {
    product: ClusterProduct,
    server: MysqlTarget,
    installed: InstalledCluster,
    identity: Identity,
    nodes: Vec<PrivateNode>,
    causal: bool,
    spread: bool,
}

/// Node of the cluster.
struct PrivateNode {
    /// Server; locked while it is started or killed.
    server: Mutex<PrivateServer>,
    data: PathBuf,
    socket: PathBuf,
    /// Resource usage of its earlier processes at their end.
    earlier: Mutex<ServerProcess>,
}

/// Step of starting a node.
#[derive(Debug, Clone, Copy)]
enum NodeStart {
    Start,
    Join,
}

/// Takes the steps of all nodes, in the product's order.
fn begin(
    product: ClusterProduct,
    nodes: usize,
    limit: StartLimit,
    mut step: impl FnMut(NodeStart, usize) -> Result<()>,
) -> Result<()> {
    let mut step = |start, node| limit.check().and_then(|()| step(start, node));
    if product.facts().runs_before_joining {
        (0..nodes).try_for_each(|node| step(NodeStart::Start, node))?;
        return (0..nodes).try_for_each(|node| step(NodeStart::Join, node));
    }
    (0..nodes).try_for_each(|node| step(NodeStart::Start, node).and_then(|()| step(NodeStart::Join, node)))
}

impl PrivateCluster {
    /// Starts a target's cluster, and waits until every node has all committed data.
    pub(crate) fn start(target: &ClusterTarget) -> Result<Self> {
        let installed = installed(target.product, &target.options)?;
        let limit = StartLimit::of_new(target.options.server.common.start_timeout);
        let started = Self::start_once(target, &installed, limit);
        match started {
            // Another program may have taken a port meanwhile.
            Err(e) if e.kind() == ErrorKind::ConnectionLost => Self::start_once(target, &installed, limit.renewed()),
            done => done,
        }
    }

    fn start_once(target: &ClusterTarget, installed: &InstalledCluster, limit: StartLimit) -> Result<Self> {
        limit.check()?;
        let (product, options) = (target.product, &target.options);
        let facts = product.facts();
        let ServerPlace::Private { directory } = &target.server.place else {
            return Err(EngineError::unsupported("Bourse cannot start a cluster of yours"));
        };
        let folders = (0..options.nodes)
            .map(|_| ServerFolder::make(&facts.private, directory.as_deref(), options.server.common.ram))
            .collect::<Result<Vec<_>, _>>()?;
        let identity = Identity::new(product, folders.len())?;
        let plan =
            ClusterPlan { product, server: &target.server, installed, identity: &identity, spread: options.spread };
        let count = folders.len();
        let mut folders = folders.into_iter();
        let first = folders.next().expect("a cluster has a node at least");
        first.fill(fill_command(&installed.server, &first), limit)?;
        let command = plan.command(0, &first, facts.first);
        let first = PrivateNode::start(first, command)?;
        let mut connection = match facts.runs_before_joining {
            true => first.connection(&options.server, limit)?,
            false => first.join(&plan, Role::First, limit)?,
        };
        (facts.prepare)(&mut connection, &plan).map_err(|e| error(&e))?;
        limit.check()?;
        first.shut_down(connection)?;
        first.wait_for_its_end(limit)?;
        let folders = folders.collect::<Vec<_>>();
        folders.iter().try_for_each(|folder| {
            limit.check()?;
            folder.copy_data_of(locked(&first.server).folder(), facts.not_copied)
        })?;
        let mut nodes = vec![first];
        let mut folders = folders.into_iter();
        begin(product, count, limit, |step, node| match step {
            NodeStart::Start if node == 0 => nodes[0].start_again(&plan, 0, facts.first),
            NodeStart::Start => {
                let folder = folders.next().expect("there is a folder for each node");
                let command = plan.command(node, &folder, &[]);
                nodes.push(PrivateNode::start(folder, command)?);
                Ok(())
            }
            NodeStart::Join => nodes[node].join(&plan, Role::of(node, 0), limit).map(drop),
        })?;
        let (server, installed) = (target.server.clone(), installed.clone());
        Ok(Self { product, server, installed, identity, nodes, causal: options.causal, spread: options.spread })
    }

    /// Nodes, as sessions reach them.
    pub(crate) fn nodes(&self) -> SharedNodes {
        let settings = self.product.settings(self.causal);
        let node = |(at, node): (usize, &PrivateNode)| (node_name(at), node.connector(&self.server.options, settings));
        let nodes = self.nodes.iter().enumerate().map(node).collect();
        self.product.nodes(nodes, DATABASE.to_owned(), self.spread)
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Data directory of each node.
    pub(crate) fn data(&self) -> impl Iterator<Item = &Path> {
        self.nodes.iter().map(|node| node.data.as_path())
    }

    /// Process of a node's server; `None` while it does not run.
    pub(crate) fn process(&self, node: usize) -> Option<u32> {
        let server = self.nodes.get(node)?;
        let process = process_in_pid_file(&server.data)?;
        (self.product.facts().private.serves)(process, &server.data).then_some(process)
    }

    /// Resource usage of the nodes' servers, including those that have ended.
    pub(crate) fn process_use(&self) -> Option<ServerProcess> {
        let mut sum: Option<ServerProcess> = None;
        for at in 0..self.nodes.len() {
            let used = self.process(at).and_then(|process| processes::process_use(process, false));
            let parts = [used.map(|used| used.process), Some(*locked(&self.nodes[at].earlier))];
            for part in parts.into_iter().flatten() {
                *sum.get_or_insert_default() += part;
            }
        }
        sum
    }

    /// Records the resource usage of a node's process before it is ended.
    fn note_use(&self, node: usize) {
        if let Some(used) = self.process(node).and_then(|process| processes::process_use(process, false)) {
            *locked(&self.nodes[node].earlier) += ServerProcess { resident_bytes: 0, ..used.process };
        }
    }

    /// Kills a node; its data stays.
    pub(crate) fn kill(&self, node: usize) -> Result<()> {
        let server = self.node(node)?;
        self.note_use(node);
        locked(&server.server).kill()
    }

    /// Kills all nodes.
    pub(crate) fn kill_all(&self) -> Result<()> {
        (0..self.len()).try_for_each(|node| self.kill(node))
    }

    /// Restarts a killed node on its data, and waits until it has received the commits made meanwhile.
    pub(crate) fn restart(&self, node: usize) -> Result<()> {
        self.node(node)?;
        match self.product {
            ClusterProduct::Galera => galera::restart(self, node, self.limit()),
            ClusterProduct::Group => group::restart(self, node, self.limit()),
        }
    }

    /// Restarts all nodes after a kill of all, beginning with the most advanced one.
    pub(crate) fn restart_all(&self) -> Result<()> {
        self.restart_all_within(self.limit())
    }

    fn restart_all_within(&self, limit: StartLimit) -> Result<()> {
        match self.product {
            ClusterProduct::Galera => galera::restart_all(self, limit),
            ClusterProduct::Group => group::restart_all(self, limit),
        }
    }

    /// Stops all nodes, takes a copy of the first one's data, and starts the cluster again from that data.
    pub(crate) fn keep_copy(&self) -> Result<()> {
        let limit = self.limit();
        let keep = || self.with_folder(0, |folder| folder.keep_copy(self.product.facts().not_copied));
        let Err(e) = self.stop(limit).and_then(|()| keep()) else { return self.begin_again(limit.renewed()) };
        // Without a copy the cluster continues with its nodes' data.
        self.kill_all()?;
        self.restart_all_within(limit.renewed())?;
        Err(e)
    }

    /// Kills all nodes, and starts the cluster again from the stored copy.
    pub(crate) fn put_back_copy(&self) -> Result<()> {
        let limit = self.limit();
        self.kill_all()?;
        self.with_folder(0, ServerFolder::put_back_copy)?;
        self.begin_again(limit)
    }

    /// Shuts the first node down cleanly, with all committed data; the data of the others, which are killed, is no longer
    /// needed.
    fn stop(&self, limit: StartLimit) -> Result<()> {
        let waiting = self.nodes[0].connector(&self.server.options, self.product.settings(true));
        waiting.connect(None)?.query_drop("START TRANSACTION READ ONLY").map_err(|e| error(&e))?;
        let connection = self.connection(0, limit)?;
        self.note_use(0);
        self.nodes[0].shut_down(connection)?;
        self.nodes[0].wait_for_its_end(limit)?;
        (1..self.len()).try_for_each(|node| self.kill(node))?;
        self.with_folder(0, self.product.facts().may_be_first)
    }

    /// Starts all nodes on copies of the first one's data, so that no node needs a state transfer.
    fn begin_again(&self, limit: StartLimit) -> Result<()> {
        let facts = self.product.facts();
        let first = locked(&self.nodes[0].server);
        let others = self.nodes.iter().skip(1);
        others.into_iter().try_for_each(|other| {
            limit.check()?;
            locked(&other.server).folder().copy_data_of(first.folder(), facts.not_copied)
        })?;
        drop(first);
        begin(self.product, self.len(), limit, |step, node| match step {
            NodeStart::Start => self.start_node(node, if node == 0 { facts.first } else { &[] }),
            NodeStart::Join => self.join(node, Role::of(node, 0), limit),
        })
    }

    fn node(&self, node: usize) -> Result<&PrivateNode> {
        self.nodes.get(node).ok_or_else(|| {
            EngineError::unsupported(format!("there is no node {}: the cluster has {}", node + 1, self.nodes.len()))
        })
    }

    /// Limit of a start on the nodes' data that begins now.
    fn limit(&self) -> StartLimit {
        StartLimit::again(self.server.options.common.start_timeout)
    }

    pub(crate) fn plan(&self) -> ClusterPlan<'_> {
        let Self { product, server, installed, identity, spread, .. } = self;
        ClusterPlan { product: *product, server, installed, identity, spread: *spread }
    }

    /// Acts on the folder of a node that does not run.
    pub(crate) fn with_folder<T>(&self, node: usize, act: impl FnOnce(&ServerFolder) -> Result<T>) -> Result<T> {
        act(locked(&self.nodes[node].server).folder())
    }

    /// Starts the server of a node that has ended, on its existing data.
    pub(crate) fn start_node(&self, node: usize, more: &[&str]) -> Result<()> {
        self.nodes[node].start_again(&self.plan(), node, more)
    }

    /// Waits until a node takes part in the cluster and has all committed data.
    pub(crate) fn join(&self, node: usize, role: Role, limit: StartLimit) -> Result<()> {
        self.nodes[node].join(&self.plan(), role, limit).map(drop)
    }

    /// Connection to a node's server, whether or not it takes part; waits until there is one.
    pub(crate) fn connection(&self, node: usize, limit: StartLimit) -> Result<Link> {
        self.nodes[node].connection(&self.server.options, limit)
    }
}

impl PrivateNode {
    fn start(folder: ServerFolder, command: Command) -> Result<Self> {
        let (data, socket) = (folder.data(), folder.path().join(SOCKET));
        let server = Mutex::new(PrivateServer::start(folder, command)?);
        Ok(Self { server, data, socket, earlier: Mutex::default() })
    }

    fn start_again(&self, plan: &ClusterPlan<'_>, at: usize, more: &[&str]) -> Result<()> {
        let mut server = locked(&self.server);
        // The old one's socket and process number are no sign of the new one.
        let _ = std::fs::remove_file(&self.socket);
        let _ = std::fs::remove_file(self.data.join("server.pid"));
        let command = plan.command(at, server.folder(), more);
        server.start_again(command)
    }

    /// Makes the server shut down.
    fn shut_down(&self, mut connection: Link) -> Result<()> {
        connection.query_drop("SHUTDOWN").map_err(|e| error(&e).with_statement("SHUTDOWN"))
    }

    fn wait_for_its_end(&self, limit: StartLimit) -> Result<()> {
        locked(&self.server).wait_until_it_ends(limit.until())
    }

    fn connector(&self, options: &MysqlOptions, settings: &'static str) -> MysqlConnector {
        connector(self.socket.clone(), options, settings)
    }

    /// Connector for starting and stopping the node: waits for an answer at most as long as for a start.
    fn own_connector(&self, options: &MysqlOptions) -> MysqlConnector {
        let answer_timeout = options.common.start_timeout.min(options.common.answer_timeout);
        let common = CommonServerOptions { answer_timeout, ..options.common.clone() };
        self.connector(&MysqlOptions { common, ..options.clone() }, "")
    }

    fn connection(&self, options: &MysqlOptions, limit: StartLimit) -> Result<Link> {
        let connector = self.own_connector(options);
        locked(&self.server).wait_until_it_answers(limit, || connector.connect(None))
    }

    /// Makes the node join, unless it does so by itself, and waits until it takes part and has all committed data.
    fn join(&self, plan: &ClusterPlan<'_>, role: Role, limit: StartLimit) -> Result<Link> {
        let connector = self.own_connector(&plan.server.options);
        let joined = plan.product.facts().joined;
        locked(&self.server).wait_until_it_answers(limit, || {
            let mut connection = connector.connect(None)?;
            joined(&mut connection, plan, role)?;
            Ok(connection)
        })
    }
}
