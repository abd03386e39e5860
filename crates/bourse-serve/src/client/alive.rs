//! A driver's connection while the driver has nothing to say: other targets may have their turn, or the machine be waited
//! for. A server closes a driver that is silent for too long outside a round, so that nobody can fill its places by doing
//! nothing; this says at times that the driver is still there.

use crate::protocol::Control;
use crate::protocol::codec::REQUEST_BYTES;
use crate::wire::Wire;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The least and the longest time between two such messages, whatever a server says it waits for.
const BETWEEN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(20));

/// The connection of a driver.
#[derive(Debug)]
pub(super) struct Line {
    wire: Mutex<Wire>,
    /// Outside a round. In one the driver asks for sizes, and a driver that does not is to be missed.
    rests: AtomicBool,
}

/// The connection, and the thread that speaks when nobody else does; ended when dropped.
#[derive(Debug)]
pub(super) struct Kept {
    line: Arc<Line>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Kept {
    /// Keeps a connection whose server waits for `idle` outside rounds.
    ///
    /// # Errors
    /// The system's, if it gives no thread.
    pub(super) fn new(wire: Wire, idle: Duration) -> io::Result<Self> {
        let line = Arc::new(Line { wire: Mutex::new(wire), rests: AtomicBool::new(true) });
        let every = (idle / 3).clamp(BETWEEN.0, BETWEEN.1);
        let (stop, stopped) = bounded::<()>(0);
        let kept = Arc::clone(&line);
        let speak = move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                if !kept.rests.load(Ordering::Relaxed) {
                    continue;
                }
                // Who has the connection now is saying something.
                let Ok(mut wire) = kept.wire.try_lock() else { continue };
                if wire.send(&Control::Alive, REQUEST_BYTES).is_err() {
                    // The server is gone; who asks next is told.
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("alive".to_owned()).spawn(speak)?;
        Ok(Self { line, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn wire(&self) -> MutexGuard<'_, Wire> {
        self.line.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, unless somebody waits for an answer on it.
    pub(super) fn idle_wire(&self) -> Option<MutexGuard<'_, Wire>> {
        match self.line.wire.try_lock() {
            Ok(wire) => Some(wire),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether the driver is outside a round from now on.
    pub(super) fn rests(&self, rests: bool) {
        self.line.rests.store(rests, Ordering::Relaxed);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic; were it to, the driver would go on all the same.
            let _ = thread.join();
        }
    }
}
