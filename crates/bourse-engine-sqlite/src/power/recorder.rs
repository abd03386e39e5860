//! Traces recorded while SQLite works.

use crate::syscalls::{Call, Decision, DeclaredDevice, Observation, Observer, observe_process, observe_thread};
use bourse_crash::{Device, Directory, FileId, FileImage, Operation, Trace};
use bourse_engine::{EngineError, ErrorKind};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Threads whose calls are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The thread that records.
    Thread,
    /// All threads without a recording of their own.
    Process,
}

/// Name of a database in a trace of it alone.
pub const DATABASE: &str = "db";
/// Suffixes of the names of its log and its journal.
const ENDINGS: [&str; 2] = ["-wal", "-journal"];

/// A recording of the operations on the files of a directory.
#[derive(Debug)]
pub struct Recording {
    recorder: Arc<Recorder>,
    observation: Observation,
}

impl Recording {
    /// Begins a recording of a directory, whose present files are the start of the trace. Connections must be opened
    /// after this and closed before its end, and databases must not be mapped into memory.
    ///
    /// # Errors
    /// If the directory cannot be read, or the library's system calls cannot be observed.
    pub fn begin(directory: &Path, device: Device, scope: Scope) -> Result<Self, EngineError> {
        let trouble = |error: io::Error| {
            EngineError::new(ErrorKind::Other, format!("cannot record in {}: {error}", directory.display()))
        };
        // SQLite opens files by their full names.
        let directory = directory.canonicalize().map_err(trouble)?;
        let base = read_directory(&directory).map_err(trouble)?;
        Self::observe(directory, None, base, device, scope)
    }

    /// Begins a recording of a database file with its log and its journal; other files of the directory are ignored. In
    /// the trace they are named [`DATABASE`], and that with SQLite's suffixes. The trace starts with the log and the
    /// journal as they are, and with a database of the present size, all zeros: [`Trace::blocks_changed`] returns which
    /// of its bytes matter. Otherwise like [`Recording::begin`].
    ///
    /// # Errors
    /// Those of [`Recording::begin`].
    pub fn of_database(path: &Path, device: Device, scope: Scope) -> Result<Self, EngineError> {
        let trouble =
            |error: io::Error| EngineError::new(ErrorKind::Other, format!("cannot record {}: {error}", path.display()));
        let path = path.canonicalize().map_err(trouble)?;
        let (Some(directory), Some(database)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Err(trouble(io::Error::other("its name is no text")));
        };
        let mut main = FileImage::default();
        main.set_size(fs::metadata(&path).map_err(trouble)?.len());
        let mut base = Directory { files: [(DATABASE.to_owned(), main)].into() };
        for ending in ENDINGS {
            match fs::read(directory.join(format!("{database}{ending}"))) {
                Ok(bytes) => drop(base.files.insert(format!("{DATABASE}{ending}"), FileImage::from(&bytes[..]))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(trouble(error)),
            }
        }
        Self::observe(directory.to_owned(), Some(database.to_owned()), base, device, scope)
    }

    fn observe(
        directory: PathBuf,
        database: Option<String>,
        base: Directory,
        device: Device,
        scope: Scope,
    ) -> Result<Self, EngineError> {
        let names: BTreeMap<String, FileId> = base.files.keys().cloned().zip(0..).collect();
        let state = State { next: names.len() as FileId, names, operations: Vec::new(), bytes: 0 };
        let recorder = Arc::new(Recorder { directory, database, base, device, state: Mutex::new(state) });
        let observer = Arc::clone(&recorder) as Arc<dyn Observer>;
        let observation = match scope {
            Scope::Thread => observe_thread(observer)?,
            Scope::Process => observe_process(observer)?,
        };
        Ok(Self { recorder, observation })
    }

    /// Function that records acknowledgements; usable by other threads.
    pub fn acknowledge(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let recorder = Arc::clone(&self.recorder);
        move |number| recorder.state().operations.push(Operation::Acknowledged(number))
    }

    /// Function that returns the number of bytes written so far; usable by other threads.
    pub fn bytes_written(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let recorder = Arc::clone(&self.recorder);
        move || recorder.state().bytes
    }

    /// Ends the recording.
    pub fn finish(self) -> Trace {
        drop(self.observation);
        let operations = std::mem::take(&mut self.recorder.state().operations);
        Trace { base: self.recorder.base.clone(), operations }
    }
}

/// Plain files of a directory. The index of a log is omitted: the first connection after a crash creates it anew.
fn read_directory(path: &Path) -> io::Result<Directory> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && !name.ends_with("-shm") {
            files.insert(name, FileImage::from(&fs::read(entry.path())?[..]));
        }
    }
    Ok(Directory { files })
}

#[derive(Debug)]
struct Recorder {
    directory: PathBuf,
    /// File name of the one database that is recorded; `None` if all files are.
    database: Option<String>,
    base: Directory,
    device: Device,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    names: BTreeMap<String, FileId>,
    next: FileId,
    operations: Vec<Operation>,
    /// Bytes written so far.
    bytes: u64,
}

impl State {
    fn create(&mut self, name: String) -> FileId {
        let file = self.next;
        self.next += 1;
        self.names.insert(name.clone(), file);
        self.operations.push(Operation::Create { name, file });
        file
    }
}

impl Recorder {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a file in the trace; `None` for files that are not recorded, and for the index of a log.
    fn name(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(&self.directory).ok()?.to_str()?;
        if let Some(database) = &self.database {
            let ending = name.strip_prefix(database.as_str())?;
            return (ending.is_empty() || ENDINGS.contains(&ending)).then(|| format!("{DATABASE}{ending}"));
        }
        (!name.contains('/') && !name.ends_with("-shm")).then(|| name.to_owned())
    }
}

impl Observer for Recorder {
    fn before(&self, call: &Call<'_>) -> Decision {
        // The sync of a new journal contains that of the directory, which is seen in between and comes after the file's.
        if let (Call::Sync { path }, Some(name)) = (call, self.name(call.path())) {
            let mut state = self.state();
            if let Some(file) = state.names.get(&name).copied() {
                state.operations.push(Operation::Sync { file });
            }
            let _ = path;
        }
        Decision::Proceed
    }

    fn after(&self, call: &Call<'_>) {
        let Some(name) = self.name(call.path()) else { return };
        let mut state = self.state();
        let file = state.names.get(&name).copied();
        match (call, file) {
            (Call::Open { creates: true, .. }, None) => {
                state.create(name);
            }
            (Call::Write { offset, bytes, .. }, Some(file)) => {
                state.bytes += bytes.len() as u64;
                state.operations.push(Operation::Write { file, offset: *offset, bytes: bytes.to_vec() });
            }
            (Call::Truncate { size, .. }, Some(file)) => {
                state.operations.push(Operation::Truncate { file, size: *size });
            }
            (Call::SyncDirectory { .. }, _) => state.operations.push(Operation::SyncDirectory),
            (Call::Unlink { .. }, Some(_)) => {
                state.names.remove(&name);
                state.operations.push(Operation::Unlink { name });
            }
            (Call::Rename { to, .. }, Some(file)) => {
                state.names.remove(&name);
                if let Some(to) = self.name(to) {
                    state.names.insert(to.clone(), file);
                    state.operations.push(Operation::Rename { from: name, to, file });
                }
            }
            _ => {}
        }
    }

    fn device(&self) -> Option<DeclaredDevice> {
        Some(DeclaredDevice {
            sector_bytes: self.device.sector_bytes,
            powersafe_overwrite: self.device.powersafe_overwrite,
        })
    }
}
