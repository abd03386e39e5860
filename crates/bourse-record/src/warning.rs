//! Warnings about doubtful figures, as values that programs can distinguish, with advice.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{Durability, grouped, length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A warning: its code and values. `Display` gives the text, [`Warning::advice`] the remedy.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The program was compiled for debugging.
    #[error("debug build: figures say nothing about the engine")]
    DebugBuild,
    /// The machine was busy when the run began.
    #[error("busy machine: load average {load_average} on {cpus} CPUs when the run began")]
    BusyMachine {
        /// Load average over one minute.
        load_average: f64,
        /// CPUs of the machine.
        cpus: u32,
    },
    /// CPUs may not run at full speed.
    #[error("frequency governor {governor}: CPUs may not run at full speed")]
    FrequencyGovernor {
        /// The governor in force.
        governor: String,
    },
    /// More busy threads than CPUs.
    #[error("{threads} busy threads on {cpus} CPUs: response times include waits for a CPU")]
    Oversubscribed {
        /// Threads.
        threads: u32,
        /// CPUs of the machine.
        cpus: u32,
    },
    /// A fixed amount of work took unequal times during calibration of the machine.
    #[error("noisy machine: one in ten runs of a fixed CPU loop took {slowdown:.1}× its median time, or more")]
    NoisyMachine {
        /// 90th percentile of its time, as a multiple of the median.
        slowdown: f64,
    },
    /// Other processes used CPUs before the run began.
    #[error("background load: other processes used {cpus:.2} CPUs before the run began")]
    BackgroundLoad {
        /// CPUs, on average.
        cpus: f64,
    },
    /// Operations start later than they are due.
    #[error(
        "scheduling delay: operations start up to {:.1} ms after they are due (p99); at a rate, response times include that",
        *delay_ns_p99 as f64 / 1e6
    )]
    SchedulingDelay {
        /// 99th percentile of the delay, in nanoseconds.
        delay_ns_p99: u64,
    },
    /// The machine was still busy after the maximum wait before a round.
    #[error("the machine was still busy when this round began")]
    NotQuiet,
    /// Each statement was timed, which the figure bears.
    #[error("each statement was timed: the figure bears what that costs")]
    StatementsTimed,
    /// Other processes used CPUs in the measurement interval.
    #[error(
        "other processes{} used {cpus:.2} CPUs in the measurement interval",
        if *server_is_known { "" } else { ", a server under test among them," }
    )]
    OtherProcesses {
        /// CPUs, on average.
        cpus: f64,
        /// Whether the server under test, if there is one, was distinguished from other processes.
        server_is_known: bool,
    },
    /// The host of a virtual machine took CPUs away in the measurement interval.
    #[error("the host of this virtual machine took {cpus:.2} CPUs away in the measurement interval")]
    HostSteal {
        /// CPUs, on average.
        cpus: f64,
    },
    /// Other processes used CPU during some rounds.
    #[error(
        "busy machine: in {disturbed} of {known} rounds other processes or the host used CPUs; most in {most_in}: {most_cpus:.2}"
    )]
    DisturbedRounds {
        /// Rounds in which others used more than a tenth of a CPU.
        disturbed: u32,
        /// Rounds with a known value.
        known: u32,
        /// Case with the most disturbance.
        most_in: String,
        /// CPUs used by others in that case.
        most_cpus: f64,
    },
    /// Rounds or cases were left out because the run would have ended later than announced.
    #[error("left out to end in time: {work}")]
    OutOfTime {
        /// The rounds or the case.
        work: String,
    },
    /// Rounds were repeated because other processes or the host disturbed them.
    #[error(
        "{rounds} {} repeated because others disturbed {}",
        if *rounds == 1 { "round was" } else { "rounds were" },
        if *rounds == 1 { "it" } else { "them" }
    )]
    RoundsRepeated {
        /// Rounds.
        rounds: u32,
    },
    /// A node of the database was lost, and its sessions moved to others.
    #[error(
        "node {node} was lost {after_s:.1} s into the round: nothing ended for {pause_s:.1} s, {}",
        match in_doubt {
            0 => "no outcome is unknown".to_owned(),
            1 => "1 outcome is unknown".to_owned(),
            _ => format!("{in_doubt} outcomes are unknown"),
        }
    )]
    NodeLost {
        /// Name of the node.
        node: String,
        /// Time from the round's start until the loss was noticed, in seconds.
        after_s: f64,
        /// Longest time from then on without a completed operation, in seconds.
        pause_s: f64,
        /// Operations of the round whose outcome is unknown.
        in_doubt: u64,
    },
    /// Operations were still in flight at the end of the drain's maximum time.
    #[error("work was still in flight {limit_s} s after the end, and was given up")]
    WorkGivenUp {
        /// The limit, in seconds.
        limit_s: f64,
    },
    /// The engine did not always report its size.
    #[error("the engine did not always say how large it is: {error}")]
    SizeUnknown {
        /// Error of the engine.
        error: String,
    },
    /// The engine still performed warm-up work in the measurement interval.
    #[error("not warm: {:.0} % of the CPU time in the measurement interval was the engine's {work}", share * 100.0)]
    NotWarm {
        /// The work, as `JIT compiler`.
        work: String,
        /// Share of the work in this process's processor time in the interval, from 0 to 1.
        share: f64,
    },
    /// Response times exceeded the range of the histogram.
    #[error("{} response times of over an hour are counted as an hour", grouped(*count))]
    LatencyClamped {
        /// Number of operations.
        count: u64,
    },
    /// Due operations were dropped because the backlog was full.
    #[error(
        "{} of {} operations that were due were dropped: the backlog was full",
        grouped(*dropped),
        grouped(*due)
    )]
    OperationsDropped {
        /// Number dropped.
        dropped: u64,
        /// Number due.
        due: u64,
    },
    /// Due operations were still queued when the interval ended.
    #[error(
        "{} of {} operations that were due still waited when the interval ended",
        grouped(*waiting),
        grouped(*due)
    )]
    OperationsWaiting {
        /// Number still queued.
        waiting: u64,
        /// Number due.
        due: u64,
    },
    /// Resource usage was read too late to show a cost per operation.
    #[error(
        "no cost of an operation: processor time was read {} late at the ends of an interval of {}",
        length(late_s * 1e9),
        length(measured_s * 1e9)
    )]
    UsageReadLate {
        /// Delay at the two ends of the interval together, in seconds.
        late_s: f64,
        /// Length of the interval in seconds.
        measured_s: f64,
    },
    /// The round reached its maximum time.
    #[error("ended after {after_s} s as asked, before its work was done")]
    EndedEarly {
        /// Maximum time in seconds.
        after_s: f64,
    },
    /// The round reached its maximum time before the requested number of operations.
    #[error("ended by --for after {after_s} s: {} of {} operations", grouped(*done), grouped(*of))]
    CountNotReached {
        /// Maximum time in seconds.
        after_s: f64,
        /// Operations that ended in that time.
        done: u64,
        /// Operations requested, over all threads.
        of: u64,
    },
    /// A fault ended the round.
    #[error("{cause}")]
    RoundEnded {
        /// The fault.
        cause: String,
    },
    /// A round was lost; earlier rounds are reported.
    #[error("round {round} was lost, those before it are reported: {cause}")]
    RoundLost {
        /// Number of the round, from 1.
        round: u32,
        /// The cause.
        cause: String,
    },
    /// The workload measures waiting for a disk, but no commit waits for one.
    #[error("these commits are not durable ({class}): they need not wait for the disk")]
    NotDurable {
        /// Durability class of the target.
        class: Durability,
    },
    /// The engine synced too seldom for each commit to have waited for a sync, though its settings promise that.
    #[error("durable by its settings, but it synced only {syncs} times for about {commits} commits")]
    NotSynced {
        /// Syncs in the measurement interval by the engine's own count.
        syncs: u64,
        /// Commits in it, approximately.
        commits: u64,
    },
    /// Statements that should change rows changed none.
    #[error("no statement changed a row: what matches no row is less work")]
    NothingChanged,
    /// A replay performed or compared less than its recording has, or by another SQLite.
    #[error("unlike the recording: {}", parts.join("; "))]
    ReplayedInPart {
        /// The parts, in words.
        parts: Vec<String>,
    },
    /// A further figure of the round is unavailable.
    #[error("{figure} is not known: {cause}")]
    FigureMissing {
        /// Name of the figure.
        figure: String,
        /// The cause.
        cause: String,
    },
    /// Too few rounds for an interval, which published findings are judged by.
    #[error("published findings are judged by intervals, which take {needed} rounds or more; requested: {rounds}")]
    TooFewRounds {
        /// Rounds requested.
        rounds: u32,
        /// Rounds needed.
        needed: u32,
    },
    /// Drivers of a round vanished before its end.
    #[error(
        "vanished before the end: driver {}; its figures are lost; the checks name what that leaves open",
        numbers.iter().map(|number| format!("{number}/{of}")).collect::<Vec<_>>().join(", ")
    )]
    DriversVanished {
        /// Numbers of the drivers.
        numbers: Vec<u32>,
        /// Total number of drivers.
        of: u32,
    },
    /// Drivers of one round ran on different machines.
    #[error("the drivers ran on different machines: {processor} as well")]
    DifferentMachines {
        /// Processor of another machine.
        processor: String,
    },
    /// Drivers of one round measured for different times.
    #[error("the drivers measured for {shortest_s:.1} to {longest_s:.1} s: their rates are added all the same")]
    DifferentLengths {
        /// Shortest time in seconds.
        shortest_s: f64,
        /// Longest time in seconds.
        longest_s: f64,
    },
    /// A warning of one of several drivers.
    #[error("driver {number}/{of}: {warning}")]
    Driver {
        /// Number of the driver, from 1.
        number: u32,
        /// Drivers of the round.
        of: u32,
        /// The warning.
        warning: Box<Warning>,
    },
    /// A message of the engine about itself and its settings.
    #[error("{target}{}{text}", if target.is_empty() { "" } else { ": " })]
    Engine {
        /// Target of the message; empty if it is clear.
        target: String,
        /// Text of the engine.
        text: String,
    },
}

impl Warning {
    /// A message of the engine, for a target that is clear from the context.
    pub fn of_engine(text: impl Into<String>) -> Self {
        Self::Engine { target: String::new(), text: text.into() }
    }

    /// Whether something other than what was requested was measured: it is reported before all that is doubtful.
    pub const fn is_of_the_request(&self) -> bool {
        match self {
            Self::NodeLost { .. }
            | Self::DriversVanished { .. }
            | Self::CountNotReached { .. }
            | Self::EndedEarly { .. }
            | Self::StatementsTimed
            | Self::ReplayedInPart { .. }
            | Self::NothingChanged => true,
            Self::Driver { warning, .. } => warning.is_of_the_request(),
            _ => false,
        }
    }

    /// Whether other processes, or the host, took CPUs: it is reported before all other doubts.
    pub const fn is_of_others(&self) -> bool {
        match self {
            Self::OtherProcesses { .. }
            | Self::HostSteal { .. }
            | Self::DisturbedRounds { .. }
            | Self::BackgroundLoad { .. }
            | Self::BusyMachine { .. } => true,
            Self::Driver { warning, .. } => warning.is_of_others(),
            _ => false,
        }
    }

    /// CPUs that other processes or the host took in a round, if it is a warning of that.
    pub const fn cpus_taken(&self) -> Option<f64> {
        match self {
            Self::OtherProcesses { cpus, .. } | Self::HostSteal { cpus } => Some(*cpus),
            _ => None,
        }
    }

    /// Remedy, if there is one.
    ///
    /// ```
    /// use bourse_record::Warning;
    /// let warning = Warning::Oversubscribed { threads: 8, cpus: 2 };
    /// assert_eq!(warning.to_string(), "8 busy threads on 2 CPUs: response times include waits for a CPU");
    /// assert_eq!(warning.advice(), Some("use fewer users or threads"));
    /// ```
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::DebugBuild => Some("build with --release"),
            Self::BusyMachine { .. } | Self::BackgroundLoad { .. } | Self::OtherProcesses { .. } => {
                Some("stop other programs, or wait until they are done")
            }
            Self::FrequencyGovernor { .. } => Some("set the governor to performance"),
            Self::Oversubscribed { .. } => Some("use fewer users or threads"),
            Self::NotWarm { .. } => Some("warm up longer: --warmup"),
            Self::NoisyMachine { .. } => Some("run more rounds; small differences cannot be detected"),
            Self::HostSteal { .. } => Some("use a machine that is not shared"),
            Self::OperationsDropped { .. } | Self::OperationsWaiting { .. } => Some("ask for a lower rate"),
            Self::UsageReadLate { .. } => Some("use fewer threads, a longer interval, or a machine that is not busy"),
            Self::StatementsTimed => Some("leave --statements out for the figure"),
            Self::EndedEarly { .. } => Some("allow more time, or ask for less work"),
            Self::CountNotReached { .. } => Some("a longer --for, or a smaller --count"),
            Self::NothingChanged => Some("`rows N` after an operation's name makes any other number of rows an error"),
            Self::TooFewRounds { .. } => Some("ask for more rounds"),
            Self::OutOfTime { .. } => Some("a machine that is not busy has time for all"),
            Self::Driver { warning, .. } => warning.advice(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(warning: &Warning, json: &str, words: &str) {
        assert_eq!(serde_json::to_string(warning).unwrap(), json);
        assert_eq!(&serde_json::from_str::<Warning>(json).unwrap(), warning);
        assert_eq!(warning.to_string(), words);
    }

    #[test]
    fn warnings_have_a_code_values_and_words() {
        check(&Warning::DebugBuild, r#"{"code":"debug_build"}"#, "debug build: figures say nothing about the engine");
        assert_eq!(Warning::DebugBuild.advice(), Some("build with --release"));
        check(
            &Warning::RoundsRepeated { rounds: 2 },
            r#"{"code":"rounds_repeated","rounds":2}"#,
            "2 rounds were repeated because others disturbed them",
        );
        let lost = Warning::OperationsDropped { dropped: 3, due: 70 };
        let of_driver = Warning::Driver { number: 2, of: 3, warning: Box::new(lost) };
        check(
            &of_driver,
            r#"{"code":"driver","number":2,"of":3,"warning":{"code":"operations_dropped","dropped":3,"due":70}}"#,
            "driver 2/3: 3 of 70 operations that were due were dropped: the backlog was full",
        );
        assert_eq!(of_driver.advice(), Some("ask for a lower rate"), "as the warning itself has it");
        check(
            &Warning::NodeLost { node: "n2".to_owned(), after_s: 12.04, pause_s: 6.5, in_doubt: 3 },
            r#"{"code":"node_lost","node":"n2","after_s":12.04,"pause_s":6.5,"in_doubt":3}"#,
            "node n2 was lost 12.0 s into the round: nothing ended for 6.5 s, 3 outcomes are unknown",
        );
        check(
            &Warning::NoisyMachine { slowdown: 1.44 },
            r#"{"code":"noisy_machine","slowdown":1.44}"#,
            "noisy machine: one in ten runs of a fixed CPU loop took 1.4× its median time, or more",
        );
        check(
            &Warning::NotSynced { syncs: 5, commits: 5_405 },
            r#"{"code":"not_synced","syncs":5,"commits":5405}"#,
            "durable by its settings, but it synced only 5 times for about 5405 commits",
        );
        check(
            &Warning::NotWarm { work: "JIT compiler".to_owned(), share: 0.25 },
            r#"{"code":"not_warm","work":"JIT compiler","share":0.25}"#,
            "not warm: 25 % of the CPU time in the measurement interval was the engine's JIT compiler",
        );
    }
}
