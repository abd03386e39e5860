//! Figures of a recorded history, and the checks of what the engine promises.

use super::steps::Kind;
use super::user::numbers;
use super::{CELLS, Histories, VERSION};
use crate::database::same;
use crate::workload::{MicroError, RoundSettings};
use bourse_driver::history;
use bourse_engine::{Access, EngineError, Guarantee, Key, RowExt as _, StatementForm, locked};
use bourse_isolation::{Action, History, Operation, Transaction, TransactionOutcome};
use bourse_record::{Check, HistoryFigures};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Judges the history of a round: its figures, and the checks of what the engine promises.
pub(super) fn judge(of: &Histories, setting: &RoundSettings<'_>) -> Result<(HistoryFigures, Vec<Check>), MicroError> {
    let described = setting.engine.description().map_err(MicroError::engine("describing the engine"))?;
    let (engine, level, seed) = (described.engine, of.level.name(), setting.seed);
    let name = format!("{} {level}, seed {seed}", described.target);
    let mut history = History { name, transactions: std::mem::take(&mut *locked(&of.recorded)) };
    let counted = final_state(of, setting, &mut history).map_err(MicroError::engine("reading the final state"))?;
    if let Some(folder) = &of.folder {
        let doing = format!("writing the history into {folder}");
        let for_elle = matches!(of.kind, Some(Kind::Append | Kind::Register));
        history::store(&history, Path::new(folder), &format!("{engine}-{level}-{seed}"), for_elle)
            .map_err(|error| MicroError::System { doing, error })?;
    }
    let promised = setting.engine.capabilities().guarantee(of.level);
    let of_each = vec![promised; history.transactions.len()];
    let (mut figures, promise) = history::judge(&history, level, &of_each, statement);
    figures.conflicts = of.conflicts.load(Ordering::Relaxed);
    let mut checks = vec![promise];
    if figures.unknown == 0 && of.kinds().any(|kind| kind == Kind::Count) {
        let words = "the counters' sum is the number of committed increments".to_owned();
        checks.push(same("counts", words, counts(&history), counted));
    }
    // At read committed two transfers may each read what the other overwrites.
    if !matches!(promised, Guarantee::ReadCommitted | Guarantee::ConsistentReads) {
        let words = "every read of all balances of a group has the sum of the start".to_owned();
        checks.push(same("balances", words, 0, of.wrong_sums.load(Ordering::Relaxed)));
    }
    Ok((figures, checks))
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
fn final_state(of: &Histories, setting: &RoundSettings<'_>, history: &mut History) -> Result<u64, EngineError> {
    let last_ns = history.transactions.iter().map(|it| it.end_ns).max().unwrap_or(0);
    let (mut counted, mut actions, mut ranges) = (0, Vec::new(), BTreeMap::new());
    if of.kinds().any(|kind| kind == Kind::Range) {
        let from = |group| Kind::Range.key(group * of.group);
        ranges.extend((0..of.groups).map(|group| (from(group), Vec::new())));
    }
    let mut connection = setting.engine.connect()?;
    connection.begin(of.level, Access::Read)?;
    connection.with_records(StatementForm::Prepared, |records| {
        records.scan(&CELLS, Key::Int(0), u64::MAX, &mut |row| {
            let (key, version) = (row.get::<i64>(0)?.cast_unsigned(), row.get::<i64>(VERSION + 1)?.cast_unsigned());
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
    actions.extend(ranges.into_iter().map(|(from, rows)| Action::ReadRange { from, to: from + of.group - 1, rows }));
    let (begin_ns, end_ns) = (last_ns + 1, last_ns + 2);
    let operations = actions.into_iter().map(|action| Operation { begin_ns, end_ns, action }).collect();
    let (session, outcome) = (of.threads as u32, TransactionOutcome::Committed);
    history.transactions.push(Transaction { session, begin_ns, end_ns, outcome, operations });
    Ok(counted)
}

/// Number of increments in committed transactions.
fn counts(history: &History) -> u64 {
    let committed = history.transactions.iter().filter(|it| it.outcome == TransactionOutcome::Committed);
    committed.flat_map(|it| &it.operations).filter(|it| matches!(it.action, Action::Count { .. })).count() as u64
}
