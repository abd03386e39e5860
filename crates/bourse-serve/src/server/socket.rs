//! The listening socket: a TCP port or a Unix socket.

use super::ServerOptions;
use super::local::LocalListener;
use crate::ServeError;
use crate::address::{Address, Listen, Peer};
use crate::stream::Stream;
use std::io;
use std::net::TcpListener;

/// Listening socket. Accepted connections are not authenticated yet.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Local(LocalListener),
}

impl Listener {
    /// Listens; accepting does not block, so that the flag that ends the server is seen.
    ///
    /// # Errors
    /// [`ServeError::TokenNeeded`] if other machines can connect and there is no token; [`ServeError::Listen`].
    pub(super) fn bind(options: &ServerOptions) -> Result<Self, ServeError> {
        let failed = |cause| ServeError::Listen { address: options.listen.to_string(), cause };
        match &options.listen {
            Listen::Tcp(address) if !address.ip().is_loopback() && options.token.is_none() => {
                Err(ServeError::TokenNeeded { address: address.to_string() })
            }
            Listen::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Self::Tcp(listener))
            }
            Listen::Unix(path) => LocalListener::bind(path).map(Self::Local).map_err(failed),
        }
    }

    /// Address for drivers.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(listener) => {
                let address = listener.local_addr()?;
                Address::Tcp { host: address.ip().to_string(), port: address.port() }
            }
            Self::Local(listener) => Address::Unix { path: listener.path().to_owned() },
        })
    }

    /// Accepts the next connection; returns it with its other end.
    ///
    /// # Errors
    /// The system's; [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none.
    pub(super) fn accept(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept()?;
                Ok((Stream::Tcp(stream), Peer::Tcp(from)))
            }
            Self::Local(listener) => listener.accept().map(|(stream, peer)| (Stream::Unix(stream), peer)),
        }
    }
}
