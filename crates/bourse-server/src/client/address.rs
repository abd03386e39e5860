//! Address of a server.

use std::fmt;
use std::path::PathBuf;

/// Address of a server; shown as text for a person.
#[derive(Debug, Clone)]
pub enum ServerAddress {
    /// A socket of this machine.
    Socket(PathBuf),
    /// Host and port.
    Tcp(String, u16),
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "socket {}", path.display()),
            Self::Tcp(host, port) => write!(f, "{host}, port {port}"),
        }
    }
}
