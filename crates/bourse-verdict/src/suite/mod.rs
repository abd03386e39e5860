//! Published experiments as data, and the result of rerunning them.
//!
//! A *suite* is a file in `experiments/`: tables as published, every cell with the *case* that fills it (workload,
//! target, options, amount of work) and the figures published for it, and the published findings as tests on cells.
//! Nothing here runs anything or reads a clock; `bourse suite run` does, and passes the rounds.
//!
//! | module | contents |
//! |---|---|
//! | [`definition`] | the form of a data file, and the check that it has no dangling name |
//! | [`experiments`] | the files |
//! | [`plan`] | a suite at some scale: the cases to run, and the cells that each fills |
//! | [`document`] | `suite.json`: measured figures compared with published ones |
//! | [`measure`] | figures of a cell: rates, times, processor time, bytes |
//! | [`finding`] | test of a published finding, with its interval |

pub mod definition;
pub mod document;
pub mod experiments;
pub mod finding;
pub mod measure;
pub mod plan;

pub use definition::{PublishedFigures, Suite, SuiteError};
pub use document::{CellFigure, CellResult, CellRound, CellState, SuiteFile};
pub use experiments::{all, find};
pub use finding::{FindingResult, FindingVerdict};
pub use measure::Measure;
pub use plan::{CellPlan, SuiteCase};
