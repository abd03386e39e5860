//! `--find-max`: the highest rate that meets every response limit, by short rounds that bracket and halve, and rounds of full length
//! that confirm.

use super::bracket::{Bracket, RateToTry};
use super::judge::Judgement;
use super::strategy::Strategy;
use super::verdict::failed_checks;
use super::{CaseRun, Executor, RoundOutcome, RoundParameters};
use crate::failure::Result;
use crate::plan::{CaseBlock, Job, SearchPlan};
use crate::progress::note;
use bourse_record::{Probe, Round, Warning};

/// Each case's rate, one after the other.
pub(super) struct FindMax;

impl Strategy for FindMax {
    fn run(&self, executor: &mut Executor<'_>, block: &CaseBlock, cases: &mut [CaseRun]) -> Result<()> {
        for case in cases.iter_mut().filter(|case| case.has_more_rounds()) {
            let Some(search) = case.planned.job.search() else { continue };
            executor.search(case, &search, block.rounds)?;
        }
        Ok(())
    }
}

impl Executor<'_> {
    /// Finds the rate of a case, which then has the rounds of full length that ended the search.
    fn search(&mut self, case: &mut CaseRun, search: &SearchPlan, rounds: u32) -> Result<()> {
        let job = case.planned.job.clone();
        // The throughput without a schedule is near the highest rate, so the search begins there.
        let label = format!("{}: without a schedule", case.label());
        let mut last = self.probe(case, &label, &job.probe(None))?;
        let capacity = job.capacity(&last.round);
        if capacity <= 0.0 {
            note(&format!("{}: nothing completed, so no rate can be searched", case.label()));
        }
        let mut found = SearchState::new(search, capacity);
        let ended = found.run(search, &job, |next| {
            let tried = match next {
                RateToTry::Short(rate) => {
                    let label = format!("{}: trying {rate} {}", case.label(), search.unit);
                    last = self.probe(case, &label, &job.probe(Some(rate)))?;
                    vec![last.round.clone()]
                }
                RateToTry::Full(rate) => {
                    case.job = job.at_rate(rate);
                    case.clear();
                    for round in 0..rounds {
                        let of = if rounds > 1 { format!(", round {} of {rounds}", round + 1) } else { String::new() };
                        let label = format!("{}: {rate} {} at full length{of}", case.label(), search.unit);
                        // Other requests than in the search: the answer must not depend on one sequence of them.
                        self.round(case, round + 1, rounds + 1, &label)?;
                    }
                    case.rounds().to_vec()
                }
            };
            Ok((!self.context.is_interrupted()).then_some(tried))
        });
        self.warnings.extend(found.disturbed.filter(|_| !found.search.confirmed));
        case.search = Some(found.search);
        if case.has_no_round() && !self.context.is_interrupted() {
            // The search is stored with its probes, although no rate was tried at full length.
            let RoundOutcome { engine, workload, conditions, .. } = last;
            case.described(engine, workload, conditions);
        }
        ended
    }

    /// Runs a probe: a round whose figures only steer the search. A failed check ends it.
    fn probe(&mut self, case: &CaseRun, label: &str, job: &Job) -> Result<RoundOutcome> {
        let turn = RoundParameters { job, number: 0, begins_alike: true, is_probe: true, label };
        let mut outcome = self.outcome(case, turn)?;
        let failed = outcome.failure.take().or_else(|| failed_checks(std::iter::once((label, &outcome.round))));
        failed.map_or(Ok(outcome), Err)
    }
}

/// State of a search.
struct SearchState {
    bracket: Bracket,
    search: bourse_record::Search,
    /// The last warning of a short round that others disturbed it.
    disturbed: Option<Warning>,
}

impl SearchState {
    fn new(search: &SearchPlan, capacity: f64) -> Self {
        let found = bourse_record::Search {
            unit: search.unit.to_owned(),
            limits: search.limits.clone(),
            highest_passing: None,
            lowest_failing: None,
            confirmed: false,
            probes: Vec::new(),
        };
        Self { bracket: Bracket::from(capacity, search.range), search: found, disturbed: None }
    }

    /// Tries rates by the rounds that `measure` runs, until the answer is known or there are none.
    fn run(
        &mut self,
        search: &SearchPlan,
        job: &Job,
        mut measure: impl FnMut(RateToTry) -> Result<Option<Vec<Round>>>,
    ) -> Result<()> {
        while let Some(next) = self.bracket.next() {
            let Some(rounds) = measure(next)? else { break };
            if matches!(next, RateToTry::Short(_)) {
                let mut warnings = rounds.iter().flat_map(|round| &round.warnings);
                self.disturbed = warnings.rfind(|it| it.is_of_others()).cloned().or(self.disturbed.take());
            }
            // Every round is reported, even after one that missed the limits.
            let met: Vec<bool> = rounds.iter().map(|round| self.met(next.rate(), round, job, search)).collect();
            let is_met = !met.is_empty() && met.iter().all(|is_met| *is_met);
            // Short rounds of too few operations still steer. At full length they meet no limit, and a lower rate has fewer.
            if matches!(next, RateToTry::Full(_)) && is_met && self.search.undetermined().is_some() {
                self.search.highest_passing = None;
                break;
            }
            self.bracket.tried(next, is_met);
            let answer = self.bracket.answer();
            self.search.highest_passing = answer.passing;
            self.search.lowest_failing = answer.failing;
            self.search.confirmed = answer.confirmed;
        }
        Ok(())
    }

    /// Judges a round at a rate, reports it and records it as a probe; returns whether it missed no limit.
    fn met(&mut self, rate: f64, round: &Round, job: &Job, search: &SearchPlan) -> bool {
        let full_s = job.measure_ns().map_or(round.measured_s, |ns| ns as f64 / 1e9);
        let judgement = Judgement::of(round, search, full_s);
        let is_met = judgement.violations.is_empty();
        note(&format!("{rate} {}: {}", search.unit, judgement.words()));
        self.search.probes.push(Probe {
            rate,
            reached: job.reached(round),
            measured_s: round.measured_s,
            worst_limit_ratio: judgement.worst_limit_ratio,
            violations: judgement.violations,
            undetermined: judgement.undetermined,
        });
        is_met
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ArrivalsArg;
    use crate::plan::ClassicRound;
    use crate::plan::classic::RateSearch;
    use bourse_driver::{MS, Nanos, SECOND, Schedule};
    use bourse_record::{OperationSpec, Outcome, Recorder, ResponseLimit, Sample};

    const INTERVAL: Nanos = 5 * SECOND;
    const SERVICE: Nanos = MS;

    /// A round of five seconds of a simulated workload: one user whose operations take a millisecond each, by a schedule.
    fn round(schedule: Schedule) -> Round {
        let mut recorder = Recorder::new([OperationSpec::new("read")].into(), |_| true);
        let mut pacer = schedule.pacer(0);
        let mut arrivals = bourse_record::Arrivals::default();
        let mut free = 0;
        while let Some(due_ns) = pacer.next_due().filter(|due| *due < INTERVAL) {
            arrivals.due += 1;
            let start_ns = free.max(due_ns);
            if start_ns >= INTERVAL {
                arrivals.unstarted += 1;
                continue;
            }
            arrivals.started += 1;
            free = start_ns + SERVICE;
            recorder.sample(&Sample { due_ns, start_ns, ..Sample::new(0, Outcome::Completed, free) }, true);
        }
        let mut operations = recorder.figures();
        operations[0].by_schedule = true;
        let text = r#"{ "offset_s": 0, "phases": [], "measured_s": 5, "headline": 1, "operations": [], "cpu_user_s": 0,
            "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
            "checks": [], "warnings": [] }"#;
        let round: Round = serde_json::from_str(text).unwrap();
        Round { operations, arrivals: Some(arrivals), ..round }
    }

    /// Runs a search that begins at `first` on a simulated target, and returns its result.
    fn found(first: f64, quantile: f64, limit_ns: Nanos, schedule: impl Fn(f64) -> Schedule) -> bourse_record::Search {
        let limits = vec![ResponseLimit { operation: None, quantile, limit_ns }];
        let job = Job::from(ClassicRound {
            workload: "point-read".to_owned(),
            search: Some(RateSearch { limits, arrivals: ArrivalsArg::Shared }),
            ..ClassicRound::default()
        });
        let search = job.search().unwrap();
        let mut found = SearchState::new(&search, first);
        found.run(&search, &job, |next| Ok(Some(vec![round(schedule(next.rate()))]))).unwrap();
        found.search
    }

    fn evenly(per_second: f64) -> Schedule {
        Schedule::Constant { per_second }
    }

    #[test]
    fn the_rate_from_which_on_latency_rises_is_found() {
        // Evenly spaced operations wait from 1,000 a second on; above that the backlog grows with the interval.
        for first in [90.0, 900.0, 1_000.0, 3_000.0] {
            let search = found(first, 0.99, 10 * MS, evenly);
            let (passing, failing) = (search.highest_passing.unwrap(), search.lowest_failing.unwrap());
            assert!((960.0..=1_002.0).contains(&passing) && (1_000.0..=1_042.0).contains(&failing), "{search:?}");
            let last = search.probes.iter().rfind(|probe| probe.violations.is_empty()).unwrap();
            assert!(
                (last.reached / last.rate - 1.0).abs() < 0.01 && last.worst_limit_ratio.unwrap() <= 1.0,
                "{last:?}"
            );
        }
        // Random arrivals wait for one another at far lower rates already: a queue whose 99th percentile is ten service
        // times at about three quarters of the user's capacity.
        let random = |per_second| Schedule::Poisson { per_second, seed: 5 };
        let search = found(1_000.0, 0.99, 10 * MS, random);
        assert!((680.0..=840.0).contains(&search.highest_passing.unwrap()), "{search:?}");
        // A limit on the median permits a higher rate, as long as due operations are started.
        let median = found(1_000.0, 0.5, 10 * MS, random);
        assert!(median.highest_passing > search.highest_passing, "{median:?}");
    }

    #[test]
    fn a_limit_that_no_rate_meets_says_so() {
        let search = found(1_000.0, 0.5, MS / 2, evenly);
        assert_eq!((search.highest_passing, search.confirmed), (None, false));
        // Four operations a second are the fewest of which a round of five seconds tells the median.
        let told = search.probes.iter().filter(|it| it.undetermined.is_empty());
        assert!(told.clone().all(|it| it.violations == ["read: p50 1 ms, limit 500 µs"][..] || it.rate > 990.0));
        assert!(told.count() > 5 && (4.0..6.0).contains(&search.lowest_failing.unwrap()), "{search:?}");
        let undetermined = search.undetermined().expect("the search ends with a round of too few");
        assert!(undetermined.contains("operations are too few for a p50 (20 needed); try --for 10s"), "{undetermined}");
    }

    /// Sixteen operations without a 99th percentile once confirmed a rate.
    #[test]
    fn a_round_of_too_few_operations_confirms_no_rate() {
        let search = found(3.0, 0.99, 60 * SECOND, |per_second| Schedule::Constant { per_second: per_second.min(3.0) });
        assert_eq!((search.highest_passing, search.confirmed), (None, false), "{search:?}");
        assert!(search.probes.iter().all(|it| it.violations.is_empty() && it.undetermined.len() == 1), "{search:?}");
        let undetermined = search.undetermined().expect("it is the reason");
        assert!(
            undetermined.contains(" operations are too few for a p99 (1000 needed); try --for 5"),
            "{undetermined}"
        );
    }

    #[test]
    fn what_is_not_started_is_told_and_slower_than_any_limit() {
        let search = found(3_000.0, 0.99, 60 * SECOND, evenly);
        let first = &search.probes[0];
        assert_eq!(first.worst_limit_ratio, None);
        assert!(first.violations[0].ends_with("of 15000 that were due were not started"), "{first:?}");
        assert_eq!(first.violations[1], "read: p99 beyond any limit, since too many failed or were not started");
    }
}
