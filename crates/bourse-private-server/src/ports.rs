//! Ports of this machine that nobody uses, for servers that need one to talk to each other.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// That many different ports of 127.0.0.1 that were free just now. Another program can take one before a server does: whoever
/// starts one tries again with others.
///
/// # Errors
/// The system's, if it has none.
pub fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    // All are held until the last is known, so that none is given twice.
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}
