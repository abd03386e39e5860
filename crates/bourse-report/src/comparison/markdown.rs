//! A comparison for a comment on a change.

use super::Compared;
use super::words::{beside, difference, sentence};
use crate::text::{code, escaped, markdown_row as row};

pub(super) fn markdown(compared: &Compared) -> String {
    let mut out = String::new();
    for it in &compared.comparisons {
        out.push_str(&format!("**{}**\n\n", escaped(&sentence(it, compared.tolerance))));
        out.push_str(&format!("A: {}, B: {}\n\n", code(&it.base), code(&it.head)));
        out.push_str("| metric | A | B | difference | verdict |\n|---|---:|---:|---|---|\n");
        for metric in &it.metrics {
            let (base, head) = ((metric.text)(metric.base), (metric.text)(metric.head));
            let verdict = metric.verdict.map_or("", |verdict| verdict.name(metric.better));
            let cells = [metric.name.as_str(), &base, &head, &difference(it, metric), verdict];
            row(&mut out, cells.into_iter().map(escaped));
        }
        out.push('\n');
        for line in beside(it) {
            out.push_str(&format!("- {}\n", escaped(&line)));
        }
    }
    for note in &compared.notes {
        out.push_str(&format!("- {}\n", escaped(note)));
    }
    out
}
