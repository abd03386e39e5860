//! The driver's own count of what was performed, independent of the recorder so that the two can be compared.

use crate::Nanos;
use bourse_record::{Counts, Outcome, Sample, SampleInclusion};

/// Number of outcomes that take time.
const OUTCOMES: usize = Outcome::MEASURED.len();
/// Octaves of a histogram: 0 ns, 1 ns, 2 to 3 ns … up to an hour.
const OCTAVES: usize = octave(Counts::LONGEST_NS) + 1;

/// Octave of a time.
pub(crate) const fn octave(ns: Nanos) -> usize {
    (u64::BITS - ns.leading_zeros()) as usize
}

/// Counts of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationCounts {
    /// Operations of the whole round, by [measured outcome](Outcome::MEASURED).
    pub whole_round: [u64; OUTCOMES],
    /// Operations that ended in the measurement interval, by measured outcome.
    pub interval: [u64; OUTCOMES],
    /// Part of `interval` that was counted without a time.
    pub untimed: [u64; OUTCOMES],
    /// Operations that were due before the end of the interval and ended after it, by measured outcome.
    pub under_way: [u64; OUTCOMES],
    /// Operations due before the end of the interval whose end is unknown.
    pub unended: u64,
    /// Operations that may or may not have taken effect: the session was lost, the call was interrupted, or a server of
    /// a cluster was lost during the commit.
    pub in_doubt: u64,
    /// Sum of response times of the measurement interval, including operations under way at its end: 64 bits hold 584
    /// years.
    pub(crate) response_ns: Nanos,
    /// Sum of service times of the same operations.
    pub(crate) service_ns: Nanos,
    /// Number of those response times by octave.
    pub(crate) octaves: [u64; OCTAVES],
}

impl Default for OperationCounts {
    fn default() -> Self {
        Self {
            whole_round: [0; OUTCOMES],
            interval: [0; OUTCOMES],
            untimed: [0; OUTCOMES],
            under_way: [0; OUTCOMES],
            unended: 0,
            in_doubt: 0,
            response_ns: 0,
            service_ns: 0,
            octaves: [0; OCTAVES],
        }
    }
}

impl OperationCounts {
    /// Operations of the whole round with that outcome.
    pub fn ended(&self, outcome: Outcome) -> u64 {
        outcome.measured().map_or(0, |at| self.whole_round[at])
    }

    /// Operations whose times count for the figures, by measured outcome.
    pub(crate) fn timed(&self) -> [u64; OUTCOMES] {
        std::array::from_fn(|at| self.interval[at] - self.untimed[at] + self.under_way[at])
    }

    /// Operations of the whole round that ended validly: all but failed.
    pub fn valid(&self) -> u64 {
        self.whole_round.iter().sum::<u64>() - self.ended(Outcome::Failed)
    }
}

/// Counts of one user, or of all users together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationLedger {
    entries: Vec<OperationCounts>,
    /// Sums of response times of scheduled operations, according to the schedule and to the entries; `None` without a
    /// schedule.
    pub(crate) scheduled: Option<ScheduledTimes>,
}

/// Response times of operations that a schedule made due, from two sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ScheduledTimes {
    pub(crate) by_schedule_ns: Nanos,
    pub(crate) by_entries_ns: Nanos,
}

impl OperationLedger {
    /// An empty ledger for `operations` operations.
    pub fn new(operations: usize) -> Self {
        Self { entries: vec![OperationCounts::default(); operations], scheduled: None }
    }

    /// Counts of an operation.
    pub fn entry(&self, operation: usize) -> &OperationCounts {
        &self.entries[operation]
    }

    pub(crate) fn entries(&self) -> &[OperationCounts] {
        &self.entries
    }

    /// Memory of a ledger for `operations` operations, in bytes.
    pub(crate) const fn memory_bytes(operations: usize) -> u64 {
        (operations * size_of::<OperationCounts>()) as u64
    }

    /// Counts an operation; `counted` decides which figures include it. Costs a few additions.
    #[inline]
    pub fn enter(&mut self, performed: &Sample, counted: impl Into<SampleInclusion>) {
        let entry = &mut self.entries[performed.operation];
        let Some(at) = performed.outcome.measured() else { return };
        let count = u64::from(performed.count);
        entry.whole_round[at] += count;
        match counted.into() {
            SampleInclusion::Not => return,
            SampleInclusion::Ended => entry.interval[at] += count,
            SampleInclusion::Untimed => {
                entry.interval[at] += count;
                entry.untimed[at] += count;
                return;
            }
            SampleInclusion::UnderWay => entry.under_way[at] += count,
        }
        // Computed here and not by the sample's own methods, which the recorder uses: the two must be independent.
        let response_ns = performed.end_ns.saturating_sub(performed.due_ns);
        let service_ns = performed.end_ns.saturating_sub(performed.start_ns.saturating_add(performed.back_off_ns));
        entry.response_ns += response_ns;
        entry.service_ns += service_ns;
        let each = if count > 1 { (response_ns + count / 2) / count } else { response_ns };
        entry.octaves[octave(each.min(Counts::LONGEST_NS))] += count;
    }

    /// Counts operations that were due before the end of the interval and will not end.
    pub(crate) fn unended(&mut self, operation: usize, count: u32) {
        self.entries[operation].unended += u64::from(count);
    }

    /// Counts operations that may or may not have taken effect.
    pub(crate) fn doubt(&mut self, operation: usize, count: u32) {
        self.entries[operation].in_doubt += u64::from(count);
    }

    /// Records the sum of response times according to the schedule.
    pub(crate) fn schedule(&mut self, by_schedule_ns: Nanos) {
        let by_entries_ns = self.entries.iter().map(|entry| entry.response_ns).sum();
        self.scheduled = Some(ScheduledTimes { by_schedule_ns, by_entries_ns });
    }

    /// Number of operations that may or may not have taken effect.
    pub(crate) fn in_doubt(&self) -> u64 {
        self.entries.iter().map(|entry| entry.in_doubt).sum()
    }

    /// Adds the counts of another user.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.entries.iter_mut().zip(&other.entries) {
            let add = |mine: &mut [u64], theirs: &[u64]| mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
            add(&mut mine.whole_round, &theirs.whole_round);
            add(&mut mine.interval, &theirs.interval);
            add(&mut mine.untimed, &theirs.untimed);
            add(&mut mine.under_way, &theirs.under_way);
            add(&mut mine.octaves, &theirs.octaves);
            mine.unended += theirs.unended;
            mine.in_doubt += theirs.in_doubt;
            mine.response_ns += theirs.response_ns;
            mine.service_ns += theirs.service_ns;
        }
        if let Some(theirs) = other.scheduled {
            let mine = self.scheduled.get_or_insert_default();
            mine.by_schedule_ns += theirs.by_schedule_ns;
            mine.by_entries_ns += theirs.by_entries_ns;
        }
    }
}
