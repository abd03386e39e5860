//! Options and needs that several workloads share.

use crate::options::{OptionKind, WorkloadOption, WorkloadOptions, option};
use bourse_driver::SplitMix;
use bourse_engine::{Capabilities, EachRow, Params, Result, Session, Sql, StatementForm, Value};

/// Option: rows of the table.
pub(crate) const ROWS: WorkloadOption = option!("rows" => OptionKind::Count { min: 1, max: 1_000_000_000 }, "100000",
    "rows of the table");
/// Option: busy threads.
pub(crate) const THREADS: WorkloadOption = option!("threads" => OptionKind::Count { min: 1, max: 1_024 }, "1",
    "threads, one connection each");
/// Option: statements prepared once or parsed each time.
pub(crate) const STATEMENTS: WorkloadOption = option!("statements" => OptionKind::Word(&["prepared", "parsed"]), "prepared",
    "prepare each statement once, or parse it each time (values bound)");

/// Value of the option [`STATEMENTS`].
pub(crate) fn statements(options: &WorkloadOptions) -> StatementForm {
    if options.is(STATEMENTS.name, "parsed") { StatementForm::Parsed } else { StatementForm::Prepared }
}

/// Executes a statement, prepared or parsed, and returns the number of rows that it changed: 0 of a query, whose rows go to `each`.
#[inline]
pub(crate) fn executed(
    session: &mut dyn Session,
    sql: &'static Sql,
    form: StatementForm,
    is_query: bool,
    values: &[Value<'_>],
    each: &mut EachRow<'_>,
) -> Result<u64> {
    match (is_query, form) {
        (true, StatementForm::Prepared) => session.query(sql, Params::of(values), each).map(|()| 0),
        (false, StatementForm::Prepared) => session.execute(sql, Params::of(values)),
        (true, StatementForm::Parsed) => session.query_text(&sql.render(session.dialect()), values, each).map(|()| 0),
        (false, StatementForm::Parsed) => session.execute_text(&sql.render(session.dialect()), values),
    }
}

/// Missing capabilities of an engine for access to records by key.
pub(crate) fn lacking_records(capabilities: &Capabilities, statements: StatementForm) -> Vec<String> {
    let mut lacking = Vec::new();
    if capabilities.records.is_none() {
        lacking.push("it needs records by key".to_owned());
    }
    // The null engine parses nothing but takes every text.
    if statements == StatementForm::Parsed && capabilities.sql.is_none() {
        lacking.push("statements=parsed needs SQL".to_owned());
    }
    lacking
}

/// Index drawn in proportion to the weights.
pub(crate) fn by_weight(random: &mut SplitMix, mut weights: impl Iterator<Item = u64> + Clone) -> usize {
    let mut at = random.below(weights.clone().sum());
    let chosen = weights.position(|weight| {
        let is_here = at < weight;
        at = at.saturating_sub(weight);
        is_here
    });
    chosen.unwrap_or(0)
}
