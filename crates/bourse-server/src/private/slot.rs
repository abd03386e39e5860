//! Private server of an engine, started on demand.

use crate::private::PrivateServer;
use bourse_engine::{EngineError, ErrorKind, Result, locked};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Private server of an engine with a connector to it; empty until first use.
#[derive(Debug)]
pub struct ServerSlot<C>(Mutex<Option<(PrivateServer, C)>>);

impl<C> Default for ServerSlot<C> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<C: Clone> ServerSlot<C> {
    fn locked(&self) -> MutexGuard<'_, Option<(PrivateServer, C)>> {
        locked(&self.0)
    }

    /// Connector to the server; starts the server if it does not run yet.
    ///
    /// # Errors
    /// Those of `start`; [`ErrorKind::ConnectionLost`] if it was started and has ended.
    pub fn connector(&self, start: impl FnOnce() -> Result<(PrivateServer, C)>) -> Result<C> {
        let mut slot = self.locked();
        if let Some((server, connector)) = slot.as_mut() {
            server.check_alive()?;
            return Ok(connector.clone());
        }
        Ok(slot.insert(start()?).1.clone())
    }

    /// Explains the result of an attempt to connect: a connection lost because the server has ended is reported as
    /// that.
    ///
    /// # Errors
    /// Those of the attempt, or [`ErrorKind::ConnectionLost`] with the server's last output.
    pub fn explained<T>(&self, reached: Result<T>) -> Result<T> {
        /// Attempts, 10 ms apart: others refuse a killed process a moment before its end can be seen.
        const MOMENTS: u32 = 50;
        if reached.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::ConnectionLost) {
            return reached;
        }
        for _ in 0..MOMENTS {
            let Some(alive) = self.look(PrivateServer::check_alive) else { break };
            alive?;
            std::thread::sleep(Duration::from_millis(10));
        }
        reached
    }

    /// Acts on the server that was started.
    ///
    /// # Errors
    /// Those of `act`; [`ErrorKind::Unsupported`] if none was started.
    pub fn with<T>(&self, act: impl FnOnce(&mut PrivateServer, &C) -> Result<T>) -> Result<T> {
        let mut slot = self.locked();
        let none = || EngineError::unsupported("this engine has no server that Bourse started");
        let (server, connector) = slot.as_mut().ok_or_else(none)?;
        act(server, connector)
    }

    /// Result of `see` on the server; `None` if none was started.
    pub fn look<T>(&self, see: impl FnOnce(&mut PrivateServer) -> T) -> Option<T> {
        self.locked().as_mut().map(|(server, _)| see(server))
    }

    /// Whether the server was started.
    pub fn is_started(&self) -> bool {
        self.locked().is_some()
    }
}
