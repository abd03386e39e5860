//! An engine's private server, started when something first needs it.

use crate::PrivateServer;
use bourse_engine::{EngineError, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The private server of an engine, once something needed it, and how to reach it.
#[derive(Debug)]
pub struct ServerSlot<C>(Mutex<Option<(PrivateServer, C)>>);

impl<C> Default for ServerSlot<C> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<C: Clone> ServerSlot<C> {
    fn locked(&self) -> MutexGuard<'_, Option<(PrivateServer, C)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to reach the server; starts it if it does not run yet.
    ///
    /// # Errors
    /// That of `start`; [`ErrorKind::ConnectionLost`] if it was started and has ended.
    pub fn connector(&self, start: impl FnOnce() -> Result<(PrivateServer, C), EngineError>) -> Result<C, EngineError> {
        let mut slot = self.locked();
        if let Some((server, connector)) = slot.as_mut() {
            server.check_alive()?;
            return Ok(connector.clone());
        }
        Ok(slot.insert(start()?).1.clone())
    }

    /// What an attempt to reach it has come to; where it is lost because the server has ended, that is what is told.
    ///
    /// # Errors
    /// The attempt's, or [`ErrorKind::ConnectionLost`] with the server's last words.
    pub fn explained<T>(&self, reached: Result<T, EngineError>) -> Result<T, EngineError> {
        /// A process that was killed is refused by others a moment before its end can be seen.
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
    /// That of `act`; [`ErrorKind::Unsupported`] if none was started.
    pub fn with<T>(
        &self,
        act: impl FnOnce(&mut PrivateServer, &C) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut slot = self.locked();
        let none = || EngineError::unsupported("there is no server of ours to kill or to start again");
        let (server, connector) = slot.as_mut().ok_or_else(none)?;
        act(server, connector)
    }

    /// What is seen of the server; `None` if none was started.
    pub fn look<T>(&self, see: impl FnOnce(&mut PrivateServer) -> T) -> Option<T> {
        self.locked().as_mut().map(|(server, _)| see(server))
    }

    /// Whether it was started.
    pub fn is_started(&self) -> bool {
        self.locked().is_some()
    }
}
