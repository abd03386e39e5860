//! The first difference, as a report: table or output, row, both values, the statement and the transaction's inputs.

use super::fields::{FieldDifference, first_difference};
use super::lockstep::VerifyError;
use super::subject::OutputValue;
use super::{Cell, Performance, RowKey, Statement, Step, Subject};
use bourse_schema::Table;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Kind of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferenceKind {
    /// A field of the transaction's output.
    Output(FieldDifference),
    /// One of the two failed, or both in different ways.
    Failure {
        /// Error of the first subject; `None` if it did not fail.
        first: Option<String>,
        /// Value of the second subject.
        second: Option<String>,
    },
    /// A message sent to the sequence of transactions.
    Sent(FieldDifference),
    /// A value of a row.
    Column {
        /// The row.
        key: RowKey,
        /// The column.
        column: &'static str,
        /// Value of the first subject.
        first: String,
        /// Value of the second subject.
        second: String,
    },
    /// A row that only one of the two has.
    Row {
        /// The row.
        key: RowKey,
        /// Whether the row is in the first subject, and missing in the second.
        in_first: bool,
    },
    /// Rows with the same key, more in one than in the other.
    Count {
        /// Definition of the table.
        table: &'static Table,
    },
}

/// The first difference between two subjects.
#[derive(Debug, Clone)]
pub struct Difference<R> {
    /// The transaction; `None` if the databases were different before the first.
    pub step: Option<Step<R>>,
    /// Whether this transaction made the difference; if not, it or one since the tables were last compared.
    pub exact: bool,
    /// The two subjects' names.
    pub subjects: [String; 2],
    /// The kind of the difference.
    pub what: DifferenceKind,
    /// The statement on either side that wrote or read the value, if known.
    pub statements: [Option<Statement>; 2],
}

impl<R: Clone> Difference<R> {
    /// Difference between the first subject and subject `other` after a transaction.
    pub(super) fn new(step: &Step<R>, subjects: &[Box<dyn Subject<R>>], other: usize, what: DifferenceKind) -> Self {
        let statements = [&subjects[0], &subjects[other]].map(|subject| what.statement(subject.trace()));
        Self { statements, ..Self::of_tables(Some(step), subjects, other, what) }.exactly()
    }

    /// Difference between tables, after a transaction or before the first.
    pub(super) fn of_tables(
        step: Option<&Step<R>>,
        subjects: &[Box<dyn Subject<R>>],
        other: usize,
        what: DifferenceKind,
    ) -> Self {
        let names = [&subjects[0], &subjects[other]].map(|subject| subject.name().to_owned());
        Self { step: step.cloned(), exact: false, subjects: names, what, statements: [None, None] }
    }

    fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }
}

impl DifferenceKind {
    /// The last statement of a trace that wrote the row, or that returned the value.
    fn statement(&self, trace: &[Statement]) -> Option<Statement> {
        let found = match self {
            Self::Column { key, .. } | Self::Row { key, .. } => {
                trace.iter().rev().find(|ran| writes(ran.sql, key.table))
            }
            Self::Count { table } => trace.iter().rev().find(|ran| writes(ran.sql, table)),
            Self::Output(field) | Self::Sent(field) => {
                let values: Vec<_> = [&field.first, &field.second].into_iter().flatten().map(String::as_str).collect();
                trace.iter().rev().find(|ran| ran.rows.iter().flatten().any(|cell| values.contains(&cell.as_str())))
            }
            Self::Failure { .. } => trace.last(),
        };
        found.cloned()
    }
}

fn writes(sql: &str, table: &Table) -> bool {
    let mut words = sql.split(|character: char| !(character == '_' || character.is_ascii_alphanumeric()));
    let write = words.by_ref().find(|word| !word.is_empty()).is_some_and(|word| {
        ["insert", "update", "delete", "replace"].iter().any(|verb| verb.eq_ignore_ascii_case(word))
    });
    write && words.any(|word| word.eq_ignore_ascii_case(table.name))
}

/// Finds the difference between two performances of a transaction.
pub(super) fn between_outcomes(first: &Performance, second: &Performance) -> Option<DifferenceKind> {
    match (&first.outcome, &second.outcome) {
        (Ok(a), Ok(b)) if a == b => (),
        (Ok(OutputValue { output: a, .. }), Ok(OutputValue { output: b, .. })) => {
            let unseen = || FieldDifference { path: "status".to_owned(), first: None, second: None };
            return Some(DifferenceKind::Output(first_difference(a, b).unwrap_or_else(unseen)));
        }
        // Engines put the same refusal in different words.
        (Err(_), Err(_)) => (),
        (a, b) => return Some(DifferenceKind::Failure { first: a.clone().err(), second: b.clone().err() }),
    }
    let list = |sent: &[Value]| Value::Array(sent.to_vec());
    if first.sent == second.sent {
        return None;
    }
    first_difference(&list(&first.sent), &list(&second.sent)).map(DifferenceKind::Sent)
}

/// Finds the difference between two rows of one key.
pub(super) fn between_rows(key: &RowKey, first: Option<&[Cell]>, second: Option<&[Cell]>) -> Option<DifferenceKind> {
    match (first, second) {
        (None, None) => None,
        (Some(first), Some(second)) => {
            let at = first.iter().zip(second).position(|(a, b)| a != b)?;
            let column = &key.table.columns[at];
            let shown = |cell: &Cell| cell.shown(column.column_type).to_string();
            let (first, second) = (shown(&first[at]), shown(&second[at]));
            Some(DifferenceKind::Column { key: key.clone(), column: column.name, first, second })
        }
        (first, _) => Some(DifferenceKind::Row { key: key.clone(), in_first: first.is_some() }),
    }
}

/// Finds the first difference, by key, between the first subject's rows of a table and those of another.
pub(super) fn between_tables<R>(
    subjects: &mut [Box<dyn Subject<R>>],
    other: usize,
    table: &'static Table,
) -> Result<DifferenceKind, VerifyError> {
    let mut rows: [BTreeMap<Vec<Cell>, Vec<Cell>>; 2] = Default::default();
    for (rows, at) in rows.iter_mut().zip([0, other]) {
        let subject = &mut subjects[at];
        let kept = subject.each_row(table, &mut |row| {
            rows.insert(RowKey::of(table, row).key, row.to_vec());
        });
        kept.map_err(|cause| VerifyError::rows(subject.name(), cause))?;
    }
    let [first, second] = &rows;
    let mut keys: Vec<_> = first.keys().chain(second.keys()).collect();
    keys.sort_unstable();
    let found = keys.into_iter().find_map(|key| {
        let row_key = RowKey { table, key: key.clone() };
        between_rows(&row_key, first.get(key).map(Vec::as_slice), second.get(key).map(Vec::as_slice))
    });
    Ok(found.unwrap_or(DifferenceKind::Count { table }))
}

impl<R: fmt::Debug> fmt::Display for Difference<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.subjects;
        let width = first.len().max(second.len());
        let both = |f: &mut fmt::Formatter<'_>, a: &str, b: &str| {
            writeln!(f, "  {first:width$}  {a}")?;
            writeln!(f, "  {second:width$}  {b}")
        };
        match &self.step {
            None => writeln!(f, "the databases differ before the first transaction")?,
            Some(step) => {
                let name = step.name;
                let about = if self.exact { "in" } else { "in or before" };
                writeln!(f, "{first} and {second} differ {about} transaction {} ({name}, {})", step.number, step.now)?;
            }
        }
        let or_nothing = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing there".to_owned());
        match &self.what {
            DifferenceKind::Output(field) => {
                writeln!(f, "  output field {}", field.path)?;
                both(f, &or_nothing(&field.first), &or_nothing(&field.second))?;
            }
            DifferenceKind::Sent(field) => {
                writeln!(f, "  messages sent: {}", field.path)?;
                both(f, &or_nothing(&field.first), &or_nothing(&field.second))?;
            }
            DifferenceKind::Failure { first, second } => {
                let or_well = |failed: &Option<String>| failed.clone().unwrap_or_else(|| "did not fail".to_owned());
                both(f, &or_well(first), &or_well(second))?;
            }
            DifferenceKind::Column { key, column, first, second } => {
                writeln!(f, "  table {}, row {key}, column {column}", key.table.name)?;
                both(f, first, second)?;
            }
            DifferenceKind::Row { key, in_first } => {
                writeln!(f, "  table {}, row {key}", key.table.name)?;
                let [a, b] = if *in_first { ["has it", "has no such row"] } else { ["has no such row", "has it"] };
                both(f, a, b)?;
            }
            DifferenceKind::Count { table } => {
                writeln!(f, "  table {}: rows of the same keys, not equally often", table.name)?
            }
        }
        for (name, statement) in self.subjects.iter().zip(&self.statements) {
            if let Some(statement) = statement {
                writeln!(f, "  statement on {name}: {statement}")?;
            }
        }
        if let Some(step) = &self.step {
            writeln!(f, "  input: {:?}", step.request)?;
        }
        Ok(())
    }
}
