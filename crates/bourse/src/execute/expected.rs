//! The difference that a comparison can be expected to show, said before it is over.
//!
//! The half width of the interval of n pairs is, on average, `expected_half_width(n)` times the standard deviation of a pair's
//! logarithm. Before the first round only the machine's own part of that is known: from how a fixed CPU loop scattered, which
//! the engine, the disk and other rounds can only add to. After three pairs the pairs themselves tell.

use crate::plan::{Job, Plan};
use bourse_driver::Calibration;
use bourse_record::Round;
use bourse_stats::signed_rank::expected_half_width;

/// Pairs after which their scatter is told.
const PAIRS: usize = 3;
/// Standard deviation of three normal values on average, as a part of the true one: √π / 2.
const OF_THREE: f64 = 0.886_226_925;

/// What can be said before the first round; none where the rounds have no interval or no length, or the machine did not tell.
pub(super) fn before(plan: &Plan, calibration: &Calibration) -> Option<String> {
    let rounds = plan.blocks.first()?.rounds;
    let deviation = calibration.second_deviation?;
    let seconds = plan.cases().filter_map(|case| measured_s(&case.job)).reduce(f64::min)?;
    // A round's mean scatters less the longer it is; a pair's ratio has the noise of two rounds.
    let pair = deviation * (2.0 / seconds).sqrt();
    let half = expected_half_width(rounds as usize)? * pair;
    Some(format!(
        "{rounds} pairs of rounds can show a difference of {} at best, by the noise of this machine",
        percent(half)
    ))
}

/// What the first pairs say of the pairs that are to come; none but after the third.
pub(super) fn after(base: &[Round], head: &[Round], rounds: u32) -> Option<String> {
    if base.len() != PAIRS || head.len() != PAIRS || rounds as usize <= PAIRS {
        return None;
    }
    let ratio = |(one, other): (&Round, &Round)| {
        (one.headline > 0.0 && other.headline > 0.0).then(|| (other.headline / one.headline).ln())
    };
    let ratios: Vec<f64> = base.iter().zip(head).map(ratio).collect::<Option<_>>()?;
    let half = expected_half_width(rounds as usize)? * deviation(&ratios)? / OF_THREE;
    Some(format!(
        "after {PAIRS} pairs: {rounds} pairs are expected to show a difference from {} on; more rounds show less",
        percent(half)
    ))
}

/// Standard deviation of a sample.
fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    deviation.is_finite().then_some(deviation)
}

/// Length of a round's measurement interval, in seconds.
fn measured_s(job: &Job) -> Option<f64> {
    let ns = match job {
        Job::Brokerage(job) => Some(job.measure_ns),
        Job::Classic(job) => job.measure_ns,
    };
    ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9)
}

/// A difference of logarithms as a difference in percent.
fn percent(half: f64) -> String {
    format!("±{:.1} %", 100.0 * half.exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_stats::{SplitMix, ratio_of_pairs};

    fn rounds(figures: &[f64]) -> Vec<Round> {
        let round = |figure: &f64| {
            let mut round: Round = serde_json::from_str(
                r#"{ "offset_s": 0, "phases": [], "measured_s": 1, "headline": 0, "operations": [],
                     "series": { "time_s": [], "columns": [] }, "cpu_user_s": 0, "cpu_system_s": 0, "read_bytes": 0,
                     "written_bytes": 0, "facts": [], "checks": [], "warnings": [] }"#,
            )
            .unwrap();
            round.headline = *figure;
            round
        };
        figures.iter().map(round).collect()
    }

    #[test]
    fn it_is_said_once_and_only_where_there_will_be_an_interval() {
        let three = rounds(&[1.0, 2.0, 3.0]);
        assert!(after(&three, &three, 8).unwrap().contains("from ±0.0 % on"));
        assert_eq!(after(&three, &three, 5), None);
        assert_eq!(after(&three[..2], &three[..2], 8), None);
        assert_eq!(after(&rounds(&[0.0; 3]), &three, 8), None);
    }

    /// The expected half width is what intervals come to, on average over many sessions.
    #[test]
    fn what_is_expected_is_what_comes() {
        let mut random = SplitMix::new(4);
        let (mut expected, mut found) = (0.0, 0.0);
        for _ in 0..2_000 {
            let pairs: Vec<(f64, f64)> = (0..8).map(|_| (1.0, f64::exp(0.03 * random.normal()))).collect();
            let ratios: Vec<f64> = pairs[..PAIRS].iter().map(|(_, other)| other.ln()).collect();
            expected += expected_half_width(8).unwrap() * deviation(&ratios).unwrap() / OF_THREE;
            found += ratio_of_pairs(&pairs).unwrap().interval.unwrap().map(f64::ln).half_width();
        }
        assert!((0.95..1.05).contains(&(expected / found)), "{}", expected / found);
    }
}
