//! Figures of a recorded history, and the check of the engine's promise.

use super::steps::Kind;
use super::user::numbers;
use super::{CELLS, Histories, VERSION};
use crate::database::same;
use crate::workload::{MicroError, RoundSettings};
use bourse_engine::{Access, EngineError, Guarantee, Key, RowExt as _, StatementForm, locked};
use bourse_isolation::{Action, History, Level, Operation, Transaction, TransactionOutcome, check};
use bourse_record::{Check, CheckStatus, FoundAnomaly, HistoryFigures};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write as _};
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
        store(of, &history, Path::new(folder), &format!("{engine}-{level}-{seed}"))
            .map_err(|error| MicroError::System { doing, error })?;
    }
    let promised = setting.engine.capabilities().guarantee(of.level);
    let (anomalies, not_refuted) = examine(&history, promised);
    let outcomes = |outcome| history.transactions.iter().filter(|it| it.outcome == outcome).count() as u64;
    let figures = HistoryFigures {
        level: of.level.name().to_owned(),
        promised: promised.name().to_owned(),
        is_broken: anomalies.iter().any(|it| it.is_excluded),
        not_refuted,
        committed: outcomes(TransactionOutcome::Committed),
        rolled_back: outcomes(TransactionOutcome::RolledBack),
        unknown: outcomes(TransactionOutcome::Unknown),
        conflicts: of.conflicts.load(Ordering::Relaxed),
        overlapping: overlapping(&history),
        anomalies,
    };
    let mut checks = vec![promise(&figures)];
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

/// Check that no anomaly was found which the promise excludes.
fn promise(figures: &HistoryFigures) -> Check {
    let excluded: Vec<&FoundAnomaly> = figures.anomalies.iter().filter(|it| it.is_excluded).collect();
    let (status, evidence) = match (excluded.as_slice(), figures.overlapping) {
        ([], 0) => {
            (CheckStatus::NotApplicable, "no two transactions overlapped on a row: nothing was tested".to_owned())
        }
        ([], pairs) => (
            CheckStatus::Passed,
            format!("not refuted by {} transactions, {pairs} overlapping pairs", figures.committed),
        ),
        (excluded, _) => {
            let each = excluded.iter().map(|it| format!("{} × {}", it.count, it.name));
            (CheckStatus::Failed, each.collect::<Vec<_>>().join(", "))
        }
    };
    Check {
        name: "isolation".to_owned(),
        condition: format!(
            "no anomaly in the recorded history that {} excludes, as the engine promises it for {}",
            figures.promised, figures.level
        ),
        source: "the engine's promise".to_owned(),
        status,
        evidence,
        took_s: 0.0,
    }
}

/// Level of the checker that a promise is at least.
const fn level(promised: Guarantee) -> Level {
    match promised {
        // A change of the newest row may show an effect of a transaction that the snapshot misses.
        Guarantee::ReadCommitted | Guarantee::ConsistentReads => Level::ReadCommitted,
        Guarantee::RepeatableRead => Level::RepeatableRead,
        Guarantee::Snapshot => Level::SnapshotIsolation,
        Guarantee::Serializable => Level::Serializable,
    }
}

/// Anomalies of a history by class, and the strongest isolation that none of them refutes.
pub fn examine(history: &History, promised: Guarantee) -> (Vec<FoundAnomaly>, String) {
    let report = check(history);
    let found = report.anomalies.iter().map(|anomaly| {
        let facts = anomaly.kind.facts();
        FoundAnomaly {
            name: format!("{} ({})", facts.title, facts.name),
            count: anomaly.count,
            refutes: facts.refutes.iter().map(|level| level.name().to_owned()).collect(),
            is_excluded: facts.refutes.contains(&level(promised)),
            story: anomaly.story(statement).lines().map(str::to_owned).collect(),
        }
    });
    let strongest = Level::ALL.into_iter().rev().find(|level| !report.refuted.contains(level));
    (found.collect(), strongest.map_or("none", Level::name).to_owned())
}

/// Statement of an operation in SQL.
fn statement(action: &Action) -> Option<String> {
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

/// Number of pairs of transactions that overlapped in time on a row that one of them changed.
fn overlapping(history: &History) -> u64 {
    let mut by_begin: Vec<&Transaction> = history.transactions.iter().collect();
    by_begin.sort_by_key(|it| it.begin_ns);
    let (mut open, mut pairs) = (Vec::<&Transaction>::new(), 0);
    for transaction in by_begin {
        open.retain(|earlier| earlier.end_ns > transaction.begin_ns);
        pairs += open.iter().filter(|earlier| meet(earlier, transaction)).count() as u64;
        open.push(transaction);
    }
    pairs
}

/// Whether one of two transactions changes a row that the other uses.
fn meet(one: &Transaction, other: &Transaction) -> bool {
    one.operations.iter().any(|a| {
        other.operations.iter().any(|b| {
            let ([from, to, writes], [other_from, other_to, also]) = (used(&a.action), used(&b.action));
            (writes > 0 || also > 0) && from <= other_to && other_from <= to
        })
    })
}

/// First and last key that an operation uses, and whether it changes them.
const fn used(action: &Action) -> [u64; 3] {
    match *action {
        Action::Read { key, .. } | Action::ReadList { key, .. } => [key, key, 0],
        Action::ReadRange { from, to, .. } => [from, to, 0],
        Action::Write { key, .. } | Action::Delete { key } | Action::Append { key, .. } | Action::Count { key, .. } => {
            [key, key, 1]
        }
    }
}

/// Stores a history, and for Elle one of a kind that it knows.
fn store(of: &Histories, history: &History, folder: &Path, stem: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    // Two targets of one engine have the same seed.
    let name = |number| if number == 1 { stem.to_owned() } else { format!("{stem}-{number}") };
    let is_free = |name: &String| !folder.join(format!("{name}.json")).exists();
    let name = (1..).map(name).find(is_free).unwrap_or_default();
    let file = |ending| fs::File::create_new(folder.join(format!("{name}.{ending}"))).map(BufWriter::new);
    let mut json = file("json")?;
    history.write(&mut json)?;
    json.flush()?;
    if !matches!(of.kind, Some(Kind::Append | Kind::Register)) {
        return Ok(());
    }
    let mut edn = file("edn")?;
    history.write_edn(&mut edn).map_err(std::io::Error::other)?;
    edn.flush()
}
