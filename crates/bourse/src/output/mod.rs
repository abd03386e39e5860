//! Result folders: one for each run, with the run file and the page drawn from it.

pub(crate) mod files;
mod folder;
mod owned;

pub(crate) use folder::{ResultFolder, free_path};
pub(crate) use owned::{LIST, OwnedFolder, has_mark, is_list, refusal_to_replace, write_file, write_new};

use crate::args::OutputArgs;
use crate::failure::{Failure, Result};
use crate::progress::note;
use bourse_record::{Document, RunFile};
use bourse_report::{CsvText, Sheet, csv_file, suite_tables};
use bourse_verdict::suite::SuiteFile;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};

/// Writes the run's files and prints its report, or with `--json` the run file. A report that cannot be written is still
/// printed.
pub(crate) fn publish(run: &RunFile, folder: &ResultFolder, output: &OutputArgs) -> Result<()> {
    let stored = store(run, folder.path());
    if output.json {
        print(&format!("{:#}\n", serde_json::json!(run)))?;
        let StoredFiles { json, page } = stored?;
        note(&format!("run file: {}\nreport:   {}", json.display(), page.display()));
        return Ok(());
    }
    print_report(run, output.verbose, stored.as_ref().ok().map(|it| it.page.as_path()))?;
    stored.map(|_| ())
}

/// The files of a run.
pub(crate) struct StoredFiles {
    pub(crate) json: PathBuf,
    pub(crate) page: PathBuf,
}

/// Writes the run's files into its folder.
pub(crate) fn store(run: &RunFile, folder: &Path) -> Result<StoredFiles> {
    run_files(run).iter().try_for_each(|(name, bytes)| write_new(&folder.join(name), bytes))?;
    let [json, page] = files::OF_RUN.map(|name| folder.join(name));
    Ok(StoredFiles { json, page })
}

/// The run's files, by their names.
pub(crate) fn run_files(run: &RunFile) -> Vec<(String, Vec<u8>)> {
    let contents = [run.to_json(), bourse_report::html(run).into_bytes()];
    files::OF_RUN.map(str::to_owned).into_iter().zip(contents).collect()
}

/// Prints the report for the terminal, in brief or whole; `page` is the file with the whole report.
pub(crate) fn print_report(run: &RunFile, is_whole: bool, page: Option<&Path>) -> Result<()> {
    print(&report_text(run, is_whole, page))
}

/// Renders a run's report as text.
pub(crate) fn report_text(run: &RunFile, is_whole: bool, page: Option<&Path>) -> String {
    let (width, color) = (line_width(), has_color());
    let page = page.map(|page| page.display().to_string());
    if !is_whole {
        return bourse_report::screen(run, width, color, page.as_deref());
    }
    let mut text = bourse_report::terminal(run, width, color);
    if let Some(page) = page {
        text.push_str(&format!("\nreport: {}\n", bourse_verdict::units::printable(&page)));
    }
    text
}

/// A document other than a run, in every published form.
pub(crate) struct PublishedDocument<'a, D> {
    pub(crate) document: &'a D,
    pub(crate) sheet: Sheet,
}

impl<D: Document> PublishedDocument<'_, D> {
    /// Writes document and page, and prints the tables, or with `--json` the document.
    pub(crate) fn put(self, folder: &ResultFolder, output: &OutputArgs) -> Result<()> {
        let document = self.document.to_json();
        let [json, page] = [D::KIND.file_name(), D::KIND.page_name()].map(|name| folder.path().join(name));
        write_new(&json, &document)?;
        write_new(&page, self.sheet.html().as_bytes())?;
        let terminal = || sheet_text(&self.sheet, output.verbose, Some(&page));
        print(&if output.json { String::from_utf8_lossy(&document) } else { terminal().into() })?;
        // A screen ends with the path of the page, in the same folder.
        if output.json || !is_screen(output.verbose) {
            note(&format!("evidence: {}\npage:     {}", json.display(), page.display()));
        }
        Ok(())
    }
}

/// Whether only as much of a document or list is printed as a screen has room for: to a terminal, unless all was requested.
fn is_screen(is_whole: bool) -> bool {
    !is_whole && std::io::stdout().is_terminal()
}

/// A document for stdout, with its folded parts if `is_whole`; `page` is named on a screen alone.
pub(crate) fn sheet_text(sheet: &Sheet, is_whole: bool, page: Option<&Path>) -> String {
    match is_screen(is_whole) {
        true => sheet.screen(line_width(), has_color(), page.map(|page| page.display().to_string()).as_deref()),
        false => sheet.terminal(line_width(), has_color(), is_whole),
    }
}

/// Whether results may have colour: on a terminal with colours, unless `NO_COLOR` is set.
pub(crate) fn has_color() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !is_dumb && !is_refused
}

/// Columns of everything printed: `COLUMNS` if it is set, those of the terminal, or 80 where there is neither.
pub(crate) fn line_width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let term = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    given.or(term).unwrap_or(80).clamp(60, 200)
}

/// A name with the text about it, in lines that fit the terminal.
pub(crate) fn named(name: &str, widest: usize, text: &str) -> String {
    let before = widest + 1;
    let filled = bourse_report::fill(text, line_width().saturating_sub(before), 0);
    format!("{name:<widest$} {}\n", filled.replace('\n', &format!("\n{}", " ".repeat(before))))
}

/// A text whose lines fit the terminal; the rest of a long one is indented below it, and below what stands next to its key.
pub(crate) fn wrapped(text: &str) -> String {
    wrapped_to(line_width(), text)
}

fn wrapped_to(columns: usize, text: &str) -> String {
    let fitting = |line: &str| {
        let words = line.trim_start();
        let blanks = line.len() - words.len();
        let width = columns.saturating_sub(blanks);
        if words.chars().count() <= width {
            return format!("{line}\n");
        }
        let (key, rest) = match words.split_once("  ") {
            Some((_, rest)) => words.split_at(words.len() - rest.trim_start().len()),
            None => ("", words),
        };
        let hang = key.chars().count();
        let indent = if key.is_empty() { 2 } else { 0 };
        // A target is wider than a narrow terminal.
        let filled = bourse_report::wrapped(rest, width.saturating_sub(hang + indent))
            .join(&format!("\n{}", " ".repeat(indent)));
        format!("{}{key}{}\n", " ".repeat(blanks), filled.replace('\n', &format!("\n{}", " ".repeat(blanks + hang))))
    };
    text.lines().map(fitting).collect()
}

/// Prints to stdout; a reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a suite's files and prints its report, or with `--json` its document.
pub(crate) fn publish_suite(
    suite: &SuiteFile,
    run: &RunFile,
    folder: &ResultFolder,
    output: &OutputArgs,
) -> Result<()> {
    let document = suite.to_json();
    let [json, page, markdown, csv, rounds] = files::OF_SUITE.map(|name| folder.path().join(name));
    write_new(&json, &document)?;
    write_new(&page, bourse_report::suite_html(suite).as_bytes())?;
    write_new(&markdown, bourse_report::suite(suite).markdown().as_bytes())?;
    write_new(&csv, csv_file(&suite_tables(suite), CsvText::Guarded).as_bytes())?;
    // The rounds behind it, whole, with their histograms and series.
    write_new(&rounds, &run.to_json())?;
    if output.json {
        print(&String::from_utf8_lossy(&document))?
    } else {
        print(&bourse_report::suite(suite).terminal(line_width(), has_color(), output.verbose))?
    }
    note(&format!("document: {}\nreport:   {}", json.display(), page.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_line_is_below_the_text_next_to_its_key() {
        let text = "plan\n\n  1. a first step that is long\ntime     64 rounds, plus waiting\n";
        let fitted = "plan\n\n  1. a first step\n    that is long\ntime     64 rounds,\n         plus waiting\n";
        assert_eq!(wrapped_to(21, text), fitted);
        let target = "  1. sqlite+lib:x.db?library=/libs/x.so\n";
        assert_eq!(wrapped_to(21, target), "  1.\n    sqlite+lib:x.db?\n    library=/libs/\n    x.so\n");
    }
}
