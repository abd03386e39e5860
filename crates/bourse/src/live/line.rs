//! A line of the file that reports a run's progress. `docs/live.md` describes it for other programs.

use bourse_record::{OperationProgress, PhaseKind, SeriesRow};
use serde::{Deserialize, Serialize};

/// Name of the file in the run's folder.
pub(crate) const FILE: &str = "live.ndjson";

/// Version of the lines. It grows when a reader of the earlier one would misunderstand them; additional fields do not change
/// it.
pub(crate) const VERSION: u32 = 1;

/// An event with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventLine {
    /// Seconds since the run began.
    pub(crate) at_s: f64,
    #[serde(flatten)]
    pub(crate) event: RunEvent,
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunEvent {
    /// The run begins: the first line.
    Run(RunBegun),
    /// Begin of a step that measures nothing, such as loading or checks.
    Step {
        /// Name of the step.
        what: String,
    },
    /// Progress of the last step.
    Share {
        /// Part that is done, from 0 to 1.
        share: f64,
    },
    /// A step has ended.
    StepEnded {
        /// Name of the step.
        what: String,
    },
    /// A round begins.
    Round(RoundBegun),
    /// A second of a round is over.
    Second(Second),
    /// One of the run's rounds is done.
    RoundDone {
        /// Its expected duration, in seconds.
        expected_s: f64,
    },
    /// The run has ended: the last line.
    Ended {
        /// Outcome of the run.
        outcome: RunOutcome,
    },
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunBegun {
    /// Version of the lines.
    pub(crate) version: u32,
    /// Name of the run.
    pub(crate) name: String,
    /// Version of the program.
    pub(crate) program: String,
    /// Time at which it began, in RFC 3339.
    pub(crate) started_at: String,
    /// Id of the process that writes the file.
    pub(crate) process: u32,
    /// Number of its rounds, over all cases.
    pub(crate) rounds: u32,
    /// Approximate duration, in seconds.
    pub(crate) about_s: f64,
}

/// A round that begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundBegun {
    /// Name of its case.
    pub(crate) case: String,
    /// Name of the workload.
    pub(crate) workload: String,
    /// Whether its figures are not reported, as in a search for the highest rate.
    pub(crate) is_probe: bool,
}

/// A second of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Second {
    /// The phase.
    pub(crate) phase: PhaseKind,
    /// Whether response times are measured at a part of the round's rate, after its interval.
    #[serde(default)]
    pub(crate) is_latency: bool,
    /// Seconds since the warm-up began.
    pub(crate) elapsed_s: f64,
    /// Seconds of warm-up and interval, as planned.
    pub(crate) planned_s: f64,
    /// Seconds of the warm-up alone.
    #[serde(default)]
    pub(crate) warm_up_s: f64,
    /// The operations.
    pub(crate) operations: Vec<OperationProgress>,
    /// The row of the round's series: the metrics of the run file.
    pub(crate) row: SeriesRow,
}

impl Second {
    /// Seconds of the phase: passed and planned.
    pub(crate) fn of_phase(&self) -> [f64; 2] {
        match self.phase {
            PhaseKind::WarmUp => [self.elapsed_s, self.warm_up_s],
            _ => [self.elapsed_s - self.warm_up_s, self.planned_s - self.warm_up_s],
        }
    }
}

bourse_engine::named! {
    /// Outcome of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum RunOutcome {
        /// End of the plan.
        Finished = "finished",
        /// Ctrl-C or a signal.
        Interrupted = "interrupted",
        /// An error.
        Failed = "ended with an error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let operation = OperationProgress {
            name: "read".to_owned(),
            valid: 7,
            response_ns: Some([1.0, 2.0, 3.5]),
            ..OperationProgress::default()
        };
        let events = [
            RunEvent::Run(RunBegun {
                version: VERSION,
                name: "x".to_owned(),
                program: "1.0".to_owned(),
                started_at: "2026-11-23T10:00:00Z".to_owned(),
                process: 7,
                rounds: 6,
                about_s: 12.5,
            }),
            RunEvent::Step { what: "loading \u{1b}".to_owned() },
            RunEvent::Share { share: 0.25 },
            RunEvent::StepEnded { what: "loading".to_owned() },
            RunEvent::Round(RoundBegun { case: "a".to_owned(), workload: "b".to_owned(), is_probe: true }),
            RunEvent::Second(Second {
                phase: PhaseKind::Measurement,
                is_latency: true,
                elapsed_s: 1.0,
                planned_s: 3.5,
                warm_up_s: 0.5,
                operations: vec![operation],
                row: [("throughput".to_owned(), 7.25)].into(),
            }),
            RunEvent::RoundDone { expected_s: 4.0 },
            RunEvent::Ended { outcome: RunOutcome::Interrupted },
        ];
        for event in events {
            let line = EventLine { at_s: 1.5, event };
            let text = serde_json::to_string(&line).unwrap();
            assert!(!text.contains('\n') && text.starts_with("{\"at_s\":1.5,\""), "{text}");
            assert_eq!(serde_json::from_str::<EventLine>(&text).unwrap(), line, "{text}");
        }
        let ended: EventLine = serde_json::from_str(r#"{"at_s":2.0,"ended":{"outcome":"finished","more":1}}"#).unwrap();
        assert_eq!(
            ended.event,
            RunEvent::Ended { outcome: RunOutcome::Finished },
            "what is new beside it does no harm"
        );
    }
}
