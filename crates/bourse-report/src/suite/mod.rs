//! A rerun of a published experiment: its tables as they were published, each cell with the measured and the published
//! figure.
//!
//! `view` determines the cells and their footnotes, `chart` the charts, `sheet` the document.

mod chart;
mod sheet;
mod view;

pub use sheet::{suite, suite_html};
pub(crate) use view::{CellLine, done, lines, state_words};
