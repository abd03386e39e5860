//! Arguments of `tune`.

use super::{DurabilityClass, EXIT_CODES, GivenOptions, RunSettings, numbers};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = format!("Examples:
  bourse tune sqlite:x.db --workload point-read --dry-run
  bourse tune sqlite:x.db --workload update --promise consistent --budget 10m
  bourse tune 'sqlite:x.db?journal=wal' --sweep cache=2MiB,16MiB,256MiB --sweep mmap=1GiB

{EXIT_CODES}"),
    mut_arg("sweep", |it| it.help("Settings to race instead of the engine's own, for example cache=2MiB,256MiB")),
    mut_arg("duration", |it| it.help("Length of a round's measurement interval [default: 1s; 4s of tpce and tatp]")),
    mut_arg("warmup", |it| it.help("Warm-up time before it [default: 250ms; 2s of tpce and tatp]")),
    mut_arg("rounds", |it| it.hide(true)),
    mut_arg("find_max", |it| it.hide(true)),
    mut_arg("until_steady", |it| it.hide(true)),
    mut_arg("latency", |it| it.hide(true)),
    mut_arg("cache", |it| it.hide(true)),
    mut_arg("memory", |it| it.hide(true)),
)]
pub(crate) struct TuneArgs {
    /// Database URL; options that it names stay as they are
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Workload that the settings are for: tpce, tatp, or one of `bourse micro list`
    #[arg(long, value_name = "WORKLOAD", default_value = "tpce")]
    pub(crate) workload: String,
    /// Recording of `bourse record`, whose replay is the workload
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    pub(crate) trace: Option<PathBuf>,
    /// Set an option of the workload, for example rows=1M
    #[arg(short = 's', long, value_name = "OPTION=VALUE")]
    pub(crate) set: Vec<String>,
    /// Durability class that the settings must keep [default: that of TARGET]
    #[arg(long, value_enum, value_name = "CLASS", env = "BOURSE_PROMISE")]
    pub(crate) promise: Option<DurabilityClass>,
    /// Time for the race, the proof and the crash test together [default: 15m, or the least that they need]
    #[arg(long, value_name = "TIME", value_parser = numbers::duration, env = "BOURSE_BUDGET")]
    pub(crate) budget: Option<Duration>,
    /// Approximate number of disk states of the crash test [default: 1000; 100 of a private server]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    pub(crate) states: Option<u64>,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// Options that were set explicitly.
    #[arg(skip)]
    pub(crate) given: GivenOptions,
}
