//! The verdict on a case in a line (checks, steady or not, bottleneck), and on several cases together.

use super::{CaseView, FigureValidity, Remark, checks_words};
use crate::Tone;
use crate::units;

/// Remarks, checks and bottleneck of a case, worked out once.
pub struct CaseVerdict {
    /// Remarks on the figure.
    pub remarks: Vec<Remark>,
    /// Result of its checks.
    checks: (Tone, String),
    limit: Option<String>,
    /// Whether it has no figure, since a round failed or a check did.
    is_void: bool,
}

impl CaseVerdict {
    /// Verdict on a case.
    pub fn of(view: &CaseView<'_>) -> Self {
        let limit = view.limited_by().map(|limit| limit.verdict());
        let is_void = view.validity() == FigureValidity::Void;
        Self { remarks: view.remarks(), checks: checks_words(view), limit, is_void }
    }

    /// Parts of the verdict, each with its tone.
    pub fn parts(&self) -> Vec<(Tone, String)> {
        let (checks, said) = &self.checks;
        let steady = self.remarks.iter().filter_map(|it| Some((it.tone, it.verdict.clone()?)));
        let limit = self.limit.iter().map(|limit| (Tone::Plain, limit.clone()));
        std::iter::once((*checks, format!("checks: {said}"))).chain(steady).chain(limit).collect()
    }

    /// The verdict, in the tone of its worst part.
    pub fn verdict(&self) -> Remark {
        let all = self.parts();
        let has = |tone| all.iter().any(|(each, _)| *each == tone);
        let tone = [Tone::Bad, Tone::Doubtful].into_iter().find(|tone| has(*tone)).unwrap_or(Tone::Good);
        let words: Vec<&str> = all.iter().map(|(_, words)| words.as_str()).collect();
        Remark::new(tone, words.join(" · "))
    }

    fn is_unsteady(&self) -> bool {
        self.remarks.iter().any(|it| it.verdict.is_some() && it.tone != Tone::Good)
    }
}

/// Verdicts over several cases: checks, and the number of cases that are not steady, or undetermined although steadiness was
/// required.
pub fn verdicts(told: &[CaseVerdict]) -> Vec<Remark> {
    let of = units::counted(told.len() as u64, "case", "cases");
    let that_are = |tone| told.iter().filter(|case| case.checks.0 == tone).count();
    let void = told.iter().filter(|case| case.is_void).count();
    let passed = told.iter().filter(|case| case.checks.0 == Tone::Good && !case.is_void).count();
    let mut said = vec![match (that_are(Tone::Bad), that_are(Tone::Doubtful), void) {
        (0, 0, 0) if told.len() == 2 => Remark::new(Tone::Good, "checks: passed in both cases"),
        (0, 0, 0) => Remark::new(Tone::Good, format!("checks: passed in all {of}")),
        (0, none, 0) => Remark::new(Tone::Doubtful, format!("checks: none in {none} of {of}, passed in the others")),
        (0, _, void) => {
            Remark::new(Tone::Bad, format!("checks: passed in {passed} of {of}; {void} void, without a figure"))
        }
        (failed, ..) => Remark::new(Tone::Bad, format!("checks: FAILED in {failed} of {of}")),
    }];
    let unsteady = told.iter().filter(|case| case.is_unsteady()).count();
    if unsteady > 0 {
        said.push(Remark::new(Tone::Doubtful, format!("steady state: not shown in {unsteady} of {of}")));
    }
    said
}
