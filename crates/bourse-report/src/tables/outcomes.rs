use super::{Cell, Head, Table, Tone};
use crate::units;
use crate::view::{CaseView, meaning, outcome_word};
use bourse_record::Outcome;

/// Every outcome with its status code, explained.
pub(crate) fn outcomes(view: &CaseView<'_>) -> Table {
    let heads = vec![
        Head::left(view.noun(), view.noun()),
        Head::left("outcome", "outcome"),
        Head::right("code", "code"),
        Head::right("count", "count"),
        Head::right("share", "share_percent"),
        Head::left("meaning", "meaning"),
        Head::left("example", "example").folds(),
    ];
    let mut table = Table::new("outcomes", "Outcomes", heads);
    for operation in &view.operations {
        let all: u64 = operation.outcomes.iter().map(|outcome| outcome.count).sum();
        for outcome in &operation.outcomes {
            let tone = match outcome.outcome {
                Outcome::Failed | Outcome::Dropped => Tone::Bad,
                Outcome::Completed => Tone::Plain,
                _ => Tone::Doubtful,
            };
            let code = if outcome.code == 0 {
                Cell { value: "0".to_owned(), ..Cell::nothing() }
            } else {
                Cell { text: format!("{:+}", outcome.code), value: outcome.code.to_string(), ..Cell::default() }
            };
            let share = if all == 0 { f64::NAN } else { 100.0 * outcome.count as f64 / all as f64 };
            table.push(vec![
                Cell::text(&operation.name),
                Cell::text(outcome_word(outcome.outcome)).tone(tone),
                code,
                Cell { text: units::count(outcome.count), ..Cell::count(outcome.count) },
                Cell::percent(share),
                Cell::text(&meaning(outcome)),
                outcome.example.as_deref().map_or_else(Cell::default, Cell::text),
            ]);
        }
    }
    table
}
