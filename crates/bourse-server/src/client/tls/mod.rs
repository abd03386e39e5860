//! TLS to a database server: libpq's options for it, and their checks.

#[cfg(feature = "tls")]
mod secured;

#[cfg(feature = "tls")]
pub use secured::SecuredStream;

use bourse_engine::target::{OptionSpec, TargetError};
use bourse_engine::{EngineError, Result, Setting, open_once, option_spec, option_words};
use std::error::Error;
use std::path::PathBuf;

option_words! {
    /// Encryption of a connection, and the checks of the server's certificate: libpq's `sslmode`.
    pub enum SslMode {
        /// Never encrypted.
        Disable = "disable",
        /// Encrypted if the server offers it.
        Prefer = "prefer",
        /// Encrypted; the certificate is checked only if an authority is named.
        Require = "require",
        /// Encrypted, with a certificate of that authority.
        VerifyCa = "verify-ca",
        /// Encrypted, with a certificate of that authority for that host.
        VerifyFull = "verify-full",
    }
}

/// TLS options of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// Option `sslmode`.
    pub mode: SslMode,
    /// Option `sslrootcert`.
    pub root: Option<PathBuf>,
    /// Option `sslcert`.
    pub certificate: Option<PathBuf>,
    /// Option `sslkey`.
    pub key: Option<PathBuf>,
}

/// Names of [`TLS_OPTIONS`].
pub const TLS_NAMES: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Every option about TLS, in the order of help and documents.
pub const TLS_OPTIONS: [OptionSpec<TlsOptions>; 4] = [
    option_spec!(
        "sslmode" => mode: word(SslMode), "disable, prefer, require, verify-ca, verify-full",
        "TLS as libpq has it: never (disable), where the server offers it (prefer), always (require), with a certificate of the authority in `sslrootcert` (verify-ca) that is for this host (verify-full); the last three need a build with the feature `tls`, without which prefer is disable",
    ),
    option_spec!(
        "sslrootcert" => root: path,
        "file of certificates (PEM) of the authorities that the server's certificate may come from; with it, require checks like verify-ca",
    ),
    option_spec!("sslcert" => certificate: path, "file of the client's own certificate (PEM), for a server that asks for one"),
    option_spec!("sslkey" => key: path, "file of the key of that certificate (PEM, not encrypted)"),
];

/// Whether this build can encrypt connections.
const IS_BUILT: bool = cfg!(feature = "tls");

impl TlsOptions {
    /// The default options. They are constant, so that results do not depend on what a build or a server offers.
    pub const DEFAULT: Self = Self { mode: SslMode::Disable, root: None, certificate: None, key: None };

    /// Whether encryption is attempted.
    pub fn is_tried(&self) -> bool {
        IS_BUILT && self.mode != SslMode::Disable
    }

    /// Whether an unencrypted connection is refused.
    pub fn is_required(&self) -> bool {
        matches!(self.mode, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull)
    }

    /// Whether the certificate's authority is checked.
    pub fn checks_authority(&self) -> bool {
        self.is_required() && (self.root.is_some() || self.mode != SslMode::Require)
    }

    /// Checks that the files exist: a client may report a missing one as a lost server.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn check_files(&self) -> Result<()> {
        let all = [&self.root, &self.certificate, &self.key];
        for path in all.into_iter().flatten().filter(|_| self.is_tried()) {
            open_once(path).map_err(|e| EngineError::unsupported(format!("cannot read {}: {e}", path.display())))?;
        }
        Ok(())
    }

    /// Refuses options that contradict each other or the connection.
    ///
    /// # Errors
    /// [`TargetError::Impossible`]
    pub fn check(&self, by_socket: bool) -> Result<(), TargetError> {
        let refuse = |what: String, with, why| Err(TargetError::Impossible { what, with, why });
        let mode = || format!("sslmode={}", self.mode.word());
        if self.is_required() && !IS_BUILT {
            let why = "it has no TLS; build it with `--features tls` or `--features full`";
            return refuse(mode(), "this build", why);
        }
        if self.is_required() && by_socket {
            return refuse(mode(), "a Unix socket", "connections by it are never encrypted");
        }
        if matches!(self.mode, SslMode::VerifyCa | SslMode::VerifyFull) && self.root.is_none() {
            let why = "there is nothing to check the server's certificate against; name the file of its authority";
            return refuse(mode(), "no 'sslrootcert'", why);
        }
        if self.certificate.is_some() != self.key.is_some() {
            let (what, with) = if self.key.is_some() { ("sslkey", "no 'sslcert'") } else { ("sslcert", "no 'sslkey'") };
            return refuse(what.to_owned(), with, "a certificate and its key belong together");
        }
        if self.mode == SslMode::Disable && (self.root.is_some() || self.certificate.is_some()) {
            let what = if self.root.is_some() { "sslrootcert" } else { "sslcert" };
            return refuse(
                what.to_owned(),
                "sslmode=disable",
                "no connection is encrypted; sslmode=require is what to try",
            );
        }
        Ok(())
    }
}

/// Protocol and cipher of connections, as a setting that a figure depends on.
pub fn tls_setting(in_use: Option<String>) -> Setting {
    Setting::new("tls", in_use.unwrap_or_else(|| "off".to_owned()))
}

/// Message of a TLS error about the server's or the client's certificate; `None` for any other error.
#[cfg_attr(not(feature = "tls"), expect(unused_variables, reason = "there is no such error"))]
pub fn certificate_error(error: &(dyn Error + 'static)) -> Option<String> {
    #[cfg(feature = "tls")]
    return secured::certificate_error(error);
    #[cfg(not(feature = "tls"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mode: SslMode, root: bool, cert: bool, key: bool, by_socket: bool) -> String {
        let path = |is_given: bool| is_given.then(|| PathBuf::from("x.pem"));
        let options = TlsOptions { mode, root: path(root), certificate: path(cert), key: path(key) };
        options.check(by_socket).map_or_else(|e| e.to_string(), |()| String::new())
    }

    #[test]
    fn options_that_cannot_be_kept_are_refused() {
        let refused = |words: String, expected: &str| assert!(words.contains(expected), "{words}");
        assert_eq!(check(SslMode::Disable, false, false, false, true), "");
        assert_eq!(check(SslMode::Prefer, true, true, true, true), "");
        refused(check(SslMode::Prefer, false, true, false, false), "'sslcert' cannot be used with no 'sslkey'");
        refused(check(SslMode::Prefer, false, false, true, false), "'sslkey' cannot be used with no 'sslcert'");
        refused(check(SslMode::Disable, true, false, false, false), "sslmode=disable");
        if IS_BUILT {
            assert_eq!(check(SslMode::Require, false, false, false, false), "");
            refused(check(SslMode::VerifyCa, false, false, false, false), "no 'sslrootcert'");
            refused(check(SslMode::Require, false, false, false, true), "a Unix socket");
        } else {
            let words = check(SslMode::Require, false, false, false, false);
            refused(
                words,
                "'sslmode=require' cannot be used with this build: it has no TLS; build it with `--features tls`",
            );
        }
    }

    #[test]
    fn the_names_are_those_of_the_options() {
        assert_eq!(TLS_OPTIONS.map(|option| option.name), TLS_NAMES);
    }
}
