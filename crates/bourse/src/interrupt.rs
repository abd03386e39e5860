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

/// Two Ctrl-C further apart are two interruptions: no process sends another one SIGINT but `timeout`, twice at once.
const ONE_KEY: Duration = Duration::from_millis(30);

/// Whether the command looks for interruptions, and ends cleanly after the first.
static IS_HEEDED: AtomicBool = AtomicBool::new(false);

/// A flag that is set by the first interruption; a second one ends the program immediately.
///
/// There is one for the whole program: work of several parts is interrupted as a whole.
pub(crate) fn flag() -> Result<Arc<AtomicBool>> {
    IS_HEEDED.store(true, Ordering::SeqCst);
    handle_signals()
}

/// Handles signals from now on: until a command asks for the [`flag`], the first one ends the program.
pub(crate) fn handle_signals() -> Result<Arc<AtomicBool>> {
    static FLAG: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
    let mut known = FLAG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(flag) = known.as_ref() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    Signals::new(handled())
        .and_then(|signals| {
            std::thread::Builder::new().name("signals".to_owned()).spawn(move || await_all(signals, &seen))
        })
        .map_err(|error| Failure::usage(format!("cannot handle signals: {error}")))?;
    *known = Some(Arc::clone(&flag));
    Ok(flag)
}

/// Signals that ask for an end: without SIGHUP where the program was started with that ignored, as `nohup` does for what is to
/// outlive its terminal.
pub(crate) fn handled() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let ignores_hangups = ignored.is_some_and(|ignored| ignored & 1 << (SIGHUP - 1) != 0);
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| *signal != SIGHUP || !ignores_hangups).collect()
}

/// Waits for signals: the first sets the flag, one of a second interruption ends the program.
fn await_all(mut signals: Signals, seen: &AtomicBool) {
    let mut first = None;
    for signal in signals.forever() {
        let (since, of) = *first.get_or_insert_with(|| (Instant::now(), signal));
        let limit = if (of, signal) == (SIGINT, SIGINT) { ONE_KEY } else { ONE_INTERRUPTION };
        server_wait::interrupt();
        if !IS_HEEDED.load(Ordering::SeqCst) {
            finding("interrupted: the next command on the same database removes what this one left");
            std::process::exit(Exit::Interrupted as i32);
        }
        if !seen.swap(true, Ordering::SeqCst) {
            finding("interrupted: finishing what was begun; Ctrl-C again ends immediately");
        } else if since.elapsed() > limit {
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
pub(crate) fn interrupted_unmeasured() -> Failure {
    interrupted("nothing was measured")
}

/// Failure of interrupted work, with what is left of it.
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
