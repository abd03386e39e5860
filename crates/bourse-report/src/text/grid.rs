//! Tables and paragraphs in columns of characters.

use super::paint::Paint;
use crate::tables::{CellAlign, ColumnHead, SheetTable, TableCell, Tone};
use unicode_width::UnicodeWidthStr;

/// Between two columns.
const GAP: &str = "  ";

/// Width to which a column of texts is wrapped before columns are left out, and the narrowest, within words.
const WRAPPED: [usize; 2] = [20, 9];

/// Width to which a text is shortened before columns are left out.
const SHORTENED: usize = 32;

/// Units that belong to the number before them.
const UNITS: [&str; 14] = ["%", "%,", "%;", "%)", "ns", "µs", "ms", "s", "s,", "s)", "min", "KiB", "MiB", "GiB"];

/// A table drawn to fit the width, and the columns that were left out.
pub(super) struct Grid {
    pub(super) text: String,
    /// Columns left out for lack of room.
    pub(super) dropped: Vec<String>,
}

/// The width of each column, by the widest part of its cells' texts.
fn widths(table: &SheetTable, parts: fn(&str) -> Vec<&str>) -> Vec<usize> {
    let widest = |text: &str| parts(text).into_iter().map(UnicodeWidthStr::width).max().unwrap_or(0);
    let of = |at: usize| {
        let cells = table.rows.iter().map(|row| widest(&row[at].plain()));
        cells.chain([widest(&table.heads[at].title)]).max().unwrap_or(0)
    };
    (0..table.heads.len()).map(of).collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// Narrows the widest columns of texts, each down to its `least`, until the table fits; returns whether it does.
fn shrink(widths: &mut [usize], heads: &[ColumnHead], width: usize, least: impl Fn(usize) -> usize) -> bool {
    while total(widths) > width {
        let texts = (0..widths.len()).filter(|at| heads[*at].align == CellAlign::Left && widths[*at] > least(*at));
        let Some(widest) = texts.max_by_key(|at| widths[*at]) else { return false };
        widths[widest] -= 1;
    }
    true
}

/// Draws a table in at most `width` columns: texts are wrapped, then columns of a rank left out; if both are not enough, the
/// first column is written above the others, and columns without room follow below, each part with the first column.
/// `has_heads` says whether it has a line of heads.
pub(super) fn grid(mut table: SheetTable, width: usize, paint: Paint, has_heads: bool) -> Grid {
    let titles = |table: &SheetTable| table.heads.iter().map(|head| head.title.to_string()).collect::<Vec<_>>();
    let before = titles(&table);
    let widths = loop {
        let words = widths(&table, |text| text.split_whitespace().collect());
        let mut widths = widths(&table, |text| text.split('\n').collect());
        let heads = &table.heads;
        let shortens = |at: usize| heads[at].shorten.is_some();
        let first = |at| if shortens(at) { SHORTENED } else { words[at].max(WRAPPED[0]) };
        if shrink(&mut widths, heads, width, first) {
            break widths;
        }
        let word = |at| if shortens(at) { WRAPPED[1] } else { words[at] };
        let is_least = heads.iter().all(|head| head.rank == 0);
        if is_least && !shrink(&mut widths, heads, width, word) {
            // The first column is written above the others, which share the width.
            widths[0] = 0;
            shrink(&mut widths, heads, width, |_| WRAPPED[1]);
        }
        if !table.narrow() {
            break widths;
        }
    };
    let left = titles(&table);
    let dropped = before.into_iter().filter(|title| !left.contains(title)).collect();
    let titles: Vec<TableCell> =
        table.heads.iter().map(|head| TableCell::text(&head.title).tone(Tone::Faint)).collect();
    let mut text = String::new();
    let mut from = widths.len().min(1);
    loop {
        let mut columns = vec![0];
        while from < widths.len() {
            let used = columns.iter().map(|at| widths[*at] + GAP.len()).sum::<usize>();
            if columns.len() > 1 && used + widths[from] > width {
                break;
            }
            columns.push(from);
            from += 1;
        }
        for row in has_heads.then_some(&titles).into_iter().chain(&table.rows) {
            if widths.first() == Some(&0) {
                let name = fill(&row[0].plain(), width, 2);
                text.extend(name.lines().map(|line| paint.tone(row[0].tone, line) + "\n"));
            }
            row_lines(&mut text, row, &columns, &widths, &table.heads, paint);
        }
        if from >= widths.len() {
            return Grid { text, dropped };
        }
    }
}

fn row_lines(
    out: &mut String,
    row: &[TableCell],
    columns: &[usize],
    widths: &[usize],
    heads: &[ColumnHead],
    paint: Paint,
) {
    let lines = |at: &usize| match (heads[*at].shorten, row[*at].plain(), widths[*at]) {
        (_, _, 0) => Vec::new(),
        (Some(shorten), text, width) if text.width() > width => {
            let wide = text.width().saturating_sub(text.chars().count());
            vec![shorten(&text, width.saturating_sub(wide))]
        }
        (_, text, width) => wrapped(&text, width),
    };
    let cells: Vec<Vec<String>> = columns.iter().map(lines).collect();
    for nth in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
        let texts: Vec<&str> = cells.iter().map(|lines| lines.get(nth).map_or("", String::as_str)).collect();
        let last = texts.iter().rposition(|text| !text.is_empty()).unwrap_or(0);
        for (place, (at, text)) in columns.iter().zip(&texts).enumerate().take(last + 1) {
            let pad = " ".repeat(widths[*at].saturating_sub(text.width()));
            let painted = paint.tone(row[*at].tone, text);
            if place > 0 {
                out.push_str(GAP);
            }
            match heads[*at].align {
                CellAlign::Right => out.extend([pad.as_str(), painted.as_str()]),
                CellAlign::Left if place == last => out.push_str(&painted),
                CellAlign::Left => out.extend([painted.as_str(), pad.as_str()]),
            }
        }
        out.push('\n');
    }
}

/// Lines of at most `width` columns: broken between words, and within a word that is wider, if possible after a separator.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        if line.width() <= width {
            lines.push(line.to_owned());
            continue;
        }
        for line in fill(line, width, 0).lines() {
            let mut rest = line;
            while rest.width() > width {
                let ends = || rest.char_indices().map(|(at, letter)| at + letter.len_utf8());
                let fits = |end: &usize| rest[..*end].width() <= width;
                let longest = ends().take_while(fits).last().or(ends().next()).unwrap_or(rest.len());
                let part = &rest[..longest];
                let separated = part.rfind(['/', '?', '&', ',', ';', ':', '-', '_']).filter(|at| 2 * at > longest);
                let (part, more) = rest.split_at(separated.map_or(longest, |at| at + 1));
                lines.push(part.to_owned());
                rest = more;
            }
            lines.push(rest.to_owned());
        }
    }
    lines
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
