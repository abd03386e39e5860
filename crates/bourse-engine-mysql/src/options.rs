//! Options of a target, as typed values; [`GRAMMAR`] is what is parsed, shown in help and documented.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::option_words;
use bourse_engine::target::{Grammar, OptionSpec, Scheme, Wanted, parse_bytes, parse_switch, show_bytes, show_switch};
use std::path::PathBuf;
use std::time::Duration;

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
}

impl Flavour {
    /// The engine's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
        }
    }
}

/// What holds the tables that are made: `default_storage_engine`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Transactions, a redo log, indexes that are trees.
    Innodb,
    /// Memory alone: no transactions, locks by table, rows of full width, indexes that are hashes.
    Memory,
}

/// What is done with the redo log at a commit: `innodb_flush_log_at_trx_commit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushLog {
    /// Nothing: it is written and made durable once a second.
    EverySecond,
    /// Written and made durable.
    AtCommit,
    /// Written; made durable once a second.
    WrittenAtCommit,
}

/// How data files are written: `innodb_flush_method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMethod {
    /// Through the operating system's cache.
    Fsync,
    /// Past it.
    Direct,
}

/// Settings of a target; what was not said has its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `lock_timeout`, whole seconds.
    pub lock_timeout: Duration,
    /// `answer_timeout`, whole seconds.
    pub answer_timeout: Duration,
    /// `foreign_keys`.
    pub foreign_keys: bool,
    /// `snapshot_isolation`.
    pub snapshot_isolation: bool,
    /// `socket`.
    pub socket: Option<PathBuf>,
    /// `password_file`.
    pub password_file: Option<PathBuf>,
    /// `storage`.
    pub storage: Storage,
    /// `ram`.
    pub ram: bool,
    /// `server`.
    pub server: Option<PathBuf>,
    /// `innodb_buffer_pool`, in bytes.
    pub buffer_pool_bytes: u64,
    /// `log_file`, in bytes.
    pub log_file_bytes: u64,
    /// `flush_log`.
    pub flush_log: FlushLog,
    /// `flush_method`; `None` is direct on a disk and through the cache in memory.
    pub flush_method: Option<FlushMethod>,
    /// `doublewrite`.
    pub doublewrite: bool,
    /// `start_timeout`, whole seconds.
    pub start_timeout: Duration,
}

impl Options {
    /// Every default.
    pub const DEFAULT: Self = Self {
        lock_timeout: Duration::from_secs(10),
        answer_timeout: Duration::from_secs(3_600),
        foreign_keys: true,
        snapshot_isolation: true,
        socket: None,
        password_file: None,
        storage: Storage::Innodb,
        ram: false,
        server: None,
        buffer_pool_bytes: 1 << 30,
        log_file_bytes: 256 << 20,
        flush_log: FlushLog::AtCommit,
        flush_method: None,
        doublewrite: true,
        start_timeout: Duration::from_secs(60),
    };
}

option_words!(Storage { Innodb = "innodb", Memory = "memory" });
option_words!(FlushLog { EverySecond = "0", AtCommit = "1", WrittenAtCommit = "2" });
option_words!(FlushMethod { Fsync = "fsync", Direct = "o_direct" });

/// Options of a server that runs already.
const RUNNING_ONLY: &[&str] = &["socket", "password_file"];

/// Options of a private server.
const PRIVATE_ONLY: &[&str] =
    &["ram", "server", "innodb_buffer_pool", "log_file", "flush_log", "flush_method", "doublewrite", "start_timeout"];

const fn running(name: &'static str) -> Scheme {
    let because = "it belongs to the server's own configuration";
    Scheme { name, kind: "a running server", without: PRIVATE_ONLY, because }
}

const fn private(name: &'static str) -> Scheme {
    Scheme {
        name,
        kind: "a private server",
        without: RUNNING_ONLY,
        because: "we start the server, and know how to reach it",
    }
}

/// The grammar of MariaDB and MySQL targets, with every option in the order of help and documents.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "MariaDB and MySQL",
    schemes: &[running("mysql"), running("mariadb"), private("mysql+private"), private("mariadb+private")],
    forms: "mysql://USER@HOST/DATABASE, mariadb://USER@HOST/DATABASE, mysql+private: or mariadb+private:, each with optional ?OPTION=VALUE&…",
    options: &[
        OptionSpec {
            name: "lock_timeout",
            values: "a time in whole seconds from 1s to 3600s",
            meaning: "how long a session waits for a lock before it fails with a conflict (`innodb_lock_wait_timeout`, `lock_wait_timeout`)",
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
            name: "foreign_keys",
            values: "on, off",
            meaning: "enforce declared foreign keys (`foreign_key_checks`)",
            set: |options, text| parse_switch(text).map(|value| options.foreign_keys = value),
            show: |options| show_switch(options.foreign_keys),
        },
        OptionSpec {
            name: "snapshot_isolation",
            values: "on, off",
            meaning: "a repeatable-read transaction that meets a change made since its snapshot fails with a conflict instead of overwriting it (`innodb_snapshot_isolation`); without effect on servers that lack it, with a warning",
            set: |options, text| parse_switch(text).map(|value| options.snapshot_isolation = value),
            show: |options| show_switch(options.snapshot_isolation),
        },
        OptionSpec {
            name: "storage",
            values: "innodb, memory",
            meaning: "storage engine of new tables (`default_storage_engine`); memory has no transactions and cannot run TPC-E",
            set: |options, text| Storage::parse(text).map(|value| options.storage = value),
            show: |options| options.storage.word().to_owned(),
        },
        OptionSpec {
            name: "socket",
            values: "a path",
            meaning: "Unix socket of the server [without it: TCP]",
            set: |options, text| path(text).map(|value| options.socket = Some(value)),
            show: |options| show_path(options.socket.as_ref()),
        },
        OptionSpec {
            name: "password_file",
            values: "a path",
            meaning: "file whose first line is the password [without it: the environment variable BOURSE_MYSQL_PASSWORD]",
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
            meaning: "server program [without it: searched in PATH and the common folders]",
            set: |options, text| path(text).map(|value| options.server = Some(value)),
            show: |options| show_path(options.server.as_ref()),
        },
        OptionSpec {
            name: "innodb_buffer_pool",
            values: "bytes from 5MiB to 1TiB, for example 512MiB",
            meaning: "page cache, shared by all sessions (`innodb_buffer_pool_size`)",
            set: |options, text| parse_bytes(text, 5 << 20, 1 << 40).map(|value| options.buffer_pool_bytes = value),
            show: |options| show_bytes(options.buffer_pool_bytes),
        },
        OptionSpec {
            name: "log_file",
            values: "bytes from 8MiB to 128GiB, for example 256MiB",
            meaning: "size of the redo log (`innodb_log_file_size`, `innodb_redo_log_capacity`)",
            set: |options, text| parse_bytes(text, 8 << 20, 128 << 30).map(|value| options.log_file_bytes = value),
            show: |options| show_bytes(options.log_file_bytes),
        },
        OptionSpec {
            name: "flush_log",
            values: "0, 1, 2",
            meaning: "redo log at a commit: kept in memory (0), synced (1), written but not synced (2); 0 and 2 sync once a second (`innodb_flush_log_at_trx_commit`)",
            set: |options, text| FlushLog::parse(text).map(|value| options.flush_log = value),
            show: |options| options.flush_log.word().to_owned(),
        },
        OptionSpec {
            name: "flush_method",
            values: "fsync, o_direct",
            meaning: "how data files are written (`innodb_flush_method`): through the page cache (fsync) or past it (o_direct) [default: o_direct; with ram=on fsync]",
            set: |options, text| FlushMethod::parse(text).map(|value| options.flush_method = Some(value)),
            show: |options| options.flush_method.map_or_else(String::new, |method| method.word().to_owned()),
        },
        OptionSpec {
            name: "doublewrite",
            values: "on, off",
            meaning: "write pages twice, so that a torn page can be repaired (`innodb_doublewrite`)",
            set: |options, text| parse_switch(text).map(|value| options.doublewrite = value),
            show: |options| show_switch(options.doublewrite),
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

fn in_range(number: u64, least: u64, most: u64) -> Result<u64, Wanted> {
    if (least..=most).contains(&number) { Ok(number) } else { Err(Wanted::InRange) }
}

fn path(text: &str) -> Result<PathBuf, Wanted> {
    if text.is_empty() { Err(Wanted::Listed) } else { Ok(text.into()) }
}

fn show_path(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn seconds(text: &str, least: u64, most: u64) -> Result<Duration, Wanted> {
    let digits = text.strip_suffix('s').ok_or(Wanted::Listed)?;
    let number: u64 = digits.parse().map_err(|_| Wanted::Listed)?;
    in_range(number, least, most).map(Duration::from_secs)
}

fn show_seconds(time: Duration) -> String {
    format!("{}s", time.as_secs())
}
