use crate::protocol::{CodecError, PROTOCOL, TokenFault};
use std::io;
use thiserror::Error;

/// Error between a driver and a server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The text is not a server's address.
    #[error("invalid server address '{text}': {why}")]
    Address {
        /// The text as it was typed.
        text: String,
        /// The reason.
        why: &'static str,
    },
    /// The server cannot listen there.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: String,
        /// The system's error.
        cause: io::Error,
    },
    /// Other machines could connect, and no token is set.
    #[error("{address} can be reached from other machines, and no token is set: set BOURSE_TOKEN or --token-file")]
    TokenNeeded {
        /// The address.
        address: String,
    },
    /// The token cannot be used.
    #[error("invalid token in {origin}: {why}")]
    Token {
        /// The file or variable that holds it.
        origin: String,
        /// The reason.
        why: String,
    },
    /// No server listens at the address.
    #[error("no server answers at {address}: {cause}")]
    Connect {
        /// The address.
        address: String,
        /// The system's error.
        cause: io::Error,
    },
    /// Another program listens at the address.
    #[error("the program that listens at {address} is not a Bourse server")]
    NotAServer {
        /// The address.
        address: String,
    },
    /// A server of another version.
    #[error(
        "the server (version {program}) speaks protocol {found}, this program speaks protocol {PROTOCOL}: use the same version"
    )]
    Version {
        /// The server's protocol version.
        found: u16,
        /// The server's program version.
        program: String,
    },
    /// The server refused, with its reason.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The server refused, since the driver has not shown that it knows the token.
    #[error("the server refused: {0}")]
    Unauthenticated(TokenFault),
    /// The connection ended, or was silent for too long.
    #[error("the connection was lost: {0}")]
    Lost(#[from] io::Error),
    /// A message cannot be decoded.
    #[error("invalid message: {0}")]
    Codec(#[from] CodecError),
    /// The reply is not one to the request.
    #[error("unexpected reply: got {found}, expected {wanted}")]
    Unexpected {
        /// Name of the expected reply.
        wanted: &'static str,
        /// Name of the reply received.
        found: &'static str,
    },
    /// An error of the server's engine.
    #[error(transparent)]
    Engine(#[from] bourse_engine::EngineError),
}
