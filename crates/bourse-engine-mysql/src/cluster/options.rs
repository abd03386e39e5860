//! Options of a target, as typed values: the cluster's own, and those of each node's server.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::Options as ServerOptions;
use crate::options::OPTIONS;
use bourse_engine::target::{Grammar, OptionSpec, Scheme};
use bourse_engine::{nested_option, option_spec};
use std::path::PathBuf;

/// Settings of a target; those that it does not name have their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `nodes`.
    pub nodes: u32,
    /// `causal`.
    pub causal: bool,
    /// `spread`.
    pub spread: bool,
    /// `provider`.
    pub provider: Option<PathBuf>,
    /// Settings of each node's server.
    pub server: ServerOptions,
}

impl Options {
    /// Default settings.
    pub const DEFAULT: Self =
        Self { nodes: 3, causal: true, spread: true, provider: None, server: ServerOptions::DEFAULT };
}

/// Option of a server by its name.
const fn of_server(name: &str) -> &'static OptionSpec<ServerOptions> {
    let mut rest = OPTIONS;
    while let [option, more @ ..] = rest {
        if is_same(option.name.as_bytes(), name.as_bytes()) {
            return option;
        }
        rest = more;
    }
    panic!("servers have no such option")
}

const fn is_same(mut left: &[u8], mut right: &[u8]) -> bool {
    while let ([a, more_left @ ..], [b, more_right @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        left = more_left;
        right = more_right;
    }
    left.is_empty() && right.is_empty()
}

/// Option that each node's server has.
macro_rules! each_node {
    ($name:literal) => {
        nested_option!(ServerOptions: of_server($name) => server: Options)
    };
}

/// Options for reaching nodes, which private clusters do not need.
const TO_REACH: &[&str] = &["password_file", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Options for reaching nodes that private groups do not need, and Galera's library, which a group does not have.
const TO_REACH_A_GROUP: &[&str] = &["password_file", "sslmode", "sslrootcert", "sslcert", "sslkey", "provider"];

/// Options of private clusters only.
const PRIVATE: &[&str] = &[
    "nodes",
    "provider",
    "ram",
    "server",
    "innodb_buffer_pool",
    "log_file",
    "flush_log",
    "flush_method",
    "doublewrite",
    "start_timeout",
];

const fn private_cluster(name: &'static str, without: &'static [&'static str]) -> Scheme {
    Scheme { name, kind: "a private cluster", without, because: "we start the nodes, and know how to reach them" }
}

const fn running_cluster(name: &'static str) -> Scheme {
    Scheme {
        name,
        kind: "a running cluster",
        without: PRIVATE,
        because: "it belongs to the servers' own configuration",
    }
}

/// Grammar of clusters' targets, with every option in the order of help and documents. Options of a server apply to each node.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "MariaDB Galera and MySQL Group Replication",
    schemes: &[
        private_cluster("mariadb+galera", TO_REACH),
        running_cluster("galera"),
        private_cluster("mysql+group", TO_REACH_A_GROUP),
        running_cluster("group"),
    ],
    forms: "mariadb+galera: or mysql+group:, galera://USER@HOST,HOST,HOST/DATABASE or group://USER@HOST,HOST,HOST/DATABASE, each with optional ?OPTION=VALUE&…",
    options: &[
        option_spec!("nodes" => nodes: number(1, 9), "a number from 1 to 9", "nodes of a private cluster, all on this machine"),
        option_spec!(
            "causal" => causal: switch,
            "a transaction waits at its beginning until its node has applied what was committed on others (`wsrep_sync_wait=7`, `group_replication_consistency=BEFORE`)",
        ),
        option_spec!(
            "spread" => spread: switch,
            "sessions go to all nodes in turn; off: to the first one, and to another only where it is lost, and a private group is in single-primary mode",
        ),
        option_spec!(
            "provider" => provider: path,
            "Galera's library (`wsrep_provider`) [without it: searched in the common folders]",
        ),
        each_node!("lock_timeout"),
        each_node!("answer_timeout"),
        each_node!("foreign_keys"),
        each_node!("snapshot_isolation"),
        each_node!("procedures"),
        each_node!("password_file"),
        each_node!("sslmode"),
        each_node!("sslrootcert"),
        each_node!("sslcert"),
        each_node!("sslkey"),
        each_node!("ram"),
        each_node!("server"),
        each_node!("innodb_buffer_pool"),
        each_node!("log_file"),
        each_node!("flush_log"),
        each_node!("flush_method"),
        each_node!("doublewrite"),
        each_node!("start_timeout"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::PRIVATE_ONLY;

    #[test]
    fn every_option_of_a_server_is_a_nodes_unless_it_makes_no_sense_there() {
        // Nodes that run are reached by their addresses, and only InnoDB's tables are replicated.
        const NOT: [&str; 2] = ["socket", "storage"];
        for option in OPTIONS {
            let is_here = GRAMMAR.options.iter().any(|it| it.name == option.name);
            assert_eq!(is_here, !NOT.contains(&option.name), "{}", option.name);
        }
        for running in GRAMMAR.schemes.iter().filter(|scheme| !scheme.name.contains('+')) {
            assert!(PRIVATE_ONLY.iter().all(|name| !running.has(name)), "{running:?}");
        }
    }
}
