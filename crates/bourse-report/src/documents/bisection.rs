//! A search for a commit: the commit and its change, then every step.

use super::sheet::{SheetAnswer, SheetPart};
use crate::tables::{SheetTable, TableCell, Tone, heads, row};
use crate::units;
use bourse_record::{BisectOutcome, BisectedRatio, Bisection};
use bourse_verdict::comparison::words::change;

/// The whole answer of a search.
pub(crate) fn bisection(found: &Bisection) -> Vec<SheetPart> {
    let printable = |text: &str| units::printable(text);
    let (figure, unit) = match found.first.as_slice() {
        [] => ("no difference shown".to_owned(), format!("between the ends, by {}", found.decided_by)),
        [first] => (printable(&first.words()), "is the first that changed".to_owned()),
        several => (
            units::counted(several.len() as u64, "commit", "commits"),
            "of which one is the first that changed".to_owned(),
        ),
    };
    let beside = found.change.map(|it| format!("{}: {}", found.decided_by, words(&it))).into_iter().collect();
    let answer = SheetAnswer { figure, unit, is_bad: found.first.is_empty(), class: String::new(), beside };
    let mut parts = vec![SheetPart::Answer(answer)];
    if found.first.len() > 1 {
        parts.push(SheetPart::list(Tone::Doubtful, found.first.iter().map(|it| printable(&it.words()))));
    }
    let heads = heads![left "commit", left "outcome", right "against the good one", left "reason" .folds()];
    let mut table =
        SheetTable::new(format!("Steps among {}", units::counted(found.commits as u64, "commit", "commits")), heads);
    for step in &found.steps {
        let tone = match step.outcome {
            BisectOutcome::AsBefore => Tone::Good,
            BisectOutcome::Changed => Tone::Bad,
            BisectOutcome::Undecided => Tone::Doubtful,
            BisectOutcome::Skipped => Tone::Faint,
        };
        table.push(row![
            step.commit.words(),
            TableCell::text(step.outcome.name()).tone(tone),
            TableCell::or_missing(step.ratio.map(|it| TableCell::text(&words(&it)))),
            &step.why
        ]);
    }
    parts.push(SheetPart::Table(table));
    let held = match found.cut {
        Some(cut) => format!(
            "A commit has changed if its difference from the good one is beyond {}, half of what the ends surely differ. At most {} \
             intervals, which hold together at 95 %.",
            change(cut),
            found.most_intervals
        ),
        None => String::new(),
    };
    parts.push(SheetPart::faint(&held));
    parts
}

/// A difference with its interval.
fn words(of: &BisectedRatio) -> String {
    let ends = of
        .interval
        .zip(of.level)
        .map(|([low, high], level)| format!(" ({} interval {} to {})", units::level(level), change(low), change(high)));
    format!("{}{}", change(of.ratio), ends.unwrap_or_default())
}
