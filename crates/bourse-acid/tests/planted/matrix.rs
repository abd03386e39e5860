//! All bugs by all detectors, distributed over processes: a bug is planted in a whole process.

use crate::databases::Databases;
use crate::detectors::{Detector, Found, Length, examined, run_and_check, verified};
use crate::expected::is_asked;
use bourse_tpce::planted::{ALL, Bug};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Finding of a detector for a bug, with its duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Bug of the cell; `None` for the control.
    pub(crate) bug: Option<Bug>,
    /// The detector.
    pub(crate) detector: Detector,
    /// Finding of the detector.
    pub(crate) found: Found,
    /// Duration of the detector.
    pub(crate) took: Duration,
}

/// Selects the control and all bugs, or those with these names.
///
/// # Errors
/// The first name that is no bug's.
pub(crate) fn chosen(names: &[String]) -> Result<Vec<Option<Bug>>, String> {
    if names.is_empty() {
        return Ok(std::iter::once(None).chain(ALL.iter().copied().map(Some)).collect());
    }
    let of = |name: &String| if name == CONTROL { Ok(None) } else { Bug::named(name).map(Some).ok_or(name.clone()) };
    names.iter().map(of).collect()
}

/// Name of the control.
const CONTROL: &str = "control";

/// Name of a bug, or of the control.
pub(crate) fn name(bug: Option<Bug>) -> &'static str {
    bug.map_or(CONTROL, Bug::name)
}

/// Plants each bug in turn and runs the detectors; `progress` is called for each cell.
pub(crate) fn run(databases: &Databases, bugs: &[Option<Bug>], length: Length, progress: &mut dyn FnMut(&Cell)) {
    for &bug in bugs {
        let mut note = |detector, found, took| progress(&Cell { bug, detector, found, took });
        let began = Instant::now();
        let ((ran, run_took), checked) = run_and_check(databases, bug, length, began);
        note(Detector::Run, ran, run_took);
        if let Some((checked, check_took)) = checked {
            note(Detector::Check, checked, check_took);
        }
        if is_asked(bug, Detector::Verify, length) {
            let began = Instant::now();
            let found = verified(databases, bug, length);
            note(Detector::Verify, found, began.elapsed());
        }
        if is_asked(bug, Detector::Acid, length) {
            let began = Instant::now();
            let found = examined(databases, bug);
            note(Detector::Acid, found, began.elapsed());
        }
    }
}

impl Cell {
    /// The cell as a line of output for the parent process.
    pub(crate) fn line(&self) -> String {
        let (word, why) = match &self.found {
            Found::Caught(why) => ("caught", why.as_str()),
            Found::Shown(why) => ("shown", why.as_str()),
            Found::Silent => ("silent", ""),
        };
        let ms = self.took.as_millis();
        format!("{}\t{}\t{ms}\t{word}\t{}", name(self.bug), self.detector.name(), why.replace(['\t', '\n'], " "))
    }

    fn of(line: &str) -> Option<Self> {
        let mut parts = line.splitn(5, '\t');
        let mut next = || parts.next();
        let (bug, detector, ms, word, why) = (next()?, next()?, next()?, next()?, next()?);
        Some(Self {
            bug: if bug == CONTROL { None } else { Some(Bug::named(bug)?) },
            detector: Detector::ALL.into_iter().find(|one| one.name() == detector)?,
            found: match word {
                "caught" => Found::Caught(why.to_owned()),
                "shown" => Found::Shown(why.to_owned()),
                _ => Found::Silent,
            },
            took: Duration::from_millis(ms.parse().ok()?),
        })
    }
}

/// Runs [`run()`] in processes of `program`, one for each processor: each is started with `--share` and its bugs.
///
/// # Panics
/// Panics if a process cannot be started or fails.
pub(crate) fn run_shared(
    program: &Path,
    bugs: &[Option<Bug>],
    length: Length,
    progress: &mut dyn FnMut(&Cell),
) -> Vec<Cell> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    Databases::at(folder.path());
    let processes = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(bugs.len());
    let start = |number: usize| -> Child {
        let mut command = Command::new(program);
        command.arg("--share").arg(folder.path()).args(length.argument());
        command.args(bugs.iter().skip(number).step_by(processes).map(|bug| name(*bug)));
        command.stdout(Stdio::piped()).spawn().expect("the program can be started")
    };
    let mut children: Vec<Child> = (0..processes).map(start).collect();
    let (sender, cells) = std::sync::mpsc::channel();
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        for child in &mut children {
            let (sender, stdout) = (sender.clone(), child.stdout.take().expect("it is piped"));
            scope.spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let cell = Cell::of(&line).expect("a process tells its cells alone");
                    sender.send(cell).expect("the other end waits");
                }
            });
        }
        drop(sender);
        for cell in cells {
            progress(&cell);
            all.push(cell);
        }
    });
    for mut child in children {
        assert!(child.wait().expect("it can be waited for").success(), "a process failed");
    }
    all.sort_by_key(|cell| (cell.bug, cell.detector));
    all
}
