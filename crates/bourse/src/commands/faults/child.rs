//! Child processes of this program that report events, a line of JSON each, and are waited for with a limit.

use bourse_acid::AcidError;
use bourse_acid::faults::judge::{ProcessEnd, ProcessReport};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// End of a process.
pub(super) fn ended(status: ExitStatus) -> ProcessEnd {
    // One of the two is set: a process that is only stopped has not ended.
    status.signal().map_or_else(|| ProcessEnd::Code(status.code().unwrap_or(-1)), ProcessEnd::Signal)
}

/// Runs this program with these arguments and settings; killed after `patience`.
pub(super) fn run(
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
    patience: Duration,
) -> Result<ProcessReport, AcidError> {
    let process_error =
        |error: std::io::Error| AcidError::Machinery(format!("a process of this program is lost: {error}"));
    let mut child = Command::new(std::env::current_exe().map_err(process_error)?)
        .arg("fault-work")
        .args(arguments)
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(process_error)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Events reported before the end count, however the process ends.
    let reader = std::thread::spawn(move || {
        let lines = stdout.map(|stdout| BufReader::new(stdout).lines().map_while(Result::ok)).into_iter().flatten();
        // A line cut off by the end is not an event.
        lines.filter_map(|line| serde_json::from_str(&line).ok()).collect::<Vec<_>>()
    });
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        // Unreadable output is not shown.
        let _ = stderr.map(|mut stderr| stderr.read_to_string(&mut text));
        text
    });
    let until = Instant::now() + patience;
    let status = loop {
        match child.try_wait().map_err(process_error)? {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    if status.is_none() {
        child.kill().map_err(process_error)?;
        child.wait().map_err(process_error)?;
    }
    let ended = status.map_or(ProcessEnd::Hung, ended);
    let panicked = || AcidError::Machinery("what a process tells could not be read".to_owned());
    let events = reader.join().map_err(|_| panicked())?;
    let said = complaints.join().map_err(|_| panicked())?;
    if ended == ProcessEnd::Code(1) {
        // Exit code 1 is about Bourse's own arguments.
        return Err(AcidError::Machinery(error_of(&said)));
    }
    Ok(ProcessReport { events, ended })
}

/// The error in a program's stderr, in one line without hints; or else all of it.
fn error_of(said: &str) -> String {
    let Some((_, error)) = said.split_once("error: ") else { return said.trim().to_owned() };
    let lines = error.lines().filter(|line| !line.starts_with("hint: ")).map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
