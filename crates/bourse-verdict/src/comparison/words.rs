//! Sentences of a comparison: differences, verdicts, and the notes below them.

use super::{CaseComparison, MetricDifference};
use crate::units;
use bourse_record::{Interval, Verdict};

/// A part of one in percent with one decimal: of levels and differences.
fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// Lines below a comparison: the disturbances of each side, and the difference it could have shown.
pub fn context_lines(compared: &CaseComparison) -> Vec<String> {
    let [base, head] = &compared.disturbance;
    let mut lines = Vec::new();
    if !(base.is_none() && head.is_none()) {
        lines.push(format!("disturbed by others: A: {}; B: {}", base.words(), head.words()));
    }
    if let Some(factor) = compared.unequal {
        let (side, factor) = if factor > 1.0 { ("B", factor) } else { ("A", 1.0 / factor) };
        let factor = compared.may_explain.unwrap_or(factor);
        lines.push(format!("others disturbed {side} more, which may explain a factor of up to {factor:.2}"));
    }
    // Each figure is the estimate of one side, and the difference that of the pairs: a remark where they disagree.
    let of_figures = compared.metrics.iter().map(|metric| (metric, metric.head / metric.base));
    let opposite: Vec<&str> = of_figures
        .filter(|(metric, of_figures)| {
            metric.ratio > 1.0 && *of_figures < 1.0 || metric.ratio < 1.0 && *of_figures > 1.0
        })
        .map(|(metric, _)| metric.name.as_str())
        .collect();
    if !opposite.is_empty() {
        lines.push(format!(
            "the figures of A and B are of all rounds of each, and the difference is of rounds that followed each other; the \
             two have opposite signs for {}: the rounds vary by more than the sides differ",
            opposite.join(", ")
        ));
    }
    lines.extend(compared.could_show.map(|part| match part < 1.0 {
        true => format!("these rounds can show a difference from ±{} on", percent(part)),
        false => format!("these rounds can show a difference from a factor of {:.2} on", 1.0 + part),
    }));
    lines
}

impl MetricDifference {
    /// Name of the metric of instructions.
    pub const INSTRUCTIONS: &str = "instructions/op";

    /// A ratio as a change in percent: of counts, which scatter little, with two decimals.
    fn part(&self, ratio: f64) -> String {
        let decimals = if self.name == Self::INSTRUCTIONS { 2 } else { 1 };
        format!("{:+.decimals$} %", 100.0 * (ratio - 1.0))
    }

    /// Difference in percent.
    pub fn change(&self) -> String {
        self.part(self.ratio)
    }

    /// Ends of its interval in percent.
    pub fn ends(&self, interval: &Interval) -> String {
        format!("{} to {}", self.part(interval.low), self.part(interval.high))
    }
}

/// Text of a difference; for the headline with the noise that it is judged by.
fn difference(compared: &CaseComparison, metric: &MetricDifference) -> String {
    let noise = compared.noise.filter(|_| compared.result().is_some_and(|result| std::ptr::eq(result, metric)));
    let noise = noise.map(|noise| format!("; two runs lie up to {} apart by noise", units::share(noise)));
    let interval = match metric.interval {
        None => "too few rounds for an interval".to_owned(),
        Some(it) => format!("{} interval {}", percent(it.level), metric.ends(&it)),
    };
    format!("{} ({interval}{})", metric.change(), noise.unwrap_or_default())
}

/// A ratio as a change in percent.
pub fn change(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

/// The ends of an interval of a ratio.
pub fn ends(interval: &Interval) -> String {
    format!("{} to {}", change(interval.low), change(interval.high))
}

/// The verdict as a sentence: `B is …`, or the reason why there is none.
pub fn sentence(compared: &CaseComparison, tolerance: f64) -> String {
    let Some(result) = compared.result() else {
        return format!("none: {}", compared.no_result.unwrap_or("nothing was measured"));
    };
    let (difference, tolerance) = (difference(compared, result), units::share(tolerance));
    if compared.by_instructions {
        return of_instructions(compared.verdict, &difference, &tolerance);
    }
    let verdict = match compared.verdict {
        Verdict::Faster => format!("B is faster: {difference}"),
        Verdict::NotSlower => {
            format!("B is not slower by more than {tolerance}, and not shown to be faster: {difference}")
        }
        Verdict::Equivalent => format!("B is not shown to differ, surely by no more than {tolerance}: {difference}"),
        Verdict::SlowerWithin => format!("B is slower, by no more than {tolerance}: {difference}"),
        Verdict::SlowerUnclear => format!("B is slower, perhaps by more than {tolerance}: {difference}"),
        Verdict::SlowerBeyond => format!("B is slower by more than {tolerance}: {difference}"),
        Verdict::Inconclusive => format!(
            "inconclusive: {difference}: B may be slower by more than {tolerance}, or not slower at all; more rounds or a quieter \
             machine narrow the interval"
        ),
        Verdict::NoInterval => format!("inconclusive: too few rounds; use --rounds 8 or more: {difference}"),
        Verdict::NotAttributable => format!(
            "not attributable: the runs did not take turns, so {difference} may be the machine's; `bourse compare` takes \
             --noise or --baseline, or two targets to run in turn"
        ),
        Verdict::Withheld if compared.unequal.is_none() => format!(
            "withheld: others disturbed most rounds of both sides by an unknown amount{}, so {difference} may be theirs; repeat it on a \
             quiet machine, or with rounds of a second or more, of which the CPUs that others take are measured",
            may_explain(compared)
        ),
        Verdict::Withheld => format!(
            "withheld: others disturbed one side more than the other{}, so {difference} may be theirs; repeat it on a quiet machine",
            may_explain(compared)
        ),
        Verdict::Incomparable => return "none: nothing can be compared".to_owned(),
    };
    match disturbed_alike(compared) {
        Some(words) => format!("{verdict}; {words}"),
        None => verdict,
    }
}

/// Factor that disturbances may have made, in words; nothing of one that an older version stored.
fn may_explain(compared: &CaseComparison) -> String {
    compared.may_explain.map_or_else(String::new, |factor| format!(", a factor of up to {factor:.2}"))
}

/// Sentence of a verdict on instructions.
fn of_instructions(verdict: Verdict, difference: &str, tolerance: &str) -> String {
    let what = match verdict {
        Verdict::Faster => "B executes fewer instructions".to_owned(),
        Verdict::SlowerWithin => format!("B executes more instructions, by no more than {tolerance}"),
        Verdict::SlowerUnclear => format!("B executes more instructions, perhaps by more than {tolerance}"),
        Verdict::SlowerBeyond => format!("B executes more instructions, by more than {tolerance}"),
        Verdict::Equivalent => format!("B is not shown to differ in instructions, surely by no more than {tolerance}"),
        Verdict::NotSlower => format!("B executes at most {tolerance} more instructions, and perhaps fewer"),
        _ => "inconclusive, since counts of the same work differ as much".to_owned(),
    };
    format!("{what}: {difference}; time is not judged")
}

/// Note on a verdict whose rounds were disturbed on both sides alike; `None` otherwise. Pairs in random order favour neither
/// side then, so that the verdict holds, for that machine in that state: the size of the difference may depend on the CPU
/// time that was left.
fn disturbed_alike(compared: &CaseComparison) -> Option<String> {
    let has_range = !matches!(
        compared.verdict,
        Verdict::NoInterval | Verdict::NotAttributable | Verdict::Withheld | Verdict::Incomparable
    );
    let [base, head] = &compared.disturbance;
    // Of sides that were disturbed unalike a line below tells.
    (has_range && compared.unequal.is_none() && base.is_mostly() && head.is_mostly()).then(|| {
        let taken = base.taken.zip(head.taken).map(|(one, other)| format!("took {:.2} CPUs from", (one + other) / 2.0));
        let took = taken.as_deref().unwrap_or("disturbed");
        format!("others {took} both sides, so on a quiet machine the difference may be another")
    })
}
