//! Running counts of one thread, readable by others while it works: no lock, no allocation, fixed memory.

use crate::{OperationSpec, Outcome, Sample};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Running counts of one user. Only the user's thread writes, so plain stores suffice; any thread may read.
#[derive(Debug)]
pub struct LiveCell {
    /// Valid completions by operation.
    completed: Box<[AtomicU64]>,
    /// Failures by operation.
    failed: Box<[AtomicU64]>,
    retries: AtomicU64,
    /// Response times by operation: exact below 128 ns, 64 buckets an octave beyond. A stretch is allocated when the
    /// first time falls into it, as in [`Counts`](crate::Counts).
    buckets: Box<[OnceLock<Stretch>]>,
    /// Longest response time since the last reading.
    longest_ns: AtomicU64,
    /// Operations due and waiting for this user.
    backlog: AtomicU64,
    /// Start of the call in progress in nanoseconds; [`Self::IDLE`] without one.
    call_since: AtomicU64,
    /// Operation of the call in progress; [`Self::IDLE`] if unknown.
    call_operation: AtomicU64,
}

const EXACT: usize = 128;
const OCTAVE: usize = 64;
const LONGEST_NS: u64 = crate::Counts::LONGEST_NS;
/// Stretches of an operation, each one octave long.
const STRETCHES: usize = index(LONGEST_NS) / OCTAVE + 1;
const BUCKETS: usize = STRETCHES * OCTAVE;

/// Buckets allocated together.
type Stretch = Box<[AtomicU32; OCTAVE]>;

const fn index(ns: u64) -> usize {
    if ns < EXACT as u64 {
        return ns as usize;
    }
    let shift = (u64::BITS - 1 - ns.leading_zeros()) as usize - 6;
    EXACT + (shift - 1) * OCTAVE + ((ns >> shift) as usize - OCTAVE)
}

/// Middle of a bucket, in nanoseconds.
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

    /// Counts of a workload with `operations` operations, all 0.
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

    /// Sets the number of operations due and waiting. Only for the owning thread.
    pub fn waiting(&self, backlog: u64) {
        self.backlog.store(backlog, Relaxed);
    }

    /// Marks the start of a call, with its operation if known. Only for the owning thread.
    #[inline]
    pub fn begins(&self, operation: Option<usize>, now_ns: u64) {
        self.call_operation.store(operation.map_or(Self::IDLE, |operation| operation as u64), Relaxed);
        self.call_since.store(now_ns, Relaxed);
    }

    /// Marks the end of the call. Only for the owning thread.
    #[inline]
    pub fn ends(&self) {
        self.call_since.store(Self::IDLE, Relaxed);
    }

    /// Start of the call in progress, in nanoseconds, and its operation if known; `None` without a call.
    pub fn call(&self) -> Option<(u64, Option<usize>)> {
        let known = |value: u64| (value != Self::IDLE).then_some(value);
        let operation = known(self.call_operation.load(Relaxed)).and_then(|at| usize::try_from(at).ok());
        known(self.call_since.load(Relaxed)).map(|since| (since, operation))
    }

    /// Counts one operation. Only for the owning thread.
    pub(crate) fn record(&self, sample: &Sample) {
        match sample.outcome {
            Outcome::Failed => bump(&self.failed[sample.operation], u64::from(sample.count)),
            Outcome::Dropped => return,
            _ => bump(&self.completed[sample.operation], u64::from(sample.count)),
        }
        if sample.retries > 0 {
            bump(&self.retries, u64::from(sample.retries));
        }
        let response = (sample.response_ns() / u64::from(sample.count.max(1))).min(LONGEST_NS);
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

/// Counts of all users together between two readings.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRow {
    /// Counts by operation.
    pub operations: Vec<LiveOperation>,
    /// Retries, in total.
    pub retries: u64,
    /// Response time: median, 90th and 99th percentile, within 1 %; none without operations.
    pub response_ns: Option<[f64; 3]>,
    /// Number of responses by row of a [`ResponseMap`](crate::ResponseMap).
    pub responses: Vec<u64>,
    /// The longest response time; none without operations.
    pub response_ns_max: Option<u64>,
    /// Operations due and waiting, in total.
    pub backlog: u64,
}

/// Counts of one operation, over all users.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveOperation {
    /// Counts since the previous reading.
    pub since: LiveCounts,
    /// Counts since the beginning.
    pub all: LiveCounts,
}

/// Numbers of operations and their response times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LiveCounts {
    /// Valid completions.
    pub valid: u64,
    /// Failures.
    pub failed: u64,
    /// Response time: median, 90th and 99th percentile, within 1 %; none without operations.
    pub response_ns: Option<[f64; 3]>,
}

impl LiveRow {
    /// Valid completions since the previous reading, over all operations.
    pub fn valid(&self) -> u64 {
        self.operations.iter().map(|operation| operation.since.valid).sum()
    }

    /// Failures since the previous reading, over all operations.
    pub fn failed(&self) -> u64 {
        self.operations.iter().map(|operation| operation.since.failed).sum()
    }
}

/// Progress of one operation in a running round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationProgress {
    /// Name of the operation.
    pub name: String,
    /// Valid completions since the round began.
    pub valid: u64,
    /// Failures since the round began.
    pub failed: u64,
    /// Valid completions in the last second.
    pub per_second: f64,
    /// Response time in the last second: median, 90th and 99th percentile, in nanoseconds.
    pub response_ns: Option<[f64; 3]>,
    /// Response time since the round began: median, 90th and 99th percentile, in nanoseconds.
    pub whole_response_ns: Option<[f64; 3]>,
}

impl OperationProgress {
    /// Progress of each operation of a workload; `seconds` is the time since the previous reading.
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

    /// Merges the progress in two processes. Quantiles cannot be added, so the worse of each is used.
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

/// Reads all users' cells and computes differences between readings.
///
/// ```
/// use bourse_record::{LiveReader, OperationSpec, Recorder};
/// let recorder = Recorder::new([OperationSpec::new("read")].into(), |_| true);
/// let mut reader = LiveReader::new(vec![recorder.live()], 1); // another thread's view of the recorder
/// let row = reader.look();
/// assert_eq!((row.valid(), row.response_ns), (0, None));
/// ```
#[derive(Debug)]
pub struct LiveReader {
    cells: Vec<std::sync::Arc<LiveCell>>,
    seen: Vec<PreviousCounts>,
    retries: u64,
}

/// Counts of an operation at the previous reading.
#[derive(Debug, Clone)]
struct PreviousCounts {
    valid: u64,
    failed: u64,
    /// Raw bucket counts as read from the cells; wrap at `u32::MAX`.
    buckets: Vec<u32>,
    /// Bucket counts since the beginning, without wrapping.
    all: Vec<u64>,
}

impl LiveReader {
    /// A reader of the cells, which must belong to one workload.
    pub fn new(cells: Vec<std::sync::Arc<LiveCell>>, operations: usize) -> Self {
        let nothing = PreviousCounts { valid: 0, failed: 0, buckets: vec![0; BUCKETS], all: vec![0; BUCKETS] };
        Self { cells, seen: vec![nothing; operations], retries: 0 }
    }

    /// Valid completions since the beginning: over all operations, and of `operation` if given. Cheap enough for ten
    /// readings a second.
    pub fn ended(&self, operation: Option<usize>) -> [u64; 2] {
        let of =
            |cell: &LiveCell| operation.and_then(|at| cell.completed.get(at)).map_or(0, |count| count.load(Relaxed));
        let all = |cell: &LiveCell| cell.completed.iter().map(|count| count.load(Relaxed)).sum::<u64>();
        [self.cells.iter().map(|cell| all(cell)).sum(), self.cells.iter().map(|cell| of(cell)).sum()]
    }

    /// Counts since the previous call.
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

/// Bucket counts of an operation, summed over all cells.
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

/// Counts by row of a response map; a bucket belongs to the row that contains its middle.
fn by_row(buckets: &[u64]) -> Vec<u64> {
    let mut rows = Vec::new();
    for (at, count) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
        let row = crate::ResponseMap::row(middle(at));
        rows.resize(rows.len().max(row + 1), 0);
        rows[row] += *count;
    }
    rows
}

/// Median, 90th and 99th percentile in nanoseconds; `None` without samples.
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
        let sample = |operation, outcome, ns| Sample { retries: 1, ..Sample::new(operation, outcome, ns) };
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
