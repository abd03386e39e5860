use crate::{Column, Series};

impl Series {
    /// Adds a row that ends at `time_s`; a metric that is new, or missing from the row, has nulls.
    pub fn push(&mut self, time_s: f64, values: impl IntoIterator<Item = (String, Option<f64>)>) {
        let before = self.time_s.len();
        self.time_s.push(time_s);
        for (metric, value) in values {
            let at = self.columns.iter().position(|column| column.metric == metric).unwrap_or_else(|| {
                self.columns.push(Column { metric, values: vec![None; before] });
                self.columns.len() - 1
            });
            let column = &mut self.columns[at].values;
            if column.len() == before {
                column.push(value);
            }
        }
        self.columns.iter_mut().for_each(|column| column.values.resize(before + 1, None));
    }

    /// The column of a metric, with `.operation` behind it if it has one.
    pub fn column(&self, metric: &str) -> Option<&[Option<f64>]> {
        self.columns.iter().find(|column| column.metric == metric).map(|column| column.values.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
