//! Edges of the graph of dependencies: from the order of versions, of sessions, and of real time.

use crate::AnomalyKind::{G1a, GMonotonic, GSingle, LostUpdate};
use crate::TransactionOutcome::{RolledBack, Unknown};
use crate::check::cases::Cases;
use crate::check::evidence::{Access, AccessKind, Evidence, Succession};
use crate::check::graph::{Link, PREDICATE, RW, SESSION, TIME, TIMED, WR, WW, grouped};
use crate::check::index::{NONE, Space, Write};

/// Most edges from one read to those who overwrote what it read. More are needed only if many wrote without reading, and cost memory
/// that grows with the product of reads and writes.
const OVERWRITERS_MAX: usize = 8;
/// Most reads of a transaction among which each pair is compared.
const READS_COMPARED_MAX: usize = 256;

/// The successors of each version.
struct Order {
    offsets: Vec<u32>,
    successors: Vec<Succession>,
}

impl Order {
    fn of(&self, version: u32) -> &[Succession] {
        &self.successors[self.offsets[version as usize] as usize..self.offsets[version as usize + 1] as usize]
    }
}

impl Evidence<'_> {
    /// Adds all edges. Returns the number of nodes: transactions, and moments between them.
    pub(crate) fn link(&mut self, cases: &mut Cases) -> usize {
        self.count_up(cases);
        let order = self.order(cases);
        self.link_writes(&order);
        for tx in 0..self.index.transactions.len() as u32 {
            self.link_reads(tx, &order, cases);
        }
        self.link_sessions();
        self.link_time()
    }

    /// Order of all versions, once those that nothing precedes follow the state at the start.
    fn order(&mut self, cases: &mut Cases) -> Order {
        let mut is_preceded = vec![false; self.index.writes.len()];
        self.successions.iter().for_each(|succession| is_preceded[succession.to as usize] = true);
        for (number, write) in (0_u32..).zip(&self.index.writes) {
            let is_register = self.index.items[write.item as usize] == Space::Register;
            if is_register && write.is_last && self.index.counts[write.tx as usize] && !is_preceded[number as usize] {
                let from = self.index.initial(write.item);
                self.successions.push(Succession { from, to: number, read: None });
            }
        }
        let successions = std::mem::take(&mut self.successions);
        let (offsets, numbers) =
            grouped(self.index.versions(), successions.len(), |number| successions[number].from as usize);
        let successors = numbers.iter().map(|number| successions[*number as usize]).collect();
        let mut order = Order { offsets, successors };
        let (transactions, writes) = (self.index.transactions, &self.index.writes);
        for version in 0..self.index.versions() as u32 {
            let range = order.offsets[version as usize] as usize..order.offsets[version as usize + 1] as usize;
            let successors = &mut order.successors[range];
            if successors.len() > OVERWRITERS_MAX {
                let end_ns = |next: &Succession| transactions[writes[next.to as usize].tx as usize].end_ns;
                successors.sort_by_key(end_ns);
            }
            let update = |next: &Succession| {
                let write = &writes[next.to as usize];
                Some([(write.tx, next.read?), (write.tx, write.op)])
            };
            let mut updates = successors.iter().filter_map(update);
            if let (Some(one), Some(other)) = (updates.next(), updates.next()) {
                let places = [one, other].concat();
                cases.offer(if self.is_absence(version) { GSingle } else { LostUpdate }, &places);
            }
        }
        order
    }

    /// Whether a version is the absence of a row.
    fn is_absence(&self, version: u32) -> bool {
        match self.index.write(version) {
            Some(write) => write.is_deletion,
            None => self.existed[(version - self.index.initial(0)) as usize].is_none(),
        }
    }

    fn link_writes(&mut self, order: &Order) {
        for next in &order.successors {
            let (Some(before), Some(after)) = (self.index.write(next.from), self.index.write(next.to)) else {
                continue;
            };
            // A version that was read before it was written has no place in an order.
            let is_possible = next.read.is_none_or(|read| {
                let operation = |tx: u32, op: u32| &self.index.transactions[tx as usize].operations[op as usize];
                operation(before.tx, before.op).begin_ns < operation(after.tx, read).end_ns
            });
            let counts = |tx: u32| self.index.counts[tx as usize];
            if before.tx != after.tx && counts(before.tx) && counts(after.tx) && is_possible {
                self.links.push(Link { from: before.tx, to: after.tx, version: next.from, label: WW });
            }
        }
    }

    /// Edges from a transaction to those who overwrote what it read.
    fn link_reads(&mut self, tx: u32, order: &Order, cases: &mut Cases) {
        let mut sources = Vec::<(u32, u32)>::new();
        for place in self.places_of(tx) {
            let access = self.accesses[place];
            let label = match access.kind {
                AccessKind::Write | AccessKind::Void => continue,
                AccessKind::Read => RW,
                AccessKind::Absence | AccessKind::Unclear => PREDICATE,
            };
            let since = if access.kind == AccessKind::Unclear {
                self.absent_since(tx, &access)
            } else {
                let successors = order.of(access.version);
                for next in &successors[..successors.len().min(OVERWRITERS_MAX)] {
                    let write = self.index.writes[next.to as usize];
                    if write.tx == tx || !self.index.counts[write.tx as usize] {
                        continue;
                    }
                    self.links.push(Link { from: tx, to: write.tx, version: access.version, label });
                    if label == RW
                        && let Some((_, op)) =
                            sources.iter().find(|source| source.0 == write.tx && source.1 < access.op)
                    {
                        cases.offer(GMonotonic, &[(write.tx, write.op), (tx, *op), (tx, access.op)]);
                    }
                }
                let writer = self.index.tx_of(access.version);
                if let Some(writer) = writer.filter(|_| access.kind == AccessKind::Read)
                    && sources.len() < READS_COMPARED_MAX
                {
                    sources.push((writer, access.op));
                }
                writer.and_then(|writer| self.index.acknowledged(writer))
            };
            if let Some(since) = since.filter(|_| self.index.items[access.item as usize] == Space::Register) {
                let known = if access.version == NONE { &[] } else { order.of(access.version) };
                self.link_later(tx, &access, known, since);
            }
        }
    }

    /// Edges to the writers of an item that began after a time, without those that began after another of them had ended.
    fn link_later(&mut self, tx: u32, access: &Access, known: &[Succession], since_ns: u64) {
        let transactions = self.index.transactions;
        let writes = self.index.writes_of(access.item);
        let begin_ns = |version: &u32| transactions[self.index.writes[*version as usize].tx as usize].begin_ns;
        let later = &writes[writes.partition_point(|version| begin_ns(version) <= since_ns)..];
        let (mut first_end_ns, mut found) = (u64::MAX, Vec::new());
        for number in later {
            let write = &self.index.writes[*number as usize];
            if begin_ns(number) > first_end_ns || found.len() == OVERWRITERS_MAX {
                break;
            }
            if !write.is_last || !self.index.counts[write.tx as usize] {
                continue;
            }
            first_end_ns = first_end_ns.min(self.index.acknowledged(write.tx).unwrap_or(u64::MAX));
            if write.tx != tx && known.iter().take(OVERWRITERS_MAX).all(|next| next.to != *number) {
                let version = if access.version == NONE { self.index.initial(access.item) } else { access.version };
                found.push(Link { from: tx, to: write.tx, version, label: TIMED });
            }
        }
        self.links.extend(found);
    }

    /// Orders the increments of each counter by value. Equal values are lost updates; the value of an increment that was rolled back must
    /// be counted again.
    fn count_up(&mut self, cases: &mut Cases) {
        let has_unknown = self.index.transactions.iter().any(|tx| tx.outcome == Unknown);
        for item in 0..self.index.items.len() as u32 {
            if self.index.items[item as usize] != Space::Counter {
                continue;
            }
            let counts = |write: &(u32, &Write)| self.index.counts[write.1.tx as usize];
            let (mut counted, others): (Vec<_>, Vec<_>) = self.index.made(item).partition(counts);
            counted.sort_by_key(|(_, write)| write.payload);
            // The first increment to the value before.
            let (mut before, mut is_complete) = (None::<(u32, &Write)>, !has_unknown);
            for group in counted.chunk_by(|one, other| one.1.payload == other.1.payload) {
                let first = group[0].1;
                for (_, write) in group.iter().filter(|(_, write)| write.tx != first.tx) {
                    cases.offer(LostUpdate, &[(first.tx, first.op), (write.tx, write.op)]);
                }
                let is_next = first.payload == before.map_or(0, |(_, write)| write.payload) + 1;
                let is_cause =
                    |write: &Write| write.payload + 1 == first.payload && self.index.outcome(write.tx) == RolledBack;
                if let Some((_, aborted)) = others.iter().find(|(_, write)| !is_next && is_complete && is_cause(write))
                {
                    cases.offer(G1a, &[(aborted.tx, aborted.op), (first.tx, first.op)]);
                }
                is_complete &= is_next;
                if let Some((version, earlier)) = before {
                    let (from, label) = (earlier.tx, if is_next { WW | WR } else { WW });
                    let later = group.iter().filter(|(_, write)| write.tx != from);
                    self.links.extend(later.map(|(_, write)| Link { from, to: write.tx, version, label }));
                }
                before = Some(group[0]);
            }
        }
    }

    /// Edges within each session.
    fn link_sessions(&mut self) {
        let transactions = self.index.transactions;
        let mut order: Vec<u32> = self.index.counting().collect();
        order.sort_by_key(|tx| (transactions[*tx as usize].session, transactions[*tx as usize].begin_ns));
        let mut last = None::<u32>;
        for to in order {
            let next = &transactions[to as usize];
            if let Some(from) = last.filter(|from| transactions[*from as usize].session == next.session)
                && transactions[from as usize].end_ns <= next.begin_ns
            {
                self.links.push(Link { from, to, version: NONE, label: SESSION });
            }
            if self.index.acknowledged(to).is_some() {
                last = Some(to);
            }
        }
    }

    /// Edges of real time through nodes for moments: each transaction leads to the moment after its end, each moment to the next, and to
    /// the transactions that begin before that. So edges grow with transactions, not with pairs of them.
    fn link_time(&mut self) -> usize {
        let mut nodes = self.index.transactions.len() as u32;
        // Begins first at equal times: what ends as another begins did not precede it.
        let mut events = Vec::new();
        for tx in self.index.counting() {
            events.push((self.index.transactions[tx as usize].begin_ns, false, tx));
            events.extend(self.index.acknowledged(tx).map(|end_ns| (end_ns, true, tx)));
        }
        events.sort_unstable();
        let (mut moment, mut ended) = (None::<u32>, Vec::new());
        for (_, is_end, tx) in events {
            if is_end {
                ended.push(tx);
                continue;
            }
            if !ended.is_empty() {
                let link = |from| Link { from, to: nodes, version: NONE, label: TIME };
                self.links.extend(ended.drain(..).chain(moment).map(link));
                moment = Some(nodes);
                nodes += 1;
            }
            self.links.extend(moment.map(|from| Link { from, to: tx, version: NONE, label: TIME }));
        }
        nodes as usize
    }
}
