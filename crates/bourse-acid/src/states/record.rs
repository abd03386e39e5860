//! The recording of traces: a case's settings at work in a folder, by a process of its own into which the library is preloaded.

use super::case::{Activity, CaseSettings, StateCase};
use super::check::DATABASE;
use super::process::{MARK, looked, recover_states, tell};
use crate::crash::output;
use crate::demand::{CrashKind, promised};
use crate::faults::judge::TargetDurability;
use crate::known_work::{self, WorkEvent};
use crate::test_bed::AcidError;
use bourse_crash::preload::{ControlFile, FileRecorder, ProcessFiles, library, read_recording, write_library};
use bourse_crash::{Directory, FileImage, FileOperation, Promise, Trace};
use bourse_engine::{Engine, Hosting, Result};
use bourse_engine_sqlite::declare_device;
use bourse_record::crash::Guarantee;
use bourse_schema::SQLITE;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Opens a target, touching nothing else.
pub type EngineOpener<'o> = &'o dyn Fn(&str) -> Result<Box<dyn Engine>, AcidError>;

/// Work of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ChildWork {
    /// Makes the database, and reports the durability class of its settings; not recorded.
    Fill,
    /// Activity of the case.
    Activity,
    /// Recovers that many states, each in a folder of its number.
    Recoveries(u64),
    /// Recovers the states that are named on the standard input; not recorded.
    Look,
}

/// Work of a process, whose file operations may be recorded; as JSON it is the process's argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedWork {
    /// Name of the case.
    pub(super) case: String,
    /// Seed of the workload.
    pub(super) seed: u64,
    /// Folder of the database, or of one folder for each state that is recovered.
    pub(super) folder: PathBuf,
    pub(super) work: ChildWork,
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
    pub fn perform(&self, open: EngineOpener<'_>) -> Result<(), AcidError> {
        let case: StateCase = self.case.parse().map_err(AcidError::Machinery)?;
        if matches!(case.settings, CaseSettings::Sqlite { .. }) {
            declare_device(case.device.sector_bytes, case.device.powersafe_overwrite);
        }
        let opened = |folder: &Path| -> Result<Box<dyn Engine>, AcidError> {
            let engine = open(&case.target(folder))?;
            if let Hosting::OwnedServer(server) = engine.hosting() {
                server.use_data(&folder.join(DATABASE))?;
            }
            // The files of a state are others than those that were marked.
            let location = engine.location();
            if let Some(database) = location.database_files().filter(|database| database.path().exists()) {
                database.mark()?;
            }
            Ok(engine)
        };
        let look = |folder: &Path| looked(&opened(&self.folder.join(folder)), self.seed);
        match self.work {
            ChildWork::Fill => self.fill(&*opened(&self.folder)?),
            ChildWork::Look => recover_states(&|name| Ok(look(name))),
            ChildWork::Recoveries(count) => {
                let recorder = recorder()?;
                (1..=count).try_for_each(|number| {
                    let engine = opened(&self.folder.join(number.to_string()));
                    if matches!(looked(&engine, self.seed), WorkEvent::Found { .. }) {
                        recorder.acknowledge(number).map_err(recording_error)?;
                    }
                    // A server that is killed may leave the first part of a record before those of the next; one that could not
                    // be started has ended by itself.
                    if let Ok(engine) = engine {
                        drop(stopped(&*engine));
                    }
                    Ok(())
                })
            }
            ChildWork::Activity => {
                let recorder = recorder()?;
                let engine = opened(&self.folder)?;
                if case.activity != Activity::Work {
                    load_with(&*engine, self.seed)?;
                    return recorder.acknowledge(1).map_err(recording_error);
                }
                // An error is one that the next attempt is without, unless the work ends with it.
                let (mut done, mut failure) = (0, String::new());
                let session = known_work::work(&*engine, self.seed, case.commits(), &mut |event| match event {
                    WorkEvent::Acknowledged(number) if recorder.acknowledge(number).is_ok() => done = number,
                    other => failure = format!("{other:?}"),
                });
                drop(session);
                stopped(&*engine)?;
                match done == case.commits() {
                    true => Ok(()),
                    false => Err(AcidError::Machinery(format!("the work ends after {done} commits: {failure}"))),
                }
            }
        }
    }

    fn fill(&self, engine: &dyn Engine) -> Result<(), AcidError> {
        if matches!(engine.hosting(), Hosting::External) {
            return Err(AcidError::NotIntercepted("Bourse did not start this server".to_owned()));
        }
        known_work::fill(engine, self.seed)?;
        // What the check adds to a database is there from the start.
        engine.integrity_check()?;
        let TargetDurability { durability, may_lose, reason } = TargetDurability::of(engine.description()?);
        stopped(engine)?;
        let promise = promised(durability, may_lose, CrashKind::Power);
        tell(&CaseClass { promise, class: durability, reason })
    }
}

/// Ends a server of the engine's own in good order, so that its files are complete.
fn stopped(engine: &dyn Engine) -> Result<()> {
    match engine.hosting() {
        Hosting::OwnedServer(server) => server.stop(),
        Hosting::InProcess | Hosting::External => Ok(()),
    }
}

fn recorder() -> Result<FileRecorder, AcidError> {
    FileRecorder::of_this_process().map_err(|error| AcidError::Machinery(error.to_string()))
}

/// Durability class of a case's settings, with the guarantee that follows from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CaseClass {
    pub(super) promise: Guarantee,
    pub(super) class: bourse_record::Durability,
    pub(super) reason: String,
}

/// Processes that work while their file operations are recorded.
pub struct Recordings<'p> {
    /// Command of a process that calls [`RecordedWork::perform`] with the parsed argument.
    command: &'p (dyn Fn(&str) -> io::Result<Command> + Sync),
    /// Whether the user wants an end, which the processes are killed for.
    interrupted: &'p AtomicBool,
    library: TempDir,
}

impl<'p> Recordings<'p> {
    /// Recordings of processes of that command, whose argument is to be parsed by [`RecordedWork::parse`]; once `interrupted` is
    /// set they are killed, and all that waits for them fails.
    ///
    /// # Errors
    /// The reason that nothing can be recorded here.
    pub fn new(
        command: &'p (dyn Fn(&str) -> io::Result<Command> + Sync),
        interrupted: &'p AtomicBool,
    ) -> Result<Self, AcidError> {
        let bytes =
            library().map_err(|why| AcidError::Machinery(format!("no file operations can be recorded: {why}")))?;
        let folder = tempfile::tempdir().map_err(recording_error)?;
        write_library(&folder.path().join("preload.so"), bytes).map_err(recording_error)?;
        open_to_servers(folder.path(), 0o755).map_err(recording_error)?;
        Ok(Self { command, interrupted, library: folder })
    }

    /// Whether to go on.
    pub(super) fn go_on(&self) -> bool {
        !self.interrupted.load(Ordering::Relaxed)
    }

    /// Command of a process that does the work.
    pub(super) fn command(&self, work: &RecordedWork) -> io::Result<Command> {
        let argument = serde_json::to_string(work).expect("a struct of texts and numbers has a form");
        (self.command)(&argument)
    }

    /// Runs a process that is not recorded, and returns its output.
    fn output(&self, work: &RecordedWork) -> Result<String, AcidError> {
        let ended = output(&mut self.command(work).map_err(recording_error)?, self.interrupted);
        succeeded(&ended.map_err(recording_error)?).map_err(AcidError::Machinery)
    }

    /// Runs a process below `folder`, and reads what it did to the files of its folder `files`.
    fn run(&self, folder: &TempDir, work: &RecordedWork) -> Result<OperationsFile, AcidError> {
        let recording = folder.path().join("recording");
        fs::write(&recording, []).and_then(|()| open_to_servers(&recording, 0o666)).map_err(recording_error)?;
        let control = folder.path().join("control");
        let made = ControlFile::create(&control).map_err(recording_error)?;
        let places =
            ProcessFiles { control, files: work.folder.clone(), image: None, recording: Some(recording.clone()) };
        let environment: Vec<(OsString, OsString)> = places.preloading(&self.library.path().join("preload.so"));
        let ended = output(self.command(work).map_err(recording_error)?.envs(environment), self.interrupted);
        let ended = ended.map_err(recording_error)?;
        // A state that ends the process has no recovery to interrupt.
        if let (Err(why), false) = (succeeded(&ended), matches!(work.work, ChildWork::Recoveries(_))) {
            return Err(AcidError::Machinery(why));
        }
        Ok(OperationsFile { path: recording, control: made })
    }
}

/// Standard output of a process that succeeded.
fn succeeded(ended: &std::process::Output) -> Result<String, String> {
    match ended.status.success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&ended.stderr);
            Err(format!("the recorded process failed ({}): {}", ended.status, said.trim()))
        }
    }
}

pub(super) fn recording_error(error: io::Error) -> AcidError {
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
        let name = |path: &str| path.strip_prefix(folder).filter(|name| is_part(name)).map(str::to_owned);
        read_recording(&self.path, &self.control, base, &name).map_err(recording_error)
    }
}

/// Recorded trace of a case, with the guarantee that its states are held to.
#[derive(Debug)]
pub(super) struct RecordedCase {
    pub(super) trace: Trace,
    pub(super) class: CaseClass,
    pub(super) promise: Promise,
}

/// Folder for a recording: in memory if the system has such a place, since a real write would only cost time.
pub(super) fn directory(case: &StateCase) -> Result<TempDir, AcidError> {
    let shared = Path::new("/dev/shm");
    // There MariaDB writes its log through a memory map.
    let made = if shared.is_dir() && !case.to_string().starts_with("mariadb") {
        tempfile::tempdir_in(shared).or_else(|_| tempfile::tempdir())
    } else {
        tempfile::tempdir()
    };
    made.and_then(|made| open_to_servers(made.path(), 0o755).map(|()| made))
        .map_err(|error| AcidError::Machinery(format!("no directory for a recording: {error}")))
}

/// Opens a file or a folder to servers, which run as another user where this one is root.
fn open_to_servers(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, PermissionsExt::from_mode(mode))
}

/// Path of a folder below another, without links: the library compares paths.
fn below(folder: &TempDir, name: &str) -> Result<PathBuf, AcidError> {
    let path = folder.path().join(name);
    fs::create_dir(&path).and_then(|()| path.canonicalize()).map_err(recording_error)
}

/// Loads the database, in place of one that exists.
fn load_with(engine: &dyn Engine, seed: u64) -> Result<()> {
    let mut loader = engine.sql()?.new_loader()?;
    for sql in known_work::load_statements(seed, &SQLITE) {
        loader.run(&sql)?;
    }
    loader.finish()
}

/// Whether a file is a part of a state. The index of a log, locks, a server's number and MariaDB's temporary tables are none: they are
/// made anew. Bourse's mark is none either, and no text that RocksDB writes for people.
fn is_part(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let passing = ["-shm", "-lock", ".lck", ".bourse-mark", ".pid", "ibtmp1"];
    !passing.iter().any(|ending| file.ends_with(ending)) && !file.starts_with("LOG")
}

/// Files of a folder, and of those in it, that are parts of a state. A folder is an empty file whose name ends with a slash.
fn read_files(folder: &Path, prefix: &str, directory: &mut Directory) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            directory.files.insert(format!("{name}/"), FileImage::default());
            read_files(&entry.path(), &format!("{name}/"), directory)?;
        } else if is_part(&name) {
            directory.files.insert(name, FileImage::from(&fs::read(entry.path())?[..]));
        }
    }
    Ok(())
}

/// Writes the files of a state to a folder that has no others.
pub(super) fn write(state: &Directory, folder: &Path) -> Result<(), AcidError> {
    let file_error = |error: io::Error| AcidError::Machinery(format!("{}: {error}", folder.display()));
    let write = |(name, image): (&String, &FileImage)| {
        let path = folder.join(name);
        if name.ends_with('/') {
            return fs::create_dir_all(path);
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let file = fs::File::create(path)?;
        file.set_len(image.size())?;
        image.written().try_for_each(|(at, bytes)| file.write_all_at(bytes, at))
    };
    fs::create_dir_all(folder).and_then(|()| state.files.iter().try_for_each(write)).map_err(file_error)
}

/// Makes a case's database below `scratch`, a folder on a real disk: the durability class depends on that.
fn filled(
    recordings: &Recordings<'_>,
    case: &StateCase,
    seed: u64,
    scratch: &Path,
) -> Result<(Directory, CaseClass), AcidError> {
    // A server must be able to reach it.
    let scratch = if case.is_server() { std::env::temp_dir() } else { scratch.to_owned() };
    let folder = tempfile::tempdir_in(scratch).map_err(recording_error)?;
    open_to_servers(folder.path(), 0o755).map_err(recording_error)?;
    let files = below(&folder, "files")?;
    let work = RecordedWork { case: case.to_string(), seed, folder: files.clone(), work: ChildWork::Fill };
    let output = recordings.output(&work)?;
    let class = output.lines().find_map(|line| serde_json::from_str(line.split_once(MARK)?.1).ok());
    let class =
        class.ok_or_else(|| AcidError::Machinery("the process that fills a database reports no class".into()))?;
    let mut base = Directory::default();
    read_files(&files, "", &mut base).map_err(recording_error)?;
    Ok((base, class))
}

/// Records a case; databases are made below `scratch`.
pub(super) fn record(
    recordings: &Recordings<'_>,
    case: &StateCase,
    seed: u64,
    scratch: &Path,
) -> Result<RecordedCase, AcidError> {
    let folder = directory(case)?;
    let files = below(&folder, "files")?;
    let (mut base, mut class) = filled(recordings, case, seed, scratch)?;
    // A persistent journal is left out, so that its creation is recorded too. No session has the database open.
    base.files.remove(&format!("{DATABASE}-journal"));
    match case.activity {
        Activity::Work => {}
        Activity::Load => base.files.clear(),
        Activity::Reload => {
            // The database that is replaced is another one.
            write(&base, &files)?;
            let work =
                RecordedWork { case: case.work().to_string(), seed, folder: files.clone(), work: ChildWork::Activity };
            recordings.run(&folder, &work)?;
            base = Directory::default();
            read_files(&files, "", &mut base).map_err(recording_error)?;
        }
    }
    write(&base, &files)?;
    let work = RecordedWork { case: case.to_string(), seed, folder: files, work: ChildWork::Activity };
    let mut trace = recordings.run(&folder, &work)?.trace("", base)?;
    // Bourse's mark was synced.
    let begin = trace.operations.iter().position(|operation| !operation.is_sync());
    trace.operations.drain(..begin.unwrap_or_default());
    if !trace.operations.iter().any(|operation| matches!(operation, FileOperation::Write { .. })) {
        return Err(AcidError::NotIntercepted("it does not write by the C library's calls".to_owned()));
    }
    if case.activity != Activity::Work {
        class.class = bourse_record::Durability::Durable;
        class.reason = "a load is synced, renamed over the old database, and the folder synced".to_owned();
    }
    let promise = case.promise(class.promise);
    Ok(RecordedCase { trace, class, promise })
}

/// Records how the engine recovers states, each as a trace with its number of acknowledged commits from the start; `None` for one
/// that cannot be recovered.
pub(super) fn record_recoveries(
    recordings: &Recordings<'_>,
    case: &StateCase,
    seed: u64,
    states: &[(Directory, u64)],
) -> Result<Vec<Option<Trace>>, AcidError> {
    let folder = directory(case)?;
    let files = below(&folder, "files")?;
    for (number, (state, _)) in (1..).zip(states) {
        write(state, &files.join(number.to_string()))?;
    }
    let work = ChildWork::Recoveries(states.len() as u64);
    let work = RecordedWork { case: case.to_string(), seed, folder: files, work };
    let recording = recordings.run(&folder, &work)?;
    let one = |(number, (state, acknowledged)): (u64, &(Directory, u64))| {
        let mut trace = recording.trace(&format!("{number}/"), state.clone())?;
        let is_recovered = trace.operations.contains(&FileOperation::Acknowledged(number));
        trace.operations.retain(|operation| !matches!(operation, FileOperation::Acknowledged(_)));
        trace.operations.insert(0, FileOperation::Acknowledged(*acknowledged));
        Ok(is_recovered.then_some(trace))
    };
    (1..).zip(states).map(one).collect()
}
