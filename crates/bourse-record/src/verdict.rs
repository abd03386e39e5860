//! Verdict on the difference of two cases, and a gate's decision: from interval, tolerance and direction alone.

use crate::Better;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Evidence that a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evidence {
    /// Lower and upper end of the ratio of the second case to the first: its interval, widened by the possible effect
    /// of noise between runs or of unequal disturbance.
    Range(f64, f64),
    /// A ratio without an interval: too few rounds.
    NoInterval,
    /// Rounds of different runs without a noise floor.
    NotAttributable,
    /// An interval that may be due to others, who disturbed one side more than the other.
    Withheld,
    /// No ratio.
    NoRatio,
}

/// Verdict on how a second case differs from a first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better: the range is on the better side of no difference.
    Faster,
    /// Not slower by more than the tolerance, and perhaps faster by more than it; the range includes no difference.
    NotSlower,
    /// No relevant difference: the range includes no difference and is within the tolerance.
    Equivalent,
    /// Slower, and certainly by no more than the tolerance.
    SlowerWithin,
    /// Slower, perhaps by more than the tolerance.
    SlowerUnclear,
    /// Slower by more than the tolerance: the whole range is beyond it.
    SlowerBeyond,
    /// Undecided: the range includes both no difference and a slowdown of more than the tolerance.
    Inconclusive,
    /// Too few rounds for an interval.
    NoInterval,
    /// Rounds of different runs, with no known noise floor.
    NotAttributable,
    /// Withheld: others disturbed the sides, and may have caused the difference.
    Withheld,
    /// No ratio exists.
    Incomparable,
}

/// Decision of a gate on a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The range excludes a slowdown of more than the tolerance.
    Passed,
    /// The whole range is a slowdown of more than the tolerance.
    Failed,
    /// Neither is certain.
    Undecided,
}

impl Gate {
    /// Exit code of a command with a gate. An undecided gate can be configured to pass.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 4,
            Self::Undecided => 6,
        }
    }
}

impl Verdict {
    /// The verdict that follows from the evidence. `tolerance` is a part of one; `better` is the direction of the figure.
    ///
    /// ```
    /// use bourse_record::{Better, Evidence, Gate, Verdict};
    /// let of = |low, high| Verdict::of(Evidence::Range(low, high), 0.05, Better::Higher);
    /// assert_eq!(of(0.80, 0.94), Verdict::SlowerBeyond);
    /// assert_eq!((of(0.80, 1.01), of(0.80, 1.01).gate()), (Verdict::Inconclusive, Gate::Undecided));
    /// ```
    pub fn of(evidence: Evidence, tolerance: f64, better: Better) -> Self {
        let (low, high) = match evidence {
            Evidence::Range(low, high) => (low, high),
            Evidence::NoInterval => return Self::NoInterval,
            Evidence::NotAttributable => return Self::NotAttributable,
            Evidence::Withheld => return Self::Withheld,
            Evidence::NoRatio => return Self::Incomparable,
        };
        let lower_is_better = better == Better::Lower;
        let is_above = |ratio: f64, part: f64| ratio > 1.0 + part;
        let is_below = |ratio: f64, part: f64| ratio < 1.0 - part;
        let (best, worst) = if lower_is_better { (low, high) } else { (high, low) };
        let is_worse = |ratio, part| if lower_is_better { is_above(ratio, part) } else { is_below(ratio, part) };
        let is_better = |ratio, part| if lower_is_better { is_below(ratio, part) } else { is_above(ratio, part) };
        match () {
            () if is_better(worst, 0.0) => Self::Faster,
            () if is_worse(best, tolerance) => Self::SlowerBeyond,
            () if is_worse(best, 0.0) && is_worse(worst, tolerance) => Self::SlowerUnclear,
            () if is_worse(best, 0.0) => Self::SlowerWithin,
            () if is_worse(worst, tolerance) || low.is_nan() || high.is_nan() => Self::Inconclusive,
            () if is_better(best, tolerance) => Self::NotSlower,
            () => Self::Equivalent,
        }
    }

    /// Decision of a gate.
    pub const fn gate(self) -> Gate {
        match self {
            Self::Faster | Self::NotSlower | Self::Equivalent | Self::SlowerWithin => Gate::Passed,
            Self::SlowerBeyond => Gate::Failed,
            Self::SlowerUnclear
            | Self::Inconclusive
            | Self::NoInterval
            | Self::NotAttributable
            | Self::Withheld
            | Self::Incomparable => Gate::Undecided,
        }
    }

    /// Description for tables. `better` distinguishes a throughput from a cost, which is better when lower.
    pub const fn name(self, better: Better) -> &'static str {
        let is_cost = matches!(better, Better::Lower);
        match self {
            Self::Faster if is_cost => "less",
            Self::Faster => "faster",
            Self::NotSlower | Self::Equivalent => "not shown to differ",
            Self::SlowerWithin | Self::SlowerUnclear | Self::SlowerBeyond if is_cost => "more",
            Self::SlowerWithin => "slower, within the tolerance",
            Self::SlowerUnclear => "slower, perhaps beyond the tolerance",
            Self::SlowerBeyond => "slower, beyond the tolerance",
            Self::Inconclusive => "inconclusive",
            Self::NoInterval => "inconclusive: too few rounds",
            Self::NotAttributable => "not attributable",
            Self::Withheld => "withheld: disturbed by others",
            Self::Incomparable => "cannot be compared",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enumerates all positions of an interval's ends relative to the tolerance and to no difference.
    #[test]
    fn every_place_of_both_ends_has_its_verdict() {
        use Verdict::*;
        // Worse beyond the tolerance, at it, worse within, no difference, better within, at it, better beyond.
        let places = [0.90, 0.95, 0.98, 1.0, 1.02, 1.05, 1.10];
        // Row: the worse end; column: the better one, from the row's own on.
        let wanted: [&[Verdict]; 7] = [
            &[SlowerBeyond, SlowerUnclear, SlowerUnclear, Inconclusive, Inconclusive, Inconclusive, Inconclusive],
            &[SlowerWithin, SlowerWithin, Equivalent, Equivalent, Equivalent, NotSlower],
            &[SlowerWithin, Equivalent, Equivalent, Equivalent, NotSlower],
            &[Equivalent, Equivalent, Equivalent, NotSlower],
            &[Faster, Faster, Faster],
            &[Faster, Faster],
            &[Faster],
        ];
        for (at, row) in wanted.iter().enumerate() {
            for (verdict, high) in row.iter().zip(&places[at..]) {
                let low = places[at];
                assert_eq!(Verdict::of(Evidence::Range(low, *high), 0.05, Better::Higher), *verdict, "{low} to {high}");
                // A cost is the mirror image.
                let (low, high) = (2.0 - high, 2.0 - low);
                // Except if a rounding error decides on which side of the tolerance an end is.
                if [low, high].iter().all(|end| (end - 1.05).abs() > 1e-12 && (end - 0.95).abs() > 1e-12) {
                    assert_eq!(
                        Verdict::of(Evidence::Range(low, high), 0.05, Better::Lower),
                        *verdict,
                        "{low} to {high}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_range_that_holds_no_difference_is_never_called_faster_or_slower() {
        let ends = [0.0, 0.5, 0.9, 0.95, 0.999, 1.0, 1.001, 1.05, 1.5, f64::INFINITY];
        for (at, low) in ends.into_iter().enumerate() {
            for high in ends.into_iter().skip(at) {
                for tolerance in [0.0, 0.0005, 0.05, 0.9] {
                    for better in [Better::Higher, Better::Lower] {
                        let verdict = Verdict::of(Evidence::Range(low, high), tolerance, better);
                        let name = verdict.name(better);
                        let differs = ["faster", "slower", "less", "more"].iter().any(|word| name.starts_with(word));
                        let holds = low <= 1.0 && 1.0 <= high;
                        assert_eq!(differs, !holds, "{low} to {high}, {tolerance}: {name}");
                        assert!(!holds || verdict.gate() != Gate::Failed);
                    }
                }
            }
        }
    }

    #[test]
    fn without_a_range_nothing_is_decided() {
        for evidence in [
            Evidence::NoInterval,
            Evidence::NotAttributable,
            Evidence::Withheld,
            Evidence::NoRatio,
            Evidence::Range(f64::NAN, f64::NAN),
            Evidence::Range(f64::NAN, 1.0),
        ] {
            let verdict = Verdict::of(evidence, 0.05, Better::Higher);
            assert_eq!(verdict.gate(), Gate::Undecided, "{evidence:?}: {verdict:?}");
        }
    }
}
