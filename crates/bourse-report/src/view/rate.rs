//! Rate of a single round, with its interval from the steps of its series.

use bourse_record::{Operation, PhaseKind, Round, StoppingRule, Workload, WorkloadKind};
use bourse_stats::{batch, stopping};

/// Unit of the brokerage's headline.
pub(super) const UNIT: &str = "transactions/s";

/// Transactions of the mix, of all kinds, that ended validly in the measurement interval, a second.
pub(super) fn transactions_per_second(round: &Round) -> f64 {
    let in_mix = |operation: &&Operation| operation.mix_target_percent.is_some();
    let valid: u64 = round.operations.iter().filter(in_mix).map(Operation::valid).sum();
    valid as f64 / round.measured_s
}

/// Half the width of the 95 % interval of a round's rate, relative to it; none where the series is too short for that.
///
/// An interval that a look could have ended is that of [`stopping`], any other that of [`batch`].
pub(super) fn relative_half_width(round: &Round, workload: &Workload) -> Option<f64> {
    let metric = match workload.kind {
        WorkloadKind::Brokerage => "throughput_fine".to_owned(),
        WorkloadKind::Micro => format!("throughput_fine.{}", workload.headline_operation),
    };
    let series = &round.fine_series;
    let values = series.column(&metric)?;
    let phase = round.phases.iter().find(|phase| phase.kind == PhaseKind::Measurement)?;
    let step_s = series.time_s.last()? / series.time_s.len() as f64;
    // A row carries the time of its end.
    let inside = |time: f64| time >= phase.from_s + 0.5 * step_s && time <= phase.to_s + 1e-6;
    let times = series.time_s.iter().zip(values).filter(|(time, _)| inside(**time));
    let rates: Vec<f64> = times.filter_map(|(_, value)| value.filter(|value| value.is_finite())).collect();
    let found = match round.stopping.map(|it| it.rule) {
        Some(StoppingRule::RateKnown) => stopping::mean(&rates),
        _ => batch::mean(&rates),
    }?;
    let interval = found.mean.interval.filter(|_| found.mean.value > 0.0)?;
    Some((interval.high - interval.low) / 2.0 / found.mean.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::{Phase, Stopping};

    #[test]
    fn an_interval_that_looks_may_have_ended_is_wider_than_one_of_fixed_length() {
        let text = r#"{ "offset_s": 0, "phases": [], "measured_s": 1, "headline": 1, "operations": [], "cpu_user_s": 0,
            "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
            "checks": [], "warnings": [] }"#;
        let mut round: Round = serde_json::from_str(text).unwrap();
        let workload = r#"{ "name": "tpce", "kind": "brokerage", "parameters": [], "headline_operation": "Trade-Result",
            "headline_unit": "TR/s", "nominal": 2, "outcomes": [], "notice": null }"#;
        let workload: Workload = serde_json::from_str(workload).unwrap();
        round.phases = vec![Phase { kind: PhaseKind::Measurement, from_s: 5.0, to_s: 25.0 }];
        let mut random = bourse_stats::SplitMix::new(1);
        for step in 1..=250 {
            // What came before the interval is none of its rate.
            let rate = if step <= 50 { 1e6 } else { 1_000.0 + 100.0 * random.normal() };
            round.fine_series.push(0.1 * f64::from(step), [("throughput_fine".to_owned(), Some(rate))]);
        }
        let fixed = relative_half_width(&round, &workload).unwrap();
        // 10 % over the root of 200 steps, twice.
        assert!((0.010..0.020).contains(&fixed), "{fixed}");
        let rule = StoppingRule::RateKnown;
        round.stopping = Some(Stopping { rule, warmed_up: true, looks: 1, reached: true });
        let looked_at = relative_half_width(&round, &workload).unwrap();
        assert!((0.012..0.030).contains(&looked_at) && looked_at != fixed, "{looked_at}");
        round.fine_series = bourse_record::Series::default();
        assert_eq!(relative_half_width(&round, &workload), None);
    }
}
