//! Response times over time, as a grid of counts.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of responses by duration and time.
///
/// Row `r` counts response times from 2^(r / 2) ns to 2^((r + 1) / 2) ns: two rows an octave, with bounds exact to 1 %.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResponseMap {
    /// End of each column in seconds since the round began. A column covers one second, or several in a long round.
    pub time_s: Vec<f64>,
    /// Lowest row with a count.
    pub first_row: u32,
    /// Counts of each column from the lowest row up; rows that are omitted are 0.
    pub counts: Vec<Vec<u64>>,
}

impl ResponseMap {
    /// Row of a response time in nanoseconds.
    pub(crate) fn row(ns: f64) -> usize {
        if ns > 1.0 { (2.0 * ns.log2()) as usize } else { 0 }
    }

    /// Lower bound of a row above the lowest one, in nanoseconds.
    pub fn bound_ns(&self, above: usize) -> f64 {
        2.0_f64.powf((f64::from(self.first_row) + above as f64) / 2.0)
    }
}

/// Builder of the grid during a round; its memory is bounded however long the round is.
#[derive(Debug, Default)]
pub struct ResponseMapBuilder {
    columns: Vec<(f64, Vec<u64>)>,
    /// Readings that make a column, and readings so far in the last one.
    per_column: u32,
    in_last: u32,
}

impl ResponseMapBuilder {
    /// Maximum number of columns: more than a chart can show.
    const MAX_COLUMNS: usize = 360;

    /// Adds the counts up to a time, by row.
    pub fn push(&mut self, time_s: f64, counts: &[u64]) {
        self.per_column = self.per_column.max(1);
        if self.columns.is_empty() || self.in_last >= self.per_column {
            if self.columns.len() >= Self::MAX_COLUMNS {
                self.halve();
            }
            self.columns.push((time_s, Vec::new()));
            self.in_last = 0;
        }
        if let Some((time, sum)) = self.columns.last_mut() {
            *time = time_s;
            add(sum, counts);
        }
        self.in_last += 1;
    }

    /// Joins pairs of columns.
    fn halve(&mut self) {
        let pairs = self.columns.chunks(2).filter_map(|pair| {
            pair.iter().cloned().reduce(|(_, mut sum), (time, counts)| {
                add(&mut sum, &counts);
                (time, sum)
            })
        });
        self.columns = pairs.collect();
        self.per_column = self.per_column.saturating_mul(2);
    }

    /// The grid; `None` without a response.
    pub fn finish(self) -> Option<ResponseMap> {
        let first = self.columns.iter().filter_map(|(_, counts)| counts.iter().position(|count| *count > 0)).min()?;
        let trimmed = |counts: Vec<u64>| -> Vec<u64> {
            let end = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
            counts.into_iter().take(end).skip(first).collect()
        };
        let (time_s, counts) = self.columns.into_iter().map(|(time, counts)| (time, trimmed(counts))).unzip();
        Some(ResponseMap { time_s, first_row: first as u32, counts })
    }
}

fn add(sum: &mut Vec<u64>, counts: &[u64]) {
    sum.resize(sum.len().max(counts.len()), 0);
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum = sum.saturating_add(*count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_counts_every_response_once_however_long_the_round_is() {
        for seconds in [1, 2, 359, 360, 361, 1_000, 7_200] {
            let mut builder = ResponseMapBuilder::default();
            for second in 1..=seconds {
                let mut counts = vec![0; 50];
                (counts[20], counts[33]) = (3, u64::from(second % 5 == 0));
                builder.push(f64::from(second), &counts);
            }
            let map = builder.finish().expect("there were responses");
            assert!(
                map.time_s.len() <= ResponseMapBuilder::MAX_COLUMNS && map.time_s.len() == map.counts.len(),
                "{seconds}"
            );
            assert_eq!((map.first_row, map.time_s.last()), (20, Some(&f64::from(seconds))));
            let all: u64 = map.counts.iter().flatten().sum();
            assert_eq!(all, 3 * seconds as u64 + seconds as u64 / 5, "{seconds}");
            assert!(map.counts.iter().all(|counts| matches!(counts.len(), 1 | 14)), "{seconds}");
            assert!(map.time_s.is_sorted());
        }
        assert_eq!(ResponseMapBuilder::default().finish(), None);
    }

    #[test]
    fn a_row_holds_what_its_bounds_say() {
        for ns in [1.0, 2.0, 3.0, 1_000.0, 123_456.0, 9e9] {
            let map = ResponseMap { first_row: ResponseMap::row(ns) as u32, ..ResponseMap::default() };
            assert!(map.bound_ns(0) <= ns * 1.000_001 && ns < map.bound_ns(1) * 1.000_001, "{ns}");
        }
    }
}
