//! Reconciliation of the recorder's figures with the driver's own count.

use crate::ledger::{OperationCounts, OperationLedger, octave};
use crate::statements::StatementMeter;
use crate::user_time::UserTime;
use bourse_record::{Check, CheckStatus, Distribution, Operation, Outcome, Recorder, SampleTotals};

/// Samples of one user, or of all users together, with the driver's own count.
#[derive(Debug)]
pub struct Recording {
    /// The recorder that the figures come from.
    pub recorder: Recorder,
    /// The ledger that the figures are compared with.
    pub ledger: OperationLedger,
    /// Time of the users' threads.
    pub(crate) times: Vec<UserTime>,
    /// Setting that changed during the round, with the user in whose session it did.
    pub(crate) changed: Option<String>,
    /// Statements of the users' sessions, if they are timed.
    pub(crate) statements: Option<StatementMeter>,
}

impl Recording {
    /// A recorder with an empty ledger.
    pub fn new(recorder: Recorder) -> Self {
        let ledger = OperationLedger::new(recorder.specs().len());
        // Room enough that the end of a user's loop allocates nothing.
        Self { recorder, ledger, times: Vec::with_capacity(2), changed: None, statements: None }
    }

    /// Memory held, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.recorder.memory_bytes() + OperationLedger::memory_bytes(self.recorder.specs().len())
    }

    /// Adds the samples and counts of another user.
    pub fn merge(&mut self, other: Self) {
        self.recorder.merge(other.recorder);
        self.ledger.merge(&other.ledger);
        self.times.extend(other.times);
        self.changed = self.changed.take().or(other.changed);
        match (&mut self.statements, other.statements) {
            (Some(statements), Some(others)) => statements.merge(others),
            (statements, others) => *statements = statements.take().or(others),
        }
    }

    /// Counts that are independent of the figures.
    pub fn counted(&self) -> RoundCounts {
        RoundCounts { totals: self.recorder.totals(), ledger: self.ledger.clone(), changed: self.changed.clone() }
    }

    /// Compares the figures with the ledger.
    pub fn reconcile(&self) -> Vec<Check> {
        self.counted().reconcile(&self.recorder.figures())
    }
}

/// Counts of a round's operations that are independent of its figures, for comparison with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundCounts {
    /// The recorder's count, by operation.
    pub totals: Vec<SampleTotals>,
    /// The driver's own count of the whole round.
    pub ledger: OperationLedger,
    /// Setting that changed during the round, with the user in whose session it did.
    pub changed: Option<String>,
}

impl RoundCounts {
    /// Checks of figures against the driver's count: the checks of every round, whatever its workload.
    pub fn reconcile(&self, figures: &[Operation]) -> Vec<Check> {
        compare(figures, &self.totals, &self.ledger)
    }
}

fn compare(figures: &[Operation], totals: &[SampleTotals], ledger: &OperationLedger) -> Vec<Check> {
    let all = || figures.iter().zip(totals).zip(ledger.entries());
    let mut whole_round = ComparedCounts::default();
    let mut interval = ComparedCounts::default();
    let mut response = ComparedCounts::default();
    let mut service = ComparedCounts::default();
    for ((operation, totals), entry) in all() {
        let name = operation.name.as_str();
        for (at, outcome) in Outcome::MEASURED.into_iter().enumerate() {
            let what = || format!("{name}, {}", spoken(outcome));
            whole_round.same(&what, totals.whole_round[at], entry.whole_round[at]);
            let counted = operation.outcomes.iter().filter(|it| it.outcome == outcome).map(|it| it.count).sum();
            interval.same(&what, counted, entry.interval[at]);
            let timed = operation.by_outcome.iter().find(|it| it.outcome == outcome);
            let expected = entry.timed()[at];
            response.same(&what, timed.map_or(0, |it| it.response.count), expected);
            service.same(&what, timed.map_or(0, |it| it.service.count), expected);
        }
        interval.same(&|| format!("{name}, only counted"), operation.untimed, entry.untimed.iter().sum());
        let under_way = operation.under_way.as_ref();
        let what = || format!("{name}, under way at the end");
        interval.same(&what, under_way.map_or(0, |it| it.count), entry.under_way.iter().sum::<u64>() + entry.unended);
        let unended = under_way.and_then(|it| it.unended.as_ref()).map_or(0, |it| it.summary.count);
        interval.same(&|| format!("{name}, without an end"), unended, entry.unended);
        response.times(name, &operation.response, totals.response_ns, entry.response_ns, entry);
        response.octaves(name, &operation.response, entry);
        service.times(name, &operation.service, totals.service_ns, entry.service_ns, entry);
    }
    let mut checks = vec![
        whole_round.check(
            "operations of the whole round",
            "the recorder took as many operations of each kind and outcome as the driver performed, from warm-up to drain",
        ),
        interval.check(
            "operations of the interval",
            "the figures count as many operations of each kind and outcome as the driver saw end in the interval, and as many \
             under way at its end",
        ),
        response.check(
            "response times",
            "response times add up to, and are spread over octaves as, the driver's own from due to end",
        ),
        service.check("service times", "service times add up to the driver's own from start to end without back-off"),
    ];
    if let Some(scheduled) = ledger.scheduled {
        let mut schedule = ComparedCounts::default();
        let what = || "nanoseconds from due to end".to_owned();
        schedule.same(&what, scheduled.by_entries_ns, scheduled.by_schedule_ns);
        checks.push(
            schedule.check("schedule", "operations were timed from the moments at which their schedule made them due"),
        );
    }
    checks
}

/// Reason that the figures cannot be published, if a check failed.
pub fn irreconcilable(checks: &[Check]) -> Option<String> {
    let failed = checks.iter().find(|check| check.status == CheckStatus::Failed)?;
    Some(format!("recorder and driver disagree ({}): {}", failed.name, failed.evidence))
}

/// Pairs of numbers that must be equal.
#[derive(Default)]
struct ComparedCounts {
    compared: u64,
    differences: Vec<String>,
}

impl ComparedCounts {
    fn same<N: PartialEq + Copy + std::fmt::Display>(&mut self, what: &dyn Fn() -> String, recorded: N, counted: N) {
        self.compared += 1;
        if recorded != counted {
            self.differences.push(format!("{}: {recorded} recorded, {counted} counted by the driver", what()));
        }
    }

    /// Compares sums exactly, and the mean of the buckets within the width of a bucket.
    fn times(&mut self, name: &str, found: &Distribution, recorded_ns: u64, counted_ns: u64, entry: &OperationCounts) {
        self.same(&|| format!("{name}, nanoseconds in all"), recorded_ns, counted_ns);
        let count: u64 = entry.timed().iter().sum();
        self.same(&|| format!("{name}, in the histogram"), found.summary.count, count);
        // A time beyond the range is in the last bucket: the mean of the buckets is known to be too low.
        if found.clamped > 0 || count == 0 {
            return;
        }
        let (mean, wanted) = (found.summary.mean_ns, counted_ns as f64 / count as f64);
        // A bucket is a thousandth of its value at most; a batch's share is rounded to a nanosecond.
        let is_near = (mean - wanted).abs() <= wanted / 1_000.0 + 1.0;
        self.compared += 1;
        if !is_near {
            self.differences.push(format!("{name}, mean: {mean:.0} ns recorded, {wanted:.0} ns by the driver"));
        }
    }

    /// Compares the number of times in each octave with the published histogram.
    fn octaves(&mut self, name: &str, found: &Distribution, entry: &OperationCounts) {
        let histogram = match found.histogram() {
            Ok(histogram) => histogram,
            Err(error) => return self.differences.push(format!("{name}: {error}")),
        };
        let mut recorded = vec![0; entry.octaves.len()];
        for bucket in histogram.iter_recorded() {
            let at = octave(histogram.lowest_equivalent(bucket.value_iterated_to()));
            match recorded.get_mut(at) {
                Some(count) => *count += bucket.count_since_last_iteration(),
                None => self.differences.push(format!("{name}: a response time beyond the range")),
            }
        }
        for (at, (recorded, counted)) in recorded.into_iter().zip(entry.octaves).enumerate() {
            self.same(&|| format!("{name}, below 2^{at} ns and not below half of that"), recorded, counted);
        }
    }

    fn check(self, name: &str, words: &str) -> Check {
        const MAX_SHOWN_DIFFERENCES: usize = 3;
        let Self { compared, differences } = self;
        let evidence = if differences.is_empty() {
            format!("{compared} numbers compared, all equal")
        } else {
            let shown = differences[..differences.len().min(MAX_SHOWN_DIFFERENCES)].join("; ");
            format!("{} of {compared} numbers differ: {shown}", differences.len())
        };
        Check::new(name, words, Check::RECONCILIATION, differences.is_empty(), evidence)
    }
}

fn spoken(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Warned => "with a warning",
        Outcome::RolledBack => "rolled back",
        Outcome::TooFewRows => "explained by a short database",
        Outcome::Failed => "failed",
        Outcome::Dropped => "dropped",
    }
}
