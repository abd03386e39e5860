//! The cluster products, and their differences.

use crate::Flavour;
use crate::cluster::plan::ClusterPlan;
use crate::cluster::{galera, group};
use crate::connect::MysqlConnector;
use crate::link::Link;
use bourse_engine::Result;
use bourse_server::client::ConflictKinds;
use bourse_server::private::{ServerFolder, ServerKind};

/// Nodes, as sessions reach them.
pub(crate) type SharedNodes = bourse_server::client::Nodes<MysqlConnector>;

/// Product of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterProduct {
    /// MariaDB Galera.
    Galera,
    /// MySQL Group Replication.
    Group,
}

/// Properties of a product's clusters.
pub(crate) struct ClusterFacts {
    /// Name of the engine in reports.
    pub(crate) name: &'static str,
    /// Flavour of its nodes' servers.
    pub(crate) flavour: Flavour,
    /// Scheme of clusters that run already.
    pub(crate) running: &'static str,
    /// Settings of sessions that wait for other nodes' commits.
    pub(crate) waiting: &'static str,
    /// Settings of sessions that do not wait.
    pub(crate) not_waiting: &'static str,
    /// Kinds of conflicts that are counted separately.
    pub(crate) conflicts: ConflictKinds,
    /// Queries for settings that affect figures, as names and values.
    pub(crate) described: &'static [&'static str],
    /// Properties of private nodes as servers.
    pub(crate) private: ServerKind,
    /// Number of ports of the loopback address that a private node listens on.
    pub(crate) ports: usize,
    /// Files that identify a node: they are not copied to another one.
    pub(crate) not_copied: &'static [&'static str],
    /// Arguments of the first node's server when it starts a cluster.
    pub(crate) first: &'static [&'static str],
    /// Marks the data of a stopped node as the start of a cluster.
    pub(crate) may_be_first: fn(&ServerFolder) -> Result<()>,
    /// Whether a server runs before it joins, so that all can be started together.
    pub(crate) runs_before_joining: bool,
    /// Arguments of a node's server, counted from 0.
    pub(crate) arguments: fn(&ClusterPlan<'_>, usize) -> Vec<String>,
    /// Makes the first server create what the nodes will need, before its data is copied.
    pub(crate) prepare: fn(&mut Link, &ClusterPlan<'_>) -> Result<(), mysql::Error>,
    /// Checks that a node takes part and has all committed data, and makes it join if necessary. The error says what is
    /// missing.
    pub(crate) joined: fn(&mut Link, &ClusterPlan<'_>, Role) -> Result<()>,
}

/// Role of a node at the start of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The first node, with which the cluster begins.
    First,
    /// A node that joins others.
    Joiner,
}

impl Role {
    /// Role of a node, counted from 0, if node `first` is the first.
    pub(crate) fn of(node: usize, first: usize) -> Self {
        if node == first { Self::First } else { Self::Joiner }
    }
}

impl ClusterProduct {
    /// Properties of the product's clusters.
    pub(crate) fn facts(self) -> &'static ClusterFacts {
        match self {
            Self::Galera => &galera::FACTS,
            Self::Group => &group::FACTS,
        }
    }

    /// Nodes with their names, as sessions of a target reach them.
    pub(crate) fn nodes(self, nodes: Vec<(String, MysqlConnector)>, database: String, spread: bool) -> SharedNodes {
        SharedNodes::new(nodes, database, spread, self.facts().conflicts)
    }

    /// Settings of every session.
    pub(crate) fn settings(self, causal: bool) -> &'static str {
        if causal { self.facts().waiting } else { self.facts().not_waiting }
    }
}
