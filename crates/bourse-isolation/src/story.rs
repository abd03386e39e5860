//! An anomaly as a story: what each transaction did and when, and why that cannot be.

use crate::AnomalyKind::{
    DirtyUpdate, DuplicateElement, G1a, G1b, GMonotonic, GarbageRead, IncompatibleOrder, Internal, LostUpdate,
    LostWrite, NonRepeatableRead, PhantomRead,
};
use crate::{Action, Anomaly, Arrow, FINAL_SESSION, Operation, Place, Reason, Transaction, TransactionOutcome};
use std::fmt::Write as _;

/// Elements of a list that are shown; of a longer one the last.
const ELEMENTS_SHOWN: usize = 8;

impl Anomaly {
    /// Story of the example, as lines of plain text. `statement` returns the text of a transaction's operation, as SQL, if it is known;
    /// it is shown after the operation.
    ///
    /// Transactions are called T1, T2 … in the order of their beginning. Times are relative to the first one's.
    pub fn story(&self, statement: impl Fn(&Transaction, &Action) -> Option<String>) -> String {
        let facts = self.kind.facts();
        let mut text = format!("{} ({}): {}\n\n", facts.title, facts.name, facts.meaning);
        for line in self.timeline(&statement) {
            _ = writeln!(text, "  {line}");
        }
        text.push('\n');
        let mut reasons: Vec<String> = self.arrows.iter().map(|arrow| self.reason(arrow)).collect();
        if self.arrows.is_empty() {
            reasons.push(self.reason_of_places());
        } else {
            let names: Vec<String> = self.arrows.iter().map(|arrow| self.name(arrow.from)).collect();
            let first = &names[0];
            reasons.push(format!(
                "So {} must come before {first}: no order of the transactions does that.",
                names.join(" before ")
            ));
        }
        reasons.iter().for_each(|reason| _ = writeln!(text, "  {reason}"));
        text
    }

    /// Beginnings, operations and ends of the example's transactions in the order of time.
    fn timeline(&self, statement: &impl Fn(&Transaction, &Action) -> Option<String>) -> Vec<String> {
        let mut events = Vec::new();
        for number in &self.transactions {
            let transaction = &self.excerpt.transactions[*number];
            let name = self.name(*number);
            events.push((
                transaction.begin_ns,
                0,
                *number,
                match transaction.session {
                    FINAL_SESSION => format!("{name} began, which reads the final state"),
                    session => format!("{name} began, in session {session}"),
                },
            ));
            for Operation { begin_ns, end_ns, action } in &transaction.operations {
                let text = statement(transaction, action).map_or(String::new(), |text| format!("   {text}"));
                let at = if is_write(action) { *begin_ns } else { *end_ns };
                events.push((at, 1, *number, format!("{name} {}{text}", phrase(action))));
            }
            events.push((transaction.end_ns, 2, *number, format!("{name} {}", ended(transaction))));
        }
        events.sort_by_key(|event| (event.0, event.1, event.2));
        let first_ns = events.iter().map(|event| event.0).min().unwrap_or_default();
        let times: Vec<String> =
            events.iter().map(|event| format!("{:.3} ms", (event.0 - first_ns) as f64 / 1e6)).collect();
        let width = times.iter().map(String::len).max().unwrap_or_default();
        times.iter().zip(&events).map(|(time, event)| format!("{time:>width$}  {}", event.3)).collect()
    }

    /// Name of a transaction of the excerpt: T1, T2 and so on, or T with its session if the story does not show it.
    fn name(&self, transaction: usize) -> String {
        match self.transactions.iter().position(|other| *other == transaction) {
            Some(place) => format!("T{}", place + 1),
            None => format!("another transaction of session {}", self.excerpt.transactions[transaction].session),
        }
    }

    fn action(&self, transaction: usize, operation: Option<usize>) -> Option<&Action> {
        self.excerpt.transactions.get(transaction)?.operations.get(operation?).map(|operation| &operation.action)
    }

    /// Sentence that gives the reason of an arrow.
    fn reason(&self, arrow: &Arrow) -> String {
        let (from, to) = (self.name(arrow.from), self.name(arrow.to));
        let (before, after) =
            (self.action(arrow.from, arrow.from_operation), self.action(arrow.to, arrow.to_operation));
        let after = after.map_or(String::new(), phrase);
        let why = match (arrow.reason, before) {
            (Reason::Overwrote, Some(before)) => format!("{from} {}, and {to} {after} later", phrase(before)),
            (Reason::Saw, Some(before)) => format!("{from} {}, and {to} saw that: it {after}", phrase(before)),
            (Reason::Missed, Some(before)) => format!("{from} {}, which {to} changed: it {after}", phrase(before)),
            (Reason::MissedRow, Some(before)) => {
                format!("{from} {}, and did not see that {to} {after}", phrase(before))
            }
            (Reason::MissedLater, Some(before)) => {
                format!("{from} {}; {to}, which {after}, began only after that state was acknowledged", phrase(before))
            }
            (Reason::Session, _) => format!("{from} ended before {to} began, in the same session"),
            _ => format!("{from} was acknowledged before {to} began"),
        };
        format!("{why}: {from} comes before {to}.")
    }

    /// Sentence for an anomaly that operations show.
    fn reason_of_places(&self) -> String {
        let [one, other] = [0, 1].map(|place| self.places.get(place).or(self.places.last()).copied());
        let did = |place: Option<Place>| {
            let place = place.unwrap_or(Place { transaction: 0, operation: 0 });
            let action = self.action(place.transaction, Some(place.operation));
            (self.name(place.transaction), action.map_or(String::new(), phrase))
        };
        let ((first, one), (second, other)) = (did(one), did(other));
        let (_, last) = did(self.places.last().copied());
        match self.kind {
            GarbageRead => format!("{first} {one}. No transaction made that state."),
            DuplicateElement => format!("{first} {one}. No transaction appended an element twice."),
            Internal => format!("{first} {one}, but {other} in the same transaction."),
            G1a => format!("{first} {one} and was rolled back, but {second}, which committed, {other}."),
            DirtyUpdate => format!("{first} {one} and was rolled back, but {second} built on that: it {other}."),
            G1b => format!("{first} {one}, which was not its last version, but {second} {other}."),
            IncompatibleOrder => format!("{first} {one}, but {second} {other}: elements are only ever appended."),
            NonRepeatableRead | PhantomRead => format!("{first} {one}, and then {other}."),
            GMonotonic => {
                format!("{second} {other} and so saw {first}. Afterwards it {last}, and so missed that {first} {one}.")
            }
            LostWrite => format!(
                "{first} {one} and was told that it had committed. In the end {second} {other}: nothing overwrote the write of {first}, which is lost."
            ),
            LostUpdate if self.places.len() == 2 => {
                format!("{first} {one}, and so did {second}: one of the two is lost.")
            }
            _ => {
                let (third, write) = did(self.places.last().copied());
                format!(
                    "{first} and {third} both started from the same state: {first} {one}, and so did {third}. \
                         {first} {other} and {third} {write}: whichever came second undid the other."
                )
            }
        }
    }
}

fn is_write(action: &Action) -> bool {
    matches!(action, Action::Write { .. } | Action::Delete { .. } | Action::Append { .. } | Action::Count { .. })
}

fn ended(transaction: &Transaction) -> &'static str {
    match transaction.outcome {
        TransactionOutcome::Committed => "was told that it had committed",
        TransactionOutcome::RolledBack => "was rolled back",
        TransactionOutcome::Unknown => "lost its connection: nobody knows whether it committed",
    }
}

/// Version as a reader sees it.
fn version(version: Option<u64>) -> String {
    match version {
        None => "no such row".to_owned(),
        Some(0) => "the first version".to_owned(),
        Some(version) => format!("version {version}"),
    }
}

fn elements(elements: &[u64]) -> String {
    let shown = &elements[elements.len().saturating_sub(ELEMENTS_SHOWN)..];
    let shown: Vec<String> = shown.iter().map(u64::to_string).collect();
    match elements.len() {
        0 => "empty".to_owned(),
        count if count > ELEMENTS_SHOWN => format!("… {} ({count} elements)", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// An operation in the past tense.
fn phrase(action: &Action) -> String {
    match action {
        Action::Read { key, version: None } => format!("found no row {key}"),
        Action::Read { key, version: read } => format!("read {} of row {key}", version(*read)),
        Action::Write { key, version } => format!("wrote version {version} of row {key}"),
        Action::Delete { key } => format!("deleted row {key}"),
        Action::Append { key, element } => format!("appended {element} to list {key}"),
        Action::ReadList { key, elements: read } => format!("read list {key} as: {}", elements(read)),
        Action::ReadRange { from, to, rows } => format!("read rows {from} to {to} as: {}", found(rows)),
        Action::Count { key, value } => format!("counted counter {key} up to {value}"),
    }
}

/// Rows of a range.
fn found(rows: &[(u64, u64)]) -> String {
    let shown: Vec<String> =
        rows.iter().take(ELEMENTS_SHOWN).map(|(key, read)| format!("{key} with {}", version(Some(*read)))).collect();
    match rows.len() {
        0 => "none".to_owned(),
        count if count > ELEMENTS_SHOWN => format!("{} … ({count} rows)", shown.join(", ")),
        _ => shown.join(", "),
    }
}
