use super::{ColumnHead, SheetTable, TableCell, heads, row};
use crate::units;
use crate::view::{CaseView, is_named_by_statement};
use bourse_record::{StatementFigures, shortened};
use bourse_verdict::comparison::FunctionDifference;

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
        table.push(row![
            &of.operation,
            TableCell::percent(100.0 * of.total_ns() / total),
            TableCell::count(of.calls()),
            TableCell::figure(of.rows as f64 / of.calls() as f64, units::number),
            TableCell::duration_ns(summary.mean_ns),
            TableCell::duration_ns(summary.p50_ns as f64),
            TableCell::duration_ns(summary.p99_ns as f64),
            TableCell::count(of.failed),
            TableCell::code(&short(&of.statement))
        ]);
    }
    if shown.iter().any(is_named_by_statement) {
        table.retain(|at, _| at != 0);
    }
    table
}

/// Statements of two cases with their mean times in each.
pub(crate) fn changed_plans(changed: &[[StatementFigures; 2]], [one, other]: [&str; 2]) -> SheetTable {
    let heads = vec![
        ColumnHead::left("operation"),
        ColumnHead { is_time: true, ..ColumnHead::right(format!("mean of {one}")) },
        ColumnHead { is_time: true, ..ColumnHead::right(format!("mean of {other}")) },
        ColumnHead::right(format!("{other} / {one}")),
        ColumnHead::left("statement"),
    ];
    let mut table = SheetTable::new("", heads);
    for [base, head] in changed {
        let [a, b] = [base, head].map(|of| of.service.summary.mean_ns);
        table.push(row![
            &head.operation,
            TableCell::duration_ns(a),
            TableCell::duration_ns(b),
            TableCell::figure(b / a, units::number),
            TableCell::code(&short(&head.statement))
        ]);
    }
    if changed.iter().any(|[_, head]| is_named_by_statement(head)) {
        table.retain(|at, _| at != 0);
    }
    table
}

/// Functions that are shown.
const MOST_FUNCTIONS: usize = 15;

/// Functions whose instructions differ most between two cases.
pub(crate) fn changed_functions(changed: &[FunctionDifference]) -> SheetTable {
    let heads = heads![right "A", right "B", right "difference", left "function"];
    let mut table = SheetTable::new("Instructions/op of functions that differ most", heads);
    for FunctionDifference { name, base, head } in changed.iter().take(MOST_FUNCTIONS) {
        table.push(vec![
            TableCell::figure(*base, units::number),
            TableCell::figure(*head, units::number),
            TableCell::figure(head - base, |more| {
                format!("{}{}", if more > 0.0 { "+" } else { "" }, units::number(more))
            }),
            TableCell::code(&short(name)),
        ]);
    }
    table
}

/// Functions of a case with the most instructions.
pub(crate) fn functions(view: &CaseView<'_>) -> SheetTable {
    let heads = heads![right "instructions/op", right "of all", left "function"];
    let mut table = SheetTable::new("Functions with the most instructions", heads);
    let Some(counted) = &view.case.instructions else { return table };
    let mut functions: Vec<_> = counted.functions.iter().collect();
    functions.sort_by_key(|it| std::cmp::Reverse(it.count));
    let all = counted.counts.first().copied().unwrap_or(0) as f64;
    for it in functions.into_iter().take(MOST_FUNCTIONS) {
        table.push(vec![
            TableCell::figure(it.count as f64 / counted.operations as f64, units::number),
            TableCell::percent(100.0 * it.count as f64 / all),
            TableCell::code(&short(&it.name)),
        ]);
    }
    table
}

/// The first letters of a statement or of a function's name, which a line has room for.
pub(crate) fn short(statement: &str) -> String {
    shortened(statement, 56).into_owned()
}
