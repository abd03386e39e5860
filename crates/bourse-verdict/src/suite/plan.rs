//! A suite at some scale: the cases to run, each once, and the cells that each of them fills.

use crate::suite::definition::{CasePatch, Suite, SuiteError};

/// Plan of a suite: the cases to run.
#[derive(Debug, Clone, PartialEq)]
pub struct CellPlan<'s> {
    /// Planned suite.
    pub suite: &'s Suite,
    /// Scale that counts are multiplied by.
    pub scale: f64,
    /// Cases to run, each once.
    pub cases: Vec<SuiteCase>,
    /// Cells that the cases fill.
    pub cells: Vec<PlannedCell>,
}

/// A case with all settings of its rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteCase {
    /// Name of the workload.
    pub workload: String,
    /// Name of the target in the suite.
    pub target: String,
    /// Options of the workload.
    pub options: Vec<(String, String)>,
    /// Operations of each thread, if that ends a round.
    pub count: Option<u64>,
    /// Length of the measurement interval in seconds, if that ends a round.
    pub seconds: Option<f64>,
    /// Maximum of a round's measurement in seconds, for rounds that something else should end.
    pub cap_s: f64,
    /// Warm-up in seconds.
    pub warm_up_s: Option<f64>,
}

/// A cell and its case.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCell {
    /// Index of its table in the suite.
    pub table: usize,
    /// Index of its row.
    pub row: usize,
    /// Index of its column.
    pub column: usize,
    /// Index of its case in the plan.
    pub case: usize,
    /// Operation that is counted, or `all` together; the first by default.
    pub operation: Option<String>,
    /// Operations to perform at this scale, if the work ends a round.
    pub work: Option<u64>,
    /// Operations that the published time covers.
    pub published_work: Option<u64>,
}

impl<'s> CellPlan<'s> {
    /// Plans a suite at that scale; only the tables named, if any are. `cap_s` overrides the data file's maximum times.
    ///
    /// # Errors
    /// The scale is not above 0 and up to 1, or a table does not exist.
    pub fn new(suite: &'s Suite, scale: f64, cap_s: Option<f64>, only: &[String]) -> Result<Self, SuiteError> {
        if !(scale > 0.0 && scale <= 1.0) {
            return Err(SuiteError::Scale(scale));
        }
        if let Some(unknown) = only.iter().find(|id| suite.table(id).is_none()) {
            let known = suite.tables.iter().map(|table| table.id.as_str()).collect::<Vec<_>>().join(", ");
            let what = format!("unknown table '{unknown}'; tables: {known}");
            return Err(SuiteError::Dangling { suite: suite.name.clone(), what });
        }
        let mut plan = Self { suite, scale, cases: Vec::new(), cells: Vec::new() };
        for (at, table) in suite.tables.iter().enumerate() {
            if !only.is_empty() && !only.contains(&table.id) {
                continue;
            }
            let kept = if table.thins { thinned(table.rows.len(), scale) } else { (0..table.rows.len()).collect() };
            for (row_at, row) in table.rows.iter().enumerate().filter(|(row, _)| kept.contains(row)) {
                for (column_at, column) in table.columns.iter().enumerate() {
                    let Some(case) = table.case(row, column) else { continue };
                    plan.add((at, row_at, column_at), &case, cap_s);
                }
            }
        }
        Ok(plan)
    }

    fn add(&mut self, (table, row, column): (usize, usize, usize), case: &CasePatch, cap_s: Option<f64>) {
        let scaled = |number: u64| scaled(number, self.scale);
        let mut options: Vec<(String, String)> =
            case.options.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        options.extend(case.scaled.iter().map(|(name, number)| (name.clone(), scaled(*number).to_string())));
        options.sort();
        let planned = SuiteCase {
            workload: case.workload.clone().unwrap_or_default(),
            target: case.target.clone().unwrap_or_default(),
            options,
            count: case.scaled_count.map(scaled).or(case.count),
            seconds: case.seconds.map(|seconds| (seconds * self.scale).max(1.0)),
            cap_s: cap_s.or(case.cap_s).unwrap_or(self.suite.cap_s),
            warm_up_s: case.warm_up_s,
        };
        // Work that a fixed count makes does not shrink with the rows.
        let shrinks = case.scaled_count.is_some() || case.count.is_none();
        let work = case.work.map(|work| if shrinks { scaled(work) } else { work });
        let at = self.cases.iter().position(|known| *known == planned).unwrap_or_else(|| {
            self.cases.push(planned);
            self.cases.len() - 1
        });
        self.cells.push(PlannedCell {
            table,
            row,
            column,
            case: at,
            operation: case.operation.clone(),
            work: work.filter(|_| case.seconds.is_none()),
            published_work: case.work,
        });
    }
}

/// Indices of the rows that are run at a scale: in proportion to it, at least four, the first and the last included.
fn thinned(rows: usize, scale: f64) -> Vec<usize> {
    let kept = ((rows as f64 * scale).ceil() as usize).clamp(4.min(rows), rows);
    if kept < 2 {
        return (0..kept).collect();
    }
    (0..kept).map(|at| (at * (rows - 1) + (kept - 1) / 2) / (kept - 1)).collect()
}

/// Count at a scale; at least 1.
pub fn scaled(number: u64, scale: f64) -> u64 {
    ((number as f64 * scale).round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_table_keeps_both_ends() {
        assert_eq!(thinned(27, 1.0), (0..27).collect::<Vec<_>>());
        assert_eq!(thinned(27, 0.05), [0, 9, 17, 26]);
        assert_eq!(thinned(2, 0.01), [0, 1]);
        assert_eq!(thinned(1, 0.5), [0]);
    }

    #[test]
    fn nothing_shrinks_to_nothing() {
        assert_eq!((scaled(100_000, 0.1), scaled(3, 0.01), scaled(7, 1.0)), (10_000, 1, 7));
    }
}
