//! Options of a target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::option_words;
use bourse_engine::target::{Grammar, OptionSpec, Scheme, Wanted, parse_bytes, parse_switch, show_bytes, show_switch};
use std::path::PathBuf;
use std::time::Duration;

/// What a commit waits for: `synchronous_commit`.
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
    /// Nothing: the log is written and synced within about half a second.
    Off,
}

/// How the log is synced: `wal_sync_method`.
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

/// Settings of a target; what was not said has its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `lock_timeout`, whole seconds.
    pub lock_timeout: Duration,
    /// `answer_timeout`, whole seconds.
    pub answer_timeout: Duration,
    /// `synchronous_commit`; `None` is the server's.
    pub synchronous_commit: Option<SynchronousCommit>,
    /// `plan_cache`.
    pub plan_cache: PlanCache,
    /// `socket`.
    pub socket: Option<PathBuf>,
    /// `password_file`.
    pub password_file: Option<PathBuf>,
    /// `ram`.
    pub ram: bool,
    /// `server`.
    pub server: Option<PathBuf>,
    /// `shared_buffers`, in bytes.
    pub shared_buffers_bytes: u64,
    /// `max_wal_size`, in bytes.
    pub max_wal_bytes: u64,
    /// `fsync`.
    pub fsync: bool,
    /// `full_page_writes`.
    pub full_page_writes: bool,
    /// `wal_sync_method`; `None` is the server's default for the system.
    pub wal_sync_method: Option<WalSyncMethod>,
    /// `max_connections`.
    pub max_connections: u32,
    /// `start_timeout`, whole seconds.
    pub start_timeout: Duration,
}

impl Options {
    /// Every default.
    pub const DEFAULT: Self = Self {
        lock_timeout: Duration::from_secs(10),
        answer_timeout: Duration::from_secs(3_600),
        synchronous_commit: None,
        plan_cache: PlanCache::Auto,
        socket: None,
        password_file: None,
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
    /// The server's word.
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Generic => "force_generic_plan",
            Self::Custom => "force_custom_plan",
        }
    }
}

/// Options of a server that runs already.
const RUNNING_ONLY: &[&str] = &["socket", "password_file"];

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

const fn running(name: &'static str) -> Scheme {
    let because = "it belongs to the server's own configuration";
    Scheme { name, kind: "a running server", without: PRIVATE_ONLY, because }
}

/// The grammar of PostgreSQL targets, with every option in the order of help and documents.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "PostgreSQL",
    schemes: &[
        running("postgres"),
        Scheme {
            name: "postgres+private",
            kind: "a private server",
            without: RUNNING_ONLY,
            because: "we start the server, and know how to reach it",
        },
    ],
    forms: "postgres://USER@HOST/DATABASE or postgres+private:, each with optional ?OPTION=VALUE&…",
    options: &[
        OptionSpec {
            name: "lock_timeout",
            values: "a time in whole seconds from 1s to 3600s",
            meaning: "how long a session waits for a lock before it fails with a conflict (`lock_timeout`)",
            set: |options, text| seconds(text, 1, 3_600).map(|value| options.lock_timeout = value),
            show: |options| show_seconds(options.lock_timeout),
        },
        OptionSpec {
            name: "answer_timeout",
            values: "a time in whole seconds from 1s to 86400s",
            meaning: "time without an answer after which the server counts as lost",
            set: |options, text| seconds(text, 1, 86_400).map(|value| options.answer_timeout = value),
            show: |options| show_seconds(options.answer_timeout),
        },
        OptionSpec {
            name: "synchronous_commit",
            values: "on, local, remote_write, remote_apply, off",
            meaning: "what a commit waits for: the log synced here (local), and on a synchronous standby written (remote_write), synced (on) or applied (remote_apply), or nothing (off) [without it: the server's]",
            set: |options, text| SynchronousCommit::parse(text).map(|value| options.synchronous_commit = Some(value)),
            show: |options| options.synchronous_commit.map_or_else(String::new, |value| value.word().to_owned()),
        },
        OptionSpec {
            name: "plan_cache",
            values: "auto, generic, custom",
            meaning: "plans of prepared statements: one for all values (generic), one for each run (custom), or whichever costs less by the server's estimate (auto) (`plan_cache_mode`)",
            set: |options, text| PlanCache::parse(text).map(|value| options.plan_cache = value),
            show: |options| options.plan_cache.word().to_owned(),
        },
        OptionSpec {
            name: "socket",
            values: "a path",
            meaning: "folder of the server's Unix socket, such as /run/postgresql [without it: TCP]",
            set: |options, text| path(text).map(|value| options.socket = Some(value)),
            show: |options| show_path(options.socket.as_ref()),
        },
        OptionSpec {
            name: "password_file",
            values: "a path",
            meaning: "file whose first line is the password [without it: the environment variable PGPASSWORD, then the line for this server in the file that PGPASSFILE names or ~/.pgpass]",
            set: |options, text| path(text).map(|value| options.password_file = Some(value)),
            show: |options| show_path(options.password_file.as_ref()),
        },
        OptionSpec {
            name: "ram",
            values: "on, off",
            meaning: "keep the data directory in memory (/dev/shm)",
            set: |options, text| parse_switch(text).map(|value| options.ram = value),
            show: |options| show_switch(options.ram),
        },
        OptionSpec {
            name: "server",
            values: "a path",
            meaning: "server program `postgres`, with `initdb` beside it [without it: searched in PATH and the common folders]",
            set: |options, text| path(text).map(|value| options.server = Some(value)),
            show: |options| show_path(options.server.as_ref()),
        },
        OptionSpec {
            name: "shared_buffers",
            values: "bytes from 1MiB to 1TiB, for example 512MiB",
            meaning: "page cache, shared by all sessions (`shared_buffers`)",
            set: |options, text| parse_bytes(text, 1 << 20, 1 << 40).map(|value| options.shared_buffers_bytes = value),
            show: |options| show_bytes(options.shared_buffers_bytes),
        },
        OptionSpec {
            name: "max_wal_size",
            values: "bytes from 32MiB to 1TiB, for example 4GiB",
            meaning: "size of the write-ahead log at which a checkpoint begins (`max_wal_size`)",
            set: |options, text| parse_bytes(text, 32 << 20, 1 << 40).map(|value| options.max_wal_bytes = value),
            show: |options| show_bytes(options.max_wal_bytes),
        },
        OptionSpec {
            name: "fsync",
            values: "on, off",
            meaning: "sync files at all (`fsync`)",
            set: |options, text| parse_switch(text).map(|value| options.fsync = value),
            show: |options| show_switch(options.fsync),
        },
        OptionSpec {
            name: "full_page_writes",
            values: "on, off",
            meaning: "write a page whole to the log at its first change after a checkpoint, so that a torn page can be repaired (`full_page_writes`)",
            set: |options, text| parse_switch(text).map(|value| options.full_page_writes = value),
            show: |options| show_switch(options.full_page_writes),
        },
        OptionSpec {
            name: "wal_sync_method",
            values: "fdatasync, fsync, open_datasync, open_sync",
            meaning: "how the log is synced (`wal_sync_method`) [without it: the server's choice for this system]",
            set: |options, text| WalSyncMethod::parse(text).map(|value| options.wal_sync_method = Some(value)),
            show: |options| options.wal_sync_method.map_or_else(String::new, |value| value.word().to_owned()),
        },
        OptionSpec {
            name: "max_connections",
            values: "a number from 10 to 10000",
            meaning: "sessions that can be open at once (`max_connections`)",
            set: |options, text| number(text, 10, 10_000).map(|value| options.max_connections = value),
            show: |options| options.max_connections.to_string(),
        },
        OptionSpec {
            name: "start_timeout",
            values: "a time in whole seconds from 1s to 3600s",
            meaning: "time limit for the server's start",
            set: |options, text| seconds(text, 1, 3_600).map(|value| options.start_timeout = value),
            show: |options| show_seconds(options.start_timeout),
        },
    ],
    renamed: &[],
};

fn number(text: &str, least: u32, most: u32) -> Result<u32, Wanted> {
    let number: u32 = text.parse().map_err(|_| Wanted::Listed)?;
    if (least..=most).contains(&number) { Ok(number) } else { Err(Wanted::InRange) }
}

fn path(text: &str) -> Result<PathBuf, Wanted> {
    if text.is_empty() { Err(Wanted::Listed) } else { Ok(text.into()) }
}

fn show_path(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn seconds(text: &str, least: u32, most: u32) -> Result<Duration, Wanted> {
    let digits = text.strip_suffix('s').ok_or(Wanted::Listed)?;
    number(digits, least, most).map(|seconds| Duration::from_secs(seconds.into()))
}

fn show_seconds(time: Duration) -> String {
    format!("{}s", time.as_secs())
}
