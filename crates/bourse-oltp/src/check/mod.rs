//! Checks of a database: the workload's conditions, row counts, foreign keys, contents, schema, and the reconciliation of a run.
//!
//! A check is data: what must hold as a sentence, and a query for the rows that break it. None is a pass; otherwise the first
//! few are in the result as evidence.
//!
//! | file | content |
//! |---|---|
//! | `counts` | number of rows of the tables |
//! | [`schema`] | tables, indexes and constraints against the declared ones |
//! | [`contents`] | rows against those that were generated |
//! | `before` | checks before a run: schema, row counts, contents |
//! | [`ledger`] | growth of a database against what was acknowledged to a run's users |
//! | [`recorded`] | checks as the run file has them, timed |

mod before;
pub mod contents;
mod counts;
pub mod ledger;
pub mod recorded;
pub mod schema;

pub use before::before_run;
pub use contents::Depth;

use crate::load::Fingerprint;
use crate::workload::{Size, Workload};
use bourse_engine::server_wait::Interruption;
use bourse_engine::{Access, Engine, Isolation, Result, Row, RowExt as _, Session, one_line};
use bourse_schema::Table;

/// A condition that a database must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// Short name.
    pub name: &'static str,
    /// Source: a clause of the specification, or the rule that it follows from.
    pub source: &'static str,
    /// The condition, as a sentence.
    pub words: &'static str,
    /// A query for the rows that break it.
    pub sql: &'static str,
}

/// Conditions: name, source, sentence and query of each.
#[macro_export]
macro_rules! conditions {
    ($($name:literal, $source:expr, $words:literal, $sql:expr;)+) => {
        [$($crate::check::Check { name: $name, source: $source, words: $words, sql: $sql }),+]
    };
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// Short name.
    pub name: String,
    /// Source: a clause of the specification, or the rule that it follows from.
    pub source: String,
    /// The condition, as a sentence.
    pub words: String,
    /// The query that looked for offences; empty if numbers are compared.
    pub sql: String,
    /// Number of offences: rows that break the condition, or 1 for a number other than the required one.
    pub offences: u64,
    /// The first few of them, or the numbers compared.
    pub evidence: Vec<String>,
    /// Reason why the check could not be made; then there are no offences.
    pub not_run: Option<String>,
}

impl CheckResult {
    /// Whether no offence was found; a check that could not be made has none.
    pub fn passed(&self) -> bool {
        self.offences == 0
    }

    /// Result of a check without a query, which found these offences.
    pub fn of_offences(name: &str, source: &str, words: &str, offences: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            words: words.to_owned(),
            sql: String::new(),
            offences: offences.len() as u64,
            evidence: if offences.is_empty() { vec!["nothing found".to_owned()] } else { offences },
            not_run: None,
        }
    }

    /// A check that could not be made.
    pub fn not_run(name: &str, source: &str, words: &str, why: &str) -> Self {
        let why = why.to_owned();
        Self {
            evidence: vec![format!("not run: {why}")],
            not_run: Some(why),
            ..Self::of_offences(name, source, words, vec![])
        }
    }
}

/// Number of offending rows shown as evidence.
const MAX_SHOWN_ROWS: usize = 10;

/// Runs every check of a database: its schema, its state, its lasting rows, and the engine's own check. `progress` is called after each.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn check_all(
    engine: &dyn Engine,
    workload: &dyn Workload,
    fingerprint: &Fingerprint,
    depth: Depth,
    progress: &mut dyn FnMut(&CheckResult),
) -> Result<Vec<CheckResult>> {
    collected(progress, &mut |note| {
        let mut session = engine.session()?;
        after_schema(schema::check(&mut *session, workload, fingerprint.constraints)?, note, &mut |note| {
            in_snapshot(&mut *session, |db| check_state(db, workload, &fingerprint.size, note))?;
            contents::check(&mut *session, workload, &fingerprint.size, depth, note)
        })?;
        drop(session);
        note(integrity(engine)?)
    })
}

/// Receiver of results, which fails if no more checks are to be made.
pub type Note<'n> = dyn FnMut(CheckResult) -> Result<()> + 'n;

/// Checks that pass each result to their argument.
type Checks<'c> = dyn FnMut(&mut Note<'_>) -> Result<()> + 'c;

/// Reason that checks were not all made.
const INTERRUPTED: &str = "the database was not checked to the end";

/// Collects the results that checks pass to their argument; `progress` is called after each. An interruption that comes meanwhile
/// ends them. After one they are made all the same, for what was measured to count.
fn collected(progress: &mut dyn FnMut(&CheckResult), checks: &mut Checks<'_>) -> Result<Vec<CheckResult>> {
    let (mut results, interruption) = (Vec::new(), Interruption::from_now());
    checks(&mut |checked| {
        progress(&checked);
        results.push(checked);
        interruption.check(INTERRUPTED)
    })?;
    Ok(results)
}

/// Reports the check of the schema, then makes others. If it has failed, an error of theirs only follows from it: a query for a
/// table that is missing.
fn after_schema(schema: CheckResult, note: &mut Note<'_>, others: &mut Checks<'_>) -> Result<()> {
    let holds = schema.passed();
    note(schema)?;
    others(note).or_else(|error| if holds { Err(error) } else { Ok(()) })
}

/// Runs every check of a database's state: conditions, row counts, foreign keys. `progress` is called after each.
///
/// No session may write meanwhile: the checks take a snapshot where the engine gives one.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn check(
    db: &mut dyn Session,
    workload: &dyn Workload,
    size: &Size,
    progress: &mut dyn FnMut(&CheckResult),
) -> Result<Vec<CheckResult>> {
    collected(progress, &mut |note| in_snapshot(db, |db| check_state(db, workload, size, note)))
}

/// Reads within one transaction.
///
/// # Errors
/// The engine's.
pub fn in_snapshot<T>(db: &mut dyn Session, read: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
    db.begin(Isolation::RepeatableRead, Access::Read)?;
    let done = read(db);
    db.rollback()?;
    done
}

/// Has the engine check its own data, indexes among them. No session may be writing.
///
/// # Errors
/// The engine's, if the check cannot be started.
pub fn integrity(engine: &dyn Engine) -> Result<CheckResult> {
    const NAME: &str = "integrity";
    const SOURCE: &str = "the engine's own check";
    const WORDS: &str = "the engine finds its data and its indexes whole";
    Ok(match engine.integrity_check()? {
        Some(damage) => CheckResult::of_offences(NAME, SOURCE, WORDS, damage),
        None => CheckResult::not_run(NAME, SOURCE, WORDS, "the engine has no check of its own"),
    })
}

fn check_state(db: &mut dyn Session, workload: &dyn Workload, size: &Size, note: &mut Note<'_>) -> Result<()> {
    let holes = workload.holes(size);
    for condition in workload.conditions() {
        note(condition.run(db, &holes)?)?;
    }
    for table in workload.tables() {
        note(counts::check(db, workload, table, size)?)?;
    }
    for table in workload.tables() {
        for checked in foreign_keys(db, table, workload.source_of_schema())? {
            note(checked)?;
        }
    }
    Ok(())
}

impl Check {
    /// Looks for rows that break the condition; `holes` are the words for the holes of its query.
    ///
    /// # Errors
    /// The engine's.
    pub fn run(&self, db: &mut dyn Session, holes: &[(&str, String)]) -> Result<CheckResult> {
        let sql = db.dialect().fill(self.sql);
        let sql = holes.iter().fold(sql, |sql, (hole, word)| sql.replace(&format!("{{{hole}}}"), word));
        offences(db, self.name, self.source, self.words, &sql)
    }
}

/// Looks for rows of a table that refer to a row which does not exist.
fn foreign_keys(db: &mut dyn Session, table: &Table, source: &str) -> Result<Vec<CheckResult>> {
    let mut results = Vec::new();
    for key in table.foreign_keys {
        let (columns, parent) = (key.columns.join(", "), (key.parent)());
        let name = format!("foreign key {} ({columns})", table.name);
        let words = format!("each row's {columns} names a row of {}", parent.name);
        results.push(offences(db, &name, source, &words, &bourse_schema::orphans(table, key))?);
    }
    Ok(results)
}

/// Looks for rows that break a condition.
///
/// # Errors
/// The engine's.
pub fn offences(db: &mut dyn Session, name: &str, source: &str, words: &str, sql: &str) -> Result<CheckResult> {
    let mut checked = CheckResult {
        name: name.to_owned(),
        source: source.to_owned(),
        words: words.to_owned(),
        sql: one_line(sql),
        offences: 0,
        evidence: Vec::new(),
        not_run: None,
    };
    db.query_text(sql, &[], &mut |row| {
        checked.offences += 1;
        if checked.evidence.len() < MAX_SHOWN_ROWS {
            checked.evidence.push(shown(row));
        }
        Ok(())
    })?;
    Ok(checked)
}

fn shown(row: &dyn Row) -> String {
    let values: Vec<_> = (0..row.columns()).map(|index| row.value(index).to_string()).collect();
    values.join(", ")
}

/// Compares a number with its bounds.
pub fn number(
    name: &str,
    source: &str,
    words: &str,
    wanted: std::ops::RangeInclusive<i128>,
    found: i128,
) -> CheckResult {
    let (least, most) = (wanted.start(), wanted.end());
    let wanted_words = match most {
        _ if least == most => format!("{least}"),
        &i128::MAX => format!("at least {least}"),
        most => format!("{least} to {most}"),
    };
    CheckResult {
        name: name.to_owned(),
        source: source.to_owned(),
        words: words.to_owned(),
        sql: String::new(),
        offences: u64::from(!wanted.contains(&found)),
        evidence: vec![format!("wanted {wanted_words}, found {found}")],
        not_run: None,
    }
}
