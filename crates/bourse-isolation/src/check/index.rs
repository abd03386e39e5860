//! A history with dense numbers: items, writes, and who counts as committed.

use crate::check::graph::grouped;
use crate::{Action, History, Transaction, TransactionOutcome};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Name space of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Register,
    List,
    Counter,
}

/// One write, deletion, append or increment. Its number is the number of the version that it made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write {
    pub(crate) tx: u32,
    pub(crate) op: u32,
    pub(crate) item: u32,
    /// Whether it is its transaction's last one of the item: the version that the transaction installs.
    pub(crate) is_last: bool,
    pub(crate) is_deletion: bool,
    /// Whether it deletes a row that its own transaction had found absent, and inserted: nothing that another can see.
    pub(crate) leaves_nothing: bool,
    /// Version, element or value.
    pub(crate) payload: u64,
}

/// Number of no version: of one that two writes claim to have made, too.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Index<'h> {
    pub(crate) transactions: &'h [Transaction],
    /// Name spaces of the items: registers, lists and counters.
    pub(crate) items: Vec<Space>,
    pub(crate) writes: Vec<Write>,
    /// Whether a transaction is committed, or of unknown outcome and seen by one that counts.
    pub(crate) counts: Vec<bool>,
    numbers: [HashMap<u64, u32>; 3],
    versions: HashMap<(u32, u64), u32>,
    writes_offsets: Vec<u32>,
    writes_order: Vec<u32>,
    /// Keys and items of registers that are written, sorted.
    written: Vec<(u64, u32)>,
}

/// Space and key of an action's one item, and whether it changes it; `None`: the read of a range.
pub(crate) fn item_of(action: &Action) -> Option<(Space, u64, bool)> {
    match *action {
        Action::Read { key, .. } => Some((Space::Register, key, false)),
        Action::Write { key, .. } | Action::Delete { key } => Some((Space::Register, key, true)),
        Action::Append { key, .. } => Some((Space::List, key, true)),
        Action::ReadList { key, .. } => Some((Space::List, key, false)),
        Action::Count { key, .. } => Some((Space::Counter, key, true)),
        Action::ReadRange { .. } => None,
    }
}

impl<'h> Index<'h> {
    pub(crate) fn new(history: &'h History) -> Self {
        let transactions = &history.transactions;
        let counts = transactions.iter().map(|tx| tx.outcome == TransactionOutcome::Committed).collect();
        let mut index = Self {
            transactions,
            items: Vec::new(),
            writes: Vec::new(),
            counts,
            numbers: Default::default(),
            versions: HashMap::new(),
            writes_offsets: Vec::new(),
            writes_order: Vec::new(),
            written: Vec::new(),
        };
        index.number();
        let writes = &index.writes;
        (index.writes_offsets, index.writes_order) =
            grouped(index.items.len(), writes.len(), |write| writes[write].item as usize);
        let begin = |write: &u32| transactions[writes[*write as usize].tx as usize].begin_ns;
        for item in 0..index.items.len() {
            let range = index.writes_offsets[item] as usize..index.writes_offsets[item + 1] as usize;
            index.writes_order[range].sort_by_key(begin);
        }
        let registers = index.numbers[Space::Register as usize].iter();
        let mut written: Vec<_> = registers.map(|(key, item)| (*key, *item)).collect();
        written.retain(|(_, item)| !index.writes_of(*item).is_empty());
        written.sort_unstable();
        index.written = written;
        index
    }

    /// Numbers items and writes.
    fn number(&mut self) {
        let mut last_of = Vec::<u32>::new();
        for (number, tx) in self.transactions.iter().enumerate() {
            let first = self.writes.len();
            for (op, operation) in tx.operations.iter().enumerate() {
                let Some((space, key, is_write)) = item_of(&operation.action) else {
                    if let Action::ReadRange { rows, .. } = &operation.action {
                        rows.iter().for_each(|(key, _)| _ = self.intern(Space::Register, *key));
                    }
                    continue;
                };
                let item = self.intern(space, key);
                if is_write {
                    let (payload, is_deletion) = match operation.action {
                        Action::Write { version, .. } => (version, false),
                        Action::Append { element, .. } => (element, false),
                        Action::Count { value, .. } => (value, false),
                        _ => (0, true),
                    };
                    let version = self.writes.len() as u32;
                    if !is_deletion && space != Space::Counter {
                        let made = self.versions.entry((item, payload)).or_insert(version);
                        if *made != version || (space == Space::Register && payload == 0) {
                            *made = NONE;
                        }
                    }
                    let (tx, op) = (number as u32, op as u32);
                    self.writes.push(Write {
                        tx,
                        op,
                        item,
                        is_last: false,
                        is_deletion,
                        leaves_nothing: false,
                        payload,
                    });
                }
            }
            last_of.resize(self.items.len(), NONE);
            for write in self.writes[first..].iter_mut().rev() {
                write.is_last = last_of[write.item as usize] != number as u32;
                last_of[write.item as usize] = number as u32;
            }
        }
    }

    fn intern(&mut self, space: Space, key: u64) -> u32 {
        let items = &mut self.items;
        *self.numbers[space as usize].entry(key).or_insert_with(|| {
            items.push(space);
            items.len() as u32 - 1
        })
    }

    /// Item of an action that has one.
    pub(crate) fn item(&self, action: &Action) -> Option<u32> {
        item_of(action).map(|(space, key, _)| self.numbers[space as usize][&key])
    }

    pub(crate) fn register(&self, key: u64) -> u32 {
        self.numbers[Space::Register as usize][&key]
    }

    /// Written registers with keys in a range, by key.
    pub(crate) fn written(&self, range: &RangeInclusive<u64>) -> &[(u64, u32)] {
        let begin = self.written.partition_point(|(key, _)| key < range.start());
        let rest = &self.written[begin..];
        &rest[..rest.partition_point(|(key, _)| key <= range.end())]
    }

    /// Writes of an item by the time at which their transactions began.
    pub(crate) fn writes_of(&self, item: u32) -> &[u32] {
        let offsets = &self.writes_offsets;
        &self.writes_order[offsets[item as usize] as usize..offsets[item as usize + 1] as usize]
    }

    /// Writes of an item with their numbers, in the same order.
    pub(crate) fn made(&self, item: u32) -> impl DoubleEndedIterator<Item = (u32, &Write)> + Clone {
        self.writes_of(item).iter().map(|version| (*version, &self.writes[*version as usize]))
    }

    /// Number of an item's state at the start.
    pub(crate) fn initial(&self, item: u32) -> u32 {
        self.writes.len() as u32 + item
    }

    /// Number of versions, those at the start included.
    pub(crate) fn versions(&self) -> usize {
        self.writes.len() + self.items.len()
    }

    /// The write that made a version; `None`: it was there at the start.
    pub(crate) fn write(&self, version: u32) -> Option<&Write> {
        self.writes.get(version as usize)
    }

    pub(crate) fn tx_of(&self, version: u32) -> Option<u32> {
        self.write(version).map(|write| write.tx)
    }

    /// Number of a version; [`NONE`] if several writes claim to have made it, `None` if no transaction did.
    pub(crate) fn lookup(&self, item: u32, payload: u64) -> Option<u32> {
        let is_initial = payload == 0 && self.items[item as usize] == Space::Register;
        self.versions.get(&(item, payload)).copied().or_else(|| is_initial.then(|| self.initial(item)))
    }

    pub(crate) fn outcome(&self, tx: u32) -> TransactionOutcome {
        self.transactions[tx as usize].outcome
    }

    /// Time from which a transaction's writes are known to be there; `None` for an unknown outcome, which may take effect at any time,
    /// and for times that cannot be.
    pub(crate) fn acknowledged(&self, tx: u32) -> Option<u64> {
        let tx = &self.transactions[tx as usize];
        (tx.outcome == TransactionOutcome::Committed && tx.begin_ns <= tx.end_ns).then_some(tx.end_ns)
    }

    /// Numbers of the transactions that count.
    pub(crate) fn counting(&self) -> impl Iterator<Item = u32> {
        (0..self.transactions.len() as u32).filter(|tx| self.counts[*tx as usize])
    }

    pub(crate) fn action(&self, tx: u32, op: u32) -> &'h Action {
        &self.transactions[tx as usize].operations[op as usize].action
    }

    /// Elements of a list that an operation read.
    pub(crate) fn all_elements(&self, tx: u32, op: u32) -> &'h [u64] {
        let Action::ReadList { elements, .. } = self.action(tx, op) else { return &[] };
        elements
    }

    /// Elements of a list that an operation read, without those at the end that its own transaction appended: their place is not final
    /// before it commits.
    pub(crate) fn elements(&self, tx: u32, op: u32) -> &'h [u64] {
        let elements = self.all_elements(tx, op);
        let Some(item) = self.item(self.action(tx, op)) else { return elements };
        let is_own = |element: &&u64| self.lookup(item, **element).and_then(|version| self.tx_of(version)) == Some(tx);
        &elements[..elements.len() - elements.iter().rev().take_while(is_own).count()]
    }

    /// Longest read of each list by a transaction that counts and that saw nothing aborted: transaction and operation. Transactions of
    /// unknown outcome that others saw are counted on the way.
    pub(crate) fn longest_reads(&mut self) -> Vec<Option<(u32, u32)>> {
        let has_unknown = self.transactions.iter().any(|tx| tx.outcome == TransactionOutcome::Unknown);
        let mut aborted = vec![false; self.items.len()];
        for write in &self.writes {
            aborted[write.item as usize] |= self.outcome(write.tx) == TransactionOutcome::RolledBack;
        }
        loop {
            let mut longest = vec![None::<(u32, u32)>; self.items.len()];
            let mut seen = Vec::new();
            for tx in self.counting() {
                for (op, operation) in (0..).zip(&self.transactions[tx as usize].operations) {
                    match &operation.action {
                        Action::ReadList { .. } => {
                            let item = self.item(&operation.action).expect("a list is an item");
                            let elements = self.elements(tx, op);
                            let length = longest[item as usize].map_or(0, |(tx, op)| self.elements(tx, op).len());
                            let is_aborted = |element: &u64| self.aborted_version(item, *element).is_some();
                            if elements.len() > length && !(aborted[item as usize] && elements.iter().any(is_aborted)) {
                                longest[item as usize] = Some((tx, op));
                            }
                        }
                        Action::Read { key, version: Some(version) } if has_unknown => {
                            seen.push((self.register(*key), *version));
                        }
                        Action::ReadRange { rows, .. } if has_unknown => {
                            seen.extend(rows.iter().map(|(key, version)| (self.register(*key), *version)));
                        }
                        _ => {}
                    }
                }
            }
            if !has_unknown {
                return longest;
            }
            for (item, read) in (0..).zip(&longest) {
                let elements = read.map_or(&[][..], |(tx, op)| self.elements(tx, op));
                seen.extend(elements.iter().map(|element| (item, *element)));
            }
            let writers = seen.into_iter().filter_map(|(item, payload)| self.tx_of(self.lookup(item, payload)?));
            let is_new = |tx: &u32| self.outcome(*tx) == TransactionOutcome::Unknown && !self.counts[*tx as usize];
            let new: Vec<u32> = writers.filter(is_new).collect();
            if new.is_empty() {
                return longest;
            }
            new.into_iter().for_each(|tx| self.counts[tx as usize] = true);
        }
    }

    /// Version of a transaction that was rolled back.
    pub(crate) fn aborted_version(&self, item: u32, payload: u64) -> Option<u32> {
        let version = self.lookup(item, payload)?;
        let tx = self.tx_of(version)?;
        (self.outcome(tx) == TransactionOutcome::RolledBack).then_some(version)
    }
}
