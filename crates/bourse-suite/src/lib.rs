//! The published experiments as data, and what a rerun of one comes to.
//!
//! A *suite* is a file in `experiments/`: tables as they were published, every cell with the *case* that fills it (workload,
//! target, options, how much of it) and the figures published for it, and the published findings as tests on cells.
//! Nothing here runs anything or reads a clock; `bourse suite run` does, and hands in the rounds.
//!
//! | module | what |
//! |---|---|
//! | [`definition`] | the form of a data file, and the checks that one of ours has no dangling name |
//! | [`experiments`] | the files |
//! | [`plan`] | a suite at some scale: which cases have to be run, and which cells each fills |
//! | [`document`] | `suite.json`: what was measured beside what was published |
//! | [`measure`] | what a cell tells: rates, times, processor time, bytes |
//! | [`finding`] | whether what was found then holds here, with its interval |

pub mod definition;
pub mod document;
pub mod experiments;
pub mod finding;
pub mod measure;
pub mod plan;

pub use definition::{Published, Suite, SuiteError};
pub use document::{CellResult, CellRound, Figure, State, SuiteFile, SuiteFileError, suite_file_schema};
pub use experiments::{all, find};
pub use finding::{FindingResult, Verdict};
pub use measure::Measure;
pub use plan::{Plan, PlannedCase};
