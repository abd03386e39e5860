//! The bytes of a connection, over TCP or a Unix socket.

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv, sockopt};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Interval of keep-alive probes; a machine that is gone is noticed after about four of them.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// End of a connection.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Sets the time limit of reads and writes to `tick`, and enables keep-alive probes.
    pub(crate) fn prepare(&self, tick: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                // A reply is one small write that nothing follows: waiting for more to send would cost 40 ms.
                stream.set_nodelay(true)?;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(tick))?;
                stream.set_write_timeout(Some(tick))?;
                sockopt::set_socket_keepalive(stream, true)?;
                sockopt::set_tcp_keepidle(stream, KEEP_ALIVE)?;
                sockopt::set_tcp_keepintvl(stream, KEEP_ALIVE)?;
                sockopt::set_tcp_keepcnt(stream, 3)?;
            }
            Self::Unix(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(tick))?;
                stream.set_write_timeout(Some(tick))?;
            }
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&mut &*stream).read(into),
            Self::Unix(stream) => (&mut &*stream).read(into),
        }
    }

    #[inline]
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&mut &*stream).write(bytes),
            Self::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    /// Whether the peer has sent bytes that were not read yet, or has closed the connection; does not wait.
    pub(crate) fn has_input(&self) -> bool {
        let mut byte = [0_u8];
        // A flag of this call only: non-blocking mode would affect every thread that reads from the socket.
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let peeked = match self {
            Self::Tcp(stream) => recv(stream, &mut byte, flags),
            Self::Unix(stream) => recv(stream, &mut byte, flags),
        };
        !matches!(peeked, Err(Errno::AGAIN))
    }

    /// Ends the connection for both sides; threads blocked on it are woken.
    pub(crate) fn close(&self) {
        // One that has ended already needs no ending.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}
