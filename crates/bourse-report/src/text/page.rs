//! Lines of a terminal: common to both forms of the report.

use super::grid::{fill, grid};
use super::paint::Paint;
use crate::comparison;
use crate::documents::Sheet;
use crate::tables::{SheetTable, Tone, take_queue};
use crate::units;
use bourse_record::RunFile;
use bourse_verdict::comparison::ComparedCases;

/// The narrowest terminal that reports are drawn for; narrower ones wrap.
const NARROWEST: usize = 40;

/// Kind of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLine {
    Start,
    Heading,
    Text,
    Table,
}

/// Texts that belong below a table that was printed in brief.
pub(super) struct BriefTable {
    /// Titles of columns that are zero in every row.
    zeros: Vec<String>,
    /// Titles of columns without room.
    pub(super) dropped: Vec<String>,
    /// Queue that its response times include.
    pub(super) queue: Option<String>,
}

/// Lines drawn so far, and the settings for the next.
pub(crate) struct Page {
    pub(super) out: String,
    pub(super) width: usize,
    pub(super) paint: Paint,
    pub(super) last: LastLine,
}

impl Page {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Self { out: String::new(), width: width.max(NARROWEST), paint: Paint { on: color }, last: LastLine::Start }
    }

    /// A report with its first line: the program, the run, its time.
    pub(super) fn of(file: &RunFile, width: usize, color: bool) -> Self {
        let sheet = Sheet::of_run("", &file.name, &file.provenance, file.interrupted);
        Self::begun(&sheet, width, color)
    }

    /// The comparison that the run was made for, if it was: verdict, metrics, remarks.
    pub(super) fn comparison(&mut self, file: &RunFile) {
        if let Some(compared) = ComparedCases::of_run(file) {
            self.parts(&comparison::parts(&compared, false), false);
            self.blank();
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
        self.last = LastLine::Text;
    }

    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    pub(super) fn toned(&mut self, tone: Tone, text: &str) {
        let painted = self.paint.tone(tone, text);
        self.line(&painted);
    }

    pub(super) fn heading(&mut self, title: &str) {
        self.blank();
        for line in fill(title, self.width, 2).lines() {
            let bold = self.paint.bold(line);
            self.line(&bold);
        }
        self.last = LastLine::Heading;
    }

    /// Writes a paragraph filled to the width. A line is painted whole, so that no colour runs over its end.
    pub(super) fn paragraph(&mut self, tone: Tone, text: &str, indent: usize) {
        let filled = fill(&units::printable(text), self.width, indent);
        for line in filled.lines() {
            self.toned(tone, line);
        }
    }

    /// Writes a command line for a shell, unbroken: a terminal that wraps it still copies one line.
    pub(super) fn command(&mut self, before: &str, command: &[String]) {
        self.line(&format!("{before} {}", units::command_line(command)));
    }

    /// Writes a table without the columns that are zero or have no room, named below it.
    pub(super) fn table(&mut self, table: SheetTable, has_heads: bool) {
        let BriefTable { zeros, dropped, queue } = self.brief(table, has_heads);
        queue.iter().for_each(|queue| self.paragraph(Tone::Faint, queue, 2));
        if !zeros.is_empty() {
            self.paragraph(Tone::Faint, &format!("zero in every row: {}", zeros.join(", ")), 2);
        }
        if !dropped.is_empty() {
            let dropped = format!("hidden columns (narrow terminal): {}", dropped.join(", "));
            self.paragraph(Tone::Faint, &dropped, 2);
        }
    }

    /// Prints a table without the columns that are zero and those without room.
    pub(super) fn brief(&mut self, mut table: SheetTable, has_heads: bool) -> BriefTable {
        let queue = take_queue(&mut table);
        let zeros = table.fold();
        let times = table.heads.iter().filter(|head| head.is_time);
        let times: Vec<String> = times.map(|head| head.title.to_string()).collect();
        let grid = grid(table, self.width, self.paint, has_heads);
        self.out.push_str(&grid.text);
        let queue = queue.filter(|_| times.iter().any(|title| !grid.dropped.contains(title)));
        BriefTable { zeros, dropped: grid.dropped, queue }
    }

    pub(super) fn paragraph_indented(&mut self, tone: Tone, text: &str) {
        let filled = fill(&units::printable(text), self.width.saturating_sub(2), 2);
        for line in filled.lines() {
            self.toned(tone, &format!("  {line}"));
        }
    }
}
