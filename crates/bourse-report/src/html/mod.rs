//! HTML pages that open offline: no font, no picture, no network request.
//!
//! `draw` writes the elements of a document, and escapes all text; only Bourse's own drawings are trusted, and they escape by
//! themselves. `page.css` and the scripts are inside the page, which shows its still charts and tables without them. A script
//! of Bourse draws the curves from the run file that the page [contains](carried): crates with a chart library add a
//! megabyte and more, the size of several such pages and more than the program's limit allows.

mod carried;
mod draw;

use carried::HiddenContents;
pub(crate) use carried::json;
pub(crate) use draw::{draw, page};

use crate::charts::{ChartFrame, DrawnChart};

/// Style of the pages, light or dark by the reader's system.
pub(crate) const STYLE: &str = include_str!("page.css");

/// A chart with its words.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    id: String,
    key: String,
    title: String,
    about: String,
    drawn: DrawnChart,
}

impl Drawing {
    /// A chart of a kind, with an id that is unique in the page.
    pub(crate) fn new(key: &str, frame: &ChartFrame<'_>, drawn: DrawnChart) -> Self {
        let [id, title, about] = [frame.id, frame.title, frame.about].map(str::to_owned);
        Self { id, key: key.to_owned(), title, about, drawn }
    }

    /// The drawing, if there is anything to see.
    pub(crate) fn if_any(key: &str, frame: &ChartFrame<'_>, drawn: DrawnChart) -> Option<Self> {
        (!drawn.sizes.is_empty() || drawn.plot.is_some()).then(|| Self::new(key, frame, drawn))
    }
}
