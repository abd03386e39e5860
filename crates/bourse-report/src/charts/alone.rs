//! Curves as pictures of their own, for documents and slides.

use super::{Frame, Size, scaling, swept};
use crate::html::STYLE;
use crate::view::CaseView;
use bourse_record::RunFile;

/// The curve of a run over an option that was swept over numbers, as an SVG file: of the first such option, other options
/// being a curve each; `None` if there is none or fewer than two cases have a figure.
pub fn svg(file: &RunFile) -> Option<String> {
    let views = CaseView::all(file);
    let views: Vec<&CaseView<'_>> = views.iter().collect();
    let option = *swept(&views).first()?;
    let frame = Frame { id: "scaling", title: &format!("Result by {option}"), about: "" };
    let drawing = scaling(&frame, &views, option, Size::Wide)?;
    // The page's colours, and its paper, since the picture may lie on another.
    let (opening, rest) = drawing.split_once('\n')?;
    Some(format!("{opening}\n<style>{STYLE}svg {{ background: var(--paper); }}</style>\n{rest}\n"))
}
