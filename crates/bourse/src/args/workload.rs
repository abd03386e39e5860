//! Options of a workload in commands that choose its targets: `tune`, `versions` and `bisect`.

use super::{GivenOptions, InstructionArgs, RunSettings, numbers};
use clap::Args;
use std::path::PathBuf;

/// A workload with its options.
#[derive(Debug, Args)]
#[command(
    mut_arg("duration", |it| it.help("Length of a round's measurement interval [default: 1s; 4s of tpce, tatp and tpcc]")),
    mut_arg("warmup", |it| it.help("Warm-up time before it [default: 250ms; 2s of tpce, tatp and tpcc]")),
    mut_arg("find_max", |it| it.hide(true)),
    mut_arg("until_steady", |it| it.hide(true)),
    mut_arg("latency", |it| it.hide(true)),
)]
pub(crate) struct WorkloadArgs {
    /// Workload: tpce, tatp, tpcc, or one of `bourse micro list`
    #[arg(long, value_name = "WORKLOAD", default_value = "tpce")]
    pub(crate) workload: String,
    /// Recording of `bourse record`, whose replay is the workload
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    pub(crate) trace: Option<PathBuf>,
    /// Set an option of the workload, for example rows=1M
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// Options that were set explicitly.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}

/// A workload that may end after a number of operations, whose instructions can be counted.
#[derive(Debug, Args)]
#[command(mut_arg("sweep", |it| it.hide(true)))]
pub(crate) struct CountedWorkArgs {
    /// Operations per thread, instead of a length of time
    #[arg(long, value_name = "N", value_parser = numbers::counted)]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) of: WorkloadArgs,
    #[command(flatten)]
    pub(crate) instructions: InstructionArgs,
}
