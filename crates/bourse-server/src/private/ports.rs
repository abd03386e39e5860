//! Unused ports of this machine, for servers that need one to talk to each other.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// Returns `count` different ports of 127.0.0.1 that were free a moment ago. Another program can take one before a
/// server does, so callers retry with new ports.
///
/// The system's, if it has none left.
pub fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // All are held until the last is known, so that none is given twice.
    let held: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect::<io::Result<_>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}
