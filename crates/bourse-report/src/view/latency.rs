//! A latency distribution over rounds, and its quantiles where some operations have no time.

use bourse_record::{Distribution, LatencySummary, Round};
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
    /// None if there were no samples, or several rounds' histograms could not be merged.
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
    pub(super) at_least: Option<Box<Latency>>,
    /// How many were timed together, on average; 0 where that is not known.
    pub(super) together: f64,
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
    pub(super) fn over(distributions: &[&Distribution]) -> Self {
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
    pub(super) fn without(mut self, failed: &[&Distribution]) -> Self {
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
    pub(super) fn with_unended(mut self, unended: &[&Distribution]) -> Self {
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

    /// Counts what was due in a round and never started, which is known of the round alone: of its only operation.
    pub(super) fn never_started(&mut self, round: &Round) {
        let unstarted = round.arrivals.map_or(0, |arrivals| arrivals.unstarted);
        self.slower += unstarted;
        if let Some(at_least) = &mut self.at_least {
            at_least.slower += unstarted;
        }
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

    pub(super) fn known(&self) -> Option<LatencySummary> {
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
