//! Settings of a target that the loaded library may lack.

use crate::berkeley;
use crate::connection::SqliteConnection;
use crate::ffi::SqliteLibrary;
use crate::loaded::shown;
use crate::options::{GRAMMAR, MemoryKind, SqliteJournal, SqliteOptions};
use crate::target::{SqlitePlace, SqliteTarget};
use bourse_engine::Result;
use bourse_engine::target::TargetError;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_int};

/// A setting that not every library has.
struct Need {
    option: &'static str,
    /// Whether a target has the setting.
    is_wanted: fn(&SqliteTarget) -> bool,
    /// First version that has it.
    since: c_int,
    /// Compile option that omits it; empty if there is none.
    left_out_by: &'static CStr,
    /// Sets a substitute if the setting was not given; `None` if the setting is only ever given explicitly.
    otherwise: Option<fn(&mut SqliteOptions)>,
}

/// Requirements, in this order: a substitute may have requirements too.
static NEEDS: &[Need] = &[
    Need {
        option: "memory",
        is_wanted: |target| target.place == SqlitePlace::Memory && target.memory_kind() == MemoryKind::Ram,
        since: 3_007_007,
        left_out_by: c"",
        otherwise: Some(|options| {
            options.memory = MemoryKind::Private;
            options.journal = SqliteJournal::Memory;
        }),
    },
    Need {
        option: "memory",
        is_wanted: |target| target.place == SqlitePlace::Memory && target.memory_kind() == MemoryKind::MemDb,
        since: 3_036_000,
        left_out_by: c"OMIT_DESERIALIZE",
        otherwise: None,
    },
    Need {
        option: "memory",
        is_wanted: |target| target.place == SqlitePlace::Memory && target.memory_kind() == MemoryKind::SharedCache,
        since: 3_007_013,
        left_out_by: c"OMIT_SHARED_CACHE",
        otherwise: None,
    },
    Need {
        option: "shared_cache",
        is_wanted: |target| target.options.shared_cache,
        since: 3_007_013,
        left_out_by: c"OMIT_SHARED_CACHE",
        otherwise: None,
    },
    Need {
        option: "journal",
        is_wanted: |target| target.options.journal == SqliteJournal::Wal && target.place != SqlitePlace::Memory,
        since: 3_007_000,
        left_out_by: c"OMIT_WAL",
        otherwise: Some(|options| options.journal = SqliteJournal::Delete),
    },
    Need {
        option: "journal",
        is_wanted: |target| target.options.journal == SqliteJournal::Wal && target.options.has_ram_files(),
        since: 3_007_000,
        left_out_by: c"OMIT_WAL",
        otherwise: Some(|options| options.journal = SqliteJournal::Memory),
    },
    Need {
        option: "stable_plans",
        is_wanted: |target| target.options.stable_plans,
        since: 3_020_000,
        left_out_by: c"",
        otherwise: Some(|options| options.stable_plans = false),
    },
    Need {
        option: "mmap",
        is_wanted: |target| target.options.mmap_bytes > 0,
        since: 3_007_017,
        left_out_by: c"",
        otherwise: None,
    },
];

impl SqliteLibrary {
    /// Compares a target's settings with the abilities of this library: refuses given settings that it lacks, and
    /// replaces defaults that it lacks.
    ///
    /// # Errors
    /// [`TargetError::Library`].
    pub(crate) fn fit(self, target: &mut SqliteTarget, given: &[&'static str]) -> Result<(), TargetError> {
        let refused = |what: &str, why: &str| {
            Err(TargetError::Library(format!("{what} cannot be used with {}: {why}", self.description())))
        };
        let is_berkeley_db = self.is_berkeley_db() && target.place != SqlitePlace::Memory;
        if is_berkeley_db {
            if let Some(option) = given.iter().find(|option| !berkeley::SETTINGS.contains(option)) {
                let why = "Berkeley DB keeps its databases in files its own way";
                return refused(&format!("'{}'", GRAMMAR.written(option, &target.options)), why);
            }
            // What it says of all its databases.
            target.options.journal = SqliteJournal::Delete;
        }
        for need in NEEDS {
            let is_left_out = !need.left_out_by.is_empty() && self.is_compiled_with(need.left_out_by);
            if !(need.is_wanted)(target) || (self.number() >= need.since && !is_left_out) {
                continue;
            }
            match need.otherwise {
                Some(otherwise) if !given.contains(&need.option) => otherwise(&mut target.options),
                _ => {
                    let what = format!("'{}'", GRAMMAR.written(need.option, &target.options));
                    let why = match is_left_out {
                        true => format!("it was compiled with {}", need.left_out_by.to_string_lossy()),
                        false => format!("it needs version {} or later", shown(need.since)),
                    };
                    return refused(&what, &why);
                }
            }
        }
        if let Some(key) = target.options.key {
            if !self.has_keys() {
                return refused("'key'", "it has no sqlite3_key, so it does not encrypt; SQLCipher does");
            }
            // Before anything is opened, since a person may have to be asked for it.
            key.read().map_err(|error| TargetError::Library(error.message().to_owned()))?;
        }
        Ok(())
    }
}

impl SqliteLibrary {
    /// First rows of SQLite's integrity check.
    ///
    /// Version 3.40 reports `NULL value in TABLE.COLUMN` for every row of an intact table without rowid whose key is
    /// not its first columns. Such a row is omitted if the column contains no NULL.
    pub(crate) fn integrity_check(self, connection: &SqliteConnection) -> Result<Vec<String>> {
        const ROWS: usize = 20;
        if !(3_040_000..3_041_000).contains(&self.number()) {
            return connection.lines_of(&format!("PRAGMA integrity_check({ROWS})"));
        }
        let mut found = connection.lines_of("PRAGMA integrity_check(1000000000)")?;
        let mut has_null = BTreeMap::new();
        for row in &found {
            if let Some((table, column)) = null_column(row)
                && !has_null.contains_key(row)
            {
                // `IS NULL` would be taken for false, as the column is declared.
                let sql = format!("SELECT count(*) FROM \"{table}\" WHERE typeof(\"{column}\") = 'null'");
                has_null.insert(row.clone(), connection.text_of(&sql)? != "0");
            }
        }
        found.retain(|row| has_null.get(row).copied().unwrap_or(true));
        found.truncate(ROWS);
        Ok(found)
    }
}

/// Table and column of a row of the integrity check that reports a NULL.
fn null_column(row: &str) -> Option<(&str, &str)> {
    let (table, column) = row.strip_prefix("NULL value in ")?.split_once('.')?;
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_plain(table) && is_plain(column)).then_some((table, column))
}
