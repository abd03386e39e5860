//! The start of a private cluster's servers: identity, ports and commands.

use crate::MysqlTarget;
use crate::cluster::find::InstalledCluster;
use crate::cluster::product::ClusterProduct;
use crate::server::server_command;
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::private::{Launch, ServerFolder, free_ports};
use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

/// Parameters from which nodes are started.
#[derive(Clone, Copy)]
pub(crate) struct ClusterPlan<'a> {
    pub(crate) product: ClusterProduct,
    pub(crate) server: &'a MysqlTarget,
    pub(crate) installed: &'a InstalledCluster,
    pub(crate) identity: &'a Identity,
    /// Whether sessions are spread over all nodes.
    pub(crate) spread: bool,
}

/// Identity of a private cluster.
pub(crate) struct Identity {
    /// Unique name: a UUID.
    pub(crate) name: String,
    /// Password with which nodes log in to each other.
    pub(crate) password: String,
    /// Ports of the loopback address, `each` of them per node.
    ports: Vec<u16>,
    /// Number of ports per node.
    each: usize,
}

impl Identity {
    /// Makes a new identity for a number of nodes.
    pub(crate) fn new(product: ClusterProduct, nodes: usize) -> Result<Self> {
        let each = product.facts().ports;
        let ports = free_ports(each * nodes)
            .map_err(|e| EngineError::new(ErrorKind::Other, format!("no free port of this machine was found: {e}")))?;
        let [first, second, third] = [(); 3].map(|()| unpredictable());
        let name = format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            first >> 32,
            (first >> 16) & 0xffff,
            first & 0xfff,
            second >> 52,
            second & 0xffff_ffff_ffff
        );
        Ok(Self { name, password: format!("{third:016x}{:016x}", unpredictable()), ports, each })
    }

    /// Ports of a node, counted from 0.
    pub(crate) fn ports(&self, node: usize) -> &[u16] {
        &self.ports[node * self.each..][..self.each]
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.ports.len() / self.each
    }
}

/// Unpredictable number: the standard library seeds hash maps from the system's randomness.
fn unpredictable() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

impl ClusterPlan<'_> {
    /// Command that starts a node's server on the data in its folder.
    pub(crate) fn command(&self, node: usize, folder: &ServerFolder, more: &[&str]) -> Command {
        let mut arguments = (self.product.facts().arguments)(self, node);
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let launch = Launch { arguments, ..Launch::default() };
        server_command(&self.installed.server, self.server, folder, &launch)
    }
}

/// Name of a node, counted from 0.
pub(crate) fn node_name(node: usize) -> String {
    format!("n{}", node + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_clusters_are_alike() {
        let [one, other] = [(); 2].map(|()| Identity::new(ClusterProduct::Group, 3).unwrap());
        assert_ne!(one.name, other.name);
        assert_ne!(one.password, other.password);
        assert_eq!((one.name.len(), one.password.len(), one.nodes()), (36, 32, 3));
        assert_eq!(one.name.bytes().filter(|byte| *byte == b'-').count(), 4);
        let mut ports = one.ports.clone();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), one.ports.len());
        assert_eq!([one.ports(0), one.ports(1), one.ports(2)].concat(), one.ports);
    }
}
