//! Isolation found in recorded histories: promised, kept, and its price.

use super::sheet::{Sheet, SheetPart};
use crate::tables::{SheetTable, TableCell, Tone, heads, row};
use crate::units;
use crate::view::CaseView;
use bourse_record::{FoundAnomaly, HistoryFigures};
use std::collections::BTreeMap;

/// Explanation of the table.
const ABOUT: &str = "Kept: no recorded transaction refutes the promise, which is evidence and no proof; without overlapping pairs \
                     of transactions on a row it is none. Anomalies: what serializable would exclude; at a weaker level some are allowed.";

/// Table of the cases that recorded histories, and the smallest anomaly of each class; nothing without histories.
pub(crate) fn isolation(views: &[CaseView<'_>]) -> Vec<SheetPart> {
    let mut table = SheetTable::new(
        "Isolation, anomalies per million transactions",
        heads![
            left "target", left "level", left "promised", left "kept", right "transactions" .rank(1),
            right "overlapping pairs" .rank(2), right "conflicts" .rank(3), right "anomalies",
            right "transactions/s", left "interval" .rank(4),
        ],
    );
    let mut stories = Vec::new();
    for view in views {
        let histories: Vec<&HistoryFigures> =
            view.case.rounds.iter().filter_map(|round| round.history.as_ref()).collect();
        let Some(first) = histories.first() else { continue };
        let sum = |of: fn(&HistoryFigures) -> u64| histories.iter().map(|it| of(it)).fold(0, u64::saturating_add);
        let (committed, pairs) = (sum(|it| it.committed), sum(|it| it.overlapping));
        let kept = match (histories.iter().any(|it| it.is_broken), pairs) {
            (true, _) => TableCell { tone: Tone::Bad, ..TableCell::text("BROKEN") },
            (false, 0) => TableCell { tone: Tone::Doubtful, ..TableCell::text("not tested") },
            (false, _) => TableCell { tone: Tone::Good, ..TableCell::text("kept") },
        };
        let interval = view.estimate().and_then(|it| it.interval);
        let interval = interval.map(|it| TableCell::text(&units::interval(&it, units::number)));
        table.push(row![
            TableCell::code(&view.case.engine.target),
            &first.level,
            &first.promised,
            kept,
            TableCell::count(committed),
            TableCell::count(pairs),
            TableCell::count(sum(|it| it.conflicts)),
            units::number(sum(HistoryFigures::not_serializable) as f64 * 1e6 / committed.max(1) as f64),
            TableCell::or_missing(view.figure().map(|it| TableCell::text(&units::number(it)))),
            TableCell::or_missing(interval),
        ]);
        stories.extend(of_case(&view.case.label, &histories));
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    [SheetPart::Table(table), SheetPart::faint(ABOUT)].into_iter().chain(stories).collect()
}

/// Anomalies of a case by class, each with its smallest example; those that the promise allows are folded.
fn of_case(label: &str, histories: &[&HistoryFigures]) -> Vec<SheetPart> {
    let mut classes: BTreeMap<&str, (u64, &FoundAnomaly)> = BTreeMap::new();
    for found in histories.iter().flat_map(|it| &it.anomalies) {
        let (count, smallest) = classes.entry(&found.name).or_insert((0, found));
        *count = count.saturating_add(found.count);
        if found.story.len() < smallest.story.len() {
            *smallest = found;
        }
    }
    let count = |name: &str, count| format!("{} × {name}", units::count(count));
    let allowed = classes.iter().filter(|(_, (_, found))| !found.is_excluded);
    let allowed: Vec<String> = allowed.map(|(name, (many, _))| count(name, *many)).collect();
    let said = format!("{label}: found and allowed: {}", allowed.join(", "));
    let sum = |of: fn(&HistoryFigures) -> u64| histories.iter().map(|it| of(it)).fold(0, u64::saturating_add);
    let (unknown, seen) = (sum(|it| it.unknown), sum(|it| it.unknown_seen));
    let commits = units::counted(unknown, "commit", "commits");
    let in_doubt = format!("{label}: {commits} without an answer: others saw the changes of {}", units::count(seen));
    let mut parts: Vec<SheetPart> = (unknown > 0).then(|| SheetPart::faint(in_doubt)).into_iter().collect();
    parts.extend((!allowed.is_empty()).then(|| SheetPart::faint(said)));
    for (name, (many, found)) in classes {
        let story = SheetPart::Pre(found.story.iter().map(|line| units::printable(line)).collect());
        let words = format!("{label}: {}", count(name, many));
        match found.is_excluded {
            true => parts.extend([SheetPart::toned(Tone::Bad, format!("{words}, which the promise excludes")), story]),
            false => parts.push(SheetPart::fold(words, vec![story])),
        }
    }
    parts
}

/// Anomalies of one history, which no anomaly refutes to be of the isolation `strongest`.
pub fn anomalies(name: &str, transactions: u64, strongest: &str, found: &[FoundAnomaly]) -> Sheet {
    let words = units::counted(transactions, "transaction", "transactions");
    let mut parts = vec![SheetPart::text(format!("{name}: {words}; not refuted: {strongest}"))];
    parts.extend(found.iter().flat_map(|it| {
        let refutes = it.refutes.first().map(|level| format!(", refuting {level}")).unwrap_or_default();
        let words = format!("{} × {}{refutes}", units::count(it.count), it.name);
        let lines = it.story.iter().map(|line| units::printable(line)).collect();
        [SheetPart::toned(Tone::Bad, words), SheetPart::Pre(lines)]
    }));
    Sheet { parts, ..Sheet::new("Isolation", "") }
}
