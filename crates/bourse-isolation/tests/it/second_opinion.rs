//! Verdicts compared with those of another checker, the crate `adya`, which reads our export for Elle.
//!
//! They differ where either knows more than the other, for the reasons in [`is_explained`]. One difference is taken out before: reads
//! of transactions of unknown outcome, which Jepsen does not record and we do.

use crate::simulated::{Mix, Simulation, Store};
use adya::{Opts, Valid, Workload};
use bourse_isolation::{Action, AnomalyKind, Level, TransactionOutcome, check};

const LEVELS: [(Level, &str); 6] = [
    (Level::ReadUncommitted, "read-uncommitted"),
    (Level::ReadCommitted, "read-committed"),
    (Level::RepeatableRead, "repeatable-read"),
    (Level::SnapshotIsolation, "snapshot-isolation"),
    (Level::Serializable, "serializable"),
    (Level::StrictSerializable, "strict-serializable"),
];

const STORES: [Store; 6] =
    [Store::Serial, Store::Stale, Store::Snapshot, Store::Unchecked, Store::ReadCommitted, Store::ReadUncommitted];

/// Whether a difference has a reason. `ours` and `theirs` are the anomalies found.
fn is_explained(mix: Mix, store: Store, level: Level, ours: &[AnomalyKind], theirs: &[String]) -> bool {
    let have = |kind| ours.contains(&kind);
    // An absent row, or list, is `nil`, a version like any other; we count it as a predicate, which repeatable read does not cover.
    let is_predicate = |theirs: &String| match theirs.as_str() {
        "G2-item" => have(AnomalyKind::G2),
        "G-single-item" => have(AnomalyKind::GSingle),
        "G-nonadjacent-item" => have(AnomalyKind::GNonadjacent),
        _ => false,
    };
    match (mix, theirs) {
        (_, [_, ..]) if level == Level::RepeatableRead && theirs.iter().all(is_predicate) => true,
        // A transaction that reads its own append on an old snapshot sees an order that was never committed: we do not compare it with
        // those that were, so read committed holds.
        (Mix::Lists, [only]) => {
            store == Store::Unchecked && level == Level::ReadCommitted && only == "incompatible-order"
        }
        // Two versions in one transaction are no anomaly to them unless their order is known; and versions that nobody read before
        // they were overwritten have no order at all, where we order them by real time.
        (Mix::Registers, []) => match level {
            Level::RepeatableRead => have(AnomalyKind::NonRepeatableRead),
            Level::StrictSerializable => have(AnomalyKind::StaleRead) || have(AnomalyKind::RealTimeCycle),
            _ => false,
        },
        _ => false,
    }
}

/// Differences without a reason, and the number of verdicts that agree on a refutation.
fn compare(mix: Mix, workload: Workload) -> (Vec<String>, u32) {
    let (mut found, mut agreed) = (Vec::new(), 0);
    for store in STORES {
        for seed in 0..12 {
            let simulation = Simulation {
                store,
                mix,
                sessions: 4,
                transactions: 40,
                keys: 5,
                steps_max: 4,
                is_faulty: seed % 2 == 1,
                reads_at_end: mix == Mix::Lists,
            };
            let mut history = simulation.run(seed);
            for transaction in &mut history.transactions {
                if transaction.outcome == TransactionOutcome::Unknown {
                    let is_write = |action: &Action| matches!(action, Action::Write { .. } | Action::Append { .. });
                    transaction.operations.retain(|operation| is_write(&operation.action));
                }
            }
            let mut edn = Vec::new();
            history.write_edn(&mut edn).expect("Elle knows them");
            let theirs = adya::History::parse(std::str::from_utf8(&edn).expect("text")).expect("a history");
            let ours = check(&history);
            let kinds: Vec<AnomalyKind> = ours.anomalies.iter().map(|anomaly| anomaly.kind).collect();
            for (level, model) in LEVELS {
                let options = Opts { models: vec![model.to_owned()], wfr_keys: true, ..Opts::default() };
                let report = adya::check(&theirs, workload, &options);
                let is_refuted = report.valid == Valid::False;
                if is_refuted == ours.refuted.contains(&level) {
                    agreed += u32::from(is_refuted);
                } else if !is_explained(mix, store, level, &kinds, &report.anomaly_types) {
                    let types = &report.anomaly_types;
                    found.push(format!("{store:?} seed {seed} {model}: they {is_refuted} {types:?}, we {kinds:?}"));
                }
            }
        }
    }
    (found, agreed)
}

#[test]
fn verdicts_on_lists_are_those_of_another_checker() {
    let (found, agreed) = compare(Mix::Lists, Workload::ListAppend);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(agreed > 40, "{agreed}");
}

#[test]
fn verdicts_on_registers_are_those_of_another_checker() {
    let (found, agreed) = compare(Mix::Registers, Workload::RwRegister);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(agreed > 40, "{agreed}");
}
