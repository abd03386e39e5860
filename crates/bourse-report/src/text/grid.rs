//! Tables and paragraphs in columns of characters.

use super::paint::Paint;
use crate::tables::{Align, Cell, Table, Tone};
use unicode_width::UnicodeWidthStr;

/// Between two columns.
const GAP: &str = "  ";

/// Units that belong to the number before them.
const UNITS: [&str; 14] = ["%", "%,", "%;", "%)", "ns", "µs", "ms", "s", "s,", "s)", "min", "KiB", "MiB", "GiB"];

/// A table drawn to fit the width, and the columns that were left out.
pub(super) struct Grid {
    pub(super) text: String,
    /// Columns left out for lack of room.
    pub(super) dropped: Vec<&'static str>,
}

fn widths(table: &Table) -> Vec<usize> {
    let of = |at: usize| {
        let cells = table.rows.iter().map(|row| row[at].text.width());
        cells.chain([table.heads[at].title.width()]).max().unwrap_or(0)
    };
    (0..table.heads.len()).map(of).collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// Draws a table in at most `width` columns, leaving out columns if necessary. A table that cannot fit overflows: a terminal
/// wraps a line, but a name cut short is lost.
pub(super) fn grid(mut table: Table, width: usize, paint: Paint) -> Grid {
    let before: Vec<_> = table.heads.iter().map(|head| head.title).collect();
    while total(&widths(&table)) > width && table.narrow() {}
    let left: Vec<_> = table.heads.iter().map(|head| head.title).collect();
    let dropped = before.into_iter().filter(|title| !left.contains(title)).collect();

    let widths = widths(&table);
    let aligns: Vec<_> = table.heads.iter().map(|head| head.align).collect();
    let titles: Vec<Cell> = table.heads.iter().map(|head| Cell::text(head.title).tone(Tone::Faint)).collect();
    let mut text = String::new();
    for row in std::iter::once(&titles).chain(&table.rows) {
        text.push_str(&line(row, &widths, &aligns, paint));
    }
    Grid { text, dropped }
}

fn line(row: &[Cell], widths: &[usize], aligns: &[Align], paint: Paint) -> String {
    let mut out = String::new();
    let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
    for (at, cell) in row.iter().enumerate().take(last + 1) {
        let pad = " ".repeat(widths[at] - cell.text.width());
        let painted = paint.tone(cell.tone, &cell.text);
        if at > 0 {
            out.push_str(GAP);
        }
        match aligns[at] {
            Align::Right => out.extend([pad.as_str(), painted.as_str()]),
            Align::Left if at == last => out.push_str(&painted),
            Align::Left => out.extend([painted.as_str(), pad.as_str()]),
        }
    }
    out.push('\n');
    out
}

/// Words filled into lines of at most `width` columns; lines after the first begin with `indent` blanks.
pub fn fill(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut at = 0;
    let words: Vec<&str> = text.split_whitespace().collect();
    // A number and its unit are not separated.
    let parts = words.chunk_by(|word, next| word.ends_with(|each: char| each.is_ascii_digit()) && UNITS.contains(next));
    for word in parts.map(|part| part.join(" ")) {
        let wide = word.width();
        if at > 0 && at + 1 + wide > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            at = indent;
        } else if at > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(&word);
        at += wide;
    }
    out
}
