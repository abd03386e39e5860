//! Content of a target: nothing, something foreign, or a database of Bourse.

use super::fingerprint::{Fingerprint, read_fingerprints};
use bourse_engine::{Engine, EngineError, ErrorKind, Inventory, RowExt as _};
use bourse_schema::{TableRow as _, TradeId, tables};
use std::fmt;

/// Content of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existing {
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
    Matches(Found),
}

/// A database of Bourse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Fingerprint of the database.
    pub fingerprint: Fingerprint,
    /// Trades it has now.
    pub trades: u64,
}

impl Found {
    /// Trades that were loaded.
    pub fn initial_trades(&self) -> u64 {
        let part = self.fingerprint.part;
        (part.trades_per_load_unit() * part.load_units()) as u64
    }

    /// Trades gained in earlier runs, canceled ones included.
    pub fn gained(&self) -> u64 {
        self.trades.saturating_sub(self.initial_trades())
    }

    /// The first number after those of the initial trades: new trades begin there, and Trade-Cleanup looks for unfinished
    /// ones from there.
    pub fn first_free_trade(&self) -> TradeId {
        self.fingerprint.database().first_free_trade()
    }
}

impl fmt::Display for Existing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => write!(f, "there is no database"),
            Self::Foreign(why) => write!(f, "not a database of Bourse: {why}"),
            Self::Unfinished => write!(f, "a database of bourse whose loading did not end"),
            Self::Differs { differences, .. } => {
                write!(f, "a database of bourse made of something else: {}", differences.join("; "))
            }
            Self::Matches(found) => match found.gained() {
                0 => write!(f, "a fresh database"),
                gained => write!(f, "a database that earlier runs have added {gained} trades to"),
            },
        }
    }
}

/// Examines an engine's target and compares it with the wanted database.
///
/// # Errors
/// The engine's, if it cannot even be queried.
pub fn examine(engine: &dyn Engine, wanted: &Fingerprint) -> Result<Existing, EngineError> {
    Ok(identify(engine)?.against(wanted))
}

impl Existing {
    /// Compares a matching database with the wanted one: [`Existing::Differs`] if their fingerprints differ.
    #[must_use]
    pub fn against(self, wanted: &Fingerprint) -> Self {
        match self {
            Self::Matches(found) if found.fingerprint != *wanted => {
                let differences = wanted.differences(&found.fingerprint);
                Self::Differs { found: found.fingerprint, differences }
            }
            other => other,
        }
    }
}

/// Identifies the content of an engine's target, whatever its fingerprint: never [`Existing::Differs`]. Changes no setting of the
/// database.
///
/// # Errors
/// The engine's, if it cannot even be queried.
pub fn identify(engine: &dyn Engine) -> Result<Existing, EngineError> {
    // First of all: a foreign database must not even be opened.
    if let Some(why) = engine.foreign()? {
        return Ok(Existing::Foreign(why));
    }
    let Some(looked) = engine.for_a_look()? else { return identify_opened(engine) };
    let existing = identify_opened(looked.engine.as_ref())?;
    (looked.unchanged)()?;
    Ok(existing)
}

fn identify_opened(engine: &dyn Engine) -> Result<Existing, EngineError> {
    if !engine.exists()? {
        return Ok(Existing::Absent);
    }
    let mut session = engine.session()?;
    if let Some(why) = Inventory::read(&mut *session)?.and_then(|inventory| inventory.foreign()) {
        return Ok(Existing::Foreign(why));
    }
    let fingerprints = match read_fingerprints(&mut *session) {
        Ok(fingerprints) => fingerprints,
        // An engine says that there is no such table as it says anything that it cannot do.
        Err(error) if matches!(error.kind(), ErrorKind::Other | ErrorKind::Unsupported) => {
            let words = error.message();
            return Ok(Existing::Foreign(format!(
                "there is a database already, and `tpce load` did not make it: {words}"
            )));
        }
        Err(error) => return Err(error),
    };
    let fingerprint = match fingerprints.into_iter().next() {
        None => return Ok(Existing::Unfinished),
        Some(Err(why)) => return Ok(Existing::Foreign(why)),
        Some(Ok(fingerprint)) => fingerprint,
    };
    let mut trades = 0;
    session.query_text(&format!("SELECT count(*) FROM {}", tables::Trade::NAME), &[], &mut |row| {
        trades = row.get(0)?;
        Ok(())
    })?;
    Ok(Existing::Matches(Found { fingerprint, trades }))
}
