//! What one thread has done so far, readable by another while it works: no lock, no allocation, fixed memory.

use crate::{OperationSpec, Outcome, Sample};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// One user's running counts. Only its own thread writes, so that plain stores do; anybody may read.
#[derive(Debug)]
pub struct LiveCell {
    /// Ended validly, by operation.
    completed: Box<[AtomicU64]>,
    /// Failed, by operation.
    failed: Box<[AtomicU64]>,
    retries: AtomicU64,
    /// Response times by operation: exact below 128 ns, 64 buckets an octave beyond. A stretch of them is there once a time falls
    /// into it, as in [`Counts`](crate::Counts).
    buckets: Box<[OnceLock<Stretch>]>,
    /// The longest response since it was last taken.
    longest_ns: AtomicU64,
    /// Operations that are due and wait for this user.
    backlog: AtomicU64,
    /// When the call in progress began, in nanoseconds; [`Self::IDLE`] without one.
    call_since: AtomicU64,
    /// Its operation, or [`Self::IDLE`] where that is not known.
    call_operation: AtomicU64,
}

const EXACT: usize = 128;
const OCTAVE: usize = 64;
const LONGEST: u64 = crate::Counts::LONGEST_NS;
/// Stretches of an operation, each as long as an octave.
const STRETCHES: usize = index(LONGEST) / OCTAVE + 1;
const BUCKETS: usize = STRETCHES * OCTAVE;

/// Buckets that are allocated together.
type Stretch = Box<[AtomicU32; OCTAVE]>;

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
    const IDLE: u64 = u64::MAX;

    /// For a workload of so many operations.
    pub fn new(operations: usize) -> Self {
        Self {
            completed: std::iter::repeat_with(AtomicU64::default).take(operations).collect(),
            failed: std::iter::repeat_with(AtomicU64::default).take(operations).collect(),
            retries: AtomicU64::default(),
            buckets: std::iter::repeat_with(OnceLock::new).take(operations * STRETCHES).collect(),
            longest_ns: AtomicU64::default(),
            backlog: AtomicU64::default(),
            call_since: AtomicU64::new(Self::IDLE),
            call_operation: AtomicU64::new(Self::IDLE),
        }
    }

    /// Memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let stretches = self.buckets.iter().filter(|stretch| stretch.get().is_some()).count();
        let of_operations = 2 * self.completed.len() * size_of::<AtomicU64>();
        let places = self.buckets.len() * size_of::<OnceLock<Stretch>>();
        (size_of::<Self>() + of_operations + places + stretches * size_of::<[AtomicU32; OCTAVE]>()) as u64
    }

    /// Says how many operations are due and wait. For the owning thread alone.
    pub fn waiting(&self, backlog: u64) {
        self.backlog.store(backlog, Relaxed);
    }

    /// Says that a call begins, of that operation if it is known. For the owning thread alone.
    #[inline]
    pub fn begins(&self, operation: Option<usize>, now_ns: u64) {
        self.call_operation.store(operation.map_or(Self::IDLE, |operation| operation as u64), Relaxed);
        self.call_since.store(now_ns, Relaxed);
    }

    /// Says that the call has returned. For the owning thread alone.
    #[inline]
    pub fn ends(&self) {
        self.call_since.store(Self::IDLE, Relaxed);
    }

    /// When the call in progress began, with its operation if that is known; none without a call.
    pub fn call(&self) -> Option<(u64, Option<usize>)> {
        let known = |value: u64| (value != Self::IDLE).then_some(value);
        let operation = known(self.call_operation.load(Relaxed)).and_then(|at| usize::try_from(at).ok());
        known(self.call_since.load(Relaxed)).map(|since| (since, operation))
    }

    /// Counts one operation. For the owning thread alone.
    pub(crate) fn record(&self, sample: &Sample) {
        match sample.outcome {
            Outcome::Failed => bump(&self.failed[sample.operation], u64::from(sample.count)),
            Outcome::Dropped => return,
            _ => bump(&self.completed[sample.operation], u64::from(sample.count)),
        }
        if sample.retries > 0 {
            bump(&self.retries, u64::from(sample.retries));
        }
        let response = (sample.response_ns() / u64::from(sample.count.max(1))).min(LONGEST);
        let at = index(response);
        let stretch = self.buckets[sample.operation * STRETCHES + at / OCTAVE]
            .get_or_init(|| Box::new([const { AtomicU32::new(0) }; OCTAVE]));
        let bucket = &stretch[at % OCTAVE];
        bucket.store(bucket.load(Relaxed).wrapping_add(sample.count), Relaxed);
        if response > self.longest_ns.load(Relaxed) {
            self.longest_ns.fetch_max(response, Relaxed);
        }
    }
}

/// What all users together did between two looks.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRow {
    /// What came of each operation.
    pub operations: Vec<LiveOperation>,
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

/// What all users together did of one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveOperation {
    /// Since the last look.
    pub since: LiveCounts,
    /// Since the beginning.
    pub all: LiveCounts,
}

/// Operations, and how long they took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LiveCounts {
    /// Ended validly.
    pub valid: u64,
    /// Failed.
    pub failed: u64,
    /// Response time: median, 90th and 99th percentile, within 1 %; none without operations.
    pub response_ns: Option<[f64; 3]>,
}

impl LiveRow {
    /// Ended validly since the last look, over all operations.
    pub fn valid(&self) -> u64 {
        self.operations.iter().map(|operation| operation.since.valid).sum()
    }

    /// Failed since the last look, over all operations.
    pub fn failed(&self) -> u64 {
        self.operations.iter().map(|operation| operation.since.failed).sum()
    }
}

/// One operation of a round that goes on, for whoever follows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationProgress {
    /// Its name.
    pub name: String,
    /// Ended validly since the round began.
    pub valid: u64,
    /// Failed since the round began.
    pub failed: u64,
    /// Ended validly per second in the last second.
    pub per_second: f64,
    /// Response time in the last second: median, 90th and 99th percentile, in nanoseconds.
    pub response_ns: Option<[f64; 3]>,
    /// The same since the round began.
    pub whole_response_ns: Option<[f64; 3]>,
}

impl OperationProgress {
    /// Each operation of a workload, from a look that came so many seconds after the one before.
    pub fn all(specs: &[OperationSpec], row: &LiveRow, seconds: f64) -> Vec<Self> {
        let one = |(spec, operation): (&OperationSpec, &LiveOperation)| Self {
            name: spec.name.to_owned(),
            valid: operation.all.valid,
            failed: operation.all.failed,
            per_second: operation.since.valid as f64 / seconds,
            response_ns: operation.since.response_ns,
            whole_response_ns: operation.all.response_ns,
        };
        specs.iter().zip(&row.operations).map(one).collect()
    }

    /// The same operation of two processes together. Quantiles cannot be added: the worse of each.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let worse = |one: Option<[f64; 3]>, other: Option<[f64; 3]>| match (one, other) {
            (Some(one), Some(other)) => Some(std::array::from_fn(|at| one[at].max(other[at]))),
            (one, other) => one.or(other),
        };
        Self {
            name: self.name.clone(),
            valid: self.valid + other.valid,
            failed: self.failed + other.failed,
            per_second: self.per_second + other.per_second,
            response_ns: worse(self.response_ns, other.response_ns),
            whole_response_ns: worse(self.whole_response_ns, other.whole_response_ns),
        }
    }
}

/// Looks at all users' cells, and remembers what it saw.
#[derive(Debug)]
pub struct LiveReader {
    cells: Vec<std::sync::Arc<LiveCell>>,
    seen: Vec<Seen>,
    retries: u64,
}

/// What was seen of an operation.
#[derive(Debug, Clone)]
struct Seen {
    valid: u64,
    failed: u64,
    /// As the cells have them: they wrap.
    buckets: Vec<u32>,
    /// The same without end.
    all: Vec<u64>,
}

impl LiveReader {
    /// A reader of these cells, all of one workload.
    pub fn new(cells: Vec<std::sync::Arc<LiveCell>>, operations: usize) -> Self {
        let nothing = Seen { valid: 0, failed: 0, buckets: vec![0; BUCKETS], all: vec![0; BUCKETS] };
        Self { cells, seen: vec![nothing; operations], retries: 0 }
    }

    /// Ended validly until now, since the beginning: over all operations, and of one if it is given. Cheap enough for ten looks
    /// a second.
    pub fn ended(&self, operation: Option<usize>) -> [u64; 2] {
        let of =
            |cell: &LiveCell| operation.and_then(|at| cell.completed.get(at)).map_or(0, |count| count.load(Relaxed));
        let all = |cell: &LiveCell| cell.completed.iter().map(|count| count.load(Relaxed)).sum::<u64>();
        [self.cells.iter().map(|cell| all(cell)).sum(), self.cells.iter().map(|cell| of(cell)).sum()]
    }

    /// Counts since the last call.
    pub fn look(&mut self) -> LiveRow {
        let sum = |of: &dyn Fn(&LiveCell) -> u64| self.cells.iter().map(|cell| of(cell)).sum::<u64>();
        let retries = sum(&|cell| cell.retries.load(Relaxed));
        let longest = self.cells.iter().map(|cell| cell.longest_ns.swap(0, Relaxed)).max().unwrap_or(0);
        let mut together = vec![0; BUCKETS];
        let mut operations = Vec::with_capacity(self.seen.len());
        for (at, seen) in self.seen.iter_mut().enumerate() {
            let valid = self.cells.iter().map(|cell| cell.completed[at].load(Relaxed)).sum();
            let failed = self.cells.iter().map(|cell| cell.failed[at].load(Relaxed)).sum();
            let buckets = buckets_of(&self.cells, at);
            // Counters wrap rather than grow: differences stay right.
            let since: Vec<u64> =
                buckets.iter().zip(&seen.buckets).map(|(now, then)| u64::from(now.wrapping_sub(*then))).collect();
            for (count, (all, together)) in since.iter().zip(seen.all.iter_mut().zip(&mut together)) {
                *all += count;
                *together += count;
            }
            operations.push(LiveOperation {
                since: LiveCounts {
                    valid: valid - seen.valid,
                    failed: failed - seen.failed,
                    response_ns: quantiles_of(&since),
                },
                all: LiveCounts { valid, failed, response_ns: quantiles_of(&seen.all) },
            });
            (seen.valid, seen.failed, seen.buckets) = (valid, failed, buckets);
        }
        let response_ns = quantiles_of(&together);
        let row = LiveRow {
            operations,
            retries: retries - self.retries,
            response_ns,
            responses: by_row(&together),
            response_ns_max: response_ns.map(|_| longest),
            backlog: sum(&|cell| cell.backlog.load(Relaxed)),
        };
        self.retries = retries;
        row
    }
}

/// The buckets of an operation as all cells have them together.
fn buckets_of(cells: &[std::sync::Arc<LiveCell>], operation: usize) -> Vec<u32> {
    let mut sum = vec![0_u32; BUCKETS];
    for cell in cells {
        let stretches = &cell.buckets[operation * STRETCHES..][..STRETCHES];
        for (stretch, sum) in stretches.iter().zip(sum.chunks_exact_mut(OCTAVE)) {
            let Some(stretch) = stretch.get() else { continue };
            for (count, sum) in stretch.iter().zip(sum) {
                *sum = sum.wrapping_add(count.load(Relaxed));
            }
        }
    }
    sum
}

/// Counts by the rows of a response map; a bucket belongs to the row of its middle.
fn by_row(buckets: &[u64]) -> Vec<u64> {
    let mut rows = Vec::new();
    for (at, count) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
        let row = crate::ResponseMap::row(middle(at));
        rows.resize(rows.len().max(row + 1), 0);
        rows[row] += *count;
    }
    rows
}

/// Median, 90th and 99th percentile.
fn quantiles_of(buckets: &[u64]) -> Option<[f64; 3]> {
    let total: u64 = buckets.iter().sum();
    (total > 0).then(|| [0.5, 0.9, 0.99].map(|quantile| quantile_of(buckets, total, quantile)))
}

fn quantile_of(buckets: &[u64], total: u64, quantile: f64) -> f64 {
    let rank = ((quantile * total as f64).ceil() as u64).max(1);
    let mut seen = 0;
    let at = buckets.iter().position(|&count| {
        seen += count;
        seen >= rank
    });
    middle(at.unwrap_or(BUCKETS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_call_is_there_until_it_returns() {
        let cell = LiveCell::new(1);
        assert_eq!(cell.call(), None);
        cell.begins(Some(0), 7);
        assert_eq!(cell.call(), Some((7, Some(0))));
        cell.ends();
        assert_eq!(cell.call(), None);
        cell.begins(None, 9);
        assert_eq!(cell.call(), Some((9, None)));
    }

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
            round_trips: 0,
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
        let counts = |row: &LiveRow| -> Vec<[u64; 2]> {
            row.operations.iter().map(|operation| [operation.since.valid, operation.since.failed]).collect()
        };
        assert_eq!((counts(&row), row.valid(), row.failed(), row.retries), (vec![[1_000, 0], [0, 1]], 1_000, 1, 1_001));
        assert_eq!(row.response_ns_max, Some(1_000_000));
        assert_eq!(row.responses.iter().sum::<u64>(), 1_001);
        assert_eq!((row.responses[4], row.responses.len()), (1, 40), "5 ns and 1 ms: 2^(39 / 2) ns is 741 µs");
        for (found, exact) in row.response_ns.unwrap().into_iter().zip([500e3, 900e3, 990e3]) {
            assert!((found / exact - 1.0).abs() < 0.01, "{found} for {exact}");
        }
        assert_eq!(row.operations[1].since.response_ns, Some([5.0; 3]));
        cell.record(&sample(1, Outcome::Warned, 70));
        let row = reader.look();
        assert_eq!((counts(&row), row.response_ns_max), (vec![[0, 0], [1, 0]], Some(70)));
        assert_eq!(row.response_ns, Some([70.0; 3]));
        let [one, other] = &row.operations[..] else { panic!("there are two") };
        assert_eq!((one.since.response_ns, other.since.response_ns), (None, Some([70.0; 3])));
        assert_eq!(other.all, LiveCounts { valid: 1, failed: 1, response_ns: Some([5.0, 70.0, 70.0]) });
        assert_eq!((one.all.valid, one.all.failed), (1_000, 0));
        assert!((one.all.response_ns.unwrap()[0] / 500e3 - 1.0).abs() < 0.01, "since the beginning: {one:?}");
    }
}
