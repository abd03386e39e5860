//! The nodes of a cluster, as sessions reach them.

use bourse_engine::{Conflicts, EngineError, ErrorKind};
use bourse_engine_mysql::parts::Connector;
use mysql::Conn;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The nodes of a cluster, and what sessions have met there.
pub(crate) struct Nodes {
    nodes: Vec<Node>,
    /// The database that sessions use.
    database: String,
    /// Whether sessions go to all nodes in turn.
    spread: bool,
    /// Whether a node was ever lost.
    was_lost: AtomicBool,
    /// Sessions opened.
    opened: AtomicUsize,
    counts: [AtomicU64; KINDS.len()],
}

struct Node {
    name: String,
    connector: Connector,
    is_up: AtomicBool,
}

/// Kinds of conflicts that are told apart, the first four by code.
const KINDS: [(&str, &str); 6] = [
    ("1213", "1213 (another transaction's lock, or another node's commit)"),
    ("1205", "1205 (lock wait, or wait for another node's commits, timed out)"),
    ("1020", "1020 (row changed since the snapshot)"),
    ("1317", "1317 (statement interrupted for another node's commit)"),
    ("", "other codes"),
    ("", "node lost"),
];
const OTHER: usize = 4;
const NODE_LOST: usize = 5;

impl Nodes {
    /// Nodes with their names.
    pub(crate) fn new(nodes: Vec<(String, Connector)>, database: String, spread: bool) -> Self {
        let node = |(name, connector)| Node { name, connector, is_up: AtomicBool::new(true) };
        Self {
            nodes: nodes.into_iter().map(node).collect(),
            database,
            spread,
            was_lost: AtomicBool::new(false),
            opened: AtomicUsize::new(0),
            counts: Default::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str())
    }

    pub(crate) fn name(&self, node: usize) -> &str {
        &self.nodes[node].name
    }

    pub(crate) fn connector(&self, node: usize) -> &Connector {
        &self.nodes[node].connector
    }

    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// The node of the next session.
    pub(crate) fn next_home(&self) -> usize {
        if self.spread { self.opened.fetch_add(1, Ordering::Relaxed) % self.nodes.len() } else { 0 }
    }

    pub(crate) fn is_up(&self, node: usize) -> bool {
        self.nodes[node].is_up.load(Ordering::Relaxed)
    }

    pub(crate) fn set_up(&self, node: usize, is_up: bool) {
        self.nodes[node].is_up.store(is_up, Ordering::Relaxed);
        if !is_up {
            self.was_lost.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a node was ever lost: one that comes back counts anew.
    pub(crate) fn was_lost(&self) -> bool {
        self.was_lost.load(Ordering::Relaxed)
    }

    /// A connection to `first` or, where it cannot be reached, to the next node that can; nodes that were lost are tried last.
    pub(crate) fn connect(&self, first: usize, database: Option<&str>) -> Result<(usize, Conn), EngineError> {
        let order = || (0..self.len()).map(|step| (first + step) % self.len());
        let (up, down): (Vec<usize>, Vec<usize>) = order().partition(|node| self.is_up(*node));
        let mut lost = None;
        for node in up.into_iter().chain(down) {
            match self.nodes[node].connector.connect(database) {
                Ok(connection) => {
                    self.set_up(node, true);
                    return Ok((node, connection));
                }
                Err(e) if e.kind() == ErrorKind::ConnectionLost => {
                    self.set_up(node, false);
                    lost.get_or_insert(e);
                }
                Err(e) => return Err(e),
            }
        }
        let lost = lost.expect("a cluster has a node, and none of them was reached");
        Err(EngineError::new(lost.kind(), format!("no node of the cluster can be reached: {}", lost.message())))
    }

    /// Counts a conflict that a session is told of.
    pub(crate) fn count(&self, conflict: &EngineError) {
        let code = conflict.code().unwrap_or_default();
        let kind = KINDS[..OTHER].iter().position(|(known, _)| *known == code).unwrap_or(OTHER);
        self.counts[kind].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a transaction that lost its node.
    pub(crate) fn count_lost(&self) {
        self.counts[NODE_LOST].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn conflicts(&self) -> Vec<Conflicts> {
        let counted = KINDS.iter().zip(&self.counts);
        counted.map(|((_, name), count)| Conflicts { name, count: count.load(Ordering::Relaxed) }).collect()
    }
}
