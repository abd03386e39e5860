//! Merges the figures of an operation.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{
    Distribution, HistogramError, Operation, Outcome, OutcomeCount, OutcomeLatency, ServerFigures, Times, UnderWay,
};

/// Sum of a count over the parts, saturating at `u64::MAX`.
pub(super) fn total<P>(parts: &[&P], of: impl Fn(&P) -> u64) -> u64 {
    parts.iter().map(|part| of(part)).fold(0, u64::saturating_add)
}

/// Turns `operation`, the first of the parts, into the merged operation.
pub(super) fn one_operation(operation: &mut Operation, parts: &[&Operation]) -> Result<(), HistogramError> {
    let mut outcomes: Vec<OutcomeCount> = Vec::new();
    for outcome in parts.iter().flat_map(|part| &part.outcomes) {
        match outcomes.iter_mut().find(|known| (known.outcome, known.code) == (outcome.outcome, outcome.code)) {
            Some(known) => {
                known.count = known.count.saturating_add(outcome.count);
                known.example = known.example.take().or_else(|| outcome.example.clone());
            }
            None => outcomes.push(outcome.clone()),
        }
    }
    outcomes.sort_by_key(|outcome| (std::cmp::Reverse(outcome.count), outcome.outcome, outcome.code));
    operation.outcomes = outcomes;
    operation.retries = total(parts, |part| part.retries);
    operation.round_trips = total(parts, |part| part.round_trips);
    operation.late = total(parts, |part| part.late);
    operation.samples = total(parts, |part| part.samples);
    operation.untimed = total(parts, |part| part.untimed);
    let expected: Vec<f64> = parts.iter().filter_map(|part| part.mix_expected_percent).collect();
    operation.mix_expected_percent =
        (!expected.is_empty()).then(|| expected.iter().sum::<f64>() / expected.len() as f64);
    operation.mix_tolerance_points = parts.iter().filter_map(|part| part.mix_tolerance_points).reduce(f64::max);
    operation.response = Distribution::merged(parts.iter().map(|part| &part.response))?;
    operation.service = Distribution::merged(parts.iter().map(|part| &part.service))?;
    // Without the times of all failed operations these cannot be separated.
    let has_failed = |part: &&&Operation| part.outcomes.iter().any(|it| it.outcome == Outcome::Failed && it.count > 0);
    let failed: Option<Vec<&Times>> = parts.iter().filter(has_failed).map(|part| part.failed.as_ref()).collect();
    operation.failed = match failed.as_deref() {
        None | Some([]) => None,
        Some(failed) => Some(Times {
            response: Distribution::merged(failed.iter().map(|it| &it.response))?,
            service: Distribution::merged(failed.iter().map(|it| &it.service))?,
        }),
    };
    operation.under_way = under_way(&parts.iter().filter_map(|part| part.under_way.as_ref()).collect::<Vec<_>>())?;
    let servers: Vec<&ServerFigures> = parts.iter().filter_map(|part| part.server.as_ref()).collect();
    if !servers.is_empty() {
        operation.server = Some(ServerFigures {
            server: Distribution::merged(servers.iter().map(|it| &it.server))?,
            engine: Distribution::merged(servers.iter().map(|it| &it.engine))?,
            network: Distribution::merged(servers.iter().map(|it| &it.network))?,
        });
    }
    operation.by_outcome = by_outcome(parts)?;
    Ok(())
}

/// Times of each outcome over all drivers; empty if a file lacks the histograms, since quantiles cannot be merged.
fn by_outcome(parts: &[&Operation]) -> Result<Vec<OutcomeLatency>, HistogramError> {
    if parts.iter().any(|part| part.by_outcome.is_empty() && part.response.summary.count > 0) {
        return Ok(Vec::new());
    }
    let mut merged = Vec::new();
    for outcome in Outcome::MEASURED {
        let occurred: Vec<(&Operation, &OutcomeLatency)> = parts
            .iter()
            .flat_map(|part| part.by_outcome.iter().filter(|it| it.outcome == outcome).map(move |it| (*part, it)))
            .collect();
        let whole: Option<Vec<[&Distribution; 2]>> = occurred.iter().map(|(part, it)| times_of(part, it)).collect();
        let Some(whole) = whole else { return Ok(Vec::new()) };
        if whole.is_empty() {
            continue;
        }
        let response = Distribution::merged(whole.iter().map(|[response, _]| *response))?;
        let service = Distribution::merged(whole.iter().map(|[_, service]| *service))?;
        let summaries = (response.summary, service.summary);
        merged.push(OutcomeLatency {
            outcome,
            response: summaries.0,
            service: summaries.1,
            times: (outcome != Outcome::Failed).then_some(Times { response, service }),
        });
    }
    // Those of a single outcome are the operation's.
    if let [only] = merged.as_mut_slice() {
        only.times = None;
    }
    Ok(merged)
}

/// Response and service times of an outcome of an operation, from whichever field holds them.
fn times_of<'p>(operation: &'p Operation, latency: &'p OutcomeLatency) -> Option<[&'p Distribution; 2]> {
    let both = |times: &'p Times| [&times.response, &times.service];
    match (operation.by_outcome.as_slice(), latency.outcome) {
        ([_], _) => Some([&operation.response, &operation.service]),
        (_, Outcome::Failed) => operation.failed.as_ref().map(both),
        _ => latency.times.as_ref().map(both),
    }
}

/// Operations still under way at the end, over all drivers.
fn under_way(parts: &[&UnderWay]) -> Result<Option<UnderWay>, HistogramError> {
    if parts.is_empty() {
        return Ok(None);
    }
    let unended: Vec<&Distribution> = parts.iter().filter_map(|part| part.unended.as_ref()).collect();
    Ok(Some(UnderWay {
        count: total(parts, |part| part.count),
        failed: total(parts, |part| part.failed),
        longest_ns: parts.iter().map(|part| part.longest_ns).fold(0, u64::max),
        unended: if unended.is_empty() { None } else { Some(Distribution::merged(unended)?) },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperationSpec, Recorder, Sample};

    /// A recorder of operations with the given outcomes and times.
    fn recorder(ended: &[(Outcome, u64)]) -> Recorder {
        let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
        for &(outcome, end_ns) in ended {
            let sample = Sample { start_ns: end_ns / 2, ..Sample::new(0, outcome, end_ns) };
            recorder.sample(&sample, true);
        }
        recorder
    }

    #[test]
    fn times_by_outcome_are_those_of_all_samples_together() {
        use Outcome::{Completed, Failed, RolledBack, Warned};
        for (one, other) in [
            (&[(Completed, 5_000), (RolledBack, 70), (Completed, 9_000)][..], &[(RolledBack, 900), (Warned, 40)][..]),
            (&[(Completed, 5_000), (Failed, 80_000)], &[(Completed, 300)]),
            (&[(Completed, 5_000), (Failed, 80_000)], &[(Failed, 300), (Warned, 7)]),
            (&[(Completed, 5)], &[(Completed, 7)]),
            (&[(Completed, 5)], &[]),
        ] {
            let parts = [one, other].map(|ended| recorder(ended).figures().remove(0));
            let mut merged = parts[0].clone();
            one_operation(&mut merged, &[&parts[0], &parts[1]]).unwrap();
            let mut whole = recorder(one);
            whole.merge(recorder(other));
            assert_eq!(merged, whole.figures().remove(0), "{one:?} {other:?}");
        }
        // A file with quantiles alone has none to merge.
        let parts = [
            recorder(&[(Completed, 5), (Warned, 7)]).figures().remove(0),
            recorder(&[(Warned, 5)]).figures().remove(0),
        ];
        let mut old = parts[0].clone();
        old.by_outcome.iter_mut().for_each(|it| it.times = None);
        let mut merged = old.clone();
        one_operation(&mut merged, &[&old, &parts[1]]).unwrap();
        assert_eq!(merged.by_outcome, []);
    }
}
