//! A server's stream: opening it, and reading from it.

use crate::client::ServerAddress;
#[cfg(feature = "tls")]
use crate::client::tls::SecuredStream;
use bourse_engine::server_wait::{AwaitedConnection, connect_limit};
use bourse_engine::{EngineError, ErrorKind, Result};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _};
use std::ops::Range;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Size of a read in bytes.
pub const READ_BYTES: usize = 32 << 10;

/// Stream to a server.
pub enum ServerStream {
    /// A socket of this machine.
    #[cfg(unix)]
    Unix(UnixStream),
    /// Host and port.
    Tcp(TcpStream),
    /// Encrypted connection to host and port.
    #[cfg(feature = "tls")]
    Tls(SecuredStream),
}

/// Runs `$body` on the stream of whatever kind.
macro_rules! on {
    ($self:ident, $stream:ident => $body:expr) => {
        match $self {
            #[cfg(unix)]
            Self::Unix($stream) => $body,
            Self::Tcp($stream) => $body,
            #[cfg(feature = "tls")]
            Self::Tls($stream) => $body,
        }
    };
}

impl ServerStream {
    /// Opens a stream, on which an answer that takes longer than `limit` is an error, and whose wait an interruption ends.
    ///
    /// # Errors
    /// [`ErrorKind::ConnectionLost`] if no server answers there.
    pub fn open(address: &ServerAddress, limit: Duration) -> Result<(Self, AwaitedConnection)> {
        let opened = Self::opened(address, limit).and_then(|stream| Ok((stream.end()?, stream)));
        let (end, stream) = opened
            .map_err(|e| EngineError::new(ErrorKind::ConnectionLost, format!("no server answers at {address}: {e}")))?;
        Ok((stream, AwaitedConnection::new(format!("the server at {address}"), end)))
    }

    fn opened(address: &ServerAddress, limit: Duration) -> io::Result<Self> {
        let limit = Some(limit);
        match address {
            #[cfg(unix)]
            ServerAddress::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))?;
                Ok(Self::Unix(stream))
            }
            #[cfg(not(unix))]
            ServerAddress::Socket(..) => Err(io::ErrorKind::Unsupported.into()),
            ServerAddress::Tcp(host, port) => {
                let stream = connect_tcp(host, *port)?;
                stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    /// Protocol and cipher, if the stream is encrypted.
    pub fn tls(&self) -> Option<String> {
        match self {
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Some(stream.in_use()),
            _ => None,
        }
    }

    /// Function that closes the stream for its reader; not available once it is encrypted.
    fn end(&self) -> io::Result<Box<dyn Fn() + Send + Sync>> {
        // One that has ended already needs no ending.
        Ok(match self {
            #[cfg(unix)]
            Self::Unix(stream) => {
                let stream = stream.try_clone()?;
                Box::new(move || drop(stream.shutdown(Shutdown::Both)))
            }
            Self::Tcp(stream) => {
                let stream = stream.try_clone()?;
                Box::new(move || drop(stream.shutdown(Shutdown::Both)))
            }
            #[cfg(feature = "tls")]
            Self::Tls(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }
}

impl Read for ServerStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        on!(self, stream => stream.read(bytes))
    }
}

impl Write for ServerStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        on!(self, stream => stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        on!(self, stream => stream.flush())
    }
}

/// Connects to the first address of a host that answers in time. What is written leaves at once.
///
/// # Errors
/// The last address'.
fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut tried = Err(io::Error::other("the name has no address"));
    for address in (host, port).to_socket_addrs()? {
        tried = TcpStream::connect_timeout(&address, connect_limit());
        if tried.is_ok() {
            break;
        }
    }
    let stream = tried?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Reads into `input` until its range `unread` has `bytes` bytes; both may be moved to the beginning for that.
///
/// # Errors
/// The stream's; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if it ends before.
pub fn fill(
    stream: &mut (impl Read + ?Sized),
    input: &mut Vec<u8>,
    unread: &mut Range<usize>,
    bytes: usize,
) -> io::Result<()> {
    if Range::is_empty(unread) {
        *unread = 0..0;
    }
    if input.len() - unread.start < bytes {
        input.copy_within(unread.clone(), 0);
        *unread = 0..unread.len();
    }
    while unread.len() < bytes {
        // Memory follows what arrives: the announced length may be anything.
        if unread.end == input.len() {
            input.resize((2 * input.len()).min(bytes.next_multiple_of(READ_BYTES)), 0);
        }
        match stream.read(&mut input[unread.end..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => unread.end += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
