//! From run files to what a person reads: terminal, one HTML page, CSV and Markdown.
//!
//! Pure functions of the run file: no clock, no file, no network, so that a run can be drawn again years later and
//! looks the same. What the figures mean stands in `view`, what the tables hold in `tables`, both once for all outputs.
//!
//! A failed check voids a figure in every output: it is printed as void, never as a number.

mod tables;
mod text;
mod units;
mod view;

pub use text::{CsvTable, csv, markdown, terminal};
