//! Recorded history of a round, in which isolation is examined: values that transactions found and left.
//!
//! Nothing is added to tables or statements; what transactions return has values anyway. A value is not unique, as a version
//! of the checker is: which transaction left the one that another found follows from both and from the times. Where two could
//! have left it, it stays open and is not examined.

use bourse_driver::{Nanos, history};
use bourse_engine::{Guarantee, locked};
use bourse_isolation::{Action, History, Operation, Transaction, TransactionOutcome};
use bourse_record::{Check, HistoryFigures};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Options of a round that records its history.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HistoryOptions {
    /// Folder that gets the history; `None` stores only what was found in it.
    pub folder: Option<PathBuf>,
}

/// A row's value that transactions change. Transactions read items in their order.
pub trait HistoryItem: Copy + Ord + Send {
    /// The item with a value, as `ca_bal 100.00 of account 7`.
    fn text(self, value: i64) -> String;
}

/// Value of an item that a transaction found, or left, or both.
#[derive(Debug, Clone, Copy)]
pub struct ValueChange<I> {
    /// The item.
    pub item: I,
    /// Value found.
    pub found: Option<i64>,
    /// Value left, if the transaction wrote one.
    pub left: Option<i64>,
}

/// Transaction as its user saw it.
#[derive(Debug)]
struct Recorded<I> {
    operation: u32,
    session: u32,
    begin_ns: Nanos,
    end_ns: Nanos,
    outcome: TransactionOutcome,
    changes: Vec<ValueChange<I>>,
}

/// Recorded transactions of a round's users.
#[derive(Debug)]
pub struct RoundHistory<I> {
    /// Most transactions of a user.
    most: usize,
    /// Begin of the first transaction that left values which are not known; `u64::MAX` if there is none.
    known_until_ns: AtomicU64,
    ended: Mutex<Vec<Recorded<I>>>,
}

/// Most transactions of a round that are recorded: they stay in memory, with a few hundred bytes each.
pub const MOST_RECORDED: usize = 1_000_000;

impl<I> RoundHistory<I> {
    /// History of a round with so many users.
    pub fn of_users(users: usize) -> Self {
        let most = MOST_RECORDED / users.max(1);
        Self { most, known_until_ns: AtomicU64::new(u64::MAX), ended: Mutex::default() }
    }

    /// Record of a user, whose session has a number of its own.
    pub fn user(&self, session: usize) -> UserHistory<'_, I> {
        UserHistory { round: self, session: session as u32, recorded: Vec::new() }
    }
}

/// Transactions that one user has recorded, added to those of the round when it is dropped.
#[derive(Debug)]
pub struct UserHistory<'r, I> {
    round: &'r RoundHistory<I>,
    session: u32,
    recorded: Vec<Recorded<I>>,
}

impl<I> UserHistory<'_, I> {
    /// Records a transaction that performed an operation from `begin_ns` until `end_ns`, its retries included.
    pub fn ended(
        &mut self,
        operation: usize,
        [begin_ns, end_ns]: [Nanos; 2],
        outcome: TransactionOutcome,
        changes: Vec<ValueChange<I>>,
    ) {
        if changes.is_empty() && outcome != TransactionOutcome::Unknown {
            return;
        }
        let known_until_ns = &self.round.known_until_ns;
        if outcome == TransactionOutcome::Unknown || self.recorded.len() == self.round.most {
            known_until_ns.fetch_min(begin_ns, Ordering::Relaxed);
        }
        // None of these can have left what is examined.
        if begin_ns < known_until_ns.load(Ordering::Relaxed) {
            let (operation, session) = (operation as u32, self.session);
            self.recorded.push(Recorded { operation, session, begin_ns, end_ns, outcome, changes });
        }
    }
}

impl<I> Drop for UserHistory<'_, I> {
    fn drop(&mut self) {
        locked(&self.round.ended).append(&mut self.recorded);
    }
}

/// Findings in a round's history.
#[derive(Debug)]
pub struct JudgedHistory {
    /// The figures, for the run file.
    pub figures: HistoryFigures,
    /// Check of the engine's promise.
    pub check: Check,
    /// Extent of the history, in words.
    pub extent: String,
}

impl<I: HistoryItem> RoundHistory<I> {
    /// Examines the history, once all users are dropped, and stores it if a folder is given, in a file with the stem `name`.
    /// `operation` returns the name of an operation and the promise for its transactions.
    ///
    /// # Errors
    /// The system's, of the folder.
    pub fn judge(
        &self,
        options: &HistoryOptions,
        name: &str,
        operation: impl Fn(usize) -> (&'static str, Guarantee),
    ) -> io::Result<JudgedHistory> {
        let mut recorded = std::mem::take(&mut *locked(&self.ended));
        let known_until_ns = self.known_until_ns.load(Ordering::Relaxed);
        recorded.retain(|it| it.begin_ns < known_until_ns);
        recorded.sort_by_key(|it| it.begin_ns);
        let versioned = versioned(name, &recorded, known_until_ns);
        if let Some(folder) = &options.folder {
            history::store(&versioned.history, folder, name, true)?;
        }
        let of_each: Vec<_> = recorded.iter().map(|it| operation(it.operation as usize).1).collect();
        let named = |transaction: &Transaction, action: &Action| {
            let begin_ns = transaction.begin_ns;
            let first = recorded.partition_point(|it| it.begin_ns < begin_ns);
            let mut of_time = (first..recorded.len()).take_while(|at| recorded[*at].begin_ns == begin_ns);
            let at = of_time.find(|at| versioned.history.transactions[*at].session == transaction.session)?;
            Some(format!("{}: {}", operation(recorded[at].operation as usize).0, versioned.text(action)?))
        };
        let (figures, check) = history::judge(&versioned.history, "by transaction", &of_each, named);
        let end = match known_until_ns {
            u64::MAX => String::new(),
            until_ns => format!("; until {:.1} s, when one was in doubt or memory full", until_ns as f64 / 1e9),
        };
        let (transactions, values, open) = (recorded.len(), versioned.found, versioned.open);
        let extent =
            format!("{transactions} transactions; {values} values found, {open} of them from two or more{end}");
        Ok(JudgedHistory { figures, check, extent })
    }
}

/// A history with versions in place of values.
struct Versioned<I> {
    history: History,
    /// Number of values found, and of those that two transactions may have left.
    found: usize,
    open: usize,
    /// Items by key, with the value at the start.
    items: Vec<(I, Option<i64>)>,
    /// Values by version; none has version 0.
    values: Vec<i64>,
}

impl<I: HistoryItem> Versioned<I> {
    fn text(&self, action: &Action) -> Option<String> {
        let (Action::Read { key, version: Some(version) } | Action::Write { key, version }) = action else {
            return None;
        };
        let (item, initial) = self.items.get(usize::try_from(*key).ok()?)?;
        let value = if *version == 0 { (*initial)? } else { *self.values.get(usize::try_from(*version).ok()?)? };
        Some(item.text(value))
    }

    fn next_version(&mut self, value: i64) -> u64 {
        self.values.push(value);
        self.values.len() as u64 - 1
    }
}

/// A transaction that left a value.
struct Writer {
    value: i64,
    transaction: usize,
    version: u64,
}

/// Makes a history of transactions in the order of their begin. Values found after `known_until_ns` may be of others.
fn versioned<I: HistoryItem>(name: &str, recorded: &[Recorded<I>], known_until_ns: Nanos) -> Versioned<I> {
    let mut changes: Vec<(usize, ValueChange<I>)> = Vec::new();
    let mut next_session = 1 + recorded.iter().map(|it| it.session).max().unwrap_or(0);
    let mut ends: HashMap<u32, Nanos> = HashMap::new();
    let mut transactions = Vec::with_capacity(recorded.len());
    for (number, it) in recorded.iter().enumerate() {
        let known = |change: &ValueChange<I>| change.found.filter(|_| it.end_ns <= known_until_ns);
        changes.extend(it.changes.iter().map(|change| (number, ValueChange { found: known(change), ..*change })));
        // Transactions of one operation are timed together, and those of a session do not overlap.
        let end_ns = ends.entry(it.session).or_default();
        let session = if it.begin_ns < *end_ns { next_session } else { it.session };
        next_session += u32::from(session == next_session);
        *end_ns = (*end_ns).max(it.end_ns);
        let (begin_ns, end_ns, outcome) = (it.begin_ns, it.end_ns, it.outcome);
        transactions.push(Transaction { session, begin_ns, end_ns, outcome, operations: Vec::new() });
    }
    changes.sort_by_key(|(transaction, change)| (change.item, *transaction));
    let history = History { name: name.to_owned(), transactions };
    let mut made = Versioned { history, found: 0, open: 0, items: Vec::new(), values: vec![0] };
    for item in changes.chunk_by(|(_, one), (_, other)| one.item == other.item) {
        if item.iter().any(|(_, change)| change.left.is_some()) {
            made.add_item(recorded, item);
        }
    }
    made
}

impl<I: HistoryItem> Versioned<I> {
    /// Adds the operations on an item that was written.
    fn add_item(&mut self, recorded: &[Recorded<I>], changes: &[(usize, ValueChange<I>)]) {
        let left = changes.iter().filter_map(|(transaction, change)| Some((*transaction, change.left?)));
        let mut writers: Vec<Writer> =
            left.map(|(transaction, value)| Writer { value, transaction, version: self.next_version(value) }).collect();
        writers.sort_by_key(|it| it.value);
        // Those that may have left the value: they began before its reader ended.
        let candidates = |reader: usize, value: i64| {
            let first = writers.partition_point(|it| it.value < value);
            let of_value = writers[first..].iter().take_while(move |it| it.value == value);
            let began = move |it: &&Writer| recorded[it.transaction].begin_ns < recorded[reader].end_ns;
            of_value.filter(move |it| it.transaction != reader && began(it))
        };
        let found = changes.iter().filter_map(|(reader, change)| Some((*reader, change.found?)));
        // Value at the start: the first that nobody can have left. Then another such value is nobody's.
        let initial = found.clone().find(|(reader, value)| candidates(*reader, *value).next().is_none());
        let initial = initial.map(|(_, value)| value);
        let key = self.items.len() as u64;
        self.items.push((changes[0].1.item, initial));
        let mut actions = Vec::new();
        for (reader, value) in found {
            self.found += 1;
            let mut left = candidates(reader, value);
            let is_initial = initial.is_none_or(|initial| initial == value);
            let version = match (left.next(), left.next()) {
                (None, _) if is_initial => 0,
                (None, _) => self.next_version(value),
                (Some(only), None) if !is_initial => only.version,
                _ => {
                    self.open += 1;
                    continue;
                }
            };
            actions.push((reader, Action::Read { key, version: Some(version) }));
        }
        // A transaction that both found and left a value did so in this order.
        actions.extend(writers.iter().map(|it| (it.transaction, Action::Write { key, version: it.version })));
        for (transaction, action) in actions {
            let transaction = &mut self.history.transactions[transaction];
            let (begin_ns, end_ns) = (transaction.begin_ns, transaction.end_ns);
            transaction.operations.push(Operation { begin_ns, end_ns, action });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TransactionOutcome::{Committed, RolledBack, Unknown};

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Account(u8);

    impl HistoryItem for Account {
        fn text(self, value: i64) -> String {
            format!("account {} has {value}", self.0)
        }
    }

    /// Transaction of a session with times, outcome, and per account the values found and left.
    type Done = (usize, [Nanos; 2], TransactionOutcome, Vec<(u8, Option<i64>, Option<i64>)>);

    /// A history judged under one promise for sessions below 10, and read committed for the others.
    fn judged(promised: Guarantee, transactions: &[Done]) -> JudgedHistory {
        let round = RoundHistory::of_users(1);
        for (session, times, outcome, changes) in transactions {
            let changes = changes.iter().map(|(account, found, left)| ValueChange {
                item: Account(*account),
                found: *found,
                left: *left,
            });
            round.user(*session).ended(usize::from(*session >= 10), *times, *outcome, changes.collect());
        }
        let operations = [("transfer", promised), ("look", Guarantee::ReadCommitted)];
        round.judge(&HistoryOptions::default(), "test", |at| operations[at]).unwrap()
    }

    /// Names of the anomalies that the promise excludes.
    fn excluded(judged: &JudgedHistory) -> Vec<&str> {
        let found = judged.figures.anomalies.iter().filter(|it| it.is_excluded);
        found.map(|it| it.name.as_str()).collect()
    }

    /// Transfer that finds one value and leaves another.
    fn moves(session: usize, times: [Nanos; 2], account: u8, found: i64, left: i64) -> Done {
        (session, times, Committed, vec![(account, Some(found), Some(left))])
    }

    #[test]
    fn values_in_their_order_break_no_promise() {
        let kept = judged(
            Guarantee::Serializable,
            &[
                moves(1, [0, 10], 1, 100, 150),
                moves(2, [5, 15], 1, 150, 120),
                (3, [12, 13], Committed, vec![(1, Some(150), None)]),
                (1, [20, 30], Committed, vec![(1, Some(120), None)]),
            ],
        );
        assert_eq!((excluded(&kept).len(), kept.figures.overlapping), (0, 2), "{kept:#?}");
        assert_eq!(kept.extent, "4 transactions; 4 values found, 0 of them from two or more");
    }

    #[test]
    fn a_lost_update_is_told_with_its_values() {
        let lost = judged(Guarantee::Serializable, &[moves(1, [0, 10], 1, 100, 150), moves(2, [5, 15], 1, 100, 130)]);
        assert_eq!(excluded(&lost), ["lost update (lost-update)"]);
        let story = lost.figures.anomalies[0].story.join("\n");
        for words in ["transfer: account 1 has 100", "transfer: account 1 has 150", "transfer: account 1 has 130"] {
            assert!(story.contains(words), "{words}: {story}");
        }
    }

    #[test]
    fn a_dirty_read_and_a_value_of_nobody_are_found() {
        let transactions = [
            moves(1, [0, 10], 1, 100, 150),
            (2, [12, 20], RolledBack, vec![(1, Some(150), Some(170))]),
            (3, [13, 30], Committed, vec![(1, Some(170), None)]),
            (3, [31, 32], Committed, vec![(1, Some(111), None)]),
        ];
        let found = judged(Guarantee::ReadCommitted, &transactions);
        assert_eq!(excluded(&found), ["read of what nobody wrote (garbage-read)", "aborted read (G1a)"]);
    }

    #[test]
    fn a_fractured_read_refutes_only_a_promise_for_its_reader() {
        let both: Done = (1, [0, 10], Committed, vec![(1, Some(100), Some(150)), (2, Some(0), Some(7))]);
        let before: Done = (2, [0, 1], Committed, vec![(1, Some(100), None), (2, Some(0), None)]);
        let of = |session| {
            let reader: Done = (session, [5, 12], Committed, vec![(1, Some(150), None), (2, Some(0), None)]);
            [before.clone(), both.clone(), reader]
        };
        for promised in [Guarantee::RepeatableRead, Guarantee::Snapshot, Guarantee::Serializable] {
            assert!(excluded(&judged(promised, &of(3))).contains(&"read skew (G-single-item)"), "{promised:?}");
        }
        let weak = judged(Guarantee::Serializable, &of(10));
        assert!(excluded(&weak).is_empty() && !weak.figures.anomalies.is_empty(), "{weak:#?}");
        assert_eq!(weak.figures.promised, "read committed, serializable");
    }

    #[test]
    fn a_value_that_two_may_have_left_stays_open() {
        let open = judged(
            Guarantee::Serializable,
            &[
                moves(1, [0, 10], 1, 100, 150),
                moves(2, [11, 20], 1, 150, 100),
                (3, [21, 30], Committed, vec![(1, Some(100), None)]),
            ],
        );
        assert_eq!(open.extent, "3 transactions; 3 values found, 1 of them from two or more");
        assert!(excluded(&open).is_empty());
    }

    #[test]
    fn nothing_is_inferred_of_the_time_after_a_doubt_or_beyond_the_room() {
        let doubt = (1, [20, 40], Unknown, vec![]);
        let transactions =
            [moves(1, [0, 10], 1, 100, 150), doubt, (2, [15, 30], Committed, vec![(1, Some(180), None)])];
        let judged = judged(Guarantee::Serializable, &transactions);
        assert!(excluded(&judged).is_empty(), "{judged:#?}");
        assert!(judged.extent.ends_with("until 0.0 s, when one was in doubt or memory full"), "{}", judged.extent);
        let round = RoundHistory { most: 1, ..RoundHistory::of_users(1) };
        let mut user = round.user(1);
        for at in [0, 10, 20] {
            user.ended(0, [at, at + 5], Committed, vec![ValueChange { item: Account(1), found: Some(1), left: None }]);
        }
        assert_eq!((user.recorded.len(), round.known_until_ns.load(Ordering::Relaxed)), (1, 10));
    }
}
