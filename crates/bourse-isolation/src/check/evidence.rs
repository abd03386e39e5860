//! Accesses of the transactions that count, resolved to versions, with the anomalies that a single access shows.

use crate::AnomalyKind::{
    self, DirtyUpdate, DuplicateElement, G1a, G1b, GarbageRead, IncompatibleOrder, Internal, NonRepeatableRead,
    PhantomRead,
};
use crate::check::cases::Cases;
use crate::check::graph::{Link, WR};
use crate::check::index::{Index, NONE, Space, Write};
use crate::{Action, TransactionOutcome};
use std::ops::Range;

/// Meaning of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Write,
    /// Read of a version.
    Read,
    /// Read that found no row, of a version that is known: a deletion, or the start.
    Absence,
    /// Read that found no row, of one of several versions or of none.
    Unclear,
    /// Read that says nothing about order: of the transaction's own write, or anomalous in itself.
    Void,
}

/// One access of an item by a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) item: u32,
    pub(crate) version: u32,
    pub(crate) op: u32,
    pub(crate) kind: AccessKind,
}

/// Known order of two versions: `to` follows `from`, directly or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Succession {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Operation by which the writer of `to` read `from` before it wrote; `None`: it is known otherwise.
    pub(crate) read: Option<u32>,
}

/// Deletion of a row that a read may have seen.
#[derive(Debug)]
struct Deletion {
    begin_ns: u64,
    version: u32,
    /// Time at which this and all earlier ones were acknowledged; `u64::MAX` if one never was.
    all_acknowledged_ns: u64,
}

/// The state of an item within one transaction.
#[derive(Debug, Clone, Copy)]
struct Seen {
    tx: u32,
    first: Option<Access>,
    /// Version and operation of the last read of what others wrote.
    last: Option<(u32, u32)>,
    own: u32,
    aborted: u32,
}

#[derive(Debug)]
pub(crate) struct Evidence<'h> {
    pub(crate) index: Index<'h>,
    pub(crate) accesses: Vec<Access>,
    offsets: Vec<u32>,
    /// Longest read of each list.
    pub(crate) longest: Vec<Option<(u32, u32)>>,
    /// Operation for each register that read or deleted the row that was there at the start.
    pub(crate) existed: Vec<Option<(u32, u32)>>,
    /// Whether an item's reads contradict each other, so that they say nothing about order.
    pub(crate) is_void: Vec<bool>,
    deletions: Vec<Vec<Deletion>>,
    pub(crate) successions: Vec<Succession>,
    pub(crate) links: Vec<Link>,
}

impl<'h> Evidence<'h> {
    pub(crate) fn new(mut index: Index<'h>, cases: &mut Cases) -> Self {
        let longest = index.longest_reads();
        let items = index.items.len();
        let mut evidence = Self {
            index,
            accesses: Vec::new(),
            offsets: vec![0],
            longest,
            existed: vec![None; items],
            is_void: vec![false; items],
            deletions: Vec::new(),
            successions: Vec::new(),
            links: Vec::new(),
        };
        evidence.collect(cases);
        evidence.forget_own_rows();
        for item in 0..items as u32 {
            let writes = evidence.index.made(item).map(|(_, write)| write);
            if writes.clone().all(|write| write.is_deletion) {
                let deletion = writes.into_iter().find(|write| evidence.index.counts[write.tx as usize]);
                let deleted = deletion.map(|write| (write.tx, write.op));
                evidence.existed[item as usize] = evidence.existed[item as usize].or(deleted);
            }
        }
        evidence.deletions = (0..items as u32).map(|item| evidence.deletions_of(item)).collect();
        evidence.order_lists(cases);
        evidence.read(cases);
        evidence
    }

    /// Accesses of a transaction in the order of its operations.
    pub(crate) fn accesses_of(&self, tx: u32) -> &[Access] {
        &self.accesses[self.places_of(tx)]
    }

    pub(crate) fn places_of(&self, tx: u32) -> Range<usize> {
        self.offsets[tx as usize] as usize..self.offsets[tx as usize + 1] as usize
    }

    /// Collects the accesses of all transactions that count.
    fn collect(&mut self, cases: &mut Cases) {
        let mut write = 0;
        for (number, tx) in (0_u32..).zip(self.index.transactions) {
            let counts = self.index.counts[number as usize];
            for (op, operation) in (0_u32..).zip(&tx.operations) {
                let action = &operation.action;
                match action {
                    Action::Write { .. } | Action::Delete { .. } | Action::Append { .. } | Action::Count { .. } => {
                        if counts {
                            let item = self.index.writes[write as usize].item;
                            self.accesses.push(Access { item, version: write, op, kind: AccessKind::Write });
                        }
                        write += 1;
                    }
                    _ if !counts => {}
                    Action::Read { key, version } => {
                        self.read_register(number, op, self.index.register(*key), *version, cases);
                    }
                    Action::ReadRange { from, to, rows } => {
                        let mut rows = rows.clone();
                        rows.sort_unstable();
                        for (key, version) in &rows {
                            self.read_register(number, op, self.index.register(*key), Some(*version), cases);
                        }
                        let range = *from..=(*to).max(*from);
                        let written = self.index.written(&range).iter();
                        let absent: Vec<u32> = written
                            .filter(|(key, _)| rows.binary_search_by_key(key, |row| row.0).is_err())
                            .map(|(_, item)| *item)
                            .collect();
                        absent.into_iter().for_each(|item| self.read_register(number, op, item, None, cases));
                    }
                    Action::ReadList { .. } => self.read_list(number, op, cases),
                }
            }
            self.offsets.push(self.accesses.len() as u32);
        }
    }

    /// Takes it for no version that a transaction deletes a row which it had found absent and inserted itself: the state after it is
    /// the one before it, which others may change meanwhile.
    fn forget_own_rows(&mut self) {
        for tx in 0..self.index.transactions.len() as u32 {
            let accesses = &self.accesses[self.places_of(tx)];
            for access in accesses.iter().filter(|access| access.kind == AccessKind::Write) {
                let write = &mut self.index.writes[access.version as usize];
                let first = accesses.iter().find(|first| first.item == access.item);
                if write.is_last && write.is_deletion && first.is_some_and(|first| first.kind == AccessKind::Absence) {
                    (write.is_last, write.leaves_nothing) = (false, true);
                }
            }
        }
    }

    fn read_register(&mut self, tx: u32, op: u32, item: u32, version: Option<u64>, cases: &mut Cases) {
        let (version, kind) = match version.map(|version| self.index.lookup(item, version)) {
            None => (NONE, AccessKind::Absence),
            Some(Some(NONE)) => (NONE, AccessKind::Void),
            Some(Some(version)) => (version, AccessKind::Read),
            Some(None) => {
                cases.offer(GarbageRead, &[(tx, op)]);
                (NONE, AccessKind::Void)
            }
        };
        if version == self.index.initial(item) {
            self.existed[item as usize].get_or_insert((tx, op));
        }
        self.accesses.push(Access { item, version, op, kind });
    }

    fn read_list(&mut self, tx: u32, op: u32, cases: &mut Cases) {
        let item = self.index.item(self.index.action(tx, op)).expect("a list is an item");
        let elements = self.index.elements(tx, op);
        // An empty list has no row: its first element inserts it, which others see appear in a predicate, not change.
        let is_empty = elements.is_empty();
        let (mut version, mut kind) =
            (self.index.initial(item), if is_empty { AccessKind::Absence } else { AccessKind::Read });
        let longest = self.longest[item as usize];
        let known = longest.map_or(&[][..], |(tx, op)| self.index.elements(tx, op));
        if !known.starts_with(elements) {
            kind = AccessKind::Void;
            let mut rest = elements.iter();
            let aborted = rest.find_map(|element| self.index.aborted_version(item, *element));
            if let Some(aborted) = aborted.map(|version| self.place(version)) {
                cases.offer(G1a, &[aborted, (tx, op)]);
                let counts =
                    |version: &u32| self.index.tx_of(*version).is_some_and(|tx| self.index.counts[tx as usize]);
                if let Some(later) = rest.filter_map(|element| self.index.lookup(item, *element)).find(counts) {
                    cases.offer(DirtyUpdate, &[aborted, self.place(later), (tx, op)]);
                }
            } else if let Some(other) = longest {
                cases.offer(IncompatibleOrder, &[other, (tx, op)]);
                self.is_void[item as usize] = true;
            }
        }
        if let Some(last) = elements.last() {
            version = self.index.lookup(item, *last).unwrap_or(NONE);
            kind = if version == NONE { AccessKind::Void } else { kind };
        }
        self.accesses.push(Access { item, version, op, kind });
    }

    fn place(&self, version: u32) -> (u32, u32) {
        let write = &self.index.writes[version as usize];
        (write.tx, write.op)
    }

    /// Orders the versions of each list by its longest read. Elements that no read shows come last.
    fn order_lists(&mut self, cases: &mut Cases) {
        let mut is_shown = vec![false; self.index.writes.len()];
        for item in 0..self.index.items.len() as u32 {
            if self.index.items[item as usize] != Space::List || self.is_void[item as usize] {
                continue;
            }
            let mut last = self.index.initial(item);
            let longest = self.longest[item as usize];
            for element in longest.map_or(&[][..], |(tx, op)| self.index.elements(tx, op)) {
                let place = longest.unwrap_or_default();
                match self.index.lookup(item, *element) {
                    None => cases.offer(GarbageRead, &[place]),
                    Some(NONE) => {}
                    Some(version) if is_shown[version as usize] => cases.offer(DuplicateElement, &[place]),
                    Some(version) => {
                        is_shown[version as usize] = true;
                        // A transaction's own elements are in the order in which it appended them.
                        let write = self.index.writes[version as usize];
                        let before = self.index.writes[..version as usize].iter().rev();
                        let mut before = (0..version).rev().zip(before).take_while(|(_, other)| other.tx == write.tx);
                        let own = before.find(|(_, other)| other.item == item);
                        if let Some((own, _)) = own.filter(|(own, _)| !is_shown[*own as usize]) {
                            cases.offer(IncompatibleOrder, &[self.place(own), place]);
                        }
                        self.successions.push(Succession { from: last, to: version, read: None });
                        last = version;
                    }
                }
            }
            for (to, write) in self.index.made(item) {
                if write.is_last && self.index.counts[write.tx as usize] && !is_shown[to as usize] {
                    self.successions.push(Succession { from: last, to, read: None });
                }
            }
        }
    }

    fn deletions_of(&self, item: u32) -> Vec<Deletion> {
        let deletion = |(version, write): (u32, &Write)| {
            let may_count = self.index.outcome(write.tx) != TransactionOutcome::RolledBack;
            (write.is_deletion && !write.leaves_nothing && may_count).then(|| Deletion {
                begin_ns: self.index.transactions[write.tx as usize].operations[write.op as usize].begin_ns,
                version,
                all_acknowledged_ns: self.index.acknowledged(write.tx).unwrap_or(u64::MAX),
            })
        };
        let mut found: Vec<_> = self.index.made(item).filter_map(deletion).collect();
        found.sort_by_key(|deletion| deletion.begin_ns);
        let mut latest = 0;
        for deletion in &mut found {
            latest = latest.max(deletion.all_acknowledged_ns);
            deletion.all_acknowledged_ns = latest;
        }
        found
    }

    /// Deletions that a read may have seen: those that began before its answer.
    fn candidates(&self, tx: u32, access: &Access) -> &[Deletion] {
        let end_ns = self.index.transactions[tx as usize].operations[access.op as usize].end_ns;
        let deletions = &self.deletions[access.item as usize];
        &deletions[..deletions.partition_point(|deletion| deletion.begin_ns <= end_ns)]
    }

    /// Time from which the absence that a read found was there, whichever it was; `None`: a deletion was never acknowledged.
    pub(crate) fn absent_since(&self, tx: u32, access: &Access) -> Option<u64> {
        let last = self.candidates(tx, access).last()?;
        Some(last.all_acknowledged_ns).filter(|time| *time != u64::MAX)
    }

    /// Resolves a read that found no row: its one possible version, if there is one.
    fn resolve_absence(&self, tx: u32, access: &mut Access, cases: &mut Cases) {
        let candidates = self.candidates(tx, access);
        let may_be_initial = self.existed[access.item as usize].is_none();
        match (candidates, may_be_initial) {
            ([], true) => access.version = self.index.initial(access.item),
            ([only], false) if self.index.tx_of(only.version) != Some(tx) => access.version = only.version,
            ([], false) => {
                access.kind = AccessKind::Void;
                let is_aborted = |tx| self.index.outcome(tx) == TransactionOutcome::RolledBack;
                let mut writes = self.index.made(access.item);
                match writes.find(|(_, write)| write.is_deletion && is_aborted(write.tx)) {
                    Some((_, aborted)) => cases.offer(G1a, &[(aborted.tx, aborted.op), (tx, access.op)]),
                    None => cases.offer(GarbageRead, &[(tx, access.op)]),
                }
            }
            _ => access.kind = AccessKind::Unclear,
        }
    }

    /// Goes through all accesses: anomalies of single reads, read dependencies, and updates.
    fn read(&mut self, cases: &mut Cases) {
        let nothing = Seen { tx: NONE, first: None, last: None, own: NONE, aborted: NONE };
        let mut items = vec![nothing; self.index.items.len()];
        for tx in 0..self.index.transactions.len() as u32 {
            for place in self.places_of(tx) {
                let mut access = self.accesses[place];
                let seen = &mut items[access.item as usize];
                if seen.tx != tx {
                    *seen = Seen { tx, ..nothing };
                }
                if access.kind == AccessKind::Write {
                    self.write(tx, &access, seen, cases);
                } else if let Some(own) = self.contradicted(tx, &access, seen.own) {
                    cases.offer(Internal, &[self.place(own), (tx, access.op)]);
                    access.kind = AccessKind::Void;
                } else if seen.own != NONE && self.index.items[access.item as usize] == Space::Register {
                    access.kind = AccessKind::Void;
                } else {
                    if access.version == NONE && access.kind == AccessKind::Absence {
                        self.resolve_absence(tx, &mut access, cases);
                    }
                    self.read_other(tx, &mut access, seen, cases);
                }
                self.accesses[place] = access;
            }
        }
    }

    fn write(&mut self, tx: u32, access: &Access, seen: &mut Seen, cases: &mut Cases) {
        let write = self.index.writes[access.version as usize];
        let space = self.index.items[write.item as usize];
        if space == Space::Counter && seen.own != NONE && self.index.writes[seen.own as usize].payload >= write.payload
        {
            cases.offer(Internal, &[self.place(seen.own), (tx, access.op)]);
        }
        if seen.own == NONE && seen.aborted != NONE {
            cases.offer(DirtyUpdate, &[self.place(seen.aborted), (tx, access.op)]);
        }
        seen.own = access.version;
        if let Some((from, op)) = seen.last.filter(|_| write.is_last && space == Space::Register) {
            self.successions.push(Succession { from, to: access.version, read: Some(op) });
        }
    }

    /// Write of the same transaction that a read should show and does not, or shows before it was made. `own` is the last one before it.
    fn contradicted(&self, tx: u32, access: &Access, own: u32) -> Option<u32> {
        let Action::ReadList { elements, .. } = self.index.action(tx, access.op) else {
            let is_seen = own == NONE
                || match access.kind {
                    AccessKind::Read => access.version == own,
                    AccessKind::Absence => self.index.writes[own as usize].is_deletion,
                    _ => true,
                };
            return (!is_seen).then_some(own);
        };
        let others = self.index.elements(tx, access.op).len();
        if own == NONE && others == elements.len() {
            return None;
        }
        let before = self.accesses_of(tx).iter().take_while(|other| other.op < access.op);
        let is_append = |other: &&Access| other.kind == AccessKind::Write && other.item == access.item;
        let mut appended: Vec<u32> = before.filter(is_append).map(|other| other.version).collect();
        let mut rest = elements.iter();
        let element = |version: u32| self.index.writes[version as usize].payload;
        if let Some(missing) = appended.iter().find(|version| !rest.any(|found| *found == element(**version))) {
            return Some(*missing);
        }
        appended.sort_unstable();
        let mut own = elements[others..].iter().filter_map(|element| self.index.lookup(access.item, *element));
        own.find(|version| appended.binary_search(version).is_err())
    }

    /// A read of what others wrote.
    fn read_other(&mut self, tx: u32, access: &mut Access, seen: &mut Seen, cases: &mut Cases) {
        seen.last = None;
        if !matches!(access.kind, AccessKind::Read | AccessKind::Absence) || self.is_void[access.item as usize] {
            self.compare(tx, access, seen, cases);
            access.kind = if access.kind == AccessKind::Unclear { access.kind } else { AccessKind::Void };
            return;
        }
        let place = (tx, access.op);
        self.compare(tx, access, seen, cases);
        let Some(write) = self.index.write(access.version) else {
            seen.last = Some((access.version, access.op));
            return;
        };
        let written = (write.tx, write.op);
        let defect: Option<AnomalyKind> = match self.index.outcome(write.tx) {
            _ if write.tx == tx => Some(Internal),
            TransactionOutcome::RolledBack => Some(G1a),
            _ if self.index.counts[write.tx as usize] && !write.is_last => Some(G1b),
            _ => None,
        };
        if let Some(kind) = defect {
            cases.offer(kind, &[written, place]);
            seen.aborted = if kind == G1a { access.version } else { seen.aborted };
        }
        if defect.is_some() || !self.index.counts[write.tx as usize] {
            access.kind = AccessKind::Void;
            return;
        }
        seen.last = Some((access.version, access.op));
        self.links.push(Link { from: write.tx, to: tx, version: access.version, label: WR });
    }

    /// Compares a read with the transaction's first of the same item.
    fn compare(&self, tx: u32, access: &Access, seen: &mut Seen, cases: &mut Cases) {
        let is_absent = |access: &Access| matches!(access.kind, AccessKind::Absence | AccessKind::Unclear);
        let Some(first) = seen.first else {
            seen.first = Some(*access).filter(|access| access.kind != AccessKind::Void);
            return;
        };
        let places = [(tx, first.op), (tx, access.op)];
        if access.kind == AccessKind::Void || first.op == access.op {
            return;
        }
        if is_absent(&first) != is_absent(access) {
            cases.offer(PhantomRead, &places);
        } else if !is_absent(access) && first.version != access.version {
            cases.offer(NonRepeatableRead, &places);
        }
    }
}
