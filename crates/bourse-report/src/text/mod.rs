//! Reports made of text alone.

mod csv;
mod curve;
mod grid;
mod markdown;
mod page;
mod paint;
mod screen;
mod terminal;

pub(crate) use csv::{Field as CsvField, line as csv_line};

pub(crate) use paint::Paint;

pub use csv::{CsvTable, CsvText, csv, csv_tables};
pub use grid::fill;
pub(crate) use markdown::answer;
pub use markdown::markdown;
pub(crate) use markdown::{code, escaped, row as markdown_row};
pub use screen::screen;
pub use terminal::terminal;
