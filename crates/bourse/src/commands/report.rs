//! `bourse report`: draws stored runs again, from their files alone.

use super::runs::{index, is_results_folder};
use crate::args::{CsvCells, ReportArgs};
use crate::export::export;
use crate::failure::{Failure, Result};
use crate::output::{OwnedFolder, files, line_width, print, report_text, run_files, sheet_text, write_file};
use crate::progress::note;
use bourse_record::{Document, DocumentKind, Provenance, RunFile, document_bytes, drivers};
use bourse_report::{CsvText, DataTable, DrawComparison as _, Sheet, csv_file, data_tables};
use bourse_verdict::comparison::{CasePair, ComparedCases, RunNoise, TOLERANCE, stored_pairs};
use bourse_verdict::suite::SuiteFile;
use std::path::{Path, PathBuf};

/// Reads the runs, joins their cases and draws the report, with the comparison first if they are two runs of the same work;
/// or draws a document of another kind.
pub(crate) fn report(arguments: &ReportArgs) -> Result<()> {
    if let Some((word, runs)) = arguments.runs.split_first()
        && word.as_path() == Path::new("merge")
        && !word.exists()
    {
        return merge(runs, arguments);
    }
    if let Some(format) = arguments.format {
        return export(format, arguments);
    }
    let mut others = arguments.runs.iter().filter_map(|path| other_document(path).map(|found| (path, found)));
    if let Some((path, (kind, file))) = others.next() {
        if arguments.runs.len() > 1 {
            return Err(refused_kind(kind, path, "cannot be merged with others")
                .hint("give it alone, or only runs of a workload"));
        }
        return draw(kind, &file, arguments);
    }
    if let [folder] = arguments.runs.as_slice()
        && is_results_folder(folder)
    {
        return index(folder, arguments);
    }
    let runs = arguments.runs.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let sides = RunSides::of(&runs);
    let run = joined(runs)?;
    let texts = texts(arguments.csv);
    let first =
        |text: fn(&ComparedCases) -> String| sides.as_ref().map(|it| text(&it.compared) + "\n").unwrap_or_default();
    let drawn = DrawnReport {
        terminal: &|| first(|it| it.text(&[], line_width())) + &report_text(&run, arguments.verbose, None),
        html: &|| sides.as_ref().map_or_else(|| bourse_report::html(&run), RunSides::html),
        markdown: &|| first(ComparedCases::markdown) + &bourse_report::markdown(&run),
        csv: &|| csv_file(&data_tables(std::slice::from_ref(&run)), texts),
    };
    if let Some(path) = arguments.output.as_deref().filter(|path| path.extension() == Some("svg".as_ref())) {
        let curve = bourse_report::svg(&run).ok_or_else(|| {
            Failure::usage("these runs have no sweep to draw a curve of")
                .hint("a curve needs cases that differ in a numeric option, as `--sweep users=1,2,4` gives")
        })?;
        return written(path, &curve, arguments.overwrite);
    }
    drawn.put(arguments.output.as_deref(), arguments.overwrite)?;
    if arguments.output.as_deref().is_some_and(|path| path.extension() == Some("csv".as_ref())) {
        note("this file has the tables one below the other, for a spreadsheet; a file for each: --format csv -o DIR");
    }
    Ok(())
}

/// Failure of a document of that kind.
pub(crate) fn refused_kind(kind: DocumentKind, path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{} is {}, which {why}", path.display(), kind.title()))
}

fn written(path: &Path, text: &str, overwrite: bool) -> Result<()> {
    write_file(path, text, overwrite)?;
    note(&format!("report: {}", path.display()));
    Ok(())
}

/// Form of texts in CSV.
pub(crate) const fn texts(cells: CsvCells) -> CsvText {
    match cells {
        CsvCells::Guarded => CsvText::Guarded,
        CsvCells::Raw => CsvText::Raw,
    }
}

/// A report in each of its forms.
pub(crate) struct DrawnReport<'a> {
    pub(crate) terminal: &'a dyn Fn() -> String,
    pub(crate) html: &'a dyn Fn() -> String,
    pub(crate) markdown: &'a dyn Fn() -> String,
    pub(crate) csv: &'a dyn Fn() -> String,
}

impl DrawnReport<'_> {
    /// Prints it, or writes it to a file in the form of its ending; with `overwrite`, in place of any other file.
    pub(crate) fn put(&self, output: Option<&Path>, overwrite: bool) -> Result<()> {
        let Some(path) = output else { return print(&(self.terminal)()) };
        let text = match path.extension().and_then(|ending| ending.to_str()) {
            Some("html") => (self.html)(),
            Some("md") => (self.markdown)(),
            Some("csv") => (self.csv)(),
            _ => {
                return Err(Failure::usage(format!("unsupported output format of {}", path.display()))
                    .hint("use .html, .md or .csv; or .svg for the curve of a sweep"));
            }
        };
        written(path, &text, overwrite)
    }
}

/// Prints a document, or writes it to a file; `whole` with the parts that a terminal leaves out. Its CSV has the given tables,
/// or those of the document.
pub(crate) fn put(sheet: &Sheet, tables: Option<&[DataTable]>, whole: bool, to: &DocumentPlace<'_>) -> Result<()> {
    let drawn = DrawnReport {
        terminal: &|| sheet_text(sheet, whole, None),
        html: &|| sheet.html(),
        markdown: &|| sheet.markdown(),
        csv: &|| tables.map_or_else(|| sheet.csv(to.texts), |tables| csv_file(tables, to.texts)),
    };
    drawn.put(to.output, to.overwrite)
}

/// Place of a document, and the form of its texts in CSV.
pub(crate) struct DocumentPlace<'a> {
    pub(crate) output: Option<&'a Path>,
    pub(crate) overwrite: bool,
    pub(crate) texts: CsvText,
}

impl ReportArgs {
    /// Place of the report.
    pub(crate) fn target(&self) -> DocumentPlace<'_> {
        DocumentPlace { output: self.output.as_deref(), overwrite: self.overwrite, texts: texts(self.csv) }
    }
}

/// Draws a document of a kind other than a run.
fn draw(kind: DocumentKind, file: &Path, arguments: &ReportArgs) -> Result<()> {
    fn read<D: Document>(file: &Path) -> Result<D> {
        Ok(D::read(file)?)
    }
    let (to, whole) = (arguments.target(), arguments.verbose);
    match kind {
        // Runs are joined with others before they are drawn.
        DocumentKind::Run => Err(Failure::usage(format!("{} is a run", file.display()))),
        DocumentKind::Suite => {
            let suite: SuiteFile = read(file)?;
            let tables = bourse_report::suite_tables(&suite);
            put(&bourse_report::suite(&suite), Some(&tables), whole, &to)
        }
        DocumentKind::Acid => put(&bourse_report::acid(&read(file)?), None, whole, &to),
        DocumentKind::Crash => put(&bourse_report::crash(&read(file)?), None, whole, &to),
        DocumentKind::Faults => put(&bourse_report::faults(&read(file)?), None, whole, &to),
    }
}

/// The named document, if it is no run: by its name in a folder, otherwise by its own declaration.
pub(crate) fn other_document(path: &Path) -> Option<(DocumentKind, PathBuf)> {
    let others = DocumentKind::ALL.into_iter().filter(|kind| *kind != DocumentKind::Run);
    if path.is_dir() {
        return others.map(|kind| (kind, path.join(kind.file_name()))).find(|(_, file)| file.exists());
    }
    // An unreadable file is reported when it is read as a run.
    let bytes = document_bytes(path).ok()?;
    let kind = DocumentKind::of(&serde_json::from_slice(&bytes).ok()?)?;
    (kind != DocumentKind::Run).then(|| (kind, path.to_owned()))
}

/// Two runs of the same work, each a side of one comparison.
struct RunSides {
    compared: ComparedCases,
    /// Provenance of each run.
    runs: [Provenance; 2],
}

impl RunSides {
    /// Pairs two runs; `None` for another number of runs, or if a case has no counterpart in the other run.
    fn of(runs: &[RunFile]) -> Option<Self> {
        let [base, head] = runs else { return None };
        if drivers::is_part(base) || drivers::is_part(head) {
            return None;
        }
        // Runs that have no figure to compare are drawn side by side.
        let stored = stored_pairs(base.clone(), head.clone()).ok()?;
        let is_same = |pair: &CasePair| pair.base.workload.name == pair.head.workload.name;
        if [base.cases.len(), head.cases.len()] != [stored.pairs.len(); 2] || !stored.pairs.iter().all(is_same) {
            return None;
        }
        let compared = ComparedCases::of_stored(stored, TOLERANCE, &RunNoise::Unknown);
        if compared.comparisons.iter().any(|it| it.no_result.is_some()) {
            return None;
        }
        Some(Self { compared, runs: [base.provenance.clone(), head.provenance.clone()] })
    }

    fn html(&self) -> String {
        let [base, head] = &self.runs;
        self.compared.html(&[("A", base), ("B", head)])
    }
}

/// The runs as one: drivers of the same rounds with their figures added, others side by side, each case labelled by its
/// run.
fn joined(mut runs: Vec<RunFile>) -> Result<RunFile> {
    if runs.len() > 1 && runs.iter().any(drivers::is_part) {
        return merged(runs);
    }
    if runs.len() > 1 {
        runs.iter_mut().for_each(name_origins);
    }
    let mut runs = runs.into_iter();
    let mut first = runs.next().ok_or_else(|| Failure::usage("no run is given"))?;
    for run in runs {
        // Runs side by side have no common duration.
        first.time_spent = None;
        first.cases.extend(run.cases);
        first.warnings.extend(run.warnings);
        // The label of a case says whether its run was.
        first.interrupted &= run.interrupted;
    }
    drivers::remove_duplicates(&mut first.warnings);
    Ok(first)
}

/// Merges the runs of all drivers of one round into one run, in a folder of its own if one is named.
fn merge(runs: &[PathBuf], arguments: &ReportArgs) -> Result<()> {
    if arguments.format.is_some() || runs.is_empty() {
        return Err(Failure::usage("`report merge` wants the runs of all drivers of one round, and no --format").hint(
            "for instance `bourse report merge RUN1 RUN2 RUN3 -o merged`; then `bourse report merged --format …`",
        ));
    }
    let run = merged(runs.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?)?;
    let Some(folder) = arguments.output.as_deref() else {
        return print(&report_text(&run, arguments.verbose, None));
    };
    OwnedFolder::at(folder, arguments.overwrite)?.write(&run_files(&run))?;
    let [json, page] = files::OF_RUN.map(|name| folder.join(name));
    note(&format!("run file: {}\nreport:   {}", json.display(), page.display()));
    Ok(())
}

/// The runs of all drivers of one round as one.
pub(crate) fn merged(runs: Vec<RunFile>) -> Result<RunFile> {
    drivers::together(runs).map_err(|error| {
        Failure::usage(format!("cannot merge these runs: {error}"))
            .hint("give the runs of all drivers of one round and no other, or a single run")
    })
}

/// File of a run, which its folder stands for too.
fn run_path(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("run.json") } else { path.to_owned() }
}

/// Reads a run by its folder or its file.
pub(crate) fn read(path: &Path) -> Result<RunFile> {
    Ok(RunFile::read(&run_path(path))?)
}

/// Reads two runs to compare, which may not be one, by whatever path.
pub(crate) fn read_both(runs: [&Path; 2]) -> Result<[RunFile; 2]> {
    let [base, head] = runs.map(run_path);
    match (base.canonicalize(), head.canonicalize()) {
        (Ok(one), Ok(other)) if one == other => {
            Err(Failure::usage(format!("{} is the same run twice: a comparison needs two", base.display())))
        }
        _ => Ok([read(&base)?, read(&head)?]),
    }
}

/// Labels each case with the time and place of its measurement, and whether the run was interrupted, to distinguish it among
/// others.
pub(crate) fn name_origins(run: &mut RunFile) {
    let interrupted = if run.interrupted { ", interrupted" } else { "" };
    for case in &mut run.cases {
        case.label = format!("{} ({}{interrupted})", case.label, run.provenance.started_at);
        case.origin.get_or_insert_with(|| run.provenance.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::provenance;

    fn run(interrupted: bool) -> RunFile {
        let case = serde_json::json!({
            "label": "t.db", "rounds": [],
            "engine": { "name": "e", "version": "", "target": "e:", "durability": "durable", "durability_reason": "",
                        "settings": [], "compile_options": [] },
            "workload": { "name": "w", "kind": "micro", "parameters": [], "headline_operation": null,
                          "headline_unit": "o/s", "nominal": null, "outcomes": [], "notice": null },
        });
        let cases = vec![serde_json::from_value(case).expect("it is a case")];
        RunFile { cases, interrupted, ..RunFile::new("micro".to_owned(), provenance(1)) }
    }

    /// A run that ended was once called interrupted because another one was.
    #[test]
    fn of_runs_that_are_joined_only_the_interrupted_one_is_marked() {
        let of = |runs: [bool; 2]| {
            let run = joined(runs.map(run).into()).expect("they can be joined");
            let marked: Vec<bool> = run.cases.iter().map(|case| case.label.ends_with(", interrupted)")).collect();
            (run.interrupted, marked)
        };
        assert_eq!(of([false, true]), (false, vec![false, true]));
        assert_eq!(of([true, false]), (false, vec![true, false]));
        assert_eq!(of([true, true]), (true, vec![true, true]));
    }
}
