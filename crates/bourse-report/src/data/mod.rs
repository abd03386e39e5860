//! Runs, suites, comparisons and the history as tables for programs: one row a fact, units in the columns' names, no titles.
//!
//! Tables and columns are declared once, in `tables` and `others`, and `runs` fills those of runs; CSV, NDJSON and other writers read the declaration.

mod csv;
mod latency;
mod ndjson;
mod others;
mod runs;
mod services;
mod table;
mod tables;

pub use csv::{CsvText, csv_file, data_csv};
pub(crate) use csv::{csv_line, guarded};
pub use ndjson::data_ndjson;
pub(crate) use others::comparison_tables;
pub use others::{history_tables, suite_tables};
pub use runs::data_tables;
pub use services::{bencher, github_action_benchmark};
pub use table::{DataColumn, DataKind, DataTable, DataValue};
