//! Samples of one operation: histograms, outcomes, totals, and the figures computed from them.

use crate::{Counts, Operation, OperationSpec, Outcome, OutcomeCount, OutcomeLatency, ServerFigures, Times, UnderWay};

/// Samples of one operation.
#[derive(Debug)]
pub(super) struct OperationSamples {
    /// Latencies by outcome, for operations that the thread performs.
    pub(super) latency: Vec<Option<RecordedLatency>>,
    pub(super) tallies: Vec<RecordedTally>,
    pub(super) retries: u64,
    pub(super) round_trips: u64,
    pub(super) late: u64,
    pub(super) samples: u64,
    pub(super) totals: SampleTotals,
    pub(super) in_flight: InFlight,
    pub(super) untimed: u64,
    /// Times at the application server; allocated with the first operation performed behind one.
    pub(super) server: Option<Box<RecordedServerLatency>>,
}

/// Sums over one operation's samples without histograms, compared with the driver's own counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SampleTotals {
    /// Operations of the whole round, warm-up and drain included, by [measured outcome](Outcome::MEASURED).
    pub whole_round: [u64; Outcome::MEASURED.len()],
    /// Sum of all response times of the measurement interval in nanoseconds, including operations under way at its end.
    pub response_ns: u64,
    /// Sum of the service times of the same operations, in nanoseconds.
    pub service_ns: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct RecordedLatency {
    /// Response times equal to the service times, as nearly all are without a schedule: counted once.
    alike: Counts,
    response: Counts,
    service: Counts,
}

impl RecordedLatency {
    #[inline]
    pub(super) fn record(&mut self, response: u64, service: u64, count: u64) {
        if response == service {
            self.alike.record_many(response, count);
        } else {
            self.response.record_many(response, count);
            self.service.record_many(service, count);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.alike.add(&other.alike);
        self.response.add(&other.response);
        self.service.add(&other.service);
    }

    fn is_empty(&self) -> bool {
        self.alike.is_empty() && self.response.is_empty()
    }

    /// Response times and service times.
    fn both(&self) -> [Counts; 2] {
        [&self.response, &self.service].map(|of| {
            let mut all = self.alike.clone();
            all.add(of);
            all
        })
    }
}

/// Operations under way at the end of the interval.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight {
    pub(super) count: u64,
    pub(super) failed: u64,
    pub(super) longest_ns: u64,
    /// Ages of operations with an unknown end.
    pub(super) unended: Counts,
}

impl InFlight {
    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.unended.add(&other.unended);
    }

    fn figures(&self) -> Option<UnderWay> {
        (self.count > 0).then(|| UnderWay {
            count: self.count,
            failed: self.failed,
            longest_ns: self.longest_ns,
            unended: (!self.unended.is_empty()).then(|| self.unended.distribution()),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct RecordedServerLatency {
    pub(super) server: Counts,
    pub(super) engine: Counts,
    pub(super) network: Counts,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedTally {
    pub(super) outcome: Outcome,
    pub(super) code: i32,
    pub(super) count: u64,
    pub(super) example: Option<String>,
}

/// Pairs of outcome and code for which an operation has room without allocating: TPC-E's have at most five.
pub(super) const TALLIES: usize = 16;

impl SampleTotals {
    /// Adds the totals of another recorder.
    pub fn add(&mut self, other: &Self) {
        self.whole_round.iter_mut().zip(other.whole_round).for_each(|(mine, theirs)| *mine += theirs);
        self.response_ns += other.response_ns;
        self.service_ns += other.service_ns;
    }
}

impl OperationSamples {
    pub(super) fn memory_bytes(&self) -> u64 {
        let places = self.latency.capacity() * size_of::<Option<RecordedLatency>>();
        let tallies = self.tallies.capacity() * size_of::<RecordedTally>();
        let server = self.server.as_ref().map(|of| {
            let held = [&of.server, &of.engine, &of.network].map(Counts::memory_bytes);
            size_of::<RecordedServerLatency>() as u64 + held.iter().sum::<u64>()
        });
        let times = self.latency.iter().flatten().flat_map(|it| [&it.alike, &it.response, &it.service]);
        (size_of::<Self>() + places + tallies) as u64
            + times.map(Counts::memory_bytes).sum::<u64>()
            + self.in_flight.unended.memory_bytes()
            + server.unwrap_or_default()
    }

    #[inline]
    pub(super) fn tally(&mut self, outcome: Outcome, code: i32) -> &mut RecordedTally {
        let at = self.tallies.iter().position(|tally| (tally.outcome, tally.code) == (outcome, code));
        let at = at.unwrap_or_else(|| {
            self.tallies.push(RecordedTally { outcome, code, count: 0, example: None });
            self.tallies.len() - 1
        });
        &mut self.tallies[at]
    }

    pub(super) fn figures(&self, spec: &OperationSpec) -> Operation {
        let mut all = RecordedLatency::default();
        let mut by_outcome = Vec::new();
        let mut failed = None;
        let occurred = || {
            let all = Outcome::MEASURED.into_iter().zip(&self.latency);
            all.filter_map(|(outcome, latency)| Some((outcome, latency.as_ref().filter(|it| !it.is_empty())?)))
        };
        let is_alone = occurred().count() == 1;
        for (outcome, latency) in occurred() {
            all.add(latency);
            let both = latency.both();
            let [response, service] = both.each_ref().map(Counts::summary);
            let whole = || {
                let [response, service] = both.each_ref().map(Counts::distribution);
                Times { response, service }
            };
            let is_failed = outcome == Outcome::Failed;
            let times = (!is_failed && !is_alone).then(whole);
            by_outcome.push(OutcomeLatency { outcome, response, service, times });
            if is_failed {
                failed = Some(whole());
            }
        }
        let mut tallies: Vec<&RecordedTally> = self.tallies.iter().filter(|tally| tally.count > 0).collect();
        tallies.sort_by_key(|tally| (std::cmp::Reverse(tally.count), tally.outcome, tally.code));
        let outcomes = tallies
            .into_iter()
            .map(|RecordedTally { outcome, code, count, example }| OutcomeCount {
                outcome: *outcome,
                code: *code,
                count: *count,
                meaning: spec.meaning(*code).map(str::to_owned),
                example: example.clone(),
            })
            .collect();
        let [response, service] = all.both().map(|times| times.distribution());
        Operation {
            name: spec.name.to_owned(),
            outcomes,
            retries: self.retries,
            round_trips: self.round_trips,
            late: self.late,
            samples: self.samples,
            untimed: self.untimed,
            harness_overhead_ns: None,
            mix_target_percent: spec.mix.map(|mix| mix.target_percent),
            mix_expected_percent: None,
            mix_tolerance_points: spec.mix.map(|mix| mix.tolerance_points),
            limit_ns: spec.limit_ns,
            by_schedule: false,
            response,
            service,
            failed,
            under_way: self.in_flight.figures(),
            by_outcome,
            server: self.server.as_ref().map(|latency| ServerFigures {
                server: latency.server.distribution(),
                engine: latency.engine.distribution(),
                network: latency.network.distribution(),
            }),
        }
    }
}

impl Operation {
    /// Number of operations that ended in the interval, validly or not: all but dropped.
    pub fn ended(&self) -> u64 {
        self.outcomes.iter().filter(|outcome| outcome.outcome != Outcome::Dropped).map(|outcome| outcome.count).sum()
    }

    /// Operations per timed sample: 8.0 if one in eight is timed; `None` if all are timed.
    pub fn one_in(&self) -> Option<f64> {
        let timed = self.ended().saturating_sub(self.untimed);
        (self.untimed > 0 && timed > 0).then(|| self.ended() as f64 / timed as f64)
    }

    /// Number of valid completions: all but failed and dropped.
    pub fn valid(&self) -> u64 {
        self.outcomes
            .iter()
            .filter(|outcome| !matches!(outcome.outcome, Outcome::Failed | Outcome::Dropped))
            .map(|outcome| outcome.count)
            .sum()
    }
}
