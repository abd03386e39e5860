//! The engine: a target, its nodes, their sizes.

use crate::ServerPlace;
use crate::cluster::copy::ClusterCopy;
use crate::cluster::group;
use crate::cluster::life::PrivateCluster;
use crate::cluster::product::{ClusterProduct, SharedNodes};
use crate::cluster::target::ClusterTarget;
use crate::connect::{MysqlConnector, connectors, limits};
use crate::describe::{describe, lower_by_tables, sizes, table_bytes};
use crate::engine::{Watcher, damage, describe_way, environment};
use crate::error::error;
use crate::hold::hold;
use crate::link::Link;
use crate::loader::MysqlLoader;
use crate::ownership::{drop_made, exists, foreign, leftovers, prepare_side};
use crate::status::{ServerStatus, counters};
use bourse_engine::target::TargetError;
use bourse_engine::{
    Access, Capabilities, Conflicts, Counter, Description, Dialect, Engine, EngineError, ErrorKind, Footprint,
    Guarantee, Hold, Hosting, Interface, IoCounts, Isolation, Loader, Location, LockStats, NodeLosses, OwnedServer,
    RecordCapabilities, Result, Session, Setting, SideDatabase, Snapshot, SqlCapabilities, SqlEngine, locked,
};
use bourse_server::client::{AnnouncedSessions, NodeSession};
use bourse_server::{check_each, location};
use mysql::prelude::Queryable as _;
use std::sync::{Arc, Mutex};

/// Cluster under test.
pub struct ClusterEngine {
    target: ClusterTarget,
    /// Nodes; `None` until first use.
    reached: Mutex<Option<ReachedCluster>>,
    /// Monitoring connection to each node, so that sampling sizes each second opens none.
    watchers: Arc<Mutex<Vec<Option<Watcher>>>>,
    announced: AnnouncedSessions,
}

/// Cluster in use.
#[derive(Clone)]
struct ReachedCluster {
    nodes: Arc<SharedNodes>,
    /// Private cluster; `None` for one that Bourse did not start.
    private: Option<Arc<PrivateCluster>>,
}

/// Parses a target; a private cluster is started at first use.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_mysql::cluster::open("mariadb+galera:?nodes=3&ram=on").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_mysql::cluster::open("galera://root@a,b/x?nodes=3").is_err());
/// ```
pub fn open(target: &str) -> Result<ClusterEngine, TargetError> {
    ClusterTarget::parse(target).map(ClusterEngine::new)
}

impl ClusterEngine {
    /// Engine of a parsed target.
    pub fn new(target: ClusterTarget) -> Self {
        Self { target, reached: Mutex::default(), watchers: Arc::default(), announced: AnnouncedSessions::default() }
    }

    /// Parsed target.
    pub fn target(&self) -> &ClusterTarget {
        &self.target
    }

    /// Kills a node of a private cluster, counted from 0; its data stays.
    ///
    /// # Errors
    /// [`Unsupported`](bourse_engine::ErrorKind::Unsupported) if the cluster is not private, or has no such node.
    pub fn kill_node(&self, node: usize) -> Result<()> {
        self.private()?.kill(node)
    }

    /// Restarts a killed node, and waits until it has received the commits made meanwhile.
    ///
    /// # Errors
    /// Those of [`kill_node`](Self::kill_node), or the server's, with the end of its log if it does not restart.
    pub fn restart_node(&self, node: usize) -> Result<()> {
        self.private()?.restart(node)?;
        self.reached()?.nodes.set_up(node, true);
        Ok(())
    }

    /// Process of a node of a private cluster; `None` while it does not run.
    pub fn node_process(&self, node: usize) -> Option<u32> {
        self.looked_at()?.private?.process(node)
    }

    /// Opens a session at a node, counted from 0; it continues at another node if that one is lost.
    ///
    /// # Errors
    /// The client's or the server's.
    pub fn session_at(&self, node: usize) -> Result<Box<dyn Session>> {
        self.opened(NodeSession::at(self.dialect(), self.reached()?.nodes, node)?)
    }

    /// Makes a session see all tables that exist. A group's node prepares a statement without waiting, so a table that another
    /// node has just made would not be found; at the begin of a transaction it waits.
    fn opened(&self, mut session: NodeSession<MysqlConnector>) -> Result<Box<dyn Session>> {
        if self.target.product == ClusterProduct::Group && self.target.options.causal {
            session.begin(Isolation::ReadCommitted, Access::Read)?;
            session.rollback()?;
        }
        Ok(Box::new(session))
    }

    /// Nodes; a private cluster is started if it does not run yet.
    fn reached(&self) -> Result<ReachedCluster> {
        let mut reached = locked(&self.reached);
        if let Some(reached) = &*reached {
            return Ok(reached.clone());
        }
        let made = if self.target.is_private() {
            let private = Arc::new(PrivateCluster::start(&self.target)?);
            ReachedCluster { nodes: Arc::new(private.nodes()), private: Some(private) }
        } else {
            ReachedCluster { nodes: Arc::new(running(&self.target)?), private: None }
        };
        Ok(reached.insert(made).clone())
    }

    /// Nodes; `None` before first use.
    fn looked_at(&self) -> Option<ReachedCluster> {
        locked(&self.reached).clone()
    }

    fn private(&self) -> Result<Arc<PrivateCluster>> {
        let none = || EngineError::unsupported("this cluster has no node that Bourse started");
        self.looked_at().and_then(|it| it.private).ok_or_else(none)
    }

    /// Opens a connection to the first node that can be reached.
    fn reach(&self) -> Result<(Arc<SharedNodes>, Link)> {
        let ReachedCluster { nodes, .. } = self.reached()?;
        let (_, connection) = nodes.reach(0, |connector| connector.connect(None))?;
        Ok((nodes, connection))
    }

    /// Whether the cluster runs: a private one is empty, and started at first use.
    fn is_started(&self) -> bool {
        !self.target.is_private() || self.looked_at().is_some()
    }

    /// Results of `ask` for each node that answers.
    fn watch<T>(&self, ask: impl Fn(&mut Watcher) -> Result<T>) -> Result<Vec<T>> {
        let ReachedCluster { nodes, .. } = self.reached()?;
        let mut watchers = locked(&self.watchers);
        watchers.resize_with(nodes.len(), || None);
        let mut answers = Vec::with_capacity(nodes.len());
        for (at, watcher) in watchers.iter_mut().enumerate() {
            if watcher.is_none() && nodes.is_up(at) {
                *watcher = Watcher::of(nodes.connector(at)).ok();
            }
            let asked = watcher.as_mut().map(|watcher| {
                let asked = ask(watcher);
                watcher.connection.rests();
                asked
            });
            match asked {
                Some(Ok(answer)) => answers.push(answer),
                Some(Err(_)) => {
                    *watcher = None;
                    nodes.set_up(at, false);
                }
                None => {}
            }
        }
        Ok(answers)
    }

    /// Results of `ask` for all nodes, in order; empty once a node was lost, since its counters restart at 0.
    fn watch_all<T>(&self, ask: impl Fn(&mut Watcher) -> Result<T>) -> Result<Vec<T>> {
        if !self.is_started() {
            return Ok(Vec::new());
        }
        let answers = self.watch(ask)?;
        Ok(if self.reached()?.nodes.was_lost() { Vec::new() } else { answers })
    }
}

/// Nodes of a cluster that runs already.
fn running(target: &ClusterTarget) -> Result<SharedNodes> {
    let places: Vec<&ServerPlace> = target.nodes.iter().collect();
    let database = match &target.server.place {
        ServerPlace::Running { database, .. } => database.clone(),
        ServerPlace::Private { .. } => String::new(),
    };
    let options = &target.options;
    let settings = target.product.settings(options.causal);
    let nodes = connectors(&options.server, &places, settings, environment())?;
    let nodes = target.product.nodes(nodes, database, options.spread);
    if target.product == ClusterProduct::Galera {
        return Ok(nodes);
    }
    let (_, strictest) = nodes.reach(0, |connector| group::check_mode(connector, options.spread))?;
    Ok(nodes.with_strictest(strictest))
}

impl Engine for ClusterEngine {
    fn description(&self) -> Result<Description> {
        let (nodes, mut connection) = self.reach()?;
        let mut description = describe(&self.target.server, &mut connection)?;
        lower_by_tables(&mut description, &mut connection, nodes.database())?;
        let facts = self.target.product.facts();
        facts.name.clone_into(&mut description.engine);
        for sql in facts.described {
            let rows: Vec<(String, String)> = connection.query(*sql).map_err(|e| error(&e).with_statement(sql))?;
            description.settings.extend(rows.into_iter().map(|(name, value)| Setting::new(name, value)));
        }
        description.settings.extend(nodes.settings());
        if nodes.strictest() != Isolation::Serializable {
            description.warnings.push(group::REFUSES_SERIALIZABLE.to_owned());
        }
        if !self.target.is_private() {
            describe_way(&mut description, nodes.connector(0), &mut connection);
        }
        Ok(description)
    }

    fn capabilities(&self) -> Capabilities {
        // Read locks are local to a node: between nodes a transaction is isolated by its writes only.
        let isolation: &[Isolation] = match self.target.options.spread {
            true => &[Isolation::ReadCommitted, Isolation::RepeatableRead],
            false => SqlCapabilities::ALL.isolation,
        };
        let foreign_keys = self.target.options.server.foreign_keys;
        // Nodes that all take changes leave out numbers, so that no two of them assign the same one.
        let assigned_keys = self.target.product == ClusterProduct::Group && !self.target.options.spread;
        Capabilities {
            sql: Some(SqlCapabilities { isolation, foreign_keys, ..SqlCapabilities::ALL }),
            // A private cluster is the process's that started it.
            processes: !self.target.is_private(),
            records: Some(RecordCapabilities { assigned_keys, ..RecordCapabilities::OVER_SQL }),
            guarantees: match (self.target.product, self.target.options.spread) {
                (ClusterProduct::Galera, true) => Guarantee::UP_TO_SNAPSHOT,
                (ClusterProduct::Galera, false) => Guarantee::BY_LEVEL,
                (_, spread) => {
                    let strictest = if spread { Guarantee::ConsistentReads } else { Guarantee::Serializable };
                    [Guarantee::ReadCommitted, Guarantee::ConsistentReads, strictest]
                }
            },
            ..Capabilities::OF_SQL
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        if self.target.is_private() { Hosting::OwnedServer(self) } else { Hosting::External }
    }

    fn exists(&self) -> Result<bool> {
        if !self.is_started() {
            return Ok(false);
        }
        let (nodes, mut connection) = self.reach()?;
        exists(&mut connection, nodes.database())
    }

    fn foreign(&self) -> Result<Option<String>> {
        if !self.is_started() {
            return Ok(None);
        }
        let (nodes, mut connection) = self.reach()?;
        foreign(&mut connection, nodes.database())
    }

    /// Holds the first node: a cluster has no lock that covers all its nodes.
    fn hold(&self, _: &str) -> Result<Hold> {
        if self.target.is_private() {
            return Ok(Hold::Nothing);
        }
        let ReachedCluster { nodes, .. } = self.reached()?;
        nodes.reach(0, |connector| hold(connector, nodes.database())).map(|(_, held)| held)
    }

    fn leftovers(&self) -> Result<Option<String>> {
        if !self.is_started() {
            return Ok(None);
        }
        let (nodes, mut connection) = self.reach()?;
        leftovers(&mut connection, nodes.database())
    }

    /// Location of the first node's data, for a private cluster.
    fn location(&self) -> Location {
        let private = self.looked_at().and_then(|it| it.private);
        let started = private.and_then(|it| it.data().next().map(std::path::Path::to_owned));
        location(&self.target.server.place, self.target.options.server.common.ram, started)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let ReachedCluster { nodes, private } = self.reached()?;
        let Some(cluster) = private else {
            return Err(EngineError::unsupported(
                "no copy of its database can be kept: a cluster that others run is not stopped for it",
            ));
        };
        Ok(Box::new(ClusterCopy { cluster, nodes, watchers: Arc::clone(&self.watchers) }.take()?))
    }

    fn side_database(&self, name: &str) -> Result<SideDatabase> {
        let ReachedCluster { nodes, .. } = self.reached()?;
        let side = format!("{}_bourse_{name}", nodes.database());
        let connect = move || nodes.reach(0, |connector| connector.connect(None)).map(|(_, connection)| connection);
        prepare_side(&mut connect()?, &side)?;
        let engine = Self::new(self.target.with_database(&side));
        let remove = move || drop_made(&mut connect()?, &side);
        Ok(SideDatabase { engine: Box::new(engine), remove: Box::new(remove) })
    }

    /// Checks every node's own data; a lost node is not part of the cluster until it has joined again.
    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        let ReachedCluster { nodes, .. } = self.reached()?;
        let mut found = Vec::new();
        for (at, name) in nodes.names().enumerate() {
            let mut connection = match nodes.connector(at).connect(Some(nodes.database())) {
                Err(e) if e.kind() == ErrorKind::ConnectionLost && !nodes.is_up(at) => continue,
                reached => reached?,
            };
            found.extend(damage(&mut connection)?.into_iter().map(|words| format!("{name}: {words}")));
        }
        Ok(Some(found))
    }

    /// Sum of all nodes' sizes.
    fn footprint(&self) -> Result<Footprint> {
        let ReachedCluster { nodes, private } = self.reached()?;
        let status = self.watch(|watcher| Ok(ServerStatus::read(&mut watcher.connection)?.since(&watcher.before)))?;
        let mut footprint = Footprint::default();
        for node in &status {
            footprint.memory_bytes += node.memory_bytes;
            if let Some(locks) = node.locks {
                let sum = footprint.locks.get_or_insert(LockStats::default());
                sum.waits += locks.waits;
                sum.wait_ns += locks.wait_ns;
            }
        }
        match private {
            Some(private) => {
                for data in private.data() {
                    let (data_bytes, log_bytes) = sizes(data, nodes.database());
                    footprint.data_bytes += data_bytes;
                    footprint.log_bytes += log_bytes;
                }
                footprint.server = private.process_use();
                footprint.memory_bytes = footprint.server.map_or(footprint.memory_bytes, |it| it.resident_bytes);
            }
            None => {
                let database = nodes.database();
                let bytes = self.watch(|watcher| table_bytes(&mut watcher.connection, database))?;
                footprint.data_bytes = bytes.into_iter().sum();
            }
        }
        Ok(footprint)
    }

    fn io_counts(&self) -> Result<Option<IoCounts>> {
        let counts = self.watch_all(|watcher| Ok(ServerStatus::read(&mut watcher.connection)?.io))?;
        let add = |mut sum: IoCounts, node: IoCounts| {
            sum.source = node.source;
            sum.database += node.database;
            sum.log += node.log;
            sum.journal += node.journal;
            sum.temporary += node.temporary;
            sum.together += node.together;
            sum
        };
        Ok(counts.into_iter().reduce(add))
    }

    /// Counters of all nodes.
    fn counters(&self) -> Result<Vec<Counter>> {
        let nodes = self.watch_all(|watcher| counters(&mut watcher.connection))?;
        let mut sums: Vec<Counter> = Vec::new();
        for counter in nodes.into_iter().flatten() {
            match sums.iter_mut().find(|sum| sum.name == counter.name) {
                Some(sum) => sum.value += counter.value,
                None => sums.push(counter),
            }
        }
        Ok(sums)
    }

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.announced.note(sessions);
        None
    }

    fn conflicts(&self) -> Vec<Conflicts> {
        self.looked_at().map_or_else(Vec::new, |it| it.nodes.conflicts())
    }

    fn node_losses(&self) -> Vec<NodeLosses> {
        self.looked_at().map_or_else(Vec::new, |it| it.nodes.losses())
    }
}

impl SqlEngine for ClusterEngine {
    fn dialect(&self) -> &'static Dialect {
        &crate::DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        let ReachedCluster { nodes, .. } = self.reached()?;
        if let Some(wanted) = self.announced.take() {
            check_each(&nodes, wanted, |connector| Ok(limits(&mut connector.connect(None)?)))?;
        }
        self.opened(NodeSession::new(self.dialect(), nodes)?)
    }

    /// Loader on one node; the others apply the same statements and rows.
    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        let ReachedCluster { nodes, .. } = self.reached()?;
        let (node, _) = nodes.reach(0, |connector| connector.connect(None))?;
        Ok(Box::new(MysqlLoader::new(nodes.connector(node), nodes.database())?))
    }
}

impl OwnedServer for ClusterEngine {
    /// Kills every node.
    fn kill(&self) -> Result<()> {
        self.private()?.kill_all()
    }

    fn nodes(&self) -> usize {
        self.looked_at().map_or(1, |it| it.nodes.len())
    }

    fn kill_node(&self, node: usize) -> Result<()> {
        self.kill_node(node)
    }

    fn restart_node(&self, node: usize) -> Result<()> {
        self.restart_node(node)
    }

    fn restart(&self) -> Result<()> {
        locked(&self.watchers).clear();
        self.private()?.restart_all()?;
        let ReachedCluster { nodes, .. } = self.reached()?;
        (0..nodes.len()).for_each(|node| nodes.set_up(node, true));
        Ok(())
    }
}
