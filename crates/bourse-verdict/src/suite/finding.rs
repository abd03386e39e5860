//! Test of a published finding: ratios of cells, round by round, with the signed-rank interval over the rounds.
//!
//! Rounds of all cases are interleaved, so the ratio of two cells is computed within each round: a temporary
//! disturbance of the machine affects both.

use crate::suite::definition::{FindingTest, SuiteFinding};
use crate::suite::document::{CellResult, CellState, MEAN_ROW, TableResult};
use crate::suite::measure::Measure;
use bourse_record::{Estimate, FEWEST_ROUNDS};
use bourse_stats::center;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

bourse_record::named! {
    /// Verdict on a published finding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum FindingVerdict {
        /// The whole interval is within the range.
        Holds = "holds",
        /// The whole interval is outside the range.
        DoesNotHold = "does not hold",
        /// The interval includes an end of the range, or there is no interval.
        NotShown = "not shown",
        /// The machine or the scale is too small for the test to be meaningful.
        NotTestable = "not testable",
    }
}

/// A published finding with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingResult {
    /// The finding, as a sentence.
    pub claim: String,
    /// Published figures that the finding rests on.
    pub rests_on: String,
    /// Verdict: the finding holds if all its tests do.
    pub verdict: FindingVerdict,
    /// Minimum probability that the verdict is right: for a finding that holds, the lowest level of its tests; for one
    /// that does not, 1 minus the sum of the tests' errors. `None` without a verdict.
    #[serde(default)]
    pub level: Option<f64>,
    /// Reason that the finding was not tested, if so.
    pub untested: Option<String>,
    /// Difference from the publication because of which something other than the finding is tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub departure: Option<String>,
    /// Tests of the finding.
    pub tests: Vec<TestResult>,
}

/// One test of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestResult {
    /// Comparison as a sentence.
    pub claim: String,
    /// Hodges–Lehmann estimate over the rounds.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Level of the interval.
    #[serde(default)]
    pub level: Option<f64>,
    /// Lower end of the range.
    pub at_least: Option<f64>,
    /// Upper end of the range.
    pub at_most: Option<f64>,
    /// Value as printed, if the publication prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// Verdict of the test.
    pub verdict: FindingVerdict,
    /// Reason that there is no value or no interval, if so.
    pub why: Option<String>,
}

/// Judges the findings whose tables are all present, as measured with `cores` cores at that scale.
pub(crate) fn judge(findings: &[SuiteFinding], tables: &[TableResult], cores: u32, scale: f64) -> Vec<FindingResult> {
    let there = |path: &str| tables.iter().any(|table| Some(table.id.as_str()) == path.split('/').next());
    findings
        .iter()
        .filter(|finding| finding.tests.iter().all(|test| there(&test.cell) && test.by.as_deref().is_none_or(there)))
        .map(|finding| {
            let mut tests: Vec<TestResult> = finding.tests.iter().map(|test| result(test, tables)).collect();
            let unmet = finding.unmet(cores, scale).or_else(|| not_given(finding, tables));
            if unmet.is_some() {
                // Measured values are shown; a verdict on them would concern something other than the finding.
                tests.iter_mut().for_each(|test| test.verdict = FindingVerdict::NotTestable);
            }
            let any = |verdict| tests.iter().any(|test: &TestResult| test.verdict == verdict);
            let verdict = if tests.is_empty() {
                FindingVerdict::NotShown
            } else if any(FindingVerdict::NotTestable) {
                FindingVerdict::NotTestable
            } else if any(FindingVerdict::DoesNotHold) {
                FindingVerdict::DoesNotHold
            } else if any(FindingVerdict::NotShown) {
                FindingVerdict::NotShown
            } else {
                FindingVerdict::Holds
            };
            FindingResult {
                claim: finding.claim.clone(),
                rests_on: finding.rests_on.clone(),
                verdict,
                level: level(verdict, &tests),
                untested: unmet.or_else(|| finding.untested.clone()),
                departure: finding.departure.clone(),
                tests,
            }
        })
        .collect()
}

/// Reason that a finding cannot be tested here: a condition of the publication that was measured and does not hold.
fn not_given(finding: &SuiteFinding, tables: &[TableResult]) -> Option<String> {
    let mut given = finding.given.iter().map(|test| (test, result(test, tables)));
    let (test, measured) = given.find(|(_, it)| it.verdict == FindingVerdict::DoesNotHold)?;
    let value = measured.value.map_or_else(String::new, |value| format!("; here it is {value:.0}"));
    Some(format!("it was found where this holds: {}{value}", test.claim))
}

/// Minimum probability that a verdict on all these tests is right.
fn level(verdict: FindingVerdict, tests: &[TestResult]) -> Option<f64> {
    let levels = || tests.iter().filter_map(|test| test.level);
    match verdict {
        // It is wrong only if the test that is farthest off is.
        FindingVerdict::Holds => levels().reduce(f64::min),
        // Any of the tests may be the wrong one.
        FindingVerdict::DoesNotHold => Some(1.0 - levels().map(|level| 1.0 - level).sum::<f64>()),
        FindingVerdict::NotShown | FindingVerdict::NotTestable => None,
    }
}

fn result(test: &FindingTest, tables: &[TableResult]) -> TestResult {
    let mut result = TestResult {
        claim: test.claim.clone(),
        value: None,
        low: None,
        high: None,
        level: None,
        at_least: test.at_least,
        at_most: test.at_most,
        published: test.published,
        verdict: FindingVerdict::NotShown,
        why: None,
    };
    let values = match values(test, tables) {
        Ok(values) => values,
        Err(why) => return TestResult { why: Some(why), ..result },
    };
    // Of ratios the logarithms scatter alike on both sides.
    let as_ratio = test.by.is_some() && !test.exponent && values.iter().all(|value| *value > 0.0);
    let estimate = if as_ratio {
        center(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).map(|it| it.map(f64::exp))
    } else {
        center(&values)
    };
    let Some(Estimate { value, interval }) = estimate else {
        return TestResult { why: Some("no round has such a figure".to_owned()), ..result };
    };
    result.value = Some(value);
    let Some(interval) = interval else {
        let rounds = values.len();
        let why = format!(
            "an interval needs {FEWEST_ROUNDS} rounds; there {}",
            match rounds {
                1 => "is 1".to_owned(),
                _ => format!("are {rounds}"),
            }
        );
        return TestResult { why: Some(why), ..result };
    };
    (result.low, result.high, result.level) = (Some(interval.low), Some(interval.high), Some(interval.level));
    result.verdict = verdict(interval.low, interval.high, test.at_least, test.at_most);
    result
}

/// Verdict on an interval against a range.
fn verdict(low: f64, high: f64, at_least: Option<f64>, at_most: Option<f64>) -> FindingVerdict {
    let (from, to) = (at_least.unwrap_or(f64::NEG_INFINITY), at_most.unwrap_or(f64::INFINITY));
    if low >= from && high <= to {
        FindingVerdict::Holds
    } else if high < from || low > to {
        FindingVerdict::DoesNotHold
    } else {
        FindingVerdict::NotShown
    }
}

/// Tested value in each round; for a row of means, in each row.
fn values(test: &FindingTest, tables: &[TableResult]) -> Result<Vec<f64>, String> {
    let one = paired_figures(&test.cell, test.measure, tables)?;
    let Some(by) = &test.by else { return Ok(one.into_iter().map(|(_, value)| value).collect()) };
    let other = paired_figures(by, test.measure, tables)?;
    let pairs = one.iter().filter_map(|(key, value)| {
        let (_, other) = other.iter().find(|(known, _)| known == key)?;
        Some(value / other)
    });
    if !test.exponent {
        return Ok(pairs.collect());
    }
    let sizes = || {
        let (one, other) = (cell(&test.cell, tables)?, cell(by, tables)?);
        let capped = one.rounds.iter().chain(&other.rounds).any(|round| round.capped);
        let (one, other) = one.work.zip(other.work)?;
        Some((one as f64 / other as f64).ln()).filter(|sizes| *sizes != 0.0 && !capped)
    };
    let sizes = sizes().ok_or("growth cannot be computed from rounds that were capped")?;
    Ok(pairs.map(|ratio| ratio.ln() / sizes).collect())
}

/// Figures of a cell with a key to pair them by: one for each round; for a row of means, one for each measured row.
fn paired_figures(path: &str, measure: Measure, tables: &[TableResult]) -> Result<Vec<(String, f64)>, String> {
    let cell = cell(path, tables).ok_or_else(|| format!("there is no cell {path}"))?;
    let nothing = || format!("{path} has no such figure");
    if cell.row == MEAN_ROW {
        let table = tables.iter().find(|table| path.starts_with(&format!("{}/", table.id))).ok_or_else(nothing)?;
        let rows = || table.cells.iter().filter(|part| part.column == cell.column && part.row != MEAN_ROW);
        let values: Vec<(String, f64)> = rows()
            .filter_map(|part| {
                let figure = part.figures.iter().find(|figure| figure.measure == measure)?;
                Some((part.row.clone(), figure.measured?))
            })
            .collect();
        // Of a run that ended early a mean of some rows is another one: they have unlike durations.
        return match (values.len(), rows().count()) {
            (0, _) => Err(nothing()),
            (some, all) if some < all => Err(format!("{path}: {some} of {all} rows have a figure")),
            _ => Ok(values),
        };
    }
    match &cell.state {
        CellState::Measured | CellState::Derived => {}
        // Its table has the reason.
        CellState::NotRun(_) => return Err(format!("{path} was not run")),
        CellState::Failed(why) => return Err(format!("{path} failed: {why}")),
        CellState::Void(why) => return Err(format!("{path} is void: {why}")),
        CellState::Absent(why) => return Err(format!("{path}: {why}")),
    }
    let values: Vec<(String, f64)> = cell
        .rounds
        .iter()
        .enumerate()
        // The time of a round that its cap ended is the cap's, not the work's.
        .filter(|(_, round)| !(measure.is_total() && round.capped))
        .filter_map(|(at, round)| Some((at.to_string(), *round.values.get(&measure)?)))
        .collect();
    match values.as_slice() {
        [] if cell.rounds.iter().any(|round| round.capped) => Err(format!("{path} was ended by its cap")),
        [] => Err(nothing()),
        _ => Ok(values),
    }
}

fn cell<'t>(path: &str, tables: &'t [TableResult]) -> Option<&'t CellResult> {
    let mut parts = path.split('/');
    let id = parts.next()?;
    let table = tables.iter().find(|table| table.id == id)?;
    let (row, column) = (parts.next()?, parts.next()?);
    table.cells.iter().find(|cell| cell.row == row && cell.column == column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_the_whole_interval_on_one_side() {
        let cases = [
            (1.2, 1.4, Some(1.0), None, FindingVerdict::Holds),
            (0.9, 1.4, Some(1.0), None, FindingVerdict::NotShown),
            (0.5, 0.9, Some(1.0), None, FindingVerdict::DoesNotHold),
            (2.5, 3.5, Some(2.0), Some(4.5), FindingVerdict::Holds),
            (4.0, 5.0, Some(2.0), Some(4.5), FindingVerdict::NotShown),
            (5.0, 6.0, Some(2.0), Some(4.5), FindingVerdict::DoesNotHold),
            (0.1, 0.2, None, Some(0.5), FindingVerdict::Holds),
        ];
        for (low, high, at_least, at_most, expected) in cases {
            assert_eq!(verdict(low, high, at_least, at_most), expected, "{low} to {high}");
        }
    }
}
