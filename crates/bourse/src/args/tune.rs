//! Arguments of `tune`.

use super::{DurabilityClass, EXIT_CODES, WorkloadArgs, numbers};
use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = format!("Examples:
  bourse tune sqlite:x.db --workload point-read --dry-run
  bourse tune sqlite:x.db --workload update --promise consistent --budget 10m
  bourse tune 'sqlite:x.db?journal=wal' --sweep cache=2MiB,16MiB,256MiB --sweep mmap=1GiB

{EXIT_CODES}"),
    mut_arg("sweep", |it| it.help("Settings to race instead of the engine's own, for example cache=2MiB,256MiB")),
    mut_arg("rounds", |it| it.hide(true)),
    mut_arg("cache", |it| it.hide(true)),
    mut_arg("memory", |it| it.hide(true)),
)]
pub(crate) struct TuneArgs {
    /// Database URL; options that it names stay as they are
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Durability class that the settings must keep [default: that of TARGET]
    #[arg(long, value_enum, value_name = "CLASS", env = "BOURSE_PROMISE")]
    pub(crate) promise: Option<DurabilityClass>,
    /// Time for the race, the proof and the crash test together [default: 15m, or the least that they need]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_BUDGET")]
    pub(crate) budget: Option<Duration>,
    /// Approximate number of disk states of the crash test, 100 or more [default: 1000; 100 of a private server]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    pub(crate) states: Option<u64>,
    #[command(flatten)]
    pub(crate) work: WorkloadArgs,
}
