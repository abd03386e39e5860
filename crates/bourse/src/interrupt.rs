//! Ctrl-C and SIGTERM: the first requests a clean end, the second ends the program immediately.

use crate::failure::{Exit, Failure, Result};
use crate::live;
use crate::progress::finding;
use bourse_engine::server_wait;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals so close together are one interruption: Ctrl-C reaches a round's process from the terminal and from its parent,
/// and `timeout` signals a program and then its whole group.
const ONE_INTERRUPTION: Duration = Duration::from_millis(250);

/// A flag that is set by the first interruption; a second one ends the program immediately.
///
/// There is one for the whole program: work of several parts is interrupted as a whole.
pub(crate) fn flag() -> Result<Arc<AtomicBool>> {
    static FLAG: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
    let mut known = FLAG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(flag) = known.as_ref() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    Signals::new([SIGINT, SIGTERM, SIGHUP])
        .and_then(|signals| {
            std::thread::Builder::new().name("signals".to_owned()).spawn(move || await_all(signals, &seen))
        })
        .map_err(|error| Failure::usage(format!("cannot handle signals: {error}")))?;
    *known = Some(Arc::clone(&flag));
    Ok(flag)
}

/// Waits for signals: the first sets the flag, one of a second interruption ends the program.
fn await_all(mut signals: Signals, seen: &AtomicBool) {
    let mut first = None;
    for _ in signals.forever() {
        let first = *first.get_or_insert_with(Instant::now);
        server_wait::interrupt();
        if !seen.swap(true, Ordering::SeqCst) {
            finding("interrupted: finishing what was begun; Ctrl-C again ends immediately");
        } else if first.elapsed() > ONE_INTERRUPTION {
            live::restore();
            live::abandon();
            finding(
                "ended immediately: changes stay in the database, and the next command on it removes copies that are left",
            );
            std::process::exit(Exit::Interrupted as i32);
        }
    }
}

/// Does work that calls engines. If a call goes on for too long after an interruption, the process ends once it has saved
/// the results: a thread in such a call cannot be ended.
pub(crate) fn with_forced_end<T: Send>(work: impl FnOnce() -> T + Send, save: impl FnOnce()) -> Result<T> {
    /// Longest time after an interruption.
    const LIMIT: Duration = Duration::from_secs(3);
    let interrupted = flag()?;
    Ok(std::thread::scope(|scope| {
        let working = scope.spawn(work);
        let mut since = None;
        while !working.is_finished() {
            if interrupted.load(Ordering::Relaxed) && since.get_or_insert_with(Instant::now).elapsed() > LIMIT {
                save();
                finding("interrupted: ended in a call of an engine that has not returned");
                std::process::exit(Exit::Interrupted as i32);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }))
}

/// Failure of work that was interrupted before there was anything to report.
pub(crate) fn interrupted(what: &str) -> Failure {
    Failure::new(Exit::Interrupted, format!("interrupted: {what}"))
}

/// Makes this process end when its parent does: the parent may be killed, and no process of Bourse may outlive it.
pub(crate) fn end_with_parent() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
        .map_err(|error| Failure::usage(format!("cannot ask the system for a signal at the parent's end: {error}")))?;
    Ok(())
}

/// Makes this process be killed when its parent ends: no process would read its results.
pub(crate) fn die_with_parent() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|error| Failure::usage(format!("cannot ask the system for a signal at the parent's end: {error}")))?;
    Ok(())
}

/// Whether a process of that id runs.
pub(crate) fn is_alive(id: i32) -> bool {
    let Some(id) = rustix::process::Pid::from_raw(id) else { return false };
    !matches!(rustix::process::test_kill_process(id), Err(rustix::io::Errno::SRCH))
}
