//! Power losses enumerated: every state that one may leave of a small database, at every point of its work: of SQLite in each
//! journal mode with each sync, and of any engine whose file operations can be recorded.
//!
//! | module | what |
//! |---|---|
//! | `case` | settings, device, what is interrupted |
//! | `record` | traces of the [work](crate::known_work) |
//! | `check` | a state recovered and compared |
//! | `process` | states recovered by an engine in another process |
//! | `document` | the rows of `crash.json` |

mod case;
mod check;
mod document;
mod process;
mod record;

pub use case::Cases;
pub use record::{EngineOpener, RecordedWork, Recordings};

use crate::test_bed::{AcidError, new_folder};
use bourse_crash::{
    CrashFault, Device, Directory, ExplorationCounts, FailedState, Promise, RecoveryCheck as _, Selection,
    SelectionLimits, StateId, Trace, explore, points, state_at,
};
use bourse_record::crash::{Example, InterruptedRecoveries, PlantedRow, StatesRow, StatesSection};
use case::{Activity, CaseSettings, StateCase};
use check::StateCheck;
use record::{record, record_recoveries, write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Options of the enumeration.
#[derive(Debug, Clone, Copy)]
pub struct StatesOptions<'o> {
    /// Selection of settings of SQLite.
    pub cases: Cases,
    /// Targets of any engine with their options, without a path.
    pub targets: &'o [String],
    /// Devices on which all are enumerated; empty for the strictest, and those that SQLite has a setting for.
    pub devices: &'o [Device],
    /// Approximate number of states of each case; `None` for as many as the bound allows.
    pub states: Option<u64>,
    /// Seed of the workload and of drawn states.
    pub seed: u64,
    /// Times that each fault is planted, each with another seed; 0 plants none.
    pub fault_runs: u32,
}

/// Largest number of states of a case whose recovery is interrupted by a second power loss.
const RECOVERIES: usize = 24;
/// Largest number of states of each such recovery. Of few states in all both are fewer, one in this many.
const RECOVERY_STATES: u64 = 120;
const RECOVERY_SHARE: u64 = 25;
/// One in this many of these recoveries has its own states recovered and interrupted again, this many of them.
const AGAIN_EVERY: usize = 4;
const AGAIN: usize = 2;
/// Settings of SQLite in which faults are planted: each preserves every acknowledged commit if nothing is planted. Targets
/// that preserve it have them too.
const FAULTY: [&str; 3] = ["delete-extra", "truncate-full", "wal-full"];
/// Least number of states of a case with a planted fault.
const MIN_FAULT_STATES: u64 = 5_000;
/// Number of states of a case with a planted fault if each state of others is enumerated.
const FAULT_STATES: u64 = 10_000;

/// Faults of one run. Where a database is, and what its folder means to it, is known of SQLite alone.
fn faults(run: u32, settings: &CaseSettings) -> Vec<CrashFault> {
    let nth = |n: usize| CrashFault::EveryNth { n, phase: (run as usize).wrapping_mul(37) % n };
    let mut faults = vec![nth(3), nth(20), nth(100), nth(300)];
    if matches!(settings, CaseSettings::Sqlite { .. }) {
        faults.extend([CrashFault::NeverDatabase, CrashFault::NeverDirectory]);
    }
    faults
}

fn limits(options: &StatesOptions<'_>, points: usize) -> SelectionLimits {
    options.states.map_or(SelectionLimits::FULL, |states| SelectionLimits::within(states, points))
}

/// Enumerates all cases, with one thread per CPU; the processes of `recordings` do the work. Writes the files of states that violate their guarantee below `folder`, each
/// into [`folder_of`] its name.
///
/// # Errors
/// If a trace could not be recorded, or files not be written; a violated guarantee is not an error.
pub fn enumerate(
    options: &StatesOptions<'_>,
    recordings: &Recordings<'_>,
    folder: &Path,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<StatesSection, AcidError> {
    let began = Instant::now();
    let mut cases = options.cases.list(options.devices);
    cases.extend(options.targets.iter().flat_map(|target| StateCase::of_target(target, options.devices)));
    let rows = in_parallel(cases.len(), recordings, |number| {
        progress(&format!("{} ({} of {})", cases[number], number + 1, cases.len()));
        row(&cases[number], options, recordings, folder)
    })?;
    // Where a guarantee is violated without a fault, a violation shows no fault.
    let preserves = |(case, row): &(&StateCase, &StatesRow)| match &case.settings {
        _ if row.broken > 0 => false,
        CaseSettings::Sqlite { .. } => FAULTY.contains(&case.to_string().as_str()),
        CaseSettings::Target(_) => case.device.can_be_trusted(false),
    };
    let faulty: Vec<&StateCase> = cases.iter().zip(&rows).filter(preserves).map(|(case, _)| case).collect();
    let planted: Vec<(&StateCase, u32)> =
        faulty.iter().flat_map(|case| (0..options.fault_runs).map(move |run| (*case, run))).collect();
    let found = in_parallel(planted.len(), recordings, |number| {
        let (case, run) = planted[number];
        progress(&format!("planted faults in {case} ({} of {})", number + 1, planted.len()));
        with_faults(case, options, recordings, folder, run)
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
    recordings: &Recordings<'_>,
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
                    if number >= count || !recordings.go_on() {
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
    options: &StatesOptions<'_>,
    recordings: &Recordings<'_>,
    folder: &Path,
) -> Result<StatesRow, AcidError> {
    let recorded = record(recordings, case, options.seed, folder)?;
    let began = Instant::now();
    let mut check = StateCheck::new(recordings, case, options.seed)?;
    let limits = limits(options, points(&recorded.trace).len());
    let mut go_on = |_: &ExplorationCounts| recordings.go_on();
    let promise = recorded.promise;
    let explored = explore(&recorded.trace, case.device, &limits, options.seed, promise, &mut check, &mut go_on);
    check.finish()?;
    let took_s = began.elapsed().as_secs_f64();
    let recovery_states = options.states.map_or(RECOVERY_STATES, |states| RECOVERY_STATES.min(states / RECOVERY_SHARE));
    let mut find = Finder { recordings, case, seed: options.seed, folder, promise, check, recovery_states };
    let recovery = match case.activity {
        Activity::Work => {
            let mut all = InterruptedRecoveries::default();
            let wanted = RECOVERIES.min(usize::try_from(recovery_states).unwrap_or(RECOVERIES));
            find.recoveries(&recorded.trace, "", wanted, &mut all)?;
            Some(all)
        }
        Activity::Load | Activity::Reload => None,
    };
    let example = |failure| find.example("", failure, &recorded.trace);
    let examples = document::failures(&explored).into_iter().map(example).collect::<Result<_, _>>()?;
    find.check.finish()?;
    Ok(document::states_row(case, &recorded, &explored, took_s, recovery, examples))
}

/// A case whose failures are found, and the folder for the files of violations.
struct Finder<'f> {
    recordings: &'f Recordings<'f>,
    case: &'f StateCase,
    seed: u64,
    folder: &'f Path,
    promise: Promise,
    check: StateCheck<'f>,
    /// Number of states of each recovery.
    recovery_states: u64,
}

impl Finder<'_> {
    /// Describes a failure in a trace. The files of a violation are written from that trace: an intermittent fault of the
    /// engine need not show in another recording.
    fn example(&mut self, prefix: &str, failure: &FailedState, trace: &Trace) -> Result<Example, AcidError> {
        let mut example = document::example(self.case, self.promise, prefix, failure);
        if !example.broken {
            return Ok(example);
        }
        let (case, seed) = (self.case, self.seed);
        let (state, _) = state_at(trace, case.device, seed, failure.id).expect("it was explored");
        let reduced;
        (example.minimal, reduced) = self.check.reduced(trace, failure, self.promise);
        let place = folder_of(&example.state, self.folder);
        write(&state, &place)?;
        write(&reduced, &place.join("minimal"))?;
        let reproduced = reproduced(self.recordings, &example.state, seed, self.folder);
        example.repeats = Some(reproduced.is_ok_and(|reproduced| reproduced.state == state));
        Ok(example)
    }

    /// Explores the recovery of some states, spread over the trace: a second power loss during the recovery from the first.
    /// Some of what that leaves is recovered and interrupted once more.
    fn recoveries(
        &mut self,
        trace: &Trace,
        prefix: &str,
        wanted: usize,
        all: &mut InterruptedRecoveries,
    ) -> Result<(), AcidError> {
        let (case, seed) = (self.case, self.seed);
        let count = points(trace).len();
        let wanted = wanted.min(count);
        let id = |number: usize| StateId {
            point: number * count / wanted,
            selection: if number.is_multiple_of(2) { Selection::All } else { Selection::Drawn(0) },
        };
        let state = |number| Some((id(number), state_at(trace, case.device, seed, id(number))?));
        let (ids, states): (Vec<_>, Vec<_>) = (0..wanted).filter_map(state).unzip();
        let traces = record_recoveries(self.recordings, case, seed, &states)?;
        for (number, (id, trace)) in ids.into_iter().zip(traces).enumerate() {
            if !self.recordings.go_on() {
                break;
            }
            // A state that is lost already has no recovery to interrupt.
            let Some(trace) = trace else { continue };
            let limits = SelectionLimits::within(self.recovery_states, points(&trace).len());
            let device = case.device;
            let mut go_on = |_: &ExplorationCounts| self.recordings.go_on();
            let explored = explore(&trace, device, &limits, seed, self.promise, &mut self.check, &mut go_on);
            self.check.finish()?;
            all.recoveries += 1;
            all.states += explored.counts.states;
            all.broken += explored.counts.broken;
            let prefix = format!("{prefix}{id}/");
            if let Some(failure) = explored.broken.first()
                && all.example.is_none()
            {
                all.example = Some(self.example(&prefix, failure, &trace)?);
            }
            if wanted > AGAIN && number.is_multiple_of(AGAIN_EVERY) {
                self.recoveries(&trace, &prefix, AGAIN, all)?;
            }
        }
        Ok(())
    }
}

/// Folder of a state's files below `below`.
pub fn folder_of(state: &str, below: &Path) -> PathBuf {
    below.join("states").join(state.replace(['/', ':', '?', '&', '='], "_"))
}

/// Explores the states of a case with each fault planted, each time with another workload.
fn with_faults(
    case: &StateCase,
    options: &StatesOptions<'_>,
    recordings: &Recordings<'_>,
    folder: &Path,
    run: u32,
) -> Result<Vec<PlantedRow>, AcidError> {
    let seed = options.seed.wrapping_add(u64::from(run));
    let recorded = record(recordings, case, seed, folder)?;
    // Only what must be preserved can be seen to be lost.
    if recorded.promise != Promise::Everything {
        return Ok(Vec::new());
    }
    let name = case.to_string();
    let mut check = StateCheck::new(recordings, case, seed)?;
    let in_files = matches!(case.settings, CaseSettings::Target(_));
    let mut one = |fault: CrashFault| {
        let trace = fault.plant(&recorded.trace, check::DATABASE);
        // Each state of a server takes a start of it.
        let least = if case.is_server() { 0 } else { MIN_FAULT_STATES };
        let states = options.states.unwrap_or(FAULT_STATES).max(least);
        let limits = SelectionLimits::within(states, points(&trace).len());
        // In files, one state that reveals the fault is enough.
        let mut go_on = |counts: &ExplorationCounts| recordings.go_on() && (!in_files || counts.broken == 0);
        let explored = explore(&trace, case.device, &limits, seed, recorded.promise, &mut check, &mut go_on);
        let example = explored.broken.first().filter(|_| run == 0).map(|failure| {
            let (minimal, _) = check.reduced(&trace, failure, recorded.promise);
            Example { minimal, ..document::example(case, recorded.promise, "", failure) }
        });
        document::planted_row(&name, fault, &explored, example)
    };
    let rows = faults(run, &case.settings).into_iter().map(&mut one).collect();
    check.finish()?;
    Ok(rows)
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
    promise: Promise,
    state: Directory,
    acknowledged: u64,
}

/// Records the case of a state's name again, and reproduces the state. Databases are made below `scratch`.
fn reproduced(
    recordings: &Recordings<'_>,
    name: &str,
    seed: u64,
    scratch: &Path,
) -> Result<ReproducedState, AcidError> {
    let no_state = |why: String| AcidError::Machinery(why);
    // A target may have a slash in it.
    let mut parts: Vec<&str> = name.split('/').collect();
    let ids = parts.split_off(parts.iter().rposition(|part| part.parse::<StateId>().is_err()).map_or(0, |at| at + 1));
    let (case, id) = (parts.join("/"), parts.pop().unwrap_or_default());
    let Some((first, more)) = ids.split_first() else {
        let why = id.parse::<StateId>().err().filter(|_| name.contains('/') && id.contains(':'));
        return Err(no_state(why.unwrap_or_else(|| {
            format!("`{name}` names no state: expected CASE/POINT:SELECTION, as wal-full/12:one-3, or TRACE#NUMBER, as DIR/trace-1.bin#7")
        })));
    };
    let case: StateCase = case.parse().map_err(no_state)?;
    let recorded = record(recordings, &case, seed, scratch)?;
    let made = |trace: &Trace, id: &str| {
        let id: StateId = id.parse().map_err(no_state)?;
        state_at(trace, case.device, seed, id)
            .ok_or_else(|| no_state(format!("{case} has no state {id} with seed {seed}")))
    };
    let (mut state, mut acknowledged) = made(&recorded.trace, first)?;
    for next in more {
        let trace = record_recoveries(recordings, &case, seed, &[(state, acknowledged)])?.pop().flatten();
        let trace = trace.ok_or_else(|| no_state(format!("the state before {next} of {case} is not recovered")))?;
        (state, acknowledged) = made(&trace, next)?;
    }
    Ok(ReproducedState { promise: recorded.promise, case, state, acknowledged })
}

/// Reproduces the state of that name, such as `wal-full/12:one-3`, writes its files and checks it.
///
/// # Errors
/// If there is no such state, the folder exists already, or its files cannot be written.
pub fn replay(recordings: &Recordings<'_>, name: &str, seed: u64, folder: &Path) -> Result<ReplayedState, AcidError> {
    let file_error = |error: std::io::Error| AcidError::Machinery(format!("{}: {error}", folder.display()));
    let below = folder.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(below).map_err(file_error)?;
    let ReproducedState { case, promise, state, acknowledged } = reproduced(recordings, name, seed, below)?;
    new_folder(folder).map_err(file_error)?;
    write(&state, folder)?;
    let mut check = StateCheck::new(recordings, &case, seed)?;
    let outcome = check.check(&state);
    check.finish()?;
    let (found, is_broken) = document::judged(&outcome, acknowledged, promise);
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
        RecordedWork::parse(&work).expect("the parent passes work").perform(&opened).expect("it can be done");
    }

    fn opened(target: &str) -> Result<Box<dyn bourse_engine::Engine>, AcidError> {
        let engine = bourse_engine_sqlite::open(target).map_err(|error| AcidError::Machinery(error.to_string()))?;
        Ok(Box::new(engine))
    }

    fn recorded_command(work: &str) -> std::io::Result<std::process::Command> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args(["--exact", "states::tests::recorded_process", "--nocapture"]).env(WORK, work);
        Ok(command)
    }

    static NEVER: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

    /// Recordings of processes of this program; `None` where nothing can be recorded, which is reported.
    fn recordings(test: &str) -> Option<Recordings<'static>> {
        let skipped = |why| bourse_testkit::skipped(&format!("bourse-acid: {test}"), why);
        Recordings::new(&recorded_command, &NEVER).map_err(skipped).ok()
    }

    /// Operations of a case's first commits as words; several writes to one file are one.
    fn words(recordings: &Recordings<'_>, case: &str, count: usize) -> Vec<String> {
        let recorded = record(recordings, &case.parse().expect("it is a case"), 1, &std::env::temp_dir())
            .expect("it can be recorded");
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
                FileOperation::SyncDirectory { .. } => "sync the folder".to_owned(),
                FileOperation::Unlink { name } => format!("remove {name}"),
                FileOperation::Rename { from, to, .. } => format!("rename {from} {to}"),
                FileOperation::SyncRange { file, .. } => format!("write and sync {}", of(file)),
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
            "create db-journal", "write db-journal", "sync db-journal", "sync the folder", "write db-journal",
            "sync db-journal", "write db", "sync db", "remove db-journal", "sync the folder", "acknowledged 1",
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
        for (case, sector) in [
            ("delete-extra", 512),
            ("delete-extra@no-powersafe-overwrite-512", 512),
            ("delete-extra@no-powersafe-overwrite", 4_096),
        ] {
            let recorded = record(&recordings, &case.parse().expect("it is a case"), 1, &std::env::temp_dir())
                .expect("it can be recorded");
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
        let recorded = record(&recordings, &case, 1, &std::env::temp_dir()).expect("it can be recorded");
        let trace = CrashFault::EveryNth { n: 100, phase: 37 }.plant(&recorded.trace, check::DATABASE);
        let limits = SelectionLimits::within(FAULT_STATES, points(&trace).len());
        let promise = recorded.promise;
        let mut check = StateCheck::new(&recordings, &case, 1).expect("it can be checked");
        let explored = explore(&trace, case.device, &limits, 1, promise, &mut check, &mut |_| true);
        let failure = explored.broken.first().expect("the fault is found");
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut find = Finder {
            recordings: &recordings,
            case: &case,
            seed: 1,
            folder: folder.path(),
            promise,
            check,
            recovery_states: 0,
        };
        let found = find.example("", failure, &trace).expect("it can be written");
        assert_eq!((found.broken, found.repeats), (true, Some(false)));
        let (state, _) = state_at(&trace, case.device, 1, failure.id).expect("it was explored");
        for (name, file) in &state.files {
            let written = std::fs::read(folder_of(&found.state, folder.path()).join(name)).expect("it was written");
            assert!(written == file.to_bytes(), "{name}");
        }
        assert!(!found.minimal.is_empty() && folder_of(&found.state, folder.path()).join("minimal/db").is_file());
        // One that is in every recording: nothing is left out of this trace.
        let id = StateId { point: 3, selection: bourse_crash::Selection::All };
        let outcome = bourse_crash::RecoveryOutcome::Corrupted { found: "as a test says".into() };
        let failure = FailedState { id, acknowledged: 0, outcome };
        let found = find.example("", &failure, &recorded.trace).expect("it can be written");
        assert_eq!((found.broken, found.repeats), (true, Some(true)));
    }
}
