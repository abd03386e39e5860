//! A comparison for a terminal.

use super::Compared;
use super::words::{beside, difference, sentence};
use crate::units::printable;

pub(super) fn text(compared: &Compared) -> String {
    let mut out = String::new();
    for it in &compared.comparisons {
        out.push_str(&format!("A: {}\nB: {}\n", printable(&it.base), printable(&it.head)));
        let width = it.metrics.iter().map(|metric| metric.name.chars().count()).max().unwrap_or(0).max(20);
        for metric in &it.metrics {
            out.push_str(&format!(
                "  {:<width$} A {:>12}  B {:>12}  {:<48} {}\n",
                printable(&metric.name),
                (metric.text)(metric.base),
                (metric.text)(metric.head),
                difference(it, metric),
                metric.verdict.map_or("", |verdict| verdict.name(metric.better))
            ));
        }
        for line in beside(it) {
            out.push_str(&format!("  {line}\n"));
        }
        out.push_str(&format!("verdict: {}\n\n", sentence(it, compared.tolerance)));
    }
    for note in &compared.notes {
        out.push_str(&format!("note: {}\n", printable(note)));
    }
    out
}
