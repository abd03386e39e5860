use crate::{Series, SeriesColumn};
use std::collections::BTreeMap;

/// Values of a row by metric; missing ones are omitted.
pub type SeriesRow = BTreeMap<String, f64>;

impl Series {
    /// Adds a row that ends at `time_s`, rounded to microseconds; a metric that is new, or missing from the row, gets
    /// nulls. Fractional values are rounded to seven digits: more would be noise, and half of a run file's size.
    ///
    /// ```
    /// use bourse_record::Series;
    /// let mut series = Series::default();
    /// series.push(1.0, [("throughput".to_owned(), Some(812.0))]);
    /// series.push(2.0, [("throughput".to_owned(), Some(1.0 / 3.0)), ("log_bytes".to_owned(), Some(4_096.0))]);
    /// assert_eq!(series.column("throughput"), Some([Some(812.0), Some(0.333_333_3)].as_slice()));
    /// assert_eq!(series.column("log_bytes"), Some([None, Some(4_096.0)].as_slice()));
    /// ```
    pub fn push(&mut self, time_s: f64, values: impl IntoIterator<Item = (String, Option<f64>)>) {
        let before = self.time_s.len();
        self.time_s.push((time_s * 1e6).round() / 1e6);
        for (metric, value) in values {
            let at = self.columns.iter().position(|column| column.metric == metric).unwrap_or_else(|| {
                self.columns.push(SeriesColumn { metric, values: vec![None; before] });
                self.columns.len() - 1
            });
            let column = &mut self.columns[at].values;
            if column.len() == before {
                column.push(value.map(rounded_for_storage));
            }
        }
        self.columns.iter_mut().for_each(|column| column.values.resize(before + 1, None));
    }

    /// The last row.
    pub fn last_row(&self) -> SeriesRow {
        let value = |column: &SeriesColumn| column.values.last().copied().flatten().filter(|value| value.is_finite());
        self.columns.iter().filter_map(|column| Some((column.metric.clone(), value(column)?))).collect()
    }

    /// Column of a metric, with `.operation` appended if it has one.
    pub fn column(&self, metric: &str) -> Option<&[Option<f64>]> {
        self.columns.iter().find(|column| column.metric == metric).map(|column| column.values.as_slice())
    }
}

/// A value rounded for storage.
fn rounded_for_storage(value: f64) -> f64 {
    if !value.is_finite() || value == value.trunc() {
        return value;
    }
    // By its decimal form: a product with a power of ten would leave digits behind it.
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_to_seven_digits_and_whole_ones_as_they_are() {
        let mut series = Series::default();
        let values = [1.0 / 3.0, 4_938.271_604_938, 123_456_789_012.0, f64::NAN, -0.000_012_345_678_9];
        values.iter().for_each(|value| series.push(1.0 / 3.0, [("a".to_owned(), Some(*value))]));
        assert_eq!(series.time_s, [0.333_333; 5]);
        let found: Vec<f64> = series.columns[0].values.iter().flatten().copied().collect();
        assert_eq!(found[..3], [0.333_333_3, 4_938.272, 123_456_789_012.0]);
        assert!(found[3].is_nan());
        assert_eq!(found[4], -0.000_012_345_68);
    }

    #[test]
    fn every_column_has_a_value_or_null_for_every_row() {
        let mut series = Series::default();
        series.push(1.0, [("a".to_owned(), Some(1.0))]);
        series.push(2.0, [("b".to_owned(), Some(2.0)), ("b".to_owned(), Some(3.0))]);
        series.push(3.0, []);
        assert_eq!(series.time_s, [1.0, 2.0, 3.0]);
        assert_eq!(series.column("a"), Some([Some(1.0), None, None].as_slice()));
        assert_eq!(series.column("b"), Some([None, Some(2.0), None].as_slice()));
        assert_eq!(series.column("c"), None);
    }
}
