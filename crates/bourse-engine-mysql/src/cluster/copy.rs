//! Snapshots of a private cluster's data, from which rounds begin alike without loading again.

use crate::cluster::life::PrivateCluster;
use crate::cluster::product::SharedNodes;
use crate::engine::Watcher;
use bourse_engine::{Result, Snapshot, locked};
use std::sync::{Arc, Mutex};

/// Copy of the first node's data, taken while no node ran; the other nodes start from the same data.
pub(crate) struct ClusterCopy {
    pub(crate) cluster: Arc<PrivateCluster>,
    pub(crate) nodes: Arc<SharedNodes>,
    /// Monitoring connections, closed since they would end with their servers.
    pub(crate) watchers: Arc<Mutex<Vec<Option<Watcher>>>>,
}

impl ClusterCopy {
    /// Stops all nodes, takes a copy of the first one's data, and starts the cluster again.
    pub(crate) fn take(self) -> Result<Self> {
        self.stopped(PrivateCluster::keep_copy)?;
        Ok(self)
    }

    /// Stops and starts the cluster; no monitoring query runs meanwhile.
    fn stopped(&self, act: impl FnOnce(&PrivateCluster) -> Result<()>) -> Result<()> {
        let mut watchers = locked(&self.watchers);
        watchers.clear();
        act(&self.cluster)?;
        self.nodes.all_are_up();
        Ok(())
    }
}

impl Snapshot for ClusterCopy {
    fn method(&self) -> &str {
        "data of the first node copied while no node ran"
    }

    fn restore(&self) -> Result<()> {
        self.stopped(PrivateCluster::put_back_copy)
    }
}
