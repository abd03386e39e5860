//! Curves as pictures of their own, for documents and slides.

use super::{Size, scaling, swept};
use crate::html::STYLE;
use crate::view::CaseView;
use bourse_record::RunFile;

/// The curve of a run over an option that was swept over numbers, as an SVG file: of the first such option, other options
/// being a curve each; `None` if there is none or fewer than two cases have a figure.
pub fn svg(file: &RunFile) -> Option<String> {
    let views = CaseView::all(file);
    let drawing = scaling(&views, swept(&views).first()?, Size::Wide)?;
    // The page's colours, and its paper, since the picture may lie on another.
    let (opening, rest) = drawing.split_once('\n')?;
    Some(format!("{opening}\n<style>{STYLE}svg {{ background: var(--paper); }}</style>\n{rest}\n"))
}
