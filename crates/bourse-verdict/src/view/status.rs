//! Outcomes of operations, as text; the meaning of a status code is declared by the workload and stored in the run file.

use bourse_record::{Outcome, OutcomeCount};

/// Explanation of an outcome.
const fn explained(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "ended as expected",
        Outcome::Warned => "valid, with a warning of its own",
        Outcome::RolledBack => "valid, and rolled back because it was meant to be",
        Outcome::TooFewRows => "found too few rows because the database is small; not a failure",
        Outcome::Failed => "went wrong",
        Outcome::Dropped => "never started, because the backlog was full",
    }
}

/// Meaning of an outcome with a status code, in a line.
pub fn meaning(count: &OutcomeCount) -> String {
    match &count.meaning {
        Some(words) if count.outcome == Outcome::TooFewRows => {
            format!("{words}: the database is smaller than the specification's")
        }
        Some(words) => words.clone(),
        None => explained(count.outcome).to_owned(),
    }
}
