//! Checks of a database: the specification's consistency conditions, further invariants, row counts, foreign keys, and the
//! reconciliation of a run.
//!
//! A check is data: the condition in plain English, and a query for the rows that break it. No row is a pass; otherwise the
//! first few rows are the result's evidence.
//!
//! | file | contents |
//! |---|---|
//! | [`conditions`] | conditions of every database at any time (Clause 7.3 and Bourse's own) |
//! | [`counts`] | row counts that tables must have |
//! | [`schema`] | whether tables, indexes and constraints are the declared ones |
//! | [`contents`], [`lasting`] | whether the rows are those that were generated, and which of them stay |
//! | `before` | checks before a run: schema, row counts, contents |
//! | [`reconciliation`] | changes that a run must have made, by the commits acknowledged to its users |

mod before;
pub mod conditions;
pub mod contents;
pub mod counts;
pub mod lasting;
pub mod reconciliation;
pub mod schema;

pub use before::before_run;
pub use contents::Depth;

use crate::load::Fingerprint;
use bourse_egen::Part;
use bourse_egen::driver::Database;
use bourse_engine::{Access, Engine, EngineError, Isolation, Row, RowExt as _, Session};
use bourse_schema::{Table, TradeId, tables};

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

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
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

impl Checked {
    /// Whether no offence was found; a check that could not be made has none.
    pub fn passed(&self) -> bool {
        self.offences == 0
    }

    /// Result of a check without a query, which found these offences.
    fn found(name: &str, source: &str, words: &str, offences: Vec<String>) -> Self {
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
    fn not_run(name: &str, source: &str, words: &str, why: &str) -> Self {
        let why = why.to_owned();
        Self {
            evidence: vec![format!("not run: {why}")],
            not_run: Some(why),
            ..Self::found(name, source, words, vec![])
        }
    }
}

/// Number of offending rows shown as evidence.
const SHOWN: usize = 10;

/// Runs every check of a database: its schema, its state, and the engine's own check. `progress` is called after each.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn check_all(
    engine: &dyn Engine,
    fingerprint: &Fingerprint,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    let mut session = engine.session()?;
    let schema = schema::check(&mut *session, fingerprint.constraints)?;
    progress(&schema);
    let mut results = vec![schema];
    results.extend(check(&mut *session, fingerprint.part, progress)?);
    contents::check(&mut *session, fingerprint.part, Depth::Full, &mut |checked| {
        progress(&checked);
        results.push(checked);
    })?;
    drop(session);
    let whole = integrity(engine)?;
    progress(&whole);
    results.push(whole);
    Ok(results)
}

/// Runs every check of a database's state: conditions, row counts, foreign keys. `progress` is called after each.
///
/// No session may write meanwhile: the checks take a snapshot where the engine gives one.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn check(
    db: &mut dyn Session,
    part: Part,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    db.begin(Isolation::RepeatableRead, Access::Read)?;
    let done = check_state(db, part, progress);
    db.rollback()?;
    done
}

/// Has the engine check its own data, indexes among them. No session may be writing.
///
/// # Errors
/// The engine's, if the check cannot be started.
pub fn integrity(engine: &dyn Engine) -> Result<Checked, EngineError> {
    const NAME: &str = "integrity";
    const SOURCE: &str = "the engine's own check";
    const WORDS: &str = "the engine finds its data and its indexes whole";
    Ok(match engine.integrity_check()? {
        Some(damage) => Checked::found(NAME, SOURCE, WORDS, damage),
        None => Checked::not_run(NAME, SOURCE, WORDS, "the engine has no check of its own"),
    })
}

/// The first number of a new trade of a database.
pub const fn first_trade(part: Part) -> TradeId {
    Database::of(part.total_customers(), part.scale_factor(), part.days()).first_free_trade()
}

fn check_state(
    db: &mut dyn Session,
    part: Part,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    let mut results = Vec::new();
    let mut note = |checked: Checked| {
        progress(&checked);
        results.push(checked);
    };
    let first_trade = first_trade(part);
    for condition in conditions::CONDITIONS {
        note(condition.run(db, first_trade)?);
    }
    for table in tables::all() {
        note(counts::check(db, table, part)?);
    }
    for table in tables::all() {
        for checked in foreign_keys(db, table)? {
            note(checked);
        }
    }
    Ok(results)
}

impl Check {
    /// Looks for rows that break the condition; `first_trade` is the first number of a new trade.
    ///
    /// # Errors
    /// The engine's.
    pub fn run(&self, db: &mut dyn Session, first_trade: TradeId) -> Result<Checked, EngineError> {
        let sql = db.dialect().fill(self.sql).replace("{first_trade}", &first_trade.to_string());
        offences(db, self.name, self.source, self.words, &sql)
    }
}

/// Looks for rows of a table that refer to a row which does not exist.
fn foreign_keys(db: &mut dyn Session, table: &Table) -> Result<Vec<Checked>, EngineError> {
    let mut results = Vec::new();
    for key in table.foreign_keys {
        let (columns, parent) = (key.columns.join(", "), (key.parent)());
        let name = format!("foreign key {} ({columns})", table.name);
        let words = format!("each row's {columns} names a row of {}", parent.name);
        results.push(offences(db, &name, "Clause 2.2", &words, &bourse_schema::orphans(table, key))?);
    }
    Ok(results)
}

fn offences(db: &mut dyn Session, name: &str, source: &str, words: &str, sql: &str) -> Result<Checked, EngineError> {
    let mut checked = Checked {
        name: name.to_owned(),
        source: source.to_owned(),
        words: words.to_owned(),
        sql: sql.split_whitespace().collect::<Vec<_>>().join(" "),
        offences: 0,
        evidence: Vec::new(),
        not_run: None,
    };
    db.query_text(sql, &[], &mut |row| {
        checked.offences += 1;
        if checked.evidence.len() < SHOWN {
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

/// Compares a number with its required range.
fn number(name: &str, source: &str, words: &str, wanted: std::ops::RangeInclusive<i128>, found: i128) -> Checked {
    let (least, most) = (wanted.start(), wanted.end());
    let wanted_words = match most {
        _ if least == most => format!("{least}"),
        &i128::MAX => format!("at least {least}"),
        most => format!("{least} to {most}"),
    };
    Checked {
        name: name.to_owned(),
        source: source.to_owned(),
        words: words.to_owned(),
        sql: String::new(),
        offences: u64::from(!wanted.contains(&found)),
        evidence: vec![format!("wanted {wanted_words}, found {found}")],
        not_run: None,
    }
}
