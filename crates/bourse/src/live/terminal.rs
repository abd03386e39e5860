//! The terminal that shows the full-screen view. It is restored on every way out: at the end, on `q`, on a panic, when the
//! process exits immediately, and when the terminal is gone, which cannot be reported anywhere.

use super::follow::Follower;
use super::screen::draw;
use crate::failure::{Failure, Result};
use crate::progress;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::io::{self, IsTerminal as _};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Whether the view has taken the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Restores the terminal, if the view has taken it.
pub(crate) fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs no restoring.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Refuses a view without a terminal.
pub(crate) fn check() -> Result<()> {
    if io::stderr().is_terminal() && io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage("--live needs a terminal: stdin or stderr is none")
        .hint("`bourse watch` follows the run from another terminal, or with --page in a browser; off a terminal it prints a line a second")
        .hint("--metrics ADDR serves the figures of each second; --progress TIME tells of what goes on"))
}

/// Reason why the view was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExitReason {
    /// The key `q`.
    Asked,
    /// Ctrl-C.
    Interrupted,
    /// End of the run, or of the process that reported it.
    Ended,
    /// The terminal is gone.
    Gone,
}

/// The terminal, taken by the view.
struct Screen {
    /// Never dropped: its destructor would write to stderr, and panic if that is gone.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<io::Stderr>>>,
}

impl Screen {
    fn take() -> io::Result<Self> {
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(io::stderr()))?);
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let this = Self { terminal };
        execute!(io::stderr(), EnterAlternateScreen, Hide)?;
        Ok(this)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// A key that was typed.
enum TypedKey {
    Quit,
    Interrupt,
    /// Another key, or none in time.
    None,
    /// No key can be typed any more.
    Gone,
}

/// Waits for a key.
fn key(time: Duration) -> TypedKey {
    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    match rustix::event::poll(&mut polled, Some(&timeout)) {
        Ok(0) | Err(Errno::INTR | Errno::AGAIN) => return TypedKey::None,
        Ok(_) => {}
        Err(_) => return TypedKey::Gone,
    }
    let mut typed = [0; 64];
    match rustix::io::read(&stdin, &mut typed) {
        Ok(0) => TypedKey::Gone,
        Err(Errno::INTR | Errno::AGAIN) => TypedKey::None,
        Err(_) => TypedKey::Gone,
        Ok(count) => match typed.iter().take(count).find(|byte| matches!(byte, b'q' | b'Q' | 3)) {
            Some(3) => TypedKey::Interrupt,
            Some(_) => TypedKey::Quit,
            None => TypedKey::None,
        },
    }
}

/// Interval between looks at keys and the file.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Shows a run until it ends, or the view is left.
fn show(follower: &mut Follower, keys: &str, over: &AtomicBool) -> io::Result<ExitReason> {
    let mut screen = Screen::take()?;
    let mut drawn: Option<Instant> = None;
    let mut size = None;
    loop {
        let is_new = follower.poll()?;
        let now_size = screen.terminal.size().ok();
        let is_due = drawn.is_none_or(|at| at.elapsed() >= Duration::from_secs(1));
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(ExitReason::Gone);
        }
        if is_new || is_due || now_size != size {
            let run = follower.view();
            screen.terminal.draw(|frame| draw(frame, &run, keys))?;
            (drawn, size) = (Some(Instant::now()), now_size);
        }
        if over.load(Ordering::Relaxed) || follower.state.outcome.is_some() || !(is_new || follower.is_written()) {
            return Ok(ExitReason::Ended);
        }
        match key(POLL_INTERVAL) {
            TypedKey::Quit => return Ok(ExitReason::Asked),
            TypedKey::Interrupt => return Ok(ExitReason::Interrupted),
            TypedKey::Gone => return Ok(ExitReason::Gone),
            TypedKey::None => {}
        }
    }
}

/// Shows a run, if there is a terminal; returns whether the view was left before the run ended.
pub(crate) fn watched(follower: &mut Follower, interrupted: &AtomicBool) -> Option<io::Result<bool>> {
    let has_terminal = io::stdout().is_terminal() && io::stderr().is_terminal() && io::stdin().is_terminal();
    has_terminal.then(|| Ok(show(follower, "q leaves this view, the run goes on", interrupted)? != ExitReason::Ended))
}

/// The view of a run of this process, in a thread of its own.
pub(crate) struct RunView {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RunView {
    /// Shows the run of that folder.
    pub(crate) fn of_run(folder: &Path) -> Result<Self> {
        let failed =
            |error: io::Error| Failure::usage("cannot show the run with --live").detail("cause", error.to_string());
        let mut follower = Follower::open(folder).map_err(failed)?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        // Messages meanwhile are printed when the terminal is back.
        progress::hold();
        let work = move || {
            // However the view ends, the run continues and reports as it does without a view.
            let _held = HeldMessages;
            let left = show(&mut follower, "q leaves this view, the run goes on · Ctrl-C interrupts the run", &is_over);
            if matches!(left, Ok(ExitReason::Interrupted)) {
                // Raw mode swallows Ctrl-C, so its signal is sent here.
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
            }
        };
        let thread = std::thread::Builder::new().name("live view".to_owned()).spawn(work).map_err(|error| {
            progress::release();
            failed(error)
        })?;
        Ok(Self { over, thread: Some(thread) })
    }
}

impl Drop for RunView {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic has been reported.
            let _ = thread.join();
        }
    }
}

/// Holds messages back for as long as it exists.
struct HeldMessages;

impl Drop for HeldMessages {
    fn drop(&mut self) {
        restore();
        progress::release();
    }
}
