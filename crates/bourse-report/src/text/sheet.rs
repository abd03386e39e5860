//! A document for a terminal.

use super::page::{LastLine, Page};
use super::screen::SCREEN_LINES;
use crate::documents::{
    LeftOut, LinePlace, RepeatCommand, Sheet, SheetAnswer, SheetFold, SheetLine, SheetPart, ShownForms, entries,
};
use crate::tables::{SheetTable, Tone};
use crate::units::printable;
use unicode_width::UnicodeWidthStr as _;

impl Page {
    /// Draws a document; `whole` with its folded parts.
    pub(crate) fn of_sheet(sheet: &Sheet, width: usize, color: bool, whole: bool) -> String {
        let mut page = Self::begun(sheet, width, color);
        page.parts(&sheet.parts, whole);
        page.notices(sheet);
        page.out
    }

    /// Draws a document for one screen, the rest of its tables and lists counted; `file` is its page.
    pub(crate) fn screen_of_sheet(sheet: &Sheet, width: usize, color: bool, file: Option<&str>) -> String {
        let mut page = Self::begun(sheet, width, color);
        let is_again = |part: &SheetPart| matches!(part, SheetPart::Again(_));
        let (parts, again) = sheet.parts.split_at(sheet.parts.iter().position(is_again).unwrap_or(sheet.parts.len()));
        let end = |page: &mut Self| {
            page.parts(again, false);
            page.notices(sheet);
            page.place(file, 0);
        };
        // A table is followed by an empty line.
        let last = page.apart(|last| {
            last.last = LastLine::Table;
            end(last);
        });
        page.add(page.fitted(parts, SCREEN_LINES.saturating_sub(page.rows() + last.rows())));
        end(&mut page);
        page.out
    }

    /// Parts in so many rows: of each table and list as many as have room for all, or for the first of them, and below them the
    /// number of the others.
    pub(super) fn fitted(&self, parts: &[SheetPart], room: usize) -> Self {
        // Below this many rows of each, stories that only a terminal shows make room for the tables.
        const WITH_STORIES: usize = 3;
        let first = |(with, most): (usize, usize)| {
            self.apart(|page| {
                let mut left = LeftOut::default();
                let has_stories = with == parts.len() && most >= WITH_STORIES;
                let is_story = |part: &SheetPart| matches!(part, SheetPart::Only(ShownForms::Terminal, _));
                let shown = parts.iter().enumerate().filter(|(_, part)| has_stories || !is_story(part));
                let first = shown.map(|(at, part)| part.first(if at < with { most } else { 0 }, &mut left));
                page.parts(&first.collect::<Vec<_>>(), false);
                left.words().iter().for_each(|left| page.paragraph(Tone::Faint, &format!("{left}: -v"), 2));
            })
        };
        let whole = std::iter::once_with(|| self.apart(|page| page.parts(parts, false)));
        let counts = (1..=parts.len()).rev().flat_map(|with| (1..SCREEN_LINES).rev().map(move |most| (with, most)));
        whole.chain(counts.map(first)).find(|page| page.rows() <= room).unwrap_or_else(|| first((0, 0)))
    }

    fn notices(&mut self, sheet: &Sheet) {
        for notice in &sheet.notices {
            self.blank();
            self.paragraph(Tone::Faint, notice, 0);
        }
    }

    /// A terminal with the first line of a document: the program, the run, its time.
    pub(super) fn begun(sheet: &Sheet, width: usize, color: bool) -> Self {
        let mut page = Self::new(width, color);
        let [name, started_at] = &sheet.run;
        if !name.is_empty() {
            let interrupted = if sheet.interrupted { " · INTERRUPTED" } else { "" };
            page.line(&format!("Bourse {} · {name} · {started_at}{interrupted}", sheet.version));
        }
        page
    }

    /// Draws parts one below the other.
    pub(super) fn parts(&mut self, parts: &[SheetPart], whole: bool) {
        for part in parts {
            self.part(part, whole);
        }
    }

    fn part(&mut self, part: &SheetPart, whole: bool) {
        match part {
            SheetPart::Paragraph(text) => self.text(Tone::Plain, text),
            SheetPart::Heading(.., text) => self.heading(&printable(text)),
            SheetPart::Answer(answer) => {
                if self.last != LastLine::Start {
                    self.blank();
                }
                self.answer(answer);
            }
            SheetPart::Line(SheetLine { place, tone, class, text, .. }) => {
                let text = if class.is_empty() { text.clone() } else { format!("{class}: {text}") };
                match place {
                    LinePlace::Text | LinePlace::Failed => self.text(*tone, &text),
                    LinePlace::Sentence => self.text(*tone, &format!("verdict: {text}")),
                    LinePlace::Beside | LinePlace::Target | LinePlace::Verdict => {
                        self.paragraph_indented(*tone, &text);
                    }
                }
            }
            SheetPart::List(lines) => lines.iter().for_each(|(level, remark)| match level {
                0 => {
                    self.gap();
                    self.paragraph_indented(remark.tone, &remark.text);
                }
                _ => self.below(remark.tone, &remark.text),
            }),
            SheetPart::Table(table) => self.titled(table.clone()),
            SheetPart::Entries(all) => self.untitled(entries(all), false),
            SheetPart::Fold(SheetFold { summary, case, is_open, parts, .. }) => {
                if case.is_some() {
                    self.heading(&format!("── {}", printable(summary)));
                    self.parts(parts, whole);
                } else if whole || *is_open {
                    self.text(Tone::Plain, summary);
                    self.parts(parts, whole);
                }
            }
            SheetPart::Pair(left, right) => {
                self.parts(left, whole);
                self.parts(right, whole);
            }
            SheetPart::Again(RepeatCommand { name, command, .. }) => {
                let name = if name.is_empty() { String::new() } else { format!(", {}", printable(name)) };
                self.gap();
                self.command(&format!("again{name}:"), command);
            }
            SheetPart::Pre(lines) => lines.iter().for_each(|line| self.line(&printable(line))),
            SheetPart::Only(shown, parts) => {
                let of_length = if whole { ShownForms::Whole } else { ShownForms::Brief };
                if *shown == ShownForms::Terminal || *shown == of_length {
                    self.parts(parts, whole);
                }
            }
            SheetPart::Charts(_) => {}
        }
    }

    /// Writes a paragraph, after an empty line below a table.
    fn text(&mut self, tone: Tone, text: &str) {
        self.gap();
        self.paragraph(tone, text, 2);
    }

    fn gap(&mut self) {
        if self.last == LastLine::Table {
            self.blank();
        }
    }

    /// Writes a line of a list, below the one that it belongs to.
    fn below(&mut self, tone: Tone, text: &str) {
        let filled = super::grid::fill(&printable(text), self.width.saturating_sub(4), 2);
        filled.lines().for_each(|line| self.toned(tone, &format!("    {line}")));
    }

    /// Writes a table below its title; nothing for a table without rows.
    pub(super) fn titled(&mut self, table: SheetTable) {
        if table.rows.is_empty() {
            return;
        }
        if !table.title.is_empty() {
            self.heading(&table.title.clone());
        }
        self.untitled(table, true);
    }

    fn untitled(&mut self, table: SheetTable, has_heads: bool) {
        if self.last == LastLine::Text || self.last == LastLine::Table {
            self.blank();
        }
        self.table(table, has_heads);
        self.last = LastLine::Table;
    }

    /// Writes a figure with its durability class and what is next to it.
    pub(super) fn answer(&mut self, answer: &SheetAnswer) {
        let SheetAnswer { figure, unit, is_bad, class, beside } = answer;
        let headline = [figure.as_str(), unit].join(" ").trim_end().to_owned();
        let headline = super::grid::fill(&headline, self.width.saturating_sub(2), 2);
        let (mut line, mut used) = (String::new(), 0);
        for (at, text) in headline.lines().enumerate() {
            if at > 0 {
                self.line(&line);
            }
            line = match is_bad {
                false => format!("  {}", self.paint.bold(text)),
                true => format!("  {}", self.paint.tone(Tone::Bad, text)),
            };
            used = 2 + text.width();
        }
        // Text without room continues in the next line.
        for text in [class].into_iter().chain(beside).filter(|text| !text.is_empty()) {
            let wide = 3 + text.width();
            if used + wide > self.width {
                self.line(&line);
                (line, used) = (format!("    {text}"), 1 + wide);
            } else {
                (line, used) = (format!("{line}   {text}"), used + wide);
            }
        }
        self.line(&line);
    }
}
