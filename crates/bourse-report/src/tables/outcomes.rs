use super::{Cell, Head, Table, Tone};
use crate::view::{CaseView, meaning, outcome_word};
use bourse_record::Outcome;

/// Every outcome with its status code, explained.
pub(crate) fn outcomes(view: &CaseView<'_>) -> Table {
    let heads = vec![
        Head::left(view.noun()),
        Head::left("outcome"),
        Head::right("code"),
        Head::right("count"),
        Head::right("share"),
        Head::left("meaning"),
        Head::left("example").folds(),
    ];
    let mut table = Table::new("Outcomes", heads);
    for operation in &view.operations {
        let all: u64 = operation.outcomes.iter().map(|outcome| outcome.count).sum();
        for outcome in &operation.outcomes {
            let tone = match outcome.outcome {
                Outcome::Failed | Outcome::Dropped => Tone::Bad,
                Outcome::Completed => Tone::Plain,
                _ => Tone::Doubtful,
            };
            let code = if outcome.code == 0 { Cell::missing() } else { Cell::text(&format!("{:+}", outcome.code)) };
            let share = if all == 0 { f64::NAN } else { 100.0 * outcome.count as f64 / all as f64 };
            table.push(vec![
                Cell::text(&operation.name),
                Cell::text(outcome_word(outcome.outcome)).tone(tone),
                code,
                Cell::count(outcome.count),
                Cell::percent(share),
                Cell::text(&meaning(outcome)),
                outcome.example.as_deref().map_or_else(Cell::default, Cell::text),
            ]);
        }
    }
    table
}
