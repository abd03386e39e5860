//! All inputs of the gate and its results: the page of the documentation, and the program's reference.

use bourse_record::{Better, Evidence, Gate, Verdict};
use std::fmt::Write as _;

/// Tolerance of the rows, as a part of one.
const TOLERANCE: f64 = 0.05;

/// Position of the interval's two ends, with an example.
pub(crate) struct Row {
    /// Description of the evidence.
    words: &'static str,
    /// An example in percent.
    pub(crate) ends: [f64; 2],
}

impl Row {
    pub(crate) fn verdict(&self) -> Verdict {
        let [low, high] = self.ends.map(|percent| 1.0 + percent / 100.0);
        Verdict::of(Evidence::Range(low, high), TOLERANCE, Better::Higher)
    }
}

const fn row(words: &'static str, low: f64, high: f64) -> Row {
    Row { words, ends: [low, high] }
}

/// Every position of the two ends relative to no difference and the tolerance on either side.
pub(crate) const ROWS: [Row; 10] = [
    row("all of it slower, beyond the tolerance", -12.0, -8.0),
    row("from slower beyond the tolerance to slower within it", -8.0, -2.0),
    row("from slower beyond the tolerance to faster within it", -8.0, 2.0),
    row("from slower beyond the tolerance to faster beyond it", -8.0, 8.0),
    row("all of it slower, within the tolerance", -4.0, -1.0),
    row("from slower within the tolerance to faster within it", -2.0, 2.0),
    row("from slower within the tolerance to faster beyond it", -2.0, 8.0),
    row("all of it faster, within the tolerance", 1.0, 4.0),
    row("from faster within the tolerance to faster beyond it", 2.0, 8.0),
    row("all of it faster, beyond the tolerance", 8.0, 12.0),
];

/// Evidence without a deciding interval.
const OTHERS: [(&str, Evidence); 4] = [
    ("none: fewer than six pairs of rounds in turn", Evidence::NoInterval),
    ("of two stored runs, without `--noise` or `--baseline`", Evidence::NotAttributable),
    (
        "others disturbed one side more, or both by an unknown amount, and may have made the difference",
        Evidence::Withheld,
    ),
    ("none: a first figure of 0, or markets of different ages", Evidence::NoRatio),
];

/// The page.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "# The gate: every input and what follows\n\n\
         Written by `cargo xtask docs` from the function that decides; do not edit. A test runs `bourse compare` on each row.\n\n\
         Interval, tolerance and direction alone decide the verdict, and the verdict the exit code of `bourse compare A B \
         --fail-above 5%`. It is 4 only if the whole interval is slower by more than the tolerance, 0 only if the interval holds \
         no slowdown of more than the tolerance, and 6 otherwise. An interval that holds no difference is never *faster* or \
         *slower*. An end that lies at the tolerance counts as within it, and one at 0 as no difference. \
         The interval is that of the pairs of rounds, or of the counts of [instructions](instructions.md); of stored runs it is widened to what `--noise` leaves, and where others \
         disturbed one side more, or most rounds of both by an unknown amount, to what that may explain. A run that was interrupted is not judged (6), a case that the second run lacks passes no gate (6), and neither does the \
         first run of a `--baseline` (6). Without `--fail-above` the tolerance is 5 %, and the exit code 0. A tolerance has no \
         sign: `--fail-above 5%` tolerates up to 5 % less, which is -5 % in the table; `--fail-above -5%` would demand a gain, \
         and is refused.\n\n\
         | interval of B against A | example | `verdict` | in words | exit code | `--inconclusive pass` |\n\
         |---|---|---|---|---:|---:|\n",
    );
    let mut line = |words: &str, example: &str, verdict: Verdict| {
        let (code, name) = (serde_json::json!(verdict), verdict.name(Better::Higher));
        let (code, gate) = (code.as_str().unwrap_or_default(), verdict.gate());
        let passed = if gate == Gate::Undecided { 0 } else { gate.exit_code() };
        writeln!(page, "| {words} | {example} | `{code}` | {name} | {} | {passed} |", gate.exit_code())
            .expect("a text takes all");
    };
    for row in ROWS {
        let [low, high] = row.ends;
        line(row.words, &format!("{low:+} to {high:+} %"), row.verdict());
    }
    for (words, evidence) in OTHERS {
        line(words, "", Verdict::of(evidence, TOLERANCE, Better::Higher));
    }
    page
}
