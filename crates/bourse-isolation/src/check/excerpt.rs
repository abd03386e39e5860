//! The example of an anomaly as a history of its own.

use crate::check::cases::Case;
use crate::check::evidence::{Access, AccessKind, Evidence};
use crate::check::graph::{Link, PREDICATE, RW, SESSION, TIMED, WR, WW};
use crate::check::index::{Space, Write};
use crate::check::{Anomaly, Arrow, Place, Reason};
use crate::{AnomalyKind, History, Transaction, TransactionOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// Operations of transactions that an excerpt has.
type Chosen = BTreeMap<u32, BTreeSet<u32>>;

impl Evidence<'_> {
    /// An anomaly with its smallest case.
    pub(crate) fn anomaly(&self, name: &str, kind: AnomalyKind, count: u64, case: &Case) -> Anomaly {
        let (mut places, steps): (Vec<(u32, u32)>, &[Link]) = match case {
            Case::Places(places) => (places.clone(), &[]),
            Case::Cycle(steps) => (Vec::new(), steps),
        };
        let ends: Vec<_> = steps.iter().map(|step| self.operations_of(step)).collect();
        let shown: BTreeSet<u32> =
            places.iter().map(|place| place.0).chain(steps.iter().map(|step| step.from)).collect();
        let ended = steps.iter().zip(&ends).flat_map(|(step, ends)| {
            ends.0.map(|op| (step.from, op)).into_iter().chain(ends.1.map(|op| (step.to, op)))
        });
        let mut chosen: Chosen = shown.iter().map(|tx| (*tx, BTreeSet::new())).collect();
        let mut items = BTreeSet::new();
        for (tx, op) in places.iter().copied().chain(ended) {
            items.extend(self.index.item(self.index.action(tx, op)));
            chosen.entry(tx).or_default().insert(op);
        }
        for tx in &shown {
            for (op, operation) in (0..).zip(&self.index.transactions[*tx as usize].operations) {
                if self.index.item(&operation.action).is_some_and(|item| items.contains(&item)) {
                    chosen.entry(*tx).or_default().insert(op);
                }
            }
        }
        self.add_witnesses(&shown, &items, &mut chosen);
        let mut order: Vec<u32> = chosen.keys().copied().collect();
        order.sort_by_key(|tx| (self.index.transactions[*tx as usize].begin_ns, *tx));
        let transaction = |tx: u32| order.iter().position(|other| *other == tx).expect("it was chosen");
        let operation = |tx: u32, op: u32| chosen[&tx].iter().position(|other| *other == op).expect("it was chosen");
        let arrow = |(step, ends): (&Link, &(Option<u32>, Option<u32>))| Arrow {
            reason: match step.label {
                WW => Reason::Overwrote,
                WR => Reason::Saw,
                RW => Reason::Missed,
                PREDICATE => Reason::MissedRow,
                TIMED => Reason::MissedLater,
                SESSION => Reason::Session,
                _ => Reason::RealTime,
            },
            from: transaction(step.from),
            to: transaction(step.to),
            from_operation: ends.0.map(|op| operation(step.from, op)),
            to_operation: ends.1.map(|op| operation(step.to, op)),
        };
        let mut positions: Vec<usize> = shown.iter().map(|tx| transaction(*tx)).collect();
        positions.sort_unstable();
        places.dedup();
        let excerpted = |tx: &u32| {
            let Transaction { session, begin_ns, end_ns, outcome, operations } = &self.index.transactions[*tx as usize];
            let operations = chosen[tx].iter().map(|op| operations[*op as usize].clone()).collect();
            Transaction { session: *session, begin_ns: *begin_ns, end_ns: *end_ns, outcome: *outcome, operations }
        };
        Anomaly {
            kind,
            count,
            transactions: positions,
            places: places
                .iter()
                .map(|(tx, op)| Place { transaction: transaction(*tx), operation: operation(*tx, *op) })
                .collect(),
            arrows: steps.iter().zip(&ends).map(arrow).collect(),
            excerpt: History { name: name.to_owned(), transactions: order.iter().map(excerpted).collect() },
        }
    }

    /// Operations of both transactions that a step is about.
    fn operations_of(&self, step: &Link) -> (Option<u32>, Option<u32>) {
        if step.label & (WW | WR | RW | PREDICATE | TIMED) == 0 {
            return (None, None);
        }
        let made = self.index.write(step.version);
        let item = made.map_or_else(|| step.version - self.index.initial(0), |write| write.item);
        let is_list = self.index.items[item as usize] != Space::Register;
        let read = |tx| {
            let mut reads = self.accesses_of(tx).iter().filter(|access| access.item == item);
            let is_read = |kind| !matches!(kind, AccessKind::Write | AccessKind::Void);
            let is_of = |version| version == step.version;
            reads.find(|access| is_read(access.kind) && (is_of(access.version) || access.kind == AccessKind::Unclear))
        };
        let written = |tx| {
            let mut writes =
                self.accesses_of(tx).iter().filter(|access| access.item == item && access.kind == AccessKind::Write);
            if is_list { writes.next() } else { writes.next_back() }
        };
        let made = made.map(|write| write.op);
        let op = |access: Option<&Access>| access.map(|access| access.op);
        match step.label {
            WW => (made, op(written(step.to))),
            WR => (made, op(read(step.to).or_else(|| written(step.to)))),
            _ => (op(read(step.from)), op(written(step.to))),
        }
    }

    /// Adds what others did that the chosen operations saw, and what orders the versions of items.
    fn add_witnesses(&self, shown: &BTreeSet<u32>, items: &BTreeSet<u32>, chosen: &mut Chosen) {
        let mut unknown: Vec<u32> =
            shown.iter().copied().filter(|tx| self.index.outcome(*tx) == TransactionOutcome::Unknown).collect();
        while let Some(tx) = unknown.pop() {
            let is_seen =
                |access: &&Access| access.kind != AccessKind::Write && self.index.tx_of(access.version) == Some(tx);
            let observer = self
                .index
                .counting()
                .filter(|other| *other != tx)
                .find_map(|other| Some((other, self.accesses_of(other).iter().find(is_seen)?.op)));
            if let Some((other, op)) = observer
                && chosen.entry(other).or_default().insert(op)
                && self.index.outcome(other) == TransactionOutcome::Unknown
            {
                unknown.push(other);
            }
        }
        choose(items.iter().filter_map(|item| self.longest[*item as usize]), chosen);
        let mut writers = BTreeSet::<(u32, u32)>::new();
        for (tx, op) in chosen.iter().flat_map(|(tx, ops)| ops.iter().map(|op| (*tx, *op))).collect::<Vec<_>>() {
            let accesses =
                self.accesses_of(tx).iter().filter(|access| access.op == op && access.kind != AccessKind::Write);
            for Access { item, version, kind, .. } in accesses.copied() {
                let is_absent = kind != AccessKind::Read && self.index.items[item as usize] == Space::Register;
                let elements = self.index.all_elements(tx, op);
                let is_seen = |(number, write): &(u32, &Write)| {
                    *number == version || (is_absent && write.is_deletion) || elements.contains(&write.payload)
                };
                writers.extend(self.index.made(item).filter(is_seen).map(|(_, write)| (write.tx, item)));
                choose(self.existed[item as usize].filter(|_| is_absent), chosen);
            }
        }
        for (tx, item) in writers {
            let own = self.index.made(item).filter(|(_, write)| write.tx == tx);
            choose(own.map(|(_, write)| (tx, write.op)), chosen);
        }
    }
}

/// Adds operations to those chosen.
fn choose(operations: impl IntoIterator<Item = (u32, u32)>, chosen: &mut Chosen) {
    operations.into_iter().for_each(|(tx, op)| _ = chosen.entry(tx).or_default().insert(op));
}
