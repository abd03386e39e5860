//! State of a run, derived from the lines of its file until now.

use super::line::{EventLine, RoundBegun, RunBegun, RunEvent, RunOutcome, Second};
use bourse_record::{OperationProgress, PhaseKind, SeriesRow, metric};
use bourse_report::{LivePoint, LiveRun};
use std::collections::{BTreeMap, VecDeque};

/// Step between the beginning of a round and its first second.
const PREPARING: &str = "preparing the round";

/// Seconds stored for curves.
const CURVE_SECONDS: usize = 600;

/// State of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunState {
    pub(crate) run: Option<RunBegun>,
    pub(crate) round: Option<RoundBegun>,
    /// Rounds that are done, and their expected duration, in seconds.
    pub(crate) done: u32,
    done_s: f64,
    /// Time at which the last of them was done.
    done_at_s: f64,
    /// Time of the last line.
    pub(crate) at_s: f64,
    /// Steps in progress outside the round, the innermost last, and the part of it that is done.
    steps: Vec<String>,
    share: Option<f64>,
    /// The last second of the round; `None` once another step begins.
    pub(crate) second: Option<Second>,
    points: VecDeque<LivePoint>,
    /// States of the cases, by name, in the order in which they began.
    pub(crate) cases: Vec<(String, CaseState)>,
    pub(crate) outcome: Option<RunOutcome>,
}

/// State of a case, over all its rounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CaseState {
    pub(crate) workload: String,
    /// Valid and failed by operation, of the rounds before.
    before: BTreeMap<String, [u64; 2]>,
    /// Operations of the round, as of its last second.
    pub(crate) operations: Vec<OperationProgress>,
    /// End of that second, from the begin of the round.
    elapsed_s: f64,
    /// Sums of the metrics of resource usage, by name.
    pub(crate) used: BTreeMap<String, f64>,
    /// The last row.
    pub(crate) row: SeriesRow,
}

impl CaseState {
    /// Valid and failed of each operation, over all rounds.
    pub(crate) fn totals(&self) -> BTreeMap<&str, [u64; 2]> {
        let mut totals: BTreeMap<&str, [u64; 2]> =
            self.before.iter().map(|(name, counts)| (name.as_str(), *counts)).collect();
        for operation in &self.operations {
            let total = totals.entry(&operation.name).or_default();
            total[0] += operation.valid;
            total[1] += operation.failed;
        }
        totals
    }

    /// Begins a round, or a phase that counts anew.
    fn restart_counts(&mut self) {
        for operation in std::mem::take(&mut self.operations) {
            let before = self.before.entry(operation.name).or_default();
            before[0] += operation.valid;
            before[1] += operation.failed;
        }
        self.elapsed_s = 0.0;
    }

    fn second(&mut self, second: &Second) {
        if second.elapsed_s < self.elapsed_s {
            self.restart_counts();
        }
        let length_s = second.elapsed_s - self.elapsed_s;
        for (name, value) in &second.row {
            let is_rate = !name.contains('.') && metric(name).is_some_and(|metric| metric.unit.ends_with("/s"));
            if is_rate {
                *self.used.entry(name.clone()).or_default() += value * length_s;
            }
        }
        self.operations.clone_from(&second.operations);
        self.row.clone_from(&second.row);
        self.elapsed_s = second.elapsed_s;
    }
}

impl RunState {
    /// Takes in what happened.
    pub(crate) fn take(&mut self, line: EventLine) {
        self.at_s = self.at_s.max(line.at_s);
        match line.event {
            RunEvent::Run(run) => self.run = Some(run),
            RunEvent::Step { what } => {
                self.steps.push(what);
                (self.share, self.second) = (None, None);
            }
            RunEvent::Share { share } => self.share = Some(share),
            RunEvent::StepEnded { what } => {
                // A step around the round ends with all steps within.
                let at = self.steps.iter().rposition(|step| *step == what);
                self.steps.truncate(at.unwrap_or(0));
                (self.share, self.second) = (None, None);
            }
            RunEvent::Round(round) => {
                if self.cases.iter().all(|(name, _)| *name != round.case) {
                    let state = CaseState { workload: round.workload.clone(), ..CaseState::default() };
                    self.cases.push((round.case.clone(), state));
                }
                self.steps = vec![PREPARING.to_owned()];
                (self.share, self.second) = (None, None);
                self.round = Some(round);
                if let Some(case) = self.case_mut() {
                    case.restart_counts();
                }
            }
            RunEvent::Second(second) => {
                self.point(&second);
                if let Some(case) = self.case_mut() {
                    case.second(&second);
                }
                self.steps.retain(|step| step != PREPARING);
                self.second = Some(second);
            }
            RunEvent::RoundDone { expected_s } => {
                self.done += 1;
                self.done_s += expected_s;
                self.done_at_s = self.at_s;
            }
            RunEvent::Ended { outcome } => self.outcome = Some(outcome),
        }
    }

    fn case_mut(&mut self) -> Option<&mut CaseState> {
        let name = &self.round.as_ref()?.case;
        self.cases.iter_mut().find(|(known, _)| known == name).map(|(_, case)| case)
    }

    /// The case whose round it is.
    fn case(&self) -> Option<&CaseState> {
        let name = &self.round.as_ref()?.case;
        self.cases.iter().find(|(known, _)| known == name).map(|(_, case)| case)
    }

    fn point(&mut self, second: &Second) {
        let value = |metric: &str| second.row.get(metric).copied();
        if self.points.len() == CURVE_SECONDS {
            self.points.pop_front();
        }
        self.points.push_back(LivePoint {
            time_s: self.at_s,
            throughput: value("throughput").unwrap_or(0.0),
            response_ns: value("response_ns_p50").zip(value("response_ns_p99")).map(<[f64; 2]>::from),
        });
    }

    /// Current phase: a name for programs, and a text.
    pub(crate) fn phase(&self) -> (RunPhase, String) {
        if let Some(outcome) = self.outcome {
            return (RunPhase::Ended, outcome.name().to_owned());
        }
        let phase = |phase: RunPhase| (phase, phase.words().to_owned());
        match (&self.second, self.steps.last()) {
            (Some(second), _) => match (second.phase, second.is_latency) {
                (PhaseKind::WarmUp, _) => phase(RunPhase::WarmUp),
                (PhaseKind::Measurement, false) => phase(RunPhase::Measuring),
                (PhaseKind::Measurement, true) => phase(RunPhase::Latency),
                (PhaseKind::Drain, _) => phase(RunPhase::Drain),
            },
            (None, Some(step)) => {
                let done = self.share.map_or_else(String::new, |share| format!(", {:.0} %", 100.0 * share));
                (RunPhase::Other, format!("{step}{done}"))
            }
            (None, None) => phase(RunPhase::Between),
        }
    }

    /// Approximate time left, in seconds, after the run has lasted for `running_s`.
    pub(crate) fn left_s(&self, running_s: f64) -> Option<f64> {
        let run = self.run.as_ref().filter(|_| self.outcome.is_none())?;
        let of_round = self.second.as_ref().map(|second| (second.planned_s - second.elapsed_s).max(0.0));
        // The rounds to come are assumed to have the pace of the completed ones.
        let pace = if self.done_s > 0.0 { self.done_at_s / self.done_s } else { 1.0 };
        let of_run = (run.about_s - self.done_s) * pace - (running_s - self.done_at_s);
        // An overdue estimate is left out rather than wrong.
        of_round.into_iter().chain((of_run > 0.0).then_some(of_run)).reduce(f64::max)
    }

    /// Number of the current round, and of all rounds.
    pub(crate) fn rounds(&self) -> Option<[u32; 2]> {
        let of = self.run.as_ref()?.rounds;
        self.round.as_ref().map(|_| [(self.done + 1).min(of), of])
    }

    /// The view of the run after `running_s` seconds.
    pub(crate) fn view(&self, running_s: f64) -> LiveRun {
        let running_s = self.at_s.max(running_s);
        let case = self.case();
        LiveRun {
            name: self.run.as_ref().map_or_else(String::new, |run| run.name.clone()),
            case: self.round.as_ref().map_or_else(String::new, |round| round.case.clone()),
            round: self.rounds(),
            phase: self.phase().1,
            phase_s: self.second.as_ref().map(Second::of_phase),
            running_s,
            left_s: self.left_s(running_s),
            operations: case.map(|case| case.operations.clone()).unwrap_or_default(),
            row: case.map(|case| case.row.clone()).unwrap_or_default(),
            points: self.points.iter().copied().collect(),
            ended: self.outcome.map(|outcome| outcome.name().to_owned()),
        }
    }
}

bourse_engine::named! {
    /// Phase of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum RunPhase {
        WarmUp = "warm_up",
        Measuring = "measuring",
        Latency = "latency",
        Drain = "drain",
        /// A step that measures nothing.
        Other = "other",
        Between = "between",
        Ended = "ended",
    }
}

impl RunPhase {
    /// Text for the view.
    const fn words(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Measuring => "measuring",
            Self::Latency => "measuring response times at 70 % of the rate",
            Self::Drain => "drain",
            Self::Other => "preparing or checking",
            Self::Between => "between rounds",
            Self::Ended => "ended",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::live::line::VERSION;

    pub(in crate::live) fn second(elapsed_s: f64, valid: u64, phase: PhaseKind) -> RunEvent {
        let operation = |name: &str, valid, failed| OperationProgress {
            name: name.to_owned(),
            valid,
            failed,
            per_second: 1_000.0,
            response_ns: Some([10e3, 20e3, 3.4e6]),
            whole_response_ns: Some([11e3, 21e3, 4e6]),
        };
        let row = [
            ("throughput", 1_010.0),
            ("throughput.read", 1_000.0),
            ("response_ns_p50", 10e3),
            ("response_ns_p99", 3.4e6),
            ("response_ns_max", 5e6),
            ("cpu_user", 0.5),
            ("cpu_system", 0.25),
            ("cpu_others", 0.125),
            ("memory_resident_bytes", 12.5e6),
            ("written_bytes", 4_096.0),
            ("syncs", 12.0),
            ("sync_time", 0.25),
            ("retries", 1.0),
            ("backlog", 0.0),
        ];
        RunEvent::Second(Second {
            phase,
            is_latency: false,
            elapsed_s,
            planned_s: 3.5,
            warm_up_s: 0.0,
            operations: vec![operation("read", valid, 0), operation("up\"date\\", valid / 100, 2)],
            row: row.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        })
    }

    pub(in crate::live) fn run() -> RunEvent {
        RunEvent::Run(RunBegun {
            version: VERSION,
            name: "micro-point-read".to_owned(),
            program: "1.0".to_owned(),
            started_at: "2026-11-23T10:00:00Z".to_owned(),
            process: 7,
            rounds: 6,
            about_s: 24.0,
        })
    }

    pub(in crate::live) fn round(case: &str) -> RunEvent {
        RunEvent::Round(RoundBegun { case: case.to_owned(), workload: "point-read".to_owned(), is_probe: false })
    }

    pub(in crate::live) fn state(events: impl IntoIterator<Item = (f64, RunEvent)>) -> RunState {
        let mut state = RunState::default();
        events.into_iter().for_each(|(at_s, event)| state.take(EventLine { at_s, event }));
        state
    }

    fn step(what: &str) -> RunEvent {
        RunEvent::Step { what: what.to_owned() }
    }

    fn step_ended(what: &str) -> RunEvent {
        RunEvent::StepEnded { what: what.to_owned() }
    }

    #[test]
    fn the_phase_is_what_was_told_last() {
        let mut state = state([(0.0, run())]);
        let mut told = |event: RunEvent| {
            state.take(EventLine { at_s: 1.0, event });
            state.phase().1
        };
        assert_eq!(told(step("loading")), "loading");
        assert_eq!(told(RunEvent::Share { share: 0.345 }), "loading, 34 %");
        assert_eq!(told(step_ended("loading")), "between rounds");
        assert_eq!(told(round("a")), "preparing the round");
        assert_eq!(told(step("running on a")), "running on a");
        assert_eq!(told(second(1.0, 10, PhaseKind::WarmUp)), "warm-up");
        assert_eq!(told(second(2.0, 20, PhaseKind::Measurement)), "measuring");
        assert_eq!(told(second(3.0, 20, PhaseKind::Drain)), "drain");
        assert_eq!(told(step_ended("running on a")), "between rounds");
        assert_eq!(told(RunEvent::Ended { outcome: RunOutcome::Failed }), "ended with an error");
    }

    #[test]
    fn counts_go_on_over_rounds_and_cases_are_told_apart() {
        let events = [
            (0.0, run()),
            (0.1, round("a")),
            (1.0, second(1.0, 100, PhaseKind::WarmUp)),
            (2.0, second(2.0, 300, PhaseKind::Measurement)),
            (3.0, RunEvent::RoundDone { expected_s: 4.0 }),
            (3.1, round("b")),
            (4.0, second(1.0, 1_000, PhaseKind::WarmUp)),
            (5.0, RunEvent::RoundDone { expected_s: 4.0 }),
            (5.1, round("a")),
            (6.0, second(1.0, 50, PhaseKind::WarmUp)),
        ];
        let state = state(events);
        let [(_, a), (_, b)] = &state.cases[..] else { panic!("{:?}", state.cases) };
        assert_eq!(a.totals()["read"], [350, 0]);
        assert_eq!(a.totals()["up\"date\\"], [3, 4], "1, 3 and 0 of a hundred; two failures a round");
        assert_eq!(b.totals()["read"], [1_000, 0]);
        assert_eq!((a.used["cpu_user"], b.used["cpu_user"]), (1.5, 0.5), "seconds a second, for 3 s and for 1 s");
        assert!(!a.used.contains_key("throughput.read") && !a.used.contains_key("memory_resident_bytes"));
        let view = state.view(0.0);
        assert_eq!((view.round, view.case.as_str(), view.points.len()), (Some([3, 6]), "a", 4));
        assert_eq!((view.running_s, view.operations[0].valid), (6.0, 50), "the round's own");
    }

    #[test]
    fn what_is_left_follows_the_pace_of_the_rounds_that_are_done() {
        let begun = state([(0.0, run())]);
        assert_eq!(begun.left_s(4.0), Some(20.0));
        assert_eq!(begun.left_s(30.0), None, "later than was expected");
        // Two rounds of 4 s took 16.
        let done = RunEvent::RoundDone { expected_s: 4.0 };
        let slow = state([(0.0, run()), (8.0, done.clone()), (16.0, done)]);
        assert_eq!(slow.left_s(18.0), Some(30.0));
        let late = state([(0.0, run()), (40.0, round("a")), (41.0, second(1.0, 1, PhaseKind::WarmUp))]);
        assert_eq!(late.left_s(41.0), Some(2.5), "the round at least");
        let ended = state([(0.0, run()), (1.0, RunEvent::Ended { outcome: RunOutcome::Finished })]);
        assert_eq!(ended.left_s(1.0), None);
    }

    #[test]
    fn a_phase_that_counts_anew_loses_nothing() {
        let latency = |elapsed_s, valid| {
            let RunEvent::Second(second) = second(elapsed_s, valid, PhaseKind::Measurement) else { panic!("a second") };
            RunEvent::Second(Second { is_latency: true, ..second })
        };
        let events = [
            (0.0, round("a")),
            (2.0, second(2.0, 300, PhaseKind::Drain)),
            (4.0, latency(1.0, 70)),
            (5.0, latency(2.0, 90)),
        ];
        let state = state(events);
        assert_eq!(state.cases[0].1.totals()["read"], [390, 0]);
        assert_eq!(state.phase().0, RunPhase::Latency);
    }
}
