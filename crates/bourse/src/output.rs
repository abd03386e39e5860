//! Where results go: a folder for each run, with the run file and the page drawn from it.

use crate::failure::Failure;
use bourse_record::RunFile;
use std::io::{IsTerminal, Write as _};
use std::path::Path;

/// The report for the terminal, in colour if it is one and `NO_COLOR` is not set.
pub(crate) fn print_report(run: &RunFile) -> Result<(), Failure> {
    let stdout = std::io::stdout();
    let color = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    print(&bourse_report::terminal(run, terminal_width(), color))
}

/// Columns of the terminal, or what a plain file reads best with.
fn terminal_width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let term = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    given.or(term).unwrap_or(120).clamp(60, 200)
}

/// Prints to stdout; a reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("the output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file beside its place and renames it, so that it is never there in part.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let partial = path.with_extension("partial");
    std::fs::write(&partial, content).and_then(|()| std::fs::rename(&partial, path)).map_err(|error| {
        Failure::usage("a file cannot be written")
            .detail("file", path.display().to_string())
            .detail("cause", error.to_string())
    })
}
