//! Arguments of `isolation`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::record::no_trace;
use super::{ExecutionArgs, OutputArgs, numbers, run_help};
use bourse_engine::Isolation;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = run_help!(
    no_search: "bourse isolation 'sqlite:x.db?journal=wal' lmdb:x.lmdb redb:x.redb",
    "bourse isolation postgres+private: --level repeatable-read,serializable --users 8",
    "bourse isolation postgres+private: 'sqlite:x.db?journal=wal' --faults",
    "bourse isolation --replay bourse-runs/NAME/run.json",
), arg(no_trace()))]
pub(crate) struct IsolationArgs {
    /// Database URLs; each round creates its database
    #[arg(value_name = "TARGET", required_unless_present_any = ["replay", "all"])]
    pub(crate) targets: Vec<String>,
    /// Every engine that is available, private servers and clusters on this machine too; one that fails is left out
    #[arg(long, conflicts_with = "targets")]
    pub(crate) all: bool,
    /// Levels at which transactions run [default: all that the engine distinguishes]
    #[arg(long, value_parser = level(), value_name = "LEVEL", value_delimiter = ',')]
    pub(crate) level: Vec<Isolation>,
    /// Set an option of the workload, for example kind=append; `bourse micro list history` shows all
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Concurrent users, one session each
    #[arg(long, short_aliases = ['u', 'c'], aliases = ["threads", "clients", "connections"], allow_negative_numbers = true, value_name = "N", default_value = "4", value_parser = numbers::counted, env = "BOURSE_USERS")]
    pub(crate) users: u64,
    /// Length of a round's measurement interval [default: 3s, or 10s with --faults on a private server]
    #[arg(short = 'T', long = "for", short_alias = 'd', aliases = ["duration", "time"], allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Transactions of each user, instead of a length of time; the warm-up before them performs more, which are examined too
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) count: Option<u64>,
    /// Warm-up time before the measurement; its transactions are examined too
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = numbers::duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Duration,
    /// Rounds of each target at each level; the throughput of six or more has an interval
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: u32,
    /// Processes that the users are shared out over, each with the same database open [default: 1, or 3 with --faults on an engine in process]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::processes, env = "BOURSE_PROCESSES")]
    pub(crate) processes: Option<u32>,
    /// Make faults at random moments: a private server is killed and started again, a cluster's nodes each alone, and connections are
    /// cut; of several processes one is killed
    #[arg(long)]
    pub(crate) faults: bool,
    /// Folder that gets each round's history: NAME.json, which --replay examines again, and with -s kind=append or register
    /// NAME.edn, which Elle reads
    #[arg(long, value_name = "DIR", env = "BOURSE_HISTORY")]
    pub(crate) history: Option<PathBuf>,
    /// Examine a stored history again, or show the anomalies of a run again: a file of --history, or a run's folder or run.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["targets", "all", "level", "history"])]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads the name of an isolation level.
fn level() -> impl TypedValueParser<Value = Isolation> {
    PossibleValuesParser::new(Isolation::ALL.map(Isolation::name))
        .map(|name| Isolation::ALL.into_iter().find(|level| level.name() == name).expect("one of these names"))
}
