//! A suite as printed on a terminal.

use super::view::{self, Matrix};
use crate::tables::Tone;
use crate::text::{Paint, fill};
use crate::units;
use crate::view::engine_words;
use bourse_suite::SuiteFile;
use unicode_width::UnicodeWidthStr;

/// A suite for a terminal of `width` columns, with colours or without. Ends with a line feed.
///
/// A table that is too wide is shown in several parts, a few columns each.
pub fn suite_terminal(file: &SuiteFile, width: usize, color: bool) -> String {
    let mut page = Page { out: String::new(), width: width.max(40), paint: Paint { on: color } };
    let (version, started) =
        (units::printable(&file.provenance.build.version), units::printable(&file.provenance.started_at));
    page.line(&format!("Bourse {version} · suite {} · {started}", units::printable(&file.suite)));
    page.blank();
    let title = page.paint.bold(&units::printable(&file.title));
    page.line(&format!("  {title}"));
    for (tone, text) in view::summary(file) {
        page.paragraph(tone, &text, 2);
    }
    for table in &file.tables {
        page.heading(&units::printable(&table.title));
        let (class, differ) = view::durability(file, table);
        page.paragraph(if differ { Tone::Doubtful } else { Tone::Plain }, &class, 2);
        let (matrices, notes) = view::matrices(table);
        for matrix in &matrices {
            page.matrix(matrix);
        }
        for note in notes.lines().chain(table.notes.iter().cloned()) {
            page.paragraph(Tone::Faint, &note, 2);
        }
    }
    page.findings(file);
    page.list("Published on", &file.published_on, Tone::Plain);
    page.list("What is different here", &file.departures, Tone::Plain);
    page.list("Doubts about the published figures", &file.notes, Tone::Plain);
    page.list("Warnings", &view::warnings(file), Tone::Doubtful);
    page.heading("Settings");
    for (name, engine) in &file.engines {
        if let Some(used) = &engine.engine {
            let words = format!(
                "{name}: {} · {} · {} ({})",
                used.target,
                engine_words(used),
                used.durability,
                used.durability_reason
            );
            page.paragraph(Tone::Plain, &words, 2);
        }
    }
    let machine = &file.provenance.machine;
    let facts = [
        machine.processor.clone(),
        units::counted(u64::from(machine.cores), "core", "cores"),
        units::bytes(machine.memory_bytes as f64),
        machine.system.clone(),
        format!("{} build", file.provenance.build.profile),
        format!("seed {}", file.provenance.seed),
    ];
    page.paragraph(Tone::Plain, &facts.join(" · "), 2);
    page.paragraph(Tone::Plain, &format!("again: {}", units::command_line(&file.provenance.command)), 2);
    if let Some(notice) = &file.notice {
        page.blank();
        page.paragraph(Tone::Faint, notice, 0);
    }
    page.out
}

struct Page {
    out: String,
    width: usize,
    paint: Paint,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    fn heading(&mut self, title: &str) {
        self.blank();
        let bold = self.paint.bold(title);
        self.line(&bold);
    }

    fn paragraph(&mut self, tone: Tone, text: &str, indent: usize) {
        let filled = fill(&units::printable(text), self.width - indent, indent);
        for line in filled.lines() {
            let line = self.paint.tone(tone, line.trim_start());
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    fn list(&mut self, title: &str, items: &[String], tone: Tone) {
        if items.is_empty() {
            return;
        }
        self.heading(title);
        for item in items {
            self.paragraph(tone, item, 2);
        }
    }

    fn findings(&mut self, file: &SuiteFile) {
        if file.findings.is_empty() {
            return;
        }
        self.heading("What was found then, and whether it holds here");
        for finding in &file.findings {
            let verdict = self.paint.tone(view::tone(finding.verdict), &format!("{:<14}", finding.verdict.words()));
            let words = fill(&view::finding_words(finding), self.width.saturating_sub(16), 0);
            for (at, line) in words.lines().enumerate() {
                let before = if at == 0 { format!("  {verdict}") } else { " ".repeat(16) };
                self.line(&format!("{before}{line}"));
            }
            for test in &finding.tests {
                self.paragraph(Tone::Plain, &view::test_words(test), 16);
            }
            if let Some(why) = &finding.untested {
                self.paragraph(Tone::Plain, &format!("not tested: {why}"), 16);
            }
        }
    }

    /// Lays out as many columns side by side as there is room for, the rest below.
    fn matrix(&mut self, matrix: &Matrix) {
        self.blank();
        let texts: Vec<Vec<String>> =
            matrix.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.joined()).collect()).collect();
        let heads: Vec<String> =
            matrix.columns.iter().map(|title| format!("{title}: ours | published | ratio")).collect();
        let column_width = |at: usize| {
            let cells = texts.iter().map(|row| row[at].width());
            cells.chain([matrix.columns[at].width()]).max().unwrap_or(0)
        };
        let first =
            matrix.rows.iter().map(|(title, _)| title.width()).chain([matrix.rows_are.width()]).max().unwrap_or(0);
        let title = self.paint.tone(Tone::Plain, &matrix.title);
        self.line(&format!("  {title}: ours | published | ratio"));
        let mut from = 0;
        while from < heads.len() {
            let mut to = from;
            let mut used = 2 + first;
            while to < heads.len() && (to == from || used + 3 + column_width(to) <= self.width) {
                used += 3 + column_width(to);
                to += 1;
            }
            let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.width()));
            let mut head = format!("  {}{}", matrix.rows_are, pad(&matrix.rows_are, first));
            for (at, title) in matrix.columns.iter().enumerate().take(to).skip(from) {
                head.push_str(&format!("   {}{title}", pad(title, column_width(at))));
            }
            let faint = self.paint.tone(Tone::Faint, &head);
            self.line(&faint);
            for ((title, cells), texts) in matrix.rows.iter().zip(&texts) {
                let mut line = format!("  {title}{}", pad(title, first));
                for at in from..to {
                    let painted = self.paint.tone(cells[at].tone, &texts[at]);
                    line.push_str(&format!("   {}{painted}", pad(&texts[at], column_width(at))));
                }
                self.line(&line);
            }
            from = to;
        }
    }
}
