//! A driver's connection while the driver is silent, because other targets are measured or the machine is waited for. A server
//! closes a driver that is silent for too long outside a round, so that idle drivers cannot occupy all its places; a background
//! thread therefore sends signs of life.

use crate::protocol::Control;
use crate::protocol::codec::REQUEST_BYTES;
use crate::wire::Wire;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Shortest and longest time between two signs of life, whatever the server's limit.
const BETWEEN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(20));

/// Connection of a driver.
#[derive(Debug)]
pub(super) struct DriverLine {
    wire: Mutex<Wire>,
    /// Whether the driver is outside a round. In a round it requests sizes, and a driver that does not is meant to be missed.
    rests: AtomicBool,
}

/// Connection with the thread that sends signs of life; the thread ends when this is dropped.
#[derive(Debug)]
pub(super) struct KeepAlive {
    line: Arc<DriverLine>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl KeepAlive {
    /// Starts to send signs of life to a server whose limit outside rounds is `idle`.
    ///
    /// # Errors
    /// The system's, if it cannot start a thread.
    pub(super) fn new(wire: Wire, idle: Duration) -> io::Result<Self> {
        let line = Arc::new(DriverLine { wire: Mutex::new(wire), rests: AtomicBool::new(true) });
        let every = (idle / 3).clamp(BETWEEN.0, BETWEEN.1);
        let (stop, stopped) = bounded::<()>(0);
        let kept = Arc::clone(&line);
        let speak = move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                if !kept.rests.load(Ordering::Relaxed) {
                    continue;
                }
                // A thread that has the connection now is sending something.
                let Ok(mut wire) = kept.wire.try_lock() else { continue };
                if wire.send(&Control::Alive, REQUEST_BYTES).is_err() {
                    // The server is gone; the next request reports it.
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

    /// Locks the connection, unless another thread waits for an answer on it.
    pub(super) fn idle_wire(&self) -> Option<MutexGuard<'_, Wire>> {
        match self.line.wire.try_lock() {
            Ok(wire) => Some(wire),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Sets whether the driver is outside a round.
    pub(super) fn rests(&self, rests: bool) {
        self.line.rests.store(rests, Ordering::Relaxed);
    }
}

impl Drop for KeepAlive {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic; were it to, the driver would go on all the same.
            let _ = thread.join();
        }
    }
}
