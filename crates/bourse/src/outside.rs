//! Other programs that are run to their end: compilers, cargo, git.

use crate::failure::{Failure, Result};
use crate::interrupt;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Lines of a failed program's output that are shown.
const MOST_LINES: usize = 8;

/// Time that a program has to end after an interruption.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Output of a program that is run to its end. An interruption ends it, with the processes that it has started.
///
/// # Errors
/// It cannot be run; an interruption has ended it.
pub(crate) fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error: io::Error| Failure::usage(format!("cannot start {name}")).detail("cause", error.to_string());
    let interrupted = interrupt::flag()?;
    // A group of its own is ended as a whole.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().map_err(failed)?;
    let group = rustix::process::Pid::from_child(&child);
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    let mut since = None;
    loop {
        match end.recv_timeout(Duration::from_millis(20)) {
            Ok(_) if interrupted.load(Ordering::Relaxed) => {
                return Err(interrupt::interrupted(&format!("the result of {name} is not used")));
            }
            Ok(output) => return output.map_err(failed),
            Err(_) if !interrupted.load(Ordering::Relaxed) => {}
            Err(_) => {
                let signal = match since {
                    None => rustix::process::Signal::TERM,
                    Some(begun) if Instant::now() > begun + END_TIMEOUT => rustix::process::Signal::KILL,
                    Some(_) => continue,
                };
                since = since.or(Some(Instant::now()));
                // It may have just ended.
                let _ = rustix::process::kill_process_group(group, signal);
            }
        }
    }
}

/// Output of a program that succeeds; otherwise a failure with the end of what it said.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = run(command)?;
    let [printed, said] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
    if output.status.success() {
        return Ok(printed);
    }
    let all = if said.trim().is_empty() { printed } else { said };
    let lines: Vec<&str> = all.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines.iter().skip(lines.len().saturating_sub(MOST_LINES)).copied().collect::<Vec<_>>().join("\n");
    Err(Failure::usage(format!("{name} failed: {}", output.status)).detail("said", end))
}
