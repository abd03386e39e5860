//! The nodes of a cluster, as sessions reach them.

use bourse_client::ConflictKinds;
use bourse_engine_mysql::parts::Connector;

pub(crate) type Nodes = bourse_client::Nodes<Connector>;

/// Conflicts that are told apart.
pub(crate) const KINDS: ConflictKinds = ConflictKinds {
    by_code: &[
        ("1213", "1213 (another transaction's lock, or another node's commit)"),
        ("1205", "1205 (lock wait, or wait for another node's commits, timed out)"),
        ("1020", "1020 (row changed since the snapshot)"),
        ("1317", "1317 (statement interrupted for another node's commit)"),
    ],
    // Some statements are told so that their transaction has to make way for another node's commit.
    interrupted: true,
};
