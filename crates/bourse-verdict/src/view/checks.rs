//! Results of the checks of a case.

use super::CaseView;
use crate::Tone;
use crate::units;
use bourse_record::CheckStatus;

/// Numbers of checks by their status, with their tone.
pub fn checks_words(view: &CaseView<'_>) -> (Tone, String) {
    let [passed, failed, skipped] =
        [CheckStatus::Passed, CheckStatus::Failed, CheckStatus::NotApplicable].map(|status| view.checks_that(status));
    let mut said = vec![format!("{} passed", units::count(passed))];
    if failed > 0 {
        said.push(format!("{} FAILED", units::count(failed)));
    }
    if skipped > 0 {
        said.push(format!("{} not run", units::count(skipped)));
    }
    let tone = match (failed, passed) {
        (1.., _) => Tone::Bad,
        (0, 1..) => Tone::Good,
        (0, 0) => Tone::Doubtful,
    };
    (tone, said.join(", "))
}
