//! Sheets: paragraphs, tables and lists that are no measurement, as the list of engines and the table of planted bugs.
//!
//! The caller fills a [`Sheet`]; it is drawn for the terminal, as Markdown, as a page and as CSV.

use super::{csv_table, lines, sections};
use crate::html::{Carried, STYLE, render};
use crate::tables::Tone;
use crate::text::{CsvText, Paint, escaped, fill, markdown_row as row};
use crate::units::printable;
use minijinja::context;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// A document of paragraphs and tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// Its title.
    pub title: String,
    /// Version of the program that fills it; in the page alone.
    pub version: String,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A paragraph.
    Paragraph(String),
    /// Rows under heads.
    Table {
        /// The heads.
        heads: Vec<String>,
        /// The rows, each with a cell for each head.
        rows: Vec<Vec<Cell>>,
    },
    /// Entries, each with lines about it.
    Entries(Vec<Entry>),
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// Emphasised text.
    Strong {
        /// The text.
        text: String,
        /// Plain text after it.
        more: String,
    },
    /// A name, as it is typed.
    Code(String),
}

impl Cell {
    /// The text without its form.
    fn plain(&self) -> String {
        match self {
            Self::Text(text) | Self::Code(text) => text.clone(),
            Self::Strong { text, more } => format!("{text}{more}"),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Self::Text(text) => escaped(text),
            Self::Strong { text, more } => format!("**{}**{}", escaped(text), escaped(more)),
            Self::Code(text) => format!("`{text}`"),
        }
    }
}

/// An entry of a list: a name, a state, and lines about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its state in a word or two.
    pub state: String,
    /// Lines about it.
    pub lines: Vec<String>,
}

/// Draws a sheet for a terminal of `width` columns.
pub fn sheet_terminal(sheet: &Sheet, width: usize, color: bool) -> String {
    let mut out = String::new();
    for (at, part) in sheet.parts.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        match part {
            Part::Paragraph(words) => lines::line(&mut out, width, 0, words),
            Part::Table { heads, rows } => {
                let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
                let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(Cell::plain).collect()).collect();
                let rows = rows.iter().map(|row| (&row[..], Tone::Plain));
                lines::table(&mut out, &heads, rows, Paint { on: color });
            }
            Part::Entries(entries) => entries_terminal(&mut out, entries, width),
        }
    }
    out
}

/// Entries in three columns: name, state, lines. Longer text is wrapped within its column.
fn entries_terminal(out: &mut String, entries: &[Entry], width: usize) {
    let widest = |of: fn(&Entry) -> &str| entries.iter().map(|entry| of(entry).width()).max().unwrap_or(0);
    let (names, states) = (widest(|entry| &entry.name), widest(|entry| &entry.state));
    let states_at = names + 2;
    let lines_at = if states == 0 { states_at } else { states_at + states + 1 };
    for entry in entries {
        let mut head = printable(&entry.name);
        let _ = write!(head, "{:1$}", "", states_at.saturating_sub(head.width()));
        head.push_str(&printable(&entry.state));
        let _ = write!(head, "{:1$}", "", lines_at.saturating_sub(head.width()));
        for (at, words) in entry.lines.iter().enumerate() {
            let filled = fill(&printable(words), width.max(lines_at + 20) - lines_at, 0);
            for (nth, line) in filled.lines().enumerate() {
                let before = if at + nth == 0 { head.clone() } else { " ".repeat(lines_at) };
                let _ = writeln!(out, "{before}{line}");
            }
        }
        if entry.lines.is_empty() {
            let _ = writeln!(out, "{}", head.trim_end());
        }
    }
}

/// Draws a sheet as Markdown. Ends with a line feed.
pub fn sheet_markdown(sheet: &Sheet) -> String {
    let mut out = format!("# {}\n", escaped(&sheet.title));
    for part in &sheet.parts {
        match part {
            // Paragraphs are Bourse's own text, with intended markup.
            Part::Paragraph(words) => sections::line(&mut out, words),
            Part::Table { heads, rows } => {
                let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
                sections::table(&mut out, &heads);
                rows.iter().for_each(|cells| row(&mut out, cells.iter().map(Cell::markdown)));
            }
            Part::Entries(entries) => {
                sections::table(&mut out, &["name", "state", "about"]);
                for Entry { name, state, lines } in entries {
                    let cells = [format!("`{name}`"), escaped(state), escaped(&lines.join("; "))];
                    row(&mut out, cells.into_iter());
                }
            }
        }
    }
    out
}

/// One self-contained page.
pub fn sheet_html(sheet: &Sheet) -> String {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) => context! { text => printable(text) },
        Cell::Strong { text, more } => context! { strong => printable(text), text => printable(more) },
        Cell::Code(text) => context! { code => printable(text) },
    };
    let table = |heads: &[String], rows: Vec<Vec<minijinja::Value>>| context! { heads => heads.to_vec(), rows };
    let parts: Vec<_> = sheet
        .parts
        .iter()
        .map(|part| match part {
            Part::Paragraph(words) => context! { paragraph => printable(words) },
            Part::Table { heads, rows } => {
                context! { table => table(heads, rows.iter().map(|row| row.iter().map(cell).collect()).collect()) }
            }
            Part::Entries(entries) => {
                let heads = ["name", "state", "about"].map(str::to_owned);
                let rows = entries.iter().map(|Entry { name, state, lines }| {
                    let about = lines.iter().map(|line| printable(line)).collect::<Vec<_>>();
                    vec![
                        context! { code => printable(name) },
                        context! { text => printable(state) },
                        context! { lines => about },
                    ]
                });
                context! { table => table(&heads, rows.collect()) }
            }
        })
        .collect();
    let css = minijinja::Value::from_safe_string(STYLE.to_owned());
    let carried = minijinja::Value::from(minijinja::value::Serde(Carried::script()));
    let head = context! { css, carried, title => printable(&sheet.title), version => printable(&sheet.version) };
    render("sheet.html", context! { head, parts })
}

/// The rows of its tables and entries as CSV; paragraphs have no rows.
pub fn sheet_csv(sheet: &Sheet, texts: CsvText) -> String {
    let mut tables = Vec::new();
    for part in &sheet.parts {
        match part {
            Part::Paragraph(_) => {}
            Part::Table { heads, rows } => {
                let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
                let rows = rows.iter().map(|row| row.iter().map(|cell| cell.plain().into()).collect());
                tables.push(csv_table(&heads, rows, texts));
            }
            Part::Entries(entries) => {
                let rows = entries.iter().map(|Entry { name, state, lines }| {
                    vec![name.as_str().into(), state.as_str().into(), lines.join("; ").into()]
                });
                tables.push(csv_table(&["name", "state", "about"], rows, texts));
            }
        }
    }
    tables.join("\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let entry = |name: &str, state: &str, about: &str| Entry {
            name: name.to_owned(),
            state: state.to_owned(),
            lines: vec!["in process".to_owned(), about.to_owned()],
        };
        let rows = vec![vec![
            Cell::Code("NoSync".to_owned()),
            Cell::Strong { text: "durability".to_owned(), more: " (0.1 s)".to_owned() },
            Cell::Text("a | b <i>".to_owned()),
        ]];
        Sheet {
            title: "Engines".to_owned(),
            version: "1.2.3".to_owned(),
            parts: vec![
                Part::Entries(vec![
                    entry("sqlite", "3.54.1", &"many words ".repeat(20)),
                    entry("x", "unavailable", "y"),
                ]),
                Part::Paragraph("A paragraph.".to_owned()),
                Part::Table { heads: ["bug", "found", "more"].map(str::to_owned).to_vec(), rows },
            ],
        }
    }

    #[test]
    fn a_terminal_is_kept_to() {
        let text = sheet_terminal(&sheet(), 70, false);
        assert!(text.lines().all(|line| line.width() <= 70), "{text}");
        assert!(text.starts_with("sqlite  3.54.1      in process\n"), "{text}");
        assert!(text.contains("\n                    many words many words"), "{text}");
        assert!(text.contains("\nA paragraph.\n") && text.contains("NoSync  durability (0.1 s)  a | b <i>"), "{text}");
    }

    #[test]
    fn each_form_has_every_row_and_escapes_it() {
        let text = sheet_markdown(&sheet());
        assert!(text.contains("| `NoSync` | **durability** (0.1 s) | a \\| b"), "{text}");
        assert!(!text.contains("<i>"), "{text}");
        let page = sheet_html(&sheet());
        assert!(page.contains("<strong>durability</strong> (0.1 s)") && page.contains("b &lt;i&gt;"), "{page}");
        assert!(page.contains("<code>sqlite</code>") && page.contains("Bourse 1.2.3"), "{page}");
        let csv = sheet_csv(&sheet(), CsvText::Guarded);
        assert!(csv.starts_with("name,state,about\r\nsqlite,3.54.1,\"in process; many words"), "{csv}");
        assert!(csv.contains("\r\nbug,found,more\r\nNoSync,durability (0.1 s),a | b <i>\r\n"), "{csv}");
    }
}
