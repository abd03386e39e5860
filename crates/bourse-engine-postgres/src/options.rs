//! Options of a target, as typed values; [`GRAMMAR`] parses and documents them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use bourse_server::{CommonServerOptions, RUNNING_ONLY, SERVER_OPTIONS};
use std::path::PathBuf;
use std::time::Duration;

option_words! {
    /// Event that a commit waits for: `synchronous_commit`.
    pub enum SynchronousCommit {
        /// The log is synced, here and on a synchronous standby.
        On = "on",
        /// The log is synced here.
        Local = "local",
        /// The log is synced here, and written on a synchronous standby.
        RemoteWrite = "remote_write",
        /// The log is synced here, and applied on a synchronous standby.
        RemoteApply = "remote_apply",
        /// No event: the log is written and synced within about half a second.
        Off = "off",
    }
}

option_words! {
    /// Method of syncing the log: `wal_sync_method`.
    pub enum WalSyncMethod {
        /// `fdatasync` after writing.
        Fdatasync = "fdatasync",
        /// `fsync` after writing.
        Fsync = "fsync",
        /// Files opened with `O_DSYNC`.
        OpenDatasync = "open_datasync",
        /// Files opened with `O_SYNC`.
        OpenSync = "open_sync",
    }
}

option_words! {
    /// Plans of prepared statements: `plan_cache_mode`.
    pub enum PlanCache {
        /// The server compares plans made for the values with one for all values.
        Auto = "auto",
        /// One plan for all values, made once.
        Generic = "generic",
        /// A plan for each run.
        Custom = "custom",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PostgresOptions;

    /// Option `lock_timeout`, in whole seconds.
    lock_timeout: Duration = Duration::from_secs(10) =>
        ["lock_timeout": seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "how long a session waits for a lock before it fails with a conflict (`lock_timeout`)"];

    /// Option `synchronous_commit`; `None` leaves the server's setting.
    synchronous_commit: Option<SynchronousCommit> = None =>
        ["synchronous_commit": optional_word(SynchronousCommit), "on, local, remote_write, remote_apply, off",
        "what a commit waits for: the log synced here (local), and on a synchronous standby written (remote_write), synced (on) or applied (remote_apply), or nothing (off) [without it: the server's]"];

    /// Option `plan_cache`.
    plan_cache: PlanCache = PlanCache::Auto => ["plan_cache": word(PlanCache), "auto, generic, custom",
        "plans of prepared statements: one for all values (generic), one for each run (custom), or whichever costs less by the server's estimate (auto) (`plan_cache_mode`)"];

    /// Option `pipeline`.
    pipeline: bool = false => ["pipeline": switch,
        "send BEGIN, and changes of one row, along with the next statement whose answer is awaited: fewer round trips"];

    /// Option `procedures`.
    procedures: bool = false => ["procedures": switch,
        "where a workload has functions in PL/pgSQL for several statements, keep these in the server and call them: one round trip for all"];

    /// Option `socket`.
    socket: Option<PathBuf> = None => ["socket": path,
        "folder of the server's Unix socket, such as /run/postgresql [without it: TCP]"];

    /// Option `password_file`.
    password_file: Option<PathBuf> = None => ["password_file": path,
        "file whose first line is the password [without it: the environment variable PGPASSWORD, then the line for this server in the file that PGPASSFILE names or ~/.pgpass]"];

    /// Options that all servers have.
    common: CommonServerOptions = CommonServerOptions::DEFAULT =>
        [nested CommonServerOptions: &SERVER_OPTIONS[0]] [nested CommonServerOptions: &SERVER_OPTIONS[1]]
        [nested CommonServerOptions: &SERVER_OPTIONS[2]] [nested CommonServerOptions: &SERVER_OPTIONS[3]]
        [nested CommonServerOptions: &SERVER_OPTIONS[4]] [nested CommonServerOptions: &SERVER_OPTIONS[5]]
        [nested CommonServerOptions: &SERVER_OPTIONS[6]] [nested CommonServerOptions: &SERVER_OPTIONS[7]];

    /// Option `server`.
    server: Option<PathBuf> = None => ["server": path,
        "server program `postgres`, with `initdb` beside it [without it: searched in PATH and the common folders]"];

    /// Option `shared_buffers`, in bytes.
    shared_buffers_bytes: u64 = 1 << 30 =>
        ["shared_buffers": bytes(1 << 20, 1 << 40), "bytes from 1MiB to 1TiB, for example 512MiB",
        "page cache, shared by all sessions (`shared_buffers`)"];

    /// Option `max_wal_size`, in bytes.
    max_wal_bytes: u64 = 4 << 30 =>
        ["max_wal_size": bytes(32 << 20, 1 << 40), "bytes from 32MiB to 1TiB, for example 4GiB",
        "size of the write-ahead log at which a checkpoint begins (`max_wal_size`)"];

    /// Option `fsync`.
    fsync: bool = true => ["fsync": switch, "sync files at all (`fsync`)"];

    /// Option `full_page_writes`.
    full_page_writes: bool = true => ["full_page_writes": switch,
        "write a page whole to the log at its first change after a checkpoint, so that a torn page can be repaired (`full_page_writes`)"];

    /// Option `wal_sync_method`; `None` is the server's default for the system.
    wal_sync_method: Option<WalSyncMethod> = None =>
        ["wal_sync_method": optional_word(WalSyncMethod), "fdatasync, fsync, open_datasync, open_sync",
        "how the log is synced (`wal_sync_method`) [without it: the server's choice for this system]"];

    /// Option `max_connections`.
    max_connections: u32 = 200 => ["max_connections": number(10, 10_000), "a number from 10 to 10000",
        "sessions that can be open at once (`max_connections`)"];
}

impl PlanCache {
    /// Word for the server.
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Generic => "force_generic_plan",
            Self::Custom => "force_custom_plan",
        }
    }
}

/// Options of a private server.
const PRIVATE_ONLY: &[&str] = &[
    "ram", "server", "shared_buffers", "max_wal_size", "fsync", "full_page_writes", "wal_sync_method",
    "max_connections", "start_timeout",
];

/// Grammar of PostgreSQL targets, with every option in the order of help and documents.
pub static GRAMMAR: Grammar<PostgresOptions> = Grammar {
    engine: "PostgreSQL",
    schemes: &[
        Scheme::running_server("postgres", PRIVATE_ONLY),
        Scheme::private_server("postgres+private", RUNNING_ONLY),
    ],
    forms: "postgres://USER@HOST,HOST/DATABASE or postgres+private:, each with optional ?OPTION=VALUE&…",
    options: OPTIONS,
};
