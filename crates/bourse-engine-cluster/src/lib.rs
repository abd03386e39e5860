//! Clusters of MariaDB Galera and of MySQL Group Replication behind the seam: a person's, or a private one that is started and
//! removed here.
//!
//! | target | what it is |
//! |---|---|
//! | `mariadb+galera:?nodes=3&ram=on` | a Galera cluster of our own on this machine, its data in memory |
//! | `mysql+group:/big/disk?flush_log=2` | a replication group of our own, its data below `/big/disk` |
//! | `galera://user@host1:3306,host2:3306,host3:3306/db` | a Galera cluster that runs already |
//! | `group://user@host1:3306,host2:3306,host3:3306/db` | a replication group that runs already |
//!
//! [`open`] reads a target; [`GRAMMAR`] has the table of all options. A node is a MariaDB or MySQL server: its options, sessions
//! and loads are those of `bourse-engine-mysql`.
//!
//! # Sessions
//! are spread over the nodes. A transaction that met another node's commit fails with a conflict, at whatever statement it is
//! told, and nothing runs before its rollback. Where a session's node is lost the session goes on at another one: the
//! open transaction fails with a conflict, for nothing of it was committed; a commit under way is in doubt.
//!
//! # Reads
//! see what was committed before them on any node (`wsrep_sync_wait=7`, `group_replication_consistency=BEFORE`): a transaction
//! waits at its beginning until its node has applied that. With `causal=off` it does not wait.
//!
//! Files: `options` and `target` (what was asked for), `find` (what a private cluster needs), `product` (what differs between
//! the two), `galera` and `group` (their nodes: arguments, joining, the way back after a kill), `plan` (ports and commands of a
//! private cluster), `cluster` (its life), `copy` (snapshots of it), `engine` and `watcher` (a target, its nodes, their sizes), `kind` (what a
//! program is told of them). Sessions are `bourse-client`'s.

mod cluster;
mod copy;
mod engine;
mod find;
mod galera;
mod group;
mod kind;
mod options;
mod plan;
mod product;
mod target;
mod watcher;

pub use cluster::sweep_target;
pub use engine::{ClusterEngine, open};
pub use find::{Installed, installed};
pub use kind::KINDS;
pub use options::{GRAMMAR, Options};
pub use product::Product;
pub use target::Target;
