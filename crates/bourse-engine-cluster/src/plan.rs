//! What the servers of a private cluster are started with.

use crate::find::Installed;
use crate::product::Product;
use bourse_engine::{EngineError, ErrorKind};
use bourse_engine_mysql::parts::server_command;
use bourse_engine_mysql::{Launch, Target as ServerTarget};
use bourse_private_server::{ServerFolder, free_ports};
use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

/// What nodes are started from.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) product: Product,
    pub(crate) server: &'a ServerTarget,
    pub(crate) installed: &'a Installed,
    pub(crate) identity: &'a Identity,
    /// Whether sessions are at all nodes.
    pub(crate) spread: bool,
}

/// What tells a private cluster from every other.
pub(crate) struct Identity {
    /// Its name among clusters: a UUID.
    pub(crate) name: String,
    /// What nodes log in to each other with.
    pub(crate) password: String,
    /// Ports of the loopback address: so many of each node.
    ports: Vec<u16>,
    /// How many.
    each: usize,
}

impl Identity {
    /// A new one for so many nodes.
    pub(crate) fn new(product: Product, nodes: usize) -> Result<Self, EngineError> {
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

    /// The ports of a node, counted from 0.
    pub(crate) fn ports(&self, node: usize) -> &[u16] {
        &self.ports[node * self.each..][..self.each]
    }

    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> usize {
        self.ports.len() / self.each
    }
}

/// A number of the system's randomness: hash maps are seeded with it against people who choose their keys.
fn unpredictable() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

impl Plan<'_> {
    /// Starts a node's server on the data that are in its folder.
    pub(crate) fn command(&self, node: usize, folder: &ServerFolder, more: &[&str]) -> Command {
        let mut arguments = (self.product.facts().arguments)(self, node);
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let launch = Launch { environment: Vec::new(), arguments };
        server_command(&self.installed.server, self.server, folder, &launch)
    }
}

/// The name of a node, counted from 0.
pub(crate) fn node_name(node: usize) -> String {
    format!("n{}", node + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_clusters_are_alike() {
        let [one, other] = [(); 2].map(|()| Identity::new(Product::Group, 3).unwrap());
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
