//! The check of a state: recovered by SQLite, then compared with every state that the database was in.

use super::work::{WorkloadState, load, tables};
use bourse_crash::{Directory, Hash, RecoveryCheck, RecoveryOutcome};
use bourse_engine::{EachRow, Engine as _, EngineError, Params, Sql, Value};
use bourse_engine_sqlite::power::{ImageDatabase, recover};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

/// Name of the database file.
pub(super) const DATABASE: &str = "db";

/// Queries whose rows are the contents of the database.
static CONTENTS: LazyLock<Vec<Sql>> = LazyLock::new(|| {
    let query = |table: &bourse_schema::Table| {
        let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        format!("SELECT {} FROM {} ORDER BY {}", columns.join(", "), table.name, table.key.join(", "))
    };
    tables().map(|table| Sql::new(Box::leak(query(table).into_boxed_str()))).collect()
});

/// Hash of all rows of the database.
fn digest(run: &mut dyn FnMut(&'static Sql, &mut EachRow<'_>) -> Result<(), EngineError>) -> Result<u64, EngineError> {
    let mut hasher = DefaultHasher::new();
    for (sql, table) in CONTENTS.iter().zip(tables()) {
        table.name.hash(&mut hasher);
        let columns = table.columns.len();
        run(sql, &mut |row| {
            for column in 0..columns {
                match row.value(column) {
                    Value::Null => 0_u8.hash(&mut hasher),
                    Value::Int(number) => (1_u8, number).hash(&mut hasher),
                    Value::Text(text) => (2_u8, text).hash(&mut hasher),
                    other => (3_u8, format!("{other:?}")).hash(&mut hasher),
                }
            }
            Ok(())
        })?;
    }
    Ok(hasher.finish())
}

/// Contents after each commit of the workload, taken from an undisturbed database in memory.
#[derive(Debug, Clone)]
pub(super) struct CommitHistory {
    /// Number of commits, by the digest of the contents.
    commits: HashMap<u64, u64>,
}

impl CommitHistory {
    /// History of a workload's first commits.
    pub(super) fn of(seed: u64, commits: u64) -> Result<Self, EngineError> {
        let engine = bourse_engine_sqlite::open("sqlite::memory:?foreign_keys=off").expect("a target that exists");
        let mut session = engine.session()?;
        load(&mut *session)?;
        let mut work = WorkloadState::new(seed);
        let mut known = HashMap::new();
        for number in 0..=commits {
            if number > 0 {
                work.commit(&mut *session)?;
            }
            known.insert(digest(&mut |sql, each| session.query(sql, Params::NONE, each))?, number);
        }
        debug_assert_eq!(known.len() as u64, commits + 1, "each commit changes something");
        Ok(Self { commits: known })
    }

    /// History of a load in place of the database after that many commits: 0 for the old contents, 1 for the loaded ones.
    pub(super) fn of_load(seed: u64, commits: u64) -> Result<Self, EngineError> {
        let mut known = HashMap::new();
        for (digest, number) in Self::of(seed, commits)?.commits {
            match number {
                0 => known.insert(digest, 1),
                last if last == commits => known.insert(digest, 0),
                _ => None,
            };
        }
        Ok(Self { commits: known })
    }
}

/// Recovery of states with SQLite. Equal databases are checked only once.
#[derive(Debug)]
pub(super) struct SqliteCheck {
    history: CommitHistory,
    /// Whether a missing database, or one without tables, is the state before the first commit.
    may_be_missing: bool,
    known: HashMap<Hash, RecoveryOutcome>,
}

impl SqliteCheck {
    pub(super) fn new(history: CommitHistory, may_be_missing: bool) -> Self {
        Self { history, may_be_missing, known: HashMap::new() }
    }

    fn contents(&self, recovered: &Directory) -> Result<RecoveryOutcome, EngineError> {
        let corrupted = |found: String| Ok(RecoveryOutcome::Corrupted { found: found.into() });
        let database = ImageDatabase::open(recovered, DATABASE)?;
        let damage = database.damage()?;
        if let Some(first) = damage.first() {
            return corrupted(format!("integrity check: {first}"));
        }
        let digest = digest(&mut |sql, each| database.query(sql.text(), each))?;
        match self.history.commits.get(&digest) {
            Some(commits) => Ok(RecoveryOutcome::Whole { commits: *commits }),
            None => corrupted("contents that the database never had after a commit".to_owned()),
        }
    }

    fn examine(&mut self, state: &Directory) -> Result<RecoveryOutcome, EngineError> {
        let mut recovered = recover(state, DATABASE)?;
        // A log that could not be merged into the database belongs to the state; other files do not matter.
        recovered.files.retain(|name, _| name.starts_with(DATABASE) && !name.ends_with("-loading"));
        let hash = recovered.hash();
        if let Some(outcome) = self.known.get(&hash) {
            return Ok(outcome.clone());
        }
        let outcome = self.contents(&recovered)?;
        self.known.insert(hash, outcome.clone());
        Ok(outcome)
    }
}

impl RecoveryCheck for SqliteCheck {
    fn check(&mut self, state: &Directory) -> RecoveryOutcome {
        match state.files.get(DATABASE) {
            Some(file) if file.size() > 0 => {}
            _ if self.may_be_missing => return RecoveryOutcome::Whole { commits: 0 },
            _ => return RecoveryOutcome::Corrupted { found: "the database file is missing or empty".into() },
        }
        self.examine(state).unwrap_or_else(|error| RecoveryOutcome::Corrupted { found: error.to_string().into() })
    }
}
