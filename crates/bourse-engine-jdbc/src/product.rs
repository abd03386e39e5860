//! The databases, and their differences as data.

use crate::options::JdbcOptions;
use bourse_engine::{Dialect, Durability, ErrorKind, FileFormat, Guarantee, Isolation, MayLose};
use std::path::Path;

/// Database that has a JDBC driver and works in this process.
pub(crate) struct JdbcProduct {
    /// Scheme of its targets.
    pub(crate) scheme: &'static str,
    /// Name, for people.
    pub(crate) name: &'static str,
    /// Name in run files.
    pub(crate) engine: &'static str,
    /// Environment variable that names its jars.
    pub(crate) variable: &'static str,
    /// Lists of jars that operating systems' packages install; all jars of one list are needed.
    pub(crate) usual: &'static [&'static [&'static str]],
    /// Source of its jars.
    pub(crate) package: &'static str,
    /// Class of its driver.
    pub(crate) driver: &'static str,
    pub(crate) dialect: &'static Dialect,
    /// Form of its databases, which are folders of parts.
    pub(crate) format: FileFormat,
    /// URL of a database in a folder.
    pub(crate) file_url: fn(&Path, &JdbcOptions) -> String,
    /// URL of the database in memory with that number.
    pub(crate) memory_url: fn(u64, &JdbcOptions) -> String,
    /// System properties that must be set before its driver is loaded: lines of name and value.
    pub(crate) system: fn(&JdbcOptions) -> String,
    /// Properties of each connection: lines of name and value.
    pub(crate) properties: &'static str,
    /// Statements of the first connection to a database, once it is open.
    pub(crate) on_open: fn(&JdbcOptions, is_memory: bool) -> Vec<String>,
    /// Ways to close a database in a folder, and to remove one in memory.
    pub(crate) end: CloseMethod,
    pub(crate) memory_end: CloseMethod,
    /// JDBC's numbers for read committed, repeatable read and serializable.
    pub(crate) levels: [i32; 3],
    /// Isolation levels that it really provides.
    pub(crate) isolation: &'static [Isolation],
    /// Isolation that it promises at each level.
    pub(crate) guarantees: [Guarantee; 3],
    /// Whether readers see versions, and block no writer.
    pub(crate) snapshots: bool,
    /// Whether it knows `CHECK`.
    pub(crate) checks: bool,
    /// Whether transactions that change different rows of one table can both commit.
    pub(crate) row_conflicts: bool,
    /// Whether a statement that was prepared in a transaction survives its rollback.
    pub(crate) keeps_statements: bool,
    /// Whether it takes dates and times of `java.time`.
    pub(crate) has_java_time: bool,
    /// Prefixes of SQLSTATEs other than the standard's, with their kinds; the first match counts.
    pub(crate) states: &'static [(&'static str, ErrorKind)],
    /// Texts of conflicts that have the same SQLSTATE as other errors.
    pub(crate) conflict_words: &'static [&'static str],
    /// Query for the row that took a unique key first, from the text of the violation: a transaction that does not see that row
    /// has met a conflict.
    pub(crate) first_of_key: Option<fn(words: &str) -> Option<String>>,
    /// Query for the number of its tables.
    pub(crate) tables: &'static str,
    /// Query for the settings in force: rows of name and value.
    pub(crate) settings: Option<&'static str>,
    /// Statement that gathers statistics of a table: an engine with a join optimizer needs them.
    pub(crate) statistics: fn(table: &str) -> Option<String>,
    /// Prefix of a statement that returns its plan.
    pub(crate) explain: Option<&'static str>,
    /// Statement that merges its log into the database.
    pub(crate) checkpoint: Option<&'static str>,
    /// Whether a file of that name is a log.
    pub(crate) is_log: fn(&str) -> bool,
    /// Durability class of a commit on a disk, with the data that may be lost and the reason.
    pub(crate) durability: fn(&JdbcOptions) -> (Durability, Option<MayLose>, &'static str),
    /// Warning next to every figure.
    pub(crate) warning: Option<&'static str>,
}

/// Way to close a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseMethod {
    /// Closing of its last connection.
    LastConnection,
    /// A statement.
    Statement(&'static str),
    /// A connection to its URL with another ending: the text that is replaced, and its replacement.
    Url(&'static str, &'static str),
}

const ALL_LEVELS: &[Isolation] = &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
const SNAPSHOT_LEVELS: &[Isolation] = &[Isolation::ReadCommitted, Isolation::RepeatableRead];

/// JDBC's numbers of the levels.
const LEVELS: [i32; 3] = [2, 4, 8];

fn millis(time: std::time::Duration) -> u128 {
    time.as_millis()
}

/// Prefixes of the standard's SQLSTATEs, with their kinds.
const STATES: &[(&str, ErrorKind)] = &[
    ("40", ErrorKind::Conflict),
    ("23505", ErrorKind::Duplicate),
    ("23", ErrorKind::Constraint),
    ("0A", ErrorKind::Unsupported),
    ("08", ErrorKind::ConnectionLost),
];

/// Description of H2.
const H2: JdbcProduct = JdbcProduct {
    scheme: "jdbc+h2",
    name: "H2",
    engine: "h2",
    variable: "BOURSE_JDBC_H2_JAR",
    usual: &[&["/usr/share/java/h2.jar"]],
    package: "the Maven artifact com.h2database:h2, or Debian's libh2-java",
    driver: "org.h2.Driver",
    dialect: &crate::dialect::H2,
    format: FileFormat {
        name: "H2",
        own: &["@/data.mv.db", "@/data.trace.db", "@/data.lock.db", "@/data.#.temp.db"],
        ..FileFormat::FOLDER
    },
    file_url: |folder, options| h2_url(&format!("file:{}/data", folder.display()), options),
    memory_url: |number, options| h2_url(&format!("mem:bourse_{number};DB_CLOSE_DELAY=-1"), options),
    system: |_| String::new(),
    properties: "user=sa\npassword=",
    on_open: |_, _| Vec::new(),
    end: CloseMethod::LastConnection,
    memory_end: CloseMethod::Statement("SHUTDOWN IMMEDIATELY"),
    levels: LEVELS,
    // Its serializable level is a snapshot: two transactions may each miss what the other writes.
    isolation: SNAPSHOT_LEVELS,
    guarantees: Guarantee::UP_TO_SNAPSHOT,
    snapshots: true,
    checks: true,
    row_conflicts: true,
    keeps_statements: true,
    has_java_time: true,
    states: &[
        ("HYT00", ErrorKind::Conflict),
        ("90131", ErrorKind::Conflict),
        // The file is open in another process.
        ("90020", ErrorKind::Conflict),
        ("HYC00", ErrorKind::Unsupported),
        ("90067", ErrorKind::ConnectionLost),
        ("90098", ErrorKind::ConnectionLost),
        ("90121", ErrorKind::ConnectionLost),
        ("90100", ErrorKind::Full),
        ("90108", ErrorKind::Full),
        ("57014", ErrorKind::Interrupted),
    ],
    conflict_words: &[],
    first_of_key: Some(h2_first_of_key),
    tables: "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'PUBLIC'",
    // H2 lists counters among its settings.
    settings: Some(
        "SELECT setting_name, setting_value FROM information_schema.settings WHERE setting_name NOT LIKE 'info.%' ORDER BY setting_name",
    ),
    // Otherwise it takes every index for one that finds two rows, that of a trade's status among them.
    statistics: |table| Some(format!("ANALYZE TABLE {table}")),
    explain: Some("EXPLAIN "),
    checkpoint: None,
    is_log: |_| false,
    durability: |options| match options.write_delay {
        Some(delay) if delay.is_zero() => (
            Durability::Process,
            None,
            "write_delay=0ms: each commit writes its changes to the file, which is never synced",
        ),
        _ => (
            Durability::Volatile,
            None,
            "changes are written some time after the commit (write_delay): a crash of the process alone loses the last commits",
        ),
    },
    warning: None,
};

/// Description of HSQLDB.
const HSQLDB: JdbcProduct = JdbcProduct {
    scheme: "jdbc+hsqldb",
    name: "HSQLDB",
    engine: "hsqldb",
    variable: "BOURSE_JDBC_HSQLDB_JAR",
    usual: &[&["/usr/share/java/hsqldb.jar"]],
    package: "the Maven artifact org.hsqldb:hsqldb, or Debian's libhsqldb-java",
    driver: "org.hsqldb.jdbc.JDBCDriver",
    dialect: &crate::dialect::HSQLDB,
    format: FileFormat {
        name: "HSQLDB",
        own: &[
            "@/data.script", "@/data.script.new", "@/data.log", "@/data.properties", "@/data.properties.new",
            "@/data.data", "@/data.data.new", "@/data.data.old", "@/data.backup", "@/data.backup.new", "@/data.lobs",
            "@/data.lck", "@/data.tmp/*",
        ],
        ..FileFormat::FOLDER
    },
    file_url: |folder, options| {
        let (folder, nio) = (folder.display(), options.nio);
        format!(
            "jdbc:hsqldb:file:{folder}/data;hsqldb.default_table_type=cached;shutdown=false;hsqldb.nio_data_file={nio}"
        )
    },
    memory_url: |number, _| format!("jdbc:hsqldb:mem:bourse_{number}"),
    system: |_| "hsqldb.reconfig_logging=false".to_owned(),
    properties: "user=SA\npassword=",
    on_open: |options, is_memory| {
        let mut all = vec![
            "SET DATABASE TRANSACTION CONTROL MVCC".to_owned(),
            "SET DATABASE COLLATION SQL_TEXT NO PAD".to_owned(),
        ];
        if let (Some(delay), false) = (options.write_delay, is_memory) {
            all.push(match millis(delay) {
                0 => "SET FILES WRITE DELAY FALSE".to_owned(),
                ms => format!("SET FILES WRITE DELAY {ms} MILLIS"),
            });
        }
        all
    },
    end: CloseMethod::Statement("SHUTDOWN"),
    // Class 40 is that of conflicts, and 40502 that of a cancelled statement.
    states: &[("57014", ErrorKind::Interrupted), ("40502", ErrorKind::Interrupted)],
    first_of_key: None,
    settings: Some(
        "SELECT property_name, property_value FROM information_schema.system_properties
          WHERE property_name LIKE 'hsqldb.%' ORDER BY property_name",
    ),
    statistics: |_| None,
    explain: None,
    checkpoint: Some("CHECKPOINT"),
    is_log: |name| name.ends_with(".log"),
    durability: |options| match options.write_delay {
        Some(delay) if delay.is_zero() => {
            (Durability::Durable, None, "write_delay=0ms: each commit writes its changes to the log and syncs it")
        }
        _ => (
            Durability::Consistent,
            Some(MayLose::LastSecondInMemory),
            "the log is synced some time after the commit (write_delay); a crash of the process alone loses commits too",
        ),
    },
    ..H2
};

/// Description of Derby.
const DERBY: JdbcProduct = JdbcProduct {
    scheme: "jdbc+derby",
    name: "Derby",
    engine: "derby",
    variable: "BOURSE_JDBC_DERBY_JAR",
    usual: &[&["/usr/share/java/derby.jar", "/usr/share/java/derbyshared.jar"]],
    package: "the Maven artifacts org.apache.derby:derby and org.apache.derby:derbyshared, which go together",
    driver: "org.apache.derby.iapi.jdbc.AutoloadedDriver",
    dialect: &crate::dialect::DERBY,
    format: FileFormat {
        name: "Derby",
        own: &[
            "@/data/service.properties",
            "@/data/README_DO_NOT_TOUCH_FILES.txt",
            "@/data/db.lck",
            "@/data/dbex.lck",
            "@/data/log/log#.dat",
            "@/data/log/log.ctrl",
            "@/data/log/logmirror.ctrl",
            "@/data/log/README_DO_NOT_TOUCH_FILES.txt",
            "@/data/seg0/README_DO_NOT_TOUCH_FILES.txt",
            "@/data/seg0/c*.dat",
            "@/data/seg0/d*.dat",
            "@/data/tmp/*",
        ],
        ..FileFormat::FOLDER
    },
    file_url: |folder, _| format!("jdbc:derby:directory:{}/data;create=true", folder.display()),
    memory_url: |number, _| format!("jdbc:derby:memory:bourse_{number};create=true"),
    system: |options| {
        let seconds = options.lock_timeout.as_secs();
        // Deadlocks are looked for before the patience ends.
        format!(
            "derby.stream.error.file={}\nderby.locks.waitTimeout={seconds}\nderby.locks.deadlockTimeout=1",
            if cfg!(windows) { "NUL" } else { "/dev/null" }
        )
    },
    properties: "",
    end: CloseMethod::Url("create=true", "shutdown=true"),
    memory_end: CloseMethod::Url("create=true", "drop=true"),
    isolation: ALL_LEVELS,
    // It locks rows, and ranges at the last level alone.
    guarantees: [Guarantee::ReadCommitted, Guarantee::RepeatableRead, Guarantee::Serializable],
    snapshots: false,
    has_java_time: false,
    states: &[
        // The folder is open in another process.
        ("XSDB6", ErrorKind::Conflict),
        ("XCL52", ErrorKind::Interrupted),
    ],
    tables: "SELECT count(*) FROM sys.systables WHERE tabletype = 'T'",
    first_of_key: None,
    settings: None,
    statistics: |table| {
        Some(format!("CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS('APP', '{}', NULL)", table.to_uppercase()))
    },
    explain: None,
    is_log: |name| name.starts_with("log") && name.ends_with(".dat"),
    durability: |_| (Durability::Durable, None, "each commit writes its changes to the log and syncs it"),
    ..H2
};

/// Description of MonetDB.
const MONETDB: JdbcProduct = JdbcProduct {
    scheme: "jdbc+monetdb",
    name: "MonetDB",
    engine: "monetdb",
    variable: "BOURSE_JDBC_MONETDB_JAR",
    usual: &[],
    package: "the Maven artifacts monetdb:monetdb-java-lite and monetdb:monetdb-jdbc-new, which go together",
    driver: "nl.cwi.monetdb.jdbc.MonetDriver",
    dialect: &crate::dialect::MONETDB,
    // Hundreds of files in folders of its own.
    format: FileFormat { name: "MonetDB", own: &["@/data/*"], ..FileFormat::FOLDER },
    file_url: |folder, _| format!("jdbc:monetdb:embedded:{}/data", folder.display()),
    memory_url: |_, _| "jdbc:monetdb:embedded::memory:".to_owned(),
    properties: "",
    memory_end: CloseMethod::LastConnection,
    levels: [8, 8, 8],
    keeps_statements: false,
    checks: false,
    row_conflicts: false,
    has_java_time: false,
    states: &[],
    // Its state is M0M10, as that of every error.
    conflict_words: &["because of concurrency conflicts"],
    tables: "SELECT count(*) FROM sys.tables WHERE NOT system",
    first_of_key: None,
    settings: None,
    statistics: |_| None,
    explain: None,
    durability: |_| (Durability::Volatile, None, "what a commit leaves was not tried: nothing is promised"),
    warning: Some(
        "MonetDB is an analytical engine: it plans and runs every statement for whole columns, so that transactions of single rows are not what it is made for; where several sessions change rows at once it loses some that it has acknowledged",
    ),
    ..H2
};

/// All databases.
pub(crate) static PRODUCTS: [JdbcProduct; 4] = [H2, HSQLDB, DERBY, MONETDB];

/// Database of a scheme.
pub(crate) fn of_scheme(scheme: &str) -> Option<&'static JdbcProduct> {
    PRODUCTS.iter().find(|product| product.scheme == scheme)
}

/// URL of an H2 database. H2 reuses the result of a query if nothing was changed since; after a transaction it would reuse an
/// old snapshot's result, so this is switched off.
fn h2_url(place: &str, options: &JdbcOptions) -> String {
    let mut url = format!(
        "jdbc:h2:{place};LOCK_TIMEOUT={};DB_CLOSE_ON_EXIT=FALSE;TRACE_LEVEL_FILE=0;NON_KEYWORDS=KEY,VALUE;OPTIMIZE_REUSE_RESULTS=FALSE",
        millis(options.lock_timeout)
    );
    if let Some(delay) = options.write_delay {
        url.push_str(&format!(";WRITE_DELAY={}", millis(delay)));
    }
    url
}

/// Query for the row that H2's error text names: `… ON PUBLIC.T(A, B) VALUES ( /* key:7 */ 1, 'x')`.
fn h2_first_of_key(words: &str) -> Option<String> {
    let (_, table) = words.split_once(" ON ")?;
    let (table, values) = table.split_once('(')?;
    let (_, key) = values.split_once("/* key:")?;
    let (key, _) = key.split_once(" */")?;
    let is_name = table.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let key: i64 = key.parse().ok().filter(|_| is_name)?;
    Some(format!("SELECT count(*) FROM {table} WHERE _rowid_ = {key}"))
}

impl JdbcProduct {
    /// JDBC's number of an isolation level.
    pub(crate) fn level(&self, isolation: Isolation) -> i32 {
        let [committed, repeatable, serializable] = self.levels;
        match isolation {
            Isolation::ReadCommitted => committed,
            Isolation::RepeatableRead => repeatable,
            Isolation::Serializable => serializable,
        }
    }

    /// Kind of an error with that SQLSTATE and text.
    pub(crate) fn kind(&self, state: &str, words: &str) -> ErrorKind {
        if self.conflict_words.iter().any(|conflict| words.contains(conflict)) {
            return ErrorKind::Conflict;
        }
        let mut known = self.states.iter().chain(STATES);
        known.find(|(start, _)| state.starts_with(start)).map_or(ErrorKind::Other, |(_, kind)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::GRAMMAR;

    #[test]
    fn each_scheme_has_its_database() {
        let schemes: Vec<_> = GRAMMAR.schemes.iter().map(|scheme| scheme.name).collect();
        assert_eq!(PRODUCTS.each_ref().map(|product| product.scheme), *schemes);
        assert!(of_scheme("jdbc+oracle").is_none());
    }

    #[test]
    fn the_row_that_took_a_key_is_found_by_h2s_words() {
        let words = "Unique index or primary key violation: \"PUBLIC.CONSTRAINT_1E INDEX PUBLIC.PRIMARY_KEY_1E ON \
                     PUBLIC.HOLDING_SUMMARY(HS_CA_ID, HS_S_SYMB) VALUES ( /* key:29314 */ 43000005664, 'WDH')\"";
        let query = "SELECT count(*) FROM PUBLIC.HOLDING_SUMMARY WHERE _rowid_ = 29314";
        assert_eq!(h2_first_of_key(words).as_deref(), Some(query));
        assert_eq!(h2_first_of_key("Check constraint violation: \"CONSTRAINT_1\""), None);
    }

    #[test]
    fn kinds_follow_from_the_state() {
        let h2 = of_scheme("jdbc+h2").unwrap();
        for (state, kind) in [
            ("40001", ErrorKind::Conflict),
            ("HYT00", ErrorKind::Conflict),
            ("23505", ErrorKind::Duplicate),
            ("23503", ErrorKind::Constraint),
            ("42102", ErrorKind::Other),
            ("", ErrorKind::Other),
        ] {
            assert_eq!(h2.kind(state, "words"), kind, "{state}");
        }
        let monetdb = of_scheme("jdbc+monetdb").unwrap();
        let conflict = "COMMIT: transaction is aborted because of concurrency conflicts, will ROLLBACK instead";
        assert_eq!(monetdb.kind("M0M10", conflict), ErrorKind::Conflict);
        assert_eq!(monetdb.kind("M0M10", "syntax error"), ErrorKind::Other);
        assert_eq!(h2.kind("M0M10", conflict), ErrorKind::Other);
    }
}
