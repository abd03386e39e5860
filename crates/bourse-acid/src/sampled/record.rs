//! Recording of the load, in a process of its own.

use super::DEVICE;
use super::stored::{Base, LoadTrace};
use crate::acknowledged::{Acknowledgement, Listener};
use crate::crash::load_and_tell;
use crate::test_bed::AcidError;
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_engine_sqlite::power::{Recording, Scope};
use bourse_tpce::check::reconciliation::Snapshot;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limits of a recording, whichever comes first: acknowledged trades, bytes written, or time.
const ENOUGH_TRADES: usize = 100;
const MOST_BYTES: u64 = 16 << 20;
const LONGEST: Duration = Duration::from_secs(20);

/// Recording of a load on a copy of a database. It observes the files of all threads, so a process can have only one.
#[derive(Debug)]
pub struct LoadRecording {
    recording: Recording,
    base: Base,
    target: String,
    seed: u64,
}

impl LoadRecording {
    /// Begins a recording of a SQLite file that no process has open. `target` is the database that the file is a copy of.
    ///
    /// # Errors
    /// If the file cannot be read, or SQLite's system calls cannot be observed.
    pub fn begin(copy: &Path, target: &str, seed: u64) -> Result<Self, AcidError> {
        let base = Base::of(copy)?;
        let recording = Recording::of_database(copy, DEVICE, Scope::Process)?;
        Ok(Self { recording, base, target: target.to_owned(), seed })
    }

    /// Runs the load on the copy, which the engine has open since the beginning, and closes it.
    ///
    /// # Errors
    /// If the load could not begin.
    pub fn run(self, engine: Box<dyn Engine>, inputs: &Inputs, part: Part) -> Result<LoadTrace, AcidError> {
        let last_trade = Snapshot::take(&mut *engine.session()?)?.last_trade;
        let log: Arc<Mutex<Vec<Acknowledgement>>> = Arc::default();
        let stop: Arc<AtomicBool> = Arc::default();
        let listener = {
            let (log, stop, acknowledge) = (Arc::clone(&log), Arc::clone(&stop), self.recording.acknowledge());
            let listener: Listener = Arc::new(move |it| {
                // One lock for both, so that the numbers in the trace follow the log.
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(it);
                acknowledge(log.len() as u64);
                if log.len() >= ENOUGH_TRADES {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            listener
        };
        let (bytes, began) = (self.recording.bytes_written(), Instant::now());
        let is_done = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    if bytes() >= MOST_BYTES || began.elapsed() >= LONGEST {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let ended = load_and_tell(engine.as_ref(), inputs, part, self.seed, &stop, listener);
            is_done.store(true, Ordering::Relaxed);
            ended
        });
        ended.map_err(|error| AcidError::Machinery(format!("the load could not begin: {error}")))?;
        let is_full = bytes() >= MOST_BYTES;
        // The last connection moves a log into the database when it is closed, which is recorded too.
        drop(engine);
        let trace = self.recording.finish();
        let acknowledged = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = match (acknowledged.len() >= ENOUGH_TRADES, is_full) {
            (true, _) => format!("{ENOUGH_TRADES} trades were acknowledged"),
            (false, true) => format!("{} MiB were written", MOST_BYTES >> 20),
            (false, false) => format!("{} s had passed", LONGEST.as_secs()),
        };
        Ok(LoadTrace::new(self.target, self.seed, self.base, last_trade, acknowledged, ended, trace))
    }
}
