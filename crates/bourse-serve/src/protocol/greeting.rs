//! Messages that begin a connection: greeting, hello, admission.

use crate::token::{Nonce, Proof};
use bourse_engine::{Description, Engine, Result, Setting};
use bourse_oltp::load::Fingerprint;
use serde::{Deserialize, Serialize};

/// First message of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`MAGIC`](super::MAGIC).
    pub magic: [u8; 8],
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// Version of the server's program.
    pub program: String,
    /// Number that the driver's proof is computed from.
    pub nonce: Nonce,
    /// Whether a proof is required.
    pub token: bool,
}

/// Answer of the driver to the greeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// Version of the driver's program.
    pub program: String,
    /// Proof that the driver knows the token.
    pub proof: Option<Proof>,
    /// Purpose of the connection.
    pub purpose: Purpose,
}

/// Purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Connection of a driver.
    Driver,
    /// Connection of a driver's user. It names the admitted driver by its number, which is random, so another client cannot
    /// guess it.
    User {
        /// Number of the driver.
        driver: u64,
    },
    /// Connection of a driver that sends its statements to the engine itself, and is coordinated with others.
    Coordinated,
}

/// Answer to a hello: admitted or refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Admission {
    /// Admitted as a driver.
    Driver(Box<Welcome>),
    /// Admitted as a user.
    User,
    /// Refused, with the reason.
    Refused(String),
    /// Refused, since the peer has not proved that it knows the token.
    Unauthenticated(TokenFault),
}

/// Defect of a peer's proof that it knows the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TokenFault {
    /// No proof.
    #[error("a token is required, and none was sent")]
    Missing,
    /// Proof of another token.
    #[error("wrong token")]
    Wrong,
}

/// Database and engine that are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// Number of the driver, which its users must name.
    pub driver: u64,
    /// Name of the workload that is served.
    pub workload: String,
    /// Fingerprint of the database, whose size the driver checks.
    pub fingerprint: Fingerprint,
    /// History of the database: loaded now, or reused.
    pub history: String,
    /// Engine and its settings, read back from it.
    pub engine: ServedEngine,
    /// Number of sessions, which all users share.
    pub workers: u32,
    /// Silence allowed to the driver outside a round, in milliseconds.
    pub idle_ms: u64,
}

/// Engine that is served, with the capabilities that reports name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedEngine {
    description: Description,
    /// Whether several writers can work at the same time.
    pub concurrent_writers: bool,
    /// Whether the engine enforces foreign keys.
    pub foreign_keys: bool,
    /// Whether the engine enforces checks.
    pub checks: bool,
}

impl ServedEngine {
    /// Description of an engine, as it reports it.
    ///
    /// # Errors
    /// The engine's.
    pub fn of(engine: &dyn Engine) -> Result<Self> {
        let capabilities = engine.capabilities();
        Ok(Self {
            description: engine.description()?,
            concurrent_writers: capabilities.concurrent_writers,
            foreign_keys: capabilities.sql.is_some_and(|sql| sql.foreign_keys),
            checks: capabilities.sql.is_some_and(|sql| sql.checks),
        })
    }

    /// Description for the driver's run file: of the target `target`, with the engine's own target as a setting.
    pub fn describe(&self, target: String, workers: u32) -> Description {
        let served = self.description.clone();
        let own = [("served target", served.target), ("server's sessions", workers.to_string())];
        let own = own.map(|(name, value)| Setting::new(name, value));
        Description { target, settings: own.into_iter().chain(served.settings).collect(), ..served }
    }
}
