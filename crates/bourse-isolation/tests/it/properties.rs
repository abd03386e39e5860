//! Verdicts compared with a search for an execution.

use crate::brute::{Execution, exists};
use crate::simulated::{Mix, Numbers, Simulation, Store};
use bourse_isolation::{Action, History, Level, Operation, Transaction, TransactionOutcome, check};
use proptest::prelude::*;

const STORES: [Store; 6] =
    [Store::Serial, Store::Stale, Store::Snapshot, Store::Unchecked, Store::ReadCommitted, Store::ReadUncommitted];

const LEVELS: [(Level, Execution); 4] = [
    (Level::SnapshotIsolation, Execution::Snapshot),
    (Level::Serializable, Execution::Serial),
    (Level::StrongSessionSerializable, Execution::Session),
    (Level::StrictSerializable, Execution::Strict),
];

/// Compares: what is refuted does not exist; if `is_complete`, what is not refuted does.
fn compare(history: &History, is_complete: bool) -> Result<(), TestCaseError> {
    let report = check(history);
    for (level, execution) in LEVELS {
        let is_refuted = report.refuted.contains(&level);
        if is_refuted || is_complete {
            let exists = exists(history, execution);
            prop_assert_eq!(exists, !is_refuted, "{}: {:#?} of {:#?}", level.name(), report.anomalies, history);
        }
    }
    Ok(())
}

fn small(store: Store, mix: Mix, is_faulty: bool, reads_at_end: bool) -> Simulation {
    Simulation { store, mix, sessions: 3, transactions: 6, keys: 3, steps_max: 4, is_faulty, reads_at_end }
}

/// A history whose reads return anything that its writes could have left.
fn arbitrary(seed: u64, mix: Mix) -> History {
    let mut numbers = Numbers(seed);
    let store = STORES[numbers.below(6) as usize];
    let mut history = small(store, mix, true, false).run(seed);
    let mut versions = vec![0];
    for operation in history.transactions.iter().flat_map(|transaction| &transaction.operations) {
        if let Action::Write { version, .. } = operation.action {
            versions.push(version);
        }
    }
    for transaction in &mut history.transactions {
        for operation in &mut transaction.operations {
            let mut any = |now| match numbers.below(4) {
                0 => versions[numbers.below(versions.len() as u64) as usize],
                _ => now,
            };
            match &mut operation.action {
                Action::Read { version: Some(version), .. } => *version = any(*version),
                Action::ReadRange { rows, .. } => rows.iter_mut().for_each(|row| row.1 = any(row.1)),
                _ => {}
            }
        }
    }
    history
}

/// A history of lists: each read returns a beginning of the list's last state, which another transaction reads at the end.
fn lists(seed: u64) -> History {
    let mut numbers = Numbers(seed);
    let mut states = [Vec::new(), Vec::new()];
    let mut transactions = Vec::new();
    for element in 1..=5 {
        let key = numbers.below(2) as usize;
        let at = numbers.below(states[key].len() as u64 + 1) as usize;
        states[key].insert(at, element);
        transactions.push(vec![Action::Append { key: key as u64, element }]);
    }
    for _ in 0..numbers.below(2) {
        let two = transactions.pop().expect("five");
        transactions.last_mut().expect("four").extend(two);
    }
    for actions in &mut transactions {
        for _ in 0..numbers.below(3) {
            let key = numbers.below(2);
            let state = &states[key as usize];
            let elements = state[..numbers.below(state.len() as u64 + 1) as usize].to_vec();
            actions.insert(numbers.below(actions.len() as u64 + 1) as usize, Action::ReadList { key, elements });
        }
    }
    let read = |(key, state): (usize, &Vec<u64>)| Action::ReadList { key: key as u64, elements: state.clone() };
    transactions.push(states.iter().enumerate().map(read).collect());
    let last = transactions.len() - 1;
    let transaction = |(number, actions): (usize, Vec<Action>)| {
        let begin_ns = if number == last { 2_000 } else { numbers.below(1_000) };
        let end_ns = begin_ns + 1 + numbers.below(500);
        let operation = |action| Operation { begin_ns, end_ns, action };
        Transaction {
            session: number as u32,
            begin_ns,
            end_ns,
            outcome: TransactionOutcome::Committed,
            operations: actions.into_iter().map(operation).collect(),
        }
    };
    History { name: "lists".to_owned(), transactions: transactions.into_iter().enumerate().map(transaction).collect() }
}

/// A history as a file may have it: versions twice, ranges and times the wrong way round.
fn nonsense(seed: u64) -> History {
    let mut numbers = Numbers(seed);
    let mut transactions = Vec::new();
    for _ in 0..numbers.below(9) {
        let mut operations = Vec::new();
        for _ in 0..numbers.below(6) {
            let [kind, key, version, other] = [8, 3, 4, 4].map(|limit| numbers.below(limit));
            let action = match kind {
                0 => Action::Read { key, version: Some(version) },
                1 => Action::Read { key, version: None },
                2 => Action::Write { key, version },
                3 => Action::Delete { key },
                4 => Action::Append { key, element: version },
                5 => Action::ReadList { key, elements: [version, other, key][other as usize % 3..].to_vec() },
                6 => Action::ReadRange { from: other, to: key, rows: vec![(key, version), (other, version)] },
                _ => Action::Count { key, value: version },
            };
            operations.push(Operation { begin_ns: numbers.below(50), end_ns: numbers.below(50), action });
        }
        let [session, begin_ns, end_ns, outcome] = [3, 50, 50, 4].map(|limit| numbers.below(limit));
        let outcome = match outcome {
            0 => TransactionOutcome::RolledBack,
            1 => TransactionOutcome::Unknown,
            _ => TransactionOutcome::Committed,
        };
        transactions.push(Transaction { session: session as u32, begin_ns, end_ns, outcome, operations });
    }
    History { name: "nonsense".to_owned(), transactions }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_refuted_level_has_no_execution(seed: u64, store in 0..6_usize, mix in 0..3_usize, is_faulty: bool) {
        let mix = [Mix::Registers, Mix::Lists, Mix::Everything][mix];
        compare(&small(STORES[store], mix, is_faulty, false).run(seed), false)?;
    }

    #[test]
    fn a_refuted_level_has_no_execution_whatever_was_read(seed: u64, is_everything: bool) {
        compare(&arbitrary(seed, if is_everything { Mix::Everything } else { Mix::Registers }), false)?;
    }

    #[test]
    fn any_history_is_checked_and_told(seed: u64) {
        let history = nonsense(seed);
        for anomaly in check(&history).anomalies {
            prop_assert!(!anomaly.story(|_, _| None).is_empty());
            check(&anomaly.excerpt);
        }
        let mut bytes = Vec::new();
        history.write(&mut bytes).expect("memory");
        prop_assert_eq!(History::read(&bytes[..]).expect("what was written"), history);
    }

    #[test]
    fn verdicts_on_lists_read_at_the_end_are_exact(seed: u64, store in 0..6_usize) {
        compare(&small(STORES[store], Mix::Lists, false, true).run(seed), true)?;
    }

    #[test]
    fn verdicts_on_lists_with_any_beginnings_are_exact(seed: u64) {
        compare(&lists(seed), true)?;
    }
}
