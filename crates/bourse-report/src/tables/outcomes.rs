use super::{ColumnHead, SheetTable, TableCell, Tone, row};
use crate::view::{CaseView, meaning, outcome_word};
use bourse_record::Outcome;

/// Every outcome with its status code, explained.
pub(crate) fn outcomes(view: &CaseView<'_>) -> SheetTable {
    let heads = vec![
        ColumnHead::left(view.noun()),
        ColumnHead::left("outcome"),
        ColumnHead::right("code"),
        ColumnHead::right("count"),
        ColumnHead::right("share"),
        ColumnHead::left("meaning"),
        ColumnHead::left("example").folds(),
    ];
    let mut table = SheetTable::new("Outcomes", heads);
    for operation in &view.operations {
        let all: u64 = operation.outcomes.iter().map(|outcome| outcome.count).sum();
        for outcome in &operation.outcomes {
            let tone = match outcome.outcome {
                Outcome::Failed | Outcome::Dropped => Tone::Bad,
                Outcome::Completed => Tone::Plain,
                _ => Tone::Doubtful,
            };
            let code =
                if outcome.code == 0 { TableCell::missing() } else { TableCell::text(&format!("{:+}", outcome.code)) };
            let share = if all == 0 { f64::NAN } else { 100.0 * outcome.count as f64 / all as f64 };
            table.push(row![
                &operation.name,
                TableCell::text(outcome_word(outcome.outcome)).tone(tone),
                code,
                TableCell::count(outcome.count),
                TableCell::percent(share),
                meaning(outcome),
                outcome.example.as_deref().map_or_else(TableCell::default, TableCell::text)
            ]);
        }
    }
    table
}
