//! Where results go: a folder for each run, with the run file and the page drawn from it.

use crate::args::Output;
use crate::failure::{Exit, Failure};
use crate::progress::note;
use bourse_record::RunFile;
use bourse_report::CsvText;
use bourse_suite::SuiteFile;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};

/// Writes the run's files into a new folder and prints its report, or with `--json` the run file.
pub(crate) fn publish(run: &RunFile, output: &Output) -> Result<(), Failure> {
    let json = store(run, output)?;
    if output.json {
        let text = std::fs::read_to_string(&json)
            .map_err(|error| Failure::usage(format!("cannot read the run file back: {error}")))?;
        print(&text)?;
    } else {
        print_report(run)?;
    }
    Ok(())
}

/// Writes the run's files into a new folder and says where; answers the run file's path.
pub(crate) fn store(run: &RunFile, output: &Output) -> Result<PathBuf, Failure> {
    let folder = new_folder(&output.directory, &run.name)?;
    let json = folder.join("run.json");
    run.write(&json).map_err(|error| Failure::usage(error.to_string()))?;
    let page = folder.join("report.html");
    write_whole(&page, bourse_report::html(run).as_bytes())?;
    note(&format!("run file: {}\nreport:   {}", json.display(), page.display()));
    Ok(json)
}

/// The report for the terminal, in colour if it is one and `NO_COLOR` is not set.
pub(crate) fn print_report(run: &RunFile) -> Result<(), Failure> {
    print(&bourse_report::terminal(run, terminal_width(), has_color()))
}

/// Whether results may have colour: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn has_color() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Columns of the terminal, or what a plain file reads best with.
pub(crate) fn terminal_width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let term = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    given.or(term).unwrap_or(120).clamp(60, 200)
}

/// Prints to stdout; a reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file beside its place and renames it, so that it is never there in part.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.unfinished", std::process::id()));
    let unfinished = path.with_file_name(name);
    // Not another's file, whatever it is called.
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&unfinished);
    let written = made.and_then(|mut file| {
        file.write_all(content).and_then(|()| std::fs::rename(&unfinished, path)).inspect_err(|_| {
            // What could not be finished is of no use to anybody; if it cannot even be removed the first error stands.
            let _ = std::fs::remove_file(&unfinished);
        })
    });
    written.map_err(|error| {
        Failure::usage("cannot write a file")
            .detail("file", path.display().to_string())
            .detail("cause", error.to_string())
    })
}

/// Writes a suite's files into a new folder and prints its report, or with `--json` its document.
pub(crate) fn publish_suite(suite: &SuiteFile, run: &RunFile, output: &Output) -> Result<(), Failure> {
    let folder = new_folder(&output.directory, &format!("suite-{}", suite.suite))?;
    let document = suite.to_json();
    let files = [
        ("suite.json", document.clone()),
        ("report.html", bourse_report::suite_html(suite)),
        ("tables.md", bourse_report::suite_markdown(suite)),
        ("tables.csv", bourse_report::suite_csv(suite, CsvText::Guarded)),
    ];
    for (name, text) in files {
        write_whole(&folder.join(name), text.as_bytes())?;
    }
    // The rounds behind it, whole, with their histograms and series.
    run.write(&folder.join("run.json")).map_err(|error| Failure::usage(error.to_string()))?;
    if output.json {
        print(&document)?
    } else {
        print_suite(suite)?
    }
    note(&format!(
        "document: {}\nreport:   {}",
        folder.join("suite.json").display(),
        folder.join("report.html").display()
    ));
    Ok(())
}

/// A suite for the terminal.
pub(crate) fn print_suite(suite: &SuiteFile) -> Result<(), Failure> {
    print(&bourse_report::suite_terminal(suite, terminal_width(), has_color()))
}

/// Makes `<directory>/<time>-<name>`, with a number behind it if that is taken.
pub(crate) fn new_folder(directory: &Path, name: &str) -> Result<PathBuf, Failure> {
    let refuse = |path: &Path, error: std::io::Error| {
        Failure::new(Exit::Usage, "cannot make a folder for this run")
            .detail("folder", path.display().to_string())
            .detail("cause", error.to_string())
            .hint("-o chooses another folder for runs")
    };
    std::fs::create_dir_all(directory).map_err(|error| refuse(directory, error))?;
    let stem = format!("{}-{name}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"));
    for number in 1.. {
        let path = directory.join(if number == 1 { stem.clone() } else { format!("{stem}-{number}") });
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refuse(&path, error)),
        }
    }
    unreachable!("there are more numbers than folders")
}
