//! Result folders: listed, found by name, compared, removed; and the index page over them.

use super::compare::refused;
use super::report;
use super::watch::unfinished;
use crate::args::{ReportArgs, RunsCommand};
use crate::failure::{Failure, Result};
use crate::live;
use crate::output::{
    LIST, files, has_color, has_mark, is_list, line_width, print, refusal_to_replace, sheet_text, wrapped,
};
use crate::progress::note;
use bourse_engine::open_regular;
use bourse_record::acid::AcidFile;
use bourse_record::crash::CrashFile;
use bourse_record::faults::FaultsFile;
use bourse_record::{Document, DocumentKind, Provenance, RunFile};
use bourse_report::{DrawComparison as _, Sheet, StoredRun, comparison_screen, history_tables};
use bourse_verdict::comparison::{ComparedCases, RunNoise, TOLERANCE, stored_pairs};
use std::path::{Path, PathBuf};

/// Version of the program that draws the history.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Name of the run that began last.
const LAST: &str = "last";

/// Carries out `bourse runs`.
pub(crate) fn runs(command: &RunsCommand) -> Result<()> {
    match command {
        RunsCommand::Ls(arguments) => {
            let directory = arguments.folder.as_ref().unwrap_or(&arguments.results.directory);
            // Before the first run there is no such folder.
            let found = if is_absent(directory) { Vec::new() } else { stored(directory)? };
            if arguments.json {
                return print(&format!("{:#}\n", serde_json::json!(found)));
            }
            if is_absent(directory) {
                return print(&wrapped(&format!("none: {} does not exist", directory.display())));
            }
            let sheet = bourse_report::runs(&found, VERSION, "");
            let sheet = unfinished(directory).into_iter().fold(sheet, Sheet::paragraph);
            print(&match arguments.verbose {
                true => sheet.terminal(line_width(), has_color(), false),
                false => sheet_text(&sheet, false, None),
            })
        }
        RunsCommand::Show { run, results, verbose } => {
            let path = named(&results.directory, run)?;
            report::report(&ReportArgs { verbose: *verbose, ..ReportArgs::of(path) })
        }
        RunsCommand::Diff { base, head, results, verbose } => diff(&results.directory, [base, head], *verbose),
        RunsCommand::Rm { runs, results } => {
            // All are checked before the first is removed.
            let owned = |run: &String| {
                let folder = removable(&results.directory, run)?;
                let files = files_of(&folder)?;
                Ok((folder, files))
            };
            let owned: Vec<(PathBuf, Vec<PathBuf>)> = runs.iter().map(owned).collect::<Result<_>>()?;
            owned.iter().try_for_each(|(folder, files)| remove(folder, files))
        }
    }
}

/// Whether a path does not exist.
pub(super) fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Whether a path is a folder of result folders, rather than one of them.
pub(crate) fn is_results_folder(path: &Path) -> bool {
    path.is_dir() && document_in(path).is_none()
}

/// Draws the history of a folder of results.
pub(crate) fn index(directory: &Path, arguments: &ReportArgs) -> Result<()> {
    let found = stored(directory)?;
    if found.is_empty() {
        return Err(Failure::usage(format!("{} has no results", directory.display()))
            .hint("expected a run's folder, a run.json, or a folder with results of runs, as bourse-runs"));
    }
    let page = arguments.output.as_deref().unwrap_or(Path::new(""));
    let sheet = bourse_report::runs(&found, VERSION, &from_page(directory, page));
    report::put(&sheet, Some(&history_tables(&found)), arguments.verbose, &arguments.target())
}

/// Path of a folder from that of a page, with `/` at its end; empty if they are one, or one does not exist.
fn from_page(folder: &Path, page: &Path) -> String {
    let of_page = page.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(folder), Ok(of_page)) = (folder.canonicalize(), of_page.canonicalize()) else { return String::new() };
    let common = folder.components().zip(of_page.components()).take_while(|(one, other)| one == other).count();
    let up = of_page.components().skip(common).map(|_| "../".to_owned());
    let down = folder.components().skip(common).map(|it| format!("{}/", it.as_os_str().to_string_lossy()));
    up.chain(down).collect()
}

/// The document of a result folder. A suite has a run file too.
fn document_in(folder: &Path) -> Option<(DocumentKind, PathBuf)> {
    let in_order =
        [DocumentKind::Suite, DocumentKind::Run, DocumentKind::Acid, DocumentKind::Crash, DocumentKind::Faults];
    in_order.into_iter().map(|kind| (kind, folder.join(kind.file_name()))).find(|(_, file)| file.is_file())
}

/// Every result folder in a folder, the oldest run first. Unreadable results are reported and skipped.
fn stored(directory: &Path) -> Result<Vec<StoredRun>> {
    let mut found: Vec<StoredRun> = Vec::new();
    for folder in of_results(directory)? {
        let Some((kind, file)) = document_in(&folder) else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match reduced(&name, kind, &file, bytes_of(&folder)) {
            Ok(run) => found.push(run),
            Err(why) => note(&format!("{} is not read: {why}", folder.display())),
        }
    }
    let time = |run: &StoredRun| run.started_at.parse::<jiff::Timestamp>().ok();
    found.sort_by(|one, other| (time(one), &one.folder).cmp(&(time(other), &other.folder)));
    Ok(found)
}

/// The folders of runs in a folder of results, by name. A suite has a run too.
pub(crate) fn run_folders(directory: &Path) -> Result<Vec<PathBuf>> {
    let has_run = |folder: &PathBuf| folder.join(DocumentKind::Run.file_name()).is_file();
    Ok(of_results(directory)?.into_iter().filter(has_run).collect())
}

fn reduced(name: &str, kind: DocumentKind, file: &Path, bytes: u64) -> Result<StoredRun, String> {
    fn read<D: Document>(file: &Path) -> Result<D, String> {
        D::read(file).map_err(|error| error.to_string())
    }
    let of_tests = |sheet: Sheet, of: &Provenance| StoredRun::of_document(name, kind, of, bytes, sheet.answer_words());
    Ok(match kind {
        DocumentKind::Run => StoredRun::of_run(name, &read(file)?, bytes),
        DocumentKind::Suite => StoredRun::of_suite(name, &read(file)?, bytes),
        DocumentKind::Acid => read(file).map(|it: AcidFile| of_tests(bourse_report::acid(&it), &it.provenance))?,
        DocumentKind::Crash => read(file).map(|it: CrashFile| of_tests(bourse_report::crash(&it), &it.provenance))?,
        DocumentKind::Faults => {
            read(file).map(|it: FaultsFile| of_tests(bourse_report::faults(&it), &it.provenance))?
        }
    })
}

/// The run files of the result folders in a folder, sorted by their names, so that the newest is the last; folders without
/// a readable one are skipped.
pub(crate) fn run_files(directory: &Path) -> std::io::Result<impl DoubleEndedIterator<Item = RunFile>> {
    let files = folders(directory)?.into_iter().map(|folder| folder.join(DocumentKind::Run.file_name()));
    Ok(files.filter_map(|file| RunFile::read(&file).ok()))
}

/// The folders in a folder of results.
fn of_results(directory: &Path) -> Result<Vec<PathBuf>> {
    folders(directory).map_err(|error| {
        Failure::usage(format!("cannot read {}: {error}", directory.display()))
            .hint("-o names the folder with the results of runs")
    })
}

/// The folders in a folder, by name.
pub(crate) fn folders(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // Links are skipped: their targets are not part of this folder.
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn bytes_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).filter(|it| it.is_file()).map(|it| it.len()).sum()
}

/// The result folder of a name or a path.
pub(crate) fn named(directory: &Path, name: &str) -> Result<PathBuf> {
    if name == LAST {
        let last = stored(directory)?.pop();
        return last.map(|run| directory.join(run.folder)).ok_or_else(|| {
            Failure::usage(format!("{} has no results", directory.display()))
                .hint("-o names the folder with the results of runs")
        });
    }
    let candidates = [directory.join(name), PathBuf::from(name)];
    candidates.into_iter().find(|path| document_in(path).is_some()).ok_or_else(|| {
        let known: Vec<String> = folders(directory)
            .unwrap_or_default()
            .iter()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let unknown = match known.iter().any(|folder| folder == name) {
            true => format!("the folder '{name}' holds no results of a run"),
            false => {
                format!("unknown run '{name}'{}", bourse_engine::did_you_mean(name, known.iter().map(String::as_str)))
            }
        };
        Failure::usage(unknown).hint("`bourse runs ls` lists the stored runs")
    })
}

/// The folder to remove, by a name or a path: also of a run that was ended from outside.
fn removable(directory: &Path, name: &str) -> Result<PathBuf> {
    let Some(folder) = [directory.join(name), PathBuf::from(name)].into_iter().find(|path| live::is_unfinished(path))
    else {
        return named(directory, name);
    };
    if live::is_running(&folder) {
        return Err(Failure::usage(format!("cannot remove {}: it goes on", folder.display()))
            .hint("Ctrl-C ends a run; `bourse watch` follows it"));
    }
    Ok(folder)
}

/// Compares two stored runs; the noise is estimated from the other runs of the folder, if there are enough of them.
fn diff(directory: &Path, [base, head]: [&str; 2], is_whole: bool) -> Result<()> {
    let [one, other] = [named(directory, base)?, named(directory, head)?];
    let [base, head] = report::read_both([&one, &other])?;
    let [of_base, of_head] = [&base, &head].map(|run| run.provenance.clone());
    let stored = stored_pairs(base, head).map_err(|why| refused(&why))?;
    // Both runs may be in other folders.
    let earlier = run_files(directory).map_or_else(|_| Vec::new(), Iterator::collect);
    let noise = RunNoise::Runs { earlier, machine: Box::new(of_base.machine.clone()) };
    let compared = ComparedCases::of_stored(stored, TOLERANCE, &noise);
    let runs = [("A", &of_base), ("B", &of_head)];
    print(&match is_whole {
        true => compared.text(&runs, line_width()),
        false => comparison_screen(&compared, &runs, line_width(), None),
    })
}

/// The files of a result folder, if all of them are of a run, each with the contents of one.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let refused = |why: String| {
        Failure::usage(format!("cannot remove {}: {why}", folder.display()))
            .hint("it is left as it is; only folders with nothing but a run's results are removed")
    };
    let of_folder = folder.symlink_metadata().map_err(|error| refused(error.to_string()))?;
    if of_folder.is_symlink() {
        return Err(refused("it is a link".to_owned()));
    }
    if let Some(why) = refusal_to_replace(&of_folder) {
        return Err(refused(format!("it {why}")));
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| refused(error.to_string()))? {
        let entry = entry.map_err(|error| refused(error.to_string()))?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(|error| refused(error.to_string()))?);
        let is_ours = name.to_str().is_some_and(files::is_result);
        if !kind.is_file() || !is_ours {
            return Err(refused(format!("{} is no file of a run's results", name.to_string_lossy())));
        }
        let metadata = entry.metadata().map_err(|error| refused(error.to_string()))?;
        if let Some(why) = refusal_to_replace(&metadata) {
            return Err(refused(format!("{} {why}", name.to_string_lossy())));
        }
        contents(&entry.path()).map_err(refused)?;
        found.push(entry.path());
    }
    Ok(found)
}

/// Checks the contents of a file with the name of a run's file, if its kind can be recognised; the error is the reason for
/// refusal.
fn contents(file: &Path) -> Result<(), String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if let Some(kind) = DocumentKind::ALL.into_iter().find(|kind| kind.file_name() == name) {
        return reduced(&name, kind, file, 0).map(drop);
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let is_ours = || -> std::io::Result<bool> {
        let mut opened = open_regular(file, false)?;
        Ok(match &*name {
            LIST => is_list(&mut opened)?,
            live::FILE => opened.metadata()?.len() == 0 || live::is_of_run(folder),
            _ if name.ends_with(".html") => has_mark(&mut opened)?,
            // Tables of a suite, in the folder of its document.
            _ => folder.join(DocumentKind::Suite.file_name()).is_file(),
        })
    };
    match is_ours().map_err(|error| format!("{name}: {error}"))? {
        true => Ok(()),
        false => Err(format!("{name} is not as Bourse writes it")),
    }
}

fn remove(folder: &Path, files: &[PathBuf]) -> Result<()> {
    let failed = |error: std::io::Error| Failure::usage(format!("cannot remove {}: {error}", folder.display()));
    files.iter().try_for_each(std::fs::remove_file).map_err(failed)?;
    std::fs::remove_dir(folder).map_err(failed)?;
    note(&format!("removed: {}", folder.display()));
    Ok(())
}
