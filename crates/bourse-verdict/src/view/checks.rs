//! Results of the checks of a case.

use super::CaseView;
use crate::Tone;
use crate::units;
use bourse_record::CheckStatus;
use std::collections::BTreeSet;

/// Number of checks that are named on the line of all.
const NAMED: usize = 2;

/// Names of the checks that were not run in a round.
fn not_run(view: &CaseView<'_>) -> String {
    let skipped = view.checks().filter(|(_, check)| check.status == CheckStatus::NotApplicable);
    let names: BTreeSet<String> = skipped.map(|(_, check)| units::printable(&check.name)).collect();
    let mut named: Vec<String> = names.iter().take(NAMED).cloned().collect();
    if names.len() > NAMED {
        named.push(format!("{} more", names.len() - NAMED));
    }
    named.join(", ")
}

/// Numbers of checks by their status, with their tone.
pub fn checks_words(view: &CaseView<'_>) -> (Tone, String) {
    let [passed, failed, skipped] =
        [CheckStatus::Passed, CheckStatus::Failed, CheckStatus::NotApplicable].map(|status| view.checks_that(status));
    let mut said = vec![format!("{} passed", units::count(passed))];
    if failed > 0 {
        said.push(format!("{} FAILED", units::count(failed)));
    }
    if skipped > 0 {
        said.push(format!("{} not run ({})", units::count(skipped), not_run(view)));
    }
    let tone = match (failed, passed) {
        (1.., _) => Tone::Bad,
        (0, 1..) => Tone::Good,
        (0, 0) => Tone::Doubtful,
    };
    (tone, said.join(", "))
}
