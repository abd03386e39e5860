//! The verdict on a case in a line: checks, steady or not, what limits.

use super::{CaseView, Remark, checks_words};
use crate::tables::Tone;

/// The verdict, in the tone of its worst part.
pub(crate) fn verdict(view: &CaseView<'_>) -> Remark {
    let (checks, said) = checks_words(view);
    let steady = view.remarks().into_iter().filter_map(|it| Some((it.tone, it.verdict?)));
    let limit = view.limited_by().map(|limit| (Tone::Plain, limit.verdict()));
    let all: Vec<(Tone, String)> =
        std::iter::once((checks, format!("checks: {said}"))).chain(steady).chain(limit).collect();
    let has = |tone| all.iter().any(|(each, _)| *each == tone);
    let tone = [Tone::Bad, Tone::Doubtful].into_iter().find(|tone| has(*tone)).unwrap_or(Tone::Good);
    let words: Vec<&str> = all.iter().map(|(_, words)| words.as_str()).collect();
    Remark::new(tone, words.join(" · "))
}
