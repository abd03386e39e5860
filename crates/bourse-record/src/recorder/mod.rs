//! The recorder: samples of one thread; recorders are merged at the end.

mod recorded;

use crate::{Arrivals, LiveCell, Operation, OperationSpec, Outcome, Sample, SampleInclusion};
use recorded::{InFlight, OperationSamples, RecordedLatency, TALLIES};
use std::sync::Arc;

pub use recorded::SampleTotals;

/// Samples of one thread. Recording takes no lock, and allocates only when a time falls into a stretch of a histogram
/// for the first time; times outside the measurement interval allocate that stretch too.
#[derive(Debug)]
pub struct Recorder {
    specs: Arc<[OperationSpec]>,
    operations: Vec<OperationSamples>,
    live: Arc<LiveCell>,
    arrivals: Option<Arrivals>,
}

/// One operation's share of a batch's time, rounded.
const fn each(ns: u64, count: u64) -> u64 {
    if count <= 1 { ns } else { (ns + count / 2) / count }
}

impl Recorder {
    /// A recorder for the operations of the workload that `performs` selects.
    pub fn new(specs: Arc<[OperationSpec]>, performs: impl Fn(usize) -> bool) -> Self {
        let operations = (0..specs.len())
            .map(|operation| OperationSamples {
                latency: Outcome::MEASURED.map(|_| performs(operation).then(RecordedLatency::default)).into(),
                tallies: Vec::with_capacity(TALLIES),
                retries: 0,
                round_trips: 0,
                late: 0,
                samples: 0,
                totals: SampleTotals::default(),
                in_flight: InFlight::default(),
                untimed: 0,
                server: None,
            })
            .collect();
        let live = Arc::new(LiveCell::new(specs.len()));
        Self { specs, operations, live, arrivals: None }
    }

    /// The workload's operations.
    pub fn specs(&self) -> &[OperationSpec] {
        &self.specs
    }

    /// The running counts, for other threads to read.
    pub fn live(&self) -> Arc<LiveCell> {
        Arc::clone(&self.live)
    }

    /// Records a sample; `counted` decides which figures include it.
    ///
    /// # Panics
    /// Panics if `performs` did not select the operation.
    pub fn sample(&mut self, sample: &Sample, counted: impl Into<SampleInclusion>) {
        let counted = counted.into();
        self.live.record(sample);
        let recorded = &mut self.operations[sample.operation];
        let count = u64::from(sample.count);
        let (response_ns, service_ns) = (sample.response_ns(), sample.service_ns());
        let (response, service) = (each(response_ns, count), each(service_ns, count));
        let at = sample.outcome.measured();
        let latency =
            at.map(|at| recorded.latency[at].as_mut().expect("a user said that it never performs this operation"));
        if let Some(at) = at {
            recorded.totals.whole_round[at] += count;
        }
        if counted == SampleInclusion::Not {
            if let Some(latency) = latency {
                // Room for times like this one: in the measurement interval it need not be made.
                latency.record(response, service, 0);
            }
            return;
        }
        if counted == SampleInclusion::Untimed {
            recorded.untimed += if at.is_some() { count } else { 0 };
            recorded.retries += u64::from(sample.retries);
            recorded.round_trips += u64::from(sample.round_trips);
            recorded.tally(sample.outcome, sample.code).count += count;
            return;
        }
        recorded.samples += 1;
        if let Some(latency) = latency {
            latency.record(response, service, count);
            recorded.totals.response_ns += response_ns;
            recorded.totals.service_ns += service_ns;
            let limit = self.specs[sample.operation].limit_ns;
            let late = sample.outcome != Outcome::Failed && limit.is_some_and(|limit| response > limit);
            recorded.late += if late { count } else { 0 };
        }
        if let Some((time, network_ns)) = sample.server.zip(sample.network_ns()) {
            let latency = recorded.server.get_or_insert_default();
            latency.server.record_many(each(time.server_ns, count), count);
            latency.engine.record_many(each(time.engine_ns, count), count);
            latency.network.record_many(each(network_ns, count), count);
        }
        if counted == SampleInclusion::UnderWay {
            let in_flight = &mut recorded.in_flight;
            in_flight.count += count;
            in_flight.failed += if sample.outcome == Outcome::Failed { count } else { 0 };
            in_flight.longest_ns = in_flight.longest_ns.max(response);
            return;
        }
        recorded.retries += u64::from(sample.retries);
        recorded.round_trips += u64::from(sample.round_trips);
        recorded.tally(sample.outcome, sample.code).count += count;
    }

    /// Records `count` operations that were due `age_ns` ago and whose end will stay unknown.
    pub fn unended(&mut self, operation: usize, count: u32, age_ns: u64) {
        let in_flight = &mut self.operations[operation].in_flight;
        in_flight.count += u64::from(count);
        in_flight.longest_ns = in_flight.longest_ns.max(age_ns);
        in_flight.unended.record_many(age_ns, u64::from(count));
    }

    /// Stores the message of a failure that was just [sampled](Self::sample), if it is the first for its code.
    pub fn example(&mut self, sample: &Sample, words: String) {
        self.operations[sample.operation].tally(sample.outcome, sample.code).example.get_or_insert(words);
    }

    /// Records an operation that was due in the measurement interval and never started, because the backlog was full.
    pub fn dropped(&mut self, operation: usize) {
        self.operations[operation].tally(Outcome::Dropped, 0).count += 1;
    }

    /// Records the outcomes of one user's arrivals.
    pub fn arrivals(&mut self, arrivals: &Arrivals) {
        let sum = self.arrivals.get_or_insert_default();
        sum.due += arrivals.due;
        sum.started += arrivals.started;
        sum.dropped += arrivals.dropped;
        sum.unstarted += arrivals.unstarted;
        sum.backlog_limit += arrivals.backlog_limit;
        sum.backlog_longest = sum.backlog_longest.max(arrivals.backlog_longest);
        sum.unstarted_ns_longest = sum.unstarted_ns_longest.max(arrivals.unstarted_ns_longest);
        sum.started_of_warm_up += arrivals.started_of_warm_up;
    }

    /// Outcomes of all users' arrivals; `None` if no user followed a schedule.
    pub fn all_arrivals(&self) -> Option<Arrivals> {
        self.arrivals
    }

    /// Adds the samples of another thread's recorder, without loss.
    pub fn merge(&mut self, other: Self) {
        if let Some(arrivals) = &other.arrivals {
            self.arrivals(arrivals);
        }
        for (mine, theirs) in self.operations.iter_mut().zip(other.operations) {
            mine.retries += theirs.retries;
            mine.round_trips += theirs.round_trips;
            mine.late += theirs.late;
            mine.samples += theirs.samples;
            mine.totals.add(&theirs.totals);
            mine.in_flight.add(&theirs.in_flight);
            mine.untimed += theirs.untimed;
            for (mine, theirs) in mine.latency.iter_mut().zip(theirs.latency) {
                match (mine, theirs) {
                    (_, None) => {}
                    (mine @ None, theirs) => *mine = theirs,
                    (Some(mine), Some(theirs)) => mine.add(&theirs),
                }
            }
            if let Some(theirs) = theirs.server {
                let mine = mine.server.get_or_insert_default();
                mine.server.add(&theirs.server);
                mine.engine.add(&theirs.engine);
                mine.network.add(&theirs.network);
            }
            for theirs in theirs.tallies {
                let mine = mine.tally(theirs.outcome, theirs.code);
                mine.count += theirs.count;
                mine.example = mine.example.take().or(theirs.example);
            }
        }
    }

    /// Totals by operation.
    pub fn totals(&self) -> Vec<SampleTotals> {
        self.operations.iter().map(|recorded| recorded.totals).collect()
    }

    /// Memory held, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let operations = self.operations.iter().map(OperationSamples::memory_bytes).sum::<u64>();
        operations + self.live.memory_bytes()
    }

    /// Figures by operation, in the run file's form.
    pub fn figures(&self) -> Vec<Operation> {
        self.specs.iter().zip(&self.operations).map(|(spec, recorded)| recorded.figures(spec)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counts, Distribution, ServerTime};
    use proptest::prelude::*;

    const SPECS: [OperationSpec; 2] =
        [OperationSpec { limit_ns: Some(1_000), ..OperationSpec::new("a") }, OperationSpec::new("b")];

    fn recorder() -> Recorder {
        Recorder::new(SPECS.into(), |_| true)
    }

    fn sample(operation: usize, outcome: Outcome, code: i32, response_ns: u64) -> Sample {
        let start_ns = 100 + response_ns / 2;
        Sample { due_ns: 100, start_ns, code, ..Sample::new(operation, outcome, 100 + response_ns) }
    }

    #[test]
    fn outcomes_are_counted_apart_and_late_ones_too() {
        let mut recorder = recorder();
        recorder.sample(&sample(0, Outcome::Completed, 0, 1_000), true);
        recorder.sample(&sample(0, Outcome::Completed, 0, 1_001), true);
        recorder.sample(&sample(0, Outcome::Warned, 621, 10), true);
        recorder.sample(&sample(0, Outcome::Completed, 0, 10), false);
        let failed = Sample { retries: 50, ..sample(0, Outcome::Failed, -811, 9_000) };
        recorder.sample(&failed, true);
        recorder.example(&failed, "first".to_owned());
        recorder.example(&failed, "second".to_owned());
        recorder.sample(&sample(0, Outcome::Dropped, 0, 0), true);
        let figures = recorder.figures();
        let a = &figures[0];
        let counted: Vec<_> =
            a.outcomes.iter().map(|it| (it.outcome, it.code, it.count, it.example.as_deref())).collect();
        assert_eq!(
            counted,
            [
                (Outcome::Completed, 0, 2, None),
                (Outcome::Warned, 621, 1, None),
                (Outcome::Failed, -811, 1, Some("first")),
                (Outcome::Dropped, 0, 1, None),
            ]
        );
        assert_eq!((a.late, a.retries, a.valid()), (1, 50, 3));
        assert_eq!((a.response.summary.count, a.service.summary.count), (4, 4), "all but the dropped");
        let times = a.failed.as_ref().unwrap();
        assert_eq!(
            (times.response.summary.count, times.response.summary.max_ns),
            (1, 9_007),
            "apart as well, within a bucket"
        );
        assert_eq!(figures[1].failed, None);
        assert_eq!(a.by_outcome.iter().map(|it| it.response.count).collect::<Vec<_>>(), [2, 1, 1]);
        assert!(figures[1].outcomes.is_empty());
        assert_eq!(figures[1].response.summary.count, 0);
    }

    #[test]
    fn a_batch_counts_as_its_operations_each_with_its_share_of_the_time() {
        let mut recorder = recorder();
        recorder.sample(&Sample { start_ns: 100, count: 100, ..sample(1, Outcome::Completed, 0, 50_049) }, true);
        recorder.sample(&sample(1, Outcome::Completed, 0, 900), true);
        let b = &recorder.figures()[1];
        assert_eq!((b.valid(), b.samples), (101, 2));
        let summary = b.response.summary;
        assert_eq!((summary.count, summary.p50_ns, summary.max_ns), (101, 500, 900));
    }

    #[test]
    fn a_servers_time_is_kept_apart_from_the_way_to_it() {
        let mut recorder = recorder();
        let server = Some(ServerTime { server_ns: 700, engine_ns: 600 });
        let sample = Sample { start_ns: 100, server, ..sample(1, Outcome::Completed, 0, 1_000) };
        recorder.sample(&sample, true);
        let mut other = self::recorder();
        other.sample(&Sample { end_ns: 600, ..sample }, true);
        recorder.merge(other);
        let figures = recorder.figures();
        assert_eq!(figures[0].server, None);
        let server = figures[1].server.as_ref().unwrap();
        let ends = |it: &Distribution| (it.summary.count, it.summary.min_ns, it.summary.max_ns);
        assert_eq!(ends(&server.network), (2, 0, 300), "never less than nothing, if the clocks disagree");
        assert_eq!((ends(&server.server), ends(&server.engine)), ((2, 700, 700), (2, 600, 600)));
    }

    #[test]
    fn back_off_is_response_but_not_service() {
        let mut recorder = recorder();
        let sample = Sample { back_off_ns: 300, ..sample(1, Outcome::Completed, 0, 1_000) };
        recorder.sample(&sample, true);
        let figures = recorder.figures();
        assert_eq!((figures[1].response.summary.max_ns, figures[1].service.summary.max_ns), (1_000, 200));
    }

    proptest! {
        // A case makes and packs some forty histograms.
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Compares two merged recorders with one that recorded everything.
        #[test]
        fn merging_loses_nothing(
            samples in prop::collection::vec((any::<bool>(), 0usize..2, 0usize..6, -2i32..2, 0u64..10_000_000_000), 0..300),
        ) {
            let (mut one, mut other, mut both) = (recorder(), recorder(), recorder());
            for &(first, operation, outcome, code, ns) in &samples {
                let sample = sample(operation, [Outcome::MEASURED.as_slice(), &[Outcome::Dropped]].concat()[outcome], code, ns);
                if first { &mut one } else { &mut other }.sample(&sample, true);
                both.sample(&sample, true);
            }
            one.merge(other);
            prop_assert_eq!(one.figures(), both.figures());
        }

        /// Compares merged distributions of two run files with one recording of all samples.
        #[test]
        fn distributions_of_files_merge_as_samples_do(
            left in prop::collection::vec(0u64..u64::MAX, 0..100),
            right in prop::collection::vec(0u64..1_000_000_000, 0..100),
        ) {
            let of = |samples: &[u64]| {
                let mut counts = Counts::new();
                samples.iter().for_each(|&ns| counts.record(ns));
                counts.distribution()
            };
            let merged = Distribution::merged([&of(&left), &of(&right)]).unwrap();
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }
    }
}
