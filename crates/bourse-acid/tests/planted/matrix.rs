//! All bugs by all detectors, distributed over processes: a bug is planted in a whole process.

use crate::databases::{Databases, Planted};
use crate::detectors::{Detector, Found, Length, run_and_check, verified};
use crate::expected::is_asked;
use crate::isolation;
use bourse_oltp::planted::{Bug, HARNESS};
use bourse_tatp::Tatp;
use bourse_tpcc::Tpcc;
use bourse_tpce::verify::TpceSample;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Bugs that are planted in one workload.
pub(crate) struct Bugs {
    /// Name of the workload.
    pub(crate) workload: &'static str,
    /// Name of a run without a bug.
    pub(crate) control: &'static str,
    lists: &'static [&'static [Bug]],
}

/// Name of the section with engines that break their isolation.
pub(crate) const ISOLATION: &str = "Isolation";

/// Every workload with its bugs. Those of the harness are planted in the first.
pub(crate) const WORKLOADS: [Bugs; 4] = [
    Bugs { workload: "TPC-E", control: "control-tpce", lists: &[bourse_tpce::planted::BUGS, HARNESS] },
    Bugs { workload: "TATP", control: "control-tatp", lists: &[bourse_tatp::planted::BUGS] },
    Bugs { workload: "TPC-C", control: "control-tpcc", lists: &[bourse_tpcc::planted::BUGS] },
    Bugs { workload: ISOLATION, control: "control-isolation", lists: &[isolation::BUGS] },
];

impl Bugs {
    /// The bugs, in the order of their lists.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Bug> {
        self.lists.iter().copied().flatten()
    }

    /// Names of the control and of all bugs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.control).chain(self.all().map(|bug| bug.name))
    }
}

/// The bug of a name; `None` for a control.
pub(crate) fn bug(name: &str) -> Option<&'static Bug> {
    WORKLOADS.iter().flat_map(Bugs::all).find(|bug| bug.name == name)
}

/// Whether a name is that of a control.
pub(crate) fn is_control(name: &str) -> bool {
    WORKLOADS.iter().any(|bugs| bugs.control == name)
}

/// Finding of a detector for a bug, with its duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Name of the bug or control.
    pub(crate) bug: &'static str,
    /// The detector.
    pub(crate) detector: Detector,
    /// Finding of the detector.
    pub(crate) found: Found,
    /// Duration of the detector.
    pub(crate) took: Duration,
}

/// Selects the controls and all bugs, or those with these names.
///
/// # Errors
/// The first name that is neither.
pub(crate) fn chosen(names: &[String]) -> Result<Vec<&'static str>, String> {
    let all: Vec<_> = WORKLOADS.iter().flat_map(Bugs::names).collect();
    if names.is_empty() {
        return Ok(all);
    }
    names.iter().map(|name| all.iter().copied().find(|known| known == name).ok_or(name.clone())).collect()
}

/// Plants each bug in turn and runs the detectors; `progress` is called for each cell.
pub(crate) fn run(folder: &Path, bugs: &[&'static str], length: Length, progress: &mut dyn FnMut(&Cell)) {
    let of = |bugs_of: &Bugs| -> Vec<&'static str> { bugs_of.names().filter(|name| bugs.contains(name)).collect() };
    let [tpce, tatp, tpcc, engines] = WORKLOADS.each_ref().map(of);
    run_workload::<TpceSample<'static>>(folder, &tpce, length, progress);
    run_workload::<Tatp>(folder, &tatp, length, progress);
    run_workload::<Tpcc>(folder, &tpcc, length, progress);
    for bug in engines {
        let began = Instant::now();
        let found = isolation::found(bug, length);
        progress(&Cell { bug, detector: Detector::Isolation, found, took: began.elapsed() });
    }
}

fn run_workload<W: Planted>(folder: &Path, bugs: &[&'static str], length: Length, progress: &mut dyn FnMut(&Cell)) {
    if bugs.is_empty() {
        return;
    }
    let databases = Databases::<W>::at(folder);
    for &name in bugs {
        let mut note = |detector, found, took| progress(&Cell { bug: name, detector, found, took });
        let bug = bug(name);
        let ((ran, run_took), checked) = run_and_check(&databases, bug, name, length);
        note(Detector::Run, ran, run_took);
        if let Some((checked, check_took)) = checked {
            note(Detector::Check, checked, check_took);
        }
        if is_asked(name, Detector::Verify, length) {
            let began = Instant::now();
            let found = verified(&databases, bug, length);
            note(Detector::Verify, found, began.elapsed());
        }
        if is_asked(name, Detector::Acid, length) {
            let began = Instant::now();
            let found = match databases.copy(bug) {
                Ok(copy) => W::acid(&copy),
                Err(error) => Some(Found::Caught(crate::detectors::short("load", &error))),
            };
            note(Detector::Acid, found.unwrap_or(Found::Silent), began.elapsed());
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
        format!("{}\t{}\t{ms}\t{word}\t{}", self.bug, self.detector.name(), why.replace(['\t', '\n'], " "))
    }

    fn of(line: &str) -> Option<Self> {
        let mut parts = line.splitn(5, '\t');
        let mut next = || parts.next();
        let (bug, detector, ms, word, why) = (next()?, next()?, next()?, next()?, next()?);
        Some(Self {
            bug: WORKLOADS.iter().flat_map(Bugs::names).find(|known| *known == bug)?,
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
    bugs: &[&'static str],
    length: Length,
    progress: &mut dyn FnMut(&Cell),
) -> Vec<Cell> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // Loaded once, for all processes.
    Databases::<TpceSample<'static>>::at(folder.path());
    Databases::<Tatp>::at(folder.path());
    Databases::<Tpcc>::at(folder.path());
    let processes = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(bugs.len());
    let start = |number: usize| -> Child {
        let mut command = Command::new(program);
        command.arg("--share").arg(folder.path()).args(length.argument());
        command.args(bugs.iter().skip(number).step_by(processes));
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
    let place = |cell: &Cell| bugs.iter().position(|bug| *bug == cell.bug);
    all.sort_by_key(|cell| (place(cell), cell.detector));
    all
}
