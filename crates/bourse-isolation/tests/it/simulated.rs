//! Stores in memory that keep a level's promises and no more, and the histories of clients on them.

use bourse_isolation::{Action, AnomalyKind, History, Level, Operation, Transaction, TransactionOutcome, check};
use std::collections::{BTreeMap, BTreeSet};

/// Promises of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    /// Each transaction runs at one moment between its beginning and its end.
    Serial,
    /// Transactions run at one moment, but transactions that only read may run on an old state.
    Stale,
    /// Reads of a snapshot; the first to commit a change wins.
    Snapshot,
    /// A snapshot store without the check for conflicts.
    Unchecked,
    /// Reads of what is committed, with locks of what is written.
    ReadCommitted,
    /// Reads of what is written, with locks of what is written.
    ReadUncommitted,
}

/// Items that transactions use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mix {
    Registers,
    Lists,
    Everything,
}

/// A generator of numbers; any will do.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) % limit
    }
}

#[derive(Debug, Clone, Default)]
struct State {
    registers: BTreeMap<u64, u64>,
    lists: BTreeMap<u64, Vec<u64>>,
    counters: BTreeMap<u64, u64>,
}

/// An operation before it has run.
#[derive(Debug, Clone, Copy)]
enum Step {
    Read(u64),
    Write(u64),
    Delete(u64),
    Range(u64, u64),
    Append(u64),
    List(u64),
    Count(u64),
}

impl Step {
    fn written(self) -> Option<(u8, u64)> {
        match self {
            Step::Write(key) | Step::Delete(key) => Some((0, key)),
            Step::Append(key) => Some((1, key)),
            Step::Count(key) => Some((2, key)),
            Step::Read(_) | Step::Range(..) | Step::List(_) => None,
        }
    }
}

impl State {
    /// Runs a step. `fresh` is a version that nobody has used.
    fn run(&mut self, step: Step, fresh: u64) -> Action {
        match step {
            Step::Read(key) => Action::Read { key, version: self.registers.get(&key).copied() },
            Step::Delete(key) if self.registers.remove(&key).is_some() => Action::Delete { key },
            Step::Write(key) | Step::Delete(key) => {
                self.registers.insert(key, fresh);
                Action::Write { key, version: fresh }
            }
            Step::Range(from, to) => {
                let rows = self.registers.range(from..=to).map(|(key, version)| (*key, *version)).collect();
                Action::ReadRange { from, to, rows }
            }
            Step::Append(key) => {
                self.lists.entry(key).or_default().push(fresh);
                Action::Append { key, element: fresh }
            }
            Step::List(key) => Action::ReadList { key, elements: self.lists.get(&key).cloned().unwrap_or_default() },
            Step::Count(key) => {
                let value = self.counters.entry(key).or_default();
                *value += 1;
                Action::Count { key, value: *value }
            }
        }
    }

    /// Takes an action over from another state.
    fn apply(&mut self, action: &Action) {
        match action {
            Action::Write { key, version } => _ = self.registers.insert(*key, *version),
            Action::Delete { key } => _ = self.registers.remove(key),
            Action::Append { key, element } => self.lists.entry(*key).or_default().push(*element),
            Action::Count { key, value } => _ = self.counters.insert(*key, *value),
            Action::Read { .. } | Action::ReadList { .. } | Action::ReadRange { .. } => {}
        }
    }

    fn restore(&mut self, (space, key): (u8, u64), before: &State) {
        match space {
            0 => match before.registers.get(&key) {
                Some(version) => _ = self.registers.insert(key, *version),
                None => _ = self.registers.remove(&key),
            },
            1 => _ = self.lists.insert(key, before.lists.get(&key).cloned().unwrap_or_default()),
            _ => _ = self.counters.insert(key, before.counters.get(&key).copied().unwrap_or_default()),
        }
    }
}

/// A transaction that goes on.
struct Open {
    transaction: Transaction,
    steps: Vec<Step>,
    snapshot: usize,
    written: BTreeSet<(u8, u64)>,
}

/// Settings of a simulation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simulation {
    pub(crate) store: Store,
    pub(crate) mix: Mix,
    pub(crate) sessions: u32,
    pub(crate) transactions: usize,
    pub(crate) keys: u64,
    pub(crate) steps_max: u64,
    /// Whether some are rolled back, and some outcomes are unknown.
    pub(crate) is_faulty: bool,
    /// Whether a last transaction reads all lists.
    pub(crate) reads_at_end: bool,
}

impl Simulation {
    /// Runs the clients, one step at a time, in an order that the seed draws.
    pub(crate) fn run(self, seed: u64) -> History {
        let mut numbers = Numbers(seed);
        let initial = State { registers: (1..=self.keys / 2).map(|key| (key, 0)).collect(), ..State::default() };
        // The committed state after each commit, with what the commit changed.
        let mut states = vec![(initial.clone(), BTreeSet::new())];
        let mut shared = initial;
        let mut locks = BTreeMap::<(u8, u64), u32>::new();
        let mut open: Vec<Option<Open>> = (0..self.sessions).map(|_| None).collect();
        let (mut now, mut fresh, mut begun) = (0, 0, 0);
        let mut done = Vec::new();
        while begun < self.transactions || open.iter().any(Option::is_some) {
            now += 10;
            let session = numbers.below(u64::from(self.sessions)) as u32;
            let Some(current) = &mut open[session as usize] else {
                if begun < self.transactions {
                    begun += 1;
                    let steps = (0..=numbers.below(self.steps_max)).map(|_| self.step(&mut numbers)).collect();
                    let transaction = Transaction {
                        session,
                        begin_ns: now,
                        end_ns: 0,
                        outcome: TransactionOutcome::Committed,
                        operations: Vec::new(),
                    };
                    let snapshot = states.len() - 1;
                    open[session as usize] = Some(Open { transaction, steps, snapshot, written: BTreeSet::new() });
                }
                continue;
            };
            let place = current.transaction.operations.len();
            let is_atomic = matches!(self.store, Store::Serial | Store::Stale);
            let mut is_refused = false;
            if place < current.steps.len() && !is_atomic {
                let step = current.steps[place];
                let locks_items = matches!(self.store, Store::ReadCommitted | Store::ReadUncommitted);
                is_refused =
                    locks_items && step.written().is_some_and(|item| *locks.entry(item).or_insert(session) != session);
                if !is_refused {
                    current.written.extend(step.written());
                    fresh += 1;
                    let action = if self.store == Store::ReadUncommitted {
                        shared.run(step, fresh)
                    } else {
                        let from = if self.store == Store::ReadCommitted { states.len() - 1 } else { current.snapshot };
                        let mut view = states[from].0.clone();
                        current.transaction.operations.iter().for_each(|earlier| view.apply(&earlier.action));
                        view.run(step, fresh)
                    };
                    current.transaction.operations.push(Operation { begin_ns: now, end_ns: now + 5, action });
                    continue;
                }
            }
            // The end: all steps at once in a serial store.
            let mut current = open[session as usize].take().expect("it is open");
            let latest = states.last().expect("a state").0.clone();
            if is_atomic {
                let only_reads = current.steps.iter().all(|step| step.written().is_none());
                let from = match self.store {
                    Store::Stale if only_reads => numbers.below(states.len() as u64) as usize,
                    _ => states.len() - 1,
                };
                let mut view = states[from].0.clone();
                for step in &current.steps {
                    fresh += 1;
                    let action = view.run(*step, fresh);
                    current.transaction.operations.push(Operation { begin_ns: now, end_ns: now + 5, action });
                    current.written.extend(step.written());
                }
            }
            let conflicts = |(_, changed): &(State, BTreeSet<_>)| !changed.is_disjoint(&current.written);
            is_refused |= self.store == Store::Snapshot && states[current.snapshot + 1..].iter().any(conflicts);
            let is_rolled_back = is_refused || (self.is_faulty && numbers.below(10) == 0);
            if is_rolled_back {
                current.transaction.outcome = TransactionOutcome::RolledBack;
                current.written.iter().for_each(|item| shared.restore(*item, &latest));
            } else {
                let mut after = latest;
                if self.store == Store::ReadUncommitted {
                    // Locked, so it is as this transaction has left it.
                    current.written.iter().for_each(|item| after.restore(*item, &shared));
                } else {
                    current.transaction.operations.iter().for_each(|operation| after.apply(&operation.action));
                }
                states.push((after, current.written.clone()));
            }
            if self.is_faulty && numbers.below(10) == 0 {
                current.transaction.outcome = TransactionOutcome::Unknown;
            }
            locks.retain(|_, holder| *holder != session);
            current.transaction.end_ns = now + 6;
            done.push(current.transaction);
        }
        if self.reads_at_end {
            let mut last = states.pop().expect("a state").0;
            let read = |key| Operation { begin_ns: now + 11, end_ns: now + 12, action: last.run(Step::List(key), 0) };
            let operations = (1..=self.keys).map(read).collect();
            let outcome = TransactionOutcome::Committed;
            let session = self.sessions;
            done.push(Transaction { session, begin_ns: now + 10, end_ns: now + 13, outcome, operations });
        }
        History { name: format!("{:?}", self.store), transactions: done }
    }

    fn step(self, numbers: &mut Numbers) -> Step {
        let key = 1 + numbers.below(self.keys);
        let kinds = match self.mix {
            Mix::Registers => 0..2,
            Mix::Lists => 4..6,
            Mix::Everything => 0..7,
        };
        match kinds.start + numbers.below(kinds.end - kinds.start) {
            0 => Step::Read(key),
            1 => Step::Write(key),
            2 => Step::Delete(key),
            3 => Step::Range(key, key + 2),
            4 => Step::Append(key),
            5 => Step::List(key),
            _ => Step::Count(key),
        }
    }
}

const SEEDS: u64 = 60;

/// Anomalies of all seeds; every level in `kept` holds in each history.
fn found(store: Store, mix: Mix, kept: &[Level]) -> BTreeSet<AnomalyKind> {
    let mut kinds = BTreeSet::new();
    for seed in 0..SEEDS {
        let simulation = Simulation {
            store,
            mix,
            sessions: 4,
            transactions: 60,
            keys: 6,
            steps_max: 5,
            is_faulty: seed % 2 == 1,
            reads_at_end: false,
        };
        let report = check(&simulation.run(seed));
        let broken = report.refuted.iter().find(|level| kept.contains(level));
        assert!(broken.is_none(), "{store:?} {mix:?} seed {seed}: {:#?}", report.anomalies);
        kinds.extend(report.anomalies.iter().map(|anomaly| anomaly.kind));
    }
    kinds
}

const MIXES: [Mix; 3] = [Mix::Registers, Mix::Lists, Mix::Everything];

#[test]
fn a_serial_store_shows_nothing() {
    for mix in MIXES {
        assert!(found(Store::Serial, mix, &Level::ALL).is_empty());
    }
}

#[test]
fn a_store_with_old_reads_is_serializable_and_not_strictly() {
    use Level::{StrictSerializable, StrongSessionSerializable};
    let kept = Level::ALL.into_iter().filter(|level| ![StrictSerializable, StrongSessionSerializable].contains(level));
    let kept: Vec<Level> = kept.collect();
    for mix in MIXES {
        let kinds = found(Store::Stale, mix, &kept);
        assert!(kinds.contains(&AnomalyKind::StaleRead) && kinds.contains(&AnomalyKind::ReadYourWrites), "{kinds:?}");
        assert!(kinds.contains(&AnomalyKind::MonotonicReads), "{kinds:?}");
    }
}

#[test]
fn a_snapshot_store_shows_write_skew_alone() {
    use Level::{MonotonicAtomicView, ReadCommitted, ReadUncommitted, SnapshotIsolation};
    for mix in MIXES {
        let kinds =
            found(Store::Snapshot, mix, &[ReadUncommitted, ReadCommitted, MonotonicAtomicView, SnapshotIsolation]);
        assert!(kinds.contains(&AnomalyKind::G2Item), "{kinds:?}");
        assert!(mix != Mix::Everything || kinds.contains(&AnomalyKind::G2), "{kinds:?}");
        // A write skew may close through a third transaction of the same session, or after one of them.
        use AnomalyKind::{G2, G2Item, RealTimeCycle, SessionCycle};
        let allowed = |kind: &AnomalyKind| [G2, G2Item, RealTimeCycle, SessionCycle].contains(kind);
        assert!(kinds.iter().all(allowed), "{mix:?}: {kinds:?}");
    }
}

#[test]
fn a_store_that_checks_no_conflicts_loses_updates() {
    use Level::{MonotonicAtomicView, ReadCommitted, ReadUncommitted};
    for mix in [Mix::Registers, Mix::Everything] {
        let kinds = found(
            Store::Unchecked,
            mix,
            if mix == Mix::Registers { &[ReadUncommitted, ReadCommitted, MonotonicAtomicView] } else { &[] },
        );
        assert!(kinds.contains(&AnomalyKind::LostUpdate), "{kinds:?}");
    }
}

#[test]
fn a_read_committed_store_shows_skew_and_nothing_dirty() {
    use Level::{MonotonicAtomicView, ReadCommitted, ReadUncommitted};
    for mix in MIXES {
        let kinds = found(Store::ReadCommitted, mix, &[ReadUncommitted, ReadCommitted, MonotonicAtomicView]);
        let expected = [AnomalyKind::GSingleItem, AnomalyKind::G2Item, AnomalyKind::NonRepeatableRead];
        assert!(expected.iter().all(|kind| kinds.contains(kind)), "{mix:?}: {kinds:?}");
        assert!(mix == Mix::Lists || kinds.contains(&AnomalyKind::LostUpdate), "{mix:?}: {kinds:?}");
        assert!(mix != Mix::Everything || kinds.contains(&AnomalyKind::PhantomRead), "{kinds:?}");
    }
}

#[test]
fn a_read_uncommitted_store_shows_dirty_reads_and_no_dirty_writes() {
    for mix in MIXES {
        let kinds = found(Store::ReadUncommitted, mix, &[Level::ReadUncommitted]);
        let expected = [AnomalyKind::G1a, AnomalyKind::G1b, AnomalyKind::G1c];
        assert!(expected.iter().all(|kind| kinds.contains(kind)), "{mix:?}: {kinds:?}");
    }
}
