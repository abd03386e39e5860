//! Lines of a terminal: common to both forms of the report.

use super::grid::{fill, grid};
use super::paint::Paint;
use crate::comparison::{self, Compared, beside, sentence};
use crate::tables::{Table, Tone, take_queue};
use crate::units;
use crate::view::{CaseView, Standing, case_words};
use bourse_record::RunFile;
use unicode_width::UnicodeWidthStr as _;

/// The narrowest terminal that reports are drawn for; narrower ones wrap.
const NARROWEST: usize = 40;

/// Lines drawn so far, and the settings for the next.
pub(super) struct Page {
    pub(super) out: String,
    pub(super) width: usize,
    pub(super) paint: Paint,
}

impl Page {
    /// A report with its first line: the program, the run, its time.
    pub(super) fn of(file: &RunFile, width: usize, color: bool) -> Self {
        let mut page = Self { out: String::new(), width: width.max(NARROWEST), paint: Paint { on: color } };
        page.line(&format!(
            "Bourse {} · {} · {}{}",
            units::printable(&file.provenance.build.version),
            units::printable(&file.name),
            units::printable(&file.provenance.started_at),
            if file.interrupted { " · INTERRUPTED" } else { "" }
        ));
        page
    }

    /// The comparison that the run was made for, if it was: verdict, metrics, remarks.
    pub(super) fn comparison(&mut self, file: &RunFile) {
        let Some(compared) = Compared::of_run(file) else { return };
        for it in &compared.comparisons {
            self.paragraph(comparison::tone(it.verdict), &format!("verdict: {}", sentence(it, compared.tolerance)), 2);
            self.line(&format!("A: {}", units::printable(&it.base)));
            self.line(&format!("B: {}", units::printable(&it.head)));
            self.table(comparison::table(it));
            for line in beside(it) {
                self.paragraph(Tone::Plain, &line, 2);
            }
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
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
        let bold = self.paint.bold(title);
        self.line(&bold);
    }

    /// Writes a paragraph filled to the width. A line is painted whole, so that no colour runs over its end.
    pub(super) fn paragraph(&mut self, tone: Tone, text: &str, indent: usize) {
        let filled = fill(&units::printable(text), self.width, indent);
        for line in filled.lines() {
            self.toned(tone, line);
        }
    }

    /// Writes a command line for a shell: lines that go on end with a backslash, and no argument is broken.
    pub(super) fn command(&mut self, before: &str, command: &[String]) {
        let mut line = before.to_owned();
        for (at, word) in units::quoted(command).enumerate() {
            // With room for the backslash.
            if at > 0 && line.width() + word.width() + 3 > self.width {
                self.line(&format!("{line} \\"));
                line = " ".to_owned();
            }
            line.push_str(&format!(" {word}"));
        }
        self.line(&line);
    }

    /// Writes a table without the columns that are zero or have no room, named below it.
    pub(super) fn table(&mut self, table: Table) {
        let (zeros, dropped) = self.brief(table);
        if !zeros.is_empty() {
            self.paragraph(Tone::Faint, &format!("zero: {}", zeros.join(", ")), 2);
        }
        if !dropped.is_empty() {
            let dropped = format!("hidden columns (narrow terminal): {}", dropped.join(", "));
            self.paragraph(Tone::Faint, &dropped, 2);
        }
    }

    /// Prints a table without the columns that are zero and those without room, and returns their titles. A line below it
    /// reports the queue that its response times include.
    pub(super) fn brief(&mut self, mut table: Table) -> (Vec<&'static str>, Vec<&'static str>) {
        let queue = take_queue(&mut table);
        let zeros = table.fold();
        let times = table.heads.iter().filter(|head| head.csv.ends_with("_ns"));
        let times: Vec<&str> = times.map(|head| head.title).collect();
        let grid = grid(table, self.width, self.paint);
        self.out.push_str(&grid.text);
        if let Some(queue) = queue.filter(|_| times.iter().any(|title| !grid.dropped.contains(title))) {
            self.paragraph(Tone::Faint, &queue, 2);
        }
        (zeros, grid.dropped)
    }

    pub(super) fn paragraph_indented(&mut self, tone: Tone, text: &str) {
        let filled = fill(&units::printable(text), self.width.saturating_sub(4), 2);
        for line in filled.lines() {
            self.toned(tone, &format!("  {line}"));
        }
    }

    /// The figure of a case with its durability class, engine and target, and the spread of the rounds.
    pub(super) fn figure(&mut self, view: &CaseView<'_>) {
        let engine = &view.case.engine;
        let unit = units::printable(view.unit());
        let class = engine.durability;
        let figure = view.valid_figure().map(units::number);
        let sure = view.sure().map(|it| format!(" {it}")).unwrap_or_default();
        let headline = match (figure, view.standing()) {
            (Some(figure), _) => format!("{figure} {unit}{sure}"),
            (None, Standing::Void) => format!("VOID: no {unit}"),
            (None, _) => format!("no {unit}: nothing measured"),
        };
        let mut used = 2 + headline.chars().count();
        let mut line = match view.standing() {
            Standing::Counts => format!("  {}", self.paint.bold(&headline)),
            _ => format!("  {}", self.paint.tone(Tone::Bad, &headline)),
        };
        // Text without room continues in the next line.
        for beside in [Some(class.to_string()), view.results()].into_iter().flatten() {
            let wide = 3 + beside.chars().count();
            if used + wide > self.width {
                self.line(&line);
                (line, used) = (format!("    {beside}"), 1 + wide);
            } else {
                (line, used) = (format!("{line}   {beside}"), used + wide);
            }
        }
        self.line(&line);
        let on = format!("  {} · {}", engine.target, case_words(view.case));
        self.paragraph_indented(Tone::Plain, &on);
        if let Some(spread) = view.spread() {
            self.paragraph_indented(Tone::Plain, &spread);
        }
    }
}
