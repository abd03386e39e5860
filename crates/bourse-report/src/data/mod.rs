//! Runs as tables for programs: one row a fact, units in the columns' names, no titles.
//!
//! Tables and columns are declared once, in `tables`; CSV, NDJSON and other writers read the declaration.

mod csv;
mod latency;
mod ndjson;
mod services;
mod table;
mod tables;

pub use csv::data_csv;
pub use ndjson::data_ndjson;
pub use services::{bencher, github_action_benchmark};
pub use table::{DataColumn, DataKind, DataTable, DataValue};
pub use tables::data_tables;
