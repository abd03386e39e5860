//! Copies of a private server's data, so that every round can begin with the same data without loading again.

use crate::connect::MysqlConnector;
use crate::engine::Watcher;
use crate::target::MysqlTarget;
use bourse_engine::{Result, Snapshot, locked};
use bourse_server::private::{Launch, PrivateServer, ServerSlot};
use bourse_server::{restart, stop};
use std::sync::{Arc, Mutex};

/// A copy of the data directory, taken while the server was stopped.
pub(crate) struct StoppedCopy {
    pub(crate) server: Arc<ServerSlot<MysqlConnector>>,
    /// A connection that would end with the server.
    pub(crate) watcher: Arc<Mutex<Option<Watcher>>>,
    pub(crate) target: MysqlTarget,
    pub(crate) launch: Launch,
}

impl StoppedCopy {
    /// Stops the server, copies its data, and starts it again.
    pub(crate) fn take(self) -> Result<Self> {
        self.stopped(|server| server.folder().keep_copy(&[]))?;
        Ok(self)
    }

    /// Runs `act` while the server is stopped. Starts it again afterwards, also if `act` failed.
    fn stopped(&self, act: impl FnOnce(&PrivateServer) -> Result<()>) -> Result<()> {
        *locked(&self.watcher) = None;
        self.server.with(|server, connector| {
            stop(&self.target, server, connector)?;
            let done = act(server);
            restart(&self.target, server, connector, &self.launch)?;
            done
        })
    }
}

impl Snapshot for StoppedCopy {
    fn method(&self) -> &str {
        "data copied while the server was stopped"
    }

    fn restore(&self) -> Result<()> {
        self.stopped(|server| server.folder().put_back_copy())
    }
}
