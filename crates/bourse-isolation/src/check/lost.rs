//! Acknowledged writes that the final state lacks: durability excludes them, at every level of isolation.

use crate::AnomalyKind::LostWrite;
use crate::check::cases::Cases;
use crate::check::index::{Index, NONE, Write};
use crate::{Action, FINAL_SESSION, TransactionOutcome};

impl Index<'_> {
    /// Finds rows whose final version was acknowledged before a write of theirs began that was acknowledged too, and acknowledged
    /// elements that the final list lacks.
    pub(crate) fn find_lost(&self, cases: &mut Cases) {
        let last = (0..).zip(self.transactions).find(|(_, tx)| tx.session == FINAL_SESSION);
        let Some((tx, last)) = last else { return };
        for (op, operation) in (0..).zip(&last.operations) {
            let place = (tx, op);
            match &operation.action {
                Action::Read { key, version } => self.compare_final(place, self.register(*key), *version, cases),
                Action::ReadRange { from, to, rows } => {
                    for (key, item) in self.written(&(*from..=(*to).max(*from))) {
                        let version = rows.iter().find(|row| row.0 == *key).map(|row| row.1);
                        self.compare_final(place, *item, version, cases);
                    }
                }
                Action::ReadList { elements, .. } => {
                    let item = self.item(&operation.action).unwrap_or(NONE);
                    let lacks = |write: &&Write| self.counts[write.tx as usize] && !elements.contains(&write.payload);
                    let lost = self.made(item).map(|(_, write)| write).filter(lacks);
                    lost.for_each(|write| cases.offer(LostWrite, &[(write.tx, write.op), place]));
                }
                _ => {}
            }
        }
    }

    /// Finds the last acknowledged write of a row that began after what the final state has was acknowledged.
    fn compare_final(&self, place: (u32, u32), item: u32, version: Option<u64>, cases: &mut Cases) {
        let writes = || self.made(item).map(|(_, write)| write);
        let since = match version.map(|version| self.lookup(item, version)) {
            // A deletion, or what was there at the start: of none.
            None => writes()
                .filter(|write| write.is_deletion && self.outcome(write.tx) != TransactionOutcome::RolledBack)
                .map(|write| self.acknowledged(write.tx))
                .try_fold(0, |latest, ended_ns| Some(latest.max(ended_ns?))),
            // That is another anomaly.
            Some(None | Some(NONE)) => None,
            Some(Some(version)) => self.tx_of(version).map_or(Some(0), |tx| self.acknowledged(tx)),
        };
        let Some(since) = since else { return };
        let is_lost = |write: &&Write| {
            let is_there = if write.is_deletion { version.is_none() } else { version == Some(write.payload) };
            let begin_ns = self.transactions[write.tx as usize].begin_ns;
            write.is_last && !is_there && begin_ns >= since && self.acknowledged(write.tx).is_some()
        };
        if let Some(write) = writes().rfind(is_lost) {
            cases.offer(LostWrite, &[(write.tx, write.op), place]);
        }
    }
}
