//! Paragraphs and plain tables of a terminal.

use crate::tables::Tone;
use crate::text::{Paint, fill};
use crate::units::printable;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Appends a paragraph of at most `width` columns, each of its lines indented.
pub(super) fn line(out: &mut String, width: usize, indent: usize, words: &str) {
    let filled = fill(&printable(words), width.max(indent + 20).saturating_sub(indent), 0);
    for line in filled.lines() {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
    if filled.is_empty() {
        out.push('\n');
    }
}

/// Rows under their heads, the last column in the color of the row's tone.
pub(super) fn table<'r>(
    out: &mut String,
    heads: &[&str],
    rows: impl Iterator<Item = (&'r [String], Tone)> + Clone,
    paint: Paint,
) {
    let widest = |column: usize| {
        let of_rows = rows.clone().filter_map(|(cells, _)| cells.get(column)).map(|cell| cell.width()).max();
        of_rows.unwrap_or(0).max(heads.get(column).map_or(0, |head| head.width()))
    };
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    let mut put = |cells: &[String], tone: Tone| {
        let mut row = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let cell = printable(cell);
            if at + 1 == cells.len() {
                row.push_str(&if cell.is_empty() { cell } else { paint.tone(tone, &cell) });
            } else {
                let gap = (width + 2).saturating_sub(cell.width());
                let _ = write!(row, "{cell}{:gap$}", "");
            }
        }
        out.push_str(row.trim_end());
        out.push('\n');
    };
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    put(&heads, Tone::Plain);
    rows.for_each(|(cells, tone)| put(cells, tone));
}
