//! Ports of this machine that nobody uses, for servers that need one to talk to each other.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// That many different ports of 127.0.0.1 that were free just now. Another program can take one before a server does: whoever
/// starts one tries again with others.
///
/// # Errors
/// The system's, if it has none.
pub fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // All are held until the last is known, so that none is given twice.
    let held: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<io::Result<_>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}
