//! Options of a target, as typed values; [`GRAMMAR`] parses and documents them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, OptionSpec, Scheme};
use bourse_engine::{nested_option, option_spec, option_words};
use bourse_server::client::tls::{TLS_OPTIONS, TlsOptions};
use std::path::PathBuf;
use std::time::Duration;

/// Product of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
    /// TiDB on its built-in storage.
    Tidb,
    /// Vitess in one process, with a MySQL server below it.
    Vitess,
}

impl Flavour {
    /// Name of the engine in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
            Self::Tidb => "tidb",
            Self::Vitess => "vitess",
        }
    }
}

/// Storage engine of new tables: `default_storage_engine`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Transactions, a redo log, indexes that are trees.
    Innodb,
    /// Memory alone: no transactions, locks by table, rows of full width, indexes that are hashes.
    Memory,
}

/// Treatment of the redo log at a commit: `innodb_flush_log_at_trx_commit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushLog {
    /// No action at the commit: the log is written and synced once a second.
    EverySecond,
    /// Written and synced at the commit.
    AtCommit,
    /// Written at the commit; synced once a second.
    WrittenAtCommit,
}

/// Method of writing data files: `innodb_flush_method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMethod {
    /// Through the operating system's cache.
    Fsync,
    /// Bypassing the operating system's cache.
    Direct,
}

/// Settings of a target, with defaults for those that were not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Option `lock_timeout`, in whole seconds.
    pub lock_timeout: Duration,
    /// Option `answer_timeout`, in whole seconds.
    pub answer_timeout: Duration,
    /// Option `foreign_keys`.
    pub foreign_keys: bool,
    /// Option `snapshot_isolation`.
    pub snapshot_isolation: bool,
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
    /// Option `storage`.
    pub storage: Storage,
    /// Option `ram`.
    pub ram: bool,
    /// Option `server`.
    pub server: Option<PathBuf>,
    /// Option `innodb_buffer_pool`, in bytes.
    pub buffer_pool_bytes: u64,
    /// Option `log_file`, in bytes.
    pub log_file_bytes: u64,
    /// Option `flush_log`.
    pub flush_log: FlushLog,
    /// Option `flush_method`; `None` is direct on a disk and through the cache in memory.
    pub flush_method: Option<FlushMethod>,
    /// Option `doublewrite`.
    pub doublewrite: bool,
    /// Option `start_timeout`, in whole seconds.
    pub start_timeout: Duration,
}

impl Options {
    /// The default options.
    pub const DEFAULT: Self = Self {
        lock_timeout: Duration::from_secs(10),
        answer_timeout: Duration::from_secs(3_600),
        foreign_keys: true,
        snapshot_isolation: true,
        procedures: false,
        socket: None,
        password_file: None,
        spread: true,
        tls: TlsOptions::DEFAULT,
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

/// Options of a running server.
pub(crate) const RUNNING_ONLY: &[&str] =
    &["socket", "password_file", "spread", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Options of a private server.
pub(crate) const PRIVATE_ONLY: &[&str] =
    &["ram", "server", "innodb_buffer_pool", "log_file", "flush_log", "flush_method", "doublewrite", "start_timeout"];

/// Options that private servers of products lack: the product has no such setting, or passes none on.
const NOT_OF_PRODUCTS: &[&str] = &[
    "socket",
    "password_file",
    "spread",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "procedures",
    "storage",
    "innodb_buffer_pool",
    "log_file",
    "flush_log",
    "flush_method",
    "doublewrite",
];

/// Every option, in the order of help and documents.
pub(crate) const OPTIONS: &[OptionSpec<Options>] = &[
    option_spec!(
        "lock_timeout" => lock_timeout: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "how long a session waits for a lock before it fails with a conflict (`innodb_lock_wait_timeout`, `lock_wait_timeout`)",
    ),
    option_spec!(
        "answer_timeout" => answer_timeout: seconds(1, 86_400), "a time in whole seconds from 1s to 86400s",
        "time without an answer after which the server counts as lost",
    ),
    option_spec!("foreign_keys" => foreign_keys: switch, "enforce declared foreign keys (`foreign_key_checks`)"),
    option_spec!(
        "snapshot_isolation" => snapshot_isolation: switch,
        "a repeatable-read transaction that meets a change made since its snapshot fails with a conflict instead of overwriting it (`innodb_snapshot_isolation`); without effect on servers that lack it, with a warning",
    ),
    option_spec!(
        "procedures" => procedures: switch,
        "where a workload has procedures for several statements, keep these in the server and call them: one round trip for all; MariaDB alone",
    ),
    option_spec!(
        "storage" => storage: word(Storage), "innodb, memory",
        "storage engine of new tables (`default_storage_engine`); memory has no transactions and cannot run TPC-E",
    ),
    option_spec!("socket" => socket: path, "Unix socket of the server [without it: TCP]"),
    option_spec!(
        "password_file" => password_file: path,
        "file whose first line is the password [without it: the environment variable BOURSE_MYSQL_PASSWORD or MYSQL_PWD, then the group `client` of ~/.my.cnf]",
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
        "server program, or for MySQL a folder with another system that has it [without it: for MySQL $BOURSE_MYSQLD, for TiDB $BOURSE_TIDB, for Vitess $BOURSE_VTCOMBO; then searched in PATH and the common folders]",
    ),
    option_spec!(
        "innodb_buffer_pool" => buffer_pool_bytes: bytes(5 << 20, 1 << 40), "bytes from 5MiB to 1TiB, for example 512MiB",
        "page cache, shared by all sessions (`innodb_buffer_pool_size`)",
    ),
    option_spec!(
        "log_file" => log_file_bytes: bytes(8 << 20, 128 << 30), "bytes from 8MiB to 128GiB, for example 256MiB",
        "size of the redo log (`innodb_log_file_size`, `innodb_redo_log_capacity`)",
    ),
    option_spec!(
        "flush_log" => flush_log: word(FlushLog), "0, 1, 2",
        "redo log at a commit: kept in memory (0), synced (1), written but not synced (2); 0 and 2 sync once a second (`innodb_flush_log_at_trx_commit`)",
    ),
    option_spec!(
        "flush_method" => flush_method: optional_word(FlushMethod), "fsync, o_direct",
        "how data files are written (`innodb_flush_method`): through the page cache (fsync) or past it (o_direct) [default: o_direct; with ram=on fsync]",
    ),
    option_spec!(
        "doublewrite" => doublewrite: switch,
        "write pages twice, so that a torn page can be repaired (`innodb_doublewrite`)",
    ),
    option_spec!(
        "start_timeout" => start_timeout: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "time limit for the server's start",
    ),
];

/// Grammar of MariaDB and MySQL targets, with every option in the order of help and documents.
pub static GRAMMAR: Grammar<Options> = Grammar {
    engine: "MariaDB and MySQL",
    schemes: &[
        Scheme::running_server("mysql", PRIVATE_ONLY),
        Scheme::running_server("mariadb", PRIVATE_ONLY),
        Scheme::private_server("mysql+private", RUNNING_ONLY),
        Scheme::private_server("mariadb+private", RUNNING_ONLY),
        Scheme::private_server("tidb+private", NOT_OF_PRODUCTS),
        Scheme::private_server("vitess+private", NOT_OF_PRODUCTS),
    ],
    forms: "mysql://USER@HOST,HOST/DATABASE, mariadb://USER@HOST,HOST/DATABASE, mysql+private:, mariadb+private:, tidb+private: or vitess+private:, each with optional ?OPTION=VALUE&…",
    options: OPTIONS,
};
