//! A comparison for a terminal.

use super::Compared;
use super::words::{beside, difference, sentence};
use crate::text::fill;
use crate::units::printable;

/// The text in lines of at most `width` columns, but for names that are longer.
pub(super) fn text(compared: &Compared, width: usize) -> String {
    let mut out = String::new();
    for it in &compared.comparisons {
        out.push_str(&format!("A: {}\nB: {}\n", printable(&it.base), printable(&it.head)));
        let widest = it.metrics.iter().map(|metric| metric.name.chars().count()).max().unwrap_or(0).max(20);
        for metric in &it.metrics {
            let (base, head) = ((metric.text)(metric.base), (metric.text)(metric.head));
            let figures = format!("  {:<widest$} A {base:>12}  B {head:>12}", printable(&metric.name));
            let difference = difference(it, metric);
            let verdict = metric.verdict.map_or("", |verdict| verdict.name(metric.better));
            let line = format!("{figures}  {difference:<48} {verdict}");
            out.push_str(&match line.trim_end() {
                line if line.chars().count() <= width => format!("{line}\n"),
                _ => {
                    let words = if verdict.is_empty() { difference } else { format!("{verdict}: {difference}") };
                    format!("{figures}\n    {}\n", fill(&words, width.saturating_sub(4), 4))
                }
            });
        }
        for line in beside(it) {
            out.push_str(&format!("  {}\n", fill(&line, width.saturating_sub(2), 4)));
        }
        out.push_str(&format!("{}\n\n", fill(&format!("verdict: {}", sentence(it, compared.tolerance)), width, 2)));
    }
    for note in &compared.notes {
        out.push_str(&format!("{}\n", fill(&printable(&format!("note: {note}")), width, 2)));
    }
    out
}
