//! Curves as pictures of their own, for documents and slides.

use super::{ChartFrame, ChartSize, scaling, swept};
use crate::html::STYLE;
use crate::view::CaseView;
use bourse_record::RunFile;

/// Draws the curve of a run over a swept numeric option as an SVG file: over the first such option, with a curve for each
/// value of the others; `None` if there is no such option or fewer than two cases have a figure.
pub fn svg(file: &RunFile) -> Option<String> {
    let views = CaseView::all(file);
    let views: Vec<&CaseView<'_>> = views.iter().collect();
    let option = *swept(&views).first()?;
    let frame = ChartFrame { id: "scaling", title: &format!("Result by {option}"), about: "" };
    let drawing = scaling(&frame, &views, option, ChartSize::Wide)?;
    // With the page's colours and background, since the picture may be shown on another.
    let (opening, rest) = drawing.split_once('\n')?;
    Some(format!("{opening}\n<style>{STYLE}svg {{ background: var(--paper); }}</style>\n{rest}\n"))
}
