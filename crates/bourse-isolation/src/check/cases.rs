//! Cases of anomalies as they are found: how many of each kind, and the smallest.

use crate::check::graph::Link;
use crate::{AnomalyKind, Transaction};

/// Evidence of a case.
#[derive(Debug, Clone)]
pub(crate) enum Case {
    /// Operations that show it: transaction and operation.
    Places(Vec<(u32, u32)>),
    /// Dependencies that form a cycle.
    Cycle(Vec<Link>),
}

/// The cases of all kinds.
#[derive(Debug)]
pub(crate) struct Cases<'h> {
    transactions: &'h [Transaction],
    /// Number of cases, and the smallest with its size, by kind.
    pub(crate) kinds: Vec<(u64, Option<(usize, Case)>)>,
}

impl<'h> Cases<'h> {
    pub(crate) fn new(transactions: &'h [Transaction]) -> Self {
        Self { transactions, kinds: vec![(0, None); crate::ANOMALIES.len()] }
    }

    /// Counts a case that operations show, and stores it if it is the smallest.
    pub(crate) fn offer(&mut self, kind: AnomalyKind, places: &[(u32, u32)]) {
        self.add(kind, places.iter().map(|place| place.0), || Case::Places(places.to_vec()));
    }

    /// Counts a case that a cycle shows, and stores it if it is the smallest.
    pub(crate) fn offer_cycle(&mut self, kind: AnomalyKind, cycle: &[Link]) {
        self.add(kind, cycle.iter().map(|step| step.from), || Case::Cycle(cycle.to_vec()));
    }

    /// Small is of few transactions, then of few operations.
    fn add(&mut self, kind: AnomalyKind, involved: impl Iterator<Item = u32>, case: impl FnOnce() -> Case) {
        let mut involved: Vec<u32> = involved.collect();
        involved.sort_unstable();
        involved.dedup();
        let operations = involved.iter().map(|tx| self.transactions[*tx as usize].operations.len()).sum::<usize>();
        let size = (involved.len() << 32) + operations;
        let (count, smallest) = &mut self.kinds[kind as usize];
        *count += 1;
        if smallest.as_ref().is_none_or(|(other, _)| size < *other) {
            *smallest = Some((size, case()));
        }
    }
}
