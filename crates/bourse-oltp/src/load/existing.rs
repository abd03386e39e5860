//! Content of a target: nothing, something foreign, or a database of Bourse.

use super::fingerprint::{Fingerprint, is_of_another_workload, read_fingerprints};
use crate::workload::Workload;
use bourse_engine::{Engine, ErrorKind, Inventory, Location, Result, RowExt as _, Session, SessionExt as _};
use bourse_schema::Catalog;
use std::fmt;

/// Content of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExistingDatabase {
    /// There is no database.
    Absent,
    /// Something other than a database of Bourse, with the reason.
    Foreign(String),
    /// A load that did not end.
    Unfinished,
    /// A database of Bourse with another fingerprint.
    Differs {
        /// Fingerprint of the database found.
        found: Fingerprint,
        /// One sentence for each difference.
        differences: Vec<String>,
    },
    /// The requested database.
    Matches(FoundDatabase),
}

/// A database of Bourse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDatabase {
    /// Fingerprint of the database.
    pub fingerprint: Fingerprint,
    /// Growth of the [trace](Workload::trace) of earlier runs; 0 if there were none.
    pub gained: u64,
    /// Words that follow this number.
    pub what: &'static str,
}

impl FoundDatabase {
    /// Changes that earlier runs have made, as "37 trades added"; `None` of a fresh database.
    pub fn used(&self) -> Option<String> {
        (self.gained > 0).then(|| format!("{} {}", self.gained, self.what))
    }
}

impl fmt::Display for ExistingDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => write!(f, "there is no database"),
            Self::Foreign(why) => write!(f, "not a database of Bourse: {why}"),
            Self::Unfinished => write!(f, "a database of bourse whose loading did not end"),
            Self::Differs { differences, .. } => {
                write!(f, "a database of bourse made of something else: {}", differences.join("; "))
            }
            Self::Matches(found) => match found.used() {
                None => write!(f, "a fresh database"),
                Some(changes) => write!(f, "used by earlier runs: {changes}"),
            },
        }
    }
}

/// Examines an engine's target and compares it with the wanted database.
///
/// # Errors
/// The engine's, if the target cannot be examined.
pub fn examine(engine: &dyn Engine, workload: &dyn Workload, wanted: &Fingerprint) -> Result<ExistingDatabase> {
    Ok(identify(engine, workload)?.against(workload, wanted))
}

impl ExistingDatabase {
    /// Compares a matching database with the wanted one: [`ExistingDatabase::Differs`] if their fingerprints differ.
    #[must_use]
    pub fn against(self, workload: &dyn Workload, wanted: &Fingerprint) -> Self {
        match self {
            Self::Matches(found) if found.fingerprint != *wanted => {
                let differences = wanted.differences(workload, &found.fingerprint);
                Self::Differs { found: found.fingerprint, differences }
            }
            other => other,
        }
    }
}

/// Identifies the content of an engine's target, whatever its fingerprint: never [`ExistingDatabase::Differs`]. Changes no setting of the
/// database.
///
/// # Errors
/// The engine's, if the target cannot be examined.
pub fn identify(engine: &dyn Engine, workload: &dyn Workload) -> Result<ExistingDatabase> {
    // First of all: a foreign database must not even be opened.
    if let Some(why) = engine.foreign()? {
        return Ok(ExistingDatabase::Foreign(why));
    }
    let Some(looked) = engine.for_inspection()? else { return identify_opened(engine, workload) };
    let existing = identify_opened(looked.engine.as_ref(), workload)?;
    (looked.unchanged)()?;
    Ok(existing)
}

fn identify_opened(engine: &dyn Engine, workload: &dyn Workload) -> Result<ExistingDatabase> {
    if !engine.exists()? {
        return Ok(ExistingDatabase::Absent);
    }
    let mut session = engine.session()?;
    let inventory = Inventory::read(&mut *session)?;
    if let Some(why) = inventory.as_ref().and_then(Inventory::foreign) {
        return Ok(ExistingDatabase::Foreign(why));
    }
    let fingerprints = match read_fingerprints(&mut *session, workload) {
        Ok(fingerprints) => fingerprints,
        // An engine says that there is no such table as it says anything that it cannot do.
        Err(error) if matches!(error.kind(), ErrorKind::Other | ErrorKind::Unsupported) => {
            if is_of_another_workload(&mut *session) {
                return Ok(ExistingDatabase::Foreign("it has the tables of another workload".to_owned()));
            }
            let made = match &inventory {
                Some(inventory) => {
                    let made = inventory.made();
                    made.iter().find(|it| !it.contains(" bourse_")).or(made.first()).cloned()
                }
                // Bourse marks all that it makes at such an engine, and nothing there is foreign.
                None => Some(a_table(&mut *session)),
            };
            if let Some(first) = made {
                let removes = match engine.location() {
                    Location::Files(_) => "`bourse data rm`",
                    _ => "DROP DATABASE in the server's own client",
                };
                return Ok(ExistingDatabase::Foreign(format!(
                    "another command of Bourse made it, with {first}: {removes} removes it"
                )));
            }
            let (name, words) = (workload.name(), error.message());
            return Ok(ExistingDatabase::Foreign(format!(
                "there is a database already, and `{name} load` did not make it: {words}"
            )));
        }
        Err(error) => return Err(error),
    };
    let fingerprint = match fingerprints.into_iter().next() {
        None => return Ok(ExistingDatabase::Unfinished),
        Some(Err(why)) => return Ok(ExistingDatabase::Foreign(why)),
        Some(Ok(fingerprint)) => fingerprint,
    };
    let trace = workload.trace(&fingerprint.size);
    let now = match session.text_value::<u64>(trace.sql) {
        // A table is missing, which the check of the schema reports.
        Err(error) if matches!(error.kind(), ErrorKind::Other | ErrorKind::Unsupported) => None,
        counted => counted?,
    };
    let gained = now.unwrap_or(0).saturating_sub(trace.initial);
    Ok(ExistingDatabase::Matches(FoundDatabase { fingerprint, gained, what: trace.gained }))
}

/// A table of the database, by its name if the engine's catalog is known.
fn a_table(session: &mut dyn Session) -> String {
    let (Catalog::Statements(query) | Catalog::Parts(query)) = session.dialect().catalog else {
        return "its tables".to_owned();
    };
    let mut tables: Vec<String> = session.text_rows(query, |row| row.get(1)).unwrap_or_default();
    tables.sort_unstable();
    tables.first().map_or_else(|| "its tables".to_owned(), |name| format!("table {name}"))
}
