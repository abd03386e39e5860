//! Frames as routines of the server: if a session [has them](bourse_engine::Session::has_routines), a frame of several
//! statements is one call.
//!
//! A routine is made of the frame's own statements. It computes with their rows as the frame does, so that the outputs are
//! equal; `verify` compares them. Transactions still begin and end by the session, and the harness makes the same decisions
//! between frames. Frames of one statement have no routine, and neither has Data-Maintenance, which runs once a minute.
//!
//! | file | transactions |
//! |---|---|
//! | `reads` | Customer-Position, Security-Detail, Trade-Status |
//! | `lookups` | Trade-Lookup |
//! | `updates` | Trade-Update |
//! | `orders` | Trade-Order |
//! | `results` | Trade-Result |
//! | `market` | Market-Feed, Trade-Cleanup |

pub(super) mod lookups;
pub(super) mod market;
pub(super) mod orders;
pub(super) mod reads;
pub(super) mod results;
pub(super) mod updates;

use super::FrameError;
use super::rows::FromRow;
use bourse_engine::{EachFound, EngineError, ErrorKind, Params, Result, Routine, Row, Session, Sql, Value};

/// All of them.
pub(super) static ALL: &[&Routine] = &[
    &lookups::BY_ID,
    &lookups::OF_ACCOUNT,
    &lookups::IN_SECURITY,
    &lookups::HOLDINGS,
    &market::FEED,
    &market::CLEANUP,
    &orders::ESTIMATE,
    &orders::NEW_ORDER,
    &reads::CUSTOMER_POSITION,
    &reads::SECURITY_DETAIL,
    &reads::TRADE_STATUS,
    &results::MOVE_HOLDINGS,
    &results::TAX_GAIN,
    &results::COMPLETE_TRADE,
    &results::SETTLE_TRADE,
    &updates::EXECUTORS,
    &updates::CASH_TYPES,
    &updates::CASH_NAMES,
];

/// The statements that routines alone are made of.
pub(super) static STATEMENTS: &[&[&Sql]] = &[lookups::STATEMENTS, reads::STATEMENTS, updates::STATEMENTS];

/// Calls a routine.
fn call(
    db: &mut dyn Session,
    routine: &'static Routine,
    params: &[Value<'_>],
    each: &mut EachFound<'_>,
) -> Result<(), FrameError> {
    Ok(db.call(routine, Params::of(params), each)?)
}

/// Adds a row to a list.
#[inline]
fn add<T: FromRow>(list: &mut Vec<T>, row: &dyn Row) -> Result<()> {
    let next = list.len();
    list.resize_with(next + 1, T::default);
    list[next].read(row)
}

/// The first row of a set.
fn keep<T: FromRow>(kept: &mut Option<T>, row: &dyn Row) -> Result<()> {
    match kept {
        None => kept.insert(T::default()).read(row),
        Some(_) => Ok(()),
    }
}

/// The single row that a routine makes of its variables.
fn made<T: FromRow>(kept: Option<T>, routine: &Routine) -> Result<T, FrameError> {
    kept.ok_or_else(|| FrameError::rows(routine.sql(), 1, 0))
}

/// Error of a set that the routine does not have.
#[cold]
fn no_such_set(set: usize) -> Result<()> {
    Err(EngineError::new(ErrorKind::Other, format!("the routine has no set {set}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::Language;
    use std::collections::BTreeSet;

    static WORDS: Language = Language {
        dialect: &bourse_schema::Dialect::STANDARD,
        parameter: |domain| (bourse_schema::Dialect::STANDARD.physical)(domain),
        set: "",
        rows: "ROWS {number} {sql};",
        clear: "",
        each: "EACH {row} {sql}",
        end_each: "END EACH",
        declare_row: "",
        count: "COUNT {variable};",
        check_one: "ONE;",
    };

    /// Statements in a routine are passed names and numbers alone, so that no parameter is left over.
    #[test]
    fn every_routine_is_whole() {
        let names: BTreeSet<&str> = ALL.iter().map(|routine| routine.name()).collect();
        assert_eq!((names.len(), ALL.len()), (18, 18));
        for routine in ALL {
            let body = routine.body(&WORDS);
            assert!(!body.contains(['?', '{', '$']), "{body}");
            for name in body.split(|it: char| !it.is_ascii_alphanumeric() && it != '_') {
                let is_named = name.starts_with("p_") || name.starts_with("v_");
                let declared = format!("{}, {}", routine.parameters(&WORDS), routine.declarations(", ", &WORDS));
                assert!(!is_named || declared.contains(&format!("{name} ")), "{name} in {}", routine.name());
            }
        }
    }

    #[test]
    fn statements_of_routines_are_those_of_the_frames_or_listed() {
        let frames = super::super::Transaction::ALL.iter().flat_map(|kind| kind.statements().iter().copied());
        let shared = super::super::kind::shared_statements();
        let own = STATEMENTS.iter().flat_map(|list| list.iter().copied());
        let known: BTreeSet<&str> = frames.chain(shared).chain(own).map(Sql::text).collect();
        for sql in ALL.iter().flat_map(|routine| routine.statements()) {
            assert!(known.contains(sql.text()), "{}", sql.text());
        }
    }
}
