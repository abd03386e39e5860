//! Quantiles of response times round by round, and estimates from all rounds together.

use super::OperationView;
use bourse_record::{Estimate, Quantile, Round};
use bourse_stats::center;

/// Quantiles reported for each round.
pub const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// The [`QUANTILES`] of a round in nanoseconds: `None` if too few operations are beyond one, or it falls on an operation
/// without a time.
pub type RoundQuantiles = [Option<f64>; QUANTILES.len()];

/// The quantiles of an operation in a round, or of all together.
pub fn of_round(round: &Round, operation: Option<&str>) -> RoundQuantiles {
    let view = OperationView::of(round, operation);
    QUANTILES.map(|quantile| match view.as_ref()?.response.quantile(quantile)? {
        // A time of 0 has no logarithm; the clock's shortest is 1 ns.
        Quantile::At(ns) => Some(ns.max(1) as f64),
        Quantile::Beyond(_) | Quantile::TooFew => None,
    })
}

/// One of the quantiles over the rounds: the centre of their logarithms with its interval. Rounds differ by factors, as when
/// a machine is slower for a while, so logarithms scatter symmetrically. `None` below six rounds, or if a round has none:
/// leaving out rounds for their slow operations would make the others' quantile look too good.
pub fn over_rounds(rounds: &[RoundQuantiles], at: usize) -> Option<Estimate> {
    let logarithms: Option<Vec<f64>> = rounds.iter().map(|round| Some(round.get(at).copied()??.ln())).collect();
    let estimate = center(&logarithms?)?.map(f64::exp);
    estimate.interval.is_some().then_some(estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::{OperationSpec, Outcome, Recorder, Sample};

    /// A round of `count` operations that take `ns` each, and ten times as long for one in fifty.
    fn round(count: u64, ns: u64, failed: u64) -> Round {
        let mut recorder = Recorder::new([OperationSpec::new("read")].into(), |_| true);
        let mut sample = |ns, outcome| recorder.sample(&Sample::new(0, outcome, ns), true);
        (0..count).for_each(|at| sample(if at % 50 == 0 { 10 * ns } else { ns }, Outcome::Completed));
        (0..failed).for_each(|_| sample(1, Outcome::Failed));
        let text = r#"{ "offset_s": 0, "phases": [], "measured_s": 20, "headline": 1, "operations": [], "cpu_user_s": 0,
            "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
            "checks": [], "warnings": [] }"#;
        let round: Round = serde_json::from_str(text).unwrap();
        Round { operations: recorder.figures(), ..round }
    }

    fn estimates(rounds: &[Round]) -> [Option<Estimate>; 3] {
        let rounds: Vec<RoundQuantiles> = rounds.iter().map(|round| of_round(round, Some("read"))).collect();
        [0, 1, 2].map(|at| over_rounds(&rounds, at))
    }

    #[test]
    fn a_quantile_over_rounds_has_the_interval_of_its_rounds() {
        let times = [1_000, 1_100, 1_200, 900, 1_000, 1_050, 950, 1_020];
        let rounds = times.map(|ns| round(1_000, ns, 0));
        let [p50, p90, p99] = estimates(&rounds).map(Option::unwrap);
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
        near(p50.value, 1_015.0);
        near(p90.value, 1_015.0);
        near(p99.value, 10_150.0);
        // Eight rounds: the fourth smallest and largest of the means of two.
        let interval = p50.interval.unwrap();
        assert_eq!(interval.level, 0.960_937_5);
        assert!(interval.low > 900.0 && interval.high < 1_200.0 && interval.holds(p50.value), "{interval:?}");
        assert!(estimates(&rounds[..5]).iter().all(Option::is_none), "five rounds have no interval");
        assert_eq!(over_rounds(&rounds.map(|round| of_round(&round, Some("write"))), 0), None);
    }

    #[test]
    fn a_round_without_the_quantile_leaves_none() {
        let mut rounds: Vec<Round> = (0..8).map(|_| round(1_000, 1_000, 0)).collect();
        rounds[3] = round(500, 1_000, 0);
        let [p50, p90, p99] = estimates(&rounds);
        assert_eq!((p50.is_some(), p90.is_some(), p99.is_some()), (true, true, false), "500 have no 99th percentile");
        rounds[3] = round(1_000, 1_000, 150);
        let [p50, p90, p99] = estimates(&rounds);
        assert_eq!((p50.is_some(), p90.is_some(), p99.is_some()), (true, false, false), "failed ones are beyond it");
    }
}
