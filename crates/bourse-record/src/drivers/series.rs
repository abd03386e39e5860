//! Merges values over time.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{Series, SeriesColumn, SeriesRow};
use std::collections::BTreeSet;

/// Rule to combine values of several drivers at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// Sum, for shares of a whole: rates, waiting operations, a process's usage.
    Sum,
    /// Maximum, for quantiles, which cannot be added, and for properties of the one database and machine.
    Most,
}

impl Join {
    fn of(self, one: f64, other: f64) -> f64 {
        match self {
            Self::Sum => one + other,
            Self::Most => one.max(other),
        }
    }
}

fn join_of(name: &str) -> Join {
    let plain = name.split('.').next().unwrap_or(name);
    // Each driver sees the full counts of the server, and of a machine that drivers may share.
    const SEEN_BY_ALL: [&str; 4] = ["data_bytes", "log_bytes", "journal_bytes", "engine_memory_bytes"];
    const OF_THE_SERVER: [&str; 5] = ["machine_", "server_", "lock_", "cpu_others", "cpu_stolen"];
    let quantile = plain.starts_with("response_ns");
    if quantile || SEEN_BY_ALL.contains(&plain) || OF_THE_SERVER.iter().any(|of| plain.starts_with(of)) {
        return Join::Most;
    }
    Join::Sum
}

/// Merges the rows of two drivers at the same moment.
pub fn both_rows(one: &SeriesRow, other: &SeriesRow) -> SeriesRow {
    let mut sum = one.clone();
    for (name, value) in other {
        let known = sum.entry(name.clone()).or_insert(0.0);
        *known = join_of(name).of(*known, *value);
    }
    sum
}

/// Merged series in rows of one second from the round's start, which is simultaneous for all drivers within a network
/// delay. A driver whose series ends earlier contributes nothing from there on; a second for which no driver has a row
/// is omitted.
pub(super) fn one_series(parts: &[&Series]) -> Series {
    let second = |time: f64| time.round().max(1.0) as u64;
    let seconds: BTreeSet<u64> = parts.iter().flat_map(|series| &series.time_s).map(|time| second(*time)).collect();
    let mut names: Vec<&str> = Vec::new();
    for column in parts.iter().flat_map(|series| &series.columns) {
        if !names.contains(&column.metric.as_str()) {
            names.push(&column.metric);
        }
    }
    let value = |series: &Series, name: &str, at: u64| -> Option<f64> {
        let row = series.time_s.iter().position(|time| second(*time) == at)?;
        series.column(name)?.get(row).copied().flatten()
    };
    let columns = names.into_iter().map(|name| {
        let join = join_of(name);
        let values = seconds.iter().map(|&at| {
            parts.iter().filter_map(|series| value(series, name, at)).reduce(|one, other| join.of(one, other))
        });
        SeriesColumn { metric: name.to_owned(), values: values.collect() }
    });
    Series { columns: columns.collect(), time_s: seconds.iter().map(|&at| at as f64).collect() }
}

/// Summed rates in the rows of the first part; the other parts' counts are interpolated at the ends of these rows.
pub(super) fn rates(parts: &[&Series]) -> Series {
    let Some((first, others)) = parts.split_first() else { return Series::default() };
    let columns = first.columns.iter().map(|column| {
        let others: Vec<Vec<(f64, f64)>> = others.iter().map(|series| done(series, &column.metric)).collect();
        let mut from = 0.0;
        let values = first.time_s.iter().zip(&column.values).map(|(&to, value)| {
            let length = to - from;
            let gained: f64 = others.iter().map(|done| done_by(done, to) - done_by(done, from)).sum();
            from = to;
            value.map(|value| if length > 0.0 { value + gained / length } else { value })
        });
        SeriesColumn { metric: column.metric.clone(), values: values.collect() }
    });
    Series { columns: columns.collect(), time_s: first.time_s.clone() }
}

/// Cumulative count at the end of each row of a rate series, as pairs of time and count.
fn done(series: &Series, metric: &str) -> Vec<(f64, f64)> {
    let values = series.column(metric).unwrap_or_default();
    let mut ends = vec![(0.0, 0.0)];
    let (mut from, mut sum) = (0.0, 0.0);
    for (&to, value) in series.time_s.iter().zip(values) {
        sum += value.unwrap_or(0.0) * (to - from);
        from = to;
        ends.push((to, sum));
    }
    ends
}

/// Cumulative count at a moment, interpolated linearly between ends of rows.
fn done_by(ends: &[(f64, f64)], at: f64) -> f64 {
    let after = ends.partition_point(|(time, _)| *time < at);
    let last = ends.last().map_or(0.0, |(_, sum)| *sum);
    let (Some(&(to, sum)), Some(&(from, before))) =
        (ends.get(after), after.checked_sub(1).and_then(|before| ends.get(before)))
    else {
        return if after == 0 { 0.0 } else { last };
    };
    if to > from { before + (sum - before) * (at - from) / (to - from) } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rows: &[(f64, f64, f64)]) -> Series {
        let mut series = Series::default();
        for (time, rate, p90) in rows {
            let values = [("throughput", *rate), ("response_ns_p90", *p90), ("data_bytes", 7.0)];
            series.push(*time, values.map(|(name, value)| (name.to_owned(), Some(value))));
        }
        series
    }

    fn throughput(rows: &[(f64, f64)]) -> Series {
        let mut series = Series::default();
        for (time, rate) in rows {
            series.push(*time, [("throughput".to_owned(), Some(*rate))]);
        }
        series
    }

    #[test]
    fn rates_are_added_and_quantiles_are_the_worst() {
        let one = series(&[(1.0, 10.0, 5.0), (2.0, 20.0, 6.0), (2.6, 1.0, 1.0)]);
        let other = series(&[(1.01, 1.0, 9.0), (2.02, 2.0, 4.0)]);
        let both = one_series(&[&one, &other]);
        assert_eq!(both.time_s, [1.0, 2.0, 3.0]);
        assert_eq!(both.column("throughput"), Some([Some(11.0), Some(22.0), Some(1.0)].as_slice()));
        assert_eq!(both.column("response_ns_p90"), Some([Some(9.0), Some(6.0), Some(1.0)].as_slice()));
        assert_eq!(both.column("data_bytes"), Some([Some(7.0), Some(7.0), Some(7.0)].as_slice()));
    }

    #[test]
    fn nothing_that_was_done_is_lost_between_rows() {
        let one = throughput(&[(0.1, 10.0), (0.2, 20.0), (0.3, 30.0)]);
        // Its rows end a little later, and it missed one.
        let other = throughput(&[(0.11, 100.0), (0.3, 100.0)]);
        let both = rates(&[&one, &other]);
        assert_eq!(both.time_s, one.time_s);
        let values: Vec<f64> = both.column("throughput").unwrap().iter().map(|it| it.unwrap()).collect();
        let wanted = [110.0, 120.0, 130.0];
        assert!(values.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{values:?}");
        // One that ends sooner gains nothing more.
        let both = rates(&[&one, &throughput(&[(0.1, 5.0)])]);
        let values: Vec<f64> = both.column("throughput").unwrap().iter().map(|it| it.unwrap()).collect();
        assert!((values[0] - 15.0).abs() < 1e-6 && (values[2] - 30.0).abs() < 1e-6, "{values:?}");
    }

    #[test]
    fn rates_of_two_processes_add_up_and_figures_of_the_machine_are_one() {
        let row = |values: &[(&str, f64)]| -> SeriesRow {
            values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let one = row(&[("throughput.read", 5.0), ("cpu_user", 0.5), ("cpu_others", 0.25), ("data_bytes", 100.0)]);
        let other = row(&[("throughput.read", 7.0), ("cpu_user", 0.25), ("cpu_others", 0.5), ("retries", 1.0)]);
        let both = [
            ("throughput.read", 12.0),
            ("cpu_user", 0.75),
            ("cpu_others", 0.5),
            ("data_bytes", 100.0),
            ("retries", 1.0),
        ];
        assert_eq!(both_rows(&one, &other), row(&both));
    }
}
