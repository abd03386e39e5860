use super::{ColumnHead, SheetTable, TableCell};
use crate::units;
use crate::view::CaseView;
use bourse_record::StatementFigures;

/// Statements with most time that are shown first.
pub(crate) const DEAREST: usize = 10;

/// Statements with their calls and times. `all` are those of the case, of which the shares are taken.
pub(crate) fn statements(view: &CaseView<'_>, all: &[StatementFigures], shown: &[StatementFigures]) -> SheetTable {
    let heads = vec![
        ColumnHead::left(view.noun()),
        ColumnHead::right("of the time"),
        ColumnHead::right("calls"),
        ColumnHead::right("rows a call").rank(2),
        ColumnHead::time("mean").rank(3),
        ColumnHead::time("p50").rank(1),
        ColumnHead::time("p99"),
        ColumnHead::right("failed").folds().rank(4),
        ColumnHead::left("statement"),
    ];
    let mut table = SheetTable::new("Statements with most time", heads);
    let total: f64 = all.iter().map(StatementFigures::total_ns).sum();
    for of in shown {
        let summary = of.service.summary;
        table.push(vec![
            TableCell::text(&of.operation),
            TableCell::percent(100.0 * of.total_ns() / total),
            TableCell::count(of.calls()),
            TableCell::figure(of.rows as f64 / of.calls() as f64, units::number),
            TableCell::duration_ns(summary.mean_ns),
            TableCell::duration_ns(summary.p50_ns as f64),
            TableCell::duration_ns(summary.p99_ns as f64),
            TableCell::count(of.failed),
            TableCell::code(&short(&of.statement)),
        ]);
    }
    table
}

/// Statements of two cases with their mean times in each.
pub(crate) fn changed_plans(changed: &[[StatementFigures; 2]]) -> SheetTable {
    let heads = vec![
        ColumnHead::left("operation"),
        ColumnHead::time("mean of A"),
        ColumnHead::time("mean of B"),
        ColumnHead::right("B / A"),
        ColumnHead::left("statement"),
    ];
    let mut table = SheetTable::new("", heads);
    for [base, head] in changed {
        let [a, b] = [base, head].map(|of| of.service.summary.mean_ns);
        table.push(vec![
            TableCell::text(&head.operation),
            TableCell::duration_ns(a),
            TableCell::duration_ns(b),
            TableCell::figure(b / a, units::number),
            TableCell::code(&short(&head.statement)),
        ]);
    }
    table
}

/// The first letters of a statement, which a line has room for.
pub(crate) fn short(statement: &str) -> String {
    const LETTERS: usize = 56;
    match statement.char_indices().nth(LETTERS) {
        None => statement.to_owned(),
        Some((at, _)) => format!("{}…", &statement[..at]),
    }
}
