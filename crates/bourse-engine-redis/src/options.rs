//! Settings of a target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use bourse_server::{CommonServerOptions, SERVER_OPTIONS};
use std::path::PathBuf;

option_words! {
    /// Time at which the append-only file is synced: `appendfsync`.
    pub enum AppendFsync {
        /// Before a change is answered.
        Always = "always",
        /// Once a second.
        EverySec = "everysec",
        /// Whenever the operating system writes it back.
        No = "no",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RedisOptions;

    /// Option `socket`.
    socket: Option<PathBuf> = None => ["socket": path, "the server's Unix socket [without it: TCP]"];

    /// Option `password_file`.
    password_file: Option<PathBuf> = None => ["password_file": path,
        "file whose first line is the password [without it: the environment variable REDISCLI_AUTH]"];

    /// Options that all servers have.
    common: CommonServerOptions = CommonServerOptions::DEFAULT =>
        [nested CommonServerOptions: &SERVER_OPTIONS[0]] [nested CommonServerOptions: &SERVER_OPTIONS[6]]
        [nested CommonServerOptions: &SERVER_OPTIONS[7]];

    /// Option `server`.
    server: Option<PathBuf> = None => ["server": path,
        "server program [without it: searched in PATH and the common folders]"];

    /// Option `appendonly`.
    appendonly: bool = true => ["appendonly": switch, "write each change to an append-only file (`appendonly`); off is the server's own default"];

    /// Option `appendfsync`.
    appendfsync: AppendFsync = AppendFsync::Always => ["appendfsync": word(AppendFsync), "always, everysec, no",
        "when the append-only file is synced (`appendfsync`): before the answer, once a second, which is the server's own default, or by the system"];

    /// Option `save`.
    save: bool = false => ["save": switch,
        "write the whole database to a file at the server's own intervals (`save 3600 1 300 100 60 10000`)"];
}

/// Grammar of targets.
pub static GRAMMAR: Grammar<RedisOptions> = Grammar {
    engine: "Redis",
    schemes: &[
        Scheme::private_server("redis+private", REACHING),
        Scheme::private_server("valkey+private", REACHING),
        Scheme::running_server("redis", PRIVATE_ONLY),
        Scheme::running_server("valkey", PRIVATE_ONLY),
    ],
    forms: "redis://USER@HOST:PORT/NUMBER, redis:///NUMBER?socket=PATH, redis+private: or redis+private:DIRECTORY",
    options: OPTIONS,
};

/// Options of a running server.
const REACHING: &[&str] = &["socket", "password_file"];

/// Options of a private server.
const PRIVATE_ONLY: &[&str] = &["ram", "start_timeout", "server", "appendonly", "appendfsync", "save"];
