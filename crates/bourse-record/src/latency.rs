//! A latency distribution over rounds, and its quantiles where some operations have no time.

use crate::{Distribution, LatencySummary, Operation, Outcome, Round, Times};
use hdrhistogram::Histogram;

/// Clock of a latency: response or service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyClock {
    /// Response time: from due to end.
    Response,
    /// Service time: from start to end.
    Service,
}

/// A latency distribution over all rounds.
#[derive(Debug, Clone, Default)]
pub struct Latency {
    /// Summary; `None` without samples, or if the rounds' histograms could not be merged.
    pub summary: Option<LatencySummary>,
    /// Histogram; `None` if none could be read.
    pub histogram: Option<Histogram<u64>>,
    /// Samples beyond the histogram's range.
    pub clamped: u64,
    /// Whether a histogram could not be read.
    pub unreadable: bool,
    /// Operations without a time that count as slower than all others: failed, dropped, or due and never started.
    pub slower: u64,
    /// Distribution with operations whose end is unknown, censored at their ages; `None` if there are none.
    at_least: Option<Box<Latency>>,
    /// Mean number of operations timed together; 0 if unknown.
    together: f64,
}

/// Selects the times of one clock from figures of type `T`.
type SelectTimes<T> = fn(&T) -> &Distribution;

/// A quantile of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantile {
    /// Fewer than ten operations are expected beyond the quantile: it would not be reproducible.
    TooFew,
    /// Value in nanoseconds.
    At(u64),
    /// Lower bound in nanoseconds: the quantile falls on operations that count as slower, or depends on some with an
    /// unknown end.
    Beyond(u64),
}

/// Number of operations that must be expected beyond a quantile to show it.
pub(crate) const FEWEST_BEYOND: f64 = 10.0;

impl Latency {
    /// Times of an operation over several rounds. Failed and dropped operations, and those with an unknown end, count
    /// as slower than all others. Add those [never started](Self::never_started) for each round.
    pub fn of(parts: &[&Operation], clock: LatencyClock) -> Self {
        let (of, of_failed): (SelectTimes<Operation>, SelectTimes<Times>) = match clock {
            LatencyClock::Response => (|part| &part.response, |times| &times.response),
            LatencyClock::Service => (|part| &part.service, |times| &times.service),
        };
        let all = Self::over(&parts.iter().map(|part| of(part)).collect::<Vec<_>>());
        // Where the failed ones are not recorded apart, they stay among the others with their times.
        let (all, failed) = match failed_apart(parts) {
            None => (all, 0),
            Some(failed) => {
                let count = failed.iter().map(|times| times.response.summary.count).sum();
                (all.without(&failed.iter().map(|times| of_failed(times)).collect::<Vec<_>>()), count)
            }
        };
        // Operations never started have no service time.
        let dropped = match clock {
            LatencyClock::Response => count_of(parts, Outcome::Dropped),
            LatencyClock::Service => 0,
        };
        let timed: u64 = parts.iter().filter(|part| part.samples > 0).map(|part| part.service.summary.count).sum();
        let samples: u64 = parts.iter().map(|part| part.samples).sum();
        let together = if samples > 0 { timed as f64 / samples as f64 } else { 0.0 };
        let under_way = parts.iter().filter_map(|part| part.under_way.as_ref());
        let unended: Vec<&Distribution> = under_way.filter_map(|it| it.unended.as_ref()).collect();
        Self { slower: dropped + failed, together, ..all }.with_unended(&unended)
    }

    /// Response times of an operation of a round, including those never started; `None` if the round does not have it.
    pub fn of_round(round: &Round, operation: &str) -> Option<Self> {
        let mut latency = Self::of(&[round.operation(operation)?], LatencyClock::Response);
        latency.never_started(round, operation);
        Some(latency)
    }

    /// Times of failed operations; `None` if none failed, or a file does not hold them.
    pub fn of_failed(parts: &[&Operation], clock: LatencyClock) -> Option<Self> {
        let of: SelectTimes<Times> = match clock {
            LatencyClock::Response => |times| &times.response,
            LatencyClock::Service => |times| &times.service,
        };
        let failed = failed_apart(parts)?;
        Some(Self::over(&failed.into_iter().map(of).collect::<Vec<_>>()))
    }

    /// Merged times of several distributions.
    ///
    /// ```
    /// use bourse_record::{Counts, Latency, Quantile};
    /// let mut counts = Counts::new();
    /// (1..=1_000).for_each(|ns| counts.record(ns));
    /// let latency = Latency::over(&[&counts.distribution()]);
    /// assert_eq!(latency.quantile(0.9), Some(Quantile::At(900)));
    /// assert_eq!(latency.quantile(0.999), Some(Quantile::TooFew)); // a single operation beyond it is no evidence
    /// ```
    pub fn over(distributions: &[&Distribution]) -> Self {
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

    /// Merged times of several operations: an operation that counts as slower than its own kind counts as slower than
    /// all. `None` for an empty input; without times if a histogram could not be read, since the rest would be a
    /// different figure.
    pub fn together<'l>(latencies: impl IntoIterator<Item = &'l Self>) -> Option<Self> {
        latencies.into_iter().cloned().reduce(|all, each| all.with(&each))
    }

    fn with(mut self, other: &Self) -> Self {
        let at_least = (self.at_least.is_some() || other.at_least.is_some()).then(|| {
            let least = |it: &Self| it.at_least.as_deref().cloned().unwrap_or_else(|| it.clone());
            Box::new(least(&self).with(&least(other)))
        });
        self.unreadable |= other.unreadable;
        if let Some(more) = &other.histogram {
            let all = self.histogram.get_or_insert_with(|| {
                let mut empty = more.clone();
                empty.reset();
                empty
            });
            all.auto(true);
            all.add(more).expect("a histogram that resizes itself takes any other");
        }
        if self.unreadable {
            self.histogram = None;
        }
        self.summary = self.histogram.as_ref().filter(|all| !all.is_empty()).map(LatencySummary::of);
        self.clamped = self.clamped.saturating_add(other.clamped);
        self.slower = self.slower.saturating_add(other.slower);
        self.together = self.together.max(other.together);
        Self { at_least, ..self }
    }

    /// Removes the times of failed operations, which the distribution includes.
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

    /// Adds operations with an unknown end, as samples censored at the given ages.
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
        // An operation with an unknown end may be the slowest of all.
        self.slower += histogram.len();
        self
    }

    /// Counts this operation's share of those that were due in a round and never started.
    pub fn never_started(&mut self, round: &Round, operation: &str) {
        let unstarted = round.unstarted_of(operation);
        self.slower += unstarted;
        if let Some(at_least) = &mut self.at_least {
            at_least.slower += unstarted;
        }
    }

    /// Quantile (0 to 1) over operations with a time and those that count as slower; `None` without times.
    pub fn quantile(&self, quantile: f64) -> Option<Quantile> {
        let shown = self.known().or(self.at_least.as_ref().and_then(|it| it.known())).is_some();
        let is_sufficient = self.operations() as f64 >= self.needed(quantile);
        shown.then(|| if is_sufficient { self.quantile_of_any(quantile) } else { Quantile::TooFew })
    }

    /// Number of operations: those with a time, and those that count as slower.
    pub fn operations(&self) -> u64 {
        self.known().map_or(0, |summary| summary.count) + self.slower
    }

    /// Number of operations from which on a quantile (0 to 1) is shown: ten are expected beyond it. Infinite for 1.
    pub fn needed(&self, quantile: f64) -> f64 {
        (FEWEST_BEYOND - 1e-9) * self.together.max(1.0) / (1.0 - quantile)
    }

    /// Longest time; `None` without times.
    pub fn longest(&self) -> Option<Quantile> {
        let at_least = self.at_least.as_ref().and_then(|it| it.known());
        let longest = at_least.or(self.known())?.max_ns;
        Some(if self.slower > 0 { Quantile::Beyond(longest) } else { Quantile::At(longest) })
    }

    /// Summary, if there are times.
    pub fn known(&self) -> Option<LatencySummary> {
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

    /// Quantile (0 to 1) in nanoseconds however few operations there are; 1 is the longest. Infinite if it falls on
    /// operations that count as slower; `None` without operations.
    pub fn quantile_ns(&self, quantile: f64) -> Option<f64> {
        if self.known().is_none() {
            return (self.slower > 0).then_some(f64::INFINITY);
        }
        let found = if quantile < 1.0 { Some(self.quantile_of_any(quantile)) } else { self.longest() };
        Some(match found? {
            Quantile::At(value) => value as f64,
            Quantile::Beyond(_) | Quantile::TooFew => f64::INFINITY,
        })
    }
}

/// Times of failed operations, if stored separately; `None` if none failed, or a file does not hold them.
fn failed_apart<'p>(parts: &[&'p Operation]) -> Option<Vec<&'p Times>> {
    let failed: Vec<&Times> = parts.iter().filter_map(|part| part.failed.as_ref()).collect();
    let kept: u64 = failed.iter().map(|times| times.response.summary.count).sum();
    let under_way: u64 = parts.iter().filter_map(|part| part.under_way.as_ref()).map(|it| it.failed).sum();
    let is_sampled = parts.iter().any(|part| part.untimed > 0);
    // Of those of which only some are timed, as many of the failed.
    let apart = kept > 0 && (is_sampled || kept == count_of(parts, Outcome::Failed) + under_way);
    apart.then_some(failed)
}

/// Number of operations with the outcome.
fn count_of(parts: &[&Operation], outcome: Outcome) -> u64 {
    parts.iter().flat_map(|part| &part.outcomes).filter(|it| it.outcome == outcome).map(|it| it.count).sum()
}
