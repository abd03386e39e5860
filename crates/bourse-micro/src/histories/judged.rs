//! Figures of a recorded history, and the checks of what the engine promises.

use super::steps::Kind;
use super::user::numbers;
use super::{CELLS, Histories, VERSION};
use crate::database::same;
use crate::workload::{MicroError, RoundSettings};
use bourse_driver::history;
use bourse_engine::{Access, Guarantee, Key, Result, RowExt as _, StatementForm, locked};
use bourse_isolation::{Action, FINAL_SESSION, History, Operation, Transaction, TransactionOutcome};
use bourse_record::{Check, HistoryFigures};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Readings of the final state, and time between them, until a write that it lacks is lost.
const LATE_WAITS: u32 = 4;
const LATE_WAIT: Duration = Duration::from_millis(500);

/// Judges the history of a round: its figures, and the checks of what the engine promises.
pub(super) fn judge(of: &Histories, setting: &RoundSettings<'_>) -> Result<(HistoryFigures, Vec<Check>), MicroError> {
    let described = setting.engine.description().map_err(MicroError::engine("describing the engine"))?;
    let (engine, level, seed) = (described.engine, of.level.name(), setting.seed);
    let name = format!("{} {level}, seed {seed}", described.target);
    let mut history = History { name, transactions: std::mem::take(&mut *locked(&of.recorded)) };
    if let Some(error) = of.faults.failure() {
        return Err(MicroError::engine("starting a killed server again")(error));
    }
    let promised = setting.engine.capabilities().guarantee(of.level);
    let mut waits = 0..LATE_WAITS;
    let (counted, (mut figures, promise)) = loop {
        let counted = final_state(of, setting, &mut history).map_err(MicroError::engine("reading the final state"))?;
        let of_each = vec![promised; history.transactions.len()];
        let judged = history::judge(&history, level, &of_each, statement);
        // A node that applies the last commits late has not lost them.
        if judged.0.anomalies.iter().all(|it| !it.refutes.is_empty()) || waits.next().is_none() {
            break (counted, judged);
        }
        std::thread::sleep(LATE_WAIT);
        history.transactions.pop();
    };
    if let Some(folder) = &of.folder {
        let doing = format!("writing the history into {folder}");
        let for_elle = matches!(of.kind, Some(Kind::Append | Kind::Register));
        history::store(&history, Path::new(folder), &format!("{engine}-{level}-{seed}"), for_elle)
            .map_err(|error| MicroError::System { doing, error })?;
    }
    figures.conflicts = of.conflicts.load(Ordering::Relaxed);
    let mut checks = vec![promise];
    if of.kinds().any(|kind| kind == Kind::Count) {
        checks.push(counted_once(&history, counted));
    }
    if of.processes == 1 {
        checks.extend(balances(of, setting));
    }
    Ok((figures, checks))
}

/// Check of the balances that were read in this process; `None` where wrong sums are allowed.
pub(super) fn balances(of: &Histories, setting: &RoundSettings<'_>) -> Option<Check> {
    let words = "every read of all balances of a group has the sum of the start".to_owned();
    let check = same("balances", words, 0, of.wrong_sums.load(Ordering::Relaxed));
    // At read committed two transfers may each read what the other overwrites.
    let is_free = matches!(
        setting.engine.capabilities().guarantee(of.level),
        Guarantee::ReadUncommitted | Guarantee::ReadCommitted | Guarantee::ConsistentReads
    );
    (!is_free).then(|| Check { source: Check::RECONCILIATION.to_owned(), ..check })
}

/// Statement of an operation in SQL.
pub fn statement(_: &Transaction, action: &Action) -> Option<String> {
    Some(match action {
        Action::Read { key, .. } => format!("SELECT version FROM cells WHERE id = {key}"),
        Action::Write { key, version } => format!("UPDATE cells SET version = {version} WHERE id = {key}"),
        Action::Delete { key } => format!("DELETE FROM cells WHERE id = {key}"),
        Action::Append { key, element } => {
            format!("UPDATE cells SET elements = elements || '{element},' WHERE id = {key}")
        }
        Action::ReadList { key, .. } => format!("SELECT elements FROM cells WHERE id = {key}"),
        Action::ReadRange { from, to, .. } => {
            format!("SELECT id, version FROM cells WHERE id >= {from} ORDER BY id LIMIT {}", to - from + 1)
        }
        Action::Count { key, .. } => format!("UPDATE cells SET version = version + 1 WHERE id = {key}"),
    })
}

/// Appends a transaction that reads every row in the end, and returns the sum of the counters.
fn final_state(of: &Histories, setting: &RoundSettings<'_>, history: &mut History) -> Result<u64> {
    let last_ns = history.transactions.iter().map(|it| it.end_ns).max().unwrap_or(0);
    let (mut counted, mut actions, mut ranges) = (0, Vec::new(), BTreeMap::new());
    if of.kinds().any(|kind| kind == Kind::Range) {
        let from = |group| Kind::Range.key(group * of.group);
        ranges.extend((0..of.groups).map(|group| (from(group), Vec::new())));
    }
    let mut absent = written(history);
    let mut connection = setting.engine.connect()?;
    connection.begin(of.level, Access::Read)?;
    connection.with_records(StatementForm::Prepared, |records| {
        records.scan(&CELLS, Key::Int(0), u64::MAX, &mut |row| {
            let (key, version) = (row.get::<i64>(0)?.cast_unsigned(), row.get::<i64>(VERSION + 1)?.cast_unsigned());
            absent.remove(&key);
            match Kind::of(key) {
                Kind::Append => {
                    let mut elements = Vec::new();
                    numbers(row, &mut elements)?;
                    actions.push(Action::ReadList { key, elements });
                }
                Kind::Range => {
                    ranges.range_mut(..=key).next_back().into_iter().for_each(|(_, rows)| rows.push((key, version)))
                }
                Kind::Count => counted += version,
                Kind::Register | Kind::Bank => actions.push(Action::Read { key, version: Some(version) }),
            }
            Ok(())
        })?;
        records.commit()
    })?;
    actions.extend(absent.into_iter().map(|key| match Kind::of(key) {
        Kind::Append => Action::ReadList { key, elements: Vec::new() },
        _ => Action::Read { key, version: None },
    }));
    actions.extend(ranges.into_iter().map(|(from, rows)| Action::ReadRange { from, to: from + of.group - 1, rows }));
    let (begin_ns, end_ns) = (last_ns + 1, last_ns + 2);
    let operations = actions.into_iter().map(|action| Operation { begin_ns, end_ns, action }).collect();
    let (session, outcome) = (FINAL_SESSION, TransactionOutcome::Committed);
    history.transactions.push(Transaction { session, begin_ns, end_ns, outcome, operations });
    Ok(counted)
}

/// Keys of the registers that transactions wrote, and of the lists to which they appended.
fn written(history: &History) -> BTreeSet<u64> {
    let committed = history.transactions.iter().filter(|it| it.outcome == TransactionOutcome::Committed);
    let key = |operation: &Operation| match operation.action {
        Action::Write { key, .. } | Action::Append { key, .. } if Kind::of(key) != Kind::Range => Some(key),
        _ => None,
    };
    committed.flat_map(|it| &it.operations).filter_map(key).collect()
}

/// Check that no increment is lost, and none is there twice; one of unknown outcome is there or not.
fn counted_once(history: &History, counted: u64) -> Check {
    let increments = |outcome| {
        let of = history.transactions.iter().filter(|it| it.outcome == outcome).flat_map(|it| &it.operations);
        of.filter(|it| matches!(it.action, Action::Count { .. })).count() as u64
    };
    let [least, unknown] = [TransactionOutcome::Committed, TransactionOutcome::Unknown].map(increments);
    let words =
        "the counters' sum is the number of committed increments, or above by some of unknown outcome".to_owned();
    let check = same("counts", words, counted.clamp(least, least + unknown), counted);
    Check { evidence: format!("{}; {least} committed, {unknown} of unknown outcome", check.evidence), ..check }
}
