//! Statistical estimates for rounds and cases: `bourse_stats` applied to the contents of a run file.

use crate::{Case, Interference, Operation, PhaseKind, Round, Series, Workload, WorkloadKind};
use bourse_stats::batch::{SeriesMean, WithheldInterval};
use bourse_stats::{Estimate, Interval, batch, center, signed_rank};

/// Minimum number of rounds for an interval.
pub const FEWEST_ROUNDS: usize = signed_rank::MIN_VALUES;

/// Reason that a round's figure has no interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoInterval {
    /// Others took so many processors that another run would have another figure.
    Others {
        /// Processors that they used, on average.
        cpus: f64,
    },
    /// The round is too short.
    TooShort {
        /// Length needed, in seconds; approximate.
        needs_s: f64,
    },
    /// Too few stalls to estimate their frequency.
    RareStalls {
        /// Stalls in the interval; earlier ones exist.
        seen: usize,
        /// Length needed, in seconds; approximate.
        needs_s: f64,
    },
}

impl Round {
    /// Mean throughput in the measurement interval by batch means, with details of its interval: of one operation, or
    /// of all together. `None` if the series has no usable values.
    ///
    /// Only the width of `mean.interval` is meant to be used: `half_width()` is the ± of the exact figure, which is
    /// completions divided by seconds. A round of 10 s mostly has an interval; one of less than 6 s has none.
    pub fn throughput(&self, operation: Option<&str>) -> Option<SeriesMean> {
        let phase = self.phases.iter().find(|phase| phase.kind == PhaseKind::Measurement)?;
        throughput(self, operation, phase.from_s, phase.to_s)
    }

    /// Figure at the head of a report: the workload's headline, but for the brokerage the valid transactions of the whole
    /// mix per second of the measurement interval. NaN for a void round.
    pub fn figure(&self, workload: &Workload) -> f64 {
        if workload.kind != WorkloadKind::Brokerage || !self.headline.is_finite() {
            return self.headline;
        }
        let in_mix = |operation: &&Operation| operation.mix_target_percent.is_some();
        let valid: u64 = self.operations.iter().filter(in_mix).map(Operation::valid).sum();
        valid as f64 / self.measured_s
    }

    /// CPUs that others took, if they took so many that the figure has no interval.
    fn decisive_cpus(&self) -> Option<f64> {
        Some(self.cpus_taken()).filter(|cpus| *cpus > Interference::DECISIVE)
    }

    /// Reason that the round's figure has no interval. `None` if it has one, or if a long round has too few values.
    pub fn withheld(&self, workload: &Workload) -> Option<NoInterval> {
        if let Some(cpus) = self.decisive_cpus() {
            return Some(NoInterval::Others { cpus });
        }
        let found = self.throughput(operation_of_figure(workload))?;
        let seconds = |values: f64| values * self.measured_s / (found.batch * found.batches) as f64;
        /// Rounds shorter than this have too few values for any other reason to be found.
        const SHORTEST_S: f64 = 10.0;
        match found.withheld? {
            _ if self.measured_s < SHORTEST_S => Some(NoInterval::TooShort { needs_s: SHORTEST_S }),
            WithheldInterval::TooFew => None,
            WithheldInterval::RareStalls { seen, needs } => {
                Some(NoInterval::RareStalls { seen, needs_s: seconds(needs) })
            }
        }
    }

    /// Figure of the round with its interval by batch means of the throughput.
    pub fn estimate(&self, workload: &Workload) -> Estimate {
        self.with_interval(self.figure(workload), operation_of_figure(workload))
    }

    /// Rate of an operation, or of all, with its interval by batch means.
    fn with_interval(&self, figure: f64, operation: Option<&str>) -> Estimate {
        let half = self.throughput(operation).and_then(|it| it.mean.interval).map(|it| (it.half_width(), it.level));
        let interval = half
            .filter(|_| figure.is_finite() && self.decisive_cpus().is_none())
            .map(|(half, level)| Interval { low: (figure - half).max(0.0), high: figure + half, level });
        Estimate { value: figure, interval }
    }
}

/// Operation that the figure counts; `None` if it counts all.
fn operation_of_figure(workload: &Workload) -> Option<&str> {
    match workload.kind {
        WorkloadKind::Brokerage => None,
        WorkloadKind::Micro => workload.headline_operation.as_deref(),
    }
}

impl Case {
    /// Headlines of the rounds with a measurement, in order.
    pub fn headlines(&self) -> Vec<f64> {
        self.measured().map(|round| round.headline).collect()
    }

    /// Figures of the same rounds, in order.
    pub fn figures(&self) -> Vec<f64> {
        self.measured().map(|round| round.figure(&self.workload)).collect()
    }

    /// Figure of the case with its interval: over several rounds the Hodges–Lehmann estimate, for a single round its
    /// own figure by batch means. `None` if nothing was measured.
    pub fn estimate(&self) -> Option<Estimate> {
        let mut rounds = self.measured();
        match (rounds.next(), rounds.next()) {
            (Some(round), None) => Some(round.estimate(&self.workload)),
            _ => center(&self.figures()),
        }
    }

    /// Valid completions of an operation a second, with an interval as that of [`estimate`](Self::estimate). `None` if nothing
    /// was measured.
    pub fn rate_of(&self, operation: &str) -> Option<Estimate> {
        let rate = |round: &Round| Some(round.operation(operation)?.valid() as f64 / round.measured_s);
        let rates: Vec<f64> = self.measured().filter_map(rate).collect();
        match (self.measured().next(), rates.as_slice()) {
            (Some(round), [rate]) => Some(round.with_interval(*rate, Some(operation))),
            _ => center(&rates),
        }
    }

    fn measured(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| round.measured_s > 0.0 && round.headline.is_finite())
    }
}

/// Mean throughput between two times of a round by batch means, of the series recorded for it, or of the one-second
/// series.
fn throughput(round: &Round, operation: Option<&str>, from_s: f64, to_s: f64) -> Option<SeriesMean> {
    let column = operation.map_or_else(|| "throughput".to_owned(), |name| format!("throughput.{name}"));
    let kept = [&round.throughput_series, &round.series].into_iter().find(|series| series.column(&column).is_some())?;
    let values = even(kept, &column, from_s, to_s);
    batch::mean_after(&even(kept, &column, 0.0, from_s), &values)
}

/// Values of a rate between two times, in rows of equal length. Rows have unequal lengths on a busy machine: counts are
/// spread evenly over their time.
pub fn even(series: &Series, column: &str, from_s: f64, to_s: f64) -> Vec<f64> {
    /// Upper bound of rows, above that of any series.
    const MAX_ROWS: f64 = 100_000.0;
    let Some(values) = series.column(column) else { return Vec::new() };
    // Cumulative counts at the ends of rows.
    let mut until = vec![(0.0, 0.0)];
    let (mut last, mut sum) = (0.0, 0.0);
    for (time, value) in series.time_s.iter().zip(values) {
        if !time.is_finite() || *time <= last {
            continue;
        }
        sum += value.filter(|value| value.is_finite()).unwrap_or(0.0) * (time - last);
        last = *time;
        until.push((last, sum));
    }
    let to_s = to_s.min(last);
    let length = last / (until.len() - 1).max(1) as f64;
    let rows = ((to_s - from_s) / length).round();
    if !(1.0..=MAX_ROWS).contains(&rows) {
        return Vec::new();
    }
    let counted = |time: f64| {
        let after = until.partition_point(|(end, _)| *end < time).clamp(1, until.len() - 1);
        let [(from, before), (to, after)] = [until[after - 1], until[after]];
        before + (after - before) * ((time - from) / (to - from)).clamp(0.0, 1.0)
    };
    let length = (to_s - from_s) / rows;
    let edge = |row: usize| from_s + row as f64 * length;
    (0..rows as usize).map(|row| (counted(edge(row + 1)) - counted(edge(row))) / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rows: &[(f64, f64)]) -> Series {
        let mut series = Series::default();
        rows.iter().for_each(|(time, value)| series.push(*time, [("throughput".to_owned(), Some(*value))]));
        series
    }

    #[test]
    fn rows_become_equally_long_and_lose_nothing() {
        let uneven = series(&[(1.0, 10.0), (2.5, 20.0), (3.0, 0.0), (4.0, 40.0)]);
        assert_eq!(even(&uneven, "throughput", 0.0, 4.0), [10.0, 20.0, 10.0, 40.0]);
        assert_eq!(even(&uneven, "throughput", 1.0, 3.0), [20.0, 10.0]);
        assert_eq!(even(&uneven, "throughput", 3.9, 9.0).len(), 0, "less than half a row");
        assert_eq!(even(&uneven, "other", 0.0, 4.0), [0.0; 0]);
        assert_eq!(even(&Series::default(), "throughput", 0.0, 4.0), [0.0; 0]);
        assert_eq!(even(&series(&[(f64::NAN, 1.0), (0.0, 1.0)]), "throughput", 0.0, 4.0), [0.0; 0]);
    }

    fn round_of(rate: impl Fn(u32, f64) -> f64) -> (Round, Workload) {
        let text = r#"{ "offset_s": 0, "phases": [], "measured_s": 20, "headline": 1, "operations": [], "cpu_user_s": 0,
            "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
            "checks": [], "warnings": [] }"#;
        let mut round: Round = serde_json::from_str(text).unwrap();
        let workload = r#"{ "name": "tpce", "kind": "brokerage", "parameters": [], "headline_operation": "Trade-Result",
            "headline_unit": "TR/s", "nominal": 2, "outcomes": [], "notice": null }"#;
        round.phases = vec![crate::Phase { kind: PhaseKind::Measurement, from_s: 5.0, to_s: 25.0 }];
        let mut random = crate::SplitMix::new(1);
        for step in 1..=250 {
            let rate = rate(step, random.normal());
            round.throughput_series.push(0.1 * f64::from(step), [("throughput".to_owned(), Some(rate))]);
        }
        (round, serde_json::from_str(workload).unwrap())
    }

    #[test]
    fn the_interval_is_that_of_the_steps_measured() {
        // Steps of the warm-up must not count.
        let (mut round, workload) = round_of(|step, off| if step <= 50 { 1e6 } else { 1_000.0 + 100.0 * off });
        let half = round.throughput(None).and_then(|it| it.mean.interval).map(|it| it.half_width()).unwrap();
        // Twice 10 % over the root of 200 steps, and a possible trend.
        assert!((10.0..60.0).contains(&half), "{half}");
        assert_eq!(round.withheld(&workload), None);
        // Without transactions the figure is 0, and so is the lower end.
        assert_eq!(round.estimate(&workload).interval.map(|it| it.low), Some(0.0));
        round.throughput_series = Series::default();
        assert_eq!((round.estimate(&workload).interval, round.withheld(&workload)), (None, None));
    }

    #[test]
    fn a_figure_without_an_interval_says_how_many_seconds_it_lacks() {
        let (round, workload) =
            round_of(|step, off| if (100..106).contains(&step) { 0.0 } else { 1_000.0 + 50.0 * off });
        assert_eq!(round.withheld(&workload), Some(NoInterval::RareStalls { seen: 1, needs_s: 125.0 }));
    }
}
