//! `bourse watch`: follows an unfinished run, in whichever process it runs.

use super::runs;
use crate::args::WatchArgs;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::live::{FILE, Follower, MetricsServer, is_unfinished, listen, watched};
use crate::output::print;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval between looks at the file.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Follows a run until it ends.
pub(crate) fn watch(arguments: &WatchArgs) -> Result<()> {
    let folder = match &arguments.run {
        Some(run) => named(&arguments.results.directory, run)?,
        None => newest(&arguments.results.directory)?,
    };
    let mut follower = match Follower::open(&folder) {
        Ok(follower) => follower,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return print(&format!(
                "{} has ended: `bourse runs show {}` shows it\n",
                bourse_verdict::units::printable(&folder.display().to_string()),
                bourse_verdict::units::printable(&folder.display().to_string())
            ));
        }
        Err(error) => {
            return Err(Failure::usage("cannot follow the run")
                .detail("file", folder.join(FILE).display().to_string())
                .detail("cause", error.to_string()));
        }
    };
    let failed = |error: std::io::Error| Failure::usage("cannot follow the run").detail("cause", error.to_string());
    follower.poll().map_err(failed)?;
    if let Some(refused) = follower.refused() {
        return Err(refused);
    }
    let page = arguments.page.map(|address| listen(address, "page")).transpose()?;
    let page = page.map(|listener| MetricsServer::of_page(listener, &folder)).transpose()?;
    let interrupted = interrupt::flag()?;
    // The user needs the page's address on the terminal.
    let view = if page.is_none() { watched(&mut follower, &interrupted) } else { None };
    match view.transpose().map_err(failed)? {
        Some(true) => return Ok(()),
        Some(false) => print(&format!("{}\n", follower.view().line()))?,
        None => lines(&mut follower, &interrupted).map_err(failed)??,
    }
    if interrupted.load(Ordering::Relaxed) {
        return Err(interrupt::interrupted("the run goes on"));
    }
    if let Some(page) = page {
        page.linger();
    }
    ended(&follower, &folder)
}

/// A line for each second, until the run ends.
fn lines(follower: &mut Follower, interrupted: &AtomicBool) -> std::io::Result<Result<()>> {
    let mut last = String::new();
    loop {
        // Read before the file: so the last line is read in any case.
        let is_written = follower.is_written();
        let is_new = follower.poll()? || last.is_empty();
        if is_new {
            let line = follower.view().line();
            if line != last
                && let Err(failure) = print(&format!("{line}\n"))
            {
                return Ok(Err(failure));
            }
            last = line;
        }
        if follower.state.outcome.is_some() || !is_written || interrupted.load(Ordering::Relaxed) {
            return Ok(Ok(()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Fails if the process of the run is gone before the end of the run.
fn ended(follower: &Follower, folder: &Path) -> Result<()> {
    if follower.state.outcome.is_some() {
        return Ok(());
    }
    let process = follower.state.run.as_ref().map_or(0, |run| run.process);
    Err(Failure::new(Exit::Target, "the run was ended from outside: its process is gone")
        .detail("process", process.to_string())
        .detail("last known", follower.state.view(0.0).line())
        .detail("file", folder.join(FILE).display().to_string())
        .hint("`bourse runs rm` removes what it left"))
}

/// The folder named by a name or a path: of an unfinished run, or of one that was ended from outside.
fn named(directory: &Path, name: &str) -> Result<PathBuf> {
    let candidates = [directory.join(name), PathBuf::from(name)];
    match candidates.into_iter().find(|path| is_unfinished(path)) {
        Some(folder) => Ok(folder),
        // A run that has ended is found by its results.
        None => runs::named(directory, name),
    }
}

/// The newest unfinished run.
fn newest(directory: &Path) -> Result<PathBuf> {
    let none = || {
        Failure::usage(format!("no unfinished run in {}", directory.display()))
            .hint("-o names the folder with the results of runs; a run can be named too: its folder")
    };
    let going_on = |folder: &PathBuf| {
        let mut follower = Follower::open(folder).ok()?;
        follower.poll().ok()?;
        let run = follower.state.run.clone().filter(|_| follower.is_written())?;
        run.started_at.parse::<jiff::Timestamp>().ok()
    };
    let folders = runs::folders(directory).map_err(|_| none())?;
    let found = folders.into_iter().filter_map(|folder| Some((going_on(&folder)?, folder)));
    found.max().map(|(_, folder)| folder).ok_or_else(none)
}

/// A line for each unfinished run in a folder of results: its progress, or that it was ended from outside.
pub(crate) fn unfinished(directory: &Path) -> Vec<String> {
    let told = |folder: PathBuf| {
        let mut follower = Follower::open(&folder).ok()?;
        // Read before the file: so the last line is read in any case.
        let is_written = follower.is_written();
        follower.poll().ok()?;
        if follower.state.outcome.is_some() {
            return None;
        }
        let name = bourse_verdict::units::printable(&folder.file_name()?.to_string_lossy());
        Some(if is_written {
            format!("running: {name}  {}", follower.view().line())
        } else {
            format!("ended from outside: {name}  (`bourse runs rm {name}` removes what it left)")
        })
    };
    runs::folders(directory).unwrap_or_default().into_iter().filter_map(told).collect()
}
