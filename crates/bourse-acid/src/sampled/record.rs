//! Recording of the load, in a process of its own into which the library is preloaded.

use super::stored::{Base, DATABASE, LoadTrace, files_beside, name_in_trace};
use crate::AcidWorkload;
use crate::acknowledged::{Acknowledgement, AcknowledgementListener};
use crate::test_bed::AcidError;
use bourse_crash::preload::FileRecorder;
use bourse_crash::{Directory, FileImage};
use bourse_engine::Engine;
use bourse_schema::TradeId;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

/// Limits of a recording, whichever comes first: acknowledged trades, bytes written, or time.
const ENOUGH_TRADES: usize = 100;
const MOST_BYTES: u64 = 16 << 20;
const MAX_RECORDING_TIME: Duration = Duration::from_secs(20);

/// Recording of a load on a copy of a database, in a folder of its own. It has the operations of all threads of this process.
#[derive(Debug)]
pub struct LoadRecording {
    recorder: Arc<FileRecorder>,
    /// File name of the copy.
    file: String,
    /// Files at the start; the database is all zeros, since its states depend on few of its bytes.
    files: Directory,
    base: Base,
    target: String,
    seed: u64,
}

fn recording_error(error: io::Error) -> AcidError {
    AcidError::Machinery(format!("file operations cannot be recorded: {error}"))
}

impl LoadRecording {
    /// Prepares the recording of a database file that no process has open. `target` is the database that the file is a copy
    /// of.
    ///
    /// # Errors
    /// If the file cannot be read, or this process is not recorded.
    pub fn begin(copy: &Path, target: &str, seed: u64) -> Result<Self, AcidError> {
        let recorder = Arc::new(FileRecorder::of_this_process().map_err(recording_error)?);
        let base = Base::of(copy)?;
        let file = copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut main = FileImage::default();
        main.set_size(base.bytes);
        let mut files = Directory { files: [(DATABASE.to_owned(), main)].into() };
        for (name, path) in files_beside(copy).map_err(recording_error)? {
            files.files.insert(name, FileImage::from(&fs::read(path).map_err(recording_error)?[..]));
        }
        Ok(Self { recorder, file, files, base, target: target.to_owned(), seed })
    }

    /// Runs the load on the copy and closes it.
    ///
    /// # Errors
    /// If the load could not begin, or its operations cannot be read.
    pub fn run(self, engine: Box<dyn Engine>, workload: &dyn AcidWorkload) -> Result<LoadTrace, AcidError> {
        let last_trade = TradeId(workload.last(&mut *engine.session()?)?);
        let log: Arc<Mutex<Vec<Acknowledgement>>> = Arc::default();
        let stop: Arc<AtomicBool> = Arc::default();
        let listener = {
            let (log, stop, recorder) = (Arc::clone(&log), Arc::clone(&stop), Arc::clone(&self.recorder));
            let listener: AcknowledgementListener = Arc::new(move |it| {
                // One lock for both, so that the numbers in the trace follow the log.
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                // One that cannot be recorded was not acknowledged as far as the trace is concerned.
                if recorder.acknowledge(log.len() as u64 + 1).is_ok() {
                    log.push(it);
                }
                if log.len() >= ENOUGH_TRADES {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            listener
        };
        let (is_full, began) = (|| self.recorder.bytes().is_ok_and(|bytes| bytes >= MOST_BYTES), Instant::now());
        let is_done = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    if is_full() || began.elapsed() >= MAX_RECORDING_TIME {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let ended = workload.load(engine.as_ref(), self.seed, &stop, listener);
            is_done.store(true, Ordering::Relaxed);
            ended
        });
        ended.map_err(|error| AcidError::Machinery(format!("the load could not begin: {error}")))?;
        let is_full = is_full();
        // The last connection moves a log into the database when it is closed, which is recorded too.
        drop(engine);
        let trace =
            self.recorder.trace(self.files, &|path| name_in_trace(&self.file, path)).map_err(recording_error)?;
        let acknowledged = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = match (acknowledged.len() >= ENOUGH_TRADES, is_full) {
            (true, _) => format!("{ENOUGH_TRADES} trades were acknowledged"),
            (false, true) => format!("{} MiB were written", MOST_BYTES >> 20),
            (false, false) => format!("{} s had passed", MAX_RECORDING_TIME.as_secs()),
        };
        Ok(LoadTrace::new(self.target, self.seed, self.base, last_trade, acknowledged, ended, trace))
    }
}
