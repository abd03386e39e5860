//! The rates that a search tries: it brackets the highest that meets the limits, and halves the bracket.

/// The bracket is narrow enough when its ends differ by this share: further halving would tell noise from noise.
const NARROW: f64 = 0.04;
/// Rounds a search may take before its bracket is what it is.
const MOST: usize = 12;

/// A search's bracket.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bracket {
    /// The highest rate that met every limit.
    pub(super) passing: Option<f64>,
    /// The lowest that did not.
    pub(super) failing: Option<f64>,
    tried: usize,
    /// The first rate.
    first: f64,
    /// The highest rate that can be asked for.
    most: f64,
}

impl Bracket {
    /// A search that begins near `first`.
    pub(super) fn from(first: f64, most: f64) -> Self {
        Self { passing: None, failing: None, tried: 0, first, most }
    }

    /// The next rate to try; none if the bracket is what it will be.
    pub(super) fn next(&self) -> Option<f64> {
        let next = match (self.passing, self.failing) {
            (Some(passing), Some(failing)) if failing - passing <= NARROW * failing => return None,
            (Some(passing), Some(failing)) => (passing + failing) / 2.0,
            // What users manage without a schedule is near the answer; where it is not, the answer may be far from it.
            (Some(passing), None) if self.tried == 1 => passing * 1.25,
            (Some(passing), None) => passing * 2.0,
            (None, Some(failing)) if self.tried == 1 => failing * 0.75,
            (None, Some(failing)) => failing * 0.5,
            (None, None) => self.first,
        };
        let next = significant(next).min(self.most);
        let is_new = Some(next) != self.passing && Some(next) != self.failing;
        (next > 0.0 && self.tried < MOST && is_new).then_some(next)
    }

    /// Notes whether a rate met every limit.
    pub(super) fn tried(&mut self, rate: f64, is_met: bool) {
        self.tried += 1;
        if is_met {
            self.passing = Some(self.passing.map_or(rate, |found| found.max(rate)));
        } else {
            self.failing = Some(self.failing.map_or(rate, |refuted| refuted.min(rate)));
        }
    }
}

/// Three figures: a rate that can be typed again.
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

    #[test]
    fn rates_can_be_typed_again() {
        for (rate, typed) in [(271.828, 272.0), (0.031_415_9, 0.0314), (9_999.0, 10_000.0), (0.0, 0.0), (1.0, 1.0)] {
            assert_eq!(significant(rate), typed);
        }
    }

    /// What a search finds where all rates up to a highest one meet the limits.
    fn found(first: f64, highest: f64) -> Bracket {
        let mut bracket = Bracket::from(first, 1e7);
        while let Some(rate) = bracket.next() {
            bracket.tried(rate, rate <= highest);
        }
        bracket
    }

    #[test]
    fn the_highest_rate_is_found_within_the_bracket() {
        for highest in [3.0, 60.0, 800.0, 990.0, 1_000.0, 1_700.0, 5_000.0, 20_000.0] {
            let bracket = found(1_000.0, highest);
            let (passing, failing) = (bracket.passing.unwrap(), bracket.failing.unwrap());
            assert!(passing <= highest && failing > highest, "{highest}: {bracket:?}");
            // Far below the first rate the rounds do not suffice to halve it so often.
            let width = if highest < 50.0 { 0.25 } else { NARROW };
            assert!(failing - passing <= width * failing, "{highest}: {bracket:?}");
        }
    }

    #[test]
    fn a_search_ends_where_nothing_or_everything_meets_the_limits() {
        let nothing = found(1_000.0, 0.0);
        assert_eq!((nothing.passing, nothing.tried), (None, MOST));
        assert_eq!(found(9.9e6, f64::INFINITY).passing, Some(1e7), "the highest rate that can be asked for");
        assert_eq!(found(0.0, 5.0), Bracket::from(0.0, 1e7), "nothing is known to begin with");
    }
}
