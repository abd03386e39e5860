//! Whose clusters there are, and what differs between them.

use crate::plan::Plan;
use crate::{galera, group};
use bourse_client::ConflictKinds;
use bourse_engine::EngineError;
use bourse_engine_mysql::Flavour;
use bourse_engine_mysql::parts::Connector;
use bourse_engine_mysql::parts::Link;
use bourse_private_server::{Kind, ServerFolder};

/// Nodes, as sessions reach them.
pub(crate) type Nodes = bourse_client::Nodes<Connector>;

/// Whose cluster it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// MariaDB Galera.
    Galera,
    /// MySQL Group Replication.
    Group,
}

/// What clusters of a product have of their own.
pub(crate) struct Facts {
    /// The engine's name in reports.
    pub(crate) name: &'static str,
    /// Whose servers its nodes are.
    pub(crate) flavour: Flavour,
    /// The scheme of clusters that run already.
    pub(crate) running: &'static str,
    /// Settings of sessions that wait for what other nodes have committed.
    pub(crate) waiting: &'static str,
    /// Settings of sessions that do not.
    pub(crate) not_waiting: &'static str,
    /// Conflicts that are told apart.
    pub(crate) conflicts: ConflictKinds,
    /// Queries for what a figure depends on, as names and values.
    pub(crate) described: &'static [&'static str],
    /// What private nodes have of their own as servers.
    pub(crate) private: Kind,
    /// Ports of the loopback address that a private node listens on.
    pub(crate) ports: usize,
    /// Files of a node's data that make it this node: they are no part of what is copied to another one.
    pub(crate) not_copied: &'static [&'static str],
    /// Arguments of the first node's server, where a cluster begins with it.
    pub(crate) first: &'static [&'static str],
    /// Has the data of a node that has ended say that a cluster may begin with them.
    pub(crate) may_be_first: fn(&ServerFolder) -> Result<(), EngineError>,
    /// Whether a server of it runs before it joins, so that all can be started at once.
    pub(crate) runs_before_joining: bool,
    /// Arguments of a node's server, counted from 0.
    pub(crate) arguments: fn(&Plan<'_>, usize) -> Vec<String>,
    /// Has the first server make what the nodes will need, before its data are copied.
    pub(crate) prepare: fn(&mut Link, &Plan<'_>) -> Result<(), mysql::Error>,
    /// Whether a node takes part and has all that was committed; has it join if it does not try to yet. An error says what is
    /// waited for.
    pub(crate) joined: fn(&mut Link, &Plan<'_>, Role) -> Result<(), EngineError>,
}

/// How a node comes into a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is the first, and the cluster begins with it.
    First,
    /// It joins others.
    Joiner,
}

impl Role {
    /// That of a node, counted from 0, where node `first` is the first.
    pub(crate) fn of(node: usize, first: usize) -> Self {
        if node == first { Self::First } else { Self::Joiner }
    }
}

impl Product {
    /// What its clusters have of their own.
    pub(crate) fn facts(self) -> &'static Facts {
        match self {
            Self::Galera => &galera::FACTS,
            Self::Group => &group::FACTS,
        }
    }

    /// Nodes with their names, as sessions of a target reach them.
    pub(crate) fn nodes(self, nodes: Vec<(String, Connector)>, database: String, spread: bool) -> Nodes {
        Nodes::new(nodes, database, spread, self.facts().conflicts)
    }

    /// Settings of every session.
    pub(crate) fn settings(self, causal: bool) -> &'static str {
        if causal { self.facts().waiting } else { self.facts().not_waiting }
    }
}
