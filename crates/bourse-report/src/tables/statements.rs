use super::{ColumnHead, SheetTable, TableCell, heads, row};
use crate::units;
use crate::view::{CaseView, is_named_by_statement};
use bourse_record::{StatementFigures, shortened};
use bourse_verdict::comparison::FunctionDifference;

/// Statements with most time that are shown first.
pub(crate) const DEAREST: usize = 10;

/// Letters of a statement, or of a function's name, in a table.
pub(crate) const LETTERS: usize = 56;

const SELECT: &str = "SELECT ";

/// Statements with their calls and times. `all` are those of the case, of which the shares are taken.
pub(crate) fn statements(view: &CaseView<'_>, all: &[StatementFigures], shown: &[StatementFigures]) -> SheetTable {
    let heads = vec![
        ColumnHead::left(view.noun()),
        ColumnHead::right("share"),
        ColumnHead::right("calls"),
        ColumnHead::right("rows a call").rank(2),
        ColumnHead::time("mean"),
        ColumnHead::time("p50").rank(3),
        ColumnHead::time("p99"),
        ColumnHead::right("failed").folds().rank(1),
        ColumnHead::left("statement").shortens(short),
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
            TableCell::code(&short(&of.statement, LETTERS))
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
            TableCell::code(&short(&head.statement, LETTERS))
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
            TableCell::code(&shortened(name, LETTERS)),
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
            TableCell::code(&shortened(&it.name, LETTERS)),
        ]);
    }
    table
}

/// A statement in so many letters. Its table and its condition tell more of it than the columns that it reads.
pub(crate) fn short(statement: &str, most: usize) -> String {
    if statement.chars().count() <= most {
        return statement.to_owned();
    }
    let reads = statement.get(..SELECT.len()).is_some_and(|word| word.eq_ignore_ascii_case(SELECT));
    let from = outside_parentheses(statement, " FROM ").filter(|_| reads);
    let text = from.map_or_else(|| statement.to_owned(), |rest| format!("{SELECT}…{rest}"));
    // One is that of the ellipsis.
    if text.chars().count() <= most { text } else { shortened(&text, most.saturating_sub(1)).into_owned() }
}

/// Text from the first place of some words on that is in no parentheses.
fn outside_parentheses<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let mut depth = 0_i32;
    text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        let is_there = text.get(at..at + words.len()).is_some_and(|it| it.eq_ignore_ascii_case(words));
        (depth == 0 && is_there).then_some(&text[at..])
    })
}
