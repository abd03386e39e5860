//! Options of a target, as typed values; [`GRAMMAR`] parses and documents them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{nested_option, option_spec, option_words};
use bourse_server::client::tls::{TLS_OPTIONS, TlsOptions};
use std::path::PathBuf;
use std::time::Duration;

/// Event that a commit waits for: `synchronous_commit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SynchronousCommit {
    /// The log is synced, here and on a synchronous standby.
    On,
    /// The log is synced here.
    Local,
    /// The log is synced here, and written on a synchronous standby.
    RemoteWrite,
    /// The log is synced here, and applied on a synchronous standby.
    RemoteApply,
    /// No event: the log is written and synced within about half a second.
    Off,
}

/// Method of syncing the log: `wal_sync_method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalSyncMethod {
    /// `fdatasync` after writing.
    Fdatasync,
    /// `fsync` after writing.
    Fsync,
    /// Files opened with `O_DSYNC`.
    OpenDatasync,
    /// Files opened with `O_SYNC`.
    OpenSync,
}

/// Plans of prepared statements: `plan_cache_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanCache {
    /// The server compares plans made for the values with one for all values.
    Auto,
    /// One plan for all values, made once.
    Generic,
    /// A plan for each run.
    Custom,
}

/// Settings of a target, with defaults for those that were not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Option `lock_timeout`, in whole seconds.
    pub lock_timeout: Duration,
    /// Option `answer_timeout`, in whole seconds.
    pub answer_timeout: Duration,
    /// Option `synchronous_commit`; `None` leaves the server's setting.
    pub synchronous_commit: Option<SynchronousCommit>,
    /// Option `plan_cache`.
    pub plan_cache: PlanCache,
    /// Option `pipeline`.
    pub pipeline: bool,
    /// Option `procedures`.
    pub procedures: bool,
    /// Option `socket`.
    pub socket: Option<PathBuf>,
    /// Option `password_file`.
    pub password_file: Option<PathBuf>,
    /// Option `spread`.
    pub spread: bool,
    /// Options `sslmode`, `sslrootcert`, `sslcert`, `sslkey`.
    pub tls: TlsOptions,
    /// Option `ram`.
    pub ram: bool,
    /// Option `server`.
    pub server: Option<PathBuf>,
    /// Option `shared_buffers`, in bytes.
    pub shared_buffers_bytes: u64,
    /// Option `max_wal_size`, in bytes.
    pub max_wal_bytes: u64,
    /// Option `fsync`.
    pub fsync: bool,
    /// Option `full_page_writes`.
    pub full_page_writes: bool,
    /// Option `wal_sync_method`; `None` is the server's default for the system.
    pub wal_sync_method: Option<WalSyncMethod>,
    /// Option `max_connections`.
    pub max_connections: u32,
    /// Option `start_timeout`, in whole seconds.
    pub start_timeout: Duration,
}

impl Options {
    /// The default options.
    pub const DEFAULT: Self = Self {
        lock_timeout: Duration::from_secs(10),
        answer_timeout: Duration::from_secs(3_600),
        synchronous_commit: None,
        plan_cache: PlanCache::Auto,
        pipeline: false,
        procedures: false,
        socket: None,
        password_file: None,
        spread: true,
        tls: TlsOptions::DEFAULT,
        ram: false,
        server: None,
        shared_buffers_bytes: 1 << 30,
        max_wal_bytes: 4 << 30,
        fsync: true,
        full_page_writes: true,
        wal_sync_method: None,
        max_connections: 200,
        start_timeout: Duration::from_secs(60),
    };
}

option_words!(SynchronousCommit {
    On = "on",
    Local = "local",
    RemoteWrite = "remote_write",
    RemoteApply = "remote_apply",
    Off = "off",
});
option_words!(WalSyncMethod {
    Fdatasync = "fdatasync",
    Fsync = "fsync",
    OpenDatasync = "open_datasync",
    OpenSync = "open_sync",
});
option_words!(PlanCache { Auto = "auto", Generic = "generic", Custom = "custom" });

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

/// Options of a running server.
const RUNNING_ONLY: &[&str] = &["socket", "password_file", "spread", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Options of a private server.
const PRIVATE_ONLY: &[&str] = &[
    "ram",
    "server",
    "shared_buffers",
    "max_wal_size",
    "fsync",
    "full_page_writes",
    "wal_sync_method",
    "max_connections",
    "start_timeout",
];

/// Grammar of PostgreSQL targets, with every option in the order of help and documents.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "PostgreSQL",
    schemes: &[
        Scheme::running_server("postgres", PRIVATE_ONLY),
        Scheme::private_server("postgres+private", RUNNING_ONLY),
    ],
    forms: "postgres://USER@HOST,HOST/DATABASE or postgres+private:, each with optional ?OPTION=VALUE&…",
    options: &[
        option_spec!(
            "lock_timeout" => lock_timeout: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
            "how long a session waits for a lock before it fails with a conflict (`lock_timeout`)",
        ),
        option_spec!(
            "answer_timeout" => answer_timeout: seconds(1, 86_400), "a time in whole seconds from 1s to 86400s",
            "time without an answer after which the server counts as lost",
        ),
        option_spec!(
            "synchronous_commit" => synchronous_commit: optional_word(SynchronousCommit), "on, local, remote_write, remote_apply, off",
            "what a commit waits for: the log synced here (local), and on a synchronous standby written (remote_write), synced (on) or applied (remote_apply), or nothing (off) [without it: the server's]",
        ),
        option_spec!(
            "plan_cache" => plan_cache: word(PlanCache), "auto, generic, custom",
            "plans of prepared statements: one for all values (generic), one for each run (custom), or whichever costs less by the server's estimate (auto) (`plan_cache_mode`)",
        ),
        option_spec!(
            "pipeline" => pipeline: switch,
            "send BEGIN, and changes of one row, along with the next statement whose answer is awaited: fewer round trips",
        ),
        option_spec!(
            "procedures" => procedures: switch,
            "where a workload has functions in PL/pgSQL for several statements, keep these in the server and call them: one round trip for all",
        ),
        option_spec!(
            "socket" => socket: path,
            "folder of the server's Unix socket, such as /run/postgresql [without it: TCP]",
        ),
        option_spec!(
            "password_file" => password_file: path,
            "file whose first line is the password [without it: the environment variable PGPASSWORD, then the line for this server in the file that PGPASSFILE names or ~/.pgpass]",
        ),
        option_spec!(
            "spread" => spread: switch,
            "of several addresses, sessions go to all in turn; off: to the first one, and to another only where it is lost",
        ),
        nested_option!(TlsOptions: &TLS_OPTIONS[0] => tls: Options),
        nested_option!(TlsOptions: &TLS_OPTIONS[1] => tls: Options),
        nested_option!(TlsOptions: &TLS_OPTIONS[2] => tls: Options),
        nested_option!(TlsOptions: &TLS_OPTIONS[3] => tls: Options),
        option_spec!("ram" => ram: switch, "keep the data directory in memory (/dev/shm)"),
        option_spec!(
            "server" => server: path,
            "server program `postgres`, with `initdb` beside it [without it: searched in PATH and the common folders]",
        ),
        option_spec!(
            "shared_buffers" => shared_buffers_bytes: bytes(1 << 20, 1 << 40), "bytes from 1MiB to 1TiB, for example 512MiB",
            "page cache, shared by all sessions (`shared_buffers`)",
        ),
        option_spec!(
            "max_wal_size" => max_wal_bytes: bytes(32 << 20, 1 << 40), "bytes from 32MiB to 1TiB, for example 4GiB",
            "size of the write-ahead log at which a checkpoint begins (`max_wal_size`)",
        ),
        option_spec!("fsync" => fsync: switch, "sync files at all (`fsync`)"),
        option_spec!(
            "full_page_writes" => full_page_writes: switch,
            "write a page whole to the log at its first change after a checkpoint, so that a torn page can be repaired (`full_page_writes`)",
        ),
        option_spec!(
            "wal_sync_method" => wal_sync_method: optional_word(WalSyncMethod), "fdatasync, fsync, open_datasync, open_sync",
            "how the log is synced (`wal_sync_method`) [without it: the server's choice for this system]",
        ),
        option_spec!(
            "max_connections" => max_connections: number(10, 10_000), "a number from 10 to 10000",
            "sessions that can be open at once (`max_connections`)",
        ),
        option_spec!(
            "start_timeout" => start_timeout: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
            "time limit for the server's start",
        ),
    ],
};
