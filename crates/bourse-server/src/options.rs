//! Options that the targets of all database servers have.

use crate::client::tls::{TLS_OPTIONS, TlsOptions};
use bourse_engine::options;
use bourse_engine::target::OptionSpec;
use std::time::Duration;

options! {
    /// Options that all servers have; an engine's own options have them as one field.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CommonServerOptions;

    /// Option `answer_timeout`, in whole seconds.
    answer_timeout: Duration = Duration::from_secs(3_600) =>
        ["answer_timeout": seconds(1, 86_400), "a time in whole seconds from 1s to 86400s",
        "time without an answer after which the server counts as lost"];

    /// Option `spread`.
    spread: bool = true => ["spread": switch,
        "of several addresses, sessions go to all in turn; off: to the first one, and to another only where it is lost"];

    /// Options `sslmode`, `sslrootcert`, `sslcert`, `sslkey`.
    tls: TlsOptions = TlsOptions::DEFAULT =>
        [nested TlsOptions: &TLS_OPTIONS[0]] [nested TlsOptions: &TLS_OPTIONS[1]]
        [nested TlsOptions: &TLS_OPTIONS[2]] [nested TlsOptions: &TLS_OPTIONS[3]];

    /// Option `ram`.
    ram: bool = false => ["ram": switch, "keep the data directory in memory (/dev/shm)"];

    /// Option `start_timeout`, in whole seconds.
    start_timeout: Duration = Duration::from_secs(60) =>
        ["start_timeout": seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "time limit for the server's start"];
}

/// Every option of [`CommonServerOptions`], in the order of help and documents.
pub const SERVER_OPTIONS: &[OptionSpec<CommonServerOptions>; 8] = OPTIONS.first_chunk().expect("there are as many");

/// Options for reaching a running server, which a private one lacks.
pub const RUNNING_ONLY: &[&str] = &["socket", "password_file", "spread", "sslmode", "sslrootcert", "sslcert", "sslkey"];
