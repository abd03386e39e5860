//! The rates that a search tries: short rounds bracket the highest rate that meets the limits and halve the bracket; rounds of full
//! length go down from there until one meets them.

/// Relative width at which the bracket of the short rounds is narrow enough: further halving would only measure noise.
const NARROW: f64 = 0.04;
/// Most short rounds of a search.
const MOST_SHORT: usize = 12;
/// Rates tried at full length, as parts of the last one: a step of the bracket's size, then larger ones, since short rounds
/// may hide large effects. The last is a fifth of the first.
const LEFT: [f64; 6] = [1.0, 0.95, 0.9, 0.8, 0.6, 0.5];

/// A rate to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateToTry {
    /// Rate for a short round, whose figures are not reported.
    Short(f64),
    /// Rate for the rounds of full length.
    Full(f64),
}

/// A search's state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bracket {
    /// Every try with its answer, in their order.
    tried: Vec<(RateToTry, bool)>,
    /// The first rate.
    first: f64,
    /// Lowest rate that is tried in short rounds, and the highest that can be scheduled.
    range: [f64; 2],
}

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BracketAnswer {
    /// The highest rate that met every limit: at full length if one did, else in a short round below those that did not.
    pub(super) passing: Option<f64>,
    /// The lowest rate above it that did not meet every limit.
    pub(super) failing: Option<f64>,
    /// Whether rounds of full length met the limits at `passing`.
    pub(super) confirmed: bool,
}

impl Bracket {
    /// A search that begins at `first`.
    pub(super) fn from(first: f64, range: [f64; 2]) -> Self {
        Self { tried: Vec::new(), first, range }
    }

    /// The next try; `None` at the end.
    pub(super) fn next(&self) -> Option<RateToTry> {
        let full: Vec<(f64, bool)> = self.full().collect();
        match full.last() {
            None => self.next_short().map(RateToTry::Short).or_else(|| self.passing_short().map(RateToTry::Full)),
            Some((_, true)) => None,
            Some((rate, false)) => {
                let next = significant(rate * LEFT.get(full.len())?);
                (next > 0.0 && next < *rate).then_some(RateToTry::Full(next))
            }
        }
    }

    /// Records whether a rate met every limit.
    pub(super) fn tried(&mut self, this: RateToTry, is_met: bool) {
        self.tried.push((this, is_met));
    }

    /// Answer of the tries until now.
    pub(super) fn answer(&self) -> BracketAnswer {
        let confirmed = self.full().find(|(_, is_met)| *is_met).map(|(rate, _)| rate);
        let refuted = self.full().filter(|(_, is_met)| !is_met).map(|(rate, _)| rate).reduce(f64::min);
        let below = |rate: &f64| refuted.is_none_or(|refuted| *rate < refuted);
        let passing = confirmed.or_else(|| self.short(true).filter(below).reduce(f64::max));
        let all = self.tried.iter().filter(|(_, is_met)| !is_met).map(|(this, _)| this.rate());
        let failing = all.filter(|rate| passing.is_none_or(|passing| *rate > passing)).reduce(f64::min);
        BracketAnswer { passing, failing, confirmed: confirmed.is_some() }
    }

    fn next_short(&self) -> Option<f64> {
        let (passing, failing) = (self.passing_short(), self.short(false).reduce(f64::min));
        let tried = self.tried.len();
        let [least, most] = self.range;
        let next = match (passing, failing) {
            (None, Some(failing)) if failing <= least => return None,
            (Some(passing), Some(failing)) if failing - passing <= NARROW * failing => return None,
            (Some(passing), Some(failing)) => (passing + failing) / 2.0,
            // The rate of users without a schedule is near the answer; if it is not, the answer may be far from it.
            (Some(passing), None) if tried == 1 => passing * 1.25,
            (Some(passing), None) => passing * 2.0,
            (None, Some(failing)) if tried == 1 => failing * 0.75,
            (None, Some(failing)) => failing * 0.5,
            (None, None) => self.first,
        };
        let next = significant(next).max(least).min(most);
        let is_new = Some(next) != passing && Some(next) != failing;
        (next > 0.0 && tried < MOST_SHORT && is_new).then_some(next)
    }

    fn passing_short(&self) -> Option<f64> {
        self.short(true).reduce(f64::max)
    }

    /// Rates of the short rounds with this answer.
    fn short(&self, wanted: bool) -> impl Iterator<Item = f64> {
        self.tried.iter().filter_map(move |(this, is_met)| match this {
            RateToTry::Short(rate) if *is_met == wanted => Some(*rate),
            _ => None,
        })
    }

    /// Rates at full length with their answers.
    fn full(&self) -> impl Iterator<Item = (f64, bool)> {
        self.tried.iter().filter_map(|(this, is_met)| match this {
            RateToTry::Full(rate) => Some((*rate, *is_met)),
            RateToTry::Short(_) => None,
        })
    }
}

impl RateToTry {
    pub(super) const fn rate(self) -> f64 {
        match self {
            Self::Short(rate) | Self::Full(rate) => rate,
        }
    }
}

/// The rate with three significant figures, short enough to be typed again.
pub(super) fn significant(rate: f64) -> f64 {
    if rate <= 0.0 || !rate.is_finite() {
        return 0.0;
    }
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    // Not by multiplication alone: 0.1 × 3 is not 0.3.
    format!("{:.6}", (rate / unit).round() * unit).parse().expect("it was just written as a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_stats::SplitMix;

    #[test]
    fn rates_can_be_typed_again() {
        for (rate, typed) in [(271.828, 272.0), (0.031_415_9, 0.0314), (9_999.0, 10_000.0), (0.0, 0.0), (1.0, 1.0)] {
            assert_eq!(significant(rate), typed);
        }
    }

    #[test]
    fn no_rate_below_the_lowest_is_tried_in_short_rounds() {
        let mut bracket = Bracket::from(7.0, [1.0, 1e7]);
        while let Some(next) = bracket.next() {
            assert!(next.rate() >= 1.0, "{bracket:?}");
            bracket.tried(next, false);
        }
        let answer = BracketAnswer { passing: None, failing: Some(1.0), confirmed: false };
        assert_eq!(bracket.answer(), answer);
    }

    /// A search whose rounds meet the limits by `meets`.
    fn searched(first: f64, mut meets: impl FnMut(RateToTry) -> bool) -> Bracket {
        let mut bracket = Bracket::from(first, [0.0, 1e7]);
        while let Some(next) = bracket.next() {
            let is_met = meets(next);
            bracket.tried(next, is_met);
        }
        bracket
    }

    #[test]
    fn the_highest_rate_is_found_within_the_bracket() {
        for highest in [3.0, 60.0, 800.0, 990.0, 1_000.0, 1_700.0, 5_000.0, 20_000.0] {
            let answer = searched(1_000.0, |this| this.rate() <= highest).answer();
            let (passing, failing) = (answer.passing.unwrap(), answer.failing.unwrap());
            assert!(answer.confirmed && passing <= highest && failing > highest, "{highest}: {answer:?}");
            // Far below the first rate the rounds are too few to narrow the bracket that much.
            let width = if highest < 50.0 { 0.25 } else { NARROW };
            assert!(failing - passing <= width * failing, "{highest}: {answer:?}");
        }
    }

    #[test]
    fn a_search_ends_where_nothing_or_everything_meets_the_limits() {
        let nothing = searched(1_000.0, |_| false);
        assert_eq!((nothing.answer().passing, nothing.tried.len()), (None, MOST_SHORT));
        assert_eq!(searched(9.9e6, |_| true).answer().passing, Some(1e7), "the highest rate that can be asked for");
        assert_eq!(searched(0.0, |_| true), Bracket::from(0.0, [0.0, 1e7]), "nothing is known to begin with");
    }

    /// The search gave up after three steps of 5 %, though lower rates had met the limits.
    #[test]
    fn what_short_rounds_hide_is_gone_down_from_until_a_rate_meets_the_limits() {
        let in_full = |most: f64| {
            searched(104.0, move |this| match this {
                RateToTry::Short(rate) => rate <= 110.0,
                RateToTry::Full(rate) => rate <= most,
            })
        };
        for most in [90.0, 60.0, 40.0, 23.0] {
            let answer = in_full(most).answer();
            let (passing, failing) = (answer.passing.unwrap(), answer.failing.unwrap());
            assert!(answer.confirmed && passing <= most && failing > most, "{most}: {answer:?}");
            assert!(passing >= 0.48 * failing, "{most}: {answer:?}");
        }
        // If no rate meets the limits at full length, the gap remains the answer, if a short round below passed.
        let none = searched(100.0, |this| matches!(this, RateToTry::Short(rate) if rate <= 110.0));
        assert_eq!(none.tried.iter().filter(|(this, _)| matches!(this, RateToTry::Full(_))).count(), LEFT.len());
        assert_eq!((none.answer().passing, none.answer().confirmed), (None, false));
        let mut interrupted = Bracket::from(100.0, [0.0, 1e7]);
        for (this, is_met) in
            [(RateToTry::Short(55.0), true), (RateToTry::Short(97.0), true), (RateToTry::Full(97.0), false)]
        {
            interrupted.tried(this, is_met);
        }
        interrupted.tried(RateToTry::Full(92.0), false);
        let answer = BracketAnswer { passing: Some(55.0), failing: Some(92.0), confirmed: false };
        assert_eq!(interrupted.answer(), answer);
    }

    /// The 99th percentile of the response times of a first-in, first-out queue at a rate, over `seconds`: arrivals at
    /// random moments, a mean service time of a millisecond, and a longer one after the second given by `hidden`.
    fn p99_ms(rate: f64, seconds: f64, hidden: (f64, f64), random: &mut SplitMix) -> f64 {
        let mut exponential = |mean: f64| -mean * (1.0 - random.unit()).ln();
        let (mut now, mut free) = (0.0, 0.0_f64);
        let mut times = Vec::new();
        loop {
            now += exponential(1.0 / rate);
            if now > seconds {
                break;
            }
            let slower = if now > hidden.0 { hidden.1 } else { 1.0 };
            free = free.max(now) + slower * exponential(1e-3);
            times.push(1e3 * (free - now));
        }
        bourse_stats::quantile(&times, 0.99).unwrap_or(0.0)
    }

    #[test]
    fn searches_on_a_queue_end_with_a_rate_near_the_true_one() {
        const SEARCHES: u32 = 40;
        // A service time of 1 ms gives a 99th percentile of 30 ms at this rate: 1,000 − ln 100 / 30 ms.
        const TRUE: f64 = 846.5;
        let mut random = SplitMix::new(3);
        // The scatter between rounds, and the factor by which services last longer after 5 s, which short rounds do not see.
        for (deviation, hidden, least) in [(0.0, 1.0, 0.9), (0.05, 1.0, 0.85), (0.0, 1.4, 0.38)] {
            let (mut none, mut sum) = (0, 0.0);
            for _ in 0..SEARCHES {
                let answer = searched(1_000.0, |this| {
                    let speed = 1.0 + deviation * random.normal();
                    let seconds = if matches!(this, RateToTry::Short(_)) { 3.0 } else { 9.0 };
                    p99_ms(this.rate() / speed, seconds, (4.0, hidden), &mut random) * speed.recip() <= 30.0
                })
                .answer();
                none += u32::from(!answer.confirmed);
                sum += answer.passing.unwrap_or(0.0) / TRUE;
                assert!(answer.failing.zip(answer.passing).is_none_or(|(failing, passing)| failing > passing));
            }
            let mean = sum / f64::from(SEARCHES);
            assert_eq!(none, 0, "{deviation}, {hidden}: searches without an answer");
            assert!((least..1.1).contains(&mean), "{deviation}, {hidden}: {mean} of the true rate");
        }
    }
}
