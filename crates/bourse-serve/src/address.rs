//! Addresses of a server: as a driver names it, `bourse://HOST:PORT` or `bourse+unix:PATH`, and as the server's option.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::ServeError;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Address of a server, as a driver names it.
///
/// ```
/// use bourse_serve::Address;
/// let address: Address = "bourse://[::1]:4242".parse().unwrap();
/// assert_eq!(address, Address::Tcp { host: "::1".to_owned(), port: 4242 });
/// let address: Address = "bourse+unix:/run/bourse.sock".parse().unwrap();
/// assert_eq!(address, Address::Unix { path: "/run/bourse.sock".into() });
/// assert!("bourse://localhost".parse::<Address>().is_err(), "no port is usual enough to be guessed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// Host and port.
    Tcp {
        /// Name or address of the host, without brackets.
        host: String,
        /// Port, from 1 to 65535.
        port: u16,
    },
    /// A Unix socket.
    Unix {
        /// Path of the socket's file.
        path: PathBuf,
    },
}

impl Address {
    /// Scheme of a TCP address, before its `://`.
    pub const SCHEME: &'static str = "bourse";
    /// Scheme of a Unix socket, before its colon.
    pub const UNIX_SCHEME: &'static str = "bourse+unix";

    /// Whether a target's text has a server's scheme, even if the rest is wrong.
    pub fn has_scheme(target: &str) -> bool {
        let scheme = target.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| scheme == Self::SCHEME || scheme == Self::UNIX_SCHEME)
    }
}

impl std::str::FromStr for Address {
    type Err = ServeError;

    fn from_str(text: &str) -> Result<Self, ServeError> {
        let refuse = |why| ServeError::Address { text: text.to_owned(), why };
        if let Some(path) = text.strip_prefix("bourse+unix:") {
            let path = socket_path(path).map_err(refuse)?;
            return Ok(Self::Unix { path });
        }
        let rest = text
            .strip_prefix("bourse://")
            .ok_or_else(|| refuse("it must begin with bourse:// and a host, or bourse+unix: and a path"))?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains(['/', '?', '#', '@']) {
            return Err(refuse("nothing but HOST:PORT can follow bourse://"));
        }
        let (host, port) = rest.rsplit_once(':').ok_or_else(|| refuse("the port is missing"))?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if bare.is_none() && host.contains([':', '[', ']']) {
            return Err(refuse("an IPv6 address stands in brackets, as [::1]"));
        }
        let host = bare.unwrap_or(host);
        let plain = |c: char| c.is_ascii_alphanumeric() || ".:-_%".contains(c);
        if host.is_empty() || !host.chars().all(plain) {
            return Err(refuse("the host is missing, or is none"));
        }
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| digits && *port > 0);
        let port = port.ok_or_else(|| refuse("the port must be 1 to 65535"))?;
        Ok(Self::Tcp { host: host.to_owned(), port })
    }
}

/// Path of a socket, from a target or after `unix:`.
///
/// # Errors
/// The reason why the path cannot be used.
pub fn socket_path(text: &str) -> Result<PathBuf, &'static str> {
    /// Longest path that fits a socket's address, without its final zero.
    const LONGEST: usize = 107;
    match text.len() {
        0 => Err("the socket's path is missing"),
        _ if text.contains('\0') => Err("a path has no zero byte"),
        1..=LONGEST => Ok(text.into()),
        _ => Err("a socket's path has at most 107 bytes"),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "bourse://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "bourse://{host}:{port}"),
            Self::Unix { path } => write!(f, "bourse+unix:{}", path.display()),
        }
    }
}

/// Address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// Address and port; port 0 takes a free one.
    Tcp(SocketAddr),
    /// Socket of this machine, by the path of its file.
    Unix(PathBuf),
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Other end of a server's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A TCP peer.
    Tcp(SocketAddr),
    /// A process of this machine, identified by the kernel when it connected.
    Unix {
        /// Id of the process.
        process: u32,
        /// Id of the user that the process runs as.
        user: u32,
    },
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix { process, user } => write!(f, "process {process} of user {user}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_names_no_server_is_refused_with_a_reason() {
        let long = format!("bourse+unix:/{}", "x".repeat(107));
        for text in [
            "bourse:", "bourse://", "bourse://:1", "bourse://a:", "bourse://a:0", "bourse://a:+1", "bourse://a:65536",
            "bourse://::1:7", "bourse://user@a:7", "bourse://a:7/x", "bourse://a:7?x", "bourse://a b:7",
            "bourse+unix:", "bourse+unix:a\0b", &long, "sqlite:x",
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid server address '{text}': ")), "{error}");
        }
        assert!(
            Address::has_scheme("bourse:x")
                && Address::has_scheme("bourse+unix:x")
                && !Address::has_scheme("bourse.db")
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
            }
        }

        #[test]
        fn urls_read_back(host in "[a-z][a-z0-9.-]{0,20}", port in 1u16.., path in "/[^\0]{1,20}") {
            let address: Address = format!("bourse://{host}:{port}").parse().unwrap();
            prop_assert_eq!(address, Address::Tcp { host, port });
            let address: Address = format!("bourse+unix:{path}").parse().unwrap();
            prop_assert_eq!(address.to_string(), format!("bourse+unix:{path}"));
        }
    }
}
