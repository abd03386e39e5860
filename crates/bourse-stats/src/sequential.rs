//! Comparison that ends as soon as it is decided: a few looks, planned beforehand, whose intervals hold their level
//! together.
//!
//! Adding rounds until the interval excludes something is wrong in 10 to 14 % of comparisons instead of 5. Here there
//! are [`LOOKS`] looks, after equal shares of the pairs, and the interval of each has Pocock's level: the one at which
//! all of them together cover the true ratio in 95 % of comparisons (Jennison and Turnbull, Group Sequential Methods,
//! 2.4 and 9.2). The signed-rank levels are counted for each number of pairs and are slightly higher. A comparison may
//! end at any look by any rule.

use crate::{Estimate, Interval, LEVEL, signed_rank};

/// Number of looks at a comparison.
pub const LOOKS: u32 = 4;
/// Level of the interval at each look: Pocock's for four looks and 95 %.
pub const LOOK_LEVEL: f64 = 1.0 - 0.0182;

/// Numbers of pairs after which a comparison of at most `most` pairs is examined; the last is its end. Looks with too
/// few pairs for an interval are omitted.
///
/// ```
/// assert_eq!(bourse_stats::sequential::looks(32), [8, 16, 24, 32]);
/// assert_eq!(bourse_stats::sequential::looks(12), [9, 12]);
/// ```
pub fn looks(most: u32) -> Vec<u32> {
    let fewest = signed_rank::fewest(LOOK_LEVEL);
    let after = |look: u32| (u64::from(most) * u64::from(look)).div_ceil(u64::from(LOOKS));
    let pairs = (1..=LOOKS).filter_map(|look| u32::try_from(after(look)).ok());
    pairs.filter(|pairs| *pairs >= fewest).collect()
}

/// Ratio of pairs at a look, with the interval whose level holds over all looks. `None` unless every first round is
/// above 0.
pub fn ratio_at_look(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let ratio = signed_rank::ratio_of_pairs_at(pairs, LOOK_LEVEL)?;
    Some(Estimate { interval: ratio.interval.map(|it| Interval { level: LEVEL, ..it }), ..ratio })
}
