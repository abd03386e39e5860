//! Statistics of benchmark results: estimates, the intervals that belong to them, and random numbers. Pure: no clock, no files.
//!
//! * [`signed_rank`]: rounds that belong in pairs, or a figure over several rounds (Hodges–Lehmann, Wilcoxon).
//! * [`rank_sum`]: two groups of rounds that have nothing to do with one another (Hodges–Lehmann, Mann–Whitney).
//! * [`batch`]: one series of seconds, whose neighbours are alike (batch means).
//! * [`steady`]: whether a series is steady; [`stopping`]: when a measurement has lasted long enough.
//! * [`holm`]: several verdicts at once.
//! * [`repeats`]: how many disturbed rounds are run again; [`sequential`]: a comparison that ends when it is decided.
//! * [`change_points`]: where a history of figures changes its level.
//! * [`sessions`]: simulated sessions of A against A, which show that the level of pairs holds.
//!
//! Every interval is a confidence interval whose level is at least [`LEVEL`], and says its true level. Where so few values
//! cannot reach the level there is none: an interval of a lower level is never called one of 95 %.
//!
//! ```
//! use bourse_stats::ratio_of_pairs;
//! // Rounds of A and of B that took turns: B is faster by some 10 %.
//! let pairs = [(100.0, 110.0), (103.0, 112.0), (99.0, 110.5), (101.0, 110.0), (98.0, 108.0), (102.0, 113.0)];
//! let ratio = ratio_of_pairs(&pairs).expect("rounds above 0");
//! let interval = ratio.interval.expect("six pairs are enough");
//! assert!(ratio.value > 1.09 && interval.low > 1.08 && interval.high < 1.12);
//! assert_eq!(interval.level, 1.0 - 2.0 / 64.0); // 96.9 %: all six pairs on one side by chance
//! ```

pub mod batch;
pub mod change_points;
mod estimate;
pub mod holm;
mod random;
pub mod rank_sum;
#[cfg(test)]
mod rates;
pub mod repeats;
pub mod sequential;
pub mod sessions;
pub mod signed_rank;
pub mod steady;
pub mod stopping;
#[cfg(test)]
mod table;

pub use estimate::{Estimate, Interval, LEVEL, median, median_of_sorted, quantile};
pub use random::SplitMix;
pub use rank_sum::ratio_of_groups;
pub use signed_rank::{center, ratio_of_pairs};
