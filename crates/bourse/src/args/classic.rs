//! Arguments of `bourse micro` and `bourse suite`: microbenchmarks and the published experiments made of them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use super::{ArrivalsArg, ExecutionArgs, InstructionArgs, MemoryArgs, OutputArgs, numbers, run_help};
use bourse_record::ResponseLimit;
use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum MicroCommand {
    /// List the workloads, or the tables, requirements and options of one
    List {
        /// Workload to describe
        #[arg(value_name = "WORKLOAD")]
        workload: Option<String>,
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a workload on one or several targets, in interleaved rounds, and report
    Run(Box<MicroRun>),
    /// Write a file of statements for `micro run sql`: a read and a write of each table of a database
    Init(MicroInit),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bourse micro init --from app.db\n  bourse micro init --from app.db -o app.sql\n  \
bourse micro run sql app.sql sqlite:run.db --from app.db"
)]
pub(crate) struct MicroInit {
    /// Database file of SQLite; it is copied and only read
    #[arg(long, value_name = "DB")]
    pub(crate) from: PathBuf,
    /// File to write, whose name ends in .sql [default: terminal]
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is there even if Bourse did not make it
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
#[command(after_help = run_help!(
    "bourse micro run point-read sqlite:x.db lmdb:x.lmdb",
    "bourse micro run update sqlite:x.db --sweep threads=1,2,4",
    "bourse micro run point-read sqlite:x.db --find-max --limit p99=1ms",
))]
pub(crate) struct MicroRun {
    /// Workload, one of `bourse micro list`
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// Database URLs; each round creates its database [default: sqlite::memory:]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Set an option of the workload, for example rows=1M; `bourse micro list WORKLOAD` shows all
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Repeat with each of these values of a workload or target option; several --sweep are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Database file of SQLite, for the workload sql: each round begins with the tables and rows of a copy of it; short for --set
    /// from=DB
    #[arg(long, value_name = "DB")]
    pub(crate) from: Option<String>,
    /// Number of threads, one session each; short for --set threads=N
    #[arg(long, short_aliases = ['c', 'u'], aliases = ["users", "clients", "connections"], allow_negative_numbers = true, value_name = "N", value_parser = numbers::sessions)]
    pub(crate) threads: Option<u64>,
    /// Length of the measurement interval; the time limit of a round that ends by count or when its work is done [default: 3s]
    #[arg(short = 'T', long = "for", short_alias = 'd', aliases = ["duration", "time"], allow_hyphen_values = true, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Operations per thread, instead of a length of time; the warm-up before them performs more, which are not counted
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) count: Option<u64>,
    /// Target rate in operations a second of all threads together (open loop), for workloads without an end: response times
    /// count from when an operation was due [default: as fast as possible]
    #[arg(short = 'R', long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::operations_a_second, env = "BOURSE_RATE")]
    pub(crate) rate: Option<f64>,
    /// Arrivals with --rate or --find-max: their distances, and who waits for them [default: poisson; shared with --find-max]
    #[arg(long, value_enum, env = "BOURSE_ARRIVALS")]
    pub(crate) arrivals: Option<ArrivalsArg>,
    /// Search for the highest rate that meets every --limit, for workloads without an end, and confirm it with a round of full
    /// length
    #[arg(long, requires = "limit", conflicts_with_all = ["rate", "count", "timing"], env = "BOURSE_FIND_MAX")]
    pub(crate) find_max: bool,
    /// Response-time limit for --find-max, as p99=10ms: p50, p90, p95, p99, p99.9 or max, of each operation that comes at the
    /// rate; read:p99=10ms is that of one operation. Operations that fail or are not started are slower than any limit
    #[arg(long, requires = "find_max", value_name = "QUANTILE=TIME", value_delimiter = ',', value_parser = numbers::response_limit)]
    pub(crate) limit: Vec<ResponseLimit>,
    /// Operations that are timed; sampled shows the tails of operations too short to be timed one by one
    #[arg(long, value_enum, default_value_t = TimingMode::Batched, conflicts_with = "rate", env = "BOURSE_TIMING")]
    pub(crate) timing: TimingMode,
    /// Warm-up time before the measurement, for workloads that repeat one operation
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = numbers::duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Duration,
    /// Rounds of each case, each in its own process; cases are interleaved; six or more have an interval [default: 6; 1 at the
    /// rate that --find-max finds]
    #[arg(long, value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) conduct: ConductArgs,
}

/// Conduct of the rounds of `micro run` and `replay`.
#[derive(Debug, Args)]
pub(crate) struct ConductArgs {
    #[command(flatten)]
    pub(crate) instructions: InstructionArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Operations of a classic workload that are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimingMode {
    /// All; short ones together, so that quantiles are those of the batches' means
    #[default]
    Batched,
    /// One in 64, each alone; the others are counted
    Sampled,
    /// All, each alone: reading the clock is part of what a short one takes
    Single,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// List the published experiments
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what an experiment measures, what was published, and what is run for it
    Show {
        /// Experiment, one of `bourse suite list`
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Run an experiment and report each figure next to the published figure
    Run(SuiteRun),
}

#[derive(Debug, Args)]
#[command(after_help = run_help!(no_search: "bourse suite run sqlite-wal --scale 0.1"))]
pub(crate) struct SuiteRun {
    /// Experiment, one of `bourse suite list`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Factor for the numbers of rows and operations, above 0 and up to 1; 0.02 is a quick run
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = numbers::scale, env = "BOURSE_SCALE")]
    pub(crate) scale: f64,
    /// Rounds of each case, each in its own process; cases are interleaved [default: the suite's]
    #[arg(long, value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    /// Time limit of a round; what was done until then is reported, nothing is extrapolated [default: the suite's]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_CAP")]
    pub(crate) cap: Option<Duration>,
    /// Run only these tables of the experiment
    #[arg(long, value_name = "TABLE")]
    pub(crate) only: Vec<String>,
    /// Folder for the databases, which are removed after the run
    #[arg(long, value_name = "DIR", default_value = "bourse-data", env = "BOURSE_DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
