//! Reports made of text alone: the drawers of documents for the terminal and as Markdown, and the first screen of a run.

mod curve;
mod grid;
mod markdown;
mod page;
mod paint;
mod screen;
mod sheet;

pub(crate) use curve::curve;
pub use grid::{fill, wrapped};
pub(crate) use markdown::{markdown_parts, markdown_sheet};
pub(crate) use page::Page;
pub use screen::{comparison_screen, screen};
