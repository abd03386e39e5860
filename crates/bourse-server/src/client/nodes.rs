//! Nodes of a database with several addresses.

use bourse_engine::{Conflicts, EngineError, ErrorKind, Isolation, NodeLosses, Result, Session, Setting};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Connector to a node.
pub trait NodeConnector: Send + Sync {
    /// Type of its sessions.
    type Session: Session;

    /// A session that uses `database`.
    ///
    /// # Errors
    /// The client's or the server's; [`ErrorKind::ConnectionLost`] if it cannot be reached.
    fn session(&self, database: &str) -> Result<Self::Session>;
}

/// Isolation level of a transaction that requests `wanted`, on a server whose strictest level is `strictest`.
pub fn given(wanted: Isolation, strictest: Isolation) -> Isolation {
    match (wanted, strictest) {
        (Isolation::Serializable, strictest) => strictest,
        (Isolation::RepeatableRead, Isolation::ReadCommitted) => Isolation::ReadCommitted,
        (wanted, _) => wanted,
    }
}

/// Codes of conflicts that an engine distinguishes.
#[derive(Debug, Clone, Copy)]
pub struct ConflictKinds {
    /// Each code with its name in reports.
    pub by_code: &'static [(&'static str, &'static str)],
    /// Whether a statement interrupted within a transaction means that it made way for another node's commit.
    pub interrupted: bool,
}

/// Names of the counts after those of `by_code`: conflicts of any other code, and transactions that lost their node.
const OTHERS: [&str; 2] = ["other codes", "node lost"];

/// Nodes of a database, with counts of the conflicts and losses that sessions met.
#[derive(Debug)]
pub struct Nodes<C> {
    nodes: Vec<Node<C>>,
    /// The database that sessions use.
    database: String,
    /// Whether sessions are opened on all nodes in turn.
    spread: bool,
    kinds: ConflictKinds,
    /// Strictest isolation level of the nodes.
    strictest: Isolation,
    /// Number of sessions opened.
    opened: AtomicUsize,
    /// Conflicts: one count for each of `by_code`, one for other codes, one for transactions that lost their node.
    counts: Vec<AtomicU64>,
}

#[derive(Debug)]
struct Node<C> {
    name: String,
    connector: C,
    is_up: AtomicBool,
    /// Number of times that the node was lost.
    losses: AtomicU64,
}

impl<C> Nodes<C> {
    /// Nodes with their names, at least one.
    pub fn new(nodes: Vec<(String, C)>, database: String, spread: bool, kinds: ConflictKinds) -> Self {
        let node =
            |(name, connector)| Node { name, connector, is_up: AtomicBool::new(true), losses: AtomicU64::new(0) };
        Self {
            nodes: nodes.into_iter().map(node).collect(),
            database,
            spread,
            kinds,
            strictest: Isolation::Serializable,
            opened: AtomicUsize::new(0),
            counts: (0..kinds.by_code.len() + OTHERS.len()).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Sets the strictest isolation level of the nodes; a transaction that requests a stricter one gets this level.
    #[must_use]
    pub fn with_strictest(self, strictest: Isolation) -> Self {
        Self { strictest, ..self }
    }

    /// Strictest isolation level of the nodes.
    pub fn strictest(&self) -> Isolation {
        self.strictest
    }

    /// Isolation level of a transaction that requests `wanted`.
    pub(crate) fn given(&self, wanted: Isolation) -> Isolation {
        given(wanted, self.strictest)
    }

    /// Number of nodes.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Names of the nodes, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str())
    }

    /// Name of a node.
    pub fn name(&self, node: usize) -> &str {
        &self.nodes[node].name
    }

    /// Connector to a node.
    pub fn connector(&self, node: usize) -> &C {
        &self.nodes[node].connector
    }

    /// The database that sessions use.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Whether sessions are opened on all nodes in turn.
    pub fn spread(&self) -> bool {
        self.spread
    }

    /// The nodes and the distribution of sessions over them, as settings that a figure depends on.
    pub fn settings(&self) -> [Setting; 2] {
        let names = self.names().collect::<Vec<_>>().join(", ");
        let sessions = if self.spread { "spread over all nodes" } else { "at the first node" };
        [Setting::new("nodes", names), Setting::new("sessions", sessions)]
    }

    pub(crate) fn kinds(&self) -> ConflictKinds {
        self.kinds
    }

    /// Number of the node for the next session.
    pub(crate) fn next_home(&self) -> usize {
        if self.spread { self.opened.fetch_add(1, Ordering::Relaxed) % self.nodes.len() } else { 0 }
    }

    /// Whether a node was reachable when it was last needed.
    pub fn is_up(&self, node: usize) -> bool {
        self.nodes[node].is_up.load(Ordering::Relaxed)
    }

    /// Records whether a node is reachable.
    pub fn set_up(&self, node: usize, is_up: bool) {
        let node = &self.nodes[node];
        if node.is_up.swap(is_up, Ordering::Relaxed) && !is_up {
            node.losses.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records that all nodes were restarted and are reachable; none counts as lost.
    pub fn all_are_up(&self) {
        for node in &self.nodes {
            node.is_up.store(true, Ordering::Relaxed);
            node.losses.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a node was ever lost. The count of a node that returns begins anew.
    pub fn was_lost(&self) -> bool {
        self.nodes.iter().any(|node| node.losses.load(Ordering::Relaxed) > 0)
    }

    /// Number of times that each node was lost.
    pub fn losses(&self) -> Vec<NodeLosses> {
        let of = |node: &Node<C>| NodeLosses { node: node.name.clone(), times: node.losses.load(Ordering::Relaxed) };
        self.nodes.iter().map(of).collect()
    }

    /// Result of `connect` on node `first`, or on the next node that can be reached; nodes that were lost are tried
    /// last.
    ///
    /// Those of `connect` other than lost connections; [`ErrorKind::ConnectionLost`] if no node can be reached.
    pub fn reach<T>(&self, first: usize, connect: impl Fn(&C) -> Result<T>) -> Result<(usize, T)> {
        let order = || (0..self.len()).map(|step| (first + step) % self.len());
        let (up, down): (Vec<usize>, Vec<usize>) = order().partition(|node| self.is_up(*node));
        let mut lost = None;
        for node in up.into_iter().chain(down) {
            match connect(&self.nodes[node].connector) {
                Ok(reached) => {
                    self.set_up(node, true);
                    return Ok((node, reached));
                }
                Err(e) if e.kind() == ErrorKind::ConnectionLost => {
                    self.set_up(node, false);
                    lost.get_or_insert(e);
                }
                Err(e) => return Err(e),
            }
        }
        let lost = lost.expect("there is a node, and none of them was reached");
        if self.len() == 1 {
            return Err(lost);
        }
        Err(lost.during("no node can be reached"))
    }

    /// Counts a conflict that a session reports.
    pub(crate) fn count(&self, conflict: &EngineError) {
        let code = conflict.code().unwrap_or_default();
        let known = self.kinds.by_code;
        let kind = known.iter().position(|(known, _)| *known == code).unwrap_or(known.len());
        self.counts[kind].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a transaction that lost its node.
    pub(crate) fn count_lost(&self) {
        self.counts[self.counts.len() - 1].fetch_add(1, Ordering::Relaxed);
    }

    /// Conflicts that sessions reported, by kind.
    pub fn conflicts(&self) -> Vec<Conflicts> {
        let names = self.kinds.by_code.iter().map(|(_, name)| *name).chain(OTHERS);
        names.zip(&self.counts).map(|(name, count)| Conflicts { name, count: count.load(Ordering::Relaxed) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Nodes<()> {
        let kinds = ConflictKinds { by_code: &[], interrupted: false };
        Nodes::new(vec![("n1".to_owned(), ()), ("n2".to_owned(), ())], "d".to_owned(), true, kinds)
    }

    #[test]
    fn a_transaction_gets_no_more_than_nodes_take() {
        use Isolation::{ReadCommitted, RepeatableRead, Serializable};
        let all = [ReadCommitted, RepeatableRead, Serializable];
        assert_eq!(all.map(|wanted| two().given(wanted)), all);
        let nodes = two().with_strictest(RepeatableRead);
        assert_eq!(all.map(|wanted| nodes.given(wanted)), [ReadCommitted, RepeatableRead, RepeatableRead]);
        let nodes = two().with_strictest(ReadCommitted);
        assert_eq!(all.map(|wanted| nodes.given(wanted)), [ReadCommitted; 3]);
    }

    #[test]
    fn nodes_that_were_started_anew_are_not_lost() {
        let nodes = two();
        nodes.set_up(1, false);
        assert!(!nodes.is_up(1) && nodes.was_lost());
        nodes.set_up(1, true);
        assert!(nodes.was_lost(), "it counts anew");
        nodes.set_up(1, false);
        nodes.set_up(1, false);
        assert_eq!(nodes.losses().into_iter().map(|it| it.times).collect::<Vec<_>>(), [0, 2], "each loss once");
        nodes.all_are_up();
        assert!(nodes.is_up(0) && nodes.is_up(1) && !nodes.was_lost());
    }
}
