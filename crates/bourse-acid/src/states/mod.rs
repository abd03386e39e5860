//! Power losses enumerated: every state that one may leave of a small brokerage database, at every point of its work, in
//! each journal mode with each sync.
//!
//! | module | what |
//! |---|---|
//! | `case` | settings, device, what is interrupted |
//! | `work` | the small workload |
//! | `record` | its traces |
//! | `check` | a state recovered and compared |
//! | `document` | the rows of `crash.json` |

mod case;
mod check;
mod document;
mod record;
mod work;

pub use case::Cases;
pub use record::{RecordedWork, Recordings};

use crate::test_bed::{AcidError, new_folder};
use bourse_crash::{
    CrashFault, Directory, ExplorationCounts, FailedState, Promise, SelectionLimits, StateId, Trace, explore, points,
    state_at,
};
use bourse_record::crash::{Example, InterruptedRecoveries, PlantedRow, StatesRow, StatesSection};
use case::{Activity, StateCase};
use record::{RecordedCase, record, record_recoveries};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Options of the enumeration.
#[derive(Debug, Clone, Copy)]
pub struct StatesOptions {
    /// Selection of cases.
    pub cases: Cases,
    /// Approximate number of states of each case; `None` for as many as the bound allows.
    pub states: Option<u64>,
    /// Seed of the workload and of drawn states.
    pub seed: u64,
    /// Times that each fault is planted, each with another seed; 0 plants none.
    pub fault_runs: u32,
}

/// Number of states of a case whose recovery is interrupted by a second power loss.
const RECOVERIES: usize = 24;
/// Number of states of each such recovery.
const RECOVERY_STATES: u64 = 120;
/// Settings in which faults are planted: each preserves every acknowledged commit if nothing is planted.
const FAULTY: [&str; 3] = ["delete-extra", "truncate-full", "wal-full"];
/// Number of states of a case with a planted fault.
const FAULT_STATES: u64 = 5_000;

/// Faults of one run.
fn faults(run: u32) -> [CrashFault; 5] {
    let phase = |n: usize| (run as usize).wrapping_mul(37) % n;
    [
        CrashFault::EveryNth { n: 3, phase: phase(3) },
        CrashFault::EveryNth { n: 20, phase: phase(20) },
        CrashFault::EveryNth { n: 100, phase: phase(100) },
        CrashFault::NeverDatabase,
        CrashFault::NeverDirectory,
    ]
}

fn limits(options: &StatesOptions, points: usize) -> SelectionLimits {
    options.states.map_or(SelectionLimits::FULL, |states| SelectionLimits::within(states, points))
}

/// Enumerates all cases, with one thread per CPU; the processes of `recordings` do the work. Writes the files of states that violate their guarantee below `folder`, each
/// into [`folder_of`] its name.
///
/// # Errors
/// If a trace could not be recorded, or files not be written; a violated guarantee is not an error.
pub fn enumerate(
    options: &StatesOptions,
    recordings: &Recordings<'_>,
    folder: &Path,
    interrupted: &AtomicBool,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<StatesSection, AcidError> {
    let began = Instant::now();
    let cases = options.cases.list();
    let rows = in_parallel(cases.len(), interrupted, |number| {
        progress(&format!("{} ({} of {})", cases[number], number + 1, cases.len()));
        row(&cases[number], options, recordings, folder, interrupted)
    })?;
    let planted: Vec<(usize, u32)> =
        (0..FAULTY.len()).flat_map(|case| (0..options.fault_runs).map(move |run| (case, run))).collect();
    let found = in_parallel(planted.len(), interrupted, |number| {
        let (case, run) = planted[number];
        progress(&format!("planted faults in {} ({} of {})", FAULTY[case], number + 1, planted.len()));
        with_faults(FAULTY[case], options, recordings, run)
    })?;
    let took_s = began.elapsed().as_secs_f64();
    let bound = match options.states {
        None => "all subsets at points with at most 1,024; at others none, all, each single one, each but one, each prefix, and 64 drawn ones".to_owned(),
        Some(states) => format!(
            "about {states} states for each setting. Where few writes are not synced, every subset of them is tried; elsewhere none, all, and a sample of single writes, all but one, prefixes and random subsets"
        ),
    };
    Ok(StatesSection {
        seed: options.seed,
        bound,
        states: rows.iter().map(|row| row.states + row.recovery.as_ref().map_or(0, |it| it.states)).sum(),
        took_s,
        rows,
        faults: document::merged(found),
    })
}

/// Calls `one` for each number below `count`, on as many threads as there are CPUs; stops early if interrupted.
fn in_parallel<T: Send>(
    count: usize,
    interrupted: &AtomicBool,
    one: impl Fn(usize) -> Result<T, AcidError> + Sync,
) -> Result<Vec<T>, AcidError> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<T, AcidError>)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || interrupted.load(Ordering::Relaxed) {
                        return;
                    }
                    let made = one(number);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, made));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

fn row(
    case: &StateCase,
    options: &StatesOptions,
    recordings: &Recordings<'_>,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<StatesRow, AcidError> {
    let recorded = record(recordings, case, options.seed)?;
    let began = Instant::now();
    let mut check = recorded.check();
    let limits = limits(options, points(&recorded.trace).len());
    let mut go_on = |_: &ExplorationCounts| !interrupted.load(Ordering::Relaxed);
    let promise = case.promise();
    let explored = explore(&recorded.trace, case.device, &limits, options.seed, promise, &mut check, &mut go_on);
    let took_s = began.elapsed().as_secs_f64();
    let find = Finder { recordings, case, seed: options.seed, folder };
    let recovery = match case.activity {
        Activity::Work => Some(recoveries(&find, &recorded, interrupted)?),
        Activity::Load | Activity::Reload => None,
    };
    let example = |failure| find.example("", failure, &recorded.trace);
    let examples = document::failures(&explored).into_iter().map(example).collect::<Result<_, _>>()?;
    Ok(document::states_row(case, &recorded.trace, &explored, took_s, recovery, examples))
}

/// A case whose failures are found, and the folder for the files of violations.
struct Finder<'f> {
    recordings: &'f Recordings<'f>,
    case: &'f StateCase,
    seed: u64,
    folder: &'f Path,
}

impl Finder<'_> {
    /// Describes a failure in a trace. The files of a violation are written from that trace: an intermittent fault of the
    /// engine need not show in another recording.
    fn example(&self, prefix: &str, failure: &FailedState, trace: &Trace) -> Result<Example, AcidError> {
        let mut example = document::example(self.case, prefix, failure);
        if example.broken {
            let (state, _) = state_at(trace, self.case.device, self.seed, failure.id).expect("it was explored");
            write(&state, &folder_of(&example.state, self.folder))?;
            let reproduced = reproduced(self.recordings, &example.state, self.seed);
            example.repeats = Some(reproduced.is_ok_and(|reproduced| reproduced.state == state));
        }
        Ok(example)
    }
}

/// Folder of a state's files below `below`.
pub fn folder_of(state: &str, below: &Path) -> PathBuf {
    below.join("states").join(state.replace(['/', ':'], "_"))
}

fn write(state: &Directory, folder: &Path) -> Result<(), AcidError> {
    let file_error = |error: std::io::Error| AcidError::Machinery(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(file_error)?;
    let mut files = state.files.iter();
    files.try_for_each(|(name, file)| std::fs::write(folder.join(name), file.to_bytes())).map_err(file_error)
}

/// Explores the recovery of some states, spread over the trace: a second power loss during the recovery from the first.
fn recoveries(
    find: &Finder<'_>,
    recorded: &RecordedCase,
    interrupted: &AtomicBool,
) -> Result<InterruptedRecoveries, AcidError> {
    let Finder { recordings, case, seed, .. } = *find;
    let promise = case.promise();
    let mut check = recorded.check();
    let mut all = InterruptedRecoveries::default();
    let count = points(&recorded.trace).len();
    let wanted = RECOVERIES.min(count);
    let id = |number: usize| StateId {
        point: number * count / wanted,
        selection: if number.is_multiple_of(2) {
            bourse_crash::Selection::All
        } else {
            bourse_crash::Selection::Drawn(0)
        },
    };
    let state = |number| Some((id(number), state_at(&recorded.trace, case.device, seed, id(number))?));
    let (ids, states): (Vec<_>, Vec<_>) = (0..wanted).filter_map(state).unzip();
    for (id, trace) in ids.into_iter().zip(record_recoveries(recordings, case, &states)?) {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        // A state that is lost already has no recovery to interrupt.
        let Some(trace) = trace else { continue };
        let limits = SelectionLimits::within(RECOVERY_STATES, points(&trace).len());
        let explored = explore(&trace, case.device, &limits, seed, promise, &mut check, &mut |_| true);
        all.recoveries += 1;
        all.states += explored.counts.states;
        all.broken += explored.counts.broken;
        if let Some(failure) = explored.broken.first()
            && all.example.is_none()
        {
            all.example = Some(find.example(&format!("{id}/"), failure, &trace)?);
        }
    }
    Ok(all)
}

/// Explores the states of a case with each fault planted, each time with another workload.
fn with_faults(
    name: &str,
    options: &StatesOptions,
    recordings: &Recordings<'_>,
    run: u32,
) -> Result<Vec<PlantedRow>, AcidError> {
    let case: StateCase = name.parse().expect("its own cases are known");
    let seed = options.seed.wrapping_add(u64::from(run));
    let recorded = record(recordings, &case, seed)?;
    let one = |fault: CrashFault| {
        let trace = fault.plant(&recorded.trace, check::DATABASE);
        let limits = SelectionLimits::within(FAULT_STATES, points(&trace).len());
        let mut check = recorded.check();
        let explored = explore(&trace, case.device, &limits, seed, Promise::Everything, &mut check, &mut |_| true);
        document::planted_row(name, fault, &explored)
    };
    Ok(faults(run).into_iter().map(one).collect())
}

/// Result of a state that was reproduced.
#[derive(Debug)]
pub struct ReplayedState {
    /// Description of its outcome.
    pub found: String,
    /// Number of commits acknowledged by then.
    pub acknowledged: u64,
    /// Whether it violates the promise.
    pub is_broken: bool,
}

/// Reproduced state, before it is checked.
struct ReproducedState {
    case: StateCase,
    recorded: RecordedCase,
    state: Directory,
    acknowledged: u64,
}

/// Records the case of a state's name again, and reproduces the state.
fn reproduced(recordings: &Recordings<'_>, name: &str, seed: u64) -> Result<ReproducedState, AcidError> {
    let no_state = |why: String| AcidError::Machinery(why);
    let (case, rest) = name.split_once('/').ok_or_else(|| {
        no_state(format!("`{name}` names no state: expected CASE/POINT:SELECTION, as wal-full/12:one-3, or TRACE#NUMBER, as DIR/trace-1.bin#7"))
    })?;
    let case: StateCase = case.parse().map_err(no_state)?;
    let recorded = record(recordings, &case, seed)?;
    let (first, second) = rest.split_once('/').map_or((rest, None), |(first, second)| (first, Some(second)));
    let made = |trace: &Trace, id: &str| {
        let id: StateId = id.parse().map_err(no_state)?;
        state_at(trace, case.device, seed, id)
            .ok_or_else(|| no_state(format!("{case} has no state {id} with seed {seed}")))
    };
    let (mut state, mut acknowledged) = made(&recorded.trace, first)?;
    if let Some(second) = second {
        let mut traces = record_recoveries(recordings, &case, &[(state, acknowledged)])?;
        let trace = traces.pop().flatten();
        let trace = trace.ok_or_else(|| no_state(format!("SQLite does not recover state {first} of {case}")))?;
        (state, acknowledged) = made(&trace, second)?;
    }
    Ok(ReproducedState { case, recorded, state, acknowledged })
}

/// Reproduces the state of that name, such as `wal-full/12:one-3`, writes its files and checks it.
///
/// # Errors
/// If there is no such state, the folder exists already, or its files cannot be written.
pub fn replay(recordings: &Recordings<'_>, name: &str, seed: u64, folder: &Path) -> Result<ReplayedState, AcidError> {
    let ReproducedState { case, recorded, state, acknowledged } = reproduced(recordings, name, seed)?;
    new_folder(folder).map_err(|error| AcidError::Machinery(format!("{}: {error}", folder.display())))?;
    write(&state, folder)?;
    let outcome = bourse_crash::RecoveryCheck::check(&mut recorded.check(), &state);
    let (found, is_broken) = document::judged(&outcome, acknowledged, case.promise());
    Ok(ReplayedState { found, acknowledged, is_broken })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_crash::FileOperation;

    /// Environment variable with the work of a recorded process.
    const WORK: &str = "TEST_RECORDED_WORK";

    /// Body of a recorded process; does nothing as a test.
    #[test]
    fn recorded_process() {
        let Ok(work) = std::env::var(WORK) else { return };
        RecordedWork::parse(&work).expect("the parent passes work").perform().expect("it can be done");
    }

    fn recorded_command(work: &str) -> std::io::Result<std::process::Command> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args(["--exact", "states::tests::recorded_process", "--nocapture"]).env(WORK, work);
        Ok(command)
    }

    /// Recordings of processes of this program; `None` where nothing can be recorded, which is reported.
    fn recordings(test: &str) -> Option<Recordings<'static>> {
        let skipped = |why| bourse_testkit::skipped(&format!("bourse-acid: {test}"), why);
        Recordings::new(&recorded_command).map_err(skipped).ok()
    }

    /// Operations of a case's first commits as words; several writes to one file are one.
    fn words(recordings: &Recordings<'_>, case: &str, count: usize) -> Vec<String> {
        let recorded = record(recordings, &case.parse().expect("it is a case"), 1).expect("it can be recorded");
        let mut names: Vec<String> = recorded.trace.base.files.keys().cloned().collect();
        let mut words: Vec<String> = Vec::new();
        for operation in &recorded.trace.operations {
            let of = |file: &u32| names[*file as usize].clone();
            let word = match operation {
                FileOperation::Create { name, .. } => {
                    names.push(name.clone());
                    format!("create {name}")
                }
                FileOperation::Write { file, .. } => format!("write {}", of(file)),
                FileOperation::Truncate { file, .. } => format!("truncate {}", of(file)),
                FileOperation::Sync { file } => format!("sync {}", of(file)),
                FileOperation::SyncDirectory => "sync the folder".to_owned(),
                FileOperation::Unlink { name } => format!("remove {name}"),
                FileOperation::Rename { from, to, .. } => format!("rename {from} {to}"),
                FileOperation::Acknowledged(number) => format!("acknowledged {number}"),
            };
            if words.last() != Some(&word) {
                words.push(word);
            }
        }
        words.truncate(count);
        words
    }

    #[test]
    fn a_commit_is_recorded_in_full() {
        let Some(recordings) = recordings("a_commit_is_recorded_in_full") else { return };
        let all = [
            "create db-journal",
            "write db-journal",
            "sync db-journal",
            "sync the folder",
            "write db-journal",
            "sync db-journal",
            "write db",
            "sync db",
            "remove db-journal",
            "sync the folder",
            "acknowledged 1",
        ];
        assert_eq!(words(&recordings, "delete-extra", 11), all);
        let full: Vec<_> = [&all[..9], &all[10..]].concat();
        assert_eq!(words(&recordings, "delete-full", 10), full, "the deletion is not synced");
        let off = ["create db-journal", "write db-journal", "write db", "remove db-journal", "acknowledged 1"];
        assert_eq!(words(&recordings, "delete-off", 5), off);
        let loaded = words(&recordings, "reload-delete-full", usize::MAX);
        let renamed = loaded.iter().position(|word| word == "rename db.bourse-loading db").expect("a load renames");
        assert_eq!(
            loaded[renamed - 1..],
            ["sync db.bourse-loading", &loaded[renamed], "sync the folder", "acknowledged 1"]
        );
    }

    /// A disk whose sectors may become garbage is declared to SQLite, which then journals whole sectors.
    #[test]
    fn a_device_is_declared_to_sqlite() {
        let Some(recordings) = recordings("a_device_is_declared_to_sqlite") else { return };
        for (case, sector) in
            [("delete-extra", 512), ("delete-extra-garbling-512", 512), ("delete-extra-garbling-4096", 4_096)]
        {
            let recorded = record(&recordings, &case.parse().expect("it is a case"), 1).expect("it can be recorded");
            // The number of the first page in the journal, after the header.
            let page = recorded.trace.operations.iter().find_map(|operation| match operation {
                FileOperation::Write { file: 1, offset, bytes } if bytes.len() == 4 => Some(*offset),
                _ => None,
            });
            assert_eq!(page, Some(sector), "{case}: the journal's header fills a sector");
        }
    }

    /// Regression test: a violation by an intermittent fault was found, and lost with "has no state … with seed …".
    #[test]
    fn a_violation_that_does_not_repeat_is_kept_with_its_files() {
        let Some(recordings) = recordings("a_violation_that_does_not_repeat_is_kept_with_its_files") else { return };
        let case: StateCase = "delete-extra".parse().expect("it is one");
        let recorded = record(&recordings, &case, 1).expect("it can be recorded");
        let trace = CrashFault::EveryNth { n: 100, phase: 37 }.plant(&recorded.trace, check::DATABASE);
        let limits = SelectionLimits::within(FAULT_STATES, points(&trace).len());
        let mut check = recorded.check();
        let explored = explore(&trace, case.device, &limits, 1, case.promise(), &mut check, &mut |_| true);
        let failure = explored.broken.first().expect("the fault is found");
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let find = Finder { recordings: &recordings, case: &case, seed: 1, folder: folder.path() };
        let found = find.example("", failure, &trace).expect("it can be written");
        assert_eq!((found.broken, found.repeats), (true, Some(false)));
        let (state, _) = state_at(&trace, case.device, 1, failure.id).expect("it was explored");
        for (name, file) in &state.files {
            let written = std::fs::read(folder_of(&found.state, folder.path()).join(name)).expect("it was written");
            assert!(written == file.to_bytes(), "{name}");
        }
        // One that is in every recording: nothing is left out of this trace.
        let id = StateId { point: 3, selection: bourse_crash::Selection::All };
        let outcome = bourse_crash::RecoveryOutcome::Corrupted { found: "as a test says".into() };
        let failure = FailedState { id, acknowledged: 0, outcome };
        let found = find.example("", &failure, &recorded.trace).expect("it can be written");
        assert_eq!((found.broken, found.repeats), (true, Some(true)));
    }
}
