//! Levels by search: whether some execution of a small history explains all that its transactions read.

use bourse_isolation::{Action, History, Operation, Transaction, TransactionOutcome};
use std::collections::BTreeMap;

/// Kind of execution that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Execution {
    Serial,
    /// Serial, in the order of each session.
    Session,
    /// Serial, in the order of real time.
    Strict,
    /// Reads of a snapshot; no two concurrent transactions change one item.
    Snapshot,
}

/// Whether there is such an execution. Transactions of unknown outcome may take part or not.
pub(crate) fn exists(history: &History, execution: Execution) -> bool {
    let transactions: Vec<&Transaction> = history
        .transactions
        .iter()
        .filter(|transaction| transaction.outcome != TransactionOutcome::RolledBack)
        .collect();
    let search = Search { transactions, execution };
    search.place(&mut vec![State::default()], &mut Vec::new(), &BTreeMap::new())
}

/// Registers that were written, with the time at which that began; lists, counters.
#[derive(Debug, Clone, Default)]
struct State {
    registers: BTreeMap<u64, (Option<u64>, u64)>,
    lists: BTreeMap<u64, Vec<u64>>,
    counters: BTreeMap<u64, u64>,
}

/// Whether registers exist at the start, as far as reads have said.
type Initial = BTreeMap<u64, bool>;

struct Search<'h> {
    transactions: Vec<&'h Transaction>,
    execution: Execution,
}

impl Search<'_> {
    /// Places one more transaction. `states` has the state after each one placed, the first before all.
    fn place(&self, states: &mut Vec<State>, placed: &mut Vec<usize>, initial: &Initial) -> bool {
        let is_missing = |number: &usize| !placed.contains(number);
        let committed = |number: &usize| self.transactions[*number].outcome == TransactionOutcome::Committed;
        if (0..self.transactions.len()).filter(committed).all(|number| !is_missing(&number)) {
            return true;
        }
        for number in (0..self.transactions.len()).filter(is_missing).collect::<Vec<_>>() {
            let transaction = self.transactions[number];
            let earlier = |other: usize| {
                let other = self.transactions[other];
                other.outcome == TransactionOutcome::Committed
                    && match self.execution {
                        Execution::Session => {
                            other.session == transaction.session && other.end_ns <= transaction.begin_ns
                        }
                        Execution::Strict => other.end_ns < transaction.begin_ns,
                        _ => false,
                    }
            };
            let is_due = (0..self.transactions.len())
                .filter(|other| *other != number && !placed.contains(other))
                .all(|other| !earlier(other));
            if !is_due {
                continue;
            }
            let last = states.len() - 1;
            let snapshots = if self.execution == Execution::Snapshot { 0..=last } else { last..=last };
            for snapshot in snapshots.rev() {
                let since = placed[snapshot..].iter().map(|other| self.transactions[*other]);
                if since.clone().any(|other| conflict(other, transaction)) {
                    break;
                }
                let mut initial = initial.clone();
                let mut view = states[snapshot].clone();
                if !runs(transaction, &mut view, &mut initial) {
                    continue;
                }
                let mut after = states[last].clone();
                write(transaction, &mut after);
                states.push(after);
                placed.push(number);
                if self.place(states, placed, &initial) {
                    return true;
                }
                states.pop();
                placed.pop();
            }
        }
        false
    }
}

fn written(action: &Action) -> Option<(u8, u64)> {
    match action {
        Action::Write { key, .. } | Action::Delete { key } => Some((0, *key)),
        Action::Append { key, .. } => Some((1, *key)),
        Action::Count { key, .. } => Some((2, *key)),
        _ => None,
    }
}

fn conflict(one: &Transaction, other: &Transaction) -> bool {
    let items = |transaction: &Transaction| -> Vec<_> {
        transaction.operations.iter().filter_map(|operation| written(&operation.action)).collect()
    };
    let others = items(other);
    items(one).iter().any(|item| others.contains(item))
}

/// Whether a transaction reads what it has read, if it runs on a state.
fn runs(transaction: &Transaction, view: &mut State, initial: &mut Initial) -> bool {
    transaction.operations.iter().all(|operation| {
        // No register was read before it was written.
        let mut is_read = |view: &State, key: u64, version: Option<u64>| match view.registers.get(&key) {
            Some((now, begin_ns)) => *now == version && *begin_ns <= operation.end_ns,
            None => match version {
                Some(0) => *initial.entry(key).or_insert(true),
                None => !*initial.entry(key).or_insert(false),
                Some(_) => false,
            },
        };
        let explained = match &operation.action {
            Action::Read { key, version } => is_read(view, *key, *version),
            Action::ReadRange { from, to, rows } => (*from..=*to).all(|key| {
                let row = rows.iter().find(|row| row.0 == key).map(|row| row.1);
                is_read(view, key, row)
            }),
            Action::ReadList { key, elements } => view.lists.get(key).map_or(&[][..], Vec::as_slice) == elements,
            Action::Count { key, value } => view.counters.get(key).copied().unwrap_or_default() + 1 == *value,
            Action::Delete { key } => match view.registers.get(key) {
                Some((now, _)) => now.is_some(),
                None => *initial.entry(*key).or_insert(true),
            },
            Action::Write { .. } | Action::Append { .. } => true,
        };
        apply(operation, view);
        explained
    })
}

fn write(transaction: &Transaction, state: &mut State) {
    transaction.operations.iter().for_each(|operation| apply(operation, state));
}

fn apply(operation: &Operation, state: &mut State) {
    let begin_ns = operation.begin_ns;
    match &operation.action {
        Action::Write { key, version } => _ = state.registers.insert(*key, (Some(*version), begin_ns)),
        Action::Delete { key } => _ = state.registers.insert(*key, (None, begin_ns)),
        Action::Append { key, element } => state.lists.entry(*key).or_default().push(*element),
        Action::Count { key, value } => _ = state.counters.insert(*key, *value),
        Action::Read { .. } | Action::ReadList { .. } | Action::ReadRange { .. } => {}
    }
}
