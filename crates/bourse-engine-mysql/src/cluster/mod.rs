//! Clusters of MariaDB Galera and of MySQL Group Replication behind the seam: existing ones, or a private one that Bourse
//! starts and removes.
//!
//! | target | what it is |
//! |---|---|
//! | `mariadb+galera:?nodes=3&ram=on` | a private Galera cluster on this machine, its data in memory |
//! | `mysql+group:/big/disk?flush_log=2` | a private replication group, its data below `/big/disk` |
//! | `galera://user@host1:3306,host2:3306,host3:3306/db` | a Galera cluster that runs already |
//! | `group://user@host1:3306,host2:3306,host3:3306/db` | a replication group that runs already |
//!
//! [`open`] reads a target; [`GRAMMAR`] has the table of all options. A node is a MariaDB or MySQL server: its options,
//! sessions and loads are those of `bourse-engine-mysql`.
//!
//! # Sessions
//! Sessions are spread over the nodes. A transaction that met another node's commit fails with a conflict, at whatever
//! statement this is reported, and nothing runs before its rollback. A session whose node is lost continues at another one: the
//! open transaction fails with a conflict, for nothing of it was committed; a commit under way is in doubt.
//!
//! # Reads
//! A read sees the changes committed before it on any node (`wsrep_sync_wait=7`, `group_replication_consistency=BEFORE`): a
//! transaction waits at its beginning until its node has applied them. With `causal=off` it does not wait.
//!
//! Files: `options` and `target` (settings of a target), `find` (the software of a private cluster), `product` (the differences
//! between the two), `galera` and `group` (their nodes: arguments, joining, restart after a kill), `plan` (ports and commands
//! of a private cluster), `cluster` (its life), `copy` (snapshots of it), `engine` (a target, its nodes, their sizes), `kind` (the engines' registration). Sessions are `bourse-client`'s.

mod copy;
mod engine;
mod find;
mod galera;
mod group;
mod kind;
mod life;
mod options;
mod plan;
mod product;
mod target;

pub use engine::{ClusterEngine, open};
pub use find::{InstalledCluster, installed};
pub use kind::KINDS;
pub use life::sweep_target;
pub use options::{ClusterOptions, GRAMMAR};
pub use product::ClusterProduct;
pub use target::ClusterTarget;
