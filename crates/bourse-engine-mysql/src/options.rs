//! Options of a target, as typed values; [`GRAMMAR`] parses and documents them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::target::{Grammar, Scheme};
use bourse_engine::{option_words, options};
use bourse_server::{CommonServerOptions, RUNNING_ONLY, SERVER_OPTIONS};
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

option_words! {
    /// Storage engine of new tables: `default_storage_engine`.
    pub enum StorageEngine {
        /// Transactions, a redo log, indexes that are trees.
        Innodb = "innodb",
        /// Memory alone: no transactions, locks by table, rows of full width, indexes that are hashes.
        Memory = "memory",
        /// MyRocks, a plugin of MariaDB's: log-structured merge trees, snapshots up to repeatable read, no foreign keys.
        Rocksdb = "rocksdb",
        /// Aria, of MariaDB: tables that survive a crash, locks by table, no transactions.
        Aria = "aria",
    }
}

impl StorageEngine {
    /// Whether a transaction can be rolled back.
    pub(crate) const fn has_transactions(self) -> bool {
        matches!(self, Self::Innodb | Self::Rocksdb)
    }
}

option_words! {
    /// Treatment of the redo log at a commit: `innodb_flush_log_at_trx_commit`.
    pub enum FlushLog {
        /// No action at the commit: the log is written and synced once a second.
        EverySecond = "0",
        /// Written and synced at the commit.
        AtCommit = "1",
        /// Written at the commit; synced once a second.
        WrittenAtCommit = "2",
    }
}

option_words! {
    /// Method of writing data files: `innodb_flush_method`.
    pub enum FlushMethod {
        /// Through the operating system's cache.
        Fsync = "fsync",
        /// Bypassing the operating system's cache.
        Direct = "o_direct",
    }
}

options! {
    /// Options of a target: the given ones, and the defaults of all others.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MysqlOptions;

    /// Option `lock_timeout`, in whole seconds.
    lock_timeout: Duration = Duration::from_secs(10) =>
        ["lock_timeout": seconds(1, 3_600), "a time in whole seconds from 1s to 3600s",
        "how long a session waits for a lock before it fails with a conflict (`innodb_lock_wait_timeout`, `lock_wait_timeout`)"];

    /// Option `foreign_keys`.
    foreign_keys: bool = true => ["foreign_keys": switch, "enforce declared foreign keys (`foreign_key_checks`)"];

    /// Option `snapshot_isolation`.
    snapshot_isolation: bool = true => ["snapshot_isolation": switch,
        "a repeatable-read transaction that meets a change made since its snapshot fails with a conflict instead of overwriting it (`innodb_snapshot_isolation`); without effect on servers that lack it, with a warning"];

    /// Option `procedures`.
    procedures: bool = false => ["procedures": switch,
        "where a workload has procedures for several statements, keep these in the server and call them: one round trip for all; MariaDB alone"];

    /// Option `storage`.
    storage: StorageEngine = StorageEngine::Innodb => ["storage": word(StorageEngine), "innodb, memory, rocksdb, aria",
        "storage engine of new tables (`default_storage_engine`); rocksdb and aria are MariaDB's. memory and aria have no transactions and cannot run TPC-E; rocksdb has no foreign keys and no serializable transactions, and innodb_buffer_pool and flush_log are its block cache and its log's"];

    /// Option `socket`.
    socket: Option<PathBuf> = None => ["socket": path, "Unix socket of the server [without it: TCP]"];

    /// Option `password_file`.
    password_file: Option<PathBuf> = None => ["password_file": path,
        "file whose first line is the password [without it: the environment variable BOURSE_MYSQL_PASSWORD, the group `client` of ~/.my.cnf, then the variable MYSQL_PWD]"];

    /// Options that all servers have.
    common: CommonServerOptions = CommonServerOptions::DEFAULT =>
        [nested CommonServerOptions: &SERVER_OPTIONS[0]] [nested CommonServerOptions: &SERVER_OPTIONS[1]]
        [nested CommonServerOptions: &SERVER_OPTIONS[2]] [nested CommonServerOptions: &SERVER_OPTIONS[3]]
        [nested CommonServerOptions: &SERVER_OPTIONS[4]] [nested CommonServerOptions: &SERVER_OPTIONS[5]]
        [nested CommonServerOptions: &SERVER_OPTIONS[6]] [nested CommonServerOptions: &SERVER_OPTIONS[7]];

    /// Option `server`.
    server: Option<PathBuf> = None => ["server": path,
        "server program, or for MySQL a folder with another system that has it [without it: for MySQL $BOURSE_MYSQLD, for TiDB $BOURSE_TIDB, for Vitess $BOURSE_VTCOMBO; then searched in PATH and the common folders]"];

    /// Option `innodb_buffer_pool`, in bytes.
    buffer_pool_bytes: u64 = 1 << 30 =>
        ["innodb_buffer_pool": bytes(5 << 20, 1 << 40), "bytes from 5MiB to 1TiB, for example 512MiB",
        "page cache, shared by all sessions (`innodb_buffer_pool_size`)"];

    /// Option `log_file`, in bytes.
    log_file_bytes: u64 = 256 << 20 =>
        ["log_file": bytes(8 << 20, 128 << 30), "bytes from 8MiB to 128GiB, for example 256MiB",
        "size of the redo log (`innodb_log_file_size`, `innodb_redo_log_capacity`)"];

    /// Option `flush_log`.
    flush_log: FlushLog = FlushLog::AtCommit => ["flush_log": word(FlushLog), "0, 1, 2",
        "redo log at a commit: kept in memory (0), synced (1), written but not synced (2); 0 and 2 sync once a second (`innodb_flush_log_at_trx_commit`)"];

    /// Option `flush_method`; `None` is direct on a disk and through the cache in memory.
    flush_method: Option<FlushMethod> = None => ["flush_method": optional_word(FlushMethod), "fsync, o_direct",
        "how data files are written (`innodb_flush_method`): through the page cache (fsync) or past it (o_direct) [default: o_direct; with ram=on fsync]"];

    /// Option `doublewrite`.
    doublewrite: bool = true => ["doublewrite": switch,
        "write pages twice, so that a torn page can be repaired (`innodb_doublewrite`)"];
}

impl MysqlOptions {
    /// Whether foreign keys are declared: MyRocks has none.
    pub(crate) fn declares_foreign_keys(&self) -> bool {
        self.foreign_keys && self.storage != StorageEngine::Rocksdb
    }
}

/// Options of a private server.
pub(crate) const PRIVATE_ONLY: &[&str] =
    &["ram", "server", "innodb_buffer_pool", "log_file", "flush_log", "flush_method", "doublewrite", "start_timeout"];

/// Options that private servers of products lack: the product has no such setting, or passes none on.
const NOT_OF_PRODUCTS: &[&str] = &[
    "socket", "password_file", "spread", "sslmode", "sslrootcert", "sslcert", "sslkey", "procedures", "storage",
    "innodb_buffer_pool", "log_file", "flush_log", "flush_method", "doublewrite",
];

/// Grammar of MariaDB and MySQL targets, with every option in the order of help and documents.
pub static GRAMMAR: Grammar<MysqlOptions> = Grammar {
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
