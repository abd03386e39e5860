//! The difference that a comparison can be expected to show, estimated before it is over.
//!
//! The half width of the interval of n pairs is, on average, `expected_half_width(n)` times the standard deviation of a
//! pair's logarithm. Before the first round only the machine's own part of that is known, by the scatter of a fixed CPU
//! loop, which the engine, the disk and other rounds can only add to. After three pairs the estimate comes from the pairs
//! themselves.

use super::CaseRun;
use crate::plan::{ComparisonPlan, Job, Plan};
use bourse_driver::Calibration;
use bourse_record::{Better, Gate, Interference, Round, Workload};
use bourse_stats::signed_rank::expected_half_width;
use bourse_verdict::comparison::{CasePair, ComparedCases};

/// Pairs after which their scatter is reported.
const PAIRS: usize = 3;
/// Standard deviation of three normal values on average, as a part of the true one: √π / 2.
const OF_THREE: f64 = 0.886_226_925;

/// Estimate before the first round; `None` if rounds have no interval or no length, or the calibration shows no noise.
pub(super) fn before(plan: &Plan, calibration: &Calibration) -> Option<String> {
    let rounds = plan.blocks.first()?.rounds;
    // Disturbance by other processes, on top of the machine's own noise, cannot be foreseen.
    let deviation =
        calibration.second_deviation.filter(|_| calibration.others + calibration.stolen <= Interference::NOTICED)?;
    let seconds = plan.cases().filter_map(|case| measured_s(&case.job)).reduce(f64::min)?;
    // A round's mean scatters less the longer it is; a pair's ratio has the noise of two rounds.
    let pair = deviation * (2.0 / seconds).sqrt();
    let half = expected_half_width(rounds as usize)? * pair;
    Some(format!(
        "{rounds} pairs of rounds can show a difference of {} at best, by the noise of this machine",
        percent(half)
    ))
}

/// Estimate from the first pairs, by the figure that the verdict will be about; `None` except after the third pair.
pub(super) fn after(workload: &Workload, base: &[Round], head: &[Round], rounds: u32) -> Option<String> {
    if base.len() != PAIRS || head.len() != PAIRS || rounds as usize <= PAIRS {
        return None;
    }
    let ratio = |(one, other): (&Round, &Round)| {
        let (one, other) = (one.figure(workload), other.figure(workload));
        (one > 0.0 && other > 0.0).then(|| (other / one).ln())
    };
    let ratios: Vec<f64> = base.iter().zip(head).map(ratio).collect::<Option<_>>()?;
    let half = expected_half_width(rounds as usize)? * deviation(&ratios)? / OF_THREE;
    Some(format!(
        "after {PAIRS} pairs: {rounds} pairs are expected to show a difference from {} on; more rounds show less",
        percent(half)
    ))
}

/// Verdict at a look; `None` if it is not decided whether the second case is slower by more than the tolerance.
pub(super) fn decided(comparing: &ComparisonPlan, base: &CaseRun, head: &CaseRun) -> Option<&'static str> {
    let [base, head] = [base, head].map(|it| it.case.clone());
    let pair = CasePair { base: base?, head: head?, in_turn: true };
    let compared = ComparedCases::at_look(pair, Vec::new(), comparing.tolerance);
    let verdict = compared.comparisons.first()?.verdict;
    (verdict.gate() != Gate::Undecided).then(|| verdict.name(Better::Higher))
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
    let ns = job.measure_ns();
    ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9)
}

/// A difference of logarithms as a difference in percent.
fn percent(half: f64) -> String {
    match half.exp_m1() {
        part if part < 1.0 => format!("±{:.1} %", 100.0 * part),
        part => format!("a factor of {:.2}", 1.0 + part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::LatencySummary;
    use bourse_stats::{SplitMix, ratio_of_pairs};
    use serde_json::json;

    fn workload(kind: &str) -> Workload {
        let workload = json!({
            "name": "w", "kind": kind, "parameters": [], "headline_operation": "Trade-Result", "headline_unit": "TR/s",
            "nominal": null, "outcomes": [], "notice": null,
        });
        serde_json::from_value(workload).unwrap()
    }

    /// Rounds of a second with these headlines, and with `transactions` valid transactions of all kinds.
    fn rounds(headlines: &[f64], transactions: u64) -> Vec<Round> {
        let times = json!({ "summary": LatencySummary::default(), "hdr_base64": "", "clamped": 0 });
        let round = |headline: &f64| {
            let round = json!({
                "offset_s": 0, "phases": [], "measured_s": 1, "headline": headline, "operations": [{
                    "name": "Trade-Result", "outcomes": [{ "outcome": "completed", "code": 0, "count": transactions }],
                    "retries": 0, "late": 0, "mix_target_percent": 10, "response": times, "service": times,
                }],
                "series": { "time_s": [], "columns": [] }, "cpu_user_s": 0, "cpu_system_s": 0, "read_bytes": 0,
                "written_bytes": 0, "facts": [], "checks": [], "warnings": [],
            });
            serde_json::from_value(round).unwrap()
        };
        headlines.iter().map(round).collect()
    }

    #[test]
    fn it_is_said_once_and_only_where_there_will_be_an_interval() {
        let after = |base: &[Round], head: &[Round], of| after(&workload("micro"), base, head, of);
        let three = rounds(&[1.0, 2.0, 3.0], 0);
        assert!(after(&three, &three, 8).unwrap().contains("from ±0.0 % on"));
        assert_eq!(after(&three, &three, 5), None);
        assert_eq!(after(&three[..2], &three[..2], 8), None);
        assert_eq!(after(&rounds(&[0.0; 3], 0), &three, 8), None);
    }

    /// Trade-Results are a tenth of the transactions, and scatter three times as much.
    #[test]
    fn what_the_brokerage_can_show_goes_by_transactions_as_its_verdict_does() {
        let (base, head) = (rounds(&[10.0, 30.0, 20.0], 500), rounds(&[20.0, 10.0, 30.0], 600));
        let said = |kind| after(&workload(kind), &base, &head, 8).unwrap();
        assert!(said("brokerage").contains("from ±0.0 % on"), "{}", said("brokerage"));
        assert!(!said("micro").contains("from ±0.0 % on"), "{}", said("micro"));
    }

    /// Plan of pairs of rounds of this length.
    fn plan(rounds: u32, measure_ns: Option<u64>) -> Plan {
        let mut plan = crate::plan::tests::plan(false);
        for block in &mut plan.blocks {
            block.rounds = rounds;
            for case in &mut block.cases {
                let Job::Classic(job) = &mut case.job else { panic!("a classic workload") };
                job.measure_ns = measure_ns;
            }
        }
        plan
    }

    #[test]
    fn before_the_first_round_the_machine_says_what_can_be_shown() {
        let quiet = Calibration {
            sample_ns: 20.0,
            lag_ns_p99: 0,
            scatter_percent: 1.0,
            loop_ns: 1e6,
            second_deviation: Some(0.02),
            others: 0.0,
            stolen: 0.0,
        };
        let half = |plan: &Plan, calibration: &Calibration| {
            let words = before(plan, calibration)?;
            let (_, rest) = words.split_once("a difference of ±").expect(&words);
            Some(rest.split_once(" %").expect(&words).0.parse::<f64>().unwrap())
        };
        let said = before(&plan(8, Some(1_000_000_000)), &quiet).unwrap();
        assert!(said.starts_with("8 pairs of rounds can show a difference of ±"), "{said}");
        let second = half(&plan(8, Some(1_000_000_000)), &quiet).unwrap();
        // Two rounds that each scatter by 2 %, over the root of eight pairs, with Student's quantile for few pairs.
        assert!((2.0..4.0).contains(&second), "{second}");
        let longer = half(&plan(8, Some(4_000_000_000)), &quiet).unwrap();
        assert!((1.8..2.2).contains(&(second / longer)), "{second} {longer}: four times as long is half the scatter");
        let more = half(&plan(32, Some(1_000_000_000)), &quiet).unwrap();
        assert!(more < 0.6 * second, "{more} {second}");
        assert_eq!(before(&plan(5, Some(1_000_000_000)), &quiet), None, "five pairs have no interval");
        assert_eq!(before(&plan(8, None), &quiet), None, "a load has no length");
        let busy = Calibration { others: 1.8, ..quiet };
        assert_eq!(before(&plan(8, Some(1_000_000_000)), &busy), None, "nobody knows what others will do");
        assert_eq!(before(&plan(8, Some(1)), &Calibration { second_deviation: None, ..quiet }), None);
    }

    /// The expected half width is the mean half width of many simulated sessions.
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
