//! Comparison of two cases by the instructions of their operations.

use super::{CaseComparison, CasePair, ComparedCases, MetricDifference, RunNoise};
use bourse_record::{Better, Evidence, Instructions, Interval, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;

/// Part of one by which two sides may differ without a change in the engine and without a scatter of their counts, as by places in
/// memory (docs/instructions.md).
const FLOOR: f64 = 0.0005;
/// Level of the interval.
const LEVEL: f64 = 0.999;
/// Student's t of that level with the two degrees of freedom that two counts of each side leave.
const STUDENT: f64 = 31.6;

/// Instructions of a function on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionDifference {
    /// Name of the function.
    pub name: String,
    /// Instructions of an operation in it, of A.
    pub base: f64,
    /// Instructions of an operation in it, of B.
    pub head: f64,
}

impl ComparedCases {
    /// Compares each pair by its instructions, with the notes of the caller; other metrics are shown without a verdict.
    pub fn by_instructions(pairs: &[CasePair], notes: Vec<String>, tolerance: f64) -> Self {
        let mut compared = Self::of(pairs, notes, tolerance, &RunNoise::Unknown);
        compared.comparisons.iter_mut().zip(pairs).for_each(|(it, pair)| it.decide_by_instructions(pair, tolerance));
        compared
    }
}

impl CaseComparison {
    fn decide_by_instructions(&mut self, pair: &CasePair, tolerance: f64) {
        self.by_instructions = true;
        (self.could_show, self.no_result) = (None, None);
        self.metrics.iter_mut().for_each(|metric| metric.verdict = None);
        match counted(pair).and_then(|[base, head]| Ok((difference(base, head)?, functions(base, head)))) {
            Ok((metric, functions)) => {
                let range = metric.interval.map_or(Evidence::NoInterval, |it| Evidence::Range(it.low, it.high));
                self.verdict = Verdict::of(range, tolerance, Better::Lower);
                self.metrics.insert(0, MetricDifference { verdict: Some(self.verdict), ..metric });
                self.functions = functions;
            }
            Err(why) => (self.verdict, self.no_result) = (Verdict::Incomparable, Some(why)),
        }
    }
}

/// The counts of both sides.
fn counted(pair: &CasePair) -> Result<[&Instructions; 2], &'static str> {
    match (&pair.base.instructions, &pair.head.instructions) {
        (Some(base), Some(head)) if base.is_like(head) => Ok([base, head]),
        (Some(_), Some(_)) => {
            Err("the instructions of the two were counted by different counters, or of different numbers of operations")
        }
        _ => Err("the instructions of both must have been counted, by --instructions"),
    }
}

/// Difference in instructions of an operation. Its interval is Student's, of the scatter that the counts of both sides have, and
/// [`FLOOR`] wider.
fn difference(base: &Instructions, head: &Instructions) -> Result<MetricDifference, &'static str> {
    let none = "a count has no instructions beside the harness's own";
    let of = |counted: &Instructions| Some((counted.middle()?, counted.each()?));
    let ((base, of_base), (head, of_head)) = of(base).zip(of(head)).ok_or(none)?;
    // Of two values the standard deviation is their distance by the root of 2.
    let apart = |[low, high]: [f64; 2], middle: f64| (high - low) / middle;
    let half = STUDENT * f64::hypot(apart(of_base, base), apart(of_head, head)) / 2.0 + FLOOR;
    let ratio = head / base;
    Ok(MetricDifference {
        name: MetricDifference::INSTRUCTIONS.to_owned(),
        unit: "instructions".to_owned(),
        base,
        head,
        ratio,
        interval: Some(Interval { low: ratio / (1.0 + half), high: ratio * (1.0 + half), level: LEVEL }),
        level: Some(LEVEL),
        verdict: None,
        text: crate::units::instructions,
        better: Better::Lower,
        p: None,
    })
}

/// Functions whose instructions differ, the largest difference first.
fn functions(base: &Instructions, head: &Instructions) -> Vec<FunctionDifference> {
    let each = |of: &Instructions, name: &str| {
        let count = of.functions.iter().find(|it| it.name == name).map_or(0, |it| it.count);
        count as f64 / of.operations as f64
    };
    let all: BTreeSet<String> = base.functions.iter().chain(&head.functions).map(|it| it.name.clone()).collect();
    let of = |name: String| FunctionDifference { base: each(base, &name), head: each(head, &name), name };
    let mut found: Vec<_> = all.into_iter().map(of).filter(|it| it.base != it.head).collect();
    let size = |it: &FunctionDifference| (it.head - it.base).abs();
    found.sort_by(|one, other| size(other).total_cmp(&size(one)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(each: [u64; 2], counted_by: &str) -> Instructions {
        let counts = each.map(|each| each * 1_000 + 500_000).to_vec();
        Instructions {
            counted_by: counted_by.to_owned(),
            operations: 1_000,
            counts,
            harness: 500_000,
            functions: Vec::new(),
        }
    }

    /// Verdict with a tolerance of 0.3 %.
    fn verdict(base: [u64; 2], head: [u64; 2]) -> Verdict {
        let found = difference(&counts(base, "x"), &counts(head, "x")).expect("both have counts");
        let range = found.interval.expect("it has ends");
        Verdict::of(Evidence::Range(range.low, range.high), 0.003, Better::Lower)
    }

    #[test]
    fn a_difference_is_one_beyond_what_counts_differ_and_the_floor() {
        use Verdict::{Equivalent, Faster, Inconclusive, SlowerBeyond, SlowerUnclear, SlowerWithin};
        for (base, head, wanted) in [
            ([10_000, 10_000], [10_000, 10_000], Equivalent),
            ([10_000, 10_000], [10_004, 10_005], Equivalent),
            ([10_000, 10_000], [10_020, 10_020], SlowerWithin),
            ([10_000, 10_000], [10_030, 10_030], SlowerUnclear),
            ([10_000, 10_000], [10_050, 10_050], SlowerBeyond),
            ([10_000, 10_000], [9_980, 9_980], Faster),
            // Two counts of each side that scatter are apart by chance in every third comparison.
            ([10_000, 10_040], [10_050, 10_090], Inconclusive),
            ([10_000, 10_001], [10_050, 10_051], SlowerUnclear),
        ] {
            assert_eq!(verdict(base, head), wanted, "{base:?} {head:?}");
        }
    }

    #[test]
    fn counts_of_nothing_have_no_difference() {
        let none = Instructions { harness: 20_000_000, ..counts([10_000, 10_000], "x") };
        assert!(difference(&none, &counts([10_000, 10_000], "x")).is_err());
        assert_eq!(counts([10_000, 10_002], "x").each(), Some([10_000.0, 10_002.0]));
        assert!(!counts([1, 1], "x").is_like(&counts([1, 1], "y")));
    }
}
