//! MariaDB Galera clusters behind the seam: a person's, or a private one that is started and removed here.
//!
//! | target | what it is |
//! |---|---|
//! | `mariadb+galera:?nodes=3&ram=on` | a cluster of our own on this machine, its data in memory |
//! | `mariadb+galera:/big/disk?flush_log=2` | the same, its data below `/big/disk` |
//! | `galera://user@host1:3306,host2:3306,host3:3306/db` | a cluster that runs already |
//!
//! [`open`] reads a target; [`GRAMMAR`] has the table of all options. A node is a MariaDB server: its options, sessions and
//! loads are those of `bourse-engine-mysql`.
//!
//! # Sessions
//! are spread over the nodes. A transaction that met another node's commit fails with a conflict, at whatever statement it is
//! told (1213), and nothing runs before its rollback. Where a session's node is lost the session goes on at another one: the
//! open transaction fails with a conflict, for nothing of it was committed; a commit under way is in doubt.
//!
//! # Reads
//! see what was committed before them on any node (`wsrep_sync_wait=7`): a transaction waits at its beginning until its node
//! has applied that. With `causal=off` it does not wait.
//!
//! Files: `options` and `target` (what was asked for), `find` (what a private cluster needs), `cluster` (a private one),
//! `nodes` (kinds of conflicts), `engine` (a target, its nodes, their sizes). Sessions are `bourse-client`'s.

mod cluster;
mod engine;
mod find;
mod nodes;
mod options;
mod target;

pub use cluster::sweep_target;
pub use engine::{ClusterEngine, open};
pub use find::{Installed, installed};
pub use options::{GRAMMAR, Options};
pub use target::Target;
