//! The recording of traces: a case's settings at work in a folder, by a process of its own into which the library is preloaded.

use super::case::{Activity, StateCase};
use super::check::{CommitHistory, DATABASE, SqliteCheck};
use super::work::{WorkloadState, load_with};
use crate::test_bed::AcidError;
use bourse_crash::preload::{ControlFile, FileRecorder, ProcessFiles, library, read_recording, write_library};
use bourse_crash::{Directory, FileImage, FileOperation, Trace};
use bourse_engine::Engine as _;
use bourse_engine_sqlite::{SqliteEngine, SqliteJournal, declare_device, open};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Work of a process whose file operations are recorded; as JSON it is the process's argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedWork {
    /// Name of the case.
    case: String,
    /// Seed of the workload.
    seed: u64,
    /// Folder of the database, or of one folder for each state that is recovered.
    folder: PathBuf,
    /// Number of states that are recovered; `None` for the case's activity.
    recoveries: Option<u64>,
}

impl RecordedWork {
    /// Parses the argument of a process.
    ///
    /// # Errors
    /// If it is something else.
    pub fn parse(text: &str) -> Result<Self, AcidError> {
        serde_json::from_str(text).map_err(|error| AcidError::Machinery(format!("no recorded work: {error}")))
    }

    /// Does the work, in the process that is recorded, and acknowledges each commit or recovery.
    ///
    /// # Errors
    /// The engine's, unless a state cannot be recovered; the recorder's.
    pub fn perform(&self) -> Result<(), AcidError> {
        let case: StateCase = self.case.parse().map_err(AcidError::Machinery)?;
        let recorder = FileRecorder::of_this_process().map_err(|error| AcidError::Machinery(error.to_string()))?;
        let acknowledge = |number: u64| {
            let done = recorder.acknowledge(number);
            done.map_err(|error| AcidError::Machinery(format!("a commit cannot be recorded: {error}")))
        };
        declare_device(case.device.sector_bytes, case.device.powersafe_overwrite);
        if let Some(recoveries) = self.recoveries {
            for number in 1..=recoveries {
                let engine = engine(&target(&case, &self.folder.join(number.to_string())))?;
                if engine.session().map(drop).is_ok() {
                    acknowledge(number)?;
                }
            }
            return Ok(());
        }
        let engine = engine(&target(&case, &self.folder))?;
        if case.activity != Activity::Work {
            load_with(engine.loader()?)?;
            return acknowledge(1);
        }
        let mut session = engine.session()?;
        let mut work = WorkloadState::new(self.seed);
        for number in 1..=case.commits() {
            work.commit(&mut *session)?;
            acknowledge(number)?;
        }
        Ok(())
    }
}

/// Processes that work while their file operations are recorded.
pub struct Recordings<'p> {
    /// Command of a process that calls [`RecordedWork::perform`] with the parsed argument.
    command: &'p (dyn Fn(&str) -> io::Result<Command> + Sync),
    library: TempDir,
}

impl<'p> Recordings<'p> {
    /// Recordings of processes of that command, whose argument is to be parsed by [`RecordedWork::parse`].
    ///
    /// # Errors
    /// The reason that nothing can be recorded here.
    pub fn new(command: &'p (dyn Fn(&str) -> io::Result<Command> + Sync)) -> Result<Self, AcidError> {
        let bytes =
            library().map_err(|why| AcidError::Machinery(format!("no file operations can be recorded: {why}")))?;
        let folder = tempfile::tempdir().map_err(recording_error)?;
        write_library(&folder.path().join("preload.so"), bytes).map_err(recording_error)?;
        Ok(Self { command, library: folder })
    }

    /// Runs a process below `folder`, and reads what it did to the files of its folder `files`.
    fn run(&self, folder: &TempDir, work: &RecordedWork) -> Result<OperationsFile, AcidError> {
        let recording = folder.path().join("recording");
        fs::write(&recording, []).map_err(recording_error)?;
        let control = folder.path().join("control");
        let made = ControlFile::create(&control).map_err(recording_error)?;
        let places =
            ProcessFiles { control, files: work.folder.clone(), image: None, recording: Some(recording.clone()) };
        let argument = serde_json::to_string(work).expect("a struct of texts and numbers has a form");
        let environment: Vec<(OsString, OsString)> = places.preloading(&self.library.path().join("preload.so"));
        let ended = (self.command)(&argument).map_err(recording_error)?.envs(environment).stdin(Stdio::null()).output();
        let ended = ended.map_err(recording_error)?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr);
            return Err(AcidError::Machinery(format!(
                "the recorded process failed ({}): {}",
                ended.status,
                said.trim()
            )));
        }
        Ok(OperationsFile { path: recording, control: made })
    }
}

fn recording_error(error: io::Error) -> AcidError {
    AcidError::Machinery(format!("file operations cannot be recorded: {error}"))
}

/// Operations of a process that has ended.
struct OperationsFile {
    path: PathBuf,
    control: ControlFile,
}

impl OperationsFile {
    /// Trace of the files in a folder, whose path within the watched one begins so, from these files on.
    fn trace(&self, folder: &str, base: Directory) -> Result<Trace, AcidError> {
        let name = |path: &str| {
            path.strip_prefix(folder).filter(|name| !name.contains('/') && is_part(name)).map(str::to_owned)
        };
        read_recording(&self.path, &self.control, base, &name).map_err(recording_error)
    }
}

/// Recorded trace of a case, with the history that its states are checked against.
#[derive(Debug)]
pub(super) struct RecordedCase {
    pub(super) trace: Trace,
    history: CommitHistory,
    may_be_missing: bool,
}

impl RecordedCase {
    /// New check for its states.
    pub(super) fn check(&self) -> SqliteCheck {
        SqliteCheck::new(self.history.clone(), self.may_be_missing)
    }
}

/// Folder for a recording: in memory if the system has such a place, since a real write would only cost time.
fn directory() -> Result<TempDir, AcidError> {
    let shared = Path::new("/dev/shm");
    let made = if shared.is_dir() {
        tempfile::tempdir_in(shared).or_else(|_| tempfile::tempdir())
    } else {
        tempfile::tempdir()
    };
    made.map_err(|error| AcidError::Machinery(format!("no directory for a recording: {error}")))
}

/// Path of a folder below another, without links: the library compares paths.
fn below(folder: &TempDir, name: &str) -> Result<PathBuf, AcidError> {
    let path = folder.path().join(name);
    fs::create_dir(&path).and_then(|()| path.canonicalize()).map_err(recording_error)
}

/// Target with a case's settings. Small pages and a small cache give many states of few bytes; a log is checkpointed often.
fn target(case: &StateCase, directory: &Path) -> String {
    let checkpoint = if case.journal == SqliteJournal::Wal { "&autocheckpoint=64" } else { "" };
    format!(
        "sqlite:{}/{DATABASE}?journal={}&sync={}&page_size=1024&cache=64KiB&foreign_keys=off{checkpoint}",
        directory.display(),
        case.journal.word(),
        case.sync.word()
    )
}

fn engine(target: &str) -> Result<SqliteEngine, AcidError> {
    open(target).map_err(|error| AcidError::Machinery(format!("{target}: {error}")))
}

/// Makes a database, runs some commits, and closes it.
fn database(target: &str, seed: u64, commits: u64) -> Result<(), AcidError> {
    let engine = engine(target)?;
    load_with(engine.loader()?)?;
    let mut session = engine.session()?;
    let mut work = WorkloadState::new(seed);
    for _ in 0..commits {
        work.commit(&mut *session)?;
    }
    Ok(())
}

/// Whether a file is a part of a state. The index of a log is none: the first connection after a crash creates it anew. Bourse's mark
/// is none either.
fn is_part(name: &str) -> bool {
    !["-shm", ".bourse-mark"].iter().any(|ending| name.ends_with(ending))
}

/// Files of a folder that are parts of a state.
fn read_files(folder: &Path) -> io::Result<Directory> {
    let mut directory = Directory::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && is_part(&name) {
            directory.files.insert(name, FileImage::from(&fs::read(entry.path())?[..]));
        }
    }
    Ok(directory)
}

/// Records a case.
pub(super) fn record(recordings: &Recordings<'_>, case: &StateCase, seed: u64) -> Result<RecordedCase, AcidError> {
    let directory = directory()?;
    let files = below(&directory, "files")?;
    let target = target(case, &files);
    let commits = case.commits();
    match case.activity {
        Activity::Work => database(&target, seed, 0)?,
        Activity::Reload => database(&target, seed, commits)?,
        Activity::Load => {}
    }
    // A persistent journal is removed first, so that its creation is recorded too. No session has the database open.
    match fs::remove_file(files.join(format!("{DATABASE}-journal"))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(AcidError::Machinery(format!("an old journal cannot be removed: {error}")));
        }
        _ => {}
    }
    let base = read_files(&files).map_err(recording_error)?;
    let work = RecordedWork { case: case.to_string(), seed, folder: files, recoveries: None };
    let trace = recordings.run(&directory, &work)?.trace("", base)?;
    let history = match case.activity {
        Activity::Work => CommitHistory::of(seed, commits)?,
        Activity::Load | Activity::Reload => CommitHistory::of_load(seed, commits)?,
    };
    Ok(RecordedCase { trace, history, may_be_missing: case.activity == Activity::Load })
}

/// Records how SQLite recovers states, each as a trace with its number of acknowledged commits from the start; `None` for one
/// that cannot be recovered.
pub(super) fn record_recoveries(
    recordings: &Recordings<'_>,
    case: &StateCase,
    states: &[(Directory, u64)],
) -> Result<Vec<Option<Trace>>, AcidError> {
    let directory = directory()?;
    let files = below(&directory, "files")?;
    for (number, (state, _)) in (1..).zip(states) {
        let folder = files.join(number.to_string());
        super::write(state, &folder)?;
        let location = engine(&target(case, &folder))?.location();
        if let Some(database) = location.database_files().filter(|database| database.path().exists()) {
            database.mark()?;
        }
    }
    let recoveries = Some(states.len() as u64);
    let work = RecordedWork { case: case.to_string(), seed: 0, folder: files, recoveries };
    let recording = recordings.run(&directory, &work)?;
    let one = |(number, (state, acknowledged)): (u64, &(Directory, u64))| {
        let mut trace = recording.trace(&format!("{number}/"), state.clone())?;
        let is_recovered = trace.operations.contains(&FileOperation::Acknowledged(number));
        trace.operations.retain(|operation| !matches!(operation, FileOperation::Acknowledged(_)));
        trace.operations.insert(0, FileOperation::Acknowledged(*acknowledged));
        Ok(is_recovered.then_some(trace))
    };
    (1..).zip(states).map(one).collect()
}
