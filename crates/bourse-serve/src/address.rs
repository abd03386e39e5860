//! Where a server listens, as a URL: `bourse://HOST:PORT`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::ServeError;
use std::fmt;

/// A server's host and port.
///
/// ```
/// use bourse_serve::Address;
/// let address: Address = "bourse://[::1]:4242".parse().unwrap();
/// assert_eq!((address.host(), address.port()), ("::1", 4242));
/// assert!("bourse://localhost".parse::<Address>().is_err(), "no port is usual enough to be guessed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// What stands before `://`.
    pub const SCHEME: &'static str = "bourse";

    /// Whether a target's text means to name a server, rightly or wrongly written.
    pub fn is_meant(target: &str) -> bool {
        target.strip_prefix(Self::SCHEME).is_some_and(|rest| rest.starts_with(':'))
    }

    /// The host, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl std::str::FromStr for Address {
    type Err = ServeError;

    fn from_str(text: &str) -> Result<Self, ServeError> {
        let refuse = |why| ServeError::Address { text: text.to_owned(), why };
        let rest = text.strip_prefix("bourse://").ok_or_else(|| refuse("it must begin with bourse://"))?;
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
        Ok(Self { host: host.to_owned(), port: port.ok_or_else(|| refuse("the port must be 1 to 65535"))? })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "bourse://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "bourse://{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_names_no_server_is_refused_with_a_reason() {
        for text in [
            "bourse:",
            "bourse://",
            "bourse://:1",
            "bourse://a:",
            "bourse://a:0",
            "bourse://a:+1",
            "bourse://a:65536",
            "bourse://::1:7",
            "bourse://user@a:7",
            "bourse://a:7/x",
            "bourse://a:7?x",
            "bourse://a b:7",
            "sqlite:x",
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{text:?} names no server: ")), "{error}");
        }
        assert!(Address::is_meant("bourse:x") && !Address::is_meant("bourse.db"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
            }
        }

        #[test]
        fn urls_read_back(host in "[a-z][a-z0-9.-]{0,20}", port in 1u16..) {
            let address: Address = format!("bourse://{host}:{port}").parse().unwrap();
            prop_assert_eq!((address.host(), address.port()), (host.as_str(), port));
        }
    }
}
