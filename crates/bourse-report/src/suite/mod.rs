//! A rerun of a published experiment: its tables as they were published, each cell ours beside the published one.
//!
//! `view` says what the cells and their footnotes are, once for all outputs; the others lay them out.

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
