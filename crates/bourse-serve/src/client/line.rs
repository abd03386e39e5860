//! A connection that was admitted.

use crate::protocol::codec::{GREETING_BYTES, REPLY_BYTES};
use crate::protocol::{Admission, Greeting, Hello, MAGIC, PROTOCOL, Purpose, TokenFault};
use crate::stream::Stream;
use crate::wire::{Wire, at_most};
use crate::{Address, ServeError, Token};
use bourse_engine::server_wait::{connect_limit, silent, within_limit};
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Parameters of a call to a server.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) address: Address,
    pub(super) token: Option<Token>,
    /// Version of the program.
    pub(super) version: String,
}

impl Caller {
    /// Calls the server.
    pub(super) fn call(&self, purpose: Purpose) -> Result<(Wire, Admission), ServeError> {
        let this = self.clone();
        within_limit(&format!("the server at {}", self.address), move || this.authenticate(purpose))
    }

    fn authenticate(&self, purpose: Purpose) -> Result<(Wire, Admission), ServeError> {
        let limit = connect_limit();
        let address = self.address.to_string();
        let stream = self.connect().map_err(|cause| ServeError::Connect { address: address.clone(), cause })?;
        let mut wire = Wire::new(Arc::new(stream))?;
        let greeting = wire.receive(GREETING_BYTES, &mut at_most(limit));
        let greeting: Greeting = match greeting {
            Ok(greeting) => greeting,
            Err(ServeError::Codec(_)) => return Err(ServeError::NotAServer { address }),
            Err(ServeError::Lost(error)) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(silent(&format!("the server at {address}"), limit).into());
            }
            Err(error) => return Err(error),
        };
        if greeting.magic != MAGIC {
            return Err(ServeError::NotAServer { address });
        }
        if greeting.protocol != PROTOCOL {
            return Err(ServeError::Version { found: greeting.protocol, program: greeting.program });
        }
        let proof = match (&self.token, greeting.token) {
            (_, false) => None,
            (Some(token), true) => Some(token.prove(&greeting.nonce)),
            (None, true) => {
                return Err(ServeError::Unauthenticated(TokenFault::Missing));
            }
        };
        let hello = Hello { protocol: PROTOCOL, program: self.version.clone(), proof, purpose };
        wire.send(&hello, GREETING_BYTES)?;
        match wire.receive(REPLY_BYTES, &mut at_most(limit))? {
            Admission::Refused(why) => Err(ServeError::Refused(why)),
            Admission::Unauthenticated(fault) => Err(ServeError::Unauthenticated(fault)),
            admission => Ok((wire, admission)),
        }
    }

    fn connect(&self) -> io::Result<Stream> {
        let (host, port) = match &self.address {
            Address::Unix { path } => return UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp { host, port } => (host.as_str(), *port),
        };
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, connect_limit()) {
                Ok(stream) => return Ok(Stream::Tcp(stream)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
