use crate::protocol::{CodecError, PROTOCOL};
use std::io;
use thiserror::Error;

/// What can go wrong between a driver and a server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The text names no server.
    #[error("{text:?} names no server: {why}")]
    Address {
        /// As given.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The server cannot listen there.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// Where.
        address: String,
        /// The system's words.
        cause: io::Error,
    },
    /// Listening where others could come in, without a token.
    #[error("{address} can be reached from other machines, and there is no token to keep strangers out")]
    TokenNeeded {
        /// Where.
        address: String,
    },
    /// A token that is none.
    #[error("the token of {origin} cannot be used: {why}")]
    Token {
        /// Where it is from.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody listens there.
    #[error("no server answers at {address}: {cause}")]
    Connect {
        /// Where.
        address: String,
        /// The system's words.
        cause: io::Error,
    },
    /// Somebody else listens there.
    #[error("what listens at {address} is no server of bourse")]
    Stranger {
        /// Where.
        address: String,
    },
    /// A server of another version.
    #[error("the server is version {program} and speaks protocol {found}, this program speaks {PROTOCOL}")]
    Version {
        /// Its protocol.
        found: u16,
        /// Its version.
        program: String,
    },
    /// The server will not have us, in its words.
    #[error("the server refuses: {0}")]
    Refused(String),
    /// The connection ended, or was silent for too long.
    #[error("the connection was lost: {0}")]
    Lost(#[from] io::Error),
    /// A message that is none.
    #[error("a message cannot be read: {0}")]
    Codec(#[from] CodecError),
    /// A reply to another question.
    #[error("the peer says {found} where {wanted} was due")]
    Unexpected {
        /// What was due.
        wanted: &'static str,
        /// What came.
        found: &'static str,
    },
    /// The engine's, on the server.
    #[error(transparent)]
    Engine(#[from] bourse_engine::EngineError),
}
