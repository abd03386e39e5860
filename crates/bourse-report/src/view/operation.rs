use bourse_record::{
    Distribution, FailedTimes, LatencySummary, Operation, Outcome, OutcomeCount, Round, ServerFigures, UnderWay,
};
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
    /// Operations without a time of their own here that count as slower than all others: those that failed, were dropped, or
    /// were due and never started.
    pub(crate) slower: u64,
    /// With those whose end nobody knows, which took at least as long as these times say; none without any.
    at_least: Option<Box<Latency>>,
    /// How many were timed together, on average; 0 where that is not known.
    together: f64,
}

/// A quantile of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantile {
    /// Fewer than ten are expected beyond it: one run more would give another figure.
    TooFew,
    /// In nanoseconds.
    At(u64),
    /// It is one of those that count as slower, or hangs on some whose end nobody knows: more than this many nanoseconds.
    Beyond(u64),
}

/// How many have to be expected beyond a quantile for it to be shown.
const FEWEST_BEYOND: f64 = 10.0;

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
        Self { summary, histogram, clamped, unreadable, ..Self::default() }
    }

    /// Without those that failed, whose times are among these.
    fn without(mut self, failed: &[&Distribution]) -> Self {
        let failed = Self::over(failed);
        if let (Some(all), Some(some)) = (&mut self.histogram, &failed.histogram)
            && all.subtract(some).is_ok()
        {
            self.summary = (!all.is_empty()).then(|| LatencySummary::of(all));
            self.clamped = self.clamped.saturating_sub(failed.clamped);
        }
        self
    }

    /// With those whose end nobody knows, of which these are the times that they took at least.
    fn with_unended(mut self, unended: &[&Distribution]) -> Self {
        let ages = Self::over(unended);
        let Some(histogram) = &ages.histogram else { return self };
        let mut all = histogram.clone();
        all.auto(true);
        if let Some(ended) = &self.histogram {
            all.add(ended).expect("a histogram that resizes itself takes any other");
        }
        if self.histogram.is_some() || self.known().is_none() {
            let summary = Some(LatencySummary::of(&all));
            self.at_least = Some(Box::new(Self { summary, histogram: Some(all), ..self.clone() }));
        }
        // Whoever cannot be known to have ended may be the slowest of all.
        self.slower += histogram.len();
        self
    }

    /// A quantile from 0 to 1, over those with a time and those that count as slower; none without a time.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<Quantile> {
        let all = self.known().map_or(0, |summary| summary.count) + self.slower;
        let shown = self.known().or(self.at_least.as_ref().and_then(|it| it.known())).is_some();
        let too_few = all as f64 / self.together.max(1.0) * (1.0 - quantile) < FEWEST_BEYOND - 1e-9;
        shown.then(|| if too_few { Quantile::TooFew } else { self.quantile_of_any(quantile) })
    }

    /// The longest; none without a time.
    pub(crate) fn longest(&self) -> Option<Quantile> {
        let at_least = self.at_least.as_ref().and_then(|it| it.known());
        let longest = at_least.or(self.known())?.max_ns;
        Some(if self.slower > 0 { Quantile::Beyond(longest) } else { Quantile::At(longest) })
    }

    fn known(&self) -> Option<LatencySummary> {
        self.summary.filter(|summary| summary.count > 0)
    }

    fn quantile_of_any(&self, quantile: f64) -> Quantile {
        let found = self.known().map(|summary| self.quantile_of(summary, quantile));
        let Some(at_least) = &self.at_least else { return found.unwrap_or(Quantile::TooFew) };
        let least = at_least.known().map(|summary| at_least.quantile_of(summary, quantile));
        match (found, least) {
            // The same if they took just as long as is known, and if they took for ever.
            (Some(Quantile::At(most)), Some(Quantile::At(least))) if most == least => Quantile::At(most),
            (_, Some(Quantile::At(least) | Quantile::Beyond(least))) => Quantile::Beyond(least),
            (_, Some(Quantile::TooFew) | None) => Quantile::TooFew,
        }
    }

    fn quantile_of(&self, summary: LatencySummary, quantile: f64) -> Quantile {
        let rank = (quantile * (summary.count + self.slower) as f64 - 1e-9).ceil().max(1.0);
        if rank > summary.count as f64 {
            return Quantile::Beyond(summary.max_ns);
        }
        // The middle of the rank's share: it is this rank's value, however the product is rounded.
        let part = (rank - 0.5) / summary.count as f64;
        let known = [(0.5, summary.p50_ns), (0.9, summary.p90_ns), (0.95, summary.p95_ns), (0.99, summary.p99_ns)];
        let known = known.into_iter().chain([(0.999, summary.p999_ns)]).find(|(of, _)| *of == quantile);
        match (self.slower, known, &self.histogram) {
            (0, Some((_, value)), _) | (_, Some((_, value)), None) => Quantile::At(value),
            (.., Some(histogram)) => Quantile::At(histogram.value_at_quantile(part)),
            (_, None, None) => Quantile::Beyond(summary.max_ns),
        }
    }

    /// The 90th percentile in nanoseconds, of however few; infinite where it is one of those that count as slower.
    pub(crate) fn p90_ns(&self) -> Option<f64> {
        self.known()?;
        Some(match self.quantile_of_any(0.9) {
            Quantile::At(value) => value as f64,
            Quantile::Beyond(_) | Quantile::TooFew => f64::INFINITY,
        })
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
    /// What was under way when the interval ended, of all rounds together; none if nothing was.
    pub(crate) under_way: Option<UnderWayView>,
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
    /// Response and service times of those that failed; none if none did, or a file does not keep them.
    pub(crate) failed_times: Option<[Latency; 2]>,
    /// Behind an application server.
    pub(crate) server: Option<ServerLatency>,
}

/// Operations that were under way at the end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UnderWayView {
    pub(crate) count: u64,
    pub(crate) failed: u64,
    /// Those whose end nobody knows.
    pub(crate) unended: u64,
    pub(crate) longest_ns: u64,
    /// Whether it is the longest response time of the operation.
    pub(crate) is_longest: bool,
}

impl UnderWayView {
    fn over(parts: &[&UnderWay]) -> Option<Self> {
        let unended = |it: &&UnderWay| it.unended.as_ref().map_or(0, |ages| ages.summary.count);
        (!parts.is_empty()).then(|| Self {
            count: parts.iter().map(|it| it.count).sum(),
            failed: parts.iter().map(|it| it.failed).sum(),
            unended: parts.iter().map(unended).sum(),
            longest_ns: parts.iter().map(|it| it.longest_ns).max().unwrap_or_default(),
            is_longest: false,
        })
    }

    /// Those with a time among the operation's.
    pub(crate) fn timed(&self) -> u64 {
        self.count - self.unended.min(self.count)
    }
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
        if let [only] = &mut operations[..] {
            // What was due and never started is known of the round alone.
            only.response.slower += rounds
                .iter()
                .filter_map(|round| round.arrivals.as_ref())
                .map(|arrivals| arrivals.unstarted)
                .sum::<u64>();
        }
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
        let ended = |which: Outcome| -> u64 {
            outcomes.iter().filter(|outcome| outcome.outcome == which).map(|outcome| outcome.count).sum()
        };
        let together = if samples > 0 { timed as f64 / samples as f64 } else { 0.0 };
        let (failed, dropped) = (ended(Outcome::Failed), ended(Outcome::Dropped));
        let failed_parts: Vec<_> = parts.iter().filter_map(|part| part.failed.as_ref()).collect();
        let kept: u64 = failed_parts.iter().map(|times| times.response.summary.count).sum();
        // Of older files those that failed are among the others, with their times.
        let under_way: Vec<&UnderWay> = parts.iter().filter_map(|part| part.under_way.as_ref()).collect();
        let unended: Vec<&Distribution> = under_way.iter().filter_map(|it| it.unended.as_ref()).collect();
        let under_way = UnderWayView::over(&under_way);
        let apart = kept > 0 && kept == failed + under_way.map_or(0, |it| it.failed);
        type Of<T> = fn(&T) -> &Distribution;
        let clock = |of: Of<Operation>, of_failed: Of<FailedTimes>, never_started: u64| {
            let all = Latency::over(&parts.iter().map(|part| of(part)).collect::<Vec<_>>());
            let failures = failed_parts.iter().map(|times| of_failed(times)).collect::<Vec<_>>();
            let all = if apart { all.without(&failures) } else { all };
            let slower = never_started + if apart { kept } else { 0 };
            Latency { slower, together, ..all }.with_unended(&unended)
        };
        let times_of =
            |of: Of<FailedTimes>| Latency::over(&failed_parts.iter().map(|times| of(times)).collect::<Vec<_>>());
        let response = clock(|part| &part.response, |times| &times.response, dropped);
        // Buckets are a thousandth wide at most.
        let ended_max = response.known().map_or(0, |summary| summary.max_ns);
        let is_longest = |it: &UnderWayView| it.unended > 0 || it.longest_ns as f64 >= ended_max as f64 * 0.999;
        let under_way = under_way.map(|it| UnderWayView { is_longest: is_longest(&it), ..it });
        Self {
            name: name.to_owned(),
            under_way,
            completed: ended(Outcome::Completed),
            warned: ended(Outcome::Warned),
            rolled_back: ended(Outcome::RolledBack),
            too_few_rows: ended(Outcome::TooFewRows),
            failed,
            dropped,
            retries: parts.iter().map(|part| part.retries).sum(),
            late: parts.iter().map(|part| part.late).sum(),
            batch: (samples > 0).then_some(together),
            harness_overhead_ns: (!floors.is_empty()).then(|| floors.iter().sum::<f64>() / floors.len() as f64),
            share_percent: None,
            target_percent: parts.iter().find_map(|part| part.mix_target_percent),
            expected_percent: mean(parts.iter().filter_map(|part| part.mix_expected_percent)),
            tolerance_points: parts.iter().find_map(|part| part.mix_tolerance_points),
            limit_ns: parts.iter().find_map(|part| part.limit_ns),
            response,
            service: clock(|part| &part.service, |times| &times.service, 0),
            failed_times: apart.then(|| [times_of(|times| &times.response), times_of(|times| &times.service)]),
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

    /// Whether 90 % were answered within the limit, those that failed or were dropped counted as beyond it; none without a limit or a sample.
    pub(crate) fn limit_kept(&self) -> Option<bool> {
        Some(self.response.p90_ns()? <= self.limit_ns? as f64)
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

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::{OperationSpec, Recorder, Sample};

    /// Operations of one millisecond each, and others of a microsecond that failed or were dropped.
    fn view(valid: u64, together: u32, failed: u64, dropped: u64) -> OperationView {
        let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
        let mut sample = |outcome, ns: u64, count: u32| {
            let sample = Sample {
                due_ns: 0,
                start_ns: 0,
                end_ns: ns * u64::from(count),
                back_off_ns: 0,
                retries: 0,
                count,
                operation: 0,
                outcome,
                code: 0,
                server: None,
            };
            recorder.sample(&sample, true);
        };
        (0..valid).for_each(|_| sample(Outcome::Completed, 1_000_000, together));
        (0..failed).for_each(|_| sample(Outcome::Failed, 1_000, 1));
        (0..dropped).for_each(|_| recorder.dropped(0));
        OperationView::merged("work", &[&recorder.figures()[0]])
    }

    fn near_a_millisecond(found: Option<Quantile>) -> bool {
        matches!(found, Some(Quantile::At(ns)) if ns.abs_diff(1_000_000) < 2_000)
    }

    #[test]
    fn a_quantile_has_ten_beyond_it_or_is_blank() {
        for (valid, quantile, is_shown) in [(99, 0.9, false), (100, 0.9, true), (999, 0.99, false), (1_000, 0.99, true)]
        {
            let found = view(valid, 1, 0, 0).response.quantile(quantile);
            assert_eq!(found != Some(Quantile::TooFew), is_shown, "{valid} {quantile}: {found:?}");
        }
        // A thousand operations timed a hundred at a time are ten timings.
        assert_eq!(view(10, 100, 0, 0).response.quantile(0.5), Some(Quantile::TooFew));
        assert!(near_a_millisecond(view(20, 100, 0, 0).response.quantile(0.5)));
        assert_eq!(view(0, 1, 0, 0).response.quantile(0.5), None);
    }

    #[test]
    fn what_failed_or_was_dropped_is_slower_than_all_that_did_not() {
        for (failed, dropped) in [(20, 0), (0, 20), (10, 10)] {
            let view = view(980, 1, failed, dropped);
            assert!(near_a_millisecond(view.response.quantile(0.5)), "fast failures make nothing faster");
            assert!(near_a_millisecond(view.response.quantile(0.98)));
            let beyond = view.response.quantile(0.99);
            assert!(matches!(beyond, Some(Quantile::Beyond(ns)) if ns.abs_diff(1_000_000) < 2_000), "{beyond:?}");
            let service = view.service.quantile(0.99);
            assert_eq!(matches!(service, Some(Quantile::Beyond(_))), failed == 20, "what never started had no service");
            assert_eq!(
                view.failed_times.as_ref().map(|[times, _]| times.summary.unwrap().count),
                (failed > 0).then_some(failed)
            );
        }
        // More than a tenth: a limit for 90 % is not kept, however fast the failures were.
        let view = |failed| OperationView { limit_ns: Some(2_000_000), ..view(900, 1, failed, 0) };
        assert_eq!((view(99).limit_kept(), view(101).limit_kept()), (Some(true), Some(false)));
    }

    #[test]
    fn what_never_ended_took_at_least_as_long_as_it_was_waited_for() {
        let view = |ended: u64, unended: u64, age_ns: u64| {
            let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
            for _ in 0..ended {
                let (due_ns, start_ns, end_ns, back_off_ns) = (0, 0, 1_000_000, 0);
                let (retries, count, operation, outcome) = (0, 1, 0, Outcome::Completed);
                let sample =
                    Sample { due_ns, start_ns, end_ns, back_off_ns, retries, count, operation, outcome, code: 0, server: None };
                recorder.sample(&sample, true);
            }
            (0..unended).for_each(|_| recorder.unended(0, 1, age_ns));
            OperationView::merged("work", &[&recorder.figures()[0]])
        };
        // Five of a thousand: the 99th percentile is the same however long they take, the longest is not known.
        let few = view(995, 5, 5_000_000_000);
        assert!(near_a_millisecond(few.response.quantile(0.99)));
        assert!(matches!(few.response.longest(), Some(Quantile::Beyond(ns)) if ns >= 4_990_000_000));
        assert_eq!(few.under_way.map(|it| (it.count, it.unended, it.is_longest)), Some((5, 5, true)));
        // Twenty, given up after a tenth of what the others took: the percentile is one of them.
        let many = view(980, 20, 100_000);
        assert!(near_a_millisecond(many.response.quantile(0.5)));
        let beyond = many.response.quantile(0.99);
        assert!(matches!(beyond, Some(Quantile::Beyond(ns)) if ns.abs_diff(1_000_000) < 2_000), "{beyond:?}");
        // Nothing else at all.
        let only = view(0, 1_000, 2_000_000);
        assert!(matches!(only.response.quantile(0.99), Some(Quantile::Beyond(ns)) if ns.abs_diff(2_000_000) < 4_000));
    }

    #[test]
    fn failures_of_older_files_stay_among_the_others() {
        let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
        recorder.dropped(0);
        let old = Operation { failed: None, ..recorder.figures().remove(0) };
        let view = OperationView::merged("work", &[&old]);
        assert_eq!((view.response.slower, view.failed_times.is_none()), (1, true));
    }
}
