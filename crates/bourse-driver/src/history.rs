//! Recorded histories: examined against what the engine promises, and stored.

use bourse_engine::Guarantee;
use bourse_isolation::{Action, History, Level, Transaction, TransactionOutcome, check};
use bourse_record::{Check, CheckStatus, FoundAnomaly, HistoryFigures};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// Level of the checker that a promise is at least.
const fn level(promised: Guarantee) -> Level {
    match promised {
        Guarantee::ReadUncommitted => Level::ReadUncommitted,
        // A change of the newest row may show an effect of a transaction that the snapshot misses.
        Guarantee::ReadCommitted | Guarantee::ConsistentReads => Level::ReadCommitted,
        Guarantee::RepeatableRead => Level::RepeatableRead,
        Guarantee::Snapshot => Level::SnapshotIsolation,
        Guarantee::Serializable => Level::Serializable,
    }
}

/// Figures of a history whose transactions requested `level`, and the check of the engine's promise. The other arguments are
/// those of [`examine`].
pub fn judge(
    history: &History,
    level: &str,
    promised: &[Guarantee],
    statement: impl Fn(&Transaction, &Action) -> Option<String>,
) -> (HistoryFigures, Check) {
    let (anomalies, not_refuted, unknown_seen) = examine(history, promised, statement);
    let outcomes = |outcome| history.transactions.iter().filter(|it| it.outcome == outcome).count() as u64;
    let mut names: Vec<_> = promised.iter().map(|it| (self::level(*it), it.name())).collect();
    names.sort_unstable();
    names.dedup();
    let figures = HistoryFigures {
        level: level.to_owned(),
        promised: names.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", "),
        is_broken: anomalies.iter().any(|it| it.is_excluded),
        not_refuted,
        committed: outcomes(TransactionOutcome::Committed),
        rolled_back: outcomes(TransactionOutcome::RolledBack),
        unknown: outcomes(TransactionOutcome::Unknown),
        unknown_seen,
        conflicts: 0,
        overlapping: overlapping(history),
        anomalies,
    };
    let check = promise(&figures);
    (figures, check)
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
    let condition = format!(
        "no anomaly in the recorded history that {} excludes, as the engine promises it for {}",
        figures.promised, figures.level
    );
    Check::new("isolation", condition, "the engine's promise", status, evidence)
}

/// Anomalies of a history by class, the strongest isolation that none of them refutes, and the number of transactions of unknown
/// outcome that were committed.
///
/// `promised` is the promise for each transaction. What a promise excludes counts among the transactions that have this one or
/// a stronger one: no engine orders the weaker ones with them. `statement` returns the text of an operation, as SQL.
pub fn examine(
    history: &History,
    promised: &[Guarantee],
    statement: impl Fn(&Transaction, &Action) -> Option<String>,
) -> (Vec<FoundAnomaly>, String, u64) {
    let mut levels: Vec<Level> = promised.iter().map(|it| level(*it)).collect();
    levels.sort_unstable();
    levels.dedup();
    let of_all = check(history);
    let mut found = Vec::<FoundAnomaly>::new();
    for (at, level) in levels.into_iter().enumerate() {
        let of_level = (at > 0).then(|| check(&of_level(history, promised, level)));
        for anomaly in &of_level.as_ref().unwrap_or(&of_all).anomalies {
            let facts = anomaly.kind.facts();
            let name = format!("{} ({})", facts.title, facts.name);
            // No level allows what durability excludes.
            let is_excluded = facts.refutes.is_empty() || facts.refutes.contains(&level);
            let known = found.iter().position(|it| it.name == name);
            if known.is_some_and(|known| found[known].is_excluded) || (at > 0 && !is_excluded) {
                continue;
            }
            known.into_iter().for_each(|known| _ = found.remove(known));
            found.push(FoundAnomaly {
                name,
                count: anomaly.count,
                refutes: facts.refutes.iter().map(|level| level.name().to_owned()).collect(),
                is_excluded,
                story: anomaly.story(&statement).lines().map(str::to_owned).collect(),
            });
        }
    }
    let strongest = Level::ALL.into_iter().rev().find(|level| !of_all.refuted.contains(level));
    (found, strongest.map_or("none", Level::name).to_owned(), of_all.unknown_seen)
}

/// The transactions that were promised a level or a stronger one, without their reads of what others wrote.
fn of_level(history: &History, promised: &[Guarantee], least: Level) -> History {
    let of_level = |promised: &Guarantee| level(*promised) >= least;
    let mut written_by_others = HashSet::new();
    for (transaction, _) in history.transactions.iter().zip(promised).filter(|(_, promised)| !of_level(promised)) {
        for operation in &transaction.operations {
            if let Action::Write { key, version } = operation.action {
                written_by_others.insert((key, version));
            }
        }
    }
    let chosen = history.transactions.iter().zip(promised).filter(|(_, promised)| of_level(promised));
    let transactions = chosen.map(|(transaction, _)| {
        let mut transaction = transaction.clone();
        transaction.operations.retain(|operation| match operation.action {
            Action::Read { key, version: Some(version) } => !written_by_others.contains(&(key, version)),
            _ => true,
        });
        transaction
    });
    History { name: history.name.clone(), transactions: transactions.collect() }
}

/// Number of pairs of transactions that overlapped in time on a row that one of them changed.
fn overlapping(history: &History) -> u64 {
    // Remainders of the keys that a transaction uses, and of those that it changes: most pairs have none in common.
    let bits = |transaction: &Transaction| {
        transaction.operations.iter().fold([0, 0], |[all, changed], operation| {
            let [from, to, writes] = used(&operation.action);
            let bit = if from == to { 1_u64 << (from % 64) } else { u64::MAX };
            [all | bit, changed | (bit * writes)]
        })
    };
    let mut by_begin: Vec<_> = history.transactions.iter().map(|it| (it, bits(it))).collect();
    by_begin.sort_by_key(|(it, _)| it.begin_ns);
    let (mut open, mut pairs) = (Vec::<(&Transaction, [u64; 2])>::new(), 0);
    for (transaction, [all, changed]) in by_begin {
        open.retain(|(earlier, _)| earlier.end_ns > transaction.begin_ns);
        let may_meet = |bits: &[u64; 2]| bits[0] & changed != 0 || bits[1] & all != 0;
        pairs += open.iter().filter(|(earlier, bits)| may_meet(bits) && meet(earlier, transaction)).count() as u64;
        open.push((transaction, [all, changed]));
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

/// Stores a history in a folder under a name with this stem, and if `for_elle` in Elle's form too.
///
/// # Errors
/// The system's.
pub fn store(history: &History, folder: &Path, stem: &str, for_elle: bool) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // Two targets of one engine have the same seed.
    let name = |number| if number == 1 { stem.to_owned() } else { format!("{stem}-{number}") };
    let is_free = |name: &String| !folder.join(format!("{name}.json")).exists();
    let name = (1..).map(name).find(is_free).unwrap_or_default();
    let file = |ending| File::create_new(folder.join(format!("{name}.{ending}"))).map(BufWriter::new);
    let mut json = file("json")?;
    history.write(&mut json)?;
    json.flush()?;
    if !for_elle {
        return Ok(());
    }
    let mut edn = file("edn")?;
    history.write_edn(&mut edn).map_err(io::Error::other)?;
    edn.flush()
}
