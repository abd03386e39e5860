//! Targets, checked completely before anything is started or reached.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::cluster::options::{ClusterOptions, GRAMMAR};
use crate::cluster::product::ClusterProduct;
use crate::target::FORMS;
use crate::{MysqlTarget, ServerPlace};
use bourse_engine::target::TargetError;

/// Parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterTarget {
    /// Text of the target; it has no password.
    pub text: String,
    /// Product of the cluster.
    pub product: ClusterProduct,
    /// Nodes of a cluster that runs already, at least one; empty for a private cluster.
    pub nodes: Vec<ServerPlace>,
    /// Target of one node: the first of a running cluster, any of a private one.
    pub server: MysqlTarget,
    /// The given options, and the defaults of all others.
    pub options: ClusterOptions,
}

impl ClusterTarget {
    /// Parses a target.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what was expected.
    ///
    /// ```
    /// use bourse_engine_mysql::cluster::ClusterTarget;
    /// let target = ClusterTarget::parse("galera://ann@a,b:3307,c/tpce?causal=off").unwrap();
    /// assert_eq!(target.nodes.len(), 3);
    /// assert!(!target.options.causal);
    /// assert!(ClusterTarget::parse("mariadb+galera:?nodes=3").unwrap().nodes.is_empty());
    /// assert!(ClusterTarget::parse("mysql+group:?nodes=3").unwrap().is_private());
    /// ```
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let split = GRAMMAR.split(text)?;
        let product = match split.scheme.name {
            "galera" | "mariadb+galera" => ClusterProduct::Galera,
            _ => ClusterProduct::Group,
        };
        let (nodes, place) = if split.scheme.name == product.facts().running {
            let nodes = ServerPlace::read_nodes(&GRAMMAR, &FORMS, split)?;
            let first = nodes.first().cloned();
            (nodes, first.expect("an address is read for each part between commas, and there is at least one"))
        } else {
            // `mysql+group://ann@a,b/tpce` names servers; a folder of such a name is written with `./`.
            if split.place.starts_with("//") && split.place.contains(['@', ',']) {
                let why = match product {
                    ClusterProduct::Galera => {
                        "a private cluster has no addresses; one that runs already is `galera://…`"
                    }
                    ClusterProduct::Group => "a private group has no addresses; one that runs already is `group://…`",
                };
                return Err(TargetError::Place { engine: GRAMMAR.engine, why, forms: GRAMMAR.forms });
            }
            (Vec::new(), ServerPlace::read(&GRAMMAR, &FORMS, split, true)?)
        };
        let parsed = GRAMMAR.read(text, split, split.place.to_owned(), ClusterOptions::DEFAULT)?;
        place.check_memory(parsed.options.server.common.ram)?;
        parsed.options.server.common.tls.check(false)?;
        let server = MysqlTarget {
            text: parsed.text.clone(),
            flavour: product.facts().flavour,
            place,
            others: Vec::new(),
            options: parsed.options.server.clone(),
        };
        Ok(Self { text: parsed.text, product, nodes, server, options: parsed.options })
    }

    /// Copy of the target with another database name.
    pub(crate) fn with_database(&self, name: &str) -> Self {
        Self {
            nodes: self.nodes.iter().map(|node| node.with_database(name)).collect(),
            server: self.server.with_database(name),
            ..self.clone()
        }
    }

    /// Whether the cluster is a private one, started by Bourse.
    pub fn is_private(&self) -> bool {
        self.nodes.is_empty()
    }
}
