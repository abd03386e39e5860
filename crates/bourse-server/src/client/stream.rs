//! A server's stream: opening it, and reading from it.

use bourse_engine::server_wait::connect_limit;
use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::ops::Range;

/// Size of a read in bytes.
pub const READ_BYTES: usize = 32 << 10;

/// Connects to the first address of a host that answers in time. What is written leaves at once.
///
/// # Errors
/// The last address'.
pub fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
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
