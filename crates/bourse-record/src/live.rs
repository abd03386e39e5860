//! What one thread has done so far, readable by another while it works: no lock, no allocation, fixed memory.

use crate::{Outcome, Sample};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One user's running counts. Only its own thread writes, so that plain stores do; anybody may read.
#[derive(Debug)]
pub struct LiveCell {
    /// Ended validly, by operation.
    completed: Box<[AtomicU64]>,
    failed: AtomicU64,
    retries: AtomicU64,
    /// Response times: exact below 128 ns, 64 buckets an octave beyond.
    buckets: Box<[AtomicU32]>,
    /// The longest response since it was last taken.
    longest_ns: AtomicU64,
    /// Operations that are due and wait for this user.
    backlog: AtomicU64,
}

const EXACT: usize = 128;
const OCTAVE: usize = 64;
const LONGEST: u64 = crate::Counts::LONGEST_NS;
const BUCKETS: usize = index(LONGEST) + 1;

const fn index(ns: u64) -> usize {
    if ns < EXACT as u64 {
        return ns as usize;
    }
    let shift = (u64::BITS - 1 - ns.leading_zeros()) as usize - 6;
    EXACT + (shift - 1) * OCTAVE + ((ns >> shift) as usize - OCTAVE)
}

/// The middle of a bucket.
fn middle(index: usize) -> f64 {
    if index < EXACT {
        return index as f64;
    }
    let shift = (index - EXACT) / OCTAVE + 1;
    ((index - EXACT) % OCTAVE + OCTAVE) as f64 * (1u64 << shift) as f64 + (1u64 << (shift - 1)) as f64
}

fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed) + by, Relaxed);
}

impl LiveCell {
    /// For a workload of so many operations.
    pub fn new(operations: usize) -> Self {
        Self {
            completed: std::iter::repeat_with(AtomicU64::default).take(operations).collect(),
            failed: AtomicU64::default(),
            retries: AtomicU64::default(),
            buckets: std::iter::repeat_with(AtomicU32::default).take(BUCKETS).collect(),
            longest_ns: AtomicU64::default(),
            backlog: AtomicU64::default(),
        }
    }

    /// Memory of one for a workload of so many operations, in bytes.
    pub(crate) const fn memory_bytes(operations: usize) -> u64 {
        (size_of::<Self>() + operations * size_of::<AtomicU64>() + BUCKETS * size_of::<AtomicU32>()) as u64
    }

    /// Says how many operations are due and wait. For the owning thread alone.
    pub fn waiting(&self, backlog: u64) {
        self.backlog.store(backlog, Relaxed);
    }

    /// Counts one operation. For the owning thread alone.
    pub(crate) fn record(&self, sample: &Sample) {
        match sample.outcome {
            Outcome::Failed => bump(&self.failed, u64::from(sample.count)),
            Outcome::Dropped => return,
            _ => bump(&self.completed[sample.operation], u64::from(sample.count)),
        }
        if sample.retries > 0 {
            bump(&self.retries, u64::from(sample.retries));
        }
        let response = (sample.response_ns() / u64::from(sample.count.max(1))).min(LONGEST);
        let bucket = &self.buckets[index(response)];
        bucket.store(bucket.load(Relaxed).wrapping_add(sample.count), Relaxed);
        if response > self.longest_ns.load(Relaxed) {
            self.longest_ns.fetch_max(response, Relaxed);
        }
    }
}

/// What all users together did between two looks.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRow {
    /// Ended validly, by operation.
    pub completed: Vec<u64>,
    /// Failed, over all.
    pub failed: u64,
    /// Retries, over all.
    pub retries: u64,
    /// Response time: median, 90th and 99th percentile, within 1 %; none without operations.
    pub response_ns: Option<[f64; 3]>,
    /// How many responses took how long, by the rows of a [`ResponseMap`](crate::ResponseMap).
    pub responses: Vec<u64>,
    /// The longest response time; none without operations.
    pub response_ns_max: Option<u64>,
    /// Operations that are due and wait, over all.
    pub backlog: u64,
}

/// Looks at all users' cells, and remembers what it saw.
#[derive(Debug)]
pub struct LiveReader {
    cells: Vec<std::sync::Arc<LiveCell>>,
    completed: Vec<u64>,
    failed: u64,
    retries: u64,
    buckets: Vec<u32>,
}

impl LiveReader {
    /// A reader of these cells, all of one workload.
    pub fn new(cells: Vec<std::sync::Arc<LiveCell>>, operations: usize) -> Self {
        Self { cells, completed: vec![0; operations], failed: 0, retries: 0, buckets: vec![0; BUCKETS] }
    }

    /// Ended validly until now, since the beginning: over all operations, and of one. Cheap enough for ten looks a second.
    pub fn ended(&self, operation: usize) -> [u64; 2] {
        let of = |cell: &LiveCell| cell.completed.get(operation).map_or(0, |count| count.load(Relaxed));
        let all = |cell: &LiveCell| cell.completed.iter().map(|count| count.load(Relaxed)).sum::<u64>();
        [self.cells.iter().map(|cell| all(cell)).sum(), self.cells.iter().map(|cell| of(cell)).sum()]
    }

    /// Counts since the last call.
    pub fn look(&mut self) -> LiveRow {
        let sum = |of: &dyn Fn(&LiveCell) -> u64| self.cells.iter().map(|cell| of(cell)).sum::<u64>();
        let completed: Vec<u64> =
            (0..self.completed.len()).map(|op| sum(&|cell| cell.completed[op].load(Relaxed))).collect();
        let failed = sum(&|cell| cell.failed.load(Relaxed));
        let retries = sum(&|cell| cell.retries.load(Relaxed));
        let longest = self.cells.iter().map(|cell| cell.longest_ns.swap(0, Relaxed)).max().unwrap_or(0);
        let buckets: Vec<u32> = (0..BUCKETS)
            .map(|at| self.cells.iter().fold(0, |sum: u32, cell| sum.wrapping_add(cell.buckets[at].load(Relaxed))))
            .collect();
        // Counters wrap rather than grow: differences stay right.
        let since: Vec<u32> = buckets.iter().zip(&self.buckets).map(|(now, then)| now.wrapping_sub(*then)).collect();
        let total: u64 = since.iter().map(|&count| u64::from(count)).sum();
        let row = LiveRow {
            completed: completed.iter().zip(&self.completed).map(|(now, then)| now - then).collect(),
            failed: failed - self.failed,
            retries: retries - self.retries,
            response_ns: (total > 0).then(|| [0.5, 0.9, 0.99].map(|quantile| quantile_of(&since, total, quantile))),
            responses: by_row(&since),
            response_ns_max: (total > 0).then_some(longest),
            backlog: sum(&|cell| cell.backlog.load(Relaxed)),
        };
        (self.completed, self.failed, self.retries, self.buckets) = (completed, failed, retries, buckets);
        row
    }
}

/// Counts by the rows of a response map; a bucket belongs to the row of its middle.
fn by_row(buckets: &[u32]) -> Vec<u64> {
    let mut rows = Vec::new();
    for (at, count) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
        let row = crate::ResponseMap::row(middle(at));
        rows.resize(rows.len().max(row + 1), 0);
        rows[row] += u64::from(*count);
    }
    rows
}

fn quantile_of(buckets: &[u32], total: u64, quantile: f64) -> f64 {
    let rank = ((quantile * total as f64).ceil() as u64).max(1);
    let mut seen = 0;
    let at = buckets.iter().position(|&count| {
        seen += u64::from(count);
        seen >= rank
    });
    middle(at.unwrap_or(BUCKETS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_look_shows_what_came_since_the_last() {
        let cell = Arc::new(LiveCell::new(2));
        let mut reader = LiveReader::new(vec![Arc::clone(&cell), Arc::new(LiveCell::new(2))], 2);
        let sample = |operation, outcome, ns| Sample {
            due_ns: 0,
            start_ns: 0,
            end_ns: ns,
            back_off_ns: 0,
            retries: 1,
            count: 1,
            operation,
            outcome,
            code: 0,
            server: None,
        };
        assert_eq!(reader.look().response_ns, None);
        for ns in 1..=1_000 {
            cell.record(&sample(0, Outcome::Completed, ns * 1_000));
        }
        cell.record(&sample(1, Outcome::Failed, 5));
        let row = reader.look();
        assert_eq!((row.completed, row.failed, row.retries), (vec![1_000, 0], 1, 1_001));
        assert_eq!(row.response_ns_max, Some(1_000_000));
        assert_eq!(row.responses.iter().sum::<u64>(), 1_001);
        assert_eq!((row.responses[4], row.responses.len()), (1, 40), "5 ns and 1 ms: 2^(39 / 2) ns is 741 µs");
        for (found, exact) in row.response_ns.unwrap().into_iter().zip([500e3, 900e3, 990e3]) {
            assert!((found / exact - 1.0).abs() < 0.01, "{found} for {exact}");
        }
        cell.record(&sample(1, Outcome::Warned, 70));
        let row = reader.look();
        assert_eq!((row.completed, row.failed, row.response_ns_max), (vec![0, 1], 0, Some(70)));
        assert_eq!(row.response_ns, Some([70.0; 3]));
    }
}
