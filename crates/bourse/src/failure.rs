//! Failures that end the program: an exit code, and a message for the user.

use bourse_engine::ErrorKind;
use bourse_record::DocumentError;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Exit code of the program (see `docs/runs.md`, "Exit codes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    /// Usage or configuration.
    Usage = 1,
    /// The target failed, was lost, or is in use by another command.
    Target = 2,
    /// A consistency check failed.
    Check = 3,
    /// A difference beyond the requested tolerance.
    Regression = 4,
    /// Not in steady state, although required.
    NotSteady = 5,
    /// A gate without a decision.
    Inconclusive = 6,
    /// Interrupted; the results until then are written.
    Interrupted = 130,
}

impl Exit {
    /// Every exit code with its meaning. Help texts of commands have those that they end with.
    pub(crate) const MEANINGS: [(u8, &str); 8] = [
        (0, "success"),
        (Self::Usage as u8, "usage or configuration"),
        (Self::Target as u8, "the target failed, was lost or is in use, or operations failed"),
        (Self::Check as u8, "a check failed"),
        (Self::Regression as u8, "slower beyond `--fail-above`"),
        (Self::NotSteady as u8, "not steady with `--require-steady`"),
        (Self::Inconclusive as u8, "undecided: `--fail-above`, or rounds too short for a limit of `--find-max`"),
        (Self::Interrupted as u8, "interrupted; what was measured is still written"),
    ];

    /// Code of an engine's error: a refusal, and what an engine cannot do, are the user's to change.
    pub(crate) const fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Refused | ErrorKind::Unsupported => Self::Usage,
            _ => Self::Target,
        }
    }

    /// Code of several failures: that of usage if each has it.
    pub(crate) fn of_all(mut exits: impl Iterator<Item = Self>) -> Self {
        if exits.all(|exit| exit == Self::Usage) { Self::Usage } else { Self::Target }
    }
}

/// Result of work that can end the program. Its name shadows the standard library's, which it also is if an error type is given:
/// `Result<T, E>`.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error for the user: what failed, on what, the cause in the engine's words, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    message: String,
    details: Vec<(String, String)>,
    hints: Vec<String>,
}

impl Failure {
    /// An error of that kind; `message` in lower case, without full stop.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), details: Vec::new(), hints: Vec::new() }
    }

    /// An error in the arguments or the configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// An error if nothing could be tried: each target with the reason, once.
    pub(crate) fn all_unavailable<'a>(untried: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut failure = Self::usage("nothing could be tried: the result says nothing about any target");
        for (target, why) in untried {
            if !failure.details.iter().any(|(known, _)| known == target) {
                failure = failure.detail(target, why);
            }
        }
        failure
    }

    /// Adds a named detail on a line of its own.
    pub(crate) fn detail(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.details.push((name.into(), value.into()));
        self
    }

    /// Adds what to try.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The error without hints, in one line.
    pub(crate) fn line(&self) -> String {
        let details = self.details.iter().map(|(name, value)| format!("; {name}: {}", value.replace('\n', " ")));
        format!("{}{}", self.message, details.collect::<String>())
    }

    /// The whole error as printed: typed text may be repeated in it, but without control sequences for the terminal.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("error: {}\n", lines(&self.message, ""));
        for (name, value) in &self.details {
            writeln!(text, "  {name}: {}", lines(value, "    ")).expect("a String takes all");
        }
        for hint in &self.hints {
            writeln!(text, "hint: {}", lines(hint, "")).expect("a String takes all");
        }
        text
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Self::usage(error.to_string()).hint(error.hint())
    }
}

/// Text in printable form; its lines after the first are indented by `indent`.
pub(crate) fn lines(text: &str, indent: &str) -> String {
    text.split('\n').map(bourse_verdict::units::printable).collect::<Vec<_>>().join(&format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_shown_and_not_obeyed() {
        let failure = Failure::usage("no option `\u{1b}[2Jx`").detail("cause", "one\ntwo\u{7}").hint("a\u{202e}b");
        let expected = "error: no option `\\u{1b}[2Jx`\n  cause: one\n    two\\u{7}\nhint: a\\u{202e}b\n";
        assert_eq!(failure.render(), expected);
    }
}
