//! Statistics of benchmark results: estimates, their intervals, and random numbers. Pure: no clock, no files.
//!
//! * [`signed_rank`]: pairs of rounds, or one figure over several rounds (Hodges–Lehmann, Wilcoxon).
//! * [`rank_sum`]: two independent groups of rounds (Hodges–Lehmann, Mann–Whitney).
//! * [`batch`]: one series of seconds, whose neighbours are correlated (batch means).
//! * [`steady`]: steadiness of a series; [`stopping`]: rules that end a measurement.
//! * [`holm`]: joint verdicts on several differences.
//! * [`repeats`]: budget of repeated rounds; [`sequential`]: a comparison that ends when it is decided.
//! * [`race`]: a race of many settings, which selects one to be compared.
//! * [`bisect`]: a search for the first revision that changed, whose error holds over all its decisions.
//! * [`change_points`]: changes of level in a history of figures.
//!
//! Every interval is a confidence interval with its true level, at least [`LEVEL`]. If so few values cannot reach the
//! level there is no interval: one of a lower level is never called one of 95 %.
//!
//! ```
//! use bourse_stats::ratio_of_pairs;
//! // Interleaved rounds of A and of B: B is faster by some 10 %.
//! let pairs = [(100.0, 110.0), (103.0, 112.0), (99.0, 110.5), (101.0, 110.0), (98.0, 108.0), (102.0, 113.0)];
//! let ratio = ratio_of_pairs(&pairs).expect("rounds above 0");
//! let interval = ratio.interval.expect("six pairs are enough");
//! assert!(ratio.value > 1.09 && interval.low > 1.08 && interval.high < 1.12);
//! assert_eq!(interval.level, 1.0 - 2.0 / 64.0); // 96.9 %: all six pairs on one side by chance
//! ```

pub mod batch;
pub mod bisect;
pub mod change_points;
mod estimate;
mod groups;
pub mod holm;
pub mod race;
mod random;
pub mod rank_sum;
mod rates;
pub mod repeats;
pub mod sequential;
mod sessions;
pub mod signed_rank;
pub mod steady;
pub mod stopping;
mod table;

pub use estimate::{Estimate, Interval, LEVEL, median, median_of_sorted, prediction, quantile};
pub use groups::grouped;
pub use random::SplitMix;
pub use rank_sum::ratio_of_groups;
pub use signed_rank::{center, ratio_of_pairs};
