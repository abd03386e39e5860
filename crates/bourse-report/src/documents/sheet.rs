//! Sheets: what a report says, as data. A report fills one; it is drawn for the terminal, as Markdown, as a page and as CSV.

use crate::data::{CsvText, csv_line, guarded};
use crate::html::{Drawing, page};
use crate::tables::{SheetTable, TableCell, Tone, short};
use crate::text::{Page, markdown_sheet};
use crate::units::{self, printable};
use crate::view::Remark;
use bourse_record::{Machine, Provenance};

/// A document.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    pub(crate) title: String,
    /// Version of the program that made the document.
    pub(crate) version: String,
    /// Parts from top to bottom.
    pub(crate) parts: Vec<SheetPart>,
    /// Name and start of the run; both empty for a document that is not about a run.
    pub(crate) run: [String; 2],
    /// Title of the page's window; `None` if it is the document's.
    pub(crate) window: Option<String>,
    pub(crate) interrupted: bool,
    /// Notices that every form shows.
    pub(crate) notices: Vec<String>,
    /// Document that the page carries: name of its file, and its bytes.
    pub(crate) document: Option<(&'static str, Vec<u8>)>,
    /// Answer in Markdown, which a button of the page copies.
    pub(crate) answer: Option<String>,
}

/// A part of a document.
#[derive(Debug, Clone)]
pub(crate) enum SheetPart {
    /// A paragraph of Bourse's own text, with intended markup.
    Paragraph(String),
    /// Rows under heads.
    Table(SheetTable),
    /// Entries, each with lines about it.
    Entries(Vec<SheetEntry>),
    /// A heading of level 2 or 3, with its anchor: listed above the page if the level is 2; empty if there is none.
    Heading(u8, String, String),
    /// The answer.
    Answer(SheetAnswer),
    /// A paragraph.
    Line(SheetLine),
    /// Lines of a list, those of level 1 below the one of level 0 before them.
    List(Vec<(u8, Remark)>),
    /// Charts, in the page alone.
    Charts(Vec<Drawing>),
    /// Parts below a summary, which the page folds and the terminal leaves out unless it is open.
    Fold(SheetFold),
    /// Parts side by side, where there is room.
    Pair(Vec<Self>, Vec<Self>),
    /// Command that repeats the run.
    Again(RepeatCommand),
    /// Lines as they are.
    Pre(Vec<String>),
    /// Parts that only some forms show.
    Only(ShownForms, Vec<Self>),
}

/// Forms of a document that show a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownForms {
    /// The terminal.
    Terminal,
    /// A terminal that does not show the whole document.
    Brief,
    /// The page.
    Html,
    /// The page, Markdown, and a terminal that shows the whole document.
    Whole,
}

/// The figure that answers the document's question, with its durability class and the texts next to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SheetAnswer {
    pub(crate) figure: String,
    /// Unit and uncertainty of the figure.
    pub(crate) unit: String,
    /// Whether the figure reports a failure, or is missing.
    pub(crate) is_bad: bool,
    /// Durability class; empty without one.
    pub(crate) class: String,
    pub(crate) beside: Vec<String>,
}

impl SheetAnswer {
    /// The answer of tests of guarantees, of which `is_any_tried` says whether one came to its end.
    pub(crate) fn violated(count: usize, is_any_tried: bool) -> Self {
        let figure = match count {
            0 if !is_any_tried => "nothing was tried to its end".to_owned(),
            0 => "no guarantee violated".to_owned(),
            more => format!("{} violated", units::counted(more as u64, "guarantee", "guarantees")),
        };
        Self { figure, is_bad: count > 0, ..Self::default() }
    }
}

/// Place of a paragraph, which decides its style.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LinePlace {
    #[default]
    Text,
    /// Below the answer.
    Beside,
    /// Target and engine.
    Target,
    /// Verdict below a figure.
    Verdict,
    /// Verdict in place of a figure.
    Sentence,
    /// Failed check.
    Failed,
}

/// A paragraph.
#[derive(Debug, Clone, Default)]
pub(crate) struct SheetLine {
    pub(crate) place: LinePlace,
    pub(crate) tone: Tone,
    /// Durability class, or empty.
    pub(crate) class: String,
    pub(crate) text: String,
    /// Parts of the text, each with its tone, for a form that can draw them; empty for a text of one tone.
    pub(crate) spans: Vec<(Tone, String)>,
}

/// Folded parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SheetFold {
    /// Anchor in the page; empty if there is none.
    pub(crate) id: String,
    pub(crate) summary: String,
    /// Figure and class of a case, next to its label.
    pub(crate) case: Option<[String; 2]>,
    pub(crate) is_open: bool,
    pub(crate) parts: Vec<SheetPart>,
}

/// A command that runs something again.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepeatCommand {
    /// Name of one run among several; empty for the only one.
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// Machine and program; empty if another part has them.
    pub(crate) on: String,
}

/// An entry of a list: a name, a state, and lines about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SheetEntry {
    /// Name of the thing that it describes.
    pub name: String,
    /// State of that thing in a word or two; empty without one.
    pub state: String,
    /// Lines about that thing.
    pub lines: Vec<String>,
}

/// The entries as a table, without a column of states if they have none.
pub(crate) fn entries(entries: &[SheetEntry]) -> SheetTable {
    let has_states = entries.iter().any(|entry| !entry.state.is_empty());
    let row = |entry: &SheetEntry| {
        let state = has_states.then(|| TableCell::text(&entry.state));
        [TableCell::code(&entry.name)].into_iter().chain(state).chain([TableCell::lines(&entry.lines)]).collect()
    };
    let heads: &[&str] = if has_states { &["name", "state", "about"] } else { &["name", "about"] };
    SheetTable::of(heads, entries.iter().map(row).collect())
}

/// Rows and entries that have no room on a screen.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    rows: usize,
    /// Names of the entries.
    names: Vec<String>,
}

impl LeftOut {
    /// All of it in words; `None` if nothing is left out.
    pub(crate) fn words(self) -> Option<String> {
        let rows = (self.rows > 0).then(|| units::counted(self.rows as u64, "further row", "further rows"));
        let all: Vec<String> = self.names.into_iter().chain(rows).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

impl SheetPart {
    /// The part with at most so many rows of a table or list, and of entries, which then have a line each.
    pub(crate) fn first(&self, most: usize, left: &mut LeftOut) -> Self {
        match self {
            Self::Table(table) => {
                left.rows += table.rows.len().saturating_sub(most);
                Self::Table(table.first(most))
            }
            Self::List(lines) => {
                left.rows += lines.len().saturating_sub(most);
                Self::List(lines.iter().take(most).cloned().collect())
            }
            Self::Entries(all) => {
                let (shown, others) = all.split_at(most.min(all.len()));
                left.names.extend(others.iter().map(|it| it.name.clone()));
                let first =
                    |it: &SheetEntry| SheetEntry { lines: it.lines.iter().take(1).cloned().collect(), ..it.clone() };
                let mut table = entries(&shown.iter().map(first).collect::<Vec<_>>());
                table.heads.last_mut().iter_mut().for_each(|head| head.shorten = Some(short));
                Self::Table(table)
            }
            Self::Only(shown @ (ShownForms::Terminal | ShownForms::Brief), parts) => {
                Self::Only(*shown, parts.iter().map(|part| part.first(most, left)).collect())
            }
            other => other.clone(),
        }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::toned(Tone::Plain, text)
    }

    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self::toned(Tone::Faint, text)
    }

    pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self::Line(SheetLine { tone, text: text.into(), ..SheetLine::default() })
    }

    pub(crate) fn at(place: LinePlace, tone: Tone, text: impl Into<String>) -> Self {
        Self::Line(SheetLine { place, tone, text: text.into(), ..SheetLine::default() })
    }

    /// A paragraph that begins with a durability class.
    pub(crate) fn class(class: impl ToString, text: &str) -> Self {
        Self::Line(SheetLine { class: class.to_string(), text: text.to_owned(), ..SheetLine::default() })
    }

    pub(crate) fn heading(level: u8, text: impl Into<String>) -> Self {
        Self::Heading(level, String::new(), text.into())
    }

    /// A list of lines in one tone; nothing without lines.
    pub(crate) fn list(tone: Tone, lines: impl IntoIterator<Item = String>) -> Self {
        Self::List(lines.into_iter().map(|line| (0, Remark::new(tone, line))).collect())
    }

    /// Folded parts.
    pub(crate) fn fold(summary: impl Into<String>, parts: Vec<Self>) -> Self {
        Self::Fold(SheetFold { summary: summary.into(), parts, ..SheetFold::default() })
    }

    /// Command and machine of a run.
    pub(crate) fn again(of: &Provenance) -> Self {
        let (Machine { processor, cores, system, .. }, build) = (&of.machine, &of.build);
        let on = format!("{processor}, {cores} cores, {system}; {} build of Bourse {}", build.profile, build.words());
        Self::Again(RepeatCommand { name: String::new(), command: of.command.clone(), on })
    }
}

impl Sheet {
    /// A document without parts, with the version of the program that fills it.
    pub fn new(title: &str, version: &str) -> Self {
        Self { title: printable(title), version: printable(version), ..Self::default() }
    }

    /// Adds a paragraph of Bourse's own text, with intended markup.
    pub fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.parts.push(SheetPart::Paragraph(text.into()));
        self
    }

    /// Adds rows under heads.
    pub fn table(mut self, heads: &[&'static str], rows: Vec<Vec<TableCell>>) -> Self {
        self.parts.push(SheetPart::Table(SheetTable::of(heads, rows)));
        self
    }

    /// Adds entries, each with lines about it.
    pub fn entries(mut self, entries: Vec<SheetEntry>) -> Self {
        self.parts.push(SheetPart::Entries(entries));
        self
    }

    /// A document of something that was run, without parts.
    pub(crate) fn of_run(title: &str, name: &str, of: &Provenance, interrupted: bool) -> Self {
        let run = [printable(name), printable(&of.started_at)];
        Self { title: printable(title), version: printable(&of.build.version), run, interrupted, ..Self::default() }
    }

    /// Words of its first answer; empty without one.
    pub fn answer_words(&self) -> String {
        let answers = self.parts.iter().filter_map(|part| match part {
            SheetPart::Answer(SheetAnswer { figure, unit, .. }) => Some(format!("{figure} {unit}")),
            _ => None,
        });
        answers.map(|it| it.trim_end().to_owned()).next().unwrap_or_default()
    }

    /// Draws it for a terminal of `width` columns; `whole` with its folded parts.
    pub fn terminal(&self, width: usize, color: bool, whole: bool) -> String {
        Page::of_sheet(self, width, color, whole)
    }

    /// Draws it for one screen of a terminal of `width` columns, with the path of its page.
    pub fn screen(&self, width: usize, color: bool, page: Option<&str>) -> String {
        Page::screen_of_sheet(self, width, color, page)
    }

    /// Draws it as Markdown. Ends with a line feed.
    pub fn markdown(&self) -> String {
        markdown_sheet(self)
    }

    /// Draws it as one self-contained page.
    pub fn html(&self) -> String {
        page(self)
    }

    /// The rows of its tables and entries as CSV; other parts have no rows.
    pub fn csv(&self, texts: CsvText) -> String {
        let mut tables = Vec::new();
        self.parts.iter().for_each(|part| csv(part, texts, &mut tables));
        tables.join("\r\n")
    }
}

fn csv(part: &SheetPart, texts: CsvText, tables: &mut Vec<String>) {
    let mut table = |table: &SheetTable| {
        let title = (!table.title.is_empty()).then(|| csv_line([guarded(&table.title, texts)].into_iter()));
        let mut text = title.unwrap_or_default() + &csv_line(table.heads.iter().map(|head| (&*head.title).into()));
        for row in &table.rows {
            let cells = row.iter().map(|cell| cell.plain().replace('\n', "; "));
            text.push_str(&csv_line(cells.map(|cell| guarded(&cell, texts).into_owned().into())));
        }
        tables.push(text);
    };
    match part {
        SheetPart::Table(it) => table(it),
        SheetPart::Entries(all) => table(&entries(all)),
        SheetPart::Fold(SheetFold { parts, .. }) | SheetPart::Only(ShownForms::Whole, parts) => {
            parts.iter().for_each(|part| csv(part, texts, tables));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr as _;

    fn sheet() -> Sheet {
        let entry = |name: &str, state: &str, about: &str| SheetEntry {
            name: name.to_owned(),
            state: state.to_owned(),
            lines: vec!["in process".to_owned(), about.to_owned()],
        };
        let rows = vec![vec![
            TableCell::code("NoSync"),
            TableCell::strong("durability", " (0.1 s)"),
            TableCell::text("a | b <i>"),
        ]];
        Sheet::new("Engines", "1.2.3")
            .entries(vec![entry("sqlite", "3.54.1", &"many words ".repeat(20)), entry("x", "unavailable", "y")])
            .paragraph("A paragraph.")
            .table(&["bug", "found", "more"], rows)
    }

    #[test]
    fn a_terminal_is_kept_to() {
        let text = sheet().terminal(70, false, false);
        assert!(text.lines().all(|line| line.width() <= 70), "{text}");
        assert!(text.starts_with("sqlite  3.54.1       in process\n"), "{text}");
        assert!(text.contains("\n                     many words many words"), "{text}");
        assert!(text.contains("\nA paragraph.\n") && text.contains("NoSync  durability (0.1 s)  a | b <i>"), "{text}");
    }

    /// A table of crashes once was 130 columns wide on every terminal.
    #[test]
    fn a_table_of_texts_is_wrapped_and_loses_nothing() {
        let row = |at: u32| {
            (0..5)
                .map(|column| TableCell::text(&format!("cell {at}{column} of words, and /a/long/path?with=options")))
                .collect()
        };
        let heads = ["first", "second", "third", "fourth", "fifth"];
        let sheet = Sheet::default().table(&heads, (0..3).map(row).collect());
        for width in [60, 80, 120] {
            let text = sheet.terminal(width, false, false);
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            let letters = |text: &str| text.chars().filter(|it| !it.is_whitespace()).count();
            assert_eq!(letters(&text), letters(&sheet.terminal(1000, false, false)), "{text}");
        }
    }

    #[test]
    fn each_form_has_every_row_and_escapes_it() {
        let text = sheet().markdown();
        assert!(text.contains("| `NoSync` | **durability** (0.1 s) | a \\| b"), "{text}");
        assert!(!text.contains("<i>"), "{text}");
        let page = sheet().html();
        assert!(page.contains("<strong>durability</strong> (0.1 s)") && page.contains("b &lt;i&gt;"), "{page}");
        assert!(page.contains("<code>sqlite</code>") && page.contains("Bourse 1.2.3"), "{page}");
        let csv = sheet().csv(CsvText::Guarded);
        assert!(csv.starts_with("name,state,about\r\nsqlite,3.54.1,\"in process; many words"), "{csv}");
        assert!(csv.contains("\r\nbug,found,more\r\nNoSync,durability (0.1 s),a | b <i>\r\n"), "{csv}");
    }
}
