//! A rerun of a published experiment: its tables as they were published, each cell with the measured and the published
//! figure.
//!
//! `view` determines the cells and their footnotes, once for all outputs; the others lay them out.

mod chart;
mod csv;
mod html;
mod markdown;
mod terminal;
mod view;

pub use csv::suite_csv;
pub use html::suite_html;
pub use markdown::suite_markdown;
pub use terminal::suite_terminal;
