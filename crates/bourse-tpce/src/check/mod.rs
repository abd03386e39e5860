//! Checks of a TPC-E database by the harness, with the specification's consistency conditions and the reconciliation of a run.
//!
//! | file | content |
//! |---|---|
//! | [`conditions`] | conditions of every database at any time (Clause 7.3 and others) |
//! | [`reconciliation`] | growth that a run must have caused, by what was acknowledged to its users |

pub mod conditions;
pub mod reconciliation;

use crate::workload::{Tpce, size_of};
use bourse_egen::Part;
use bourse_engine::{Result, Session};
use bourse_schema::TradeId;

pub use crate::workload::first_trade;
pub use bourse_oltp::check::{Check, CheckResult, Depth, integrity};

/// Runs every check of a database's state: conditions, row counts, foreign keys. Calls `progress` after each.
///
/// No session should write meanwhile: the checks take a snapshot where the engine gives one.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn check(db: &mut dyn Session, part: Part, progress: &mut dyn FnMut(&CheckResult)) -> Result<Vec<CheckResult>> {
    bourse_oltp::check::check(db, &Tpce, &size_of(part), progress)
}

/// Words for the holes of the conditions' queries on a database whose new trades begin with that number.
pub fn holes(first_trade: TradeId) -> Vec<(&'static str, String)> {
    vec![("first_trade", first_trade.to_string())]
}
