//! `bourse report`: draws stored runs again, from their files alone.

use crate::args::Report;
use crate::failure::Failure;
use crate::output::{print_report, print_suite, write_whole};
use crate::progress::note;
use bourse_record::{Origin, RunFile};
use bourse_report::drivers;
use bourse_suite::SuiteFile;
use std::path::{Path, PathBuf};

/// Reads the runs, joins their cases and draws the report.
pub(crate) fn report(arguments: &Report) -> Result<(), Failure> {
    if let [only] = arguments.runs.as_slice()
        && let Some(path) = suite_document(only.as_ref())
    {
        return redraw(&path, arguments);
    }
    let run = joined(&arguments.runs)?;
    let Some(path) = &arguments.output else { return print_report(&run) };
    let text = match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => bourse_report::html(&run),
        Some("md") => bourse_report::markdown(&run),
        Some("csv") => bourse_report::csv(&run),
        Some("svg") => bourse_report::svg(&run).ok_or_else(|| {
            Failure::usage("these runs have no curve")
                .hint("a curve is drawn of cases that an option with numbers tells apart, as `--sweep users=1,2,4` makes them")
        })?,
        _ => return Err(ending_refused(path)),
    };
    write_whole(path, text.as_bytes())?;
    note(&format!("report: {}", path.display()));
    Ok(())
}

/// The document of a suite, if that is what is named.
fn suite_document(path: &Path) -> Option<PathBuf> {
    let file = if path.is_dir() { path.join("suite.json") } else { path.to_owned() };
    (file.file_name() == Some("suite.json".as_ref()) && file.exists()).then_some(file)
}

fn redraw(path: &Path, arguments: &Report) -> Result<(), Failure> {
    let suite = SuiteFile::read(path)
        .map_err(|error| Failure::usage(error.to_string()).hint("name a suite's folder, or the suite.json in it"))?;
    let Some(output) = &arguments.output else { return print_suite(&suite) };
    let text = match output.extension().and_then(|ending| ending.to_str()) {
        Some("html") => bourse_report::suite_html(&suite),
        Some("md") => bourse_report::suite_markdown(&suite),
        Some("csv") => bourse_report::suite_csv(&suite),
        _ => return Err(ending_refused(output)),
    };
    write_whole(output, text.as_bytes())?;
    note(&format!("report: {}", output.display()));
    Ok(())
}

fn ending_refused(path: &Path) -> Failure {
    Failure::usage(format!("{} has no ending that says what to write", path.display()))
        .hint("name a file that ends in .html, .md or .csv; runs of a sweep have a curve too, .svg")
}

/// The runs as one: drivers of the same rounds with their figures added, others side by side, each case labelled by its
/// run.
fn joined(paths: &[impl AsRef<Path>]) -> Result<RunFile, Failure> {
    let mut runs = paths.iter().map(|path| read(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
    if runs.len() > 1 && runs.iter().any(drivers::is_part) {
        return drivers::together(runs).map_err(|error| {
            Failure::usage(format!("these runs cannot be put together: {error}"))
                .hint("give the runs of all drivers of one round, and no other; or one run alone")
        });
    }
    if runs.len() > 1 {
        runs.iter_mut().for_each(name_origins);
    }
    let mut runs = runs.into_iter();
    let mut first = runs.next().ok_or_else(|| Failure::usage("no run is named"))?;
    for run in runs {
        first.cases.extend(run.cases);
        first.warnings.extend(run.warnings);
        first.interrupted |= run.interrupted;
    }
    first.warnings.sort();
    first.warnings.dedup();
    Ok(first)
}

/// Reads a run by its folder or its file.
pub(crate) fn read(path: &Path) -> Result<RunFile, Failure> {
    let file = if path.is_dir() { path.join("run.json") } else { path.to_owned() };
    RunFile::read(&file)
        .map_err(|error| Failure::usage(error.to_string()).hint("name a run's folder, or the run.json in it"))
}

/// Says of each case when and where it was measured, so that it can stand among others.
pub(crate) fn name_origins(run: &mut RunFile) {
    for case in &mut run.cases {
        case.label = format!("{} ({})", case.label, run.started_at);
        case.origin.get_or_insert_with(|| Origin {
            started_at: run.started_at.clone(),
            command: run.command.clone(),
            build: run.build.clone(),
            machine: run.machine.clone(),
        });
    }
}
