//! The checker: a history's anomalies, each with its smallest example.

mod cases;
mod cycles;
mod evidence;
mod excerpt;
mod graph;
mod index;
mod lost;
mod order;

use crate::{ANOMALIES, AnomalyKind, History, Level, TransactionOutcome};
use serde::{Deserialize, Serialize};

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the history's workload.
    pub name: String,
    /// Number of transactions.
    pub transactions: u64,
    /// Number of transactions that were acknowledged as committed.
    pub committed: u64,
    /// Number of transactions of unknown outcome.
    pub unknown: u64,
    /// Number of those that were committed: a committed transaction saw their writes.
    pub unknown_seen: u64,
    /// Number of operations.
    pub operations: u64,
    /// Number of dependencies between transactions that were inferred, with those of sessions and of real time.
    pub edges: u64,
    /// Anomalies, those that refute the most first.
    pub anomalies: Vec<Anomaly>,
    /// Levels that the anomalies refute, weaker ones first.
    pub refuted: Vec<Level>,
}

/// One kind of anomaly that a history holds, with its smallest example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    /// Kind of the anomaly.
    pub kind: AnomalyKind,
    /// Number of cases; [`AnomalyFacts::counted`](crate::AnomalyFacts::counted) has the unit.
    pub count: u64,
    /// The example as a history of its own: its transactions with the operations that matter, and the writes of others that these saw.
    pub excerpt: History,
    /// Positions in the excerpt of the example's transactions, in the order of their beginning.
    pub transactions: Vec<usize>,
    /// Operations that show it, if one of them or two do. Their number and order depend on the kind.
    pub places: Vec<Place>,
    /// Dependencies that show it: a cycle. Empty if operations alone show it.
    pub arrows: Vec<Arrow>,
}

/// Operation of an excerpt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Position of the transaction in the excerpt.
    pub transaction: usize,
    /// Position of the operation in the transaction.
    pub operation: usize,
}

/// Dependency between two transactions of an excerpt: the first comes before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrow {
    /// Reason why it holds.
    pub reason: Reason,
    /// Position of the earlier transaction.
    pub from: usize,
    /// Position of the later transaction.
    pub to: usize,
    /// Position of the operation of the earlier transaction, if one matters.
    pub from_operation: Option<usize>,
    /// Position of the operation of the later transaction, if one matters.
    pub to_operation: Option<usize>,
}

/// Reason why one transaction comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The later one overwrote a version of the earlier one (ww).
    Overwrote,
    /// The later one saw a version of the earlier one (wr).
    Saw,
    /// The earlier one saw a version that the later one overwrote (rw).
    Missed,
    /// The earlier one found a row absent that the later one inserted (rw by a predicate).
    MissedRow,
    /// The earlier one saw a version, and the later one began to write the row after that version was acknowledged.
    MissedLater,
    /// Both are of one session.
    Session,
    /// The earlier one was acknowledged before the later one began.
    RealTime,
}

/// Checks a history.
///
/// Every anomaly reported is certain: an edge is drawn only if each explanation of the history has it. Versions of a list are ordered by
/// its longest read; those of a counter by their values; those of a register where a transaction read one and wrote the next, or
/// where one is the state at the start. An order that follows from real time alone counts against strict serializability alone. A
/// transaction of unknown outcome counts as committed if a committed one saw its writes, and is left out otherwise.
///
/// Anomalies may be missed: where nobody read a row before writing it, its versions stay without order; a read that found no row
/// says little if the row was deleted more than once; and a search in a large group of transactions ends after some millions of edges.
///
/// ```
/// use bourse_isolation::{Action, AnomalyKind, History, Level, Operation, Transaction, TransactionOutcome, check};
///
/// // Two doctors on call, each of whom leaves because the other one is there: write skew.
/// let transaction = |session, writes| Transaction {
///     session,
///     begin_ns: 0,
///     end_ns: 100,
///     outcome: TransactionOutcome::Committed,
///     operations: [
///         Action::Read { key: 1, version: Some(0) },
///         Action::Read { key: 2, version: Some(0) },
///         Action::Write { key: writes, version: 1 },
///     ]
///     .into_iter()
///     .map(|action| Operation { begin_ns: 1, end_ns: 99, action })
///     .collect(),
/// };
/// let history = History { name: "doctors".to_owned(), transactions: vec![transaction(1, 1), transaction(2, 2)] };
/// let report = check(&history);
/// assert_eq!(report.anomalies[0].kind, AnomalyKind::G2Item);
/// assert!(report.refuted.contains(&Level::Serializable) && !report.refuted.contains(&Level::SnapshotIsolation));
/// ```
pub fn check(history: &History) -> Report {
    let mut cases = cases::Cases::new(&history.transactions);
    let mut evidence = evidence::Evidence::new(index::Index::new(history), &mut cases);
    evidence.index.find_lost(&mut cases);
    let nodes = evidence.link(&mut cases);
    let links = std::mem::take(&mut evidence.links);
    let edges = links.len() as u64;
    let graph = graph::Graph::new(nodes, links);
    cycles::find_cycles(&graph, &evidence.index, &mut cases);
    drop(graph);
    let found = ANOMALIES.iter().zip(cases.kinds);
    let anomalies: Vec<Anomaly> = found
        .filter_map(|(facts, (count, smallest))| Some(evidence.anomaly(&history.name, facts.kind, count, &smallest?.1)))
        .collect();
    let is_refuted = |level: &Level| anomalies.iter().any(|anomaly| anomaly.kind.facts().refutes.contains(level));
    let outcomes =
        |outcome| history.transactions.iter().filter(|transaction| transaction.outcome == outcome).count() as u64;
    Report {
        name: history.name.clone(),
        transactions: history.transactions.len() as u64,
        committed: outcomes(TransactionOutcome::Committed),
        unknown: outcomes(TransactionOutcome::Unknown),
        unknown_seen: evidence
            .index
            .counting()
            .filter(|tx| evidence.index.outcome(*tx) == TransactionOutcome::Unknown)
            .count() as u64,
        operations: history.transactions.iter().map(|transaction| transaction.operations.len() as u64).sum(),
        edges,
        refuted: Level::ALL.into_iter().filter(is_refuted).collect(),
        anomalies,
    }
}
