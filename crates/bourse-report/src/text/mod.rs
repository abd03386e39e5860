//! Reports made of text alone.

mod csv;
mod curve;
mod grid;
mod markdown;
mod paint;
mod terminal;

pub use csv::{CsvTable, csv, csv_tables};
pub use markdown::markdown;
pub use terminal::terminal;
