//! Meaning of runs: figures over all rounds, whether they count, what limited them, verdicts of comparisons, and the
//! published experiments with their findings.
//!
//! Tables, pages and exit codes are drawn and derived from these; nothing here draws, and nothing reads a file or a clock.
//!
//! | module | contents |
//! |---|---|
//! | [`view`] | a run file's meaning: cases and operations over all rounds, validity of the figure, bottleneck, rules of the specification |
//! | [`comparison`] | two cases compared: ratio, interval and verdict of each metric, and the gate |
//! | [`suite`] | published experiments as data, and whether a rerun confirms their findings |
//! | [`units`] | numbers in readable form |

pub mod comparison;
pub mod likeness;
pub mod suite;
mod tone;
pub mod tuning;
pub mod units;
pub mod view;

pub use tone::Tone;
