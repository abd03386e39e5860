use bourse_record::{Distribution, LatencySummary, Operation, Outcome, OutcomeCount, Round, ServerFigures};
use hdrhistogram::Histogram;

/// Clock of a latency: response or service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Response time: from the moment it was due.
    Response,
    /// Service time: from its start.
    Service,
}

/// A latency distribution over all rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latency {
    /// None if there were no samples, or several rounds' histograms could not be put together.
    pub(crate) summary: Option<LatencySummary>,
    /// None if there was none that could be read.
    pub(crate) histogram: Option<Histogram<u64>>,
    /// Samples beyond the histogram's range.
    pub(crate) clamped: u64,
    /// Whether a histogram could not be read.
    pub(crate) unreadable: bool,
}

impl Latency {
    fn over(distributions: &[&Distribution]) -> Self {
        let filled: Vec<_> = distributions.iter().filter(|distribution| distribution.summary.count > 0).collect();
        let clamped = distributions.iter().map(|distribution| distribution.clamped).sum();
        let histograms: Result<Vec<_>, _> = filled.iter().map(|distribution| distribution.histogram()).collect();
        let unreadable = histograms.is_err();
        let histogram = histograms.ok().and_then(|histograms| {
            histograms.into_iter().reduce(|mut sum, each| {
                sum.auto(true);
                sum.add(&each).expect("a histogram that resizes itself takes any other");
                sum
            })
        });
        let summary = match (filled.as_slice(), &histogram) {
            // One round's own summary is exact, and there even if its histogram is not.
            ([only], _) => Some(only.summary),
            (_, Some(histogram)) => Some(LatencySummary::of(histogram)),
            _ => None,
        };
        Self { summary, histogram, clamped, unreadable }
    }
}

impl ServerLatency {
    fn over(parts: &[&Operation]) -> Option<Self> {
        let figures: Vec<_> = parts.iter().filter_map(|part| part.server.as_ref()).collect();
        let of = |of: fn(&ServerFigures) -> &Distribution| {
            Latency::over(&figures.iter().map(|each| of(each)).collect::<Vec<_>>())
        };
        (!figures.is_empty()).then(|| Self {
            server: of(|it| &it.server),
            engine: of(|it| &it.engine),
            network: of(|it| &it.network),
        })
    }
}

/// An operation with its rounds taken together.
#[derive(Debug, Clone)]
pub(crate) struct OperationView {
    pub(crate) name: String,
    /// All outcomes, the commonest first.
    pub(crate) outcomes: Vec<OutcomeCount>,
    pub(crate) completed: u64,
    pub(crate) warned: u64,
    pub(crate) rolled_back: u64,
    pub(crate) too_few_rows: u64,
    pub(crate) failed: u64,
    pub(crate) dropped: u64,
    pub(crate) retries: u64,
    pub(crate) late: u64,
    /// How many were timed together, on average; none where that is not known.
    pub(crate) batch: Option<f64>,
    /// What the harness itself takes of one, on average of the rounds; given for short ones.
    pub(crate) harness_overhead_ns: Option<f64>,
    /// Share of the mix in percent, if it is part of the mix and there were any.
    pub(crate) share_percent: Option<f64>,
    pub(crate) target_percent: Option<f64>,
    /// Share that it should have in these rounds, where that is not the target: the mean over them.
    pub(crate) expected_percent: Option<f64>,
    pub(crate) tolerance_points: Option<f64>,
    pub(crate) limit_ns: Option<u64>,
    pub(crate) response: Latency,
    pub(crate) service: Latency,
    /// Behind an application server.
    pub(crate) server: Option<ServerLatency>,
}

/// Where the time of operations behind an application server went.
#[derive(Debug, Clone)]
pub(crate) struct ServerLatency {
    pub(crate) server: Latency,
    pub(crate) engine: Latency,
    pub(crate) network: Latency,
}

impl OperationView {
    /// The operations of all rounds, in order.
    pub(super) fn over(rounds: &[Round]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for operation in rounds.iter().flat_map(|round| &round.operations) {
            if !names.contains(&operation.name.as_str()) {
                names.push(&operation.name);
            }
        }
        let of = |name: &str| -> Vec<&Operation> {
            rounds.iter().flat_map(|round| &round.operations).filter(|operation| operation.name == name).collect()
        };
        let mut operations: Vec<Self> = names.into_iter().map(|name| Self::merged(name, &of(name))).collect();
        let has_mix = operations.iter().any(|operation| operation.target_percent.is_some());
        let in_mix = |operation: &Self| !has_mix || operation.target_percent.is_some();
        let all: u64 = operations.iter().filter(|operation| in_mix(operation)).map(Self::ended).sum();
        for operation in &mut operations {
            if in_mix(operation) && all > 0 {
                operation.share_percent = Some(100.0 * operation.ended() as f64 / all as f64);
            }
        }
        operations
    }

    fn merged(name: &str, parts: &[&Operation]) -> Self {
        let mut outcomes: Vec<OutcomeCount> = Vec::new();
        for outcome in parts.iter().flat_map(|part| &part.outcomes).filter(|outcome| outcome.count > 0) {
            match outcomes.iter_mut().find(|known| known.outcome == outcome.outcome && known.code == outcome.code) {
                Some(known) => {
                    known.count += outcome.count;
                    known.example = known.example.take().or_else(|| outcome.example.clone());
                    known.meaning = known.meaning.take().or_else(|| outcome.meaning.clone());
                }
                None => outcomes.push(outcome.clone()),
            }
        }
        outcomes.sort_by_key(|outcome| (std::cmp::Reverse(outcome.count), outcome.outcome, outcome.code));
        let floors: Vec<f64> = parts.iter().filter_map(|part| part.harness_overhead_ns).collect();
        let timed: u64 = parts.iter().filter(|part| part.samples > 0).map(|part| part.service.summary.count).sum();
        let samples: u64 = parts.iter().map(|part| part.samples).sum();
        let ended = |which: Outcome| {
            outcomes.iter().filter(|outcome| outcome.outcome == which).map(|outcome| outcome.count).sum()
        };
        let clock =
            |of: fn(&Operation) -> &Distribution| Latency::over(&parts.iter().map(|part| of(part)).collect::<Vec<_>>());
        Self {
            name: name.to_owned(),
            completed: ended(Outcome::Completed),
            warned: ended(Outcome::Warned),
            rolled_back: ended(Outcome::RolledBack),
            too_few_rows: ended(Outcome::TooFewRows),
            failed: ended(Outcome::Failed),
            dropped: ended(Outcome::Dropped),
            retries: parts.iter().map(|part| part.retries).sum(),
            late: parts.iter().map(|part| part.late).sum(),
            batch: (samples > 0).then(|| timed as f64 / samples as f64),
            harness_overhead_ns: (!floors.is_empty()).then(|| floors.iter().sum::<f64>() / floors.len() as f64),
            share_percent: None,
            target_percent: parts.iter().find_map(|part| part.mix_target_percent),
            expected_percent: mean(parts.iter().filter_map(|part| part.mix_expected_percent)),
            tolerance_points: parts.iter().find_map(|part| part.mix_tolerance_points),
            limit_ns: parts.iter().find_map(|part| part.limit_ns),
            response: clock(|part| &part.response),
            service: clock(|part| &part.service),
            server: ServerLatency::over(parts),
            outcomes,
        }
    }

    /// All that were started and ended somehow.
    pub(crate) fn ended(&self) -> u64 {
        self.valid() + self.failed
    }

    /// All that ended as the workload allows.
    pub(crate) fn valid(&self) -> u64 {
        self.completed + self.warned + self.rolled_back + self.too_few_rows
    }

    /// By one of the two clocks.
    pub(crate) fn latency(&self, clock: Clock) -> &Latency {
        match clock {
            Clock::Response => &self.response,
            Clock::Service => &self.service,
        }
    }

    /// Whether 90 % were answered within the limit; none without a limit or a sample.
    pub(crate) fn limit_kept(&self) -> Option<bool> {
        Some(self.response.summary?.p90_ns <= self.limit_ns?)
    }

    /// Whether the share of the mix is within its tolerance; none without a target, a tolerance or a sample.
    pub(crate) fn mix_kept(&self) -> Option<bool> {
        let off = (self.share_percent? - self.expected_percent.or(self.target_percent)?).abs();
        Some(off <= self.tolerance_points? + 1e-9)
    }
}

/// The mean of some numbers; none of none.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// An outcome in a word or two.
pub(crate) const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Warned => "warned",
        Outcome::RolledBack => "rolled back as designed",
        Outcome::TooFewRows => "too few rows",
        Outcome::Failed => "failed",
        Outcome::Dropped => "dropped",
    }
}
