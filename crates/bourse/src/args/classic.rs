//! `bourse micro …` and `bourse suite …`: the classic workloads and the experiments made of them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::{Execution, Output, RUN_EXIT_CODES, numbers};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum Micro {
    /// The workloads; of one of them its tables, needs and options
    List {
        /// Show every option of this workload
        #[arg(value_name = "WORKLOAD")]
        workload: Option<String>,
    },
    /// Run a workload on one target or several, rounds in turn, and report
    Run(MicroRun),
}

#[derive(Debug, Args)]
#[command(after_help = RUN_EXIT_CODES)]
pub(crate) struct MicroRun {
    /// Which, of `bourse micro list`
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// Databases to run on, as URLs; made anew for each round [default: sqlite::memory:]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Set an option of the workload
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run with each of these values, of the workload's options or the targets'; several sweeps are combined
    #[arg(long, value_name = "OPTION=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Threads, short for --set threads=N
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) threads: Option<u64>,
    /// Length of the measurement interval; where the work or a count ends a round, the longest it may take [default: 3s]
    #[arg(short = 'T', long = "for", value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_FOR")]
    pub(crate) duration: Option<Duration>,
    /// Operations of each thread, instead of a time
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) count: Option<u64>,
    /// Time to warm up before it, for workloads that repeat what they do
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = numbers::duration, env = "BOURSE_WARMUP")]
    pub(crate) warmup: Duration,
    /// Rounds of each case, each in a process of its own; cases take turns (A B B A …)
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: u32,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) execution: Execution,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// The published experiments there are
    List,
    /// What an experiment measures, what was published, and what is run for it
    Show {
        /// Which, of `bourse suite list`
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Run an experiment and report each figure beside the published one
    Run(SuiteRun),
}

#[derive(Debug, Args)]
#[command(after_help = RUN_EXIT_CODES)]
pub(crate) struct SuiteRun {
    /// Which, of `bourse suite list`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Multiply counts of rows and operations by this, for a quick look: above 0 and up to 1
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = numbers::scale, env = "BOURSE_SCALE")]
    pub(crate) scale: f64,
    /// Rounds of each case, each in a process of its own; all cases take turns [default: the suite's, 3 or more]
    #[arg(long, value_name = "N", value_parser = numbers::rounds, env = "BOURSE_ROUNDS")]
    pub(crate) rounds: Option<u32>,
    /// The longest that a round may measure; what it did until then is reported, never what it would have done [default: the suite's]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_CAP")]
    pub(crate) cap: Option<Duration>,
    /// Run these of its tables alone
    #[arg(long, value_name = "TABLE")]
    pub(crate) only: Vec<String>,
    /// Seed of all random sequences [default: drawn, and shown]
    #[arg(long, value_name = "N", value_parser = numbers::seed, env = "BOURSE_SEED")]
    pub(crate) seed: Option<u64>,
    /// Folder for the databases, made for the run and removed after it
    #[arg(long, value_name = "DIR", default_value = "bourse-data", env = "BOURSE_DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) execution: Execution,
    #[command(flatten)]
    pub(crate) output: Output,
}
