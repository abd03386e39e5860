//! Options of a target, as typed values: the cluster's own, and those of each node's server.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::MysqlOptions;
use crate::options::OPTIONS as OF_SERVERS;
use bourse_engine::options;
use bourse_engine::target::{Grammar, OptionSpec, Scheme};
use std::path::PathBuf;

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ClusterOptions;

    /// `nodes`.
    nodes: u32 = 3 => ["nodes": number(1, 9), "a number from 1 to 9",
        "nodes of a private cluster, all on this machine"];

    /// `causal`.
    causal: bool = true => ["causal": switch,
        "a transaction waits at its beginning until its node has applied what was committed on others (`wsrep_sync_wait=7`, `group_replication_consistency=BEFORE`)"];

    /// `spread`.
    spread: bool = true => ["spread": switch,
        "sessions go to all nodes in turn; off: to the first one, and to another only where it is lost, and a private group is in single-primary mode"];

    /// `provider`.
    provider: Option<PathBuf> = None => ["provider": path,
        "Galera's library (`wsrep_provider`) [without it: searched in the common folders]"];

    /// Settings of each node's server.
    server: MysqlOptions = MysqlOptions::DEFAULT =>
        [nested MysqlOptions: of_server("lock_timeout")] [nested MysqlOptions: of_server("answer_timeout")]
        [nested MysqlOptions: of_server("foreign_keys")] [nested MysqlOptions: of_server("snapshot_isolation")]
        [nested MysqlOptions: of_server("procedures")] [nested MysqlOptions: of_server("password_file")]
        [nested MysqlOptions: of_server("sslmode")] [nested MysqlOptions: of_server("sslrootcert")]
        [nested MysqlOptions: of_server("sslcert")] [nested MysqlOptions: of_server("sslkey")]
        [nested MysqlOptions: of_server("ram")] [nested MysqlOptions: of_server("server")]
        [nested MysqlOptions: of_server("innodb_buffer_pool")] [nested MysqlOptions: of_server("log_file")]
        [nested MysqlOptions: of_server("flush_log")] [nested MysqlOptions: of_server("flush_method")]
        [nested MysqlOptions: of_server("doublewrite")] [nested MysqlOptions: of_server("start_timeout")];
}

/// Option of a server by its name.
const fn of_server(name: &str) -> &'static OptionSpec<MysqlOptions> {
    let mut rest = OF_SERVERS;
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

/// Options for reaching nodes, which private clusters do not need.
const TO_REACH: &[&str] = &["password_file", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Options for reaching nodes that private groups do not need, and Galera's library, which a group does not have.
const TO_REACH_A_GROUP: &[&str] = &["password_file", "sslmode", "sslrootcert", "sslcert", "sslkey", "provider"];

/// Options of private clusters only.
const PRIVATE: &[&str] = &[
    "nodes", "provider", "ram", "server", "innodb_buffer_pool", "log_file", "flush_log", "flush_method", "doublewrite",
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
pub static GRAMMAR: Grammar<ClusterOptions> = Grammar {
    engine: "MariaDB Galera and MySQL Group Replication",
    schemes: &[
        private_cluster("mariadb+galera", TO_REACH),
        running_cluster("galera"),
        private_cluster("mysql+group", TO_REACH_A_GROUP),
        running_cluster("group"),
    ],
    forms: "mariadb+galera: or mysql+group:, galera://USER@HOST,HOST,HOST/DATABASE or group://USER@HOST,HOST,HOST/DATABASE, each with optional ?OPTION=VALUE&…",
    options: OPTIONS,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::PRIVATE_ONLY;

    #[test]
    fn every_option_of_a_server_is_a_nodes_unless_it_makes_no_sense_there() {
        // Nodes that run are reached by their addresses, and only InnoDB's tables are replicated.
        const NOT: [&str; 2] = ["socket", "storage"];
        for option in OF_SERVERS {
            let is_here = GRAMMAR.options.iter().any(|it| it.name == option.name);
            assert_eq!(is_here, !NOT.contains(&option.name), "{}", option.name);
        }
        for running in GRAMMAR.schemes.iter().filter(|scheme| !scheme.name.contains('+')) {
            assert!(PRIVATE_ONLY.iter().all(|name| !running.has(name)), "{running:?}");
        }
    }
}
