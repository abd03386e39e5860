use super::quantiles::{RoundQuantiles, of_round};
use bourse_record::{
    Distribution, Latency, LatencyClock, Operation, Outcome, OutcomeCount, Round, ServerFigures, UnderWay,
};

impl ServerTimeSplit {
    fn over(parts: &[&Operation]) -> Option<Self> {
        let figures: Vec<_> = parts.iter().filter_map(|part| part.server.as_ref()).collect();
        let of = |of: fn(&ServerFigures) -> &Distribution| {
            Latency::over(&figures.iter().map(|each| of(each)).collect::<Vec<_>>())
        };
        (!figures.is_empty()).then(|| Self {
            server: of(|it| &it.server),
            engine: of(|it| &it.engine),
            network: of(|it| &it.network),
        })
    }
}

/// Name of all operations taken as one.
const ALL: &str = "all operations";

/// An operation with its rounds taken together.
#[derive(Debug, Clone)]
pub struct OperationView {
    /// Name of the operation.
    pub name: String,
    /// All outcomes, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// Completed as expected.
    pub completed: u64,
    /// Completed with a warning of the workload.
    pub warned: u64,
    /// Rolled back as designed.
    pub rolled_back: u64,
    /// Operations that found less than a full-sized database would hold.
    pub too_few_rows: u64,
    /// Failed.
    pub failed: u64,
    /// Never started, because the backlog was full.
    pub dropped: u64,
    /// Retries after lock conflicts.
    pub retries: u64,
    /// Waits for a server's answer per operation, on average; `None` without a server.
    pub round_trips: Option<f64>,
    /// Completed later than the limit.
    pub late: u64,
    /// Operations under way when the interval ended, of all rounds together; `None` if there were none.
    pub under_way: Option<UnderWayView>,
    /// Operations timed together, on average; `None` if unknown.
    pub batch: Option<f64>,
    /// Operations per timed one, if one was timed alone and the others only counted.
    pub one_in: Option<f64>,
    /// Harness overhead per operation, on average of the rounds; given for short operations.
    pub harness_overhead_ns: Option<f64>,
    /// Share of the mix in percent, if it is part of the mix and any ended.
    pub share_percent: Option<f64>,
    /// Share of the mix that it should have, in percent.
    pub target_percent: Option<f64>,
    /// Expected share in these rounds, if it differs from the target: the mean over them.
    pub expected_percent: Option<f64>,
    /// Tolerance of the share, in points of percent.
    pub tolerance_points: Option<f64>,
    /// Time within which 90 % must be answered, in nanoseconds.
    pub limit_ns: Option<u64>,
    /// Response times.
    pub response: Latency,
    /// Service times.
    pub service: Latency,
    /// Quantiles of its response times in each round, if there are several.
    pub by_round: Vec<RoundQuantiles>,
    /// Response and service times of failed operations; `None` if none failed, or the file does not have them.
    pub failed_times: Option<[Latency; 2]>,
    /// Times behind an application server.
    pub server: Option<ServerTimeSplit>,
}

/// Operations that were under way at the end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnderWayView {
    pub count: u64,
    pub failed: u64,
    /// Operations of unknown end.
    pub unended: u64,
    pub longest_ns: u64,
}

impl UnderWayView {
    fn over(parts: &[&UnderWay]) -> Option<Self> {
        let unended = |it: &&UnderWay| it.unended.as_ref().map_or(0, |ages| ages.summary.count);
        (!parts.is_empty()).then(|| Self {
            count: parts.iter().map(|it| it.count).sum(),
            failed: parts.iter().map(|it| it.failed).sum(),
            unended: parts.iter().map(unended).sum(),
            longest_ns: parts.iter().map(|it| it.longest_ns).max().unwrap_or_default(),
        })
    }

    /// Number of those that have a time among the operation's.
    pub fn timed(&self) -> u64 {
        self.count - self.unended.min(self.count)
    }
}

/// Split of the time of operations behind an application server.
#[derive(Debug, Clone)]
pub struct ServerTimeSplit {
    /// Time in the application server.
    pub server: Latency,
    /// Time in the engine.
    pub engine: Latency,
    /// Time in the network.
    pub network: Latency,
}

impl OperationView {
    /// An operation of one round, or all of them as one; `None` if the round does not have it.
    pub fn of(round: &Round, operation: Option<&str>) -> Option<Self> {
        Self::as_one(std::slice::from_ref(round), operation)
    }

    /// All operations of all rounds as one; `None` if there are none.
    pub fn all(rounds: &[Round]) -> Option<Self> {
        let by_round =
            if rounds.len() > 1 { rounds.iter().map(|round| of_round(round, None)).collect() } else { Vec::new() };
        Some(Self { by_round, ..Self::as_one(rounds, None)? })
    }

    fn as_one(rounds: &[Round], operation: Option<&str>) -> Option<Self> {
        let is_selected = |part: &&Operation| operation.is_none_or(|name| part.name == name);
        let parts: Vec<&Operation> = rounds.iter().flat_map(|round| &round.operations).filter(is_selected).collect();
        let mut view = (!parts.is_empty()).then(|| Self::merged(operation.unwrap_or(ALL), &parts))?;
        for round in rounds {
            let selected = round.operations.iter().filter(is_selected);
            selected.for_each(|part| view.response.never_started(round, &part.name));
        }
        Some(view)
    }

    /// The operations of all rounds, in order.
    pub fn over(rounds: &[Round]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for operation in rounds.iter().flat_map(|round| &round.operations) {
            if !names.contains(&operation.name.as_str()) {
                names.push(&operation.name);
            }
        }
        let of = |name: &str| -> Vec<&Operation> {
            rounds.iter().flat_map(|round| &round.operations).filter(|operation| operation.name == name).collect()
        };
        let mut operations: Vec<Self> = names.into_iter().map(|name| Self::merged(name, &of(name))).collect();
        for operation in &mut operations {
            rounds.iter().for_each(|round| operation.response.never_started(round, &operation.name));
        }
        if rounds.len() > 1 {
            for operation in &mut operations {
                operation.by_round = rounds.iter().map(|round| of_round(round, Some(&operation.name))).collect();
            }
        }
        let has_mix = operations.iter().any(|operation| operation.target_percent.is_some());
        let in_mix = |operation: &Self| !has_mix || operation.target_percent.is_some();
        let all: u64 = operations.iter().filter(|operation| in_mix(operation)).map(Self::ended).sum();
        for operation in &mut operations {
            if in_mix(operation) && all > 0 {
                operation.share_percent = Some(100.0 * operation.ended() as f64 / all as f64);
            }
        }
        operations
    }

    fn merged(name: &str, parts: &[&Operation]) -> Self {
        let mut outcomes: Vec<OutcomeCount> = Vec::new();
        for outcome in parts.iter().flat_map(|part| &part.outcomes).filter(|outcome| outcome.count > 0) {
            match outcomes.iter_mut().find(|known| known.outcome == outcome.outcome && known.code == outcome.code) {
                Some(known) => {
                    known.count += outcome.count;
                    known.example = known.example.take().or_else(|| outcome.example.clone());
                    known.meaning = known.meaning.take().or_else(|| outcome.meaning.clone());
                }
                None => outcomes.push(outcome.clone()),
            }
        }
        outcomes.sort_by_key(|outcome| (std::cmp::Reverse(outcome.count), outcome.outcome, outcome.code));
        let floors: Vec<f64> = parts.iter().filter_map(|part| part.harness_overhead_ns).collect();
        let timed: u64 = parts.iter().filter(|part| part.samples > 0).map(|part| part.service.summary.count).sum();
        let samples: u64 = parts.iter().map(|part| part.samples).sum();
        let ended = |which: Outcome| -> u64 {
            outcomes.iter().filter(|outcome| outcome.outcome == which).map(|outcome| outcome.count).sum()
        };
        let together = if samples > 0 { timed as f64 / samples as f64 } else { 0.0 };
        let under_way: Vec<&UnderWay> = parts.iter().filter_map(|part| part.under_way.as_ref()).collect();
        let under_way = UnderWayView::over(&under_way);
        let untimed: u64 = parts.iter().map(|part| part.untimed).sum();
        let ended_in_all: u64 = parts.iter().map(|part| part.ended()).sum();
        let round_trips: u64 = parts.iter().map(|part| part.round_trips).sum();
        Self {
            name: name.to_owned(),
            under_way,
            by_round: Vec::new(),
            completed: ended(Outcome::Completed),
            warned: ended(Outcome::Warned),
            rolled_back: ended(Outcome::RolledBack),
            too_few_rows: ended(Outcome::TooFewRows),
            failed: ended(Outcome::Failed),
            dropped: ended(Outcome::Dropped),
            retries: parts.iter().map(|part| part.retries).sum(),
            round_trips: (round_trips > 0 && ended_in_all > 0).then(|| round_trips as f64 / ended_in_all as f64),
            late: parts.iter().map(|part| part.late).sum(),
            batch: (samples > 0).then_some(together),
            one_in: (untimed > 0).then(|| ended_in_all as f64 / ended_in_all.saturating_sub(untimed) as f64),
            harness_overhead_ns: (!floors.is_empty()).then(|| floors.iter().sum::<f64>() / floors.len() as f64),
            share_percent: None,
            target_percent: parts.iter().find_map(|part| part.mix_target_percent),
            expected_percent: mean(parts.iter().filter_map(|part| part.mix_expected_percent)),
            tolerance_points: parts.iter().find_map(|part| part.mix_tolerance_points),
            limit_ns: parts.iter().find_map(|part| part.limit_ns),
            response: Latency::of(parts, LatencyClock::Response),
            service: Latency::of(parts, LatencyClock::Service),
            failed_times: Latency::of_failed(parts, LatencyClock::Response)
                .zip(Latency::of_failed(parts, LatencyClock::Service))
                .map(|(response, service)| [response, service]),
            server: ServerTimeSplit::over(parts),
            outcomes,
        }
    }

    /// Number of operations that were started and ended, with any outcome.
    pub fn ended(&self) -> u64 {
        self.valid() + self.failed
    }

    /// Number of operations with an outcome that the workload allows.
    pub fn valid(&self) -> u64 {
        self.completed + self.warned + self.rolled_back + self.too_few_rows
    }

    /// Operations timed together, if more than one.
    pub fn batches(&self) -> Option<f64> {
        self.batch.filter(|batch| *batch > 1.05)
    }

    /// Times by one of the two clocks.
    pub fn latency(&self, clock: LatencyClock) -> &Latency {
        match clock {
            LatencyClock::Response => &self.response,
            LatencyClock::Service => &self.service,
        }
    }

    /// Whether 90 % were answered within the limit, with failed and dropped ones counted as beyond it; `None` without a
    /// limit, or with too few operations for a decision.
    pub fn limit_kept(&self) -> Option<bool> {
        let p90 = self.response.quantile_ns(0.9).filter(|_| !self.is_too_few(0.9))?;
        Some(p90 <= self.limit_ns? as f64)
    }

    /// Whether there were too few operations for a quantile (0 to 1) of their response times.
    pub fn is_too_few(&self, quantile: f64) -> bool {
        (self.response.operations() as f64) < self.response.needed(quantile)
    }

    /// Whether the share of the mix is within its tolerance; `None` without a target, a tolerance or a sample.
    pub fn mix_kept(&self) -> Option<bool> {
        let off = (self.share_percent? - self.expected_percent.or(self.target_percent)?).abs();
        Some(off <= self.tolerance_points? + 1e-9)
    }
}

/// The mean of some numbers; `None` without any.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// An outcome in a word or two.
pub const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Warned => "warned",
        Outcome::RolledBack => "rolled back as designed",
        Outcome::TooFewRows => "too few rows",
        Outcome::Failed => "failed",
        Outcome::Dropped => "dropped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::{OperationSpec, Quantile, Recorder, Sample};

    /// Operations of one millisecond each, and others of a microsecond that failed or were dropped.
    fn view(valid: u64, together: u32, failed: u64, dropped: u64) -> OperationView {
        let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
        let mut sample = |outcome, ns: u64, count: u32| {
            let sample = Sample { count, ..Sample::new(0, outcome, ns * u64::from(count)) };
            recorder.sample(&sample, true);
        };
        (0..valid).for_each(|_| sample(Outcome::Completed, 1_000_000, together));
        (0..failed).for_each(|_| sample(Outcome::Failed, 1_000, 1));
        (0..dropped).for_each(|_| recorder.dropped(0));
        OperationView::merged("work", &[&recorder.figures()[0]])
    }

    fn near_a_millisecond(found: Option<Quantile>) -> bool {
        matches!(found, Some(Quantile::At(ns)) if ns.abs_diff(1_000_000) < 2_000)
    }

    #[test]
    fn a_quantile_has_ten_beyond_it_or_is_blank() {
        for (valid, quantile, is_shown) in [(99, 0.9, false), (100, 0.9, true), (999, 0.99, false), (1_000, 0.99, true)]
        {
            let found = view(valid, 1, 0, 0).response.quantile(quantile);
            assert_eq!(found != Some(Quantile::TooFew), is_shown, "{valid} {quantile}: {found:?}");
        }
        // A thousand operations timed a hundred at a time are ten timings.
        assert_eq!(view(10, 100, 0, 0).response.quantile(0.5), Some(Quantile::TooFew));
        assert!(near_a_millisecond(view(20, 100, 0, 0).response.quantile(0.5)));
        assert_eq!(view(0, 1, 0, 0).response.quantile(0.5), None);
    }

    #[test]
    fn what_failed_or_was_dropped_is_slower_than_all_that_did_not() {
        for (failed, dropped) in [(20, 0), (0, 20), (10, 10)] {
            let view = view(980, 1, failed, dropped);
            assert!(near_a_millisecond(view.response.quantile(0.5)), "fast failures make nothing faster");
            assert!(near_a_millisecond(view.response.quantile(0.98)));
            let beyond = view.response.quantile(0.99);
            assert!(matches!(beyond, Some(Quantile::Beyond(ns)) if ns.abs_diff(1_000_000) < 2_000), "{beyond:?}");
            let service = view.service.quantile(0.99);
            assert_eq!(matches!(service, Some(Quantile::Beyond(_))), failed == 20, "what never started had no service");
            assert_eq!(
                view.failed_times.as_ref().map(|[times, _]| times.summary.unwrap().count),
                (failed > 0).then_some(failed)
            );
        }
        // More than a tenth: a limit for 90 % is missed, however fast the failures were.
        let view = |failed| OperationView { limit_ns: Some(2_000_000), ..view(900, 1, failed, 0) };
        assert_eq!((view(99).limit_kept(), view(101).limit_kept()), (Some(true), Some(false)));
        let few = OperationView { limit_ns: Some(2_000_000), ..self::view(99, 1, 0, 0) };
        assert_eq!(few.limit_kept(), None, "too few to tell neither keep nor miss a limit");
    }

    #[test]
    fn what_never_ended_took_at_least_as_long_as_it_was_waited_for() {
        let view = |ended: u64, unended: u64, age_ns: u64| {
            let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
            for _ in 0..ended {
                recorder.sample(&Sample::new(0, Outcome::Completed, 1_000_000), true);
            }
            (0..unended).for_each(|_| recorder.unended(0, 1, age_ns));
            OperationView::merged("work", &[&recorder.figures()[0]])
        };
        // Five of a thousand: the 99th percentile is the same however long they take, the longest is not known.
        let few = view(995, 5, 5_000_000_000);
        assert!(near_a_millisecond(few.response.quantile(0.99)));
        assert!(matches!(few.response.longest(), Some(Quantile::Beyond(ns)) if ns >= 4_990_000_000));
        assert_eq!(few.under_way.map(|it| (it.count, it.unended)), Some((5, 5)));
        // Twenty, given up after a tenth of what the others took: the percentile is one of them.
        let many = view(980, 20, 100_000);
        assert!(near_a_millisecond(many.response.quantile(0.5)));
        let beyond = many.response.quantile(0.99);
        assert!(matches!(beyond, Some(Quantile::Beyond(ns)) if ns.abs_diff(1_000_000) < 2_000), "{beyond:?}");
        // All operations are of this kind.
        let only = view(0, 1_000, 2_000_000);
        assert!(matches!(only.response.quantile(0.99), Some(Quantile::Beyond(ns)) if ns.abs_diff(2_000_000) < 4_000));
    }

    #[test]
    fn failures_of_older_files_stay_among_the_others() {
        let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
        recorder.dropped(0);
        let old = Operation { failed: None, ..recorder.figures().remove(0) };
        let view = OperationView::merged("work", &[&old]);
        assert_eq!((view.response.slower, view.failed_times.is_none()), (1, true));
    }
}
