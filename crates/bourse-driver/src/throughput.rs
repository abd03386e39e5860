//! Throughput ten times a second, from which the interval of a single round is computed. Seconds are too few for that.

use crate::{MS, Nanos, SECOND};
use bourse_record::Series;

/// Length of a row.
const ROW_LENGTH_NS: Nanos = 100 * MS;
/// Maximum number of rows; beyond it, pairs are joined.
const MAX_ROWS: usize = 1_200;

/// Cumulative completions at the ends of rows.
pub(crate) struct Throughput {
    begin: Nanos,
    length: Nanos,
    /// End of each row, with cumulative completions: of all operations, and of the headline's.
    rows: Vec<(Nanos, [u64; 2])>,
}

impl Throughput {
    /// A series without rows, for a round that begins at `begin`.
    pub(crate) fn new(begin: Nanos) -> Self {
        Self { begin, length: ROW_LENGTH_NS, rows: Vec::with_capacity(MAX_ROWS) }
    }

    /// End of the next row. After a pause of the machine it is one row's length later, since that row is longer.
    pub(crate) fn due(&self) -> Nanos {
        let last = self.rows.last().map_or(self.begin, |(end, _)| *end);
        self.begin + ((last - self.begin + self.length / 2) / self.length + 1) * self.length
    }

    /// Ends a row at `now`.
    pub(crate) fn row(&mut self, now: Nanos, ended: [u64; 2]) {
        if self.rows.last().map_or(self.begin, |(end, _)| *end) >= now {
            return;
        }
        if self.rows.len() == MAX_ROWS {
            let mut at = 0;
            // Counts are cumulative: the second of two rows includes the first.
            self.rows.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.length *= 2;
        }
        self.rows.push((now, ended));
    }

    /// Rows as a series of the round; `headline` is the name of the headline operation, if it is a single one.
    pub(crate) fn series(&self, headline: Option<&str>) -> Series {
        let mut series = Series::default();
        let mut before = (self.begin, [0, 0]);
        for (end, ended) in &self.rows {
            let seconds = (end - before.0) as f64 / SECOND as f64;
            // Counts are read while others write them: one that seems to fall has not grown.
            let rate = |at: usize| Some(ended[at].saturating_sub(before.1[at]) as f64 / seconds);
            let all = std::iter::once(("throughput".to_owned(), rate(0)));
            let columns = all.chain(headline.map(|name| (format!("throughput.{name}"), rate(1))));
            series.push((end - self.begin) as f64 / SECOND as f64, columns);
            before = (*end, *ended);
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_longer_and_no_count_is_lost() {
        let mut throughput = Throughput::new(7 * SECOND);
        let mut now = 7 * SECOND;
        while now < 207 * SECOND {
            // A little late, once by three seconds.
            now = throughput.due() + if now > 50 * SECOND && now < 51 * SECOND { 3 * SECOND } else { 3 * MS };
            let done = (now - 7 * SECOND) / MS;
            throughput.row(now, [done, done / 2]);
        }
        let series = throughput.series(Some("x"));
        assert!((MAX_ROWS / 2..=MAX_ROWS).contains(&series.time_s.len()), "{}", series.time_s.len());
        assert!(series.time_s.is_sorted() && *series.time_s.last().unwrap() >= 200.0);
        for (name, rate) in [("throughput", 1_000.0), ("throughput.x", 500.0)] {
            let column = series.column(name).unwrap();
            assert!(column.iter().all(|it| (it.unwrap() - rate).abs() < 10.0), "{name}: {column:?}");
        }
    }
}
