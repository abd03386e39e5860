//! Other programs that are run to their end: compilers, cargo, git.

use crate::failure::{Failure, Result};
use crate::interrupt;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

/// Lines of a failed program's output that are shown.
const MOST_LINES: usize = 8;

/// Output of a program that succeeds; otherwise a failure with the end of what it said.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| Failure::usage(format!("cannot start {name}")).detail("cause", error.to_string()))?;
    if interrupt::flag()?.load(Ordering::Relaxed) {
        return Err(interrupt::interrupted(&format!("the result of {name} is not used")));
    }
    let [printed, said] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
    if output.status.success() {
        return Ok(printed);
    }
    let all = if said.trim().is_empty() { printed } else { said };
    let lines: Vec<&str> = all.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines.iter().skip(lines.len().saturating_sub(MOST_LINES)).copied().collect::<Vec<_>>().join("\n");
    Err(Failure::usage(format!("{name} failed: {}", output.status)).detail("said", end))
}
