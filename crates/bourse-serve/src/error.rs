use crate::protocol::{CodecError, PROTOCOL, TokenFault};
use bourse_engine::EngineError;
use std::io;
use thiserror::Error;

/// Error between a driver and a server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Text that is not a server's address.
    #[error("invalid server address '{text}': {why}")]
    Address {
        /// Text as it was typed.
        text: String,
        /// Reason.
        why: &'static str,
    },
    /// Address that the server cannot listen on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// Address.
        address: String,
        /// Error of the system.
        cause: io::Error,
    },
    /// Missing token, although other machines could connect.
    #[error("{address} can be reached from other machines, and no token is set: set BOURSE_TOKEN or --token-file")]
    TokenNeeded {
        /// Address.
        address: String,
    },
    /// Token that cannot be used.
    #[error("invalid token in {origin}: {why}")]
    Token {
        /// File or variable that contains it.
        origin: String,
        /// Reason.
        why: String,
    },
    /// Address at which no server listens.
    #[error("no server answers at {address}: {cause}")]
    Connect {
        /// Address.
        address: String,
        /// Error of the system.
        cause: io::Error,
    },
    /// Address at which another program listens.
    #[error("the program that listens at {address} is not a Bourse server")]
    NotAServer {
        /// Address.
        address: String,
    },
    /// Server with another version of the protocol.
    #[error(
        "the server (version {program}) speaks protocol {found}, this program speaks protocol {PROTOCOL}: use the same version"
    )]
    Version {
        /// Version of the server's protocol.
        found: u16,
        /// Version of the server's program.
        program: String,
    },
    /// Refusal by the server, with its reason.
    #[error("the server refused: {0}")]
    Refused(String),
    /// Refusal by the server, since the driver has not proved that it knows the token.
    #[error("the server refused: {0}")]
    Unauthenticated(TokenFault),
    /// Server of another workload than the driver's.
    #[error("{address} serves {served}, and this driver runs {driven}")]
    OtherWorkload {
        /// Address.
        address: String,
        /// Workload of the server.
        served: String,
        /// Workload of the driver.
        driven: &'static str,
    },
    /// Connection that ended, or was silent for too long.
    #[error("the connection was lost: {0}")]
    Lost(#[from] io::Error),
    /// Message that cannot be decoded.
    #[error("invalid message: {0}")]
    Codec(#[from] CodecError),
    /// Reply of another kind than the request needs.
    #[error("unexpected reply: got {found}, expected {wanted}")]
    Unexpected {
        /// Name of the expected reply.
        wanted: &'static str,
        /// Name of the reply received.
        found: &'static str,
    },
    /// Error of the server's engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl ServeError {
    /// The error of a connection that has failed, for its further uses.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Engine(error) => error.clone().into(),
            Self::Lost(error) => io::Error::new(error.kind(), error.to_string()).into(),
            other => io::Error::other(other.to_string()).into(),
        }
    }
}
